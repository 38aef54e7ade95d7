#include "catalogue/listing_text.hpp"

#include "core/json.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"
#include "protocol/tool.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace patchbay::catalogue {

namespace {

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
                 ",\"instructions\":" + protocol::quoted(listing.instructions) + ",\"faults\":{" +
                 faults + "},\"tools\":[" + tools + "]}");
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

}  // namespace patchbay::catalogue
