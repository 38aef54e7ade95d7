// The clients of known_clients as `[import] follow` reads them: by the readers of `patchbay import`.
//
// Threads: [any]; blocks for the disk. Errors, limits: those of foreign_servers and config/followed.
#pragma once

#include "config/followed.hpp"

namespace patchbay::app {

class FollowedClients : public config::ClientFiles {
public:
    std::vector<std::string> clients() const override;
    std::vector<File> read(const std::string& client, const config::Environment& environment,
                           const std::string& project,
                           const std::set<std::string>& own) const override;
};

}  // namespace patchbay::app
