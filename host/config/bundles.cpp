#include "config/bundles.hpp"

#include "config/keys.hpp"
#include "config/named.hpp"
#include "core/spelling.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace patchbay::config {

namespace {

// Why the whole of it cannot be meant so; empty: it can.
std::pair<RuleId, std::string> trouble_with(const Bundle& bundle) {
    if (bundle.servers.empty())
        return {RuleId::EmptyList, ": it names no servers; servers = [\"ID\", ...]"};
    if (bundle.trust == "untrusted" && !bundle.allow)
        return {RuleId::ConflictingKeys,
                ": it is untrusted, and then allow has to name what of it may be used"};
    return {};
}

Diagnostic stranger(const Bundle& bundle, const std::string& id, const std::string& end) {
    const auto found = bundle.server_places.find(id);
    return {RuleId::UnknownServer,
            Severity::Warning,
            found == bundle.server_places.end() ? bundle.place : found->second,
            "bundles." + bundle.name + ": no server \"" + core::printable(id, 80) +
                "\" is configured" + end,
            {}};
}

}  // namespace

Bundle read_bundle(const Member& table, const Source& source, core::Effort& hints,
                   std::vector<Diagnostic>& told) {
    Bundle bundle;
    bundle.name = table.key;
    bundle.place = source.place(table.mark);
    const auto wrong = [&](RuleId rule, Mark mark, const std::string& text) {
        told.push_back(
            {rule, Severity::Error, source.place(mark), "bundles." + bundle.name + text, {}});
        // Who asks for it later is told the first one.
        if (bundle.fault.empty())
            bundle.fault = to_string(source.place(mark)) + ": bundles." + bundle.name + text;
    };
    const auto take = [&](const BundleKey& key, const Node& value) {
        for (const auto& fault : take_all(key, bundle, value))
            wrong(fault.rule, fault.mark, "." + std::string(key.name) + ": " + fault.text);
    };
    const auto known = bundle_keys();
    if (table.value.is(Node::Kind::List)) {
        take(known.front(), table.value);
        bundle.server_places = places_in(&table.value, source);
        return bundle;
    }
    if (!table.value.is(Node::Kind::Map)) {
        wrong(RuleId::InvalidValue, table.value.mark,
              std::string(": expected a table, found ") + name_of(table.value.kind));
        return bundle;
    }
    std::vector<std::string> names;
    for (const auto& key : known) names.emplace_back(key.name);
    for (const auto& each : table.value.members) {
        const auto key = std::find_if(known.begin(), known.end(),
                                      [&](const auto& k) { return k.name == each.key; });
        if (key != known.end())
            take(*key, each.value);
        else
            wrong(RuleId::UnknownKey, each.mark,
                  ": unknown key \"" + core::printable(each.key, 80) + "\"" +
                      core::did_you_mean(each.key, names, hints));
    }
    for (const char* key : {"servers", "server"})
        bundle.server_places.merge(places_in(table.value.find(key), source));
    bundle.allow_places = places_in(table.value.find("allow"), source);
    bundle.deny_places = places_in(table.value.find("deny"), source);
    if (bundle.fault.empty())
        if (const auto [rule, text] = trouble_with(bundle); !text.empty())
            wrong(rule, table.mark, text);
    return bundle;
}

void tell_strange_servers(const Bundle& bundle, const std::vector<std::string>& defined,
                          core::Effort& hints, std::vector<Diagnostic>& told) {
    for (const auto& id : bundle.servers) {
        if (std::find(defined.begin(), defined.end(), id) != defined.end()) continue;
        const auto hint = core::did_you_mean(id, defined, hints);
        auto warning = stranger(bundle, id, hint);
        // Else it is most likely of another checkout.
        if (!hint.empty() || warning.place.is_flag()) told.push_back(std::move(warning));
    }
}

std::vector<Diagnostic> missing_servers(const Config& config, const Bundle& bundle) {
    const auto known = ids_known(config);
    std::vector<Diagnostic> missing;
    for (const auto& id : bundle.servers) {
        if (missing.size() == kMostMissing) break;
        if (std::find(known.begin(), known.end(), id) != known.end()) continue;
        auto warning = stranger(bundle, id, " here, so nothing of it is shown");
        if (!is_told(config, warning)) missing.push_back(std::move(warning));
    }
    return missing;
}

std::vector<Diagnostic> empty_views(const Config& config) {
    std::vector<Diagnostic> empty;
    const auto is_there = [&](const std::string& id) {
        return std::any_of(config.servers.begin(), config.servers.end(),
                           [&](const Server& server) { return server.id == id && server.enabled; });
    };
    const auto any_there = [&](const std::vector<std::string>& ids) {
        return std::any_of(ids.begin(), ids.end(), is_there);
    };
    const auto tell = [&](const Place& place, const std::string& text) {
        empty.push_back({RuleId::EmptyList, Severity::Warning, place, text, {}});
    };
    for (const auto& bundle : config.bundles)
        if (bundle.fault.empty() && !any_there(bundle.servers))
            tell(bundle.place,
                 "bundles." + bundle.name +
                     ": it shows nothing, since none of its servers is in force here");
    for (const auto& agent : config.agents) {
        if (!agent.enabled || !agent.fault.empty()) continue;
        const auto name = "agents." + agent.name;
        if (agent.servers && !any_there(*agent.servers)) {
            tell(agent.place,
                 name + ": it is shown nothing, since none of its servers is in force here");
            continue;
        }
        if (agent.bundle.empty()) continue;
        const auto bundle = bundle_named(config.bundles, agent.bundle);
        const auto is_shown = [&](const std::string& id) {
            const auto& own = agent.servers;
            return is_there(id) && (!own || std::find(own->begin(), own->end(), id) != own->end());
        };
        if (!bundle || std::any_of((*bundle)->servers.begin(), (*bundle)->servers.end(), is_shown))
            continue;
        tell(agent.bundle_place, name + ".bundle: it is shown nothing, since \"" +
                                     core::printable(agent.bundle, 80) + "\" holds " +
                                     (agent.servers ? "none of its servers that is in force here"
                                                    : "no server that is in force here"));
    }
    return empty;
}

void settle_bundle(Agent& agent, const std::vector<Bundle>& bundles,
                   std::vector<Diagnostic>& told) {
    if (agent.bundle.empty()) return;
    const auto found = bundle_named(bundles, agent.bundle);
    if (found) return;
    const auto text = "agents." + agent.name + ".bundle: " + found.error().message;
    told.push_back({RuleId::InvalidValue, Severity::Error, agent.bundle_place, text, {}});
    if (agent.fault.empty()) agent.fault = to_string(agent.bundle_place) + ": " + text;
}

Result<const Bundle*> bundle_named(const std::vector<Bundle>& bundles, const std::string& name) {
    return one_named(bundles, name, "bundle", [](const Bundle&) { return true; });
}

}  // namespace patchbay::config
