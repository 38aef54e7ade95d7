// A server's status and lists of tools, resources and prompts as two processes of one version tell each other of them: whole, where the
// JSON that people and programs are shown (service/statuses, service/tools) leaves out what they need not know.
//
// Threads: [value]. Errors: Invalid: it is no such text.
#pragma once

#include "connection/status.hpp"
#include "core/result.hpp"
#include "protocol/tool.hpp"
#include "router/router.hpp"
#include "service/things.hpp"
#include "service/tools.hpp"

#include <boost/json.hpp>

#include <deque>
#include <string_view>
#include <vector>

namespace patchbay::app {

boost::json::object status_text(const connection::Status& status);
Result<connection::Status> parse_status(const boost::json::value& text);

// A tool without its process: what a ListedTool points to is in `definitions`, which keeps it.
using ToolDefinitions = std::deque<protocol::Tool>;
boost::json::object tool_text(const router::ListedTool& tool);
Result<router::ListedTool> parse_tool(const boost::json::value& text, ToolDefinitions& definitions);

boost::json::object tools_text(const service::ToolList& list);
Result<service::ToolList> parse_tools(const boost::json::value& text, ToolDefinitions& definitions);

// Which servers are asked for them, and how: unknown words mean that all are.
const char* word_of(service::ThingListing::Servers which);
service::ThingListing::Servers which_in(std::string_view word);
boost::json::object things_text(const service::ThingList& list);
Result<service::ThingList> parse_things(const boost::json::value& text);

}  // namespace patchbay::app
