// Reads the answers to what the tasks of an engine have asked, each in its turn, and says when one is
// too late. A connection belongs to the host's reactor, which watches it as long as it lasts.
//
//   await -> [reactor: head, body] -> finish
//                                  -> ask_again: redirected, or given up by the server in between
//
// Owns:    the watches' words, no connection: that is its task's. Borrows all it is given.
// Threads: inside a turn of the core, stop() on the reactor's thread.
// Errors:  told to finish(), once for each exchange.
// Limits:  those of Turns and AnswerBody; Patience::answer for what has begun to come or to go, and a
//          second for every 16 KiB of it.
#pragma once

#include "channel_core.hpp"
#include "net/kept_connections.hpp"
#include "net/task.hpp"
#include "net/turns.hpp"
#include "timer.hpp"

#include <chrono>
#include <memory>
#include <unordered_set>

namespace patchbay::net {

using TaskPtr = std::shared_ptr<Task>;

struct Patience {
    std::chrono::milliseconds answer{30'000};  // for what has begun
    std::chrono::milliseconds look{1000};      // how often the limits are looked at
};

// All inside a turn, on the reactor's thread.
class AnswersOwner {
public:
    // Its connection is of no more use to it, and nobody has had a byte of its answer.
    virtual void ask_again(const TaskPtr& task) = 0;
    // Null: the answer is complete.
    virtual void finish(const TaskPtr& task, const Trouble* trouble) = 0;
    // Something came on a connection that no task is on.
    virtual void on_unasked(Line& line) = 0;

protected:
    ~AnswersOwner() = default;
};

class Answers final : private TurnsOwner {
public:
    // `tasks`: all there are.
    // `keep_alive`: as of an Endpoint.
    Answers(transport::ChannelCore& core, Patience patience, std::chrono::seconds keep_alive,
            const std::unordered_set<TaskPtr>& tasks, AnswersOwner& owner);
    Answers(const Answers&) = delete;

    // Has the connection watched for the first time. False: the host cannot.
    bool watch(Line& line);
    // Has the watch tell of what the task waits for; `moved` bytes were sent or received just now.
    void await(const TaskPtr& task, std::size_t moved);
    // Between them no answer is read on.
    void pause() { turns_.pause(); }
    void resume();
    bool paused() const { return turns_.paused(); }
    void stop();

private:
    static void on_ready(void* ctx, std::uint32_t events) noexcept;
    void step(const TaskPtr& task);
    bool advance(const TaskPtr& task);  // true: it is over
    bool take_head(const TaskPtr& task, const Head& head);
    bool take(const TaskPtr& task, AnswerBody::Read read);
    void limit(Task& task, std::size_t moved);
    void look_at_limits();
    void take_turn(const TaskPtr& task) override;

    transport::ChannelCore& core_;
    const Patience patience_;
    const std::chrono::seconds keep_alive_;
    const std::unordered_set<TaskPtr>& tasks_;
    AnswersOwner& owner_;
    Turns turns_;
    transport::Timer limits_;  // looks at the tasks' limits while there are some
    bool stopped_ = false;
};

}  // namespace patchbay::net
