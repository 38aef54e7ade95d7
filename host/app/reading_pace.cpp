#include "app/reading_pace.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::app {

core::Clock::duration ReadingPace::rest() const {
    return std::max(rested_at_ - time_.now(), core::Clock::duration::zero());
}

core::Clock::duration ReadingPace::put_off(Others others) {
    const core::Clock::duration none{};
    if (others == Others::Rest) return none;
    const auto now = time_.now();
    if (!put_off_) put_off_ = now;
    const auto most = others == Others::HaveOneOpen ? kWhileOpen : kAtMost;
    return std::max(*put_off_ + most - now, none);
}

// What was not used of the time before counts for kAtOnce at most: several changes in a row are read as they come.
void ReadingPace::spend_since(core::Clock::time_point begun) {
    const auto worth = std::max<core::Clock::duration>(kPause, kPart * (time_.now() - begun));
    rested_at_ = std::max(rested_at_, begun - kAtOnce) + worth;
}

bool ReadingPace::is_new(const std::string& digest) {
    const auto now = time_.now();
    if (!doubted_) doubted_ = now;
    return std::exchange(doubtful_, digest) != digest && now - *doubted_ < kAtMost;
}

void ReadingPace::believe() {
    is_asked_ = false;
    doubted_.reset();
    doubtful_.clear();
}

}  // namespace patchbay::app
