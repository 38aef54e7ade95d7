// What a client and we have said of ourselves: `initialize` of the legacy era, `server/discover` of the
// modern one. It says what to answer; who answers, and what begins then, is the session's matter.
//
// Owns:    what was agreed on. Borrows all it is given.
// Threads: [loop].
// Errors:  Invalid: `initialize` lacks what it must say, or says too much.
// Limits:  kMostCapabilityBytes of what the client says that it can.
// Source:  MCP 2025-11-25 basic/lifecycle; 2026-07-28 server/discover.
#pragma once

#include "gateway/client_requests.hpp"
#include "gateway/instructions.hpp"
#include "gateway/told_abilities.hpp"

#include <boost/json.hpp>

#include <string>

namespace patchbay::gateway {

class ClientHandshake {
public:
    // `version`: our own.
    ClientHandshake(const service::Servers& servers, const Instructions& instructions, Told told,
                    std::string version)
        : instructions_(instructions), abilities_(servers, told), version_(std::move(version)) {}

    // The raw result of `initialize`.
    Result<std::string> initialize(const protocol::Params& params);
    // The raw result of `server/discover`; `tasks`: whether any server that is shown may have them.
    std::string discovered(bool tasks) const;
    // Who answers: a raw member of the `_meta` of a result.
    std::string identity() const;
    // What another session of that client agreed on.
    void restore(const std::string& revision, const boost::json::object& capabilities);

    bool initialized() const { return !revision_.empty(); }
    // What `initialize` agreed on; empty before.
    const std::string& revision() const { return revision_; }
    const boost::json::object& capabilities() const { return capabilities_; }

    // What the client can that asks for it: of the modern era the request itself says it.
    boost::json::object abilities_behind(const ClientRequest& request) const;
    // A request of the modern era comes, perhaps before any server was greeted.
    void offer_those_of(const ClientRequest& request) {
        abilities_.offer(request.meta.capabilities);
    }
    // What servers of its own are told that it can; null: nothing is known of it yet.
    const boost::json::object* declared() const { return abilities_.offered(); }
    // What servers are told that the client can, raw; good until the next call.
    const std::string& told_of(const ClientRequest& request) {
        const bool modern = request.modern();
        return abilities_.told_of(modern ? request.meta.capabilities : raw_capabilities_, modern);
    }

private:
    boost::json::object about_us() const;

    const Instructions& instructions_;
    ToldAbilities abilities_;
    const std::string version_;
    std::string revision_;
    boost::json::object capabilities_;
    std::string raw_capabilities_;  // the same
};

}  // namespace patchbay::gateway
