// What an agent is given where it runs: its servers, those that reach from there, by the URL and with the variables that
// they have there, and what was left out and why. Nothing is expanded: a `${...}` stays.
//
// Threads: [any], pure. Errors: NotFound with the nearest, or Invalid, of the agent, the executor or the session;
//          whatever concerns one server leaves that out and is a warning with its place.
// Source:  config/README.md; decisions/0048-what-an-agent-is-given.md.
#pragma once

#include "config/config.hpp"
#include "core/result.hpp"

#include <boost/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace patchbay::config {

struct Whereabouts {
    std::string agent = {};  // empty: none, who is shown all but what is an agent's own
    std::string executor = "local_pc";
    std::string session = {};  // empty: "default"
};

struct GivenServer {
    Server server;                           // with its mode settled, and as it is called there
    std::string url_before = {};             // empty: no rewrite matched
    std::vector<std::string> injected = {};  // names of variables that the executor has set
    // Raw names of tools, or beginnings ending in "*"; absent: all.
    std::optional<std::vector<std::string>> tools = {};
    // The same of those that rules of ours deny, for whoever writes such a list for a client.
    std::vector<std::string> denied = {};
};

struct Given {
    std::optional<Agent> agent;
    std::string executor, session;
    std::vector<GivenServer> servers;  // sorted by id
    std::vector<Diagnostic>
        warnings;  // what was left out, and what of the configuration concerns this
};

// What is typed for a session, and no file says.
Result<void> check_session(const std::string& session);
// Invalid: the session is no name, or what a file says of agent or executor cannot be used.
Result<Given> resolve(const Config& config, const Whereabouts& where);

// `{"agent", "executor", "session", "servers": [...], "warnings": [...]}`, names of variables and headers without their
// values.
boost::json::object to_json(const Given& given);

// How it is reached, for people: a command line, or a URL; secrets are "***".
std::string endpoint_of(const boost::json::object& settings);
// Whether it is a program that is started where its client runs.
bool is_program(const Server& server);

}  // namespace patchbay::config
