// What a person asks of one server: to read a resource, to get a prompt, to complete an argument.
// Each is checked against what the server has declared, where it has, and becomes one request.
//
// Threads: [value].
// Errors:  Invalid: an argument that is unknown, or required and not given. Protocol: of an answer.
#pragma once

#include "router/router.hpp"
#include "service/things.hpp"

#include <boost/json.hpp>

#include <string>

namespace patchbay::service {

router::ServerRequest read_resource(const std::string& server, const std::string& uri);

// `arguments` are strings all.
Result<router::ServerRequest> get_prompt(const NamedThing& prompt, const std::string& name,
                                         const boost::json::object& arguments);

struct Completion {
    Kind of = Kind::Prompts;      // or Templates
    std::string name;             // the prompt's, or the template's URI
    std::string argument, begun;  // and what is typed of it
    boost::json::object settled;  // arguments that are chosen already
};
Result<router::ServerRequest> complete(const NamedThing& thing, const Completion& completion);

// What `server` answered `method` with, one of the three above: the contents of a resource, the
// messages of a prompt, the values that complete an argument. Protocol: there is no such list.
Result<const boost::json::array*> listed_in(const boost::json::object& result,
                                            const std::string& server, const std::string& method);

}  // namespace patchbay::service
