// When a server said what it is known by.
//
// Threads: [value].
#pragma once

#include "catalogue/catalogue.hpp"

#include <string>

namespace patchbay::service {

// `recalled` also where it is not there now: what it lists stands for it.
struct Heard {
    std::string server;
    catalogue::Standing standing;
};

}  // namespace patchbay::service
