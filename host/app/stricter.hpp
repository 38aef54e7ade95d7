// What the files and the approvals of now forbid, laid over another configuration: what the host keeps to as the files
// have a fault, or has gone back to. Each rule that is stricter than there counts, and nothing that allows more.
//
// A server of it is off that nobody approves any more, and one that no file defines. What cannot be read forbids nothing:
// a server of such a file goes on, as long as the approval stands that it needs.
//
// Threads: [value]. Errors: none.
#pragma once

#include "config/config.hpp"

#include <optional>

namespace patchbay::app {

// Of a user's server that no file defines any more. Back: its removal is what is gone back from. An agent is off either
// way: who has taken it away means that nobody comes as it.
enum class Removed { IsOff, IsBack };

// `kept`, by all that `read` forbids: approvals that it lacks, `deny`, `ask`, `allow`, `enabled = false`, the tool rules and trust
// of servers that both have, and what agents and bundles that both have are shown. Nothing where that is no more than `kept` does.
std::optional<config::Config> made_stricter(const config::Config& kept, const config::Config& read,
                                            Removed removed);

}  // namespace patchbay::app
