// Whose a message of the server's is, as far as the server has said: the caller of the exchange that
// it belongs to. Where it names none there is no guess: it is the caller's who alone can be meant.
//
//   it names an exchange         -> the caller of that one
//   one caller uses the channel  -> that caller; nobody does yet: the only one that it serves
//   a question that names none   -> the only caller whose requests the server has
//   anything else                -> nobody
//
// A request that we have given up is with the server until it is answered: who asked it may be the
// one that is meant.
//
// Owns:    which requests have been given up. Borrows all else.
// Threads: [loop].
// Limits:  kMostAbandoned; beyond, nobody can be told from the others for the rest of the channel.
// Source:  decisions/0020-whose-a-servers-message-is.md, decisions/0029-whose-era-it-is.md.
#pragma once

#include "connection/audience.hpp"
#include "connection/link.hpp"
#include "connection/pending_requests.hpp"

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace patchbay::connection {

class Addressees {
public:
    static constexpr std::size_t kMostAbandoned = 10'000;

    Addressees(const Audience& audience, const Link& link, PendingRequests& pending)
        : audience_(audience), link_(link), pending_(pending) {}

    // `exchange`: the id on the wire of a request of ours; 0: it names none. Null: no caller's.
    const PendingRequest* request_of(RequestId exchange) const;
    Caller* of_exchange(RequestId exchange) const;
    // What that caller calls it.
    Reference reference_of(RequestId exchange) const;
    // Requests of callers that the server has.
    std::vector<const PendingRequest*> sent() const { return pending_.sent(); }
    // Of what is meant for whoever uses this channel.
    Caller* only_user() const;
    // Of what the server asks of its client.
    Caller* of_question(RequestId exchange) const;

    // A caller's request that the server may have has ended without its answer, which may still come.
    void abandon(const PendingRequest& ended);
    void answered(RequestId wire_id) { abandoned_.erase(wire_id); }
    void clear();  // the channel is gone

private:
    const Audience& audience_;
    const Link& link_;
    PendingRequests& pending_;
    std::unordered_map<RequestId, CallerNumber> abandoned_;  // by id on the wire
    bool too_many_ = false;
};

}  // namespace patchbay::connection
