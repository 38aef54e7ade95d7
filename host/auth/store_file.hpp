// mcp-auth.json: what sign-ins left, one record for each server; mcp-secrets.json: what a person keeps by
// name. Whoever is killed while writing leaves the old file or the new one, never a mixture.
//
//   {"version": 1, "servers": {"ID": {"access_token": "...", "expires_at": 1790000000, ...}}}
//
// Owns:    nothing but names: every call opens what it needs and closes it.
// Threads: [any]; writers of all processes take turns by a lock beside the file.
// Errors:  a directory or file that others can reach or replace, a symbolic link, what makes no
//          sense: refused, with what to do. Nothing that was there is lost by a refusal.
// Limits:  kFileBytes; a writer waits kLockWait for the others.
#pragma once

#include "core/result.hpp"

#include <boost/json.hpp>

#include <chrono>
#include <string>

namespace patchbay::auth {

class StoreFile {
public:
    static constexpr std::size_t kFileBytes = 4u << 20;
    static constexpr std::chrono::seconds kLockWait{10};

    struct Kind {
        const char* name;   // of the file, without .json
        const char* table;  // in which the records are
        const char* again;  // what to do when all of it is lost
    };
    static constexpr Kind kSignIns{"mcp-auth", "servers", "sign in again"};
    static constexpr Kind kNamed{"mcp-secrets", "secrets", "set them again"};

    static constexpr const char* kKeyring = "keyring";  // true in a record: its secrets are there
    static bool in_keyring(const boost::json::object& record);

    // `directory`: the state directory; made, 0700, when it is needed and not there.
    explicit StoreFile(std::string directory, Kind kind = kSignIns)
        : directory_(std::move(directory)), kind_(kind) {}

    struct Contents {
        boost::json::object file;  // with "version" and the table, both checked
        std::string warning;       // the previous copy had to do, and why; empty: all is well
    };
    // A file that is not there is an empty one.
    Result<Contents> read() const;
    // Puts `record`, or erases the one that is there when it is empty. On disk when it returns.
    Result<void> replace(const std::string& key, const boost::json::object& record) const;

    std::string path() const { return directory_ + "/" + kind_.name + ".json"; }
    // A descriptor to lock for `key`, made when it is not there.
    Result<int> lock_file(const std::string& key) const;

private:
    std::string directory_;
    Kind kind_;
};

}  // namespace patchbay::auth
