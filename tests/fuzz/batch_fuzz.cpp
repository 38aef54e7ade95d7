// Foreign bytes as a line of a batch, and as what is typed behind `call NAME`: what is let through
// has the shapes that the operations take for granted, and a repeated key never is.
#include "app/batch_request.hpp"
#include "app/call_arguments.hpp"
#include "core/json.hpp"
#include "fuzz/require.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay;
    namespace json = boost::json;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto line = app::parse_json(text, "the line");
    if (const auto* request = line ? line->if_object() : nullptr) {
        if (app::trouble_with(*request).empty()) {
            const auto limit = app::timeout_of(*request).count();
            FUZZ_REQUIRE(limit >= 0 && request->contains("timeout_ms") == (limit > 0));
            for (const char* key : {"op", "server", "method"}) (void)core::string_in(*request, key);
            if (app::trouble_with_params(*request).empty() &&
                core::string_in(*request, "op") == "tools/call")
                FUZZ_REQUIRE(app::param_of(*request, "name")->is_string());
            const auto params = app::parse_json(app::raw_params_of(text), "the params");
            FUZZ_REQUIRE(params && params->is_object());
            FUZZ_REQUIRE(request->contains("params") || !params->get_object().contains("op"));
            FUZZ_REQUIRE(app::raw_member_of(text, "id").empty() != request->contains("id"));
        }
    }

    const auto end = std::min(text.find('\n'), text.size());
    const std::vector<std::string> pairs{std::string(text.substr(0, end)),
                                         std::string(text.substr(std::min(end + 1, size)))};
    const json::value schema{{"type", "object"},
                             {"properties",
                              {{"n", {{"type", "integer"}}},
                               {"b", {{"type", "boolean"}}},
                               {"l", {{"type", "array"}, {"items", {{"type", "number"}}}}}}}};
    const auto arguments = app::with_pairs({}, pairs, schema);
    if (!arguments) return 0;
    const auto* number = arguments->values.if_contains("n");
    FUZZ_REQUIRE(!number || number->is_number());
    const auto* flag = arguments->values.if_contains("b");
    FUZZ_REQUIRE(!flag || flag->is_bool());
    FUZZ_REQUIRE(arguments->values.size() <= pairs.size());
    return 0;
}
