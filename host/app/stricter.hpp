// What a configuration that has a fault, and so is not moved to, forbids all the same: each rule of it that is
// stricter than what is in force counts, and nothing that allows more.
//
// What cannot be read forbids nothing (Permissions::closed): that is what keeps the host at what it ran by.
//
// Threads: [value]. Errors: none.
#pragma once

#include "config/config.hpp"

#include <optional>

namespace patchbay::app {

// `now`, by all that `read` forbids: `deny`, `allow`, `enabled = false`, and the tool rules and trust of servers that
// both have. Nothing where that is no more than `now` does.
std::optional<config::Config> made_stricter(const config::Config& now, const config::Config& read);

}  // namespace patchbay::app
