// What servers are told of what a client can, beside what [client] says of ourselves.
//
// Threads: [loop]. What is told of the first that speaks holds for a server that has no word for each request.
// Source:  MCP 2025-11-25 basic/lifecycle, "Capability Negotiation"; 2026-07-28 basic/index, `_meta`.
#pragma once

#include "service/servers.hpp"

#include <boost/json.hpp>

#include <string>
#include <string_view>

namespace patchbay::gateway {

// Whether servers are told of a client's abilities as they are greeted: not where several clients share them.
enum class Told { ByTheFirst, Nothing };

class ToldAbilities {
public:
    ToldAbilities(const service::Servers& servers, Told told) : servers_(servers), told_to_(told) {}

    // Before the first server is greeted: of several clients' worth of requests the first one says it.
    void offer(std::string_view raw_capabilities);
    // Of a client that can do that, raw; good until the next call. `with_tasks`: that it takes tasks too, where it
    // says so.
    const std::string& told_of(const std::string& raw_capabilities, bool with_tasks);

private:
    boost::json::object with_ours(std::string_view raw_capabilities) const;

    const service::Servers& servers_;
    Told told_to_;
    std::string last_;  // for whom told_ is: mostly it is the same one
    bool last_with_tasks_ = false;
    std::string told_;
};

}  // namespace patchbay::gateway
