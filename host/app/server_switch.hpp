// Servers that somebody has stopped while the host runs, on top of what files say: each is as one that is
// disabled, until it is started or the host ends. No file is changed.
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
    // What the files say by now takes the place of what they said. `cause`: as events have it.
    Result<registry::Plan> move_to(std::shared_ptr<const registry::Snapshot> said,
                                   std::string_view cause);

private:
    Result<registry::Plan> apply(std::string_view cause);

    Host& host_;
    std::shared_ptr<const registry::Snapshot> said_;
    std::set<std::string> stopped_;
};

}  // namespace patchbay::app
