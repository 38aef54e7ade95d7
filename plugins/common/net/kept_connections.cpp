#include "net/kept_connections.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::net {

Clock::duration KeptConnections::idle_limit(std::optional<std::chrono::seconds> said,
                                            std::chrono::seconds most) {
    constexpr std::chrono::hours kFar(1'000);
    if (!said || *said > kFar) return most;
    return std::min<Clock::duration>(std::chrono::milliseconds(*said) * 3 / 4, most);
}

LinePtr KeptConnections::keep(LinePtr line, std::uint64_t unproven, Clock::time_point now) {
    line->task = nullptr;
    line->idle_since = now;
    line->unproven = unproven;
    lines_.push_back(std::move(line));
    return lines_.size() > kMost ? give_up(*lines_.front()) : nullptr;
}

// The watch tells when the server has ended one or says something unasked, so what is to be found out
// here is what came since the loop looked: it would be taken for the answer. Behind one whose answer
// was not its own every answer would be the one before.
LinePtr KeptConnections::take(const Url& url, Clock::time_point now) {
    for (auto at = lines_.rbegin(); at != lines_.rend(); ++at) {
        auto& line = **at;
        if (line.ended || !line.connection.serves(url)) continue;
        const auto idle = now - line.idle_since;
        if (line.unproven != 0 && idle < kUnprovenLimit) continue;
        if (line.unproven == 0 && idle < line.idle_limit && line.connection.fresh()) {
            auto found = std::move(*at);
            lines_.erase(std::next(at).base());
            return found;
        }
        line.ended = true;
        line.connection.end();
    }
    return nullptr;
}

LinePtr KeptConnections::take(std::uint64_t unproven) {
    const auto found = std::find_if(lines_.begin(), lines_.end(), [&](const LinePtr& each) {
        return each->unproven == unproven;
    });
    return found == lines_.end() ? nullptr : give_up(**found);
}

void KeptConnections::vouch(std::uint64_t unproven) {
    for (auto& line : lines_)
        if (line->unproven == unproven) line->unproven = 0;
}

LinePtr KeptConnections::give_up(Line& line) {
    const auto found = std::find_if(lines_.begin(), lines_.end(),
                                    [&](const LinePtr& each) { return each.get() == &line; });
    auto given = std::move(*found);
    lines_.erase(found);
    return given;
}

std::vector<LinePtr> KeptConnections::give_up_all() {
    return std::exchange(lines_, {});
}

}  // namespace patchbay::net
