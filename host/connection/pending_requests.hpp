// Requests on their way at one server, by id, with their deadlines. One timer for all of them.
//
// Owns:    the handlers. Threads: [loop]. Errors: none.
#pragma once

#include "connection/caller.hpp"
#include "connection/question.hpp"
#include "connection/reply.hpp"
#include "core/lifetime.hpp"
#include "core/timer.hpp"

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace patchbay::connection {

// Where a request is on its way; what is Sent may have been carried out.
enum class Stage {
    Waiting,      // for Ready
    Queued,       // in the outbox: the transport has not been given it
    Sent,         // with the transport, or with the server
    Authorizing,  // refused: credentials are being asked for
    Relisting,    // refused: the tool's schema is being read again
    Asking,       // its server wants input first, which somebody is asked for
};

// Behind an error of what may_have_run() or has_run_maybe(); no other words of it.
inline constexpr const char* kMayHaveRun = "; the request may have been carried out";
inline constexpr const char* kNotSent = "; the request was not sent";

struct PendingRequest {
    Request request;
    ReplyHandler handler;
    CallerNumber caller = 0;             // 0: asked by the connection itself
    RequestId wire_id = 0;               // changes when an input_required round sends it again
    core::Clock::time_point deadline{};  // wall clock; progress does not move it
    std::chrono::milliseconds idle{0};   // 0: no idle limit
    core::Clock::time_point idle_deadline = core::Clock::time_point::max();
    std::chrono::milliseconds wall{0};  // for the message
    unsigned rounds = 0;                // input_required answers so far
    std::string round{};                // members that this round's answers add to the params
    std::vector<Question> questions{};  // that people are asked for this round
    Stage stage = Stage::Waiting;
    std::uint64_t queued = 0;      // its place in the outbox, while Queued
    bool heard = false;            // something came for this sending
    bool uncertain = false;        // an earlier sending may have been carried out
    unsigned generation = 0;       // of the session it was sent in
    bool resent = false;           // after a broken stream
    bool session_retried = false;  // after a lost session
    unsigned auth_generation = 0;  // of the credentials it was sent with
    unsigned auth_rounds = 0;      // sendings after a refusal
    bool headers_retried = false;  // after a HeaderMismatch
    std::size_t bytes = 0;         // counted against queue_bytes
    core::Clock::time_point held_at{}, held_deadline{};  // of hold()

    bool own() const { return caller == 0; }
    // No server has it, and it does not depend on the channel that is open now.
    bool can_wait() const {
        return !own() &&
               (stage == Stage::Waiting || stage == Stage::Queued || stage == Stage::Asking);
    }
    bool may_have_run() const { return stage == Stage::Sent || uncertain; }
    // The same once this sending has ended with a refusal, which says that nothing was run: unless
    // something came for it before.
    bool has_run_maybe() const { return heard || uncertain; }
    core::Clock::time_point due() const { return std::min(deadline, idle_deadline); }
};

class PendingRequests {
public:
    // `expired` is called with each id whose time is up; it is expected to take() it.
    PendingRequests(core::Loop& loop, std::function<void(RequestId)> expired);
    PendingRequests(const PendingRequests&) = delete;

    PendingRequest& add(RequestId id, PendingRequest&& pending);
    PendingRequest* find(RequestId id);
    // By the id on the wire, which differs after a resend.
    RequestId id_of_wire(RequestId wire_id) const;
    PendingRequest* find_wire(RequestId wire_id) { return find(id_of_wire(wire_id)); }
    void set_wire_id(RequestId id, RequestId wire_id);
    // Progress came: the idle limit starts again.
    void touch(PendingRequest& pending);
    // Somebody is asked before it can go on, for `most` at most: no limit of ours runs meanwhile,
    // and release() gives back the time that this took. A time-out of the caller's own goes on.
    void hold(PendingRequest& pending, std::chrono::milliseconds most);
    void release(PendingRequest& pending);
    // Removes and returns it; id must be there.
    PendingRequest take(RequestId id);
    std::vector<RequestId> ids() const;  // ascending
    // Whether the caller has any; 0: whether anybody has but the connection itself.
    bool any_of(CallerNumber caller) const;
    // The one caller whose requests the server has; 0: none are there, or of several.
    CallerNumber only_caller_sent() const;
    std::vector<const PendingRequest*> sent() const;  // of callers, where the server has them
    bool any_begun() const;                           // of callers, and past Stage::Waiting
    // Calls back once callers have none left that has begun; there is one now.
    void drain(std::function<void()> drained) { drained_ = std::move(drained); }
    bool draining() const { return drained_ != nullptr; }
    std::size_t size() const { return pending_.size(); }
    std::size_t bytes() const { return bytes_; }

private:
    void arm(core::Clock::time_point due);
    void sweep();

    core::Loop& loop_;
    std::function<void(RequestId)> expired_;
    std::function<void()> drained_;
    const core::TimeSource& time_;
    std::unordered_map<RequestId, PendingRequest> pending_;
    std::unordered_map<RequestId, RequestId> resent_;  // wire id -> id, only where they differ
    std::size_t bytes_ = 0;
    core::Timer timer_;
    core::Clock::time_point armed_for_ = core::Clock::time_point::max();
    core::Lifetime lifetime_;
};

}  // namespace patchbay::connection
