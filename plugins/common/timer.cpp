#include "timer.hpp"

namespace patchbay::transport {

bool Timer::start(std::chrono::nanoseconds delay) {
    return core_.after(delay, this, on_fired, op_);
}

void Timer::stop() {
    core_.end(op_);
}

void Timer::on_fired(void* self, patchbay_status status) noexcept {
    if (status != PATCHBAY_OK) return;  // from inside stop(), in a turn
    auto& timer = *static_cast<Timer*>(self);
    timer.core_.enter("a timer", [&timer] {
        timer.op_ = 0;
        timer.core_.arrived();
        const auto fired = timer.fired_;  // it may destroy its timer
        fired();
    });
}

}  // namespace patchbay::transport
