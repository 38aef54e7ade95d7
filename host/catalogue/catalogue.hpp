// What each server listed last, of the definition it has now. Connections publish their tools, and who asks for other
// lists those; whoever shows or finds something reads here and asks no connection.
//
// Owns:    the listings, in memory, one a server: two servers of one definition are two programs,
//          and what one lists says nothing of the other. Borrows the shelf and the clock.
// Threads: [loop]; a Listing is a value that never changes and may be kept.
// Errors:  none. A server that listed nothing is not in it.
#pragma once

#include "catalogue/drift.hpp"
#include "catalogue/listing.hpp"
#include "core/time_source.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::catalogue {

using Time = core::Calendar::time_point;

// When a server said what it is known by, and to whom.
struct Standing {
    Time listed;
    bool recalled = false;  // to an earlier host, and this one has heard nothing of it since
};

// What a server listed besides its tools.
struct Kept {
    std::shared_ptr<const Items> items;
    Standing standing;
    bool outdated = false;  // it has said since that it has others
};

// Where that is what was listed for earlier hosts.
class Shelf {
public:
    // None: nothing, or what was asked for before. May read a file.
    virtual std::optional<Kept> take(const std::string& server, const Origin& origin,
                                     List list) = 0;

protected:
    ~Shelf() = default;
};

// Hears that listings() is another one, or that one of an earlier host's was said again.
class Watcher {
public:
    virtual void on_published() = 0;
    virtual void on_items_published() {}  // of other lists than those of tools

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

    // `time` says when that is that a server lists something now.
    explicit Catalogue(const core::TimeSource& time = core::machine_time()) : time_(time) {}

    // In the place of what the server listed before. One that broke off says nothing of what it lacks:
    // it takes the place of none of its definition that is whole, or longer. What says the same as
    // before changes nothing.
    void publish(const std::string& server, std::shared_ptr<const Listing> listing) {
        publish(server, std::move(listing), time_.date());
    }
    void publish(const std::string& server, std::shared_ptr<const Listing> listing, Time listed);
    // What it listed for an earlier host, where it has listed nothing for this one yet.
    void recall(const std::string& server, std::shared_ptr<const Listing> listing, Time listed);
    // What the server listed is forgotten unless it was of that definition.
    void redefine(std::string_view server, std::string_view definition);
    void forget(std::string_view server);

    // The same of another list, of which there is but one that is whole.
    void publish(const std::string& server, List list, std::shared_ptr<const Items> items) {
        publish(server, list, std::move(items), time_.date());
    }
    void publish(const std::string& server, List list, std::shared_ptr<const Items> items,
                 Time listed);
    // The server has said that it has others by now.
    void outdate(std::string_view server, List list);
    // What a server listed last, if only for an earlier host; null: nothing of that origin. Good until the next one of
    // these functions is called.
    const Kept* items(const std::string& server, const Origin& origin, List list);
    // It has said that it has no such list: nobody need ask for it.
    bool has_none(std::string_view server, std::string_view definition, List list) const;
    // Of whom all are that are kept here.
    using AllItems = std::map<std::pair<std::string, List>, Kept>;
    const AllItems& all_items() const { return items_; }
    void read_from(Shelf* shelf) { shelf_ = shelf; }  // null: there is none

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

    void erase_items(std::string_view server, std::string_view but_of);

    const core::TimeSource& time_;
    Listings listings_;
    AllItems items_;
    Shelf* shelf_ = nullptr;
    std::map<std::string, Standing, std::less<>> standings_;  // of each listing
    std::map<std::string, std::map<List, Drift>, std::less<>> drifts_;
    std::uint64_t version_ = 0;
    std::vector<Watcher*> watchers_;
    std::vector<DriftWatcher*> drift_watchers_;
};

}  // namespace patchbay::catalogue
