// That one server did not answer, beside others that did.
//
// Threads: [value].
#pragma once

#include "core/result.hpp"

#include <boost/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::service {

struct ServerError {
    std::string server;
    Error error;
};

// That it was not waited for any longer.
ServerError interrupted(const std::string& server);
// That no server answered, as one error with a message a line; `errors`, one at least, says it of
// each.
Error nobody_answered(const std::vector<ServerError>& errors);

// [{"server", "message"}], secrets masked.
boost::json::array to_json(const std::vector<ServerError>& errors);
// {MEMBER: items, "errors": [...]}, the latter where there are any: what some servers listed and why
// others did not. `items` is raw JSON.
std::string listed_json(std::string_view member, std::string_view items,
                        const std::vector<ServerError>& errors);

}  // namespace patchbay::service
