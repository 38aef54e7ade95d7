// Everything of one call of a tool: its events (events/event_log.hpp), what became of its server meanwhile, and what
// that wrote (server_log.hpp).
//
// Threads: [value].
// Errors:  none; lines of the log say the second, so that those of calls at the same time stand among them: `beside`
//          says how many these may be.
#pragma once

#include <boost/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::app {

struct CallLog {
    std::string server;  // that had it; empty: none
    // In order: events as they are told, and lines as {"event": "log", "at", "server", "stream", "text"}.
    std::vector<boost::json::object> entries;
    std::size_t beside = 0;  // other calls that this server had meanwhile
    bool ended = false;
};

// `events`: as they were told, in order. Nothing: none is of that call.
std::optional<CallLog> log_of_call(const std::vector<boost::json::object>& events,
                                   std::uint64_t call);
// `lines`: of its server's log.
void add_lines(CallLog& log, const std::vector<std::string>& lines);
// One line for people: "2026-07-28T09:00:00.123Z mcp_tool_call_end outcome=result duration_ms=12".
std::string text_of_entry(const boost::json::object& entry);

}  // namespace patchbay::app
