// One connection to the host that runs: of an MCP client a greeting, then its messages (client_lines.hpp); of a command
// a greeting, then the `batch` protocol, then a last line that says how it went:
//
//   {"event":"end","failed":false,"warnings":["warning: ..."]}
//
// Owns:    the socket, and the caller where it is one of its own. Borrows the host and whoever it is one of.
// Threads: [loop].
// Errors:  who does not greet, or not as we do, is told so and cut off. Whoever vanishes has what it asked
//          cancelled.
// Limits:  kGreeting for the first line, of kHelloBytes; then those of Batch and LineOutput: whoever does not
//          read kMostBytes of answers is cut off.
#pragma once

#include "app/batch.hpp"
#include "app/client_lines.hpp"
#include "app/guest_approvals.hpp"
#include "app/guest_operations.hpp"
#include "app/hang_ups.hpp"
#include "app/hello.hpp"
#include "app/host.hpp"
#include "app/line_input.hpp"
#include "app/local_caller.hpp"
#include "core/descriptor.hpp"
#include "core/lifetime.hpp"
#include "core/timer.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace patchbay::app {

class GuestConnection {
public:
    static constexpr std::chrono::seconds kGreeting{5};

    // What all of them share.
    class Desk : public GuestOperations::Control {
    public:
        virtual Host& host() = 0;
        virtual LocalCaller& person() = 0;  // whom the commands of a person speak for
        virtual HangUps& hang_ups() = 0;
        virtual Welcome welcome(const Hello& hello) = 0;
        // It has more or less in memory than before, or nothing more to do; may end others, not it.
        virtual void look_at(GuestConnection& guest) = 0;

    protected:
        ~Desk() = default;
    };

    GuestConnection(Desk& desk, core::Descriptor socket, std::size_t number);
    ~GuestConnection();  // what it asked is cancelled, and nothing more is written

    // Refuses it; over() then.
    void refuse(const Error& error);
    // Nothing more is read; over() when what was asked is answered.
    void end_input();
    void interrupt(const std::string& why);
    // The host runs by another configuration: what its client is shown may be another thing.
    void show_anew();
    void cut_off();  // over() at once

    // As connection::Caller::approve: the command at the other end has the terminal.
    connection::Question approve(const connection::Approvable& wanted,
                                 connection::Caller::Decide decide);
    void decide(std::int64_t number, connection::Approval approval);

    bool over() const { return over_; }
    std::size_t number() const { return number_; }
    std::size_t bytes() const;  // that it makes us keep

private:
    void look_for_greeting();
    void greet(const Hello& hello);
    void begin(const Hello& hello);
    void begin_client(const Hello& hello);
    void look();  // at what the batch has come to
    void look_at_client();
    std::string last_line() const;

    Desk& desk_;
    core::Loop& loop_;
    core::Descriptor socket_, writing_;  // one for each watch
    const std::size_t number_;
    core::Timer greeting_;
    std::unique_ptr<LocalCaller> own_;  // before the batch, which borrows it
    connection::Caller* caller_ = nullptr;
    std::optional<GuestApprovals> approvals_;
    LineInput input_;
    std::optional<GuestOperations> operations_;
    std::optional<Batch> batch_;
    std::unique_ptr<ClientLines> client_;
    Shown shown_;  // to that one
    bool greeted_ = false;
    bool ending_ = false;  // nothing more is read
    bool told_end_ = false, over_ = false;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::app
