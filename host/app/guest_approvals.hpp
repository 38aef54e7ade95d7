// What a rule wants approved of what a command asks of the host that runs: put to that command, which has the terminal
// (host_approvals.hpp).
//
// Threads: [loop]. Errors: none; whoever cannot be asked is nobody who is there.
// Limits:  as many as the command has in flight.
#pragma once

#include "app/hello.hpp"
#include "connection/caller.hpp"
#include "core/lifetime.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace patchbay::app {

class GuestApprovals {
public:
    using Decide = connection::Caller::Decide;

    // `tell`: a line to the command.
    GuestApprovals(Approving approving, std::function<void(std::string line)> tell)
        : approving_(approving), tell_(std::move(tell)) {}

    // `text`: what the person is to read.
    connection::Question ask(const std::string& text, const connection::Approvable& wanted,
                             Decide decide);
    // Of a question that nobody waits for any more nothing comes.
    void decide(std::int64_t number, connection::Approval approval);

private:
    void withdraw(std::int64_t number);

    const Approving approving_;
    const std::function<void(std::string)> tell_;
    std::map<std::int64_t, Decide> waiting_;
    std::int64_t last_ = 0;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::app
