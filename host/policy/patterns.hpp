// Exact names and beginnings of names ("mcp__s__*"), compiled once so that a name is looked up in a
// list of any length and not compared with each of it. What matches is protocol::matches.
//
// Threads: [value]. Errors: none.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::policy {

class Patterns {
public:
    explicit Patterns(const std::vector<std::string>& patterns);

    // Where in the list the first one stands that matches; nothing: none does.
    std::optional<std::size_t> first_match(std::string_view name) const;

private:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    struct Entry {
        std::string text;   // without the `*`
        bool exact;         // nothing may follow
        std::size_t first;  // in the list as written: of it and of all that `shorter` leads to
        std::size_t shorter = kNone;  // the longest other entry that is a beginning of this
    };
    // Sorted by text; of equals the exact ones last, of these the first written.
    std::vector<Entry> entries_;
};

}  // namespace patchbay::policy
