// By what else than its definition a server may be another one's: the values of the variables that stand in it. Two
// accounts at one definition list different things, and what one lists is not shown to the other.
//
// Threads: [loop]; reads the key from the disk once, where a definition has such a variable.
// Errors:  none. Where no key can be kept nobody can be told again whose something was.
// Source:  decisions/0044-what-is-answered-from-the-catalogue.md.
#pragma once

#include "config/load.hpp"
#include "registry/server_spec.hpp"

#include <optional>
#include <string>

namespace patchbay::app {

class ServerAccount {
public:
    // Borrows both, which must outlive it.
    ServerAccount(const config::Environment& environment, const std::string& state_directory)
        : environment_(environment), state_directory_(state_directory) {}

    // Empty: no variable decides; none: it cannot be told. Else a digest under a key of this user's, which nobody guesses the values by who has
    // not that key.
    std::optional<std::string> of(const registry::ServerSpec& spec);

private:
    const std::optional<std::string>& key();

    const config::Environment& environment_;
    const std::string& state_directory_;
    std::optional<std::string> key_;
    bool looked_for_ = false;
};

}  // namespace patchbay::app
