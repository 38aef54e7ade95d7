// Public tool names: `mcp__<server>__<tool>`, and the table that leads back to the raw pair.
//
// A public name satisfies every model provider: ^[a-zA-Z0-9_-]{1,64}$. A raw pair that does not fit
// gets its foreign bytes replaced by `_`, is cut, and ends in `_` + 8 hex digits of the SHA-256
// over server, NUL, tool. So do both of two pairs that would collide. A name therefore depends on
// its pair alone, unless another pair collides with it, and never on the order of listing.
//
// Threads: [value]. Errors: none.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::protocol {

inline constexpr std::size_t kPublicNameBytes = 64;

// The name of a pair that collides with none.
std::string public_name(std::string_view server, std::string_view tool);

// What it is called where another pair has that name too.
std::string name_told_apart(std::string_view server, std::string_view tool);

// What the public names of all tools begin with whose raw names begin with `beginning` and do not fit.
std::string public_beginning(std::string_view server, std::string_view beginning);

// Threads: [value], though the first question after an add() settles the names.
class NameTable {
public:
    // Adding a pair twice is harmless. Names are settled by the first question after the last
    // add().
    void add(const std::string& server, const std::string& tool);

    // The name of a pair that was added; of another, the one it would have alone.
    std::string public_name(const std::string& server, const std::string& tool) const;
    // The raw (server, tool) behind a public name.
    std::optional<std::pair<std::string, std::string>> find(const std::string& name) const;
    std::vector<std::string> names() const;  // sorted

private:
    using Pair = std::pair<std::string, std::string>;
    void settle() const;

    mutable std::map<Pair, std::string> names_;  // pair -> its name
    mutable std::map<std::string, Pair> pairs_;  // and back
    mutable bool settled_ = true;
};

// The servers of `ids` that may own `name`, known from the name alone: what to connect before it
// can be called.
std::vector<std::string> servers_for(std::string_view name, const std::vector<std::string>& ids);

// The servers of `ids` of which a public name may begin with `beginning`, in whatever case.
std::vector<std::string> servers_beginning(std::string_view beginning,
                                           const std::vector<std::string>& ids);

// `pattern` is exact, or a prefix ending in `*`: `mcp__s__*`, `mcp__s__create_*`, `mcp__*`.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace patchbay::protocol
