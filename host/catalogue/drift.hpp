// What a server lists otherwise than it did: which of its tools, prompts or resources are new, gone or described
// otherwise, and which members of a description those are.
//
// Threads: [value].
// Errors:  none; two lists that say the same in other words (spaces, another order of members) are one.
// Limits:  kMostDriftNames of each sort, the others are counted; of texts that differ kComparedBytes are read,
//          what lies behind that counts as changed.
#pragma once

#include "catalogue/listing.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::catalogue {

inline constexpr std::size_t kMostDriftNames = 100;
inline constexpr std::size_t kComparedBytes = 4u << 20;

struct ChangedItem {
    std::string name;
    std::vector<std::string> members;  // "description", "inputSchema", ...: sorted
};

// Names are the server's own, and any text.
struct Drift {
    std::string server;
    List list = List::Tools;
    std::vector<std::string> added, removed;
    std::vector<ChangedItem> changed;
    // `a: /inputSchema/type was "object", is "array"`: where the first of these differs first. Printable; empty: none does.
    std::string first = {};
    bool instructions = false;  // what it says of itself as a whole is another text
    std::size_t more_added = 0, more_removed = 0, more_changed = 0;  // that are not named
    std::chrono::system_clock::time_point before = {}, now = {};     // when the server said each
    bool of_earlier_host = false;  // who was told the former; else this one was
};

// None: they say the same. Both are whole, and sorted.
std::optional<Drift> drift_of(const Listing& before, const Listing& now);
// The same of other lists, in whatever order they are. What has no name, or one that another has, is passed over.
std::optional<Drift> drift_of(List list, const Items& before, const Items& now);

// `2 added (a, b), 1 changed (c: description)`: printable, and of at most `most` names of each sort.
std::string summary(const Drift& drift, std::size_t most = 5);

}  // namespace patchbay::catalogue
