// Runs the HTTP exchanges of one channel over a bounded pool of kept-alive connections. Workers
// only connect; a connection that is up belongs to the host's reactor, which watches it as long as
// it lasts. An exchange that waits holds a descriptor and no thread.
//
//   start -> [a connection that is there]    -> request sent -> [reactor: head, body] -> end
//         -> [worker: resolve, connect, TLS] -> request sent -> ...
//
// Owns:    tasks from start() to their end(), and the connections. Borrows core, endpoint and owner.
// Threads: everything inside a turn of the core, stop() on the reactor's thread; dialing is outside.
// Errors:  told to the task's end(), once; what a task throws ends it, and what its end() throws
//          ends the channel of the core.
// Limits:  kConnections exchanges under way, others wait, and beyond kQueued of them or kQueuedBytes
//          crowded() says so; about kBytesATurn of all answers in a round of the reactor, each in its
//          turn; kRedirects; Patience::answer for what has begun to come or to go, and a second for
//          every 16 KiB of it.
#pragma once

#include "channel_core.hpp"
#include "net/dialers.hpp"
#include "net/kept_connections.hpp"
#include "timer.hpp"

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

namespace patchbay::net {

// One request and what becomes of its answer. What one of its functions throws is its trouble.
class Task : public std::enable_shared_from_this<Task> {
public:
    enum class Take {
        Nothing,  // the body, if any, is of no interest
        Whole,    // whole() gets it, up to body_limit() bytes
        Stream,   // data() gets it as it comes
    };

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
    bool was_cut() const { return cut_; }
    // It was packed, and what it was packed into has no end: whether it is all of it, it must say
    // itself.
    bool was_torn() const { return torn_; }

private:
    friend class Engine;
    enum class Phase { Asking, Waiting, Reading };

    Engine* engine_ = nullptr;
    Phase phase_ = Phase::Asking;
    Take take_ = Take::Nothing;
    Fuse fuse_;
    std::unique_ptr<Line> line_;
    Clock::time_point limit_ = Clock::time_point::max();  // of what it waits for
    std::string body_;                                    // that nobody has yet
    std::string rest_;                                    // what came after it, as it came
    std::optional<transport::Timer> timer_;               // of start_after()
    std::uint64_t behind_ = 0;                            // of start_behind()
    unsigned redirects_ = 0;
    std::size_t drained_ = 0;
    bool reused_ = false, body_begun_ = false, crossed_ = false, counted_ = false;
    bool queued_ = false;  // the engine will come back to it: held, or in line for its turn
    bool cut_ = false, torn_ = false;
    bool sent_before_ = false;  // on a connection that broke or redirected; it was asked again
};

// The channel that an engine works for.
class EngineOwner {
public:
    // crowded() was true and is no more. Inside a turn.
    virtual void engine_has_room() noexcept = 0;

protected:
    ~EngineOwner() = default;
};

struct Patience {
    std::chrono::milliseconds answer{30'000};  // for what has begun
    std::chrono::milliseconds look{1000};      // how often the limits are looked at
};

class Engine final : private DialersOwner {
public:
    static constexpr std::size_t kConnections = 64;
    static constexpr std::size_t kQueued = 1000, kQueuedBytes = 16u << 20;
    static constexpr unsigned kRedirects = 3;

    Engine(transport::ChannelCore& core, Workers& pool, const Endpoint& endpoint,
           EngineOwner* owner = nullptr, Patience patience = {});
    Engine(const Engine&) = delete;
    ~Engine();

    void start(std::shared_ptr<Task> task);
    void start_after(std::chrono::milliseconds delay, std::shared_ptr<Task> task);
    // On the connection that has just brought the answer of `before`, whose unproven() is not 0; ends
    // with a trouble where that was not kept.
    void start_behind(const Task& before, std::shared_ptr<Task> task);
    // Sends what has had this answer where it leads. Not behind a byte of another body.
    void follow(std::shared_ptr<Task> task, const Head& redirect);
    // Ends every task, and later ones at once.
    void stop();
    // Between them no answer is read on.
    void pause() { paused_ = true; }
    void resume();
    bool paused() const { return paused_; }
    // More tasks wait than should; who asks is told by engine_has_room() when half of them are
    // gone.
    bool crowded();
    // The answer of the task with this number was its own.
    void vouch(std::uint64_t unproven) { kept_.vouch(unproven); }

private:
    using TaskPtr = std::shared_ptr<Task>;

    void enqueue(TaskPtr task);
    void admit();
    void ask(const TaskPtr& task);
    void begin(const TaskPtr& task, LinePtr line);
    void dialed(const TaskPtr& task, Dialed* dialed, Trouble trouble) override;
    void step(const TaskPtr& task);
    bool advance(const TaskPtr& task);  // true: it is over
    bool take_head(const TaskPtr& task, const Head& head);
    void redirect(Task& task, const Head& head);
    bool read(Task& task, std::string_view piece);
    bool read_stream(Task& task, std::string_view piece);
    void unpack(Task& task, std::string_view& piece, std::size_t most, std::size_t enough);
    void go_on_later(Task& task, std::string_view rest);
    void queue(const TaskPtr& task);
    void call_back(transport::ChannelCore::Posted fn);
    void await(const TaskPtr& task, std::size_t moved);
    void look_at_limits();
    void finish(const TaskPtr& task, const Trouble* trouble);
    void drop(LinePtr line);

    static void on_ready(void* ctx, std::uint32_t events) noexcept;
    static void on_called(void* ctx) noexcept;
    static void on_resumed(void* ctx) noexcept;
    template <class Work>
    void guard(Work work) noexcept;

    transport::ChannelCore& core_;
    EngineOwner* const owner_;  // may be null
    const Patience patience_;
    std::unordered_set<TaskPtr> tasks_;
    std::deque<TaskPtr> waiting_;
    std::vector<TaskPtr> held_;    // with something to read, until resume()
    std::deque<TaskPtr> resumed_;  // with something to read, in the order of their turns
    KeptConnections kept_;
    // Looks at the tasks' limits while there are some.
    transport::Timer limits_;
    Dialers dialers_;
    std::size_t under_way_ = 0;
    std::size_t waiting_bytes_ = 0;  // of the bodies in waiting_
    std::size_t unpacked_ = 0;       // bytes of answers since the last on_resumed()
    bool stopped_ = false, paused_ = false, crowded_ = false, admitting_ = false;
    bool called_ = false;  // on_resumed() will come, or goes on
};

}  // namespace patchbay::net
