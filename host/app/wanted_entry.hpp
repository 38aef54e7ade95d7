// The entry of Patchbay that a client is to have: judged, and put in that client's words.
//
// Threads: the calling one; looks for the program on the disk.
// Errors:  Invalid: what makes no sense. Unsupported: the client's file has no word for it. NotFound: the
//          program that is running is not on the disk any more.
#pragma once

#include "app/known_clients.hpp"
#include "config/load.hpp"
#include "core/result.hpp"

#include <boost/json.hpp>

#include <string>
#include <vector>

namespace patchbay::app {

struct WantedEntry {
    std::string name = "patchbay";
    std::string url;                 // of a gateway that runs; empty: the client starts one
    std::string token_env;           // the variable that has the token for it; empty: it needs none
    std::vector<std::string> serve;  // options of the one that the client starts
    bool project = false;            // the file is of a project, and read by others too

    // Whether others than this machine may read what is sent to the URL.
    bool goes_in_the_clear() const;
};

// To a client that drops them it says those variables too, but in the file of a project: what they say holds
// for one person's machine.
Result<boost::json::object> entry_for(const KnownClient& client, const WantedEntry& wanted,
                                      const config::Environment& environment);

// Variables that say where Patchbay's files are, are set here, and do not reach what that client starts.
std::vector<std::string> dropped_variables(const KnownClient& client,
                                           const config::Environment& environment);

// The program that is running; empty: it is gone from the disk.
std::string self_path();

}  // namespace patchbay::app
