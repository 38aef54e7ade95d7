#include "strand.hpp"

#include "edge.hpp"

namespace patchbay::oauth {

Strand::Strand(const patchbay_host* host)
    : host_(host), reactor_(sdk::extension<patchbay_host_reactor>(host, PATCHBAY_HOST_REACTOR)) {}

void Strand::post(std::function<void()> work) {
    using Held = std::unique_ptr<std::shared_ptr<Strand>>;
    // The reactor may run this after the last authenticator of the strand is gone.
    Held self;
    {
        const std::lock_guard lock(mutex_);
        if (!scheduled_) self = std::make_unique<std::shared_ptr<Strand>>(shared_from_this());
        waiting_.push_back(std::move(work));
        if (std::exchange(scheduled_, true)) return;
    }
    const auto run_once = [](void* ctx) noexcept {
        (*Held(static_cast<std::shared_ptr<Strand>*>(ctx)))->run();
    };
    // Refused only by a host that is closing: then there is no other thread to keep apart from.
    auto* const ctx = self.release();
    if (reactor_->post(host_, ctx, run_once) < 0) run_once(ctx);
}

void Strand::run() noexcept {
    for (;;) {
        std::function<void()> work;
        {
            const std::lock_guard lock(mutex_);
            if (waiting_.empty()) {
                scheduled_ = false;
                return;
            }
            work = std::move(waiting_.front());
            waiting_.pop_front();
        }
        transport::edge(host_, "a step of a sign-in", [&work] {
            work();
            work = nullptr;
        });
    }
}

}  // namespace patchbay::oauth
