// What counts for each tool that is known, by which rule of which file, and which answers are kept of it.
//
// Threads: [loop]. Connects nothing: of a server that nobody has asked only those tools are known that rules name.
// Errors:  of the record of answers.
// Source:  config/schema/api/results.schema.json, `policy_tool` and `policy_request`.
#pragma once

#include "service/decisions.hpp"
#include "service/servers.hpp"

#include <boost/json.hpp>

#include <string>
#include <vector>

namespace patchbay::service {

struct ToolPolicy {
    std::string server;             // id
    std::string tool;               // the server's own name of it; empty: `request`
    std::string request;            // the method of what calls no tool
    router::Ruling ruling;          // of what the person types
    std::vector<Decision> answers;  // that count here, whether it is described so still or not
};

// Of these servers, sorted by server and tool. `of_sessions`: answers that are kept in no file.
Result<std::vector<ToolPolicy>> policy_of(const Servers& servers, Decisions& decisions,
                                          const std::vector<std::string>& ids,
                                          const std::vector<Decision>& of_sessions = {});

// The same of requests that call no tool, as far as an answer is kept of them.
Result<std::vector<ToolPolicy>> policy_of_requests(const Servers& servers, Decisions& decisions,
                                                   const std::vector<std::string>& ids,
                                                   const std::vector<Decision>& of_sessions = {});

boost::json::object to_json(const ToolPolicy& tool);
boost::json::object to_json(const Decision& answer);

}  // namespace patchbay::service
