#include "config/edit/splice.hpp"

#include <algorithm>

namespace patchbay::config::edit {

namespace {

constexpr std::string_view kBlanks = " \t";

bool is_blank(char letter) {
    return letter == ' ' || letter == '\t';
}

}  // namespace

std::optional<std::string> apply(std::string_view text, Change change) {
    std::stable_sort(change.begin(), change.end(),
                     [](const Splice& a, const Splice& b) { return a.at < b.at; });
    std::string out;
    std::size_t done = 0;
    for (const auto& splice : change) {
        if (splice.at < done || splice.at + splice.removed > text.size()) return {};
        out += text.substr(done, splice.at - done);
        out += splice.added;
        done = splice.at + splice.removed;
    }
    return out += text.substr(done);
}

std::size_t line_begin(std::string_view text, std::size_t at) {
    const auto newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    return newline == std::string_view::npos ? 0 : newline + 1;
}

std::size_t line_end(std::string_view text, std::size_t at) {
    const auto newline = std::min(text.find('\n', at), text.size());
    const bool returned = newline > at && newline < text.size() && text[newline - 1] == '\r';
    return returned ? newline - 1 : newline;
}

std::size_t line_after(std::string_view text, std::size_t at) {
    const auto newline = text.find('\n', at);
    return newline == std::string_view::npos ? text.size() : newline + 1;
}

std::string_view indent_of(std::string_view text, std::size_t at) {
    const auto begin = line_begin(text, at);
    return text.substr(begin, skip_blanks(text, begin) - begin);
}

bool first_in_line(std::string_view text, std::size_t at) {
    return back_over_blanks(text, at) == line_begin(text, at);
}

bool last_in_line(std::string_view text, std::size_t at) {
    return skip_blanks(text, at) >= line_end(text, at);
}

std::size_t back_over_blanks(std::string_view text, std::size_t at) {
    while (at > 0 && is_blank(text[at - 1])) --at;
    return at;
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
    return std::min(text.find_first_not_of(kBlanks, at), text.size());
}

std::string newline_of(std::string_view text) {
    const auto newline = text.find('\n');
    const bool returned =
        newline != std::string_view::npos && newline > 0 && text[newline - 1] == '\r';
    return returned ? "\r\n" : "\n";
}

}  // namespace patchbay::config::edit
