#include "config/readable_rules.hpp"

#include "config/approval.hpp"
#include "config/hold_back.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace patchbay::config {

namespace {

constexpr std::string_view kRuleKeys[] = {"enabled", "enabled_tools", "disabled_tools", "tools",
                                          "trust"};

// A part of a list, or of a table, alone. A text that stands where a list is expected is meant as one of it.
std::vector<Node> parts_of(const Node& value) {
    std::vector<Node> parts;
    for (const auto& item : value.items) {
        parts.push_back(Node::of_list(value.mark));
        parts.back().items = {item};
    }
    for (const auto& member : value.members) {
        parts.push_back(Node::of_map(value.mark));
        parts.back().members = {member};
    }
    if (!value.is(Node::Kind::Text)) return parts;
    parts.push_back(Node::of_list(value.mark));
    parts.back().items = {value};
    return parts;
}

void append(std::vector<std::string>& names, const std::vector<std::string>& more) {
    names.insert(names.end(), more.begin(), more.end());
}

void append(std::optional<std::vector<std::string>>& names,
            const std::optional<std::vector<std::string>>& more) {
    if (!more) return;
    if (!names) names.emplace();
    append(*names, *more);
}

void take_rule(Server& server, const ServerKey& key, const Node& value) {
    // A value that makes sense counts as it is; of a faulty one each part that does.
    if (Server whole; key.take(whole, value).empty()) {
        key.take(server, value);
        return;
    }
    Server readable;
    for (const auto& part : parts_of(value)) {
        Server alone;
        if (!key.take(alone, part).empty()) continue;
        append(readable.disabled_tools, alone.disabled_tools);
        append(readable.enabled_tools, alone.enabled_tools);
        readable.tools.merge(alone.tools);
    }
    if (key.name == "disabled_tools") append(server.disabled_tools, readable.disabled_tools);
    if (readable.enabled_tools) server.enabled_tools = std::move(readable.enabled_tools);
    // The stronger file's level comes first: merge() keeps what is there.
    readable.tools.merge(server.tools);
    server.tools = std::move(readable.tools);
}

void take_rules(Server& server, const Voice& voice) {
    for (const auto& member : voice.entry->body.members) {
        if (std::find(std::begin(kRuleKeys), std::end(kRuleKeys), member.key) ==
            std::end(kRuleKeys))
            continue;
        take_rule(server, *find_server_key(member.key), member.value);
        const auto place = voice.source->place(member.mark);
        if (member.key == "tools")
            for (const auto& tool : member.value.members)
                server.rules["tools." + tool.key] = voice.source->place(tool.mark);
        else
            server.rules[member.key] = place;
    }
}

// As of a server without a fault: a checkout may forbid, and no more.
void overlay_rules(Server& server, const Voice& voice) {
    auto changed = server;
    take_rules(changed, voice);
    std::set<std::string> held;
    if (from_project(voice.source->scope) || voice.entry->only_forbids)
        hold_back(server, changed, false, held);
    server = std::move(changed);
}

}  // namespace

Config::Faulty readable_rules(const std::string& id, const Settled& settled) {
    Config::Faulty faulty;
    faulty.rules.id = id;
    const auto name = [&](const Voice& voice) {
        const auto place = voice.source->place(voice.entry->mark);
        if (faulty.files.empty()) faulty.rules.place = place;
        faulty.files.insert(place.file);
    };
    if (settled.definition.entry) {
        name(settled.definition);
        take_rules(faulty.rules, settled.definition);
    }
    for (const auto& overlay : settled.overlays) {
        if (!settled.definition.entry) name(overlay);
        overlay_rules(faulty.rules, overlay);
    }
    if (settled.withheld.entry) overlay_rules(faulty.rules, settled.withheld);
    return faulty;
}

void take_readable(const TableKey& key, const Node& value, Permissions& into) {
    Permissions readable;
    for (const auto& part : parts_of(value)) {
        Config alone;
        if (!key.take(alone, part).empty()) continue;
        append(readable.deny, alone.permissions.deny);
        append(readable.ask, alone.permissions.ask);
        append(readable.allow, alone.permissions.allow);
    }
    if (key.name == "deny") into.deny = std::move(readable.deny);
    if (key.name == "ask") into.ask = std::move(readable.ask);
    if (key.name == "allow") into.allow = std::move(readable.allow);
}

}  // namespace patchbay::config
