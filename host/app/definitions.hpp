// Where the files say something of a server, whether it counts or not.
//
// Threads: the calling one; blocks for the disk. Errors: a file that cannot be read defines none.
#pragma once

#include "config/config.hpp"
#include "config/sources.hpp"

#include <string>
#include <vector>

namespace patchbay::app {

struct Definition {
    config::Place place;
    bool connects;  // or only adjusts
};

// Of all files, the weakest first.
std::vector<Definition> definitions_of(const std::string& id,
                                       const config::Environment& environment);
// The one that counts; null: none does.
const config::Server* server_of(const config::Config& config, const std::string& id);

}  // namespace patchbay::app
