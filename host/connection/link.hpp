// The channel that is open, and what was agreed on over it: all that a message must know to leave.
// Lives as long as its connection; what it holds, from open to end().
//
// Owns:    the channel. Threads: [loop].
#pragma once

#include "connection/bill.hpp"
#include "connection/caller.hpp"
#include "plugin/channel.hpp"
#include "protocol/handshake.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace patchbay::connection {

// Why we have closed the channel ourselves: nothing that the server says counts any more.
struct Lost {
    Error why;
    bool when_ready = false;
};

struct Link {
    std::unique_ptr<plugin::Channel> channel;
    std::optional<protocol::Handshake> handshake;  // of its last session
    std::optional<protocol::Session> session;
    std::string meta;  // modern `_meta` members; empty in legacy
    // The same of requests of callers; empty: they are all alike.
    std::unordered_map<CallerNumber, std::string> meta_of;
    std::string meta_of_others;
    std::optional<Lost> lost;
    unsigned generation = 0;  // sessions agreed on so far, over all channels

    Bill bill;  // over all channels too

    std::string last_said;    // on stderr, printable
    unsigned late_calls = 0;  // of tools that were not answered in time, in a row

    bool late = false;  // something asked over this channel was not answered in time

    // Who has sent requests over this channel, which may be of more than one session.
    CallerNumber user = 0;  // the first; 0: nobody yet
    bool shared = false;    // with others

    void used_by(CallerNumber caller) {
        if (caller == user) return;
        shared = user != 0;
        if (!shared) user = caller;
    }
    // `caller` 0: the connection itself.
    std::string_view meta_for(CallerNumber caller) const {
        if (caller == 0 || meta_of.empty()) return meta;
        const auto found = meta_of.find(caller);
        return found == meta_of.end() ? meta_of_others : found->second;
    }

    // Before an era is known the probe is the one modern message.
    bool modern(std::string_view method) const {
        return session ? session->era == protocol::Era::Modern : method == "server/discover";
    }
    bool modern() const { return session && session->era == protocol::Era::Modern; }
    bool legacy() const { return session && session->era == protocol::Era::Legacy; }
    // Not when a server of both eras may settle on the other one after all (decision 11).
    bool modern_for_good() const { return modern() && !(handshake && handshake->ambiguous()); }
    bool takes_headers() const { return channel && channel->takes_headers(); }
    bool request_scoped() const { return channel && channel->request_scoped(); }
    bool in_use() const { return channel && !lost; }

    // Everything but the count and the bill goes; the channel is its caller's.
    std::unique_ptr<plugin::Channel> end() {
        auto gone = std::move(channel);
        const auto sessions = generation;
        auto costs = std::move(bill);
        *this = {};
        generation = sessions;
        bill = std::move(costs);
        return gone;
    }
};

}  // namespace patchbay::connection
