#include "pins/listed.hpp"

#include "core/digest.hpp"
#include "protocol/canonical_json.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"
#include "protocol/raw_json.hpp"

#include <utility>

namespace patchbay::pins {

// The fault of a schema is part of it: what stands in the place of one that could not be used is the same for all.
std::string canonical_form(const protocol::Tool& tool) {
    std::string members;
    protocol::append_member(members, "name", protocol::quoted(tool.name));
    for (const auto* text : {&tool.known, &tool.others})
        if (!text->empty()) members.append(",").append(*text);
    auto form = protocol::canonical_json("{" + members + "}");
    if (!tool.schema_fault.empty())
        form.insert(1, "\"\":" + protocol::quoted("its inputSchema " + tool.schema_fault) + ",");
    return form;
}

std::string canonical_form(std::string_view item) {
    return protocol::canonical_json(item);
}

std::string digest_of(std::string_view canonical) {
    return core::sha256_hex(canonical);
}

std::string name_in(catalogue::List list, std::string_view item) {
    std::string_view name;
    protocol::each_member(item, [&](std::string_view key, std::string_view value) {
        if (key == catalogue::key_of(list)) name = value;
        return true;
    });
    return name.empty() ? std::string() : protocol::text_of_raw(name).value_or("");
}

Listed listed_of(const catalogue::Listing* listing,
                 const std::map<catalogue::List, const catalogue::Items*>& items,
                 const PublicName& public_name) {
    Listed listed;
    const auto add = [&](Name name, std::string text, std::string known_as) {
        auto digest = digest_of(text);
        listed.items.try_emplace(std::move(name),
                                 Item{std::move(digest), std::move(text), std::move(known_as)});
    };
    if (listing) {
        for (const auto& tool : listing->tools)
            add({Part::Tools, tool.name}, canonical_form(tool), public_name(tool.name));
        if (listing->whole) listed.whole.insert(Part::Tools);
        listed.whole.insert(Part::Instructions);
        if (!listing->instructions.empty())
            add({Part::Instructions, {}}, protocol::quoted(listing->instructions), {});
    }
    for (const auto part : {Part::Prompts, Part::Templates}) {
        const auto found = items.find(*list_of(part));
        if (found == items.end() || !found->second) continue;
        listed.whole.insert(part);
        for (const auto& text : found->second->texts)
            if (auto name = name_in(*list_of(part), text); !name.empty())
                add({part, std::move(name)}, canonical_form(text), {});
    }
    return listed;
}

}  // namespace patchbay::pins
