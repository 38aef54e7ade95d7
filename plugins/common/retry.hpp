// How long to wait before something is tried again: a first delay that doubles with each failure in
// a row, up to a most; and when to give up.
//
// Threads: [value].
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

namespace patchbay::transport {

class Retry {
public:
    using Delay = std::chrono::milliseconds;
    static constexpr unsigned kForEver = std::numeric_limits<unsigned>::max();

    // `attempts`: in a row, the first one included.
    constexpr Retry(Delay first, Delay most, unsigned attempts = kForEver)
        : first_(first), most_(most), attempts_(attempts), next_(first) {}

    // An attempt failed: how long until the next one. Nothing: that was the last.
    std::optional<Delay> failed() {
        if (++failures_ >= attempts_) return {};
        return std::exchange(next_, std::min(2 * next_, most_));
    }
    void succeeded() {
        failures_ = 0;
        next_ = first_;
    }
    unsigned failures() const { return failures_; }  // in a row

private:
    Delay first_, most_;
    unsigned attempts_, failures_ = 0;
    Delay next_;
};

// For a server that starts, or starts again: nobody listens there yet.
inline constexpr Retry kUntilItListens{Retry::Delay{100}, Retry::Delay{10'000}, 5};

}  // namespace patchbay::transport
