// A channel that takes what it is given and says nothing, for tests of a part that only sends.
#pragma once

#include "plugin/channel.hpp"

#include <vector>

namespace patchbay::test {

class SilentChannel : public plugin::Channel {
public:
    patchbay::Result<plugin::Flow> send(plugin::OutgoingMessage) override {
        return plugin::Flow::Ready;
    }
    void cancel(plugin::ExchangeId) override {}
    void pause() override {}
    void resume() override {}
    void unfold(std::vector<core::Buffer>) override {}
    void settle(plugin::ExchangeId) override {}
    void set_credentials(const std::vector<plugin::Header>&) override {}
    void close() override {}
    bool request_scoped() const override { return false; }
    bool takes_headers() const override { return false; }
};

}  // namespace patchbay::test
