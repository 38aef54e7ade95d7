#include "gateway/listeners.hpp"

#include "core/json.hpp"
#include "protocol/compose.hpp"

namespace patchbay::gateway {
namespace json = boost::json;

namespace {

constexpr const char* kLeftOut = "dev.patchbay/leftOut";

}  // namespace

bool Listener::wants(std::string_view method, const std::string& uri) const {
    if (method == "notifications/tools/list_changed") return tools;
    if (method == "notifications/prompts/list_changed") return prompts;
    if (method == "notifications/resources/list_changed") return resources;
    return method == "notifications/resources/updated" && uris.contains(uri);
}

std::string Listener::meta() const {
    return "\"io.modelcontextprotocol/subscriptionId\":" + id;
}

std::string Listener::message(std::string_view method, std::string_view members) const {
    return protocol::notification(method, members, meta());
}

std::string Listener::last_result() const {
    return "{\"_meta\":{" + meta() + "}}";
}

std::string Listener::cancellation(std::string_view reason) const {
    return message("notifications/cancelled",
                   "\"requestId\":" + id + ",\"reason\":" + protocol::quoted(reason));
}

// The filter alone says that something is missing, not why; a log message must not go by this stream.
std::string Listener::acknowledgment() const {
    auto meta = this->meta();
    std::string reasons;
    for (const auto& [uri, why] : left_out)
        protocol::append_member(reasons, uri, protocol::quoted(why));
    if (!reasons.empty()) protocol::append_member(meta, kLeftOut, "{" + reasons + "}");
    return protocol::notification("notifications/subscriptions/acknowledged",
                                  "\"notifications\":" + json::serialize(filter()), meta);
}

json::object Listener::filter() const {
    json::object filter;
    if (tools) filter["toolsListChanged"] = true;
    if (prompts) filter["promptsListChanged"] = true;
    if (resources) filter["resourcesListChanged"] = true;
    if (!uris.empty()) filter["resourceSubscriptions"] = json::array(uris.begin(), uris.end());
    if (!tasks.empty()) filter["taskIds"] = json::array(tasks.begin(), tasks.end());
    return filter;
}

Result<Listener> Listeners::read(const std::string& id, const json::object& params) {
    const auto* filter = core::object_in(&params, "notifications");
    if (!filter)
        return Error{ErrorCode::Invalid, "subscriptions/listen needs \"notifications\", an object"};
    const auto flag = [&](std::string_view key) {
        return core::flag_in(filter, key).value_or(false);
    };
    Listener listener{id, flag("toolsListChanged"), flag("promptsListChanged"),
                      flag("resourcesListChanged")};
    const auto take = [&](const char* key, const char* what, std::size_t most,
                          std::set<std::string>& names) -> Result<void> {
        const auto* given = core::array_in(filter, key);
        if (!given) return {};
        if (given->size() > most)
            return Error{ErrorCode::Invalid,
                         std::string(key) + " names " + std::to_string(given->size()) + " " + what +
                             "; at most " + std::to_string(most) + " for one stream"};
        for (const auto& each : *given)
            if (const auto text = core::text_of(each)) names.emplace(*text);
        return {};
    };
    if (auto taken = take("resourceSubscriptions", "resources", kMostUris, listener.uris); !taken)
        return taken.error();
    if (auto taken = take("taskIds", "tasks", kMostTasks, listener.tasks); !taken)
        return taken.error();
    return listener;
}

std::vector<std::string> Listeners::remove(RequestNumber request) {
    const auto gone = streams_.extract(request);
    if (!gone) return {};
    std::vector<std::string> unwanted;
    for (const auto& uri : gone.mapped().uris) {
        bool wanted = false;
        for (const auto& [number, other] : streams_) wanted = wanted || other.uris.contains(uri);
        if (!wanted) unwanted.push_back(uri);
    }
    return unwanted;
}

}  // namespace patchbay::gateway
