// What `patchbay mcp add` is told of a server, as the entry of a configuration file.
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
