// What `patchbay mcp add` is told of a server, as the entry of a configuration file.
//
// Whether the entry would work is not asked here: the readers of configuration judge the whole file (entry_check.hpp), and
// a second judge would not agree with them for long. Refused is only what no entry could say, such as two programs.
//
// Threads: [any], pure. Errors: Invalid, and what to write instead.
#pragma once

#include "core/result.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::app {

struct ServerWords {
    std::string transport, url, command, cwd;
    std::vector<std::string> program;       // behind `--`: the command and its arguments
    std::vector<std::string> args;          // --arg
    std::vector<std::string> headers, env;  // K=V
    std::vector<std::string> keys;          // --key K=V, V in JSON or as it stands
    std::optional<bool> enabled;
    std::optional<std::int64_t> request_timeout_ms;
    struct Oauth {
        std::string authorization_url, token_url, registration_url, client_id, client_secret, scope;
    } oauth;
};

// `type_key`: what the file calls the transport.
Result<boost::json::object> entry_of(const ServerWords& words, const char* type_key);

// Names of variables, headers and keys of `entry` whose values are secrets in clear text, or have such parts: "env.TOKEN",
// "args".
std::vector<std::string> clear_secrets(const boost::json::object& entry);

}  // namespace patchbay::app
