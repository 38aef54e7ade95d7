#include "config/agents.hpp"

#include "config/keys.hpp"
#include "config/named.hpp"
#include "config/rules.hpp"
#include "core/spelling.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace patchbay::config {

namespace {

constexpr std::string_view kAgentPick = "agents.";

// Nearly the name of a list of ours, or a rule.
bool may_hide(const Member& member) {
    const bool list = member.value.is(Node::Kind::List) || member.value.is(Node::Kind::Map);
    return may_forbid(member) || (list && !core::nearest(member.key, {"servers", "tools"}).empty());
}

}  // namespace

Agent read_agent(const Member& table, const Source& source, core::Effort& hints,
                 std::vector<Diagnostic>& told) {
    Agent agent;
    agent.name = table.key;
    agent.place = source.place(table.mark);
    const auto note = [&](RuleId rule, Severity severity, Mark mark, const std::string& text) {
        told.push_back({rule, severity, source.place(mark), "agents." + agent.name + text, {}});
    };
    // What makes no sense may have been meant to hide something: then nothing is shown to that agent.
    const auto wrong = [&](RuleId rule, Mark mark, const std::string& text) {
        note(rule, Severity::Error, mark, text);
        if (agent.fault.empty())
            agent.fault = to_string(source.place(mark)) + ": agents." + agent.name + text;
    };
    if (!table.value.is(Node::Kind::Map)) {
        wrong(RuleId::InvalidValue, table.value.mark,
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
            for (const auto& fault : take_all(*key, agent, each.value))
                wrong(fault.rule, fault.mark, "." + each.key + ": " + fault.text);
            continue;
        }
        const auto text = ": unknown key \"" + core::printable(each.key, 80) + "\"" +
                          core::did_you_mean(each.key, names, hints);
        if (may_hide(each) || source.scope == Scope::Enterprise || source.is_flag())
            wrong(RuleId::UnknownKey, each.mark, text);
        else
            note(RuleId::UnknownKey, Severity::Warning, each.mark, text);
    }
    agent.server_places = places_in(table.value.find("servers"), source);
    agent.tool_places = places_in(table.value.find("tools"), source);
    if (const auto* bundle = table.value.find("bundle"))
        agent.bundle_place = source.place(bundle->mark);
    if (const auto* modes = table.value.find("modes"))
        for (const auto& member : modes->members)
            agent.mode_places[member.key] = source.place(member.mark);
    return agent;
}

namespace {

// Each that it names and that is not in `defined`: with its key and its place.
template <class Tell>
void each_stranger(const Agent& agent, const std::vector<std::string>& defined, const Tell& tell) {
    const auto look = [&](const char* key, const auto& places, const std::string& id) {
        if (std::find(defined.begin(), defined.end(), id) != defined.end()) return;
        const auto found = places.find(id);
        tell(key, found == places.end() ? agent.place : found->second, id);
    };
    if (agent.servers)
        for (const auto& id : *agent.servers) look(".servers", agent.server_places, id);
    for (const auto& [id, mode] : agent.modes) look(".modes", agent.mode_places, id);
}

Diagnostic stranger(const Agent& agent, const char* key, const Place& place, const std::string& id,
                    const std::string& hint) {
    return {RuleId::UnknownServer,
            Severity::Warning,
            place,
            "agents." + agent.name + key + ": no server \"" + core::printable(id, 80) +
                "\" is configured" + hint,
            {}};
}

}  // namespace

std::vector<Diagnostic> missing_servers(const Config& config, const Agent& agent) {
    std::vector<Diagnostic> missing;
    const auto look = [&](const char* key, const Place& place, const std::string& id) {
        auto warning = stranger(agent, key, place, id, " here, so nothing of it is shown");
        if (!is_told(config, warning)) missing.push_back(std::move(warning));
    };
    each_stranger(agent, ids_known(config), look);
    return missing;
}

void tell_strange_servers(const Agent& agent, const std::vector<std::string>& defined,
                          core::Effort& hints, std::vector<Diagnostic>& told) {
    each_stranger(agent, defined, [&](const char* key, const Place& place, const std::string& id) {
        const auto hint = core::did_you_mean(id, defined, hints);
        // Where nobody has one of nearly that name, it is most likely that of another checkout. A flag is meant for
        // what is here.
        if (hint.empty() && !place.is_flag()) return;
        told.push_back(stranger(agent, key, place, id, hint));
    });
}

namespace {

// Each in the order of its name, once.
class Picks {
public:
    Picks(std::map<std::string, Agent>& agents, const std::map<std::string, Config::Named>& names,
          core::Effort& hints, std::vector<Diagnostic>& told)
        : agents_(agents), names_(names), hints_(hints), told_(told) {}

    void settle(Agent& agent) {
        if (!agent.servers || !done_.insert(agent.name).second) return;
        on_the_way_.push_back(agent.name);
        std::optional<std::vector<std::string>> ids(std::in_place);
        for (const auto& pick : *agent.servers) {
            if (!pick.starts_with(kAgentPick)) {
                const auto named = names_.find(pick);
                add(named == names_.end() ? pick : named->second.id, ids);
            } else if (const auto wrong = take_of(agent, pick.substr(kAgentPick.size()), ids);
                       !wrong.empty()) {
                refuse(agent, pick, wrong);
            }
        }
        agent.servers = std::move(ids);
        on_the_way_.pop_back();
    }

private:
    static void add(const std::string& id, std::optional<std::vector<std::string>>& ids) {
        if (ids && std::find(ids->begin(), ids->end(), id) == ids->end()) ids->push_back(id);
    }

    // Empty, or why not.
    std::string take_of(Agent& agent, const std::string& name,
                        std::optional<std::vector<std::string>>& ids) {
        const auto other = agents_.find(name);
        if (other == agents_.end()) {
            std::vector<std::string> known;
            for (const auto& [each, unused] : agents_)
                if (each != agent.name) known.push_back(each);
            return "no agent \"" + core::printable(name, 80) + "\" is configured" +
                   core::did_you_mean(name, known, hints_);
        }
        if (std::find(on_the_way_.begin(), on_the_way_.end(), name) != on_the_way_.end())
            return "it leads round: " + core::printable(core::join(on_the_way_, ", "), 300) + ", " +
                   name;
        settle(other->second);
        if (!other->second.fault.empty()) return "that one cannot be used: " + other->second.fault;
        if (!other->second.servers) {
            ids.reset();
            return {};
        }
        for (const auto& id : *other->second.servers) {
            add(id, ids);
            if (const auto place = agent.server_places.find(std::string(kAgentPick) + name);
                place != agent.server_places.end())
                agent.server_places.try_emplace(id, place->second);
        }
        return {};
    }

    void refuse(Agent& agent, const std::string& pick, const std::string& why) {
        const auto found = agent.server_places.find(pick);
        const auto place = found == agent.server_places.end() ? agent.place : found->second;
        const auto text = ".servers: \"" + core::printable(pick, 80) + "\": " + why;
        told_.push_back(
            {RuleId::UnusablePick, Severity::Error, place, "agents." + agent.name + text, {}});
        if (agent.fault.empty()) agent.fault = to_string(place) + ": agents." + agent.name + text;
    }

    std::map<std::string, Agent>& agents_;
    const std::map<std::string, Config::Named>& names_;
    core::Effort& hints_;
    std::vector<Diagnostic>& told_;
    std::set<std::string> done_;
    std::vector<std::string> on_the_way_;
};

}  // namespace

void settle_picks(std::map<std::string, Agent>& agents,
                  const std::map<std::string, Config::Named>& names, core::Effort& hints,
                  std::vector<Diagnostic>& told) {
    Picks picks(agents, names, hints, told);
    for (auto& [name, agent] : agents) picks.settle(agent);
}

Result<const Agent*> agent_named(const Config& config, const std::string& name) {
    return one_named(config.agents, name, "agent", [](const Agent& each) { return each.enabled; });
}

}  // namespace patchbay::config
