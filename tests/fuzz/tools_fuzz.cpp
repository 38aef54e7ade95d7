// Foreign bytes as the result of tools/list: every listed item becomes a tool within the limits or a
// note, and no tool's marks or arguments can put a line break into an HTTP header.
#include "core/json.hpp"
#include "fuzz/require.hpp"
#include "protocol/compose.hpp"
#include "protocol/http_headers.hpp"
#include "protocol/tool.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace {

using namespace patchbay;
using namespace patchbay::protocol;
namespace json = boost::json;

void require_header(const MessageHeader& header) {
    FUZZ_REQUIRE(!header.name.empty() && header.name.rfind("Mcp-", 0) == 0);
    const auto fits = [](char c) { return c == '\t' || (c >= ' ' && c < '\x7f'); };
    FUZZ_REQUIRE(std::all_of(header.name.begin(), header.name.end(), fits));
    FUZZ_REQUIRE(std::all_of(header.value.begin(), header.value.end(), fits));
}

void check(const Tool& tool, const core::Limits& limits, const json::object& arguments) {
    FUZZ_REQUIRE(!tool.name.empty());
    FUZZ_REQUIRE(tool.input_schema() && tool.input_schema()->is_object());
    for (const auto* schema : {tool.input_schema(), tool.output_schema()}) {
        if (!schema) continue;
        FUZZ_REQUIRE(schema->is_object());
        FUZZ_REQUIRE(json::serialize(*schema).size() <= limits.schema_bytes);
    }
    (void)tool.text("title");
    (void)tool.hint("readOnlyHint");
    const json::object named{{"name", tool.name}};
    for (const auto& header : standard_headers("tools/call", members_of(named)))
        require_header(header);
    const auto parameters = header_parameters(*tool.input_schema());
    if (!parameters) return;
    for (const auto& parameter : *parameters) FUZZ_REQUIRE(!parameter.path.empty());
    const auto mirrored = mirrored_arguments(*parameters, json::serialize(arguments));
    if (!mirrored) return;
    FUZZ_REQUIRE(mirrored->size() <= parameters->size());
    for (const auto& header : *mirrored) require_header(header);
}

}  // namespace

// "arguments" beside "tools" are what the tools are called with.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto result = core::parse_json_object({reinterpret_cast<const char*>(data), size});
    if (!result) return 0;
    core::Limits limits;
    limits.schema_bytes = 512;
    limits.schema_depth = 6;
    const auto page = parse_tool_page(*result, limits);
    const auto cursor = next_cursor(*result);
    if (!page) return 0;
    FUZZ_REQUIRE(cursor && *cursor == page->next_cursor);
    FUZZ_REQUIRE(page->ttl_ms >= -1);
    const auto listed = core::array_in(&*result, "tools")->size();
    FUZZ_REQUIRE(page->tools.size() <= listed);
    FUZZ_REQUIRE(page->tools.size() + page->notes.size() >= listed);
    const auto* arguments = core::object_in(&*result, "arguments");
    for (const auto& tool : page->tools)
        check(tool, limits, arguments ? *arguments : json::object());
    return 0;
}
