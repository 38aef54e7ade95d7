// What each server listed last, of the definition it has now. Connections publish, whoever shows or
// finds something reads here and asks no connection.
//
// Owns:    the listings, in memory, one a server: two servers of one definition are two programs,
//          and what one lists says nothing of the other.
// Threads: [loop]; a Listing is a value that never changes and may be kept.
// Errors:  none. A server that listed nothing is not in it.
#pragma once

#include "catalogue/drift.hpp"
#include "catalogue/listing.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::catalogue {

using Time = std::chrono::system_clock::time_point;

// When a server said what it is known by, and to whom.
struct Standing {
    Time listed;
    bool recalled = false;  // to an earlier host, and this one has heard nothing of it since
};

// Hears that listings() is another one, or that one of an earlier host's was said again.
class Watcher {
public:
    virtual void on_published() = 0;

protected:
    ~Watcher() = default;
};

// Hears what a server lists otherwise than it did, once for each such list: for the log, for statuses, for whoever
// tells events. Of a server that has listed nothing before there is no drift.
class DriftWatcher {
public:
    virtual void on_drift(const Drift& drift) = 0;

protected:
    ~DriftWatcher() = default;
};

class Catalogue {
public:
    using Listings = std::map<std::string, std::shared_ptr<const Listing>, std::less<>>;

    // In the place of what the server listed before. One that broke off says nothing of what it lacks:
    // it takes the place of none of its definition that is whole, or longer. What says the same as
    // before changes nothing.
    void publish(const std::string& server, std::shared_ptr<const Listing> listing,
                 Time listed = std::chrono::system_clock::now());
    // What it listed for an earlier host, where it has listed nothing for this one yet.
    void recall(const std::string& server, std::shared_ptr<const Listing> listing, Time listed);
    // What the server listed is forgotten unless it was of that definition.
    void redefine(std::string_view server, std::string_view definition);
    void forget(std::string_view server);

    const Listings& listings() const { return listings_; }
    // Null: it has listed nothing.
    const Standing* standing(std::string_view server) const;
    // What it lists otherwise than it did, of each list the last time that it did.
    std::vector<Drift> drifts(std::string_view server) const;
    // Another one whenever listings() says something else, so that what is made of it knows when to be made
    // anew.
    std::uint64_t version() const { return version_; }

    // Told in the same turn, and is to read no sooner than in the next one.
    void watch(Watcher& watcher) { watchers_.push_back(&watcher); }
    void unwatch(Watcher& watcher) { std::erase(watchers_, &watcher); }
    // Told when listings() is the new one already.
    void watch(DriftWatcher& watcher) { drift_watchers_.push_back(&watcher); }
    void unwatch(DriftWatcher& watcher) { std::erase(drift_watchers_, &watcher); }

private:
    void changed();
    void tell();
    void tell(const std::string& server, std::optional<Drift> drift, const Standing& before,
              Time now);

    Listings listings_;
    std::map<std::string, Standing, std::less<>> standings_;  // of each listing
    std::map<std::string, std::map<List, Drift>, std::less<>> drifts_;
    std::uint64_t version_ = 0;
    std::vector<Watcher*> watchers_;
    std::vector<DriftWatcher*> drift_watchers_;
};

}  // namespace patchbay::catalogue
