// An auth method that grants whenever it is asked.
#pragma once

#include "core/loop.hpp"
#include "plugin/authenticator.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace patchbay::connection {

class GrantingMethod final : public plugin::Authenticator {
public:
    // `time`: that its person takes.
    GrantingMethod(core::Loop& loop, plugin::AuthenticatorEvents& events, std::string authorization,
                   std::chrono::milliseconds time)
        : loop_(loop), events_(events), authorization_(std::move(authorization)), time_(time) {}
    ~GrantingMethod() override { loop_.cancel(timer_); }
    Result<void> acquire(const plugin::AcquireRequest& request) override {
        timer_ = loop_.after(time_, [this, operation = request.operation] {
            plugin::Grant grant;
            grant.credentials = {{"Authorization", authorization_, true}};
            events_.on_acquired(operation, std::move(grant));
        });
        return {};
    }
    void cancel(plugin::OperationId) override {}
    void forget() override {}
    void close() override {
        loop_.defer([this] { events_.on_authenticator_closed(); });
    }

private:
    core::Loop& loop_;
    plugin::AuthenticatorEvents& events_;
    const std::string authorization_;
    const std::chrono::milliseconds time_;
    core::Loop::TimerId timer_ = 0;
};

}  // namespace patchbay::connection
