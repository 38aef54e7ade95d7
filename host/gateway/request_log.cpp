#include "gateway/request_log.hpp"

#include "core/log.hpp"
#include "core/text.hpp"

namespace patchbay::gateway {

namespace {

constexpr std::size_t kMethodBytes = 128;

std::string named(const core::Principal& who, std::string_view method) {
    return core::to_string(who) + ": " + core::printable(method, kMethodBytes) + ": ";
}

}  // namespace

void log_own_answer(const core::Principal& who, const ClientRequest& request,
                    const Outcome& outcome, core::Clock::time_point now) {
    if (!core::log::enabled(core::log::Level::Debug)) return;
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(now - request.begun);
    core::log::debug(named(who, request.method) + (outcome.error ? "error" : "ok") + " after " +
                     core::duration(took) + ", " +
                     std::to_string(outcome.begin.size() + outcome.rest.size()) +
                     " bytes, of the gateway");
}

void log_answered_at_once(const core::Principal& who, std::string_view method,
                          const Answer& answer) {
    if (!core::log::enabled(core::log::Level::Debug)) return;
    core::log::debug(named(who, method) + (answer.error ? "error" : "ok") + " at once, " +
                     std::to_string(answer.message.size()) + " bytes, of the gateway");
}

void log_notification(const core::Principal& who, std::string_view method) {
    if (core::log::enabled(core::log::Level::Debug)) core::log::debug(named(who, method) + "taken");
}

}  // namespace patchbay::gateway
