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

std::map<std::string, Place> places_in(const Node* list, const Source& source) {
    std::map<std::string, Place> places;
    if (!list) return places;
    if (!list->is(Node::Kind::List)) places.try_emplace(list->text, source.place(list->mark));
    for (const auto& item : list->items)
        places.try_emplace(std::string(core::trimmed(item.text)), source.place(item.mark));
    return places;
}

// Why the whole of it cannot be meant so; empty: it can.
std::string trouble_with(const Bundle& bundle) {
    if (bundle.servers.empty()) return ": it names no servers; servers = [\"ID\", ...]";
    if (bundle.trust == "untrusted" && !bundle.allow)
        return ": it is untrusted, and then allow has to name what of it may be used";
    return {};
}

}  // namespace

Bundle read_bundle(const Member& table, const Source& source, core::Effort& hints,
                   std::vector<Diagnostic>& told) {
    Bundle bundle;
    bundle.name = table.key;
    bundle.place = source.place(table.mark);
    const auto wrong = [&](Mark mark, const std::string& text) {
        told.push_back({RuleId::InvalidValue,
                        Severity::Error,
                        source.place(mark),
                        "bundles." + bundle.name + text,
                        {}});
        if (bundle.fault.empty())
            bundle.fault = to_string(source.place(mark)) + ": bundles." + bundle.name + text;
    };
    const auto take = [&](const BundleKey& key, const Node& value) {
        if (const auto text = key.take(bundle, value); !text.empty())
            wrong(value.mark, "." + std::string(key.name) + ": " + text);
    };
    const auto known = bundle_keys();
    if (table.value.is(Node::Kind::List)) {
        take(known.front(), table.value);
        bundle.server_places = places_in(&table.value, source);
        return bundle;
    }
    if (!table.value.is(Node::Kind::Map)) {
        wrong(table.value.mark,
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
            wrong(each.mark, ": unknown key \"" + core::printable(each.key, 80) + "\"" +
                                 core::did_you_mean(each.key, names, hints));
    }
    for (const char* key : {"servers", "server"})
        bundle.server_places.merge(places_in(table.value.find(key), source));
    bundle.allow_places = places_in(table.value.find("allow"), source);
    bundle.deny_places = places_in(table.value.find("deny"), source);
    if (bundle.fault.empty())
        if (const auto text = trouble_with(bundle); !text.empty()) wrong(table.mark, text);
    return bundle;
}

void tell_strange_servers(const Bundle& bundle, const std::vector<std::string>& defined,
                          core::Effort& hints, std::vector<Diagnostic>& told) {
    for (const auto& id : bundle.servers) {
        if (std::find(defined.begin(), defined.end(), id) != defined.end()) continue;
        const auto found = bundle.server_places.find(id);
        const auto& place = found == bundle.server_places.end() ? bundle.place : found->second;
        const auto hint = core::did_you_mean(id, defined, hints);
        if (hint.empty() && !place.is_flag()) continue;  // most likely of another checkout
        told.push_back({RuleId::UnknownServer,
                        Severity::Warning,
                        place,
                        "bundles." + bundle.name + ": no server \"" + core::printable(id, 80) +
                            "\" is configured" + hint,
                        {}});
    }
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
