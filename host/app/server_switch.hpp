// Servers that somebody has stopped or disabled while the host runs, on top of what files say: each is as one that a
// file disables, until it is started, or enabled, or the host ends. No file is changed.
//
//   stop      start brings it back, also for all servers at once
//   disable   only enable brings it back: it is to stay off, whoever turns the others
//
// Owns:    what the files said last, and who is stopped. Borrows the host.
// Threads: [loop].
// Errors:  NotFound: there is no such server, or it is off by what a file says; those of Host::apply().
#pragma once

#include "app/host.hpp"

#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace patchbay::app {

class ServerSwitch {
public:
    explicit ServerSwitch(Host& host);

    Result<void> stop(const std::string& server);   // with the last call that it has in flight
    Result<void> start(const std::string& server);  // it may be used again; nothing is connected
    Result<void> disable(const std::string& server);
    Result<void> enable(const std::string& server);  // and start
    // What the files say by now takes the place of what they said. `cause`: as events have it.
    Result<registry::Plan> move_to(std::shared_ptr<const registry::Snapshot> said,
                                   std::string_view cause);

private:
    Result<void> turn_off(std::set<std::string>& off, const std::string& server);
    Result<registry::Plan> apply(std::string_view cause);

    Host& host_;
    std::shared_ptr<const registry::Snapshot> said_;
    std::set<std::string> stopped_, disabled_;
};

}  // namespace patchbay::app
