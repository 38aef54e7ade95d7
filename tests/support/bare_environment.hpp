// The surroundings of a host that finds no file of the machine it is tested on, and no variable but
// a PATH for the programs it starts.
#pragma once

#include "config/load.hpp"

#include <optional>
#include <string>

namespace patchbay::test {

inline config::Environment bare_environment() {
    config::Environment environment;
    environment.working_directory = environment.home = "/";
    environment.config_home = environment.enterprise_directory = "/nonexistent";
    environment.variable = [](const std::string& name) -> std::optional<std::string> {
        if (name == "PATH") return "/usr/bin:/bin";
        return std::nullopt;
    };
    return environment;
}

}  // namespace patchbay::test
