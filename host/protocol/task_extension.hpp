// The extension of tasks of 2026-07-28, as far as both sides of the host have to know of it.
//
// Threads: [value]. Errors: none; what is no proper object names nothing.
// Source:  SEP-2663 "Capability Negotiation": who has not said that it takes tasks is given none;
//          "Streamable HTTP: Routing Headers".
#pragma once

#include <boost/json.hpp>

#include <string_view>

namespace patchbay::protocol {

inline constexpr const char* kTasksExtension = "io.modelcontextprotocol/tasks";

// Whether the capabilities of a client or a server name it; raw, or as they were read.
bool names_tasks(std::string_view raw_capabilities);
bool names_tasks(const boost::json::object& capabilities);

// Whether a request of that method is about one task, which its "taskId" names.
bool names_a_task(std::string_view method);

}  // namespace patchbay::protocol
