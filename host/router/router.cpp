#include "router/router.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"
#include "protocol/qualified_name.hpp"
#include "router/flights.hpp"
#include "router/lists.hpp"
#include "router/tool_finder.hpp"

#include <algorithm>

namespace patchbay::router {
namespace json = boost::json;
using connection::Connection;
using connection::ReplyHandler;
using connection::State;

namespace {

constexpr std::string_view kServerNeeds[][2] = {
    {"tools/", "tools"},     {"resources/", "resources"},
    {"prompts/", "prompts"}, {"completion/", "completions"},
    {"logging/", "logging"},
};

// The capability that `method` needs of the server; empty: none.
std::string_view capability_for(std::string_view method) {
    for (const auto& [prefix, capability] : kServerNeeds) {
        if (method.substr(0, prefix.size()) == prefix) return capability;
    }
    return {};
}

// In words, for a reason why not.
std::string_view what_is_asked_for(std::string_view method) {
    const auto capability = capability_for(method);
    return capability.empty() || capability == "logging" ? "requests" : capability;
}

std::string text_member(const json::object& object, std::string_view key) {
    return std::string(core::text_in(&object, key).value_or(""));
}

std::size_t size_of(const Call& call) {
    return call.arguments.size() + call.members.size() + call.meta.size();
}

std::size_t size_of(const protocol::Params& params) {
    return params.members.size() + params.meta.size();
}

// Checked here, for in the modern era no server answers: it would be said with every later request.
std::string wrong_level(const std::string& level) {
    static const std::vector<std::string> kLevels = {"debug", "info",     "notice", "warning",
                                                     "error", "critical", "alert",  "emergency"};
    if (std::find(kLevels.begin(), kLevels.end(), level) != kLevels.end()) return {};
    return "unknown log level \"" + core::printable(level, 80) + "\"" +
           core::did_you_mean(level, kLevels) + "; known: " + core::join(kLevels, ", ");
}

}  // namespace

struct Router::Impl {
    using Entry = ToolIndex::Entry;

    Impl(connection::ConnectionManager& manager, const policy::Policy& rules,
         const catalogue::Catalogue& catalogue)
        : connections(manager),
          policy(rules),
          finder(manager, rules, catalogue),
          flights(manager) {}

    // Where that tool can be called at once; null: nowhere.
    Connection* ready_owner(const Entry* entry) {
        if (!entry) return nullptr;
        const auto owner = connections.find(entry->server);
        return owner && owner->get().state() == State::Ready ? &owner->get() : nullptr;
    }

    void send_call(CallId id, const Entry& entry, Call& call) {
        const auto owner = connections.find(entry.server);
        if (!owner) return flights.end_soon(id, owner.error());
        send_call(id, entry, *owner, call);
    }

    // Judged here, by the rules that hold when it is sent.
    void send_call(CallId id, const Entry& entry, Connection& owner, Call& call) {
        const auto question = question_about(entry, call.principal);
        const auto verdict = policy.judge(question);
        if (verdict.decision != policy::Decision::Allow)
            return flights.end_soon(id, {ErrorCode::Denied, policy.reason(question, verdict)});
        connection::Request request{"tools/call",
                                    {{}, std::move(call.meta)},
                                    call.timeout,
                                    std::move(call.on_progress),
                                    call.begun};
        auto& members = request.params.members;
        members.reserve(entry.quoted_name.size() + call.arguments.size() + call.members.size() +
                        32);
        members.append("\"name\":").append(entry.quoted_name);
        members.append(",\"arguments\":");
        members.append(call.arguments.empty() ? "{}" : call.arguments);
        if (!call.members.empty()) members.append(",").append(call.members);
        flights.send(id, owner, std::move(request));
    }

    Result<json::object> read_params(const ServerRequest& request) const {
        auto params =
            core::parse_json_object("{" + request.params.members + "}", {.depth = depth()});
        if (params) return params;
        return Error{ErrorCode::Invalid,
                     "the params of " + request.method + ": " + params.error().message};
    }

    // A tools/call in the server's own words is a call like any other: the tool is found in the
    // server's list, judged, and what is sent says only what was judged.
    void call_raw(CallId id, Connection& target, ServerRequest request) {
        auto params = read_params(request);
        if (!params) return flights.end_soon(id, params.error());
        const auto tool = text_member(*params, "name");
        const auto* arguments = params->if_contains("arguments");
        if (tool.empty())
            return flights.end_soon(id, {ErrorCode::Invalid, "tools/call needs a \"name\""});
        if (arguments && !arguments->is_object())
            return flights.end_soon(id, {ErrorCode::Invalid, "\"arguments\" must be an object"});
        Call call;
        const std::string written = "{" + request.params.members + "}";
        for (const auto& [key, value] : protocol::members_in(written)) {
            if (key == "arguments")
                call.arguments = value;
            else if (key != "name" && key != "_meta")
                protocol::append_member(call.members, key, value);
        }
        call.meta = std::move(request.params.meta);
        call.timeout = request.timeout;
        call.begun = request.begun;
        call.principal = request.principal;
        call.on_progress = std::move(request.on_progress);
        const auto* known = finder.index().find_raw(request.server, tool);
        if (known && target.state() == State::Ready) return send_call(id, *known, target, call);
        flights.bound(id, call.begun, call.timeout, {request.server});
        const auto bytes = size_of(call);
        const auto kept = flights.keep(id, request.server, bytes, std::move(call));
        if (kept.expired()) return;
        target.refresh_tools([this, watch = alive, id, kept, tool,
                              server = request.server](const Result<void>&) {
            const auto asked = kept.lock();
            if (!*watch || !asked) return;
            if (const auto* entry = finder.index().find_raw(server, tool))
                return send_call(id, *entry, *asked);
            if (!connections.find(server))
                return flights.end_soon(id, connections.find(server).error());
            flights.end_soon(id, finder.why_missing(protocol::public_name(server, tool), {server}));
        });
    }

    // Shows no more than tools() does.
    ReplyHandler without_hidden(std::string server, policy::Principal principal,
                                ReplyHandler handler) {
        return [this, watch = alive, server = std::move(server), principal,
                handler = std::move(handler)](Result<connection::Reply> reply) {
            if (!reply || !*watch) return handler(std::move(reply));
            if (auto owner = connections.find(server); !owner) return handler(owner.error());
            handler(with_tools_shown(std::move(*reply), server, depth(), [&](const auto& tool) {
                const auto name = finder.index().public_name(server, tool);
                return policy.judge({principal, server, tool, name}).listed();
            }));
        };
    }

    std::size_t depth() const { return connections.limits().json_depth; }

    // The rules name tools; the server as a whole is denied by one that fits the bare prefix.
    std::optional<Error> denial_of(const ServerRequest& request) const {
        const std::string prefix = "mcp__" + request.server + "__";
        const policy::Question question{
            request.principal, request.server, {}, prefix, what_is_asked_for(request.method)};
        const auto verdict = policy.judge(question);
        if (verdict.decision == policy::Decision::Allow) return {};
        return Error{ErrorCode::Denied, policy.reason(question, verdict)};
    }

    // The server is ready: what this request means in its era, and whether it can be asked.
    void send_request(CallId id, Connection& target, ServerRequest& request) {
        const auto* session = target.session();
        const auto needed = capability_for(request.method);
        if (session && !needed.empty() && !session->can(needed)) {
            return flights.end_soon(
                id, {ErrorCode::Unsupported, "server \"" + request.server + "\" does not offer " +
                                                 std::string(needed) + " (no such capability)"});
        }
        const auto& method = request.method;
        const bool subscribes = method == "resources/subscribe";
        if (subscribes || method == "resources/unsubscribe" || method == "logging/setLevel") {
            const auto params = read_params(request);
            if (!params) return flights.end_soon(id, params.error());
            if (method == "logging/setLevel") {
                const auto level = text_member(*params, "level");
                if (const auto wrong = wrong_level(level); !wrong.empty())
                    return flights.end_soon(id, {ErrorCode::Invalid, wrong});
                return target.set_log_level(level, flights.end_with_reply(id));
            }
            const auto uri = text_member(*params, "uri");
            if (uri.empty())
                return flights.end_soon(id, {ErrorCode::Invalid, method + " needs a \"uri\""});
            return target.subscribe(uri, subscribes, flights.end_with_reply(id));
        }
        const bool modern = session && session->era == protocol::Era::Modern;
        const bool ping = method == "ping" && modern;  // this era asks server/discover instead
        flights.send(id, target,
                     {ping ? "server/discover" : method, std::move(request.params), request.timeout,
                      std::move(request.on_progress), request.begun});
    }

    connection::ConnectionManager& connections;
    const policy::Policy& policy;
    ToolFinder finder;
    Flights flights;
    std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

Router::Router(connection::ConnectionManager& connections, const policy::Policy& policy,
               const catalogue::Catalogue& catalogue)
    : impl_(std::make_unique<Impl>(connections, policy, catalogue)) {}

Router::~Router() {
    *impl_->alive = false;
    impl_->flights.end_all({ErrorCode::Unavailable, "the host is closing"});
}

CallId Router::call(Call call, ReplyHandler handler) {
    const CallId id = impl_->flights.begin(std::move(handler));
    const auto* known = impl_->finder.index().find(call.name);
    if (auto* owner = impl_->ready_owner(known)) {
        impl_->send_call(id, *known, *owner, call);
        return id;
    }
    const std::string name = call.name;  // `call` moves on below
    const auto servers = protocol::servers_for(name, impl_->connections.ids());
    impl_->flights.bound(id, call.begun, call.timeout, servers);
    const auto bytes = size_of(call);
    const auto kept =
        impl_->flights.keep(id, servers.empty() ? "" : servers.front(), bytes, std::move(call));
    if (kept.expired()) return id;
    impl_->finder.locate(name, [this, watch = impl_->alive, id, kept](auto entry) {
        const auto asked = kept.lock();
        if (!*watch || !asked) return;
        if (!entry) return impl_->flights.end_soon(id, entry.error());
        impl_->send_call(id, **entry, *asked);
    });
    return id;
}

CallId Router::request(ServerRequest request, ReplyHandler handler) {
    auto& flights = impl_->flights;
    if (request.method == "tools/list")
        handler = impl_->without_hidden(request.server, request.principal, std::move(handler));
    const CallId id = flights.begin(std::move(handler));
    // A server that stops reading at a NUL would know it as a method that nobody judged.
    if (core::printable(request.method, request.method.size()) != request.method) {
        flights.end_soon(id, {ErrorCode::Invalid, "a method has no control characters: \"" +
                                                      core::printable(request.method, 80) + "\""});
        return id;
    }
    auto found = impl_->connections.find(request.server);
    if (!found) {
        flights.end_soon(id, found.error());
        return id;
    }
    auto& target = found->get();
    if (request.method == "tools/call") {
        impl_->call_raw(id, target, std::move(request));
        return id;
    }
    // Before anything is connected for it; and again when it is sent.
    if (auto denied = impl_->denial_of(request)) {
        flights.end_soon(id, std::move(*denied));
        return id;
    }
    flights.bound(id, request.begun, request.timeout, {request.server});
    if (target.state() == State::Ready) {
        impl_->send_request(id, target, request);
        return id;
    }
    const auto server = request.server;
    const auto bytes = size_of(request.params);
    const auto kept = flights.keep(id, server, bytes, std::move(request));
    if (kept.expired()) return id;
    target.connect([this, watch = impl_->alive, id, kept] {
        const auto waiting = kept.lock();
        if (!*watch || !waiting) return;
        auto again = impl_->connections.find(waiting->server);
        if (!again) return impl_->flights.end_soon(id, again.error());
        if (again->get().state() == State::Ready) {
            if (auto denied = impl_->denial_of(*waiting))
                return impl_->flights.end_soon(id, std::move(*denied));
            return impl_->send_request(id, again->get(), *waiting);
        }
        const auto status = again->get().status();
        impl_->flights.end_soon(id, {status.state == State::AuthRequired ? ErrorCode::AuthRequired
                                                                         : ErrorCode::Unavailable,
                                     status.last_error});
    });
    return id;
}

void Router::cancel(CallId id, const std::string& reason) {
    impl_->flights.cancel(id, reason);
}

std::shared_ptr<void> Router::list_all(const std::string& server, const std::string& method,
                                       std::function<void(Result<json::array>)> listed) {
    return read_all_pages(*this, impl_->connections.limits(), server, method, std::move(listed));
}

std::vector<ListedTool> Router::tools(policy::Principal principal) {
    return impl_->finder.listed(principal);
}

void Router::find_tool(const std::string& public_name, std::chrono::milliseconds timeout,
                       std::function<void(Result<ListedTool>)> found) {
    impl_->finder.find(public_name, timeout, std::move(found));
}

std::optional<Error> Router::certain_denial(const std::string& public_name) const {
    std::optional<Error> denied;
    for (const auto& id : protocol::servers_for(public_name, impl_->connections.ids())) {
        auto reason = impl_->policy.certain_denial(policy::Principal::LocalUser, id, public_name);
        if (!reason) return {};
        denied = Error{ErrorCode::Denied, std::move(*reason)};
    }
    return denied;
}

}  // namespace patchbay::router
