#include "core/worker.hpp"

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
        jobs_.push_back(std::move(job));
        short_of_hands = jobs_.size() > idle_;
    }
    if (short_of_hands && threads_.size() < most_threads_)
        threads_.emplace_back([this] { serve(); });
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
