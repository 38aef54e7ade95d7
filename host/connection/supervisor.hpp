// Which state a connection is in, what may follow, and whether and when it comes back. Decides, and
// does nothing: no channel, no loop.
//
//   phase         event                                next          shown as
//   Idle          want                                 (caller)      Idle
//   (wanted)      queue: no place is free              Waiting       Connecting, Reconnecting (1)
//   (wanted),     attempt: settings, credentials,      Attempting    the same
//   Waiting,      channel, handshake, tools/list
//   MovingOn
//   Attempting    move_on: another transport, once     MovingOn      the same
//                 this channel is closed
//   Attempting    ready                                Ready         Ready
//   Ready         renew: a handshake on the same       Attempting    Reconnecting
//                 channel, or one that is opened anew
//   Attempting,   lose: the channel is closed by us    Leaving       Reconnecting, Failed or
//   Ready                                                            AuthRequired (2)
//   Ready         rest: the server has left by itself, Idle          Idle
//                 and well; restart = "on-failure"
//   MovingOn      give_up: it does not let go          Leaving       Error
//   any but the   fail: there is no channel, or not    BackingOff    Reconnecting
//   last two      any more                             Failed        Failed; Error: not to be retried
//                                                      AuthRequired  AuthRequired
//   BackingOff,   want, or its pause is over; (3)      (caller)
//   Failed,
//   AuthRequired
//   any           stop: the channel is closed          Stopping      as it was
//   any           stopped: there is none               Stopped       Stopped
//
//   (1) Reconnecting once an attempt has failed. (2) What fail() will come to as things stand: who
//   waits hears at once, the server may take its time to leave. (3) One that served is started at
//   once for a request that comes, or waits, when it has gone: only who crashes again makes it wait.
//
// A server of a checkout that nobody has approved has no connection: State::Untrusted is told of it
// by the app. Disabled ones have none either.
//
// Threads: [value]. Errors: none.
// Limits:  config::HealthSettings reconnect_attempts in a row, reconnect_first doubling up to
//          reconnect_most between them; a server may ask for five minutes. What was ready for as
//          long as `stable` says begins to count anew.
#pragma once

#include "connection/context.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace patchbay::connection {

class Supervisor {
public:
    enum class Phase {
        Idle,
        Waiting,
        Attempting,
        MovingOn,
        Ready,
        Leaving,
        BackingOff,
        Failed,
        AuthRequired,
        Stopping,
        Stopped
    };
    enum class Retry { Worthwhile, Useless };  // whether another attempt may go better

    Supervisor(const core::TimeSource& time, const Terms& terms, const config::Server& server);

    Phase phase() const { return phase_; }
    State shown() const { return shown_; }
    bool is_ready() const { return phase_ == Phase::Ready; }
    bool is_closing() const { return phase_ == Phase::Stopping || phase_ == Phase::Stopped; }

    // How long it has been on its way, without the time in which others were; nothing: it is not.
    std::optional<std::chrono::milliseconds> on_its_way() const;
    // The same for people, with what the server said last; nothing: it is not on its way.
    std::optional<Starting> starting(const std::string& last_said) const;

    // Whether an attempt is to begin for who asks. False: one is under way, or none ever will be.
    bool want();
    void queue();
    void attempt();
    void move_on();
    void ready();
    void renew();
    void lose(const Error& error);
    void give_up();
    void rest();
    void fail(const Error& error, Retry retry);
    void stop();
    void stopped();

    // In BackingOff: how long; counts the attempt that follows.
    std::chrono::milliseconds pause();
    void server_asks_for(std::chrono::milliseconds patience) { patience_ = patience; }
    // The channel went by itself while it was ready.
    void was_ready();
    // It was ready, and no attempt has failed since.
    bool has_served() const { return served_; }
    // Whether a server that has ended well is not started again before somebody asks.
    bool rests() const;

    // A new request: it starts an attempt, is refused because one failed a moment ago, or neither.
    bool wakes() const;
    bool refuses() const;
    // Whoever wants it ready hears why it is not: it must not be restarted, and nobody has said that it shall.
    bool stays_down() const;
    // It does not come back by itself: it must not, or there were as many attempts as there may be.
    bool is_given_up() const {
        return (phase_ == Phase::Failed || phase_ == Phase::Leaving) && shown_ == State::Failed;
    }
    bool must_stay_down() const;

private:
    bool is_on_its_way() const;
    bool is_queued() const { return phase_ == Phase::Waiting; }  // no place is free
    void set_out();
    bool comes_back(const Error& error) const;
    State starting() const { return attempts_ == 0 ? State::Connecting : State::Reconnecting; }

    const core::TimeSource& time_;
    const Terms& terms_;
    const config::Server& server_;
    Phase phase_ = Phase::Idle;
    State shown_ = State::Idle;
    unsigned attempts_ = 0;  // that failed, in a row
    std::chrono::milliseconds patience_{0};
    bool served_ = false;  // ready since the last pause
    bool prompt_ = false;  // this pause is the first one after it served
    core::Clock::time_point set_out_at_{}, ready_at_{}, failed_at_{};
};

}  // namespace patchbay::connection
