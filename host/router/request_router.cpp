#include "router/request_router.hpp"

#include "router/call_params.hpp"
#include "router/methods.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::router {
using connection::Approvable;
using connection::Caller;
using connection::Connection;
using connection::State;

namespace {

// Those that a server keeps for a caller: connection/wishes tells it the union of all.
bool is_wish(std::string_view method) {
    return method == "resources/subscribe" || method == "resources/unsubscribe" ||
           method == "logging/setLevel";
}

}  // namespace

void RequestRouter::send(CallId id, Caller& caller, ServerRequest& request) const {
    judge(id, caller, request, [this, id](Caller& asker, ServerRequest& asked, bool approved) {
        bring_up_and_send(id, asker, asked, approved);
    });
}

void RequestRouter::permit(CallId id, Caller& caller, ServerRequest& request) const {
    judge(id, caller, request, [this, id](const Caller&, const ServerRequest&, bool) {
        pool_.loop().defer([end = flights_.end_with_reply(id)] { end(connection::Reply{}); });
    });
}

// `then` is told whether the caller has approved of it.
template <class Then>
void RequestRouter::judge(CallId id, Caller& caller, ServerRequest& request, Then then) const {
    auto [decision, denied] = rules_.judge(caller.principal().trust, request);
    if (decision == policy::Decision::Allow) return then(caller, request, false);
    if (decision == policy::Decision::Deny) return flights_.end_soon(id, std::move(denied));
    const Approvable wanted{request.server,
                            {},
                            prefix_of(request.server),
                            "{" + request.params.members + "}",
                            request.method,
                            request.reference,
                            definitions_.of(request.server)};
    approvals_.await(id, caller, wanted, std::move(denied), std::move(request),
                     [this, id, then](Caller& asker, ServerRequest& approved) {
                         if (auto hidden = not_shown(asker, approved.server, approved.method))
                             return flights_.end_soon(id, std::move(*hidden));
                         const auto [now, why] = rules_.judge(asker.principal().trust, approved);
                         if (now == policy::Decision::Deny) return flights_.end_soon(id, why);
                         then(asker, approved, true);
                     });
}

// At once, or when the server is there.
void RequestRouter::bring_up_and_send(CallId id, Caller& caller, ServerRequest& request,
                                      bool approved) const {
    const auto leased = pool_.lease(request.server, caller);
    if (!leased) return flights_.end_soon(id, leased.error());
    auto& target = leased->get();
    flights_.bound(id, *request.begun, request.timeout, {request.server});
    if (target.state() == State::Ready) return send_to(target, id, caller, request);
    const auto server = request.server;
    const auto bytes = size_of(request);
    const auto kept = flights_.keep(id, server, bytes, std::move(request));
    if (kept.expired()) return;
    target.connect(
        [this, watch = alive_, id, kept, approved, definition = target.spec().definition_key] {
            const auto waiting = kept.lock();
            if (*watch && waiting) on_connected(id, *waiting, approved, definition);
        });
}

// By the rules that hold by now; what a caller approved of goes to no server that has come in its place meanwhile.
void RequestRouter::on_connected(CallId id, ServerRequest& waiting, bool approved,
                                 const std::string& definition) const {
    auto* const asker = callers_.find(flights_.caller_of(id));
    if (!asker) return;
    if (auto hidden = not_shown(*asker, waiting.server, waiting.method))
        return flights_.end_soon(id, std::move(*hidden));
    const auto leased = pool_.lease(waiting.server, *asker);
    if (!leased) return flights_.end_soon(id, leased.error());
    auto& target = leased->get();
    if (approved && target.spec().definition_key != definition)
        return flights_.end_soon(
            id, Definitions::another_one(waiting.server, prefix_of(waiting.server)));
    if (target.state() != State::Ready)
        return flights_.end_soon(id, why_not_ready(target.status()));
    auto [decision, denied] = rules_.judge(asker->principal().trust, waiting);
    if (decision == policy::Decision::Deny || (decision == policy::Decision::Ask && !approved))
        return flights_.end_soon(id, std::move(denied));
    send_to(target, id, *asker, waiting);
}

// The server is ready: what this request means in its era, and whether it can be asked.
void RequestRouter::send_to(Connection& target, CallId id, Caller& caller,
                            ServerRequest& request) const {
    const auto* session = target.session();
    const auto asks =
        caller.principal().kind == core::Principal::Kind::Client ? Asker::Client : Asker::Ourselves;
    if (auto why =
            session ? not_offered(*session, request.server, request.method, asks) : std::nullopt)
        return flights_.end_soon(id, std::move(*why));
    if (is_wish(request.method)) return wish(target, id, caller, request);
    const bool modern = session && session->era == protocol::Era::Modern;
    const bool ping = request.method == "ping" && modern;  // this era asks server/discover instead
    flights_.send(id, caller, target,
                  {ping ? "server/discover" : request.method, std::move(request.params),
                   request.timeout, std::move(request.on_progress), request.begun,
                   request.reference, std::move(request.capabilities),
                   std::move(request.client_headers), std::move(request.log_level)});
}

void RequestRouter::wish(Connection& target, CallId id, Caller& caller,
                         const ServerRequest& request) const {
    const auto params = read_params(request, pool_.limits().json_depth);
    if (!params) return flights_.end_soon(id, params.error());
    if (request.method == "logging/setLevel") {
        const auto level = text_member(*params, "level");
        if (const auto wrong = wrong_level(level); !wrong.empty())
            return flights_.end_soon(id, {ErrorCode::Invalid, wrong});
        return target.set_log_level(caller, level, flights_.end_with_reply(id));
    }
    const auto uri = text_member(*params, "uri");
    if (uri.empty())
        return flights_.end_soon(id, {ErrorCode::Invalid, request.method + " needs a \"uri\""});
    target.subscribe(caller, uri, request.method == "resources/subscribe",
                     flights_.end_with_reply(id));
}

}  // namespace patchbay::router
