// Secrets that stand in a server's entry in clear text, put away by name.
//
// Threads: [any], pure.
#pragma once

#include <boost/json.hpp>

#include <functional>
#include <string>
#include <vector>

namespace patchbay::app {

struct TakenSecret {
    std::string name, value;
};

// `${secret:ID.KEY}` in the place of each: of values of `env`, `headers` and `oauth` that are secrets, and of what
// is one in `args`, `command` and `url`. `is_free`: whether that name may be given to that value.
std::vector<TakenSecret> take_secrets(
    boost::json::object& entry, const std::string& id,
    const std::function<bool(const std::string& name, const std::string& value)>& is_free);

}  // namespace patchbay::app
