// Runs the HTTP exchanges of one channel over a bounded pool of kept-alive connections: gives each a
// place and a connection, and ends it. Workers only connect; an exchange that waits holds a
// descriptor and no thread. What comes back its Answers read.
//
//   start -> [a connection that is there]    -> request sent -> [Answers] -> end
//         -> [worker: resolve, connect, TLS] -> request sent -> ...
//
// Owns:    tasks from start() to their end(), and the connections. Borrows core, endpoint and owner.
// Threads: everything inside a turn of the core, stop() on the reactor's thread; dialing is outside.
// Errors:  told to the task's end(), once; what a task throws ends it, and what its end() throws
//          ends the channel of the core.
// Limits:  those of Admission, Answers and Task.
#pragma once

#include "channel_core.hpp"
#include "net/admission.hpp"
#include "net/answers.hpp"
#include "net/dialers.hpp"
#include "net/kept_connections.hpp"
#include "net/task.hpp"

#include <chrono>
#include <deque>
#include <memory>
#include <unordered_set>

namespace patchbay::net {

// The channel that an engine works for.
class EngineOwner {
public:
    // crowded() was true and is no more. Inside a turn.
    virtual void engine_has_room() noexcept = 0;

protected:
    ~EngineOwner() = default;
};

class Engine final : private DialersOwner, private AnswersOwner {
public:
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
    void pause() { answers_.pause(); }
    void resume() { answers_.resume(); }
    bool paused() const { return answers_.paused(); }
    // More tasks wait than should; who asks is told by engine_has_room() when half of them are
    // gone.
    bool crowded() { return admission_.crowded(); }
    // The answer of the task with this number was its own.
    void vouch(std::uint64_t unproven) { kept_.vouch(unproven); }

private:
    void admit();
    void ask(const TaskPtr& task);
    void begin(const TaskPtr& task, LinePtr line);
    void dialed(const TaskPtr& task, Dialed* dialed, Trouble trouble) override;
    void ask_again(const TaskPtr& task) override;
    void on_unasked(Line& line) override;
    void finish(const TaskPtr& task, const Trouble* trouble) override;
    void drop(LinePtr line);

    transport::ChannelCore& core_;
    EngineOwner* const owner_;  // may be null
    std::unordered_set<TaskPtr> tasks_;
    std::deque<TaskPtr> waiting_;  // for a place
    Admission admission_;
    KeptConnections kept_;
    Dialers dialers_;
    Answers answers_;
    bool stopped_ = false, admitting_ = false;
};

}  // namespace patchbay::net
