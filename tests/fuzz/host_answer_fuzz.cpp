// What a host that runs says of its servers and their tools: what is believed is said again as it was.
#include "app/status_text.hpp"
#include "core/json.hpp"
#include "fuzz/require.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace patchbay;

static boost::json::value sent(const boost::json::object& object) {
    const auto text = core::parse_json(boost::json::serialize(object));
    FUZZ_REQUIRE(text);
    return *text;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = core::parse_json({reinterpret_cast<const char*>(data), size});
    if (!text) return 0;
    if (const auto status = app::parse_status(*text)) {
        const auto told = app::status_text(*status);
        const auto again = app::parse_status(sent(told));
        FUZZ_REQUIRE(again && app::status_text(*again) == told);
    }
    app::ToolDefinitions definitions;
    if (const auto list = app::parse_tools(*text, definitions)) {
        const auto told = app::tools_text(*list);
        const auto again = app::parse_tools(sent(told), definitions);
        FUZZ_REQUIRE(again && again->tools.size() == list->tools.size());
        for (std::size_t i = 0; i < list->tools.size(); ++i)
            FUZZ_REQUIRE(*again->tools[i].tool == *list->tools[i].tool);
    }
    return 0;
}
