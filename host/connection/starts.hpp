// How the starts of one definition have gone, over all of its connections: what fails to start for
// one caller fails for the others who wanted it meanwhile, and is not started for each of them to
// find that out. Until a start has gone well, and again once one has failed, there is one at a time.
//
// Threads: [loop].
#pragma once

#include "connection/supervisor.hpp"
#include "core/loop.hpp"
#include "core/result.hpp"

#include <chrono>
#include <cstddef>
#include <utility>

namespace patchbay::connection {

struct Starts {
    struct Failure {
        Error why;
        Supervisor::Retry retry = Supervisor::Retry::Worthwhile;
        core::Clock::time_point at{};
    };

    bool well = false;          // the last one; false as well: there was none
    std::size_t under_way = 0;  // places that its connections have in the StartQueue
    unsigned failed = 0;        // so far
    Failure last;               // where any has

    void fail(Failure failure) {
        well = false;
        ++failed;
        last = std::move(failure);
    }
    bool failed_within(std::chrono::milliseconds span, core::Clock::time_point now) const {
        return !well && failed > 0 && now - last.at < span;
    }
};

}  // namespace patchbay::connection
