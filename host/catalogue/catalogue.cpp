#include "catalogue/catalogue.hpp"

#include <utility>

namespace patchbay::catalogue {

namespace {

bool says_the_same(const Listing& a, const Listing& b) {
    return a.definition == b.definition && a.whole == b.whole && a.instructions == b.instructions &&
           a.others == b.others && a.declared == b.declared && a.tools == b.tools;
}

}  // namespace

void Catalogue::publish(const std::string& server, std::shared_ptr<const Listing> listing,
                        Time listed) {
    auto& place = listings_[server];
    const bool same_definition = place && place->definition == listing->definition;
    // A list that broke off takes nothing back of a whole one, or of one that came further.
    const bool says_more = same_definition && !listing->whole &&
                           (place->whole || place->tools.size() > listing->tools.size());
    if (says_more) return;
    const auto before = std::exchange(standings_[server], {listed});
    // Nothing new to read; but what an earlier host was told is confirmed now, and shown otherwise.
    if (place && says_the_same(*place, *listing)) {
        if (before.recalled) tell();
        return;
    }
    const auto known = std::exchange(place, std::move(listing));
    const auto now = place;  // whoever is told may forget it
    changed();
    // Of another definition, of half a list, or to whoever declares something else, a difference says nothing about the server.
    if (same_definition && known->whole && now->whole && known->declared == now->declared)
        tell(server, drift_of(*known, *now), before, listed);
}

void Catalogue::recall(const std::string& server, std::shared_ptr<const Listing> listing,
                       Time listed) {
    // What the server itself has said by now is newer than anything that was kept.
    if (!listings_.try_emplace(server, std::move(listing)).second) return;
    standings_[server] = {listed, true};
    changed();
}

// What an earlier host was told is read before it is replaced, so that what is different is told.
void Catalogue::publish(const std::string& server, List list, std::shared_ptr<const Items> now,
                        Time listed) {
    const auto* known = items(server, now->origin, list);
    const auto before = known ? *known : Kept();
    const bool same_caller = before.items && before.items->declared == now->declared;
    const bool same = same_caller && before.items->texts == now->texts;
    items_[{server, list}] = {same ? before.items : now, {listed}, false};
    for (auto* watcher : watchers_) watcher->on_items_published();
    if (same_caller && !same)
        tell(server, drift_of(list, *before.items, *now), before.standing, listed);
}

void Catalogue::outdate(std::string_view server, List list) {
    const auto found = items_.find({std::string(server), list});
    if (found != items_.end()) found->second.outdated = true;
}

const Kept* Catalogue::items(const std::string& server, const Origin& origin, List list) {
    const auto found = items_.find({server, list});
    if (found != items_.end() && found->second.items->origin == origin) return &found->second;
    auto kept = shelf_ ? shelf_->take(server, origin, list) : std::nullopt;
    if (!kept) return nullptr;
    auto& place = items_[{server, list}];
    place = std::move(*kept);
    return &place;
}

bool Catalogue::has_none(std::string_view server, std::string_view definition, List list) const {
    const auto found = listings_.find(server);
    if (found == listings_.end() || found->second->definition != definition) return false;
    const auto& others = found->second->others;
    return others && !others->contains(capability_of(list));
}

void Catalogue::erase_items(std::string_view server, std::string_view but_of) {
    std::erase_if(items_, [&](const auto& each) {
        return each.first.first == server &&
               (but_of.empty() || each.second.items->origin.definition != but_of);
    });
}

void Catalogue::redefine(std::string_view server, std::string_view definition) {
    erase_items(server, definition);
    const auto found = listings_.find(server);
    if (found != listings_.end() && found->second->definition != definition) forget(server);
}

void Catalogue::forget(std::string_view server) {
    erase_items(server, {});
    if (const auto drift = drifts_.find(server); drift != drifts_.end()) drifts_.erase(drift);
    if (const auto standing = standings_.find(server); standing != standings_.end())
        standings_.erase(standing);
    const auto found = listings_.find(server);
    if (found == listings_.end()) return;
    listings_.erase(found);
    changed();
}

const Standing* Catalogue::standing(std::string_view server) const {
    const auto found = standings_.find(server);
    return found == standings_.end() ? nullptr : &found->second;
}

std::vector<Drift> Catalogue::drifts(std::string_view server) const {
    std::vector<Drift> all;
    const auto found = drifts_.find(server);
    if (found == drifts_.end()) return all;
    for (const auto& [list, drift] : found->second) all.push_back(drift);
    return all;
}

void Catalogue::changed() {
    ++version_;
    tell();
}

void Catalogue::tell() {
    for (auto* watcher : watchers_) watcher->on_published();
}

void Catalogue::tell(const std::string& server, std::optional<Drift> drift, const Standing& before,
                     Time now) {
    if (!drift) return;
    drift->server = server;
    drift->before = before.listed;
    drift->now = now;
    drift->of_earlier_host = before.recalled;
    drifts_[server].insert_or_assign(drift->list, *drift);
    for (auto* watcher : drift_watchers_) watcher->on_drift(*drift);
}

}  // namespace patchbay::catalogue
