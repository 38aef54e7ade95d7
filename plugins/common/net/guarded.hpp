// The edge of the core, with our words for what Poco throws.
//
// Threads: inside a turn. Errors: what `work` throws ends the channel of the core.
#pragma once

#include "channel_core.hpp"
#include "net/trouble_of.hpp"

#include <utility>

namespace patchbay::net {

template <class Work>
void guarded(transport::ChannelCore& core, Work work) noexcept {
    core.contain("an exchange", [&work] {
        const auto trouble = trouble_of(std::move(work));
        if (trouble.code != PATCHBAY_OK) throw trouble;
    });
}

}  // namespace patchbay::net
