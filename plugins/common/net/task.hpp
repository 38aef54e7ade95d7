// An exchange of an engine: what is asked, and what becomes of the answer.
//
// Threads: inside a turn of the engine's core, but blow().
// Errors:  what one of its functions throws is its trouble; what its end() throws ends the channel.
// Limits:  kRedirects.
#pragma once

#include "net/answer_body.hpp"
#include "net/dial.hpp"
#include "net/head_parser.hpp"
#include "net/header_list.hpp"
#include "net/kept_connections.hpp"
#include "net/outgoing.hpp"
#include "net/trouble.hpp"
#include "net/url.hpp"
#include "timer.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::net {

class Engine;

// One request and what becomes of its answer. What one of its functions throws is its trouble.
class Task : public std::enable_shared_from_this<Task> {
public:
    static constexpr unsigned kRedirects = 3;
    using Take = net::Take;

    explicit Task(Url its_url);
    virtual ~Task();

    Url url;  // of the answer, after redirects
    Outgoing request;
    HeaderList secrets;       // sent to the origin that was asked, not where it redirects to
    bool repeatable = false;  // sending it twice does no harm
    // A redirect to another origin is followed: for what holds nothing of ours. Otherwise only one
    // within the origin, and from http to https on the same host and the usual ports.
    bool leaves_origin = false;
    // On a connection that carries nothing before it: no answer is there but its own.
    bool comes_first = false;

    // Ends it from outside; end() comes with E_CANCELLED, or what won the race. [any]
    void blow() { fuse_.blow(); }
    // start_after()'s delay is not over.
    bool waits() const { return timer_ && timer_->running(); }
    // A byte of its request may have reached a server. Inside a turn.
    bool sent() const;
    // Its connection had carried another one: its answer may be what was said there unasked.
    bool reused() const { return reused_; }

    // Each time before it is sent to the origin that was asked: sets what must be fresh then.
    virtual void prepare() {}
    virtual Take head(const Head& head) = 0;
    // A redirect is followed; otherwise head() has it like any answer, and Engine::follow() is there.
    virtual bool follows() const { return true; }
    virtual std::size_t body_limit() const { return 64u << 10; }
    // The head says it all: whole() gets what can be had of the body, cut at body_limit() or where
    // it breaks off, and that is no error.
    virtual bool body_may_be_cut() const { return false; }
    virtual void whole(std::string&& body) { static_cast<void>(body); }
    // Takes `bytes` off their front; may leave some only while the engine is paused. False: enough
    // of it, the task ends.
    virtual bool data(std::string_view& bytes) { return bytes = {}, true; }
    virtual void end(const Trouble* trouble) = 0;  // null: the answer is complete
    // Not 0: whether the answer was its own is not known yet. Its connection carries nothing more
    // before Engine::vouch() of this number.
    virtual std::uint64_t unproven() const { return 0; }

protected:
    // In its end(): the answer was its own.
    void vouch();
    // What whole() gets is not all of it.
    bool was_cut() const { return body_ && body_->was_cut(); }
    // It was packed, and what it was packed into has no end: whether it is all of it, it must say
    // itself.
    bool was_torn() const { return body_ && body_->was_torn(); }

private:
    friend class Engine;
    friend class Answers;
    friend class Turns;

    // Where an answer of its leads is asked next.
    void redirect(const Head& head);

    Engine* engine_ = nullptr;
    Fuse fuse_;
    std::unique_ptr<Line> line_;      // with its request, from begin() to the end
    std::optional<AnswerBody> body_;  // of the answer that has begun
    Clock::time_point limit_ = Clock::time_point::max();  // of what it waits for
    std::optional<transport::Timer> timer_;               // of start_after()
    std::uint64_t behind_ = 0;                            // of start_behind()
    unsigned redirects_ = 0;
    bool reused_ = false, crossed_ = false, counted_ = false;
    bool in_line_ = false;      // its Turns will come back to it
    bool sent_before_ = false;  // on a connection that broke or redirected; it was asked again
};

}  // namespace patchbay::net
