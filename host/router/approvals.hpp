// What was asked and waits for its caller to approve of it, unless an answer of before does. Internal to this room.
//
// Borrows all it is given, which must outlive it; `alive` says whether the router does. `decisions` null: none are kept.
// Threads: [loop]. Errors: end what was asked: Denied, Timeout, or another tool or server by now.
// Limits:  core::kApprovalWait, and the time-out of what was asked; those of Flights.
#pragma once

#include "connection/approval.hpp"
#include "connection/caller.hpp"
#include "core/limits.hpp"
#include "policy/policy.hpp"
#include "router/call_params.hpp"
#include "router/definitions.hpp"
#include "router/flights.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace patchbay::router {

// What whoever is asked is told of the rule that wants it, and what it lets them answer.
void describe(connection::Approvable& wanted, const policy::Verdict& verdict);

class Approvals {
public:
    Approvals(connection::Callers& callers, Flights& flights, const Definitions& definitions,
              connection::Decisions* decisions, std::shared_ptr<const bool> alive)
        : callers_(callers),
          flights_(flights),
          definitions_(definitions),
          decisions_(decisions),
          alive_(std::move(alive)) {}

    // `then` goes on with `asked` when the caller approves of `wanted`, which is not asked for longer than a person may
    // take. `nobody_there`: how it ends where nobody can be asked.
    template <class T, class Then>
    void await(CallId id, connection::Caller& caller, connection::Approvable wanted,
               Error nobody_there, T asked, Then then) const {
        if (decided_before(id, caller, wanted)) return then(caller, asked);
        add_levels(wanted, caller);
        bound(id, wanted, asked,
              *refusal(connection::Approval::Unanswered, wanted, nobody_there, caller));
        const auto bytes = size_of(asked);
        const auto kept = flights_.keep(id, wanted.server, bytes, Awaited<T>{std::move(asked), {}});
        if (kept.expired()) return;
        auto meant = wanted;
        meant.arguments.clear();  // which are kept already
        const auto arguments = Receipt::digest_of(wanted.arguments);
        flights_.tell_approval(id, meant.server, meant.public_name, "asked");
        const auto decide = [this, watch = alive_, id, kept, nobody_there = std::move(nobody_there),
                             meant = std::move(meant), arguments,
                             then](connection::Approval approval) {
            const auto awaited = kept.lock();
            if (!*watch || !awaited || std::exchange(awaited->decided, true)) return;
            if (waits_for_person(awaited->asked.timeout)) flights_.unbound(id);
            tell_decided(id, meant, approval);
            auto* const asker = callers_.find(flights_.caller_of(id));
            if (!asker) return;
            if (auto refused = refusal(approval, meant, nobody_there, *asker))
                return flights_.end_soon(id, std::move(*refused));
            flights_.approve(id, meant, arguments);
            keep(meant, approval, *asker);
            then(*asker, awaited->asked);
        };
        auto question = caller.approve(wanted, decide);
        if (const auto awaited = kept.lock()) awaited->question = std::move(question);
    }

private:
    template <class T>
    struct Awaited {
        T asked;
        connection::Question question = {};
        bool decided = false;
    };

    template <class T>
    void bound(CallId id, const connection::Approvable& wanted, const T& asked,
               Error unanswered) const {
        if (!waits_for_person(asked.timeout))
            return flights_.bound(id, *asked.begun, asked.timeout, {wanted.server});
        flights_.unbound(id);  // from what it waited for before
        flights_.bound(id, core::kApprovalWait, std::move(unanswered));
    }
    // Not for the call's own limit, which is later or none.
    static bool waits_for_person(std::chrono::milliseconds timeout) {
        return timeout.count() == 0 || timeout > core::kApprovalWait;
    }
    bool decided_before(CallId id, const connection::Caller& caller,
                        const connection::Approvable& wanted) const;
    void add_levels(connection::Approvable& wanted, const connection::Caller& caller) const;
    void keep(const connection::Approvable& meant, connection::Approval approval,
              const connection::Caller& asker) const;
    void tell_decided(CallId id, const connection::Approvable& meant,
                      connection::Approval approval) const;
    // Nothing: it may go on.
    std::optional<Error> refusal(connection::Approval approval, const connection::Approvable& meant,
                                 const Error& nobody_there, const connection::Caller& asker) const;

    connection::Callers& callers_;
    Flights& flights_;
    const Definitions& definitions_;
    connection::Decisions* const decisions_;
    const std::shared_ptr<const bool> alive_;
};

}  // namespace patchbay::router
