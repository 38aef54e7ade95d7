#include "gateway/client_events.hpp"

#include "core/json_beside.hpp"
#include "protocol/compose.hpp"
#include "protocol/log_levels.hpp"

#include <utility>

namespace patchbay::gateway {

namespace {

constexpr const char* kToolsChanged = "notifications/tools/list_changed";
constexpr const char* kUpdated = "notifications/resources/updated";

// And not what clients say, or nobody.
bool is_said_by_servers(std::string_view method) {
    return method.starts_with("notifications/") && method != "notifications/initialized" &&
           method != "notifications/roots/list_changed";
}

std::string inside(std::string_view params) {
    auto split = protocol::split_params(params.empty() ? "{}" : params);
    if (!split) return {};
    if (!split->meta.empty())
        protocol::append_member(split->members, "_meta", "{" + split->meta + "}");
    return std::move(split->members);
}

}  // namespace

ClientEvents::ClientEvents(connection::ConnectionPool& pool, catalogue::Catalogue& catalogue,
                           router::Router& router, const View& view, ClientRequests& requests,
                           const Offered& offered, Outward& out)
    : pool_(pool),
      catalogue_(catalogue),
      router_(router),
      view_(view),
      requests_(requests),
      offered_(offered),
      out_(out),
      pause_(pool.loop()) {
    catalogue_.watch(*this);
    router_.watch(*this);
}

ClientEvents::~ClientEvents() {
    router_.unwatch(*this);
    catalogue_.unwatch(*this);
}

// What is shown in the place of what is blocked, and of what is approved, is in the same list.
void ClientEvents::on_approved_otherwise(const std::string& server,
                                         const std::set<pins::Part>& parts) {
    if (!view_.holds(server)) return;
    if (parts.contains(pins::Part::Tools)) approved_otherwise_ = true;
    if (parts.contains(pins::Part::Prompts)) due_.insert("prompts");
    if (parts.contains(pins::Part::Templates)) due_.insert("resources");
    tell_later();
}

// Many servers may list theirs at about the same time.
void ClientEvents::tell_later() {
    if (!pause_.running()) pause_.start(kPause, [this] { tell_lists(); });
}

void ClientEvents::tell_lists() {
    for (const auto capability : std::exchange(due_, {})) tell_changed({}, capability);
    const bool otherwise = std::exchange(approved_otherwise_, false);
    if (!listed_) return;
    auto now = shown();
    if (now == *listed_ && !otherwise) return;
    listed_ = std::move(now);
    tell({}, kToolsChanged, {});
}

// A listing never changes, so that two of them are one, or may differ.
ClientEvents::Shown ClientEvents::shown() const {
    Shown all;
    for (const auto& [server, listing] : catalogue_.listings())
        if (view_.holds(server)) all.push_back(listing);
    return all;
}

void ClientEvents::on_shown_otherwise() {
    if (listed_) listed_ = shown();
    tell({}, kToolsChanged, {});
    for (const auto* capability : {"resources", "prompts"}) tell_changed({}, capability);
}

void ClientEvents::tell_changed(const std::string& server, std::string_view capability) {
    tell(server, "notifications/" + std::string(capability) + "/list_changed", {});
}

void ClientEvents::notify(const std::string& server, const std::string& method,
                          std::string_view params, RequestNumber about) {
    // Of tools the list itself says so, once we have it.
    if (method == kToolsChanged) return;
    if (!is_said_by_servers(method)) return;
    if (method == "notifications/message") return tell_logged(server, params, about);
    // Of resources and prompts whoever is shown some tools of a server alone is shown none.
    if (!view_.holds(server, "mcp__" + server + "__")) return;
    const auto object = core::read_json_object(params.empty() ? "{}" : params);
    if (method != kUpdated || !object) return tell(server, method, inside(params));
    const auto uri = std::string(core::text_in(&*object, "uri").value_or(""));
    const auto known_as = offered_.uri_for_client(server, uri);
    std::string members;
    protocol::each_member(params, [&](std::string_view key, std::string_view value) {
        const bool stream = key == "_meta";  // names a stream of ours, where it is there
        if (!stream)
            protocol::append_member(members, key,
                                    key == "uri" ? protocol::quoted(known_as) : std::string(value));
        return true;
    });
    tell(server, method, members, known_as);
}

void ClientEvents::tell(const std::string& from, const std::string& method,
                        std::string_view members, const std::string& uri) {
    if (initialized_) out_.send_event(from, protocol::notification(method, members), 0);
    for (const auto& [request, listener] : listeners_.all())
        if (listener.acknowledged && listener.wants(method, uri))
            out_.send_event(from, listener.message(method, members),
                            requests_.find(request)->route);
}

// A client may be a gateway itself, and take what comes by a request for a matter of whoever asked that.
Route ClientEvents::route_to(const std::string& server) const {
    const auto ids = pool_.ids();
    Route oldest = 0;
    for (const auto number : requests_.numbers()) {
        const auto* request = requests_.find(number);
        if (request->modern() || !request->may_be_at(server, ids)) continue;
        if (oldest != 0 && request->route != oldest && out_.listens()) return 0;
        if (oldest == 0) oldest = request->route;
    }
    return oldest;
}

// A client of the modern era hears of what a server logs only while it has asked for that level. Where
// nobody knows which of several requests it is about, it is told to none, unless they came by one way.
void ClientEvents::tell_logged(const std::string& server, std::string_view params,
                               RequestNumber about) {
    const auto tell_by = [&](Route route) {
        out_.send_event(server, protocol::notification("notifications/message", inside(params)),
                        route);
    };
    const auto* meant = requests_.find(about);
    if (initialized_) return tell_by(meant ? meant->route : route_to(server));
    const auto object = core::read_json_object(params);
    const auto level = object ? core::text_in(&*object, "level") : std::nullopt;
    const auto severity = level ? protocol::log_severity(*level) : std::nullopt;
    std::set<Route> routes;
    const auto ids = pool_.ids();
    for (const auto number : requests_.numbers()) {
        const auto* request = requests_.find(number);
        const auto wanted = request->meta.log_severity;
        const bool may_be =
            meant ? request == meant : request->route == 0 || request->may_be_at(server, ids);
        if (wanted && may_be && (!severity || *severity >= *wanted)) routes.insert(request->route);
    }
    if (routes.size() == 1) tell_by(*routes.begin());
}

void ClientEvents::acknowledge(RequestNumber request) {
    auto* listener = listeners_.find(request);
    if (!listener) return;
    listener->acknowledged = true;
    if (!listed_) on_tools_listed();
    out_.say(listener->acknowledgment(), requests_.find(request)->route);
}

}  // namespace patchbay::gateway
