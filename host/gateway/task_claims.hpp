// Which session a task is of, where several share the connection of its server: the one whose call has
// begun it last. A server that was started anew may count its tasks from the beginning, and whoever was
// there before would reach those of others by the ids of its own.
//
// Owns:    who has which. Must outlive the claims, which their holders own.
// Threads: [loop]. Errors: none.
// Limits:  as many as there are tasks, which their holders bound.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace patchbay::connection {
class Connection;
}

namespace patchbay::gateway {

class TaskClaims {
public:
    class Claim {
    public:
        using Place = std::pair<const connection::Connection*, std::string>;
        Claim(TaskClaims& among, Place place) : among_(among), place_(std::move(place)) {}
        ~Claim() { among_.drop(*this); }
        Claim(const Claim&) = delete;

    private:
        friend class TaskClaims;
        TaskClaims& among_;
        const Place place_;
    };
    using Held = std::shared_ptr<const Claim>;

    // Who has had it there before has it no more.
    Held take(const connection::Connection* at, const std::string& id) {
        auto claim = std::make_shared<const Claim>(*this, Claim::Place{at, id});
        newest_[claim->place_] = claim.get();
        return claim;
    }
    // Nobody else has begun a task of that id there since.
    bool holds(const Held& claim, const connection::Connection* at, const std::string& id) const {
        const auto found = newest_.find({at, id});
        return found == newest_.end() || found->second == claim.get();
    }

private:
    void drop(const Claim& claim) {
        const auto found = newest_.find(claim.place_);
        if (found != newest_.end() && found->second == &claim) newest_.erase(found);
    }

    std::map<Claim::Place, const Claim*> newest_;
};

}  // namespace patchbay::gateway
