// Runs the HTTP exchanges of one channel over a bounded pool of kept-alive connections. Workers
// only connect; a connection that is up belongs to the host's reactor, which watches it as long as
// it lasts. An exchange that waits holds a descriptor and no thread.
//
//   start -> [a connection that is there]    -> request sent -> [reactor: head, body] -> end
//         -> [worker: resolve, connect, TLS] -> request sent -> ...
//
// Owns:    tasks from start() to their end(), and the connections. Borrows core and endpoint.
// Threads: everything inside a turn of the core, stop() on the reactor's thread; dialing is
// outside. Errors:  told to the task's end(), once. Limits:  kConnections exchanges under way,
// others wait; kWorkers that connect; kRedirects; kTime
//          for what has begun to come or to go, and a second for every 16 KiB of it.
#pragma once

#include "channel_core.hpp"
#include "net/connection.hpp"

#include <chrono>
#include <deque>
#include <memory>
#include <unordered_set>
#include <vector>

namespace patchbay::net {

class Engine;
struct Line;

using Clock = std::chrono::steady_clock;

// One request and what becomes of its answer.
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

    // Ends it from outside; end() comes with E_CANCELLED, or what won the race. [any]
    void blow() { fuse_.blow(); }
    // start_after()'s delay is not over.
    bool waits() const { return timer_ != 0; }

    // Each time before it is sent to the origin that was asked: sets what must be fresh then.
    virtual void prepare() {}
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
    std::unique_ptr<Line> line_;
    Clock::time_point limit_ = Clock::time_point::max();  // of what it waits for
    std::string body_;
    patchbay_op timer_ = 0;
    unsigned redirects_ = 0;
    std::size_t drained_ = 0;
    bool reused_ = false, body_begun_ = false, crossed_ = false, counted_ = false;
};

class Engine {
public:
    static constexpr std::size_t kConnections = 64, kWorkers = 32, kIdle = 64;
    static constexpr unsigned kRedirects = 3;
    static constexpr std::chrono::seconds kIdleLimit{50}, kTime{30};

    Engine(transport::ChannelCore& core, const Endpoint& endpoint);
    Engine(const Engine&) = delete;
    ~Engine();

    void start(std::shared_ptr<Task> task);
    void start_after(std::chrono::milliseconds delay, std::shared_ptr<Task> task);
    // Ends every task, and later ones at once.
    void stop();
    // Between them no answer is read on.
    void pause() { paused_ = true; }
    void resume();

private:
    using TaskPtr = std::shared_ptr<Task>;
    using LinePtr = std::unique_ptr<Line>;

    void admit();
    void ask(const TaskPtr& task);
    void begin(Task& task, LinePtr line);
    void hire();
    void work();
    void connect(const TaskPtr& task);
    void step(const TaskPtr& task);
    bool advance(const TaskPtr& task);  // true: it is over
    bool take_head(const TaskPtr& task, const Head& head);
    void redirect(Task& task, const Head& head);
    bool read(Task& task, std::string_view piece);
    void await(const TaskPtr& task, std::size_t moved);
    void finish(const TaskPtr& task, const Trouble* trouble);
    LinePtr take_idle(const Url& url);
    void drop_idle(Line& line);
    void drop(LinePtr line);

    static void on_ready(void* ctx, std::uint32_t events) noexcept;
    static void on_timer(void* ctx, patchbay_status status) noexcept;
    static void on_limits(void* ctx, patchbay_status status) noexcept;

    transport::ChannelCore& core_;
    const Endpoint& endpoint_;
    std::unordered_set<TaskPtr> tasks_;
    std::deque<TaskPtr> waiting_, dialing_;
    std::vector<TaskPtr> held_;  // with something to read, until resume()
    std::vector<LinePtr> idle_;
    patchbay_op limits_ = 0;  // looks at the tasks' limits while there are some
    std::size_t under_way_ = 0, workers_ = 0;
    bool stopped_ = false, paused_ = false;
};

}  // namespace patchbay::net
