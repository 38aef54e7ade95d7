// Around every call into a plugin: marks it as the thread's current one, and reports one that held
// up the loop. The budget is 1 ms, more than 50 ms is worth a line with the slot's name. The coarse
// clock costs 5 ns, its 4 ms step does not matter.
#pragma once

#include "core/log.hpp"
#include "plugin/abi.hpp"
#include "plugin/current_call.hpp"

#include <string>
#include <time.h>
#include <utility>

namespace patchbay::plugin {

class SlowCall {
public:
    // `server` may be null. Both texts outlive the call.
    SlowCall(const std::string& plugin, const char* slot, const char* server = nullptr)
        : mark_(plugin.c_str(), slot, server),
          plugin_(plugin),
          slot_(slot),
          server_(server),
          begin_(now_ms()) {}
    SlowCall(const SlowCall&) = delete;
    ~SlowCall() {
        const auto took = now_ms() - begin_;
        if (took > kLimitMs) report(took);
    }

private:
    static constexpr long kLimitMs = 50;

    static long now_ms() {
        timespec now{};
        ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
        return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
    }
    [[gnu::noinline, gnu::cold]] void report(long took) const {
        // No warning: on a loaded machine it happens to every plugin, and a script would see it on
        // the stderr of a call that is in order. One that hangs is the watchdog's affair.
        core::log::info("plugin \"" + plugin_ + "\": " + slot_ +
                        (server_ ? " for server \"" + std::string(server_) + "\"" : "") + " took " +
                        std::to_string(took) + " ms, nothing else ran in that time");
    }

    const CallMark mark_;
    const std::string& plugin_;
    const char* slot_;
    const char* server_;
    long begin_;
};

// A call into a plugin on the loop; false: it threw, told in `thrown`. `server` may be null.
template <class Call>
bool call_plugin(const std::string& plugin, const char* slot, const char* server,
                 std::string& thrown, Call&& call) {
    const SlowCall slow(plugin, slot, server);
    return guarded(thrown, std::forward<Call>(call));
}

}  // namespace patchbay::plugin
