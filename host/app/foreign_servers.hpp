// What other clients have in their own files, in our words: for `patchbay import`.
//
// Threads: the calling one; blocks for the disk.
// Errors:  of a file that cannot be read, with its place. An entry that cannot be taken says why, and takes only
//          itself out.
// Limits:  those of config::edit for a file, of config::read_fragment for its servers.
#pragma once

#include "app/known_clients.hpp"
#include "core/result.hpp"

#include <boost/json.hpp>

#include <string>
#include <vector>

namespace patchbay::app {

struct ForeignServer {
    std::string id;             // as we would call it
    boost::json::object entry;  // by our keys
    std::string left;           // not empty: why it cannot be taken
    std::vector<std::string> warnings;
};

struct ForeignFile {
    const KnownClient* client;
    std::string path;
    bool of_checkout;                    // whoever made that wrote it, not the user
    std::vector<ForeignServer> servers;  // but for Patchbay itself
};

// Where to look, and for whom.
struct Lookout {
    const config::Environment& environment;
    std::string project;  // the folder that we are in, of which clients have servers too
    // What `${workspaceFolder}` and a relative path begin at; empty: nothing, and what has one is left.
    std::string folder;
    std::string self;  // the path of this program
};

// Where `client` keeps what its user and this project say, whether it is there or not; none that we read ourselves.
std::vector<std::string> foreign_files(const KnownClient& client, const Lookout& out);
// No servers where it is not there.
Result<ForeignFile> read_foreign(const KnownClient& client, const std::string& path,
                                 const Lookout& out);

}  // namespace patchbay::app
