// What a host that runs wants this command's person to approve: it asks by lines among its answers, and is answered by a
// connection of their own, as nothing is read behind a barrier, or behind the end of a batch.
//
//   {"event":"approve","approval":7,"text":"May the tool ...","levels":["allow-once"],"key":"..."}
//   {"event":"approve","approval":7}         nobody waits for the answer any more
//
// Borrows the line. Threads: [loop]. Errors: an answer that does not arrive is none: the host has gone.
#pragma once

#include "app/host_line.hpp"
#include "app/terminal_approvals.hpp"
#include "core/lifetime.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>

namespace patchbay::app {

class HostApprovals {
public:
    using Ask = std::function<connection::Question(ApprovalQuestion question,
                                                   TerminalApprovals::Decide decide)>;

    HostApprovals(core::Loop& loop, const HostLine& line, Ask ask)
        : loop_(loop), line_(line), ask_(std::move(ask)) {}

    // True: it was such a line.
    bool take(std::string_view line);

private:
    void answer(std::int64_t number, connection::Approval approval) const;

    core::Loop& loop_;
    const HostLine& line_;
    const Ask ask_;  // empty: nobody is there, which the host knows
    std::map<std::int64_t, connection::Question> questions_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::app
