// What each server listed last, of the definition it has now. Connections publish, whoever shows or
// finds something reads here and asks no connection.
//
// Owns:    the listings, in memory, one a server: two servers of one definition are two programs,
//          and what one lists says nothing of the other.
// Threads: [loop]; a Listing is a value that never changes and may be kept.
// Errors:  none. A server that listed nothing is not in it.
#pragma once

#include "protocol/tool.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::catalogue {

struct Listing {
    std::string definition;             // the key of the definition that it is of
    std::vector<protocol::Tool> tools;  // sorted by name, each once; rules not applied
    bool whole = true;                  // false: the list broke off, and there may be more
    std::string instructions = {};      // what the server says of itself as a whole
    bool recalled = false;              // an earlier host was told so, and nothing else since
};

// Hears that listings() is another one.
class Watcher {
public:
    virtual void on_published() = 0;

protected:
    ~Watcher() = default;
};

class Catalogue {
public:
    using Listings = std::map<std::string, std::shared_ptr<const Listing>, std::less<>>;

    // In the place of what the server listed before. One that broke off says nothing of what it lacks:
    // it takes the place of none of its definition that is whole, or longer. What says the same as
    // before changes nothing.
    void publish(const std::string& server, std::shared_ptr<const Listing> listing);
    // What it listed for an earlier host, where it has listed nothing for this one yet.
    void recall(const std::string& server, std::shared_ptr<const Listing> listing);
    // What the server listed is forgotten unless it was of that definition.
    void redefine(std::string_view server, std::string_view definition);
    void forget(std::string_view server);

    const Listings& listings() const { return listings_; }
    // Another one whenever listings() says something else, so that what is made of it knows when to be made
    // anew.
    std::uint64_t version() const { return version_; }

    // Told in the same turn, and is to read no sooner than in the next one.
    void watch(Watcher& watcher) { watchers_.push_back(&watcher); }
    void unwatch(Watcher& watcher) { std::erase(watchers_, &watcher); }

private:
    void changed();

    Listings listings_;
    std::uint64_t version_ = 0;
    std::vector<Watcher*> watchers_;
};

}  // namespace patchbay::catalogue
