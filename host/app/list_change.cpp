#include "app/list_change.hpp"

namespace patchbay::app {

core::ListChange change_of(const catalogue::Drift& drift) {
    core::ListChange change{
        drift.server, catalogue::name_of(drift.list), {}, drift.added, drift.removed, {}};
    for (const auto& each : drift.changed) change.changed.push_back(each.name);
    return change;
}

core::ListChange change_of_tools(const catalogue::Catalogue& catalogue,
                                 const catalogue::Catalogue::Listings::value_type& listing) {
    const auto& [server, listed] = listing;
    const auto* standing = catalogue.standing(server);
    core::ListChange change{server, "tools", listed->tools.size(), {}, {}, {}};
    for (const auto& drift : catalogue.drifts(server)) {
        const bool just_now = standing && drift.now == standing->listed;
        if (drift.list != catalogue::List::Tools || !just_now) continue;
        change.added = drift.added;
        change.removed = drift.removed;
        for (const auto& each : drift.changed) change.changed.push_back(each.name);
    }
    return change;
}

}  // namespace patchbay::app
