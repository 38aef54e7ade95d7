// What servers are told of what a client can, beside what [client] says of ourselves.
//
// Threads: [loop]. What is told of the first request holds for a server that has no word for each of them.
// Source:  MCP 2025-11-25 basic/lifecycle, "Capability Negotiation"; 2026-07-28 basic/index, `_meta`.
#pragma once

#include "service/servers.hpp"

#include <boost/json.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace patchbay::gateway {

// Whether servers that several may share are told of this client's abilities as they are greeted.
enum class Told { OfThisOne, Nothing };

// For a host of several clients: those servers are told, from their next greeting on, all that any client could. What one
// cannot, it is not asked.
void tell_of_any(const service::Servers& servers);

class ToldAbilities {
public:
    ToldAbilities(const service::Servers& servers, Told told) : servers_(servers), told_(told) {}

    // Before the first server is greeted; the first time counts.
    void offer(std::string_view raw_capabilities);
    // To servers of its own; null: nothing was offered.
    const boost::json::object* offered() const { return offered_ ? &*offered_ : nullptr; }
    // Of a client that can do that, raw; good until the next call. `with_tasks`: that it takes tasks too, where it
    // says so.
    const std::string& told_of(const std::string& raw_capabilities, bool with_tasks);

private:
    boost::json::object with_ours(std::string_view raw_capabilities) const;

    const service::Servers& servers_;
    const Told told_;
    std::optional<boost::json::object> offered_;
    std::string last_;  // for whom text_ is: mostly it is the same one
    bool last_with_tasks_ = false;
    std::string text_;
};

}  // namespace patchbay::gateway
