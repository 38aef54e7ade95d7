#include "connection/notifications.hpp"

#include "core/json_beside.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

#include <boost/json.hpp>

namespace patchbay::connection {

namespace {

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
    const auto level = core::text_in(members, "level").value_or("");

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
    if (auto* caller = parts_.addressees.of_exchange(named))
        return tell(caller, method, params, named);
    if (method == "notifications/message") {
        if (parts_.wishes.any_level()) return tell(parts_.wishes.admitting(level), method, params);
        // Nobody has asked a legacy server for less than it likes to say.
        if (parts_.link.legacy()) return tell(parts_.audience.numbers(), method, params);
    }
    tell(parts_.addressees.only_user(), method, params);
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
