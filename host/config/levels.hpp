// Which level of a server's `tools` counts for a tool, where keys may be beginnings of names: `create_*`, `*`.
//
// A key counts unless a source that is as strong has a more specific one for that name: the name itself, or a longer
// beginning. Of the keys that count the strictest decides. So what a stronger source says is not loosened by a weaker
// one's more specific key, and whatever overrides a key is stricter where a checkout says it, as hold_back.hpp sees to.
//
// Threads: [any], pure. Errors: none.
// Limits:  the work grows with the length of the name, not with the number of keys.
// Source:  config/README.md, "What a call needs".
#pragma once

#include "config/config.hpp"

#include <string>
#include <string_view>

namespace patchbay::config {

// Whether the key is the beginning of names, and what they begin with.
bool is_beginning(std::string_view key);
std::string_view beginning_in(std::string_view key);  // without the `*`

// The key of server.tools that counts for `name`: a tool's name, or a beginning of some, for which only what covers all
// of these is looked at. Null: none does. Good as long as server.tools.
const std::string* deciding_key(const Server& server, std::string_view name);
// Its level; `otherwise` where no key counts.
Level level_for(const Server& server, std::string_view name, Level otherwise);

}  // namespace patchbay::config
