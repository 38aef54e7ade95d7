// What this user has approved of checkouts: `trust.json` in the state directory.
//
//   {"version":1,"projects":{"DIRECTORY":{"files":{"digest":"<digest>",
//                                                  "parts":{"args":"<digest>","env.KEY":"<digest>"}}}}}
//
// The digest alone says what is approved; in its place alone it is a record without parts. Those only
// say what has changed since, in no values: the digest is their salt.
//
// Owns:    nothing but names: every call opens what it needs and closes it; read once.
// Threads: [loop]; writers of all processes take turns by a lock on trust.lock. Whoever is killed
//          while writing leaves the old file or the new one.
// Errors:  a record that others can write or replace, or that makes no sense, approves nothing;
//          trouble() says why, and it is not written over.
// Limits:  kFileBytes; a writer waits kLockWait for the others.
#pragma once

#include "config/load.hpp"
#include "core/result.hpp"

#include <boost/json.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::service {

class TrustFile {
public:
    static constexpr std::size_t kFileBytes = 4u << 20;
    static constexpr std::chrono::seconds kLockWait{10};

    // `directory`: the state directory; made, 0700, when it is needed. Empty: approves nothing.
    explicit TrustFile(std::string directory) : directory_(std::move(directory)) {}

    bool approved(const config::Proposal& proposal) const;
    // Whether one of that id was ever approved in its project.
    bool knows(const config::Proposal& proposal) const {
        return approval_of(proposal.directory, proposal.id);
    }
    // Ids that were approved in that project, whatever has become of them.
    std::vector<std::string> ids(const std::string& project) const;
    // What was approved by that id; empty: nothing.
    std::string digest_of(const std::string& project, const std::string& id) const;
    // What of it is not as it was approved, by keys like "args" and "env.KEY"; empty: nobody knows.
    std::vector<std::string> changed(const config::Proposal& proposal) const;
    Result<void> trouble() const;  // why none of it counts

    // On disk when they return.
    Result<void> approve(const std::vector<config::Proposal>& proposals);
    // NotFound: nothing was approved by that id; then nothing is revoked.
    Result<void> revoke(const std::string& project, const std::vector<std::string>& ids);

    std::string path() const { return directory_ + "/trust.json"; }

private:
    const boost::json::object& projects() const;
    // Null: none.
    const boost::json::value* approval_of(const std::string& project, const std::string& id) const;
    template <class Change>
    Result<void> change(const Change& change);

    std::string directory_;
    mutable std::optional<boost::json::object> projects_;
    mutable Result<void> trouble_;
};

}  // namespace patchbay::service
