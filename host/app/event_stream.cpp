#include "app/event_stream.hpp"

#include <algorithm>

namespace patchbay::app {

void EventStream::tell_kept(const events::EventLog& log, std::optional<std::int64_t> after) const {
    const auto& kept = log.kept();
    auto behind = after ? static_cast<std::uint64_t>(std::max<std::int64_t>(*after, 0)) : 0;
    if (behind > log.last()) {
        handler.anew(log.last());
        behind = 0;
    }
    const auto first = kept.empty() ? log.last() + 1 : kept.front().number;
    if (after && first > behind + 1) handler.lost(first - behind - 1);
    for (const auto& event : kept)
        if (event.number > behind && is_meant(event)) handler.kept(event.text);
}

void EventStream::tell(const events::Event& event) const {
    if (is_meant(event)) handler.event(event.text);
}

std::string last_event_text(const events::EventLog& log) {
    return "{\"last\":" + std::to_string(log.last()) + "}";
}

}  // namespace patchbay::app
