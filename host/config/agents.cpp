#include "config/agents.hpp"

#include "config/keys.hpp"
#include "config/rules.hpp"
#include "core/spelling.hpp"

#include <algorithm>
#include <map>

namespace patchbay::config {

namespace {

// Nearly the name of a list of ours, or a rule.
bool may_hide(const Member& member) {
    const bool list = member.value.is(Node::Kind::List) || member.value.is(Node::Kind::Map);
    return may_forbid(member) || (list && !core::nearest(member.key, {"servers", "tools"}).empty());
}

std::map<std::string, Place> places_in(const Node* list, const Source& source) {
    std::map<std::string, Place> places;
    if (!list) return places;
    for (const auto& item : list->items)
        places.try_emplace(std::string(core::trimmed(item.text)), source.place(item.mark));
    return places;
}

}  // namespace

Agent read_agent(const Member& table, const Source& source, core::Effort& hints,
                 std::vector<Diagnostic>& told) {
    Agent agent{table.key, source.place(table.mark), true, {}, {}, {}, {}};
    const auto note = [&](Severity severity, Mark mark, const std::string& text) {
        told.push_back({severity, source.place(mark), "agents." + agent.name + text, {}});
    };
    // What makes no sense may have been meant to hide something: then nothing is shown to that agent.
    const auto wrong = [&](Mark mark, const std::string& text) {
        note(Severity::Error, mark, text);
        if (agent.fault.empty()) agent.fault = to_string(source.place(mark)) + text;
    };
    if (!table.value.is(Node::Kind::Map)) {
        wrong(table.value.mark,
              std::string(": expected a table, found ") + name_of(table.value.kind));
        return agent;
    }
    std::vector<std::string> names;
    for (const auto& key : agent_keys()) names.emplace_back(key.name);
    for (const auto& each : table.value.members) {
        const auto known = agent_keys();
        const auto key = std::find_if(known.begin(), known.end(),
                                      [&](const auto& k) { return k.name == each.key; });
        if (key != known.end()) {
            if (const auto text = key->take(agent, each.value); !text.empty())
                wrong(each.value.mark, "." + each.key + ": " + text);
            continue;
        }
        const auto text = ": unknown key \"" + core::printable(each.key, 80) + "\"" +
                          core::did_you_mean(each.key, names, hints);
        if (may_hide(each) || source.scope == Scope::Enterprise || source.is_flag())
            wrong(each.mark, text);
        else
            note(Severity::Warning, each.mark, text);
    }
    agent.server_places = places_in(table.value.find("servers"), source);
    agent.tool_places = places_in(table.value.find("tools"), source);
    return agent;
}

void tell_strange_servers(const Agent& agent, const std::vector<std::string>& defined,
                          core::Effort& hints, std::vector<Diagnostic>& told) {
    if (!agent.servers) return;
    for (const auto& id : *agent.servers) {
        if (std::find(defined.begin(), defined.end(), id) != defined.end()) continue;
        const auto place = agent.server_places.find(id);
        told.push_back({Severity::Warning,
                        place == agent.server_places.end() ? agent.place : place->second,
                        "agents." + agent.name + ".servers: no server \"" +
                            core::printable(id, 80) + "\" is configured" +
                            core::did_you_mean(id, defined, hints),
                        {}});
    }
}

}  // namespace patchbay::config
