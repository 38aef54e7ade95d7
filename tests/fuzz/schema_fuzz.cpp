// The first line is a schema, the rest an instance: compiling and validating end, and the defaults
// of a form are what the form accepts.
#include "fuzz/require.hpp"
#include "protocol/argument_check.hpp"
#include "protocol/arguments.hpp"
#include "protocol/schema.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay::protocol;
    namespace json = boost::json;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto line = std::min(text.find('\n'), text.size());
    json::error_code failed;
    const auto document = json::parse({text.data(), line}, failed);
    if (failed) return 0;
    const auto rest = text.substr(std::min(line + 1, text.size()));
    const auto instance = json::parse({rest.data(), rest.size()}, failed);
    const auto schema = Schema::compile(document);
    if (schema && !failed) (void)schema->validate(instance);
    if (!failed && instance.is_object()) {
        // What is checked before a call says the same, as far as it judges at all.
        Tool tool;
        tool.name = "t";
        tool.known = "\"inputSchema\":" + json::serialize(document);
        const ArgumentCheck check(tool);
        const auto fault = check.fault(tool, json::serialize(instance));
        const bool judged = schema && check.unusable().empty() &&
                            schema->judge(instance, ArgumentCheck::kMostSteps);
        FUZZ_REQUIRE(!judged || document.is_null() ||
                     fault.empty() == schema->validate(instance).empty());
        (void)check_arguments(document, instance.get_object());
        for (const auto& member : instance.get_object()) {
            (void)coerce_argument(document, std::string(member.key()),
                                  json::serialize(member.value()));
        }
    }
    if (const auto defaults = defaults_for(document)) {
        FUZZ_REQUIRE(schema && schema->validate(*defaults).empty());
    }
    return 0;
}
