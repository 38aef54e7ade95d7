// Runs the HTTP exchanges of one channel: a bounded pool of kept-alive connections, a few workers
// for what blocks, and nothing but the host's reactor for what waits. An exchange that waits for
// its answer, or for the next event of a stream, holds a descriptor and no thread.
//
//   start -> [worker: connect, send, a moment's patience] -> parked at the reactor
//         -> [worker: head, what has come of the body] -> parked ... -> end
//
// Owns:    tasks from start() to their end(), and the idle connections. Borrows core and endpoint.
// Threads: start(), start_after(), stop() and a task's callbacks inside a turn of the core; stop()
//          on the reactor's thread.
// Errors:  told to the task's end(), once.
// Limits:  kConnections exchanges under way, others wait; kBusy workers on a server that answers at
//          once, kWorkers on one that keeps them; kRedirects.
#pragma once

#include "channel_core.hpp"
#include "net/connection.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <unordered_set>
#include <vector>

namespace patchbay::net {

class Engine;

// One request and what becomes of its answer.
class Task : public std::enable_shared_from_this<Task> {
public:
    enum class Take {
        Nothing,  // the body, if any, is of no interest
        Whole,    // whole() gets it, up to body_limit() bytes
        Stream,   // data() gets it as it comes
    };

    explicit Task(Url its_url) : url(std::move(its_url)) {}
    virtual ~Task() = default;

    Url url;  // of the answer, after redirects
    Outgoing request;
    HeaderList secrets;       // sent to the origin that was asked, not where it redirects to
    bool repeatable = false;  // sending it twice does no harm

    // Ends it from outside; end() comes with E_CANCELLED, or what won the race. [any]
    void blow() { fuse_.blow(); }
    // start_after()'s delay is not over.
    bool waits() const { return timer_ != 0; }

    virtual Take head(const Head& head) = 0;
    virtual std::size_t body_limit() const { return 64u << 10; }
    virtual void whole(std::string&& body) { static_cast<void>(body); }
    // False: enough of it; the task ends with E_LIMIT unless it has ended itself.
    virtual bool data(std::string_view bytes) { return static_cast<void>(bytes), true; }
    virtual void end(const Trouble* trouble) = 0;  // null: the answer is complete

private:
    friend class Engine;
    enum class Phase { Asking, Waiting, Reading };

    Engine* engine_ = nullptr;
    Phase phase_ = Phase::Asking;
    Take take_ = Take::Nothing;
    Fuse fuse_;
    std::unique_ptr<Connection> connection_;
    Clock::time_point asked_;
    std::string body_;
    patchbay_op watch_ = 0, timer_ = 0;
    unsigned redirects_ = 0;
    std::size_t drained_ = 0;
    bool reused_ = false, body_begun_ = false, crossed_ = false, counted_ = false;
};

class Engine {
public:
    static constexpr std::size_t kConnections = 64, kBusy = 4, kWorkers = 32, kIdle = 64;
    static constexpr unsigned kRedirects = 3;
    static constexpr std::chrono::seconds kIdleLimit{50};

    Engine(transport::ChannelCore& core, const Endpoint& endpoint)
        : core_(core), endpoint_(endpoint) {}
    Engine(const Engine&) = delete;

    void start(std::shared_ptr<Task> task);
    void start_after(std::chrono::milliseconds delay, std::shared_ptr<Task> task);
    // Ends every task, and later ones at once.
    void stop();
    // Between them no answer is read on.
    void pause() { paused_ = true; }
    void resume();

private:
    using TaskPtr = std::shared_ptr<Task>;
    class Slow;

    void admit();
    void pump();
    void hire();
    void work();
    void step(const TaskPtr& task);
    bool advance(const TaskPtr& task);  // true: it is over
    void ask(Task& task);
    bool take_head(Task& task);
    bool read(Task& task);
    bool hold(const TaskPtr& task);
    void redirect(Task& task, const Head& head);
    bool park(const TaskPtr& task);
    void finish(const TaskPtr& task, const Trouble* trouble);
    std::unique_ptr<Connection> idle_connection(const Url& url);

    static void on_readable(void* ctx, std::uint32_t events) noexcept;
    static void on_timer(void* ctx, patchbay_status status) noexcept;

    transport::ChannelCore& core_;
    const Endpoint& endpoint_;
    std::unordered_set<TaskPtr> tasks_;
    std::deque<TaskPtr> waiting_, ready_, held_;
    struct Idle {
        std::unique_ptr<Connection> connection;
        Clock::time_point since;
    };
    std::vector<Idle> idle_;
    std::size_t under_way_ = 0, workers_ = 0, busy_ = 0, slow_ = 0;
    bool stopped_ = false;
    std::atomic<bool> paused_{false};
    std::atomic<bool> patient_{true};  // the last answer came at once
};

}  // namespace patchbay::net
