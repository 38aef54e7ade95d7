// Work that waits for something other than a peer (a program, a disk, a keyring), done away from
// the loop, so that one server's slow secret delays no other server's call.
//
// Owns:    its threads, from the first run() to the destructor, and the work that is queued.
// Threads: run() and the destructor on the loop; `work` on a thread of the worker; `then` on the loop,
//          never from inside run(), and not at all once the worker is gone.
// Errors:  what `work` returns; an exception that escapes it is ErrorCode::Internal, and counted. run() throws
//          std::system_error where there is no thread to be had for the first work, which is forgotten then.
// Limits:  `most_threads` at once, in the order of run(). The queue is as long as its callers let it
//          grow: one entry for each connection attempt, or for each request of an auth plugin.
#pragma once

#include "core/escapes.hpp"
#include "core/loop.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace patchbay::core {

class Worker {
public:
    Worker(Loop& loop, unsigned most_threads);
    // Asks what runs to stop and waits for all of it, what is queued too: a record that was to be
    // written is written. Work that may take long watches its token.
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    // `work(std::stop_token)` returns a Result, which `then` gets.
    template <class Work, class Then>
    void run(Work work, Then then) {
        using Outcome = std::invoke_result_t<Work, std::stop_token>;
        // `then` travels: what it captures belongs to the loop and must not end on this thread.
        push([&loop = loop_, alive = std::weak_ptr<bool>(alive_), work = std::move(work),
              then = std::move(then)](const std::stop_token& stop) mutable {
            auto outcome = std::make_shared<Outcome>(guarded<Outcome>(work, stop));
            loop.post([alive = std::move(alive), then = std::move(then), outcome]() mutable {
                if (alive.lock()) then(std::move(*outcome));
            });
        });
    }

private:
    using Job = std::function<void(const std::stop_token&)>;

    template <class Outcome, class Work>
    static Outcome guarded(Work& work, const std::stop_token& stop) {
        try {
            return work(stop);
        } catch (const std::exception& escaped) {
            note_escape("a worker");
            return Error{ErrorCode::Internal, std::string("unexpected: ") + escaped.what()};
        } catch (...) {
            note_escape("a worker");
            return Error{ErrorCode::Internal, "unexpected: no std::exception"};
        }
    }
    void push(Job job);
    void serve();

    Loop& loop_;
    const unsigned most_threads_;
    // Given up on the loop's thread only, which is where the posted outcomes look at it.
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    std::stop_source stop_;
    std::vector<std::thread> threads_;

    std::mutex mutex_;  // guards what follows
    std::condition_variable more_;
    std::deque<Job> jobs_;
    unsigned idle_ = 0;
    bool ending_ = false;
};

}  // namespace patchbay::core
