#include "config/stray_switches.hpp"

#include "core/spelling.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace patchbay::config {

namespace {

constexpr std::size_t kLeastToMisspell = 4;  // letters: of fewer all names are near each other

// With all of them, however many there are: else names that one file brings would void what another
// one says. How many names a file compares is bounded where it is read.
std::set<std::string> servers_named(const std::vector<std::string>& written,
                                    const std::map<std::string, std::set<std::string>>& ids) {
    std::set<std::string> meant;
    for (const auto& name : written) {
        if (const auto same = ids.find(core::lower(name)); same != ids.end())
            meant.insert(same->second.begin(), same->second.end());
        if (name.size() < kLeastToMisspell) continue;
        const core::Spelling spelling(name);
        for (const auto& [other, of_it] : ids)
            if (spelling.distance(other)) meant.insert(of_it.begin(), of_it.end());
    }
    return meant;
}

}  // namespace

void settle_stray_switches(std::vector<Fragment>& fragments) {
    if (std::all_of(fragments.begin(), fragments.end(),
                    [](const auto& f) { return f.stray_switches.empty(); }))
        return;
    std::map<std::string, std::set<std::string>> ids;  // by their names, lower case
    for (const auto& fragment : fragments) {
        for (const auto& entry : fragment.servers) {
            ids[core::lower(entry.id)].insert(entry.id);
            if (!entry.written.empty()) ids[core::lower(entry.written)].insert(entry.id);
        }
    }
    for (auto& fragment : fragments) {
        std::set<std::string> off;  // by a switch of this file: one is enough
        for (const auto& stray : fragment.stray_switches) {
            const auto meant = servers_named(stray.names, ids);
            for (const auto& id : meant) {
                if (!off.insert(id).second) continue;
                fragment.servers.push_back({id, stray.mark, Node::of_map(stray.mark),
                                            stray.text + "; it may be meant to turn this off",
                                            RuleId::UnreadRule});
            }
            if (meant.empty())
                fragment.diagnostics.push_back(
                    {RuleId::UnknownTable,
                     fragment.source.is_flag() ? Severity::Error : Severity::Warning,
                     fragment.source.place(stray.mark),
                     stray.text,
                     {}});
        }
    }
}

}  // namespace patchbay::config
