// What a modern HTTP request repeats of its body in headers: Mcp-Method, Mcp-Name, and one
// Mcp-Param-* for every argument that the tool's input schema marks with `x-mcp-header`.
//
// Threads: [value].
// Errors:  header_parameters() says why a tool's marks make no sense: such a tool may not be called
//          over HTTP. mirrored_arguments() refuses a value that no header can carry.
// Limits:  a schema is as deep as parse_tool_page() lets through; arguments as deep as `depth`.
// Source:  MCP 2026-07-28 basic/transports/streamable-http "Request Metadata", server/tools
//          "x-mcp-header".
#pragma once

#include "core/result.hpp"

#include <boost/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::protocol {

// The codes of a request that the server rejects because its headers and its body disagree.
inline constexpr std::int64_t kHeaderMismatch = -32020;

struct MessageHeader {
    std::string name, value;
};
inline bool operator==(const MessageHeader& a, const MessageHeader& b) {
    return a.name == b.name && a.value == b.value;
}

// One marked property: where it is in the arguments, and the header it goes to.
struct HeaderParameter {
    std::string header;             // "Mcp-Param-Region"
    std::vector<std::string> path;  // property names from the root
};

// The marks of an inputSchema, in the order they are met; none for most tools. Invalid, with the
// place and the reason, when one of them breaks a rule.
Result<std::vector<HeaderParameter>> header_parameters(const boost::json::value& input_schema);

// As it is, or in the Base64 form when a header cannot carry it or would take it for one.
std::string header_text(std::string_view value);

// Mcp-Method, and Mcp-Name for the methods that have one: three, and those of tasks. `members`: raw params without
// braces, as in Params.
std::vector<MessageHeader> standard_headers(std::string_view method, std::string_view members);

// One header for each parameter that has a value; null and absent ones have none. `arguments`: raw
// JSON object, or empty.
Result<std::vector<MessageHeader>> mirrored_arguments(
    const std::vector<HeaderParameter>& parameters, std::string_view arguments,
    std::size_t depth = 128);

}  // namespace patchbay::protocol
