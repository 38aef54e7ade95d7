#include "connection/refusals.hpp"

#include "core/log.hpp"

#include <algorithm>
#include <cstddef>

namespace patchbay::connection {

namespace {

constexpr unsigned kForbidden = 403;

}  // namespace

Refusals::Refusals(const Parts& parts) : parts_(parts), pending_(parts.requests.pending()) {}

bool Refusals::repeatable(const Request& request) const {
    if (request.method != "tools/call" || parts_.server.trust == "untrusted") return false;
    const auto* tool = parts_.tools.find(tool_called(request.params));
    return tool && (tool->hint("idempotentHint") || tool->hint("readOnlyHint"));
}

bool Refusals::is_in_use() const {
    return parts_.link.in_use() && !parts_.supervisor.is_closing();
}

void Refusals::done(plugin::ExchangeId exchange, const plugin::Problem* problem) {
    // A duplex transport only says that the bytes are out; a request-scoped one has ended the
    // answer's stream, and an answer that is not there by now will never come.
    if (!problem && !parts_.link.request_scoped()) return;
    const auto id = pending_.id_of_wire(exchange);
    if (!id) return;  // answered, cancelled, or a notification: the next request meets the same
    if (problem && problem->error.code == ErrorCode::SessionLost) return session_lost(id, *problem);
    if (problem && problem->error.code == ErrorCode::AuthRequired)
        return unauthorized(id, *problem);
    const auto& method = pending_.find(id)->request.method;
    const bool greets = method == "server/discover" || method == "initialize";
    if (parts_.link.handshake && !parts_.link.session && greets) return greeting_ended(id, problem);
    broken(id, problem);
}

void Refusals::greeting_ended(RequestId id, const plugin::Problem* problem) {
    const auto entry = pending_.take(id);  // its handler has nothing to add
    parts_.greeting.on_end(entry.request.method, problem);
}

void Refusals::broken(RequestId id, const plugin::Problem* problem) {
    auto& entry = *pending_.find(id);
    // What came for it is stronger than what the transport believes.
    const bool not_sent = problem && problem->not_sent && !entry.heard;
    const bool cut_off =
        !problem ||
        ((problem->error.code == ErrorCode::Io || problem->error.code == ErrorCode::Unavailable) &&
         problem->http_status < 400);
    const bool again = not_sent || (cut_off && repeatable(entry.request));
    if (again && parts_.link.session && !entry.resent &&
        entry.request.method != "subscriptions/listen") {
        entry.resent = true;
        entry.uncertain = entry.uncertain || !not_sent;
        return parts_.requests.resend(id);
    }
    if (not_sent && is_out_of_reach(id, problem->error)) return lose_unsent(id, problem->error);
    Error error =
        problem ? problem->error : Error{ErrorCode::Protocol, "the stream ended without an answer"};
    // A server that takes every message for a notification.
    if (!problem && !entry.heard)
        error.message +=
            " (a request is answered with application/json or text/event-stream; HTTP 202 and an "
            "empty body are for notifications)";
    const bool refused = problem && problem->http_status >= 400 && problem->http_status < 500;
    if (not_sent && error.code == ErrorCode::Io) error.code = ErrorCode::Unavailable;
    if (not_sent && !entry.uncertain)
        error.message += kNotSent;
    else if (!refused || entry.has_run_maybe())
        error.message += kMayHaveRun;
    parts_.requests.finish(id, parts_.name.named(std::move(error)));
}

// Over HTTP no channel breaks when a server goes: that it cannot be reached is how it is known. Not while it has
// something of another caller's, which it may still answer.
bool Refusals::is_out_of_reach(RequestId id, const Error& error) const {
    const bool unreached = error.code == ErrorCode::Io || error.code == ErrorCode::Unavailable;
    if (!unreached || !parts_.link.request_scoped() || !parts_.supervisor.is_ready()) return false;
    const auto& entry = *pending_.find(id);
    const auto sent = pending_.sent();
    const auto others =
        sent.size() - static_cast<std::size_t>(std::count(sent.begin(), sent.end(), &entry));
    return others == 0 && entry.generation == parts_.link.generation;
}

// Like any request that no server has got, it waits for the next session where there will be one.
void Refusals::lose_unsent(RequestId id, const Error& error) {
    pending_.set_wire_id(id, parts_.requests.delivery().next_id());
    pending_.find(id)->stage = Stage::Waiting;
    parts_.loss.lose({ErrorCode::Unavailable, error.message});
}

void Refusals::headers_mismatch(RequestId id) {
    auto& entry = *pending_.find(id);
    entry.headers_retried = true;
    entry.stage = Stage::Relisting;
    pending_.set_wire_id(id, parts_.requests.delivery().next_id());
    parts_.tools.read_again(lifetime_.guard([this, id](const Result<void>&) {
        const auto* waiting = pending_.find(id);
        if (waiting && waiting->stage == Stage::Relisting) parts_.requests.resend(id);
    }));
}

void Refusals::session_lost(RequestId id, const plugin::Problem& problem) {
    auto& entry = *pending_.find(id);
    if (entry.own()) return own_session_lost(id, problem);
    if (entry.session_retried || entry.heard) {
        Error error{ErrorCode::SessionLost, problem.error.message};
        error.message += entry.heard
                             ? "; the request had begun"
                             : "; the new session was lost as well, the request was not repeated";
        if (entry.has_run_maybe()) error.message += kMayHaveRun;
        return parts_.requests.finish(id, parts_.name.named(std::move(error)));
    }
    entry.session_retried = true;
    const bool current = entry.generation == parts_.link.generation;
    if (parts_.supervisor.is_ready() && current && parts_.link.legacy())
        parts_.owner.renew_session();
    parts_.requests.resend(id);  // now, or when the new session is ready
}

void Refusals::own_session_lost(RequestId id, const plugin::Problem& problem) {
    if (!parts_.link.session && parts_.link.handshake) return greeting_ended(id, &problem);
    const bool current = pending_.find(id)->generation == parts_.link.generation;
    if (parts_.supervisor.is_ready() && current) parts_.owner.renew_session();
    const bool waits = pending_.find(id) != nullptr;
    if (!parts_.supervisor.is_ready() && waits && current && parts_.link.session)
        return parts_.loss.lose(problem.error);  // lost again before it was of any use
    if (waits) parts_.requests.finish(id, parts_.name.named(problem.error));
}

void Refusals::unauthorized(RequestId id, const plugin::Problem& problem) {
    auto& entry = *pending_.find(id);
    auto& credentials = parts_.credentials;
    const bool old_ones = entry.auth_generation != credentials.generation();
    // Refused after it had begun, as a stream that is taken up again may be: once is enough.
    entry.uncertain = entry.has_run_maybe();
    if (entry.heard && !entry.own() && !repeatable(entry.request)) {
        auto error = credentials.error(problem);
        error.message += kMayHaveRun;
        return parts_.requests.finish(id, parts_.name.named(std::move(error)));
    }
    entry.stage = Stage::Authorizing;
    if (!credentials.configured() || entry.auth_rounds >= Credentials::kMostRounds)
        return give_up(id, credentials.error(problem), problem.http_status);
    ++entry.auth_rounds;
    pending_.set_wire_id(id, parts_.requests.delivery().next_id());
    if (old_ones) return parts_.requests.resend(id);  // others have asked already
    // A person may be signing in: no limit of ours runs meanwhile but the caller's own.
    entry.idle_deadline = core::Clock::time_point::max();
    if (entry.own()) entry.deadline = core::Clock::time_point::max();
    parts_.owner.on_asking();
    credentials.auth().ask(problem,
                           lifetime_.guard([this, id, problem](const Result<void>& outcome) {
                               asked(id, problem, outcome);
                           }));
}

void Refusals::asked(RequestId id, const plugin::Problem& problem, const Result<void>& outcome) {
    authorized(outcome);
    auto* waiting = pending_.find(id);
    if (!waiting || waiting->stage != Stage::Authorizing) return;
    if (!outcome)
        return give_up(id, parts_.credentials.error(problem, outcome.error()), problem.http_status);
    if (waiting->own()) waiting->deadline = parts_.time.now() + waiting->wall;
    parts_.requests.resend(id);
}

// Before the messages that waited go out again.
void Refusals::authorized(const Result<void>& outcome) {
    if (!is_in_use()) return;
    if (outcome) parts_.link.channel->set_credentials(parts_.credentials.all());
    parts_.owner.on_asked();
}

void Refusals::challenged(const plugin::Problem& problem) {
    auto& credentials = parts_.credentials;
    if (problem.error.code == ErrorCode::SessionLost) {
        // What waits for changes of the server's goes on hearing of them.
        if (parts_.supervisor.is_ready() && parts_.link.legacy()) parts_.owner.renew_session();
        return;
    }
    // Messages may be welcome where the stream is not: they go on, and it has what there is.
    const auto leave_alone = [this](const Error& why) {
        core::log::warn(parts_.name.before(
            "its background stream is refused, so what it says unasked is not heard: " +
            why.message));
    };
    if (!credentials.configured()) return leave_alone(credentials.error(problem));
    if (!credentials.try_stream_again())
        return core::log::debug(parts_.name.before("its background stream is left alone: " +
                                                   credentials.error(problem).message));
    credentials.auth().ask(
        problem, lifetime_.guard([this, problem, leave_alone](const Result<void>& outcome) {
            authorized(outcome);
            if (!outcome && is_in_use())
                leave_alone(parts_.credentials.error(problem, outcome.error()));
        }));
}

// Forbidden is one thing that may not be done; anything else shuts the whole server.
void Refusals::give_up(RequestId id, Error error, unsigned http_status) {
    if (http_status == kForbidden && parts_.supervisor.is_ready()) {
        if (pending_.find(id)->has_run_maybe()) error.message += kMayHaveRun;
        return parts_.requests.finish(id, parts_.name.named(std::move(error)));
    }
    parts_.loss.lose(std::move(error));
}

}  // namespace patchbay::connection
