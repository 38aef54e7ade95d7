// What other clients have in their own files, in our words: for `patchbay import`, and for `[import] follow`
// (followed_clients).
//
// Threads: the calling one; blocks for the disk.
// Errors:  of a file that cannot be read, with its place in it. An entry that cannot be taken says why, and takes only
//          itself out.
// Limits:  those of config::edit for a file, config::kMostInOne servers in one table, of config::read_fragment for each.
#pragma once

#include "app/known_clients.hpp"
#include "config/fragment.hpp"
#include "core/result.hpp"

#include <boost/json.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace patchbay::app {

struct ForeignServer {
    std::string id;             // as we would call it
    boost::json::object entry;  // by our keys
    std::string left;           // not empty: why it cannot be taken
    std::vector<std::string> warnings = {};
    config::Mark mark = {};  // of its name in that file
    bool is_part = false;    // of the client itself, which brings its program: left, and no fault
    bool needs_folder = false;      // it begins in that of a project: left where there is none
    bool of_project = false;        // it is for that project alone
    config::ServerEntry read = {};  // as the reader of our files has it, by the name it has there
};

struct ForeignFile {
    const KnownClient* client;
    std::string path;
    bool of_checkout;  // whoever made that wrote it, not the user
    bool there = false;
    std::vector<ForeignServer> servers = {};  // but for Patchbay itself
    // Not empty: why it cannot be read, and where in it that is; Denied: whose it is.
    std::optional<Error> fault = {};
    config::Mark fault_mark = {};

    Error error() const;  // of one with a fault, with its place
};

// Where to look, and for whom.
struct Lookout {
    const config::Environment& environment;
    std::string project;  // the folder that we are in, of which clients have servers too
    // What `${workspaceFolder}` and a relative path begin at; empty: nothing, and what has one is left.
    std::string folder;
    std::string self;           // the path of this program
    std::set<std::string> own;  // files that are read as ours
};

// Where `client` keeps what its user and this project say, whether it is there or not; none of Lookout::own.
std::vector<std::string> foreign_files(const KnownClient& client, const Lookout& out);
ForeignFile read_foreign(const KnownClient& client, const std::string& path, const Lookout& out);

}  // namespace patchbay::app
