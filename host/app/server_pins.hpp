// What somebody approved of what servers list, for one host: the records on disk, how what is listed stands to them, and
// who is told when that changes.
//
// Owns:    both. Borrows all it is given, which must outlive it.
// Threads: [loop].
// Limits:  of kMostFollowed servers it is noticed at once that another process has approved something, of the others when
//          they list something else, or when what is asked of them is refused.
#pragma once

#include "app/path_watch.hpp"
#include "app/pin_folder.hpp"
#include "core/observer.hpp"
#include "pins/pins.hpp"
#include "router/router.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace patchbay::app {

class ServerPins {
public:
    static constexpr std::size_t kMostFollowed = 1'000;

    // `folder`: where they are kept. `project`: that whose files were read. `origin_of`: as pins::Pins has it.
    ServerPins(core::Loop& loop, catalogue::Catalogue& catalogue,
               connection::ConnectionPool& connections, std::string folder,
               const std::string& project, pins::Pins::OriginOf origin_of);

    pins::Pins& pins() { return pins_; }
    PinFolder& folder() { return folder_; }
    // From now on what another process approves of the servers that there are now is noticed without a call.
    void follow();
    // Nothing: there is no such server.
    std::optional<pins::Key> key_of(const std::string& server) const;
    // The server has listed something: whoever observes hears what of it is not as it was approved, where that is another
    // set than before.
    void tell(const std::string& server, const router::Router& router, core::Observer& observer);

private:
    using Told = std::pair<std::vector<std::string>, std::vector<std::string>>;  // blocked, others

    core::Loop& loop_;
    connection::ConnectionPool& connections_;
    const std::string& project_;
    PinFolder folder_;
    pins::Pins pins_;
    std::map<std::pair<std::string, pins::Part>, Told> told_;  // none is empty
    std::optional<PathWatch> watch_;
};

}  // namespace patchbay::app
