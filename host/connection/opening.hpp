// How a connection comes to an open channel, and what else there is to try when that fails or is
// refused: another transport, the same one with the other era first or with what has been granted, the same
// channel with a new handshake, or all of it again after a pause.
//
// Owns:    the Attempt, which exists only on the way to Ready. Borrows all else, which must outlive
//          it.
// Threads: [loop].
// Errors:  to its owner, which ends the Attempt: whatever calls on_failed() is done with it.
// Limits:  those of the Attempt and of the Supervisor's pauses.
// Source:  decisions 7 and 11.
#pragma once

#include "connection/agreement.hpp"
#include "connection/attempt.hpp"
#include "connection/context.hpp"
#include "connection/inside.hpp"
#include "core/timer.hpp"

#include <optional>
#include <string>

namespace patchbay::connection {

class OpeningOwner {
public:
    // There is no channel, and nothing else to try now.
    virtual void on_failed(Error error, Supervisor::Retry retry) = 0;
    // The last transport does not let go of its channel.
    virtual void on_stuck(const Error& why) = 0;

protected:
    ~OpeningOwner() = default;
};

class Opening final : public AttemptOwner, public RefusalsOwner {
public:
    struct Parts : Inside {
        Agreement& agreement;
        OpeningOwner& owner;
    };
    Opening(const Context& context, const Parts& parts);

    void begin();
    void begin_after(std::chrono::milliseconds pause);
    void end();  // it is ready, or has failed
    void end_limit();

    // The channel is of no use: it is closed for the next transport. False: there is none.
    bool move_on(Error& error);
    // The channel is gone, by `problem` unless we have closed it (null). False: for good.
    // `was_guessing`: the server left at the first message, which may have been of the wrong era.
    bool go_on(const Error& why, const plugin::Problem* problem, bool was_guessing);

    void on_queued() override;
    void on_opening() override;
    void on_way_free(boost::json::object settings) override;
    void on_attempt_failed(Error error, Supervisor::Retry retry) override;
    void on_failed_beside() override;
    void on_start_expired() override;
    const std::string& transport() const override { return parts_.choice.current(); }

    void renew_session() override;
    void on_asking() override;
    void on_asked() override;

private:
    KnownEra known() const;
    Attempt& attempt_anew();
    bool next_transport(Error& error);
    bool reopen_authorized(const plugin::Problem& problem);
    void fail_started(const Error& error);

    const Context& context_;
    const Parts parts_;
    std::optional<Attempt> attempt_;
    core::Timer back_off_;
};

}  // namespace patchbay::connection
