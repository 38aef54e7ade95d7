#include "strand.hpp"

#include <patchbay/cpp/plugin.hpp>

namespace patchbay::oauth {

Strand::Strand(const patchbay_host* host)
    : host_(host), reactor_(sdk::extension<patchbay_host_reactor>(host, PATCHBAY_HOST_REACTOR)) {}

void Strand::post(std::function<void()> work) {
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(work));
        if (std::exchange(scheduled_, true)) return;
    }
    // The reactor may run this after the last authenticator of the strand is gone.
    auto* self = new std::shared_ptr<Strand>(shared_from_this());
    const auto run_once = [](void* ctx) noexcept {
        const std::unique_ptr<std::shared_ptr<Strand>> held(
            static_cast<std::shared_ptr<Strand>*>(ctx));
        (*held)->run();
    };
    // Refused only by a host that is closing: then there is no other thread to keep apart from.
    if (reactor_->post(host_, self, run_once) < 0) run_once(self);
}

void Strand::run() {
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
        work();
    }
}

}  // namespace patchbay::oauth
