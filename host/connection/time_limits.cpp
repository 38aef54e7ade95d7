#include "connection/time_limits.hpp"

#include "core/text.hpp"

namespace patchbay::connection {

namespace {

core::Clock::time_point after(core::Clock::time_point begun, std::chrono::milliseconds span) {
    return span > std::chrono::hours(24 * 365) ? core::Clock::time_point::max() : begun + span;
}

// A stream lasts as long as somebody listens.
bool lasts(std::string_view method) {
    return method == "subscriptions/listen";
}

// What is answered when a tool has done its work, or never, may be silent meanwhile.
bool may_be_silent(std::string_view method) {
    return method == "tools/call" || method == "tasks/result" || lasts(method);
}

}  // namespace

// request_timeout_ms is how long a request may go without its answer or progress on it, unless it may be
// silent; tool_timeout_sec is the wall clock of all of them that have an end.
void set_limits(PendingRequest& entry, const config::Server& server, core::Clock::time_point now) {
    const auto& asked = entry.request;
    const bool limited = asked.timeout.count() > 0;
    entry.wall = limited               ? asked.timeout
                 : lasts(asked.method) ? std::chrono::milliseconds::max()
                                       : server.tool_timeout;
    if (!limited && !may_be_silent(asked.method)) entry.idle = server.request_timeout;
    entry.deadline = after(asked.begun.value_or(now), entry.wall);
}

Error too_late(const PendingRequest& entry, const config::Server& server, State state,
               const Starting* starting) {
    const auto& asked = entry.request;
    const bool limited = asked.timeout.count() > 0;
    const bool idle = entry.idle_deadline < entry.deadline;
    const char* limit = limited ? (entry.own() ? "time-out" : "the time-out given")
                        : idle  ? server.request_timeout_from
                                : server.tool_timeout_from;
    if (entry.stage == Stage::Asking)
        return {ErrorCode::Timeout,
                asked.method + " waits for the input that its server wants; " +
                    (limited ? core::duration(entry.wall) + " (" + limit + ") have passed"
                             : "nobody gave it within " + core::duration(core::kInputWait))};
    return {ErrorCode::Timeout,
            asked.method + (entry.may_have_run() ? " was not answered" : " was not sent") +
                " within " + core::duration(idle ? entry.idle : entry.wall) + " (" + limit +
                "); the server is " + (starting ? to_string(*starting) : name_of(state))};
}

std::string no_calls(unsigned late) {
    if (late < kLateCalls) return {};
    return "the server answers no calls: " + std::to_string(late) +
           " in a row were not answered in time";
}

}  // namespace patchbay::connection
