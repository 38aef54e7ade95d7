// Connects for the tasks of an engine, on workers: resolving, connecting and TLS block.
//
// Owns:    who waits for a worker. Borrows core, workers, endpoint and owner.
// Threads: inside a turn of the core; dialing itself is outside of any.
// Errors:  told to dialed(), once for each task.
// Limits:  kMost that connect at once.
#pragma once

#include "channel_core.hpp"
#include "net/dial.hpp"
#include "net/workers.hpp"

#include <cstddef>
#include <deque>
#include <memory>

namespace patchbay::net {

class Task;

class DialersOwner {
public:
    // Inside a turn. Null: there is no connection, for the trouble; nothing of the task was sent.
    virtual void dialed(const std::shared_ptr<Task>& task, Dialed* dialed, Trouble trouble) = 0;

protected:
    ~DialersOwner() = default;
};

class Dialers {
public:
    static constexpr std::size_t kMost = 32;

    Dialers(transport::ChannelCore& core, Workers& pool, const Endpoint& endpoint,
            DialersOwner& owner)
        : core_(core), pool_(pool), endpoint_(endpoint), owner_(owner) {}

    // `url` and `fuse` are the task's.
    void add(std::shared_ptr<Task> task, const Url& url, Fuse& fuse);

private:
    struct Job {
        std::shared_ptr<Task> task;
        const Url* url;
        Fuse* fuse;
    };
    void hire();
    void work();
    void connect(const Job& job);

    transport::ChannelCore& core_;
    Workers& pool_;
    const Endpoint& endpoint_;
    DialersOwner& owner_;
    std::deque<Job> waiting_;
    std::size_t workers_ = 0;
};

}  // namespace patchbay::net
