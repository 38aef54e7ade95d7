// One tool as a server lists it, and one page of tools/list.
//
// Threads: [value]. Errors: a tool without a name is left out with a note, one whose input schema
// is missing or cannot be used takes any arguments; a page that is no page is a Protocol error.
// Source: MCP server/tools of each revision.
#pragma once

#include "core/limits.hpp"
#include "core/result.hpp"

#include <boost/json.hpp>

#include <string>
#include <vector>

namespace patchbay::protocol {

struct Tool {
    std::string name;         // raw, as on the wire
    boost::json::object raw;  // the whole definition as listed
    // An object within the limits schema_bytes and schema_depth, once parse_tool_page() made it.
    const boost::json::value* input_schema() const { return raw.if_contains("inputSchema"); }
    const boost::json::value* output_schema() const { return raw.if_contains("outputSchema"); }
    std::string text(std::string_view key) const;  // "title", "description"; empty: absent
    bool hint(std::string_view name) const;        // annotations.<name> is true
};

struct ToolPage {
    std::vector<Tool> tools;
    std::string next_cursor;         // empty: the last page
    std::int64_t ttl_ms = -1;        // -1: not said
    std::vector<std::string> notes;  // what was left out or mended, and why
};

Result<ToolPage> parse_tool_page(boost::json::object result, const core::Limits& limits);

// What the result of a call, which is no error, lacks or breaks of what its tool promises; empty:
// nothing, or its outputSchema cannot judge.
std::string fault_of_result(const Tool& tool, const boost::json::object& result);

// The `nextCursor` of any list result; Protocol error when it is not a string.
Result<std::string> next_cursor(const boost::json::object& result);

}  // namespace patchbay::protocol
