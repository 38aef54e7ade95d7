// One tool as a server lists it, and one page of tools/list.
//
// Threads: [value].
// Errors:  a tool without a name is left out with the reason, one whose input schema is missing or cannot
//          be used takes any arguments; a page that is no page is a Protocol error.
// Limits:  core::Limits schema_bytes, schema_depth and tools_per_server; kMostToolMembers, kMostToolName, and
//          kMostToolNotes of each kind of a page.
// Source:  MCP server/tools of each revision.
#pragma once

#include "core/limits.hpp"
#include "core/result.hpp"
#include "protocol/caching.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::protocol {

inline constexpr std::size_t kMostToolMembers = 1'000;
inline constexpr std::size_t kMostToolName = 4'096;  // bytes
inline constexpr std::size_t kMostToolNotes = 100;   // a server could cause one for each tool

struct Tool {
    std::string name;  // raw, as on the wire
    // The other members of its definition, each once, as raw JSON without spaces: those that are
    // read below, then whatever else its server says of it. Text, for as a tree of values it could
    // take thirty times the room.
    std::string known, others;
    // Why `input_schema` stands for one that could not be used ("is missing", ...); empty: it is the
    // server's own.
    std::string schema_fault = {};

    // An object within the limits schema_bytes and schema_depth, once parse_tool_page() made it.
    boost::json::value input_schema() const { return value("inputSchema"); }
    boost::json::value output_schema() const { return value("outputSchema"); }  // null: none
    std::string text(std::string_view key) const;  // "title", "description"; empty: absent
    bool hint(std::string_view name) const;        // annotations.<name> is true
    bool operator==(const Tool&) const = default;

private:
    boost::json::value value(std::string_view key) const;
};

struct ToolPage {
    std::vector<Tool> tools;
    std::size_t listed = 0;  // with those that were left out; one over tools_per_server at most
    std::optional<std::string> next_cursor;  // none: the last page; a cursor may be empty
    Caching caching = {};
    std::vector<std::string> left_out;  // tools that cannot be called, and why
    std::vector<std::string> notes;     // what was mended of others
    std::string_view unread;            // more tools, in the text of the page
};

// `result`: valid JSON. What schemas are takes its time to find out: behind the tool with which
// `bytes` are reached the rest is `unread`, for read_more().
Result<ToolPage> parse_tool_page(std::string_view result, const core::Limits& limits,
                                 std::size_t bytes = SIZE_MAX);
void read_more(ToolPage& page, const core::Limits& limits, std::size_t bytes);

// What the result of a call, which is no error, lacks or breaks of what its tool promises; empty:
// nothing, or its outputSchema cannot judge.
std::string fault_of_result(const Tool& tool, const boost::json::object& result);

}  // namespace patchbay::protocol
