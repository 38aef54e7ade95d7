#include "router/router.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"
#include "protocol/qualified_name.hpp"
#include "router/tool_index.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace patchbay::router {
namespace json = boost::json;
using connection::Connection;
using connection::Reply;
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

// The array that a list method's result carries.
std::string_view list_member(std::string_view method) {
    if (method == "resources/templates/list") return "resourceTemplates";
    return method.substr(0, method.find('/'));
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

    // A call on its way; the connection is known once the server is.
    struct Flight {
        Connection* connection = nullptr;
        connection::RequestId request = 0;
        ReplyHandler handler;
        core::Loop::TimerId timer = 0;  // until it is sent, from then on the connection's
        std::shared_ptr<void> kept;     // what is asked, while `waits_for` starts
        std::string waits_for;
        std::size_t bytes = 0;
    };
    // Of flights without a connection; bounded as its queue is.
    struct Load {
        std::size_t messages = 0, bytes = 0;
    };

    Impl(connection::ConnectionManager& manager, const policy::Policy& rules)
        : connections(manager), policy(rules), index(manager, rules) {}

    // Brings up whoever may own `name`, then says where it is.
    void locate(const std::string& name, std::function<void(Result<Entry*>)> located) {
        const auto servers = protocol::servers_for(name, connections.ids());
        if (servers.empty()) {
            std::string message = "no tool \"" + core::printable(name, 80) + "\": ";
            message +=
                connections.ids().empty()
                    ? std::string(
                          "no MCP server is configured and enabled; `patchbay mcp list` shows "
                          "which there are")
                    : "no enabled server has this prefix" +
                          core::did_you_mean(name, names_or_prefixes());
            return located(Error{ErrorCode::NotFound, std::move(message)});
        }
        // A name that was shortened may be any one's of these: which, is known when all have told.
        auto missing = std::make_shared<std::size_t>(servers.size());
        for (const auto& id : servers) {
            connections.find(id).value().get().refresh_tools(
                [this, watch = alive, missing, name, servers, located](Result<void>) {
                    if (--*missing != 0) return;
                    if (!*watch)
                        return located(Error{ErrorCode::Unavailable, "the host is closing"});
                    if (auto* entry = index.find(name)) return located(entry);
                    located(why_missing(name, servers));
                });
        }
    }

    std::vector<std::string> names_or_prefixes() {
        auto names = index.listed_names();
        if (names.empty())
            for (const auto& id : connections.ids()) names.push_back("mcp__" + id + "__");
        return names;
    }

    // A server that is not there hides what it has: that comes before "no such tool", which would
    // send the reader to the spelling.
    Error why_missing(const std::string& name, const std::vector<std::string>& servers) {
        for (const auto& id : servers) {
            const auto found = connections.find(id);
            if (!found) return found.error();  // gone while it was waited for
            const auto status = found->get().status();
            if (status.state != State::Ready) {
                const auto code = status.state == State::AuthRequired ? ErrorCode::AuthRequired
                                                                      : ErrorCode::Unavailable;
                return {code, status.last_error.empty()
                                  ? "server \"" + id + "\" is " + name_of(status.state)
                                  : status.last_error};
            }
        }
        const std::string wanted = "\"" + core::printable(name, 80) + "\"";
        for (const auto& id : servers) {
            if (const auto* error = connections.find(id).value().get().tools_error())
                return {error->code,
                        error->message + "; so nothing is known of the tool " + wanted};
        }
        return {ErrorCode::NotFound, "server \"" + servers.front() + "\" has no tool " + wanted +
                                         core::did_you_mean(name, index.listed_names())};
    }

    CallId begin(ReplyHandler handler) {
        const CallId id = ++last_id;
        flights[id].handler = std::move(handler);
        return id;
    }

    // The flight waits for one of `servers` from now on, but not for ever.
    void bound(CallId id, core::Clock::time_point begun, std::chrono::milliseconds timeout,
               std::vector<std::string> servers) {
        if (timeout.count() == 0) return;
        flights.at(id).timer = connections.loop().after(
            begun + timeout - core::Clock::now(),
            [this, watch = alive, id, timeout, servers = std::move(servers)] {
                if (!*watch) return;
                flights.at(id).timer = 0;
                end(id, too_late(servers, timeout));
            });
    }

    // What the flight asks for waits with it until `server` has started, and goes where it goes.
    // Empty: too much waits already, and the flight ends.
    template <class T>
    std::weak_ptr<T> keep(CallId id, const std::string& server, std::size_t bytes, T asked) {
        const auto before = waiting.find(server);
        const auto load = before == waiting.end() ? Load() : before->second;
        const auto& limits = connections.limits();
        if (load.messages >= limits.queue_messages || load.bytes + bytes > limits.queue_bytes) {
            end_soon(id, {ErrorCode::Limit,
                          "server \"" + server + "\": " + std::to_string(load.messages) +
                              " requests with " + std::to_string(load.bytes) +
                              " bytes wait for it to start (limits queue_messages, queue_bytes); "
                              "try later"});
            return {};
        }
        waiting[server] = {load.messages + 1, load.bytes + bytes};
        auto& flight = flights.at(id);
        const auto kept = std::make_shared<T>(std::move(asked));
        flight.kept = kept;
        flight.waits_for = server;
        flight.bytes = bytes;
        return kept;
    }

    void release(Flight& flight) {
        if (!flight.kept) return;
        flight.kept.reset();
        auto& load = waiting.at(flight.waits_for);
        load.bytes -= flight.bytes;
        if (--load.messages == 0) waiting.erase(flight.waits_for);
    }

    Error too_late(const std::vector<std::string>& servers, std::chrono::milliseconds timeout) {
        const std::string limit = core::duration(timeout);
        for (const auto& id : servers) {
            const auto found = connections.find(id);
            if (!found || found->get().state() == State::Ready) continue;
            return {ErrorCode::Timeout, "server \"" + id + "\" is still " +
                                            name_of(found->get().state()) + " after " + limit};
        }
        return {ErrorCode::Timeout, "no answer within " + limit};
    }

    void end(CallId id, Result<Reply> outcome) {
        const auto found = flights.find(id);
        if (found == flights.end()) return;  // cancelled before it got a server
        if (found->second.timer) connections.loop().cancel(found->second.timer);
        release(found->second);
        auto handler = std::move(found->second.handler);
        flights.erase(found);
        handler(std::move(outcome));
    }

    // Handlers are never called from inside the call that registered them.
    void end_soon(CallId id, Error error) {
        connections.loop().defer([this, watch = alive, id, error = std::move(error)] {
            if (*watch) end(id, error);
        });
    }

    void send(CallId id, Connection& target, connection::Request request) {
        const auto found = flights.find(id);
        if (found == flights.end()) return;
        auto& flight = found->second;
        flight.connection = &target;
        release(flight);  // it counts at the connection now
        // The connection goes on counting, and tells the server when it gives up.
        if (flight.timer) connections.loop().cancel(std::exchange(flight.timer, 0));
        flight.request =
            target.request(std::move(request), [this, watch = alive, id](Result<Reply> reply) {
                if (*watch) end(id, std::move(reply));
            });
    }

    void send_call(CallId id, Entry& entry, Call& call) {
        // What is hidden is forbidden too: a name can be guessed.
        const auto& verdict = entry.verdict(call.principal);
        if (!verdict.listed || !verdict.allowed)
            return end_soon(id, {ErrorCode::Denied, verdict.reason});
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
        send(id, *entry.connection, std::move(request));
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
        if (!params) return end_soon(id, params.error());
        const auto tool = text_member(*params, "name");
        const auto* arguments = params->if_contains("arguments");
        if (tool.empty()) return end_soon(id, {ErrorCode::Invalid, "tools/call needs a \"name\""});
        if (arguments && !arguments->is_object())
            return end_soon(id, {ErrorCode::Invalid, "\"arguments\" must be an object"});
        Call call;
        const std::string written = "{" + request.params.members + "}";
        for (const auto& [key, value] : protocol::members_in(written)) {
            if (key == "arguments")
                call.arguments = value;
            else if (key != "name" && key != "_meta")
                call.members = protocol::joined(call.members,
                                                protocol::quoted(key) + ":" + std::string(value));
        }
        call.meta = std::move(request.params.meta);
        call.timeout = request.timeout;
        call.begun = request.begun;
        call.principal = request.principal;
        call.on_progress = std::move(request.on_progress);
        if (target.state() == State::Ready) {
            if (auto* entry = index.find_raw(request.server, tool))
                return send_call(id, *entry, call);
        }
        bound(id, call.begun, call.timeout, {request.server});
        const auto bytes = size_of(call);
        const auto kept = keep(id, request.server, bytes, std::move(call));
        if (kept.expired()) return;
        target.refresh_tools(
            [this, watch = alive, id, kept, tool, server = request.server](const Result<void>&) {
                const auto asked = kept.lock();
                if (!*watch || !asked) return;
                if (auto* entry = index.find_raw(server, tool))
                    return send_call(id, *entry, *asked);
                if (!connections.find(server))
                    return end_soon(id, connections.find(server).error());
                end_soon(id, why_missing(protocol::public_name(server, tool), {server}));
            });
    }

    // A tools/list in the server's own words shows no more than tools() does.
    Result<Reply> without_hidden(const std::string& server, policy::Principal principal,
                                 Reply reply) {
        if (!reply.error.empty()) return reply;
        auto found = connections.find(server);
        if (!found) return found.error();
        auto result = core::parse_json_object(reply.result, {.depth = depth()});
        if (!result)
            return Error{ErrorCode::Protocol,
                         "server \"" + server + "\": tools/list result " + result.error().message};
        auto* listed = result->if_contains("tools");
        if (!listed || !listed->is_array()) return reply;  // no tool is in it that could be hidden
        auto& items = listed->get_array();
        const auto shown = std::stable_partition(items.begin(), items.end(), [&](auto& item) {
            const auto tool = item.is_object() ? text_member(item.get_object(), "name") : "";
            const auto name = index.public_name(server, tool);
            return policy.judge({principal, found->get().spec().config, tool, name}).listed;
        });
        if (shown == items.end()) return reply;
        items.erase(shown, items.end());
        Reply fewer;
        fewer.message = core::Buffer::from(json::serialize(*result));
        fewer.result = fewer.message.view();
        return fewer;
    }

    std::size_t depth() const { return connections.limits().json_depth; }

    // The server is ready: what this request means in its era, and whether it can be asked.
    void send_request(CallId id, Connection& target, ServerRequest& request) {
        const auto* session = target.session();
        const auto needed = capability_for(request.method);
        if (session && !needed.empty() && !session->can(needed)) {
            return end_soon(
                id, {ErrorCode::Unsupported, "server \"" + request.server + "\" does not offer " +
                                                 std::string(needed) + " (no such capability)"});
        }
        const auto done = [this, watch = alive, id](Result<Reply> reply) {
            if (*watch) end(id, std::move(reply));
        };
        const auto& method = request.method;
        const bool subscribes = method == "resources/subscribe";
        if (subscribes || method == "resources/unsubscribe" || method == "logging/setLevel") {
            const auto params = read_params(request);
            if (!params) return end_soon(id, params.error());
            if (method == "logging/setLevel") {
                const auto level = text_member(*params, "level");
                if (const auto wrong = wrong_level(level); !wrong.empty())
                    return end_soon(id, {ErrorCode::Invalid, wrong});
                return target.set_log_level(level, done);
            }
            const auto uri = text_member(*params, "uri");
            if (uri.empty()) return end_soon(id, {ErrorCode::Invalid, method + " needs a \"uri\""});
            return target.subscribe(uri, subscribes, done);
        }
        const auto flight = flights.find(id);
        if (method == "tools/list" && flight != flights.end()) {
            flight->second.handler = [this, watch = alive, server = request.server,
                                      principal = request.principal,
                                      handler = std::move(flight->second.handler)](auto reply) {
                if (reply && *watch) reply = without_hidden(server, principal, std::move(*reply));
                handler(std::move(reply));
            };
        }
        const bool modern = session && session->era == protocol::Era::Modern;
        const bool ping = method == "ping" && modern;  // this era asks server/discover instead
        send(id, target,
             {ping ? "server/discover" : method, std::move(request.params), request.timeout,
              std::move(request.on_progress), request.begun});
    }

    connection::ConnectionManager& connections;
    const policy::Policy& policy;
    ToolIndex index;
    std::unordered_map<CallId, Flight> flights;
    std::unordered_map<std::string, Load> waiting;  // by server, where any do
    CallId last_id = 0;
    std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

Router::Router(connection::ConnectionManager& connections, const policy::Policy& policy)
    : impl_(std::make_unique<Impl>(connections, policy)) {}

Router::~Router() {
    *impl_->alive = false;
    // Taken out first: a handler may come back with another call.
    for (auto& [id, flight] : std::exchange(impl_->flights, {})) {
        flight.handler(Error{ErrorCode::Unavailable, "the host is closing"});
    }
}

CallId Router::call(Call call, ReplyHandler handler) {
    const CallId id = impl_->begin(std::move(handler));
    if (auto* entry = impl_->index.find(call.name);
        entry && entry->connection->state() == State::Ready) {
        impl_->send_call(id, *entry, call);
        return id;
    }
    const std::string name = call.name;  // `call` moves on below
    const auto servers = protocol::servers_for(name, impl_->connections.ids());
    impl_->bound(id, call.begun, call.timeout, servers);
    const auto bytes = size_of(call);
    const auto kept =
        impl_->keep(id, servers.empty() ? "" : servers.front(), bytes, std::move(call));
    if (kept.expired()) return id;
    impl_->locate(name, [this, watch = impl_->alive, id, kept](auto entry) {
        const auto asked = kept.lock();
        if (!*watch || !asked) return;
        if (!entry) return impl_->end_soon(id, entry.error());
        impl_->send_call(id, **entry, *asked);
    });
    return id;
}

CallId Router::request(ServerRequest request, ReplyHandler handler) {
    const CallId id = impl_->begin(std::move(handler));
    auto found = impl_->connections.find(request.server);
    if (!found) {
        impl_->end_soon(id, found.error());
        return id;
    }
    auto& target = found->get();
    if (request.method == "tools/call") {
        impl_->call_raw(id, target, std::move(request));
        return id;
    }
    // The rules name tools; the server as a whole is denied by one that fits the bare prefix.
    const std::string prefix = "mcp__" + request.server + "__";
    const auto verdict = impl_->policy.judge(
        {request.principal, target.spec().config, {}, prefix, what_is_asked_for(request.method)});
    if (!verdict.allowed) {
        impl_->end_soon(id, {ErrorCode::Denied, verdict.reason});
        return id;
    }
    impl_->bound(id, request.begun, request.timeout, {request.server});
    if (target.state() == State::Ready) {
        impl_->send_request(id, target, request);
        return id;
    }
    const auto server = request.server;
    const auto bytes = size_of(request.params);
    const auto kept = impl_->keep(id, server, bytes, std::move(request));
    if (kept.expired()) return id;
    target.connect([this, watch = impl_->alive, id, kept] {
        const auto waiting = kept.lock();
        if (!*watch || !waiting) return;
        auto again = impl_->connections.find(waiting->server);
        if (!again) return impl_->end_soon(id, again.error());
        if (again->get().state() == State::Ready) {
            return impl_->send_request(id, again->get(), *waiting);
        }
        const auto status = again->get().status();
        impl_->end_soon(id, {status.state == State::AuthRequired ? ErrorCode::AuthRequired
                                                                 : ErrorCode::Unavailable,
                             status.last_error});
    });
    return id;
}

void Router::cancel(CallId id, const std::string& reason) {
    const auto found = impl_->flights.find(id);
    if (found == impl_->flights.end()) return;
    if (found->second.connection)
        return found->second.connection->cancel(found->second.request, reason);
    impl_->end(id, Error{ErrorCode::Cancelled, "cancelled before it was sent"});
}

void Router::list_all(const std::string& server, const std::string& method,
                      std::function<void(Result<json::array>)> listed) {
    struct Listing {
        json::array items;
        std::set<std::string> cursors;
        std::size_t bytes = 0;
    };
    const auto& limits = impl_->connections.limits();
    auto listing = std::make_shared<Listing>();
    auto next = std::make_shared<std::function<void(std::string)>>();
    // `next` keeps itself alive through the handler of the page that is on its way.
    *next = [this, server, method, listed, listing, &limits,
             weak = std::weak_ptr(next)](std::string cursor) {
        protocol::Params params;
        if (!cursor.empty()) params.members = "\"cursor\":" + protocol::quoted(cursor);
        ServerRequest page_request;
        page_request.server = server;
        page_request.method = method;
        page_request.params = std::move(params);
        request(std::move(page_request), [=, self = weak.lock()](Result<Reply> reply) {
            if (!reply) return listed(reply.error());
            const auto fail = [&](const std::string& why, ErrorCode code = ErrorCode::Protocol) {
                listed(Error{code, "server \"" + server + "\": " + method + " " + why});
            };
            const auto too_much = [&](std::size_t most, const char* what, const char* limit) {
                fail(
                    "has more than " + std::to_string(most) + " " + what + " (limit " + limit + ")",
                    ErrorCode::Limit);
            };
            if (!reply->error.empty()) {
                const auto error = protocol::parse_rpc_error(reply->error);
                return fail("failed: " +
                            (error ? core::printable(error->message, 500) : "unreadable error"));
            }
            listing->bytes += reply->result.size();
            if (listing->bytes > limits.list_bytes)
                return too_much(limits.list_bytes, "bytes over its pages", "list_bytes");
            auto page = core::parse_json_object(reply->result, {.depth = limits.json_depth});
            if (!page) return fail("result " + page.error().message);
            auto* items = page->if_contains(list_member(method));
            if (!items || !items->is_array()) return fail("result has no such list");
            if (listing->items.size() + items->get_array().size() > limits.items_per_list)
                return too_much(limits.items_per_list, "items", "items_per_list");
            for (auto& item : items->get_array()) listing->items.push_back(std::move(item));
            const auto* cursor_value = page->if_contains("nextCursor");
            if (!cursor_value || !cursor_value->is_string())
                return listed(std::move(listing->items));
            const std::string following(cursor_value->get_string());
            if (!listing->cursors.insert(following).second) {
                return fail("repeats the cursor \"" + core::printable(following, 64) +
                            "\"; its list has no end");
            }
            if (listing->cursors.size() >= limits.pages_per_list)
                return too_much(limits.pages_per_list, "pages", "pages_per_list");
            (*self)(following);
        });
    };
    (*next)({});
}

std::vector<ListedTool> Router::tools(policy::Principal principal) {
    std::vector<ListedTool> tools;
    for (const auto& [name, entry] : impl_->index.entries()) {
        const auto& verdict = entry.verdict(principal);
        if (verdict.listed) tools.push_back({name, entry.server, entry.tool, verdict.level});
    }
    std::sort(tools.begin(), tools.end(),
              [](const auto& a, const auto& b) { return a.public_name < b.public_name; });
    return tools;
}

void Router::find_tool(const std::string& public_name, std::chrono::milliseconds timeout,
                       std::function<void(Result<ListedTool>)> tell) {
    struct Search {  // ends once, whichever comes first
        std::function<void(Result<ListedTool>)> tell;
        core::Loop::TimerId timer = 0;
    };
    auto search = std::make_shared<Search>(Search{std::move(tell)});
    auto& loop = impl_->connections.loop();
    const auto found = [search, &loop](Result<ListedTool> outcome) {
        if (!search->tell) return;
        if (search->timer) loop.cancel(search->timer);
        std::exchange(search->tell, nullptr)(std::move(outcome));
    };
    if (timeout.count() > 0) {
        search->timer =
            loop.after(timeout, [this, watch = impl_->alive, found, public_name, timeout] {
                if (!*watch) return;
                found(impl_->too_late(protocol::servers_for(public_name, impl_->connections.ids()),
                                      timeout));
            });
    }
    impl_->locate(public_name, [public_name, found](auto entry) {
        if (!entry) return found(entry.error());
        const auto& verdict = (*entry)->for_local;
        if (!verdict.listed) return found(Error{ErrorCode::Denied, verdict.reason});
        found(ListedTool{public_name, (*entry)->server, (*entry)->tool, verdict.level});
    });
}

void Router::forget_index() {
    impl_->index.forget();
}

}  // namespace patchbay::router
