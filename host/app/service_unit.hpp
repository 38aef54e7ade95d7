// The two units by which systemd keeps a host for one folder: a socket, at which it waits for the first command,
// and the service that it starts then.
//
// Each begins with a line that says who wrote it, with a digest of what follows: a unit that somebody has changed is
// not ours to replace or to take away.
//
// Threads: [value]. Errors: Invalid: a path or value that cannot be written into a unit, or that systemd reads as
//          another one.
// Source:  systemd.unit(5), systemd.service(5), systemd.socket(5), systemd.exec(5); systemd 252.
#pragma once

#include "core/result.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::app {

struct ServiceTerms {
    std::string name;                  // of both units, without `.service`
    std::string folder;                // that servers are started in
    std::string socket;                // where commands come
    std::vector<std::string> command;  // the program and its words; the first is a path
    std::vector<std::pair<std::string, std::string>> environment;
    std::vector<std::string>
        unset;  // variables that the service is not to have, whoever gives them
};

// "patchbay-app-0f3a91c2": the folder's own name for people, the key for uniqueness.
std::string unit_name(const std::string& folder, const std::string& key);

Result<std::string> service_text(const ServiceTerms& terms);
Result<std::string> socket_text(const ServiceTerms& terms);

enum class Authorship { Ours, Changed, Others };
Authorship authorship_of(std::string_view unit);

}  // namespace patchbay::app
