// A Config as files of these texts make it, without a disk: user, TOML, unless said otherwise.
#pragma once

#include "config/merge.hpp"

#include <string>

namespace patchbay::test {

inline config::Config config_of(const std::string& toml) {
    return config::merge({config::read_fragment(toml, config::Format::Toml,
                                                {config::Scope::User, 0, "/home/me/config.toml"})});
}

}  // namespace patchbay::test
