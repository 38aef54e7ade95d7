// Of tables that people name: the one that is meant, or why there is none. Internal to this room.
//
// Threads: [any], pure. Errors: Invalid: its table is faulty; NotFound, with the nearest.
#pragma once

#include "config/config.hpp"
#include "core/result.hpp"
#include "core/spelling.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace patchbay::config {

// All servers that some source speaks of as there: disabled, faulty and unapproved ones too.
inline std::vector<std::string> ids_known(const Config& config) {
    std::vector<std::string> known;
    for (const auto& server : config.servers) known.push_back(server.id);
    for (const auto& proposal : config.untrusted) known.push_back(proposal.id);
    for (const auto& faulty : config.faulty) known.push_back(faulty.rules.id);
    for (const auto& each : config.diagnostics) known.push_back(each.server);
    return known;
}
// Whether the diagnostics have the same of that place, with a nearest name maybe.
inline bool is_told(const Config& config, const Diagnostic& warning) {
    return std::any_of(config.diagnostics.begin(), config.diagnostics.end(),
                       [&](const Diagnostic& each) {
                           return each.rule == warning.rule && each.place == warning.place;
                       });
}

// Of each that a list names, so that what is wrong with one is told where it stands.
inline std::map<std::string, Place> places_in(const Node* list, const Source& source) {
    std::map<std::string, Place> places;
    if (!list) return places;
    if (!list->is(Node::Kind::List)) places.try_emplace(list->text, source.place(list->mark));
    for (const auto& item : list->items)
        places.try_emplace(std::string(core::trimmed(item.text)), source.place(item.mark));
    return places;
}

// `kind`: "agent", of the tables [agents.NAME]. `is_offered`: whether one without a fault is named to who asks for another.
template <class T, class Offered>
Result<const T*> one_named(const std::vector<T>& all, const std::string& name,
                           const std::string& kind, Offered is_offered) {
    const auto called = kind + " \"" + core::printable(name, 80) + "\"";
    std::vector<std::string> names;
    for (const auto& each : all) {
        if (each.fault.empty() && is_offered(each)) names.push_back(each.name);
        if (each.name != name) continue;
        if (each.fault.empty()) return &each;
        return Error{ErrorCode::Invalid,
                     called + " cannot be used until it is mended: " + each.fault};
    }
    const auto known = names.empty() ? "[" + kind + "s.NAME] in your user config makes one"
                                     : "known: " + core::join(names, ", ");
    return Error{ErrorCode::NotFound,
                 core::behind_hint(
                     "no " + called + " is configured" + core::did_you_mean(name, names), known)};
}

}  // namespace patchbay::config
