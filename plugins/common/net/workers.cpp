#include "net/workers.hpp"

#include "edge.hpp"

#include <signal.h>
#include <utility>

namespace patchbay::net {

void Workers::run(std::function<void()> work) {
    std::unique_lock lock(mutex_);
    join_left();
    waiting_.push_back(std::move(work));
    if (waiting_.size() <= idle_) {
        lock.unlock();
        return more_.notify_one();
    }
    // Threads inherit the mask: block all for the moment of birth.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        threads_.emplace_front();
        threads_.front() = std::thread([this, self = threads_.begin()] { serve(self); });
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        threads_.pop_front();
        if (!threads_.empty()) return;  // one of those will come to it
        waiting_.pop_back();
        throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Workers::serve(std::list<std::thread>::iterator self) {
    std::unique_lock lock(mutex_);
    for (;;) {
        if (waiting_.empty()) {
            ++idle_;
            more_.wait_for(lock, kIdle, [this] { return !waiting_.empty() || stopping_; });
            --idle_;
            if (waiting_.empty()) break;
        }
        auto work = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        // What it captured ends here, without the lock: it may bring more work.
        transport::edge(host_, "a worker", [&work] {
            work();
            work = nullptr;
        });
        lock.lock();
    }
    left_.splice(left_.end(), threads_, self);
    gone_.notify_all();
}

void Workers::stop() {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    more_.notify_all();
    gone_.wait(lock, [this] { return threads_.empty(); });
    join_left();
    stopping_ = false;
}

// They take the mutex no more. Joined, so that what a library keeps for a thread is gone with it.
void Workers::join_left() {
    for (auto& thread : left_) thread.join();
    left_.clear();
}

}  // namespace patchbay::net
