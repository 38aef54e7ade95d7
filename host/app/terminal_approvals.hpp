// Puts what a rule wants approved to the person at the terminal, one question after the other. The answer is no unless
// a person says otherwise: an empty line, the end of input and a terminal that goes are no.
//
// Borrows the asker. Threads: [loop].
// Limits:  kMostWaiting questions; more are refused. What waits for the same is answered with the first of them that is
//          answered for longer than once.
#pragma once

#include "app/ask_terminal.hpp"
#include "connection/caller.hpp"
#include "core/lifetime.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::app {

// As it is asked, by whichever process.
struct ApprovalQuestion {
    std::string text;                   // fit for a terminal
    std::vector<config::Level> levels;  // as those of connection::Approvable
    std::string key;                    // equal where one answer may be for both
};

class TerminalApprovals {
public:
    static constexpr std::size_t kMostWaiting = 256;
    using Decide = connection::Caller::Decide;

    explicit TerminalApprovals(std::shared_ptr<TerminalAsker> asker) : asker_(std::move(asker)) {}

    connection::Question ask(ApprovalQuestion question, Decide decide);

private:
    struct Waiting {
        std::uint64_t number;
        ApprovalQuestion question;
        Decide decide;
    };
    void begin();
    // False: that is no answer; another line, please.
    bool take(std::uint64_t number, const std::optional<std::string>& line);
    void end(connection::Approval approval);  // of the first
    void withdraw(std::uint64_t number);

    const std::shared_ptr<TerminalAsker> asker_;
    std::deque<Waiting> waiting_;  // the first is being asked
    std::uint64_t last_ = 0, line_ = 0;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::app
