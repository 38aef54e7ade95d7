#include "connection/notifications.hpp"

#include "core/json_beside.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/log_levels.hpp"

#include <boost/json.hpp>

#include <set>

namespace patchbay::connection {

namespace {

constexpr const char* kMessage = "notifications/message";
constexpr const char* kSubscriptionId = "io.modelcontextprotocol/subscriptionId";

bool is_changed_list(std::string_view method) {
    return method == "notifications/tools/list_changed" ||
           method == "notifications/prompts/list_changed" ||
           method == "notifications/resources/list_changed";
}

}  // namespace

// The caller that listens for itself by that request; what the connection listens for is everybody's.
Caller* Notifications::listener(RequestId exchange) const {
    auto* caller = parts_.addressees.of_exchange(exchange);
    return caller && parts_.link.modern() ? caller : nullptr;
}

void Notifications::pass_on(const std::string& method, std::string_view params,
                            plugin::ExchangeId exchange) {
    const auto object = core::read_json_object(params, {.depth = limits_.json_depth});
    const auto* members = object ? &*object : nullptr;
    // Over one stream for all, a modern server names the request that listens.
    const auto subscription =
        core::integer_in(core::object_in(members, "_meta"), kSubscriptionId).value_or(0);
    const auto named = exchange           ? static_cast<RequestId>(exchange)
                       : subscription > 0 ? static_cast<RequestId>(subscription)
                                          : RequestId(0);

    // Of the request by which the connection listens for all: a caller who waits for the word about its
    // own would take it for that.
    if (method == "notifications/subscriptions/acknowledged" && named &&
        !parts_.addressees.of_exchange(named))
        return tell(nullptr, method, params);
    if (is_changed_list(method)) {
        if (auto* caller = listener(named)) return tell(caller, method, params, named);
        return tell(parts_.audience.numbers(), method, params);
    }
    if (method == "notifications/resources/updated") {
        if (auto* caller = listener(named)) return tell(caller, method, params, named);
        const auto uri = core::text_in(members, "uri").value_or("");
        if (const auto holders = parts_.wishes.holders_of(uri); !holders.empty())
            return tell(holders, method, params);
    }
    if (method == kMessage)
        return pass_on_logged(core::text_in(members, "level").value_or(""), params, named);
    if (auto* caller = parts_.addressees.of_exchange(named))
        return tell(caller, method, params, named);
    tell(parts_.addressees.only_user(), method, params);
}

// A legacy server logs for all as much as the one wants who wants most, also on the stream of another's
// request.
void Notifications::pass_on_logged(std::string_view level, std::string_view params,
                                   RequestId exchange) const {
    const auto severity = protocol::log_severity(level).value_or(protocol::kLogLevels.size());
    if (const auto* request = parts_.addressees.request_of(exchange)) {
        const auto least = parts_.wishes.least_severity(request->caller, request->request);
        if (least && severity < *least) return;
        return tell(parts_.addressees.of_exchange(exchange), kMessage, params, exchange);
    }
    if (exchange == 0 && parts_.link.modern() && tell_requesters(severity, params)) return;
    if (parts_.wishes.any_level()) return tell(parts_.wishes.admitting(level), kMessage, params);
    // Nobody has asked a legacy server for less than it likes to say.
    if (parts_.link.legacy()) return tell(parts_.audience.numbers(), kMessage, params);
    tell(parts_.addressees.only_user(), kMessage, params);
}

// A modern server logs for a request that asks for it, and over one stream for all it does not say for
// which. Where it may be for requests of several callers, those hear of it who want to hear of all that
// is logged; a caller that asks for what is logged for its own request is shown no other's, nor is what
// may be its own shown to others. False: no request that the server has asks for it.
bool Notifications::tell_requesters(std::size_t severity, std::string_view params) const {
    std::set<CallerNumber> callers;
    const PendingRequest* only = nullptr;
    bool of_own_level = false;
    std::size_t requests = 0;
    for (const auto* request : parts_.addressees.sent()) {
        const auto least = parts_.wishes.least_severity(request->caller, request->request);
        if (!least || severity < *least) continue;
        callers.insert(request->caller);
        only = request;
        of_own_level = of_own_level || !request->request.log_level.empty();
        ++requests;
    }
    if (callers.empty()) return false;
    if (callers.size() == 1)
        tell(parts_.audience.find(*callers.begin()), kMessage, params,
             requests == 1 ? only->wire_id : 0);
    else if (of_own_level)
        tell(nullptr, kMessage, params);
    else
        tell({callers.begin(), callers.end()}, kMessage, params);
    return true;
}

void Notifications::tell(Caller* caller, const std::string& method, std::string_view params,
                         RequestId exchange) const {
    const auto about = parts_.addressees.reference_of(exchange);
    if (caller) return caller->notify(parts_.name.id(), method, params, about);
    core::log::debug(parts_.name.before(core::printable(method, 100) + " is for nobody here"));
}

// Whoever hears of it may end others, and come back here.
void Notifications::tell(const std::vector<CallerNumber>& callers, const std::string& method,
                         std::string_view params) const {
    const std::string server = parts_.name.id();
    const auto& there = parts_.audience;
    for (const auto number : callers)
        if (auto* caller = there.find(number)) caller->notify(server, method, params, 0);
}

}  // namespace patchbay::connection
