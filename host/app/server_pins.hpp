// What somebody approved of what servers list, for one host: the records on disk, how what is listed stands to them, and
// who is told when that changes.
//
// Owns:    both. Borrows all it is given, which must outlive it.
// Threads: [loop].
#pragma once

#include "app/pin_folder.hpp"
#include "core/observer.hpp"
#include "pins/pins.hpp"
#include "router/router.hpp"

#include <map>
#include <string>
#include <utility>

namespace patchbay::app {

class ServerPins {
public:
    // `folder`: where they are kept. `project`: that whose files were read. `origin_of`: as pins::Pins has it.
    ServerPins(core::Loop& loop, catalogue::Catalogue& catalogue,
               connection::ConnectionPool& connections, std::string folder,
               const std::string& project, pins::Pins::OriginOf origin_of);

    pins::Pins& pins() { return pins_; }
    PinFolder& folder() { return folder_; }
    // Nothing: there is no such server.
    std::optional<pins::Key> key_of(const std::string& server) const;
    // The server has listed something: whoever observes hears what of it is not as it was approved, where that is another
    // set than before.
    void tell(const std::string& server, const router::Router& router, core::Observer& observer);

private:
    using Told = std::pair<std::vector<std::string>, std::vector<std::string>>;  // blocked, others

    connection::ConnectionPool& connections_;
    const std::string& project_;
    PinFolder folder_;
    pins::Pins pins_;
    std::map<std::pair<std::string, pins::Part>, Told> told_;  // none is empty
};

}  // namespace patchbay::app
