#include "write_queue.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::transport {

bool WriteQueue::push(std::uint64_t exchange, sdk::Body body) {
    waiting_ += body.size() + 1;
    queue_.push_back({exchange, std::move(body)});
    if (waiting_ - left_ >= kHighMark) paused_ = true;
    return paused_;
}

int WriteQueue::vectors(iovec (&out)[kMostVectors]) const {
    static char newline[] = "\n";
    int count = 0;
    std::size_t skip = left_;
    for (const auto& queued : queue_) {
        if (count == kMostVectors) break;
        const auto text = queued.body.view().substr(std::min(skip, queued.body.size()));
        skip = 0;
        if (!text.empty()) out[count++] = {const_cast<char*>(text.data()), text.size()};
        if (count < kMostVectors) out[count++] = {newline, 1};
    }
    return count;
}

bool WriteQueue::take_relief() {
    return waiting_ - left_ < kLowMark && std::exchange(paused_, false);
}

bool WriteQueue::cancel(std::uint64_t exchange) {
    const auto first =
        queue_.begin() + (left_ > 0 ? 1 : 0);  // what has begun to leave leaves whole
    const auto found = std::find_if(
        first, queue_.end(), [&](const Queued& queued) { return queued.exchange == exchange; });
    if (found == queue_.end()) return false;
    waiting_ -= found->body.size() + 1;
    queue_.erase(found);
    return true;
}

}  // namespace patchbay::transport
