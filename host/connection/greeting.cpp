#include "connection/greeting.hpp"

#include "connection/transport_choice.hpp"
#include "core/json.hpp"

#include <algorithm>

namespace patchbay::connection {

namespace {

// A silent server gets `initialize` beside the probe after this long (decision 11). Short, because
// a legacy server that drops unknown methods loses this much once per definition; long enough that
// a modern one that is already running never sees the second question.
constexpr std::chrono::milliseconds kProbeSilence{150};
// A program that has just been started and said nothing yet, not even on stderr, may not be there.
constexpr std::chrono::milliseconds kStartSilence{2'000};
// One that was a modern server the last time is likely to be one that starts slowly; and most that leave
// an `initialize` unanswered are legacy ones, whom the probe would tell nothing.
constexpr std::chrono::milliseconds kKnownSilence{10'000};

}  // namespace

Greeting::Greeting(core::Loop& loop, const Terms& terms, const protocol::ClientIdentity& identity,
                   const config::Server& server, const ServerName& name, Link& link,
                   OwnRequests& requests, GreetingOwner& owner, Loss& loss)
    : terms_(terms),
      identity_(identity),
      server_(server),
      name_(name),
      link_(link),
      requests_(requests),
      owner_(owner),
      loss_(loss),
      silence_(loop) {}

void Greeting::prepare(const std::string& remembered, protocol::Era guess) {
    heard_ = false;
    link_.handshake.emplace(identity_, server_.protocol, remembered, guess);
}

void Greeting::start() {
    drive(link_.handshake->start());
}

void Greeting::heard() {
    if (!std::exchange(heard_, true) && silence_.running()) await_answer();
}

void Greeting::drive(protocol::Handshake::Step step) {
    if (auto* to_send = std::get_if<protocol::Handshake::Send>(&step)) {
        send(std::move(*to_send));
    } else if (auto* done = std::get_if<protocol::Handshake::Done>(&step)) {
        silence_.stop();
        owner_.on_agreed(std::move(done->session));
    } else if (auto* error = std::get_if<Error>(&step)) {
        owner_.on_handshake_failed(std::move(*error));
    }
    if (link_.modern_for_good()) owner_.on_modern_for_good();
}

void Greeting::send(protocol::Handshake::Send to_send) {
    const std::string method = to_send.method;
    requests_.ask({method, std::move(to_send.params), {}, {}}, server_.startup_timeout,
                  [this, method](const Result<Reply>& reply) { on_reply(method, reply); });
    const auto& handshake = link_.handshake;
    const bool alone =
        method == "server/discover" ? handshake->probing() : handshake->guesses_legacy();
    if (alone && !link_.request_scoped()) await_answer();
}

// Gives what was sent first its time alone; begins anew when the server is heard of for the first time.
void Greeting::await_answer() {
    const bool starting = !heard_ && owner_.is_new_process();
    const auto& handshake = *link_.handshake;
    const bool known = handshake.expects_modern() || handshake.guesses_legacy();
    const auto patience = known ? kKnownSilence : starting ? kStartSilence : kProbeSilence;
    // What remains of the limit is for the other question.
    const auto most = server_.startup_timeout / 3;
    silence_.start(std::min<std::chrono::milliseconds>(patience, most),
                   [this] { drive(link_.handshake->on_silence()); });
}

void Greeting::on_reply(const std::string& method, const Result<Reply>& reply) {
    auto& handshake = link_.handshake;
    if (!handshake) return;
    // The slower of two answers.
    if (link_.session && (!handshake->ambiguous() || !reply)) return;
    if (!reply) {
        // A lost channel reports itself; a time-out is the startup timer's to tell.
        if (!link_.in_use()) return;
        const auto& error = reply.error();
        if (error.code == ErrorCode::Protocol || error.code == ErrorCode::Limit)
            return drive(handshake->on_unreadable(
                method, error.message.substr(name_.length_in(error.message))));
        if (link_.request_scoped()) loss_.lose(error);
        return;
    }
    if (!reply->error.empty()) {
        auto error = protocol::parse_rpc_error(reply->error);
        if (!error) return link_.session ? void() : loss_.lose(error.error());
        return drive(handshake->on_error(method, *error));
    }
    const auto value = core::parse_json_object(reply->result, {.depth = terms_.limits.json_depth});
    if (!value) {
        if (link_.session) return;
        return loss_.lose(
            {value.error().code, "result of " + method + " " + value.error().message});
    }
    drive(handshake->on_result(method, *value));
}

void Greeting::on_end(const std::string& method, const plugin::Problem* problem) {
    const Error error =
        problem ? problem->error
                : Error{ErrorCode::Protocol, method + " was not answered: its stream ended"};
    const bool duplex = link_.channel && !link_.request_scoped();
    if (duplex && problem && problem->http_status == 0) return;  // its channel ends, and says why
    owner_.on_handshake_refused(method, problem);
    // No answer, a page for people, a 4xx: what servers of the other era make of a request.
    const bool no_answer =
        !problem || (error.code == ErrorCode::Protocol && problem->http_status < 400);
    // A server that knows no `initialize` may break at it; the probe tells whether that is all.
    const bool broke = problem && problem->http_status >= 500 && problem->http_status <= 501;
    const bool refused = no_answer || is_legacy_hint(problem->http_status) ||
                         (broke && link_.handshake->guesses_legacy());
    if (!refused) return loss_.lose(error);
    drive(link_.handshake->on_refused(method, error.message));
}

}  // namespace patchbay::connection
