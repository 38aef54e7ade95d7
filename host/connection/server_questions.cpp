#include "connection/server_questions.hpp"

#include "core/json_beside.hpp"
#include "protocol/compose.hpp"

#include <boost/json.hpp>

namespace patchbay::connection {
namespace json = boost::json;

namespace {

constexpr std::int64_t kMethodNotFound = -32601;
constexpr std::int64_t kInvalidParams = -32602;
constexpr std::int64_t kInternalError = -32603;
constexpr std::size_t kServerRequestBytes = 128;  // of one in memory, besides what it says

}  // namespace

ServerQuestions::ServerQuestions(const Context& context, const ServerName& name, Link& link,
                                 Requests& requests, Addressees& addressees, Loss& loss)
    : context_(context),
      name_(name),
      link_(link),
      requests_(requests),
      addressees_(addressees),
      loss_(loss),
      open_(context.terms.limits) {}

void ServerQuestions::ask(const protocol::Envelope& envelope, plugin::ExchangeId stream) {
    const std::string id(envelope.id);
    const auto exchange = requests_.delivery().next_id();
    const auto bytes = id.size() + envelope.method.size() + envelope.params.size();
    const auto call = stream ? requests_.pending().id_of_wire(stream) : 0;
    if (const auto fits = open_.add(exchange, bytes + kServerRequestBytes, id, call); !fits)
        return loss_.lose(fits.error());
    if (envelope.method == "ping") return answer(exchange, protocol::response(id, "{}"));
    const bool known = envelope.method == "roots/list" ||
                       envelope.method == "sampling/createMessage" ||
                       envelope.method == "elicitation/create";
    if (!known)
        return answer(exchange, protocol::error_response(id, kMethodNotFound, "Method not found"));
    auto params =
        core::read_json_object(envelope.params, {.depth = context_.terms.limits.json_depth});
    if (!params && params.error().code == ErrorCode::Limit)
        return answer(exchange, protocol::error_response(id, kInvalidParams,
                                                         "the request " + params.error().message));
    auto* caller = addressees_.of_question(stream);
    if (!caller)
        return answer(exchange,
                      protocol::error_response(id, kInternalError,
                                               "it cannot be told which of the clients that share "
                                               "this connection is asked"));
    open_.ask(exchange, caller->number());
    const auto watch = lifetime_.watch();
    auto question = caller->answer(
        name_.id(), envelope.method, params ? *params : json::object(),
        lifetime_.guard([this, id, exchange](const Result<Given>& given) {
            if (given) return answer(exchange, protocol::response(id, given->text));
            const auto code =
                given.error().code == ErrorCode::Unsupported ? kMethodNotFound : kInternalError;
            answer(exchange, protocol::error_response(id, code, given.error().message));
        }),
        {addressees_.reference_of(stream), {}, params ? envelope.params : std::string_view()});
    if (!watch.expired()) open_.keep(exchange, std::move(question));
}

// Of a call that ended without its answer: nobody is to type one that nothing waits for. Over one
// stream for all a server does not say for which call it asks; with the caller's last all are.
void ServerQuestions::on_unanswered(RequestId call, const PendingRequest& ended) {
    if (!link_.in_use()) return;
    addressees_.abandon(ended);
    if (!open_.asking_any()) return;
    const bool others = requests_.pending().any_of(ended.caller);
    for (const auto& [exchange, id] : open_.asking(ended.caller, others ? call : 0))
        answer(exchange, protocol::response(id, R"({"action":"cancel"})"));
}

void ServerQuestions::release(CallerNumber caller) {
    for (const auto& [exchange, id] : open_.open_at(caller))
        answer(exchange,
               protocol::error_response(id, kInternalError, "the client that was asked has gone"));
}

void ServerQuestions::answer(RequestId exchange, std::string body) {
    const auto wanted = open_.answer(exchange, body.size() + kServerRequestBytes);
    if (!wanted) return loss_.lose(wanted.error());
    if (!*wanted || link_.lost) return;  // who asked is gone: its successor has not asked
    requests_.delivery().respond(exchange, std::move(body));
}

}  // namespace patchbay::connection
