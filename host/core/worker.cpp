#include "core/worker.hpp"

#include <system_error>

namespace patchbay::core {

Worker::Worker(Loop& loop, unsigned most_threads) : loop_(loop), most_threads_(most_threads) {}

Worker::~Worker() {
    alive_.reset();
    stop_.request_stop();
    {
        const std::scoped_lock lock(mutex_);
        ending_ = true;
    }
    more_.notify_all();
    for (auto& thread : threads_) thread.join();
}

void Worker::push(Job job) {
    bool short_of_hands = false;
    {
        const std::scoped_lock lock(mutex_);
        short_of_hands = jobs_.size() >= idle_;
    }
    // Ahead of the job: where there is no thread to be had it is not queued, and whoever asked is told.
    if (short_of_hands && threads_.size() < most_threads_) {
        try {
            threads_.emplace_back([this] { serve(); });
        } catch (const std::system_error&) {
            if (threads_.empty()) throw;
        }
    }
    {
        const std::scoped_lock lock(mutex_);
        jobs_.push_back(std::move(job));
    }
    more_.notify_one();
}

void Worker::serve() {
    const auto stop = stop_.get_token();
    for (;;) {
        Job next;
        {
            std::unique_lock lock(mutex_);
            ++idle_;
            more_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
            --idle_;
            if (jobs_.empty()) return;
            next = std::move(jobs_.front());
            jobs_.pop_front();
        }
        next(stop);
    }
}

}  // namespace patchbay::core
