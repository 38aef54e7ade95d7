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

ServerRules::Judgement RequestRouter::judged(core::Trust trust,
                                             const ServerRequest& request) const {
    const auto depth = pool_.limits().json_depth;
    const auto by = [&](const std::optional<policy::PinMismatch>& mismatch) {
        return rules_.judge(trust, request, mismatch ? &*mismatch : nullptr);
    };
    auto judgement = by(guard_.mismatch(request, depth));
    if (judgement.verdict.is_pinned() && guard_.refresh(request.server))
        judgement = by(guard_.mismatch(request, depth));
    return judgement;
}

template <class Then>
void RequestRouter::note_use(CallId id, Caller& caller, ServerRequest& request, Consent consent,
                             Then then) const {
    auto due = guard_.due(caller, request, pool_.limits().json_depth, consent);
    const bool approved = consent == Consent::InPerson;
    if (due.empty()) return then(caller, request, approved);
    const auto server = request.server;
    flights_.bound(id, *request.begun, request.timeout, {server});
    const auto bytes = size_of(request);
    const auto kept = flights_.keep(id, server, bytes, std::move(request));
    if (kept.expired()) return;
    guard_.note(server, std::move(due), consent,
                [this, watch = alive_, id, kept, approved, then](const std::optional<Error>& why) {
                    const auto asked = kept.lock();
                    if (!*watch || !asked) return;
                    if (why) return flights_.end_soon(id, *why);
                    auto* const asker = callers_.find(flights_.caller_of(id));
                    if (asker) then(*asker, *asked, approved);
                });
}

// `then` is told whether the caller has approved of it.
template <class Then>
void RequestRouter::judge(CallId id, Caller& caller, ServerRequest& request, Then then) const {
    auto judged = this->judged(caller.principal().trust, request);
    flights_.judged(id, judged.verdict, request.params.members);
    if (judged.decision() == policy::Decision::Allow)
        return note_use(id, caller, request, Consent::ByRule, then);
    if (judged.decision() == policy::Decision::Deny)
        return flights_.end_soon(id, std::move(judged.denied));
    Approvable wanted{request.server,
                      {},
                      prefix_of(request.server),
                      "{" + request.params.members + "}",
                      request.method,
                      request.reference,
                      definitions_.of(request.server)};
    describe(wanted, judged.verdict);
    approvals_.await(id, caller, wanted, std::move(judged.denied), std::move(request),
                     [this, id, then](Caller& asker, ServerRequest& approved) {
                         if (auto hidden = not_shown(asker, approved.server, approved.method,
                                                     approved.of_a_task))
                             return flights_.end_soon(id, std::move(*hidden));
                         const auto now = this->judged(asker.principal().trust, approved);
                         flights_.judged(id, now.verdict, approved.params.members);
                         if (now.decision() == policy::Decision::Deny)
                             return flights_.end_soon(id, now.denied);
                         note_use(id, asker, approved, Consent::InPerson, then);
                     });
}

std::optional<Error> RequestRouter::refuses(const Caller& caller, const std::string& server,
                                            const connection::Request& request) const {
    ServerRequest asked;
    asked.server = server;
    asked.method = request.method;
    asked.params = request.params;
    if (auto judgement = judged(caller.principal().trust, asked); judgement.verdict.is_pinned())
        return std::move(judgement.denied);
    const auto* receipt = flights_.receipt_of(request.number);
    if (!receipt) return {};
    return receipt->cover_again(definitions_.of(server), pool_.loop().now());
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
    if (auto hidden = not_shown(*asker, waiting.server, waiting.method, waiting.of_a_task))
        return flights_.end_soon(id, std::move(*hidden));
    const auto leased = pool_.lease(waiting.server, *asker);
    if (!leased) return flights_.end_soon(id, leased.error());
    auto& target = leased->get();
    if (approved && target.spec().definition_key != definition)
        return flights_.end_soon(
            id, Definitions::another_one(waiting.server, prefix_of(waiting.server)));
    if (target.state() != State::Ready)
        return flights_.end_soon(id, why_not_ready(target.status()));
    auto judged = this->judged(asker->principal().trust, waiting);
    flights_.judged(id, judged.verdict, waiting.params.members);
    const auto decision = judged.decision();
    if (decision == policy::Decision::Deny || (decision == policy::Decision::Ask && !approved))
        return flights_.end_soon(id, std::move(judged.denied));
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
    if (auto* receipt = flights_.receipt_of(id)) {
        if (auto spent = receipt->redeem(definitions_.of(request.server),
                                         "{" + request.params.members + "}", pool_.loop().now()))
            return flights_.end_soon(id, std::move(*spent));
    }
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
        if (!flights_.tell_sent(id)) return;
        return target.set_log_level(caller, level, flights_.end_with_reply(id));
    }
    const auto uri = text_member(*params, "uri");
    if (uri.empty())
        return flights_.end_soon(id, {ErrorCode::Invalid, request.method + " needs a \"uri\""});
    if (!flights_.tell_sent(id)) return;
    target.subscribe(caller, uri, request.method == "resources/subscribe",
                     flights_.end_with_reply(id));
}

}  // namespace patchbay::router
