// Foreign bytes as the result of tools/list: every listed item becomes a tool within the limits or a
// note, and no tool's marks or arguments can put a line break into an HTTP header.
#include "core/json.hpp"
#include "fuzz/require.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"
#include "protocol/http_headers.hpp"
#include "protocol/tool.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

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
    FUZZ_REQUIRE(!tool.name.empty() && tool.name.size() <= kMostToolName);
    FUZZ_REQUIRE(tool.input_schema().is_object());
    FUZZ_REQUIRE(raw_member(tool.known, "inputSchema").size() <= limits.schema_bytes);
    FUZZ_REQUIRE(tool.output_schema().is_object() || tool.output_schema().is_null());
    FUZZ_REQUIRE(raw_member(tool.known, "outputSchema").size() <= limits.schema_bytes);
    for (const auto* members : {&tool.known, &tool.others})
        FUZZ_REQUIRE(core::parse_json_object("{" + *members + "}"));
    (void)tool.text("title");
    (void)tool.hint("readOnlyHint");
    const json::object named{{"name", tool.name}};
    for (const auto& header : standard_headers("tools/call", members_of(named)))
        require_header(header);
    const auto parameters = header_parameters(tool.input_schema());
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
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto result = core::parse_json_object(text);
    if (!result) return 0;
    core::Limits limits;
    limits.schema_bytes = 512;
    limits.schema_depth = 6;
    const auto page = parse_tool_page(text, limits);
    if (!page) return 0;
    const auto* cursor = result->if_contains("nextCursor");
    FUZZ_REQUIRE(page->next_cursor == core::text_in(&*result, "nextCursor"));
    FUZZ_REQUIRE(!cursor || cursor->is_string() || cursor->is_null());
    FUZZ_REQUIRE(page->caching.ttl.value_or(std::chrono::milliseconds(0)).count() >= 0);
    const auto listed = core::array_in(&*result, "tools")->size();
    FUZZ_REQUIRE(page->tools.size() <= listed);
    FUZZ_REQUIRE(page->notes.size() <= kMostToolNotes);
    FUZZ_REQUIRE(page->left_out.size() <= kMostToolNotes);
    FUZZ_REQUIRE(page->tools.size() + page->left_out.size() >= std::min(listed, kMostToolNotes));
    auto bit_by_bit = *parse_tool_page(text, limits, 1);
    while (!bit_by_bit.unread.empty()) read_more(bit_by_bit, limits, 1);
    FUZZ_REQUIRE(bit_by_bit.listed == page->listed);
    FUZZ_REQUIRE(bit_by_bit.tools.size() == page->tools.size());
    FUZZ_REQUIRE(bit_by_bit.left_out == page->left_out && bit_by_bit.notes == page->notes);
    const auto* arguments = core::object_in(&*result, "arguments");
    for (const auto& tool : page->tools)
        check(tool, limits, arguments ? *arguments : json::object());
    return 0;
}
