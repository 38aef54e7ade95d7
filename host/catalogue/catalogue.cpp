#include "catalogue/catalogue.hpp"

#include <utility>

namespace patchbay::catalogue {

namespace {

bool says_the_same(const Listing& a, const Listing& b) {
    return a.definition == b.definition && a.whole == b.whole && a.instructions == b.instructions &&
           a.tools == b.tools;
}

}  // namespace

void Catalogue::publish(const std::string& server, std::shared_ptr<const Listing> listing) {
    auto& place = listings_[server];
    const bool says_more = place && !listing->whole && place->definition == listing->definition &&
                           (place->whole || place->tools.size() > listing->tools.size());
    if (says_more || (place && says_the_same(*place, *listing))) return;
    place = std::move(listing);
    changed();
}

void Catalogue::recall(const std::string& server, std::shared_ptr<const Listing> listing) {
    if (listings_.try_emplace(server, std::move(listing)).second) changed();
}

void Catalogue::redefine(std::string_view server, std::string_view definition) {
    const auto found = listings_.find(server);
    if (found != listings_.end() && found->second->definition != definition) forget(server);
}

void Catalogue::forget(std::string_view server) {
    const auto found = listings_.find(server);
    if (found == listings_.end()) return;
    listings_.erase(found);
    changed();
}

void Catalogue::changed() {
    ++version_;
    for (auto* watcher : watchers_) watcher->on_published();
}

}  // namespace patchbay::catalogue
