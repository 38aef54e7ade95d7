// By which configuration a host that stays runs, what was read since and does not count, and to what it can go back.
// Decides and remembers; who moves the host is Reload.
//
// Threads: [value].
// Errors:  none; what does not count is kept() with the reason.
// Limits:  kHistory can be gone back to.
#pragma once

#include "registry/snapshot.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace patchbay::app {

class InForce {
public:
    using Snapshot = std::shared_ptr<const registry::Snapshot>;
    static constexpr std::size_t kHistory = 10;

    struct Standing {
        Snapshot snapshot;
        std::string digest;  // of what the host runs by; empty: nobody reads just that any more
        std::string read_digest;  // of the files as they were read
        // Keys of which it has another value than its files, until it is started anew.
        std::string next_start;
    };

    // `begun`: what those parts of the host were made of that are made once.
    InForce(const Snapshot& begun, const std::string& digest);

    const Standing& now() const { return now_; }
    // Whether a command that read files of that digest and the host mean the same.
    bool fits(const std::string& digest) const { return digest == now_.digest; }
    // Files of that digest have been read already, and came to nothing new.
    bool is_known(const std::string& digest) const {
        return digest == now_.read_digest || digest == kept_digest_;
    }

    // What is wrong with `read` that is not wrong with what is in force. Empty: nothing; a broken enterprise file,
    // which denies everything, is no fault that it could be kept off for.
    std::string why_not(const registry::Snapshot& read) const;

    // The host runs by that; what it ran by before can be gone back to.
    void move_to(const Snapshot& read, const std::string& digest);
    // It does not run by that, for this reason.
    void refuse(const std::string& why, const std::string& digest);
    void forget_refusal();
    const std::string& kept() const { return kept_; }  // why not; empty: nothing was refused
    bool was_kept(const std::string& digest) const { return digest == kept_digest_; }

    // To what rollback() leads: from files that have a fault to what runs still, once more to what ran before. Null: there is
    // nothing.
    const Standing* before() const;
    // It has gone there; `why` the files do not count meanwhile. What was read last is what is gone back from, not what
    // stands in the files: a change that nobody has read yet is one.
    void go_back(const std::string& why);

private:
    const Snapshot begun_;
    Standing now_;
    std::vector<Standing> before_;  // the last one at the end
    std::string kept_, kept_digest_;
    bool is_refused_ = false;  // what was read last, and nobody has gone back from it
};

}  // namespace patchbay::app
