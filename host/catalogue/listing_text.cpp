#include "catalogue/listing_text.hpp"

#include "core/json.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"
#include "protocol/raw_json.hpp"
#include "protocol/tool.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace patchbay::catalogue {

namespace {

constexpr std::size_t kMostOthers = 8;

void append_tool(std::string& out, const protocol::Tool& tool) {
    out.append("{\"name\":").append(protocol::quoted(tool.name));
    for (const auto* members : {&tool.known, &tool.others})
        if (!members->empty()) out.append(",").append(*members);
    out += '}';
}

std::string text_of(std::string_view raw) {
    const auto value = core::parse_json(raw);
    const auto text = value ? core::text_of(*value) : std::nullopt;
    return std::string(text.value_or(""));
}

// `,"others":["prompts"]`, or nothing.
std::string others_of(const Listing& listing) {
    if (!listing.others) return {};
    std::string named;
    for (const auto& each : *listing.others)
        named.append(named.empty() ? "" : ",").append(protocol::quoted(each));
    return ",\"others\":[" + named + "]";
}

std::set<std::string> texts_in(std::string_view raw) {
    std::set<std::string> texts;
    for (auto rest = protocol::items_in(raw); !rest.empty() && texts.size() < kMostOthers;)
        texts.insert(protocol::text_of_raw(protocol::take_item(rest)).value_or(""));
    return texts;
}

bool by_name(const protocol::Tool& a, const protocol::Tool& b) {
    return a.name < b.name;
}

}  // namespace

// In the form of an answer to tools/list, so that it is read by who reads those. What stands in the
// place of a schema that could not be used is one that can: the fault is said beside it.
std::string to_text(const Listing& listing) {
    std::string tools, faults;
    for (const auto& tool : listing.tools) {
        if (!tools.empty()) tools += ',';
        append_tool(tools, tool);
        if (!tool.schema_fault.empty())
            protocol::append_member(faults, tool.name, protocol::quoted(tool.schema_fault));
    }
    return protocol::response(
        "0", "{\"definition\":" + protocol::quoted(listing.definition) +
                 ",\"instructions\":" + protocol::quoted(listing.instructions) +
                 others_of(listing) + ",\"faults\":{" + faults + "},\"tools\":[" + tools + "]}");
}

Result<Listing> from_text(std::string_view text, const std::string& definition,
                          const core::Limits& limits) {
    const Error none{ErrorCode::Invalid, "this is no list of tools"};
    const auto envelope = protocol::parse_envelope(text, limits.json_depth);
    if (!envelope || envelope->kind != protocol::MessageKind::Result) return none;
    Listing listing;
    std::map<std::string, std::string> faults;
    for (const auto& [key, value] : protocol::members_in(envelope->result)) {
        if (key == "definition") listing.definition = text_of(value);
        if (key == "instructions") listing.instructions = text_of(value);
        if (key == "others" && value.starts_with('[')) listing.others = texts_in(value);
        if (key != "faults") continue;
        for (const auto& [tool, fault] : protocol::members_in(value)) faults[tool] = text_of(fault);
    }
    auto page = protocol::parse_tool_page(envelope->result, limits);
    if (!page || listing.definition != definition ||
        !std::is_sorted(page->tools.begin(), page->tools.end(), by_name))
        return none;
    listing.tools = std::move(page->tools);
    for (auto& tool : listing.tools)
        if (const auto found = faults.find(tool.name); found != faults.end())
            tool.schema_fault = found->second;
    return listing;
}

// In the form of an answer to the method that lists them.
std::string to_text(List list, const Items& items) {
    std::string all;
    for (const auto& text : items.texts) all.append(all.empty() ? "" : ",").append(text);
    return protocol::response("0", "{\"definition\":" + protocol::quoted(items.origin.definition) +
                                       ",\"folder\":" + protocol::quoted(items.origin.folder) +
                                       ",\"" + name_of(list) + "\":[" + all + "]}");
}

Result<Items> items_from_text(std::string_view text, List list, const Origin& origin,
                              const core::Limits& limits) {
    const Error none{ErrorCode::Invalid, std::string("this is no list of ") + name_of(list)};
    const auto envelope = protocol::parse_envelope(text, limits.json_depth);
    if (!envelope || envelope->kind != protocol::MessageKind::Result) return none;
    if (core::json_cost(envelope->result) > limits.list_bytes) return none;
    std::string_view array;
    Items items;
    for (const auto& [key, value] : protocol::members_in(envelope->result)) {
        if (key == "definition") items.origin.definition = text_of(value);
        if (key == "folder") items.origin.folder = text_of(value);
        if (key == name_of(list)) array = value;
    }
    if (items.origin != origin || !array.starts_with('[')) return none;
    for (auto rest = protocol::items_in(array); !rest.empty();) {
        items.texts.emplace_back(protocol::take_item(rest));
        const bool usable =
            items.texts.back().starts_with('{') && items.texts.size() <= limits.items_per_list;
        if (!usable) return none;
    }
    return items;
}

}  // namespace patchbay::catalogue
