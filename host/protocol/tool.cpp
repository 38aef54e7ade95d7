#include "protocol/tool.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/schema.hpp"

namespace patchbay::protocol {
namespace json = boost::json;

namespace {

std::size_t depth_of(const json::value& value, std::size_t most) {
    if (most == 0) return 1;
    std::size_t deepest = 0;
    if (const auto* object = value.if_object()) {
        for (const auto& member : *object)
            deepest = std::max(deepest, depth_of(member.value(), most - 1));
    } else if (const auto* array = value.if_array()) {
        for (const auto& item : *array) deepest = std::max(deepest, depth_of(item, most - 1));
    } else {
        return 0;
    }
    return deepest + 1;
}

// Why nothing can be checked against it; empty: it is fine.
std::string trouble_with(const json::value& schema, const core::Limits& limits) {
    if (!schema.is_object()) return "is no object";
    if (json::serialize(schema).size() > limits.schema_bytes)
        return "is over " + std::to_string(limits.schema_bytes) + " bytes (limit schema_bytes)";
    if (depth_of(schema, limits.schema_depth + 1) > limits.schema_depth)
        return "is nested deeper than " + std::to_string(limits.schema_depth) +
               " (limit schema_depth)";
    return {};
}

// A tool is not lost for its schemas: whatever it takes is then for the server to judge.
void mend_schemas(Tool& tool, const core::Limits& limits, std::vector<std::string>& notes) {
    const std::string name = "tool \"" + core::printable(tool.name, 128) + "\": ";
    const auto* input = tool.input_schema();
    const auto trouble = input ? trouble_with(*input, limits) : "is missing";
    if (!trouble.empty()) {
        tool.raw["inputSchema"] = {{"type", "object"}, {"additionalProperties", true}};
        notes.push_back(name + "its inputSchema " + trouble + ", so it takes any arguments");
    }
    const auto* output = tool.output_schema();
    if (!output) return;
    if (const auto why = trouble_with(*output, limits); !why.empty()) {
        tool.raw.erase("outputSchema");
        notes.push_back(name + "its outputSchema " + why + " and was left out");
    }
}

}  // namespace

std::string Tool::text(std::string_view key) const {
    const auto* value = raw.if_contains(key);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

bool Tool::hint(std::string_view hint_name) const {
    const auto* annotations = raw.if_contains("annotations");
    if (!annotations || !annotations->is_object()) return false;
    const auto* value = annotations->get_object().if_contains(hint_name);
    return value && value->is_bool() && value->get_bool();
}

std::string fault_of_result(const Tool& tool, const json::object& result) {
    const auto* content = core::array_in(&result, "content");
    const auto* structured = result.if_contains("structuredContent");
    const auto* promised = tool.output_schema();
    if (!promised && !structured && (!content || content->empty())) return "it has no content";
    if (!promised) return {};
    if (!structured) return "it lacks the structuredContent that the tool's outputSchema promises";
    const auto schema = Schema::compile(*promised);
    const auto errors = schema ? schema->validate(*structured) : std::vector<SchemaError>();
    if (errors.empty()) return {};
    const auto& [pointer, message] = errors.front();
    return "its structuredContent breaks the tool's outputSchema: " +
           (pointer.empty() ? message : pointer + ": " + message);
}

Result<std::string> next_cursor(const json::object& result) {
    const auto* cursor = result.if_contains("nextCursor");
    if (!cursor || cursor->is_null()) return std::string();
    if (!cursor->is_string()) return Error{ErrorCode::Protocol, "nextCursor is not a string"};
    return std::string(cursor->get_string());
}

Result<ToolPage> parse_tool_page(json::object result, const core::Limits& limits) {
    auto* listed = result.if_contains("tools");
    if (!listed || !listed->is_array()) {
        return Error{ErrorCode::Protocol, "tools/list result has no \"tools\" array"};
    }
    ToolPage page;
    auto cursor = next_cursor(result);
    if (!cursor) return cursor.error();
    page.next_cursor = std::move(*cursor);
    if (const auto* ttl = result.if_contains("ttlMs"); ttl && ttl->is_int64()) {
        page.ttl_ms = std::max<std::int64_t>(0, ttl->get_int64());
    }
    for (auto& item : listed->get_array()) {
        auto* object = item.if_object();
        const auto* name = object ? object->if_contains("name") : nullptr;
        if (!name || !name->is_string()) {
            page.notes.push_back("a tool without a name was left out");
            continue;
        }
        if (name->get_string().empty()) {
            page.notes.push_back("a tool with an empty name was left out");
            continue;
        }
        Tool tool{std::string(name->get_string()), std::move(*object)};
        mend_schemas(tool, limits, page.notes);
        page.tools.push_back(std::move(tool));
    }
    return page;
}

}  // namespace patchbay::protocol
