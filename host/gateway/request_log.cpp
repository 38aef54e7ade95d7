#include "gateway/request_log.hpp"

#include "core/log.hpp"
#include "core/text.hpp"

namespace patchbay::gateway {

void log_own_answer(const core::Principal& who, const ClientRequest& request,
                    const Outcome& outcome, core::Clock::time_point now) {
    if (!core::log::enabled(core::log::Level::Debug)) return;
    constexpr std::size_t kMethodBytes = 128;
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(now - request.begun);
    core::log::debug(core::to_string(who) + ": " + core::printable(request.method, kMethodBytes) +
                     ": " + (outcome.error ? "error" : "ok") + " after " + core::duration(took) +
                     ", " + std::to_string(outcome.begin.size() + outcome.rest.size()) +
                     " bytes, of the gateway");
}

}  // namespace patchbay::gateway
