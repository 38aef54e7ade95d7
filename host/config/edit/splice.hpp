// A change of a text as what is taken out and put in, and the small questions about lines that the three
// editors ask. Offsets are bytes of the text as it was.
//
// Threads: [any], pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::config::edit {

struct Splice {
    std::size_t at;
    std::size_t removed;  // bytes, from `at` on
    std::string added;    // in their place
};
// Splices that do not overlap, in any order; those of one offset are added in the order given.
using Change = std::vector<Splice>;
// Several ways to come to one meaning, the nicest first.
using Changes = std::vector<Change>;

// Nothing: they overlap.
std::optional<std::string> apply(std::string_view text, Change change);

std::size_t line_begin(std::string_view text, std::size_t at);
std::size_t line_end(std::string_view text, std::size_t at);    // before its \n or \r\n
std::size_t line_after(std::string_view text, std::size_t at);  // where the next one begins
// The blanks and tabs that the line of `at` begins with.
std::string_view indent_of(std::string_view text, std::size_t at);
// Whether nothing but blanks and tabs is before `at` in its line; behind it.
bool first_in_line(std::string_view text, std::size_t at);
bool last_in_line(std::string_view text, std::size_t at);
std::size_t back_over_blanks(std::string_view text, std::size_t at);
std::size_t skip_blanks(std::string_view text, std::size_t at);
// How the text ends its lines: as the first one does; "\n" where there is none.
std::string newline_of(std::string_view text);

}  // namespace patchbay::config::edit
