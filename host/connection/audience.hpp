// Whom a connection serves: those callers who hold it, whatever became of its server's `mode` since.
//
// Threads: [loop]. Borrows the callers.
// Source:  decisions/0022-whose-a-connection-is.md.
#pragma once

#include "connection/caller.hpp"

#include <set>
#include <vector>

namespace patchbay::connection {

class Audience {
public:
    explicit Audience(const Callers& callers) : callers_(callers) {}

    void add(CallerNumber holder) { holders_.insert(holder); }
    void remove(CallerNumber holder) { holders_.erase(holder); }

    // Null: it has gone.
    Caller* find(CallerNumber number) const { return callers_.find(number); }
    // The only one that can be meant; null: there is none, or there are several.
    Caller* only() const {
        return holders_.size() == 1 ? callers_.find(*holders_.begin()) : nullptr;
    }
    std::vector<CallerNumber> numbers() const {  // ascending
        return {holders_.begin(), holders_.end()};
    }

private:
    const Callers& callers_;
    std::set<CallerNumber> holders_;
};

}  // namespace patchbay::connection
