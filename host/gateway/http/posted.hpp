// What a client has posted: whether its head and its body agree, and to which era it belongs.
//
// Threads: [value].
// Errors:  an HttpRefusal, with the status and the JSON-RPC error that say why.
// Source:  MCP 2026-07-28 basic/transports/streamable-http "Request Metadata", "Server Validation";
//          2025-11-25 basic/transports "Sending Messages to the Server".
#pragma once

#include "gateway/http/door.hpp"
#include "gateway/incoming.hpp"
#include "protocol/tool.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace patchbay::gateway {

struct Posted {
    enum class Kind { Request, Batch, Other } kind = Kind::Other;  // Other: it gets no answer
    bool modern = false;
    Incoming message = {};  // of no batch; borrows the request's body
};

// The tool of that public name, if it is known by now.
using FindTool = std::function<const protocol::Tool*(const std::string& name)>;

std::variant<Posted, HttpRefusal> read_posted(const http::Request& request, std::size_t depth,
                                              const FindTool& find_tool);
// A body that is no JSON as it comes.
std::optional<HttpRefusal> refuses_content(const http::Request& request);
// Whether an Accept header admits that type: of the ranges that fit the closest one counts, and q=0
// in it admits nothing.
bool accepts(const http::Request& request, std::string_view type);

}  // namespace patchbay::gateway
