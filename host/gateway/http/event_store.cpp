#include "gateway/http/event_store.hpp"

#include <algorithm>

namespace patchbay::gateway {

std::uint64_t first_number(const core::TimeSource& time) {
    const auto since = time.date().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(since).count());
}

std::uint64_t MemoryEvents::append(Route stream, const std::string& message) {
    const auto number = ++numbers_.try_emplace(stream, before_first_).first->second;
    events_.push_back({stream, number, message});
    bytes_ += message.size();
    while (events_.size() > kMostEvents || (bytes_ > kMostBytes && events_.size() > 1)) {
        const auto& oldest = events_.front();
        // Of a stream that was its last, nobody knows any more; the one of the client itself goes on.
        if (oldest.stream != 0 && numbers_[oldest.stream] == oldest.number)
            numbers_.erase(oldest.stream);
        bytes_ -= oldest.message.size();
        events_.pop_front();
    }
    return number;
}

void MemoryEvents::each_behind(Route stream, std::uint64_t number,
                               const std::function<void(std::uint64_t, const std::string&)>& each) {
    for (const auto& event : events_)
        if (event.stream == stream && event.number > number) each(event.number, event.message);
}

bool MemoryEvents::knows(Route stream) const {
    return numbers_.contains(stream);
}

}  // namespace patchbay::gateway
