// When a server said what it is known by.
//
// Threads: [value].
#pragma once

#include "catalogue/catalogue.hpp"

#include <boost/json.hpp>

#include <string>
#include <vector>

namespace patchbay::service {

// `recalled` also where it is not there now: what it lists stands for it.
struct Heard {
    std::string server;
    catalogue::Standing standing;
};

// Null: nobody has heard anything of it.
const catalogue::Standing* standing_of(const std::string& server, const std::vector<Heard>& heard);
// `listed_at` and `kept` of something that `server` lists; nothing where nobody has heard of it.
void add_standing(boost::json::object& item, const std::string& server,
                  const std::vector<Heard>& heard);

}  // namespace patchbay::service
