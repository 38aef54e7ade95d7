#include "protocol/tool.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"
#include "protocol/raw_json.hpp"
#include "protocol/schema.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

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

// Arguments are an object, always. A list of types, or none, leaves that open.
std::string trouble_with_type(const json::value& schema) {
    const auto type = core::text_in(schema.if_object(), "type");
    if (!type || *type == "object") return {};
    return "is of type \"" + core::printable(*type, 40) + "\", not \"object\"";
}

// What clients of other people would fetch, or refuse a whole list of tools for. To compile every schema that is listed would
// take as long as to read it, so first by its text, in which neither word may mean this.
bool is_doubtful(std::string_view schema) {
    constexpr std::string_view kReference = "\"$ref\":\"", kProperties = "\"properties\":[";
    for (auto at = schema.find(kReference); at != schema.npos; at = schema.find(kReference, at + 1))
        if (schema[at + kReference.size()] != '#') return true;
    return schema.find(kProperties) != schema.npos;
}

constexpr std::size_t kUsualSchema = 8u << 10;  // of a schema as values

// Why nothing can be checked against it; empty: it is fine.
enum class Of { Arguments, Results };
std::string trouble_with(std::string_view schema, const core::Limits& limits, Of what) {
    if (schema.front() != '{') return "is no object";
    if (schema.size() > limits.schema_bytes)
        return "is over " + std::to_string(limits.schema_bytes) + " bytes (limit schema_bytes)";
    unsigned char room[kUsualSchema];
    json::monotonic_resource arena(room, sizeof room);
    const auto value = core::parse_json(schema, {.depth = limits.json_depth}, &arena);
    if (!value) return value.error().message;
    if (depth_of(*value, limits.schema_depth + 1) > limits.schema_depth)
        return "is nested deeper than " + std::to_string(limits.schema_depth) +
               " (limit schema_depth)";
    if (what == Of::Arguments)
        if (auto trouble = trouble_with_type(*value); !trouble.empty()) return trouble;
    if (!is_doubtful(schema) || !Schema::knows_dialect(*value)) return {};
    const auto compiled = Schema::compile(*value);
    return compiled ? std::string()
                    : "cannot be used: " + core::printable(compiled.error().message, 300);
}

void note(std::vector<std::string>& notes, std::string text) {
    if (notes.size() < kMostToolNotes) notes.push_back(std::move(text));
}

// What is read of a tool, in the order in which it is kept: what has a limit comes first, so that
// nothing long is passed over in search of it.
enum Known { kInput, kOutput, kTitle, kAnnotations, kDescription, kKnown };
constexpr std::array<std::string_view, kKnown> kKnownKeys{"inputSchema", "outputSchema", "title",
                                                          "annotations", "description"};

using Members = std::vector<std::pair<std::string, std::string_view>>;

bool repeats_a_key(const Members& members) {
    std::vector<std::string_view> keys;
    keys.reserve(members.size());
    for (const auto& [key, value] : members) keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

// Of equal keys the last counts, where the first stands.
Members last_of_each(const Members& members) {
    std::map<std::string_view, std::size_t> places;
    Members kept;
    for (const auto& [key, value] : members) {
        const auto [place, is_new] = places.emplace(key, kept.size());
        if (is_new)
            kept.emplace_back(key, value);
        else
            kept[place->second].second = value;
    }
    return kept;
}

// False: there are too many.
bool split_tool(std::string_view definition, Members& members) {
    each_member(definition, [&](std::string_view key, std::string_view value) {
        members.emplace_back(key, value);
        return members.size() <= kMostToolMembers;
    });
    if (repeats_a_key(members)) members = last_of_each(members);
    return members.size() <= kMostToolMembers;
}

// A tool is not lost for its schemas: whatever it takes is then for the server to judge.
void mend_schemas(Tool& tool, std::array<std::string, kKnown>& known, const core::Limits& limits,
                  std::vector<std::string>& notes) {
    const auto about = [&tool](std::string_view what) {
        return "tool \"" + core::printable(tool.name, 128) + "\": its " + std::string(what);
    };
    auto& input = known[kInput];
    tool.schema_fault = input.empty() ? "is missing" : trouble_with(input, limits, Of::Arguments);
    if (!tool.schema_fault.empty()) {
        input = R"({"type":"object","additionalProperties":true})";
        note(notes, about("inputSchema ") + tool.schema_fault + ", so it takes any arguments");
    }
    auto& output = known[kOutput];
    if (output.empty()) return;
    if (const auto why = trouble_with(output, limits, Of::Results); !why.empty()) {
        output.clear();
        note(notes, about("outputSchema ") + why + " and was left out");
    }
}

// Nothing: it is left out.
std::optional<Tool> read_tool(std::string_view definition, const core::Limits& limits,
                              ToolPage& page) {
    Members members;
    const bool readable = split_tool(definition, members);
    Tool tool;
    std::string_view name = "null";
    std::array<std::string, kKnown> known;
    for (const auto& [key, value] : members) {
        const auto place = std::find(kKnownKeys.begin(), kKnownKeys.end(), key);
        if (key == "name")
            name = value;
        else if (place == kKnownKeys.end())
            append_member(tool.others, key, without_spaces(value));
        else
            known[static_cast<std::size_t>(place - kKnownKeys.begin())] = without_spaces(value);
    }
    auto text = text_of_raw(name);
    if (!text || text->empty()) {
        note(page.left_out, text ? "a tool with an empty name was left out"
                                 : "a tool without a name was left out");
        return std::nullopt;
    }
    if (text->size() > kMostToolName) {
        note(page.left_out, "tool \"" + core::printable(*text, 128) +
                                "\": its name has more than " + std::to_string(kMostToolName) +
                                " bytes and it was left out");
        return std::nullopt;
    }
    tool.name = std::move(*text);
    if (!readable) {
        note(page.left_out, "tool \"" + core::printable(tool.name, 128) + "\": it has more than " +
                                std::to_string(kMostToolMembers) + " members and was left out");
        return std::nullopt;
    }
    mend_schemas(tool, known, limits, page.notes);
    for (std::size_t i = 0; i < kKnown; ++i)
        if (!known[i].empty()) append_member(tool.known, kKnownKeys[i], known[i]);
    tool.known.shrink_to_fit();
    tool.others.shrink_to_fit();
    return tool;
}

}  // namespace

json::value Tool::value(std::string_view key) const {
    const auto raw = raw_member(known, key);
    if (raw.empty()) return nullptr;
    auto read = core::parse_json(raw, {.depth = raw.size()});  // it was read within its limits
    return read ? std::move(*read) : json::value();
}

std::string Tool::text(std::string_view key) const {
    return text_of_raw(raw_member(known, key)).value_or("");
}

bool Tool::hint(std::string_view hint_name) const {
    bool is_true = false;
    each_member(raw_member(known, "annotations"), [&](std::string_view key, auto hinted) {
        if (key == hint_name) is_true = hinted == "true";
        return true;
    });
    return is_true;
}

std::string fault_of_result(const Tool& tool, const json::object& result) {
    const auto* content = core::array_in(&result, "content");
    const auto* structured = result.if_contains("structuredContent");
    const auto promised = tool.output_schema();
    if (promised.is_null()) {
        const bool has_any = structured || (content && !content->empty());
        return has_any ? "" : "it has no content";
    }
    if (!structured) return "it lacks the structuredContent that the tool's outputSchema promises";
    const auto schema = Schema::compile(promised);
    const auto errors = schema ? schema->validate(*structured) : std::vector<SchemaError>();
    if (errors.empty()) return {};
    const auto& [pointer, message] = errors.front();
    return "its structuredContent breaks the tool's outputSchema: " +
           (pointer.empty() ? message : pointer + ": " + message);
}

Result<ToolPage> parse_tool_page(std::string_view result, const core::Limits& limits,
                                 std::size_t bytes) {
    ToolPage page;
    std::string_view listed, cursor = "null";
    each_member(result, [&](std::string_view key, std::string_view value) {
        if (key == "tools") listed = value;
        if (key == "nextCursor") cursor = value;
        read_caching(page.caching, key, value);
        return true;
    });
    if (listed.empty() || listed.front() != '[')
        return Error{ErrorCode::Protocol, "tools/list result has no \"tools\" array"};
    if (cursor != "null") {
        const auto read = core::parse_json(cursor);
        const auto text = read ? core::text_of(*read) : std::nullopt;
        if (!text) return Error{ErrorCode::Protocol, "nextCursor is not a string"};
        page.next_cursor = *text;
    }
    page.unread = items_in(listed);
    read_more(page, limits, bytes);
    return page;
}

void read_more(ToolPage& page, const core::Limits& limits, std::size_t bytes) {
    for (std::size_t read = 0; !page.unread.empty() && read < bytes;) {
        const auto item = take_item(page.unread);
        read += item.size();
        if (auto tool = read_tool(item, limits, page)) page.tools.push_back(std::move(*tool));
        if (++page.listed > limits.tools_per_server) page.unread = {};
    }
}

}  // namespace patchbay::protocol
