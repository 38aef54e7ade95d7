#include "channel_core.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::transport {

ChannelCore::ChannelCore(const patchbay_open_params& params, Owner* owner)
    : host_(params.host),
      reactor_(sdk::extension<patchbay_host_reactor>(params.host, PATCHBAY_HOST_REACTOR)),
      clock_(sdk::extension<patchbay_host_clock>(params.host, PATCHBAY_HOST_CLOCK)),
      sink_(params),
      message_bytes_(sdk::message_bytes(&params)),
      owner_(owner),
      is_channel_(params.sink != nullptr) {
    if (!reactor_)
        throw sdk::Failure(PATCHBAY_E_UNSUPPORTED, "the host offers no " PATCHBAY_HOST_REACTOR);
    if (!clock_)
        throw sdk::Failure(PATCHBAY_E_UNSUPPORTED, "the host offers no " PATCHBAY_HOST_CLOCK);
}

ChannelCore::ChannelCore(const patchbay_host* host, Owner* owner)
    : ChannelCore(
          [host] {
              patchbay_open_params params{};
              params.struct_size = sizeof params;
              params.host = host;
              return params;
          }(),
          owner) {}

bool ChannelCore::watch(int fd, std::uint32_t events, void* ctx, Ready ready, patchbay_op& op) {
    if (reactor_->watch(host_, fd, events, ctx, ready, &op) < 0) return false;
    departed();
    return true;
}

bool ChannelCore::after(std::chrono::nanoseconds delay, void* ctx, Fired fired, patchbay_op& op) {
    const auto wait = std::max(delay, std::chrono::nanoseconds::zero()).count();
    if (reactor_->after(host_, static_cast<std::uint64_t>(wait), ctx, fired, &op) < 0) return false;
    departed();
    return true;
}

void ChannelCore::end(patchbay_op& op) {
    if (op == 0) return;
    reactor_->cancel(host_, std::exchange(op, 0));
    arrived();
}

bool ChannelCore::post(void* ctx, Posted fn) {
    if (reactor_->post(host_, ctx, fn) < 0) return false;
    departed();
    return true;
}

void ChannelCore::finish(patchbay_status code, std::string text, std::uint32_t flags) {
    if (std::exchange(over_, true)) return;
    code_ = code;
    text_ = std::move(text);
    flags_ = flags;
}

void ChannelCore::finish(std::function<void(const sdk::Sink&)> tell) {
    if (std::exchange(over_, true)) return;
    tell_ = std::move(tell);
}

void ChannelCore::broke(const char* what) noexcept {
    const auto why = note_escape(host_, what);
    if (owner_) edge(host_, "the end of a broken channel", [&] { owner_->broken(why); });
    // The last resort, and no news where the owner has come so far.
    if (is_channel_) finish(PATCHBAY_E_INTERNAL, {});
}

void ChannelCore::leave(std::unique_lock<std::mutex>& lock) noexcept {
    if (!over_ || open_ > 0 || std::exchange(told_, true)) {
        if (afterwards_.empty()) return lock.unlock();
        const auto work = std::exchange(afterwards_, {});
        const auto* const host = host_;
        lock.unlock();
        for (const auto& each : work) edge(host, "what follows a turn", each);
        return;
    }
    const auto* const host = host_;
    const auto sink = sink_;
    const auto code = code_;
    const auto flags = flags_;
    const auto text = std::move(text_);
    const auto tell = std::move(tell_);
    lock.unlock();
    // From here on this object may be gone.
    if (tell) {
        if (!edge(host, "the end of a channel", [&] { tell(sink); }))
            sink.closed(PATCHBAY_E_INTERNAL, {});
    } else if (code == PATCHBAY_OK) {
        sink.closed();
    } else {
        sink.closed(code, text, flags);
    }
}

}  // namespace patchbay::transport
