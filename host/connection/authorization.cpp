// What a refusal for want of credentials leads to: the auth loop is asked once for everybody who
// met it, the channel gets what was granted, and each message is sent again; or an error that says
// who refused and what to do.
#include "connection/connection_impl.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace patchbay::connection {

namespace {

constexpr unsigned kMostAuthRounds = 2;        // of one message, or of the background stream
constexpr std::chrono::seconds kForgiven{60};  // a stream that was refused is, after this long
constexpr unsigned kForbidden = 403;

bool fits_a_header(const std::string& value) {
    return !value.empty() && std::all_of(value.begin(), value.end(),
                                         [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace

std::unique_ptr<AuthLoop> Connection::Impl::make_auth_loop() {
    AuthLoop::Make make;
    auth_choice = context.credentials.choice(spec.config);
    if (auth_choice) {
        make = [this, watch = alive](plugin::AuthenticatorEvents& events, AuthLoop::Made made) {
            const auto told = [this, made](Result<std::unique_ptr<plugin::Authenticator>> outcome) {
                if (outcome) return made(std::move(outcome));
                made(within(auth_choice->name, outcome.error()));
            };
            if (!auth_method) return told(auth_method.error());
            context.credentials.prepare(
                *auth_method,
                [this, watch, told, &events, method = *auth_method](const Result<void>& ready) {
                    if (!*watch) return;
                    if (closing)
                        return told(Error{ErrorCode::Unavailable, "the connection is closed"});
                    if (!ready) return told(ready.error());
                    told(context.credentials.authenticator(spec.config, method, signer, events));
                });
        };
    }
    return std::make_unique<AuthLoop>(context.loop, std::move(make), context.terms.asking, [this] {
        if (channel) channel->set_credentials(all_credentials());
    });
}

Result<void> Connection::Impl::read_bearer_token() {
    bearer.clear();
    const auto& wanted = spec.config.bearer_token_env_var;
    if (wanted.empty()) return {};
    const auto token = context.credentials.variable(wanted);
    const auto& written = spec.config.place;
    if (!token)
        return Error{ErrorCode::Invalid,
                     "the variable " + core::printable(wanted, 80) + " (bearer_token_env_var" +
                         (written.file.empty() ? "" : " of " + config::to_string(written)) +
                         ") is not set"};
    if (!fits_a_header(*token))
        return Error{ErrorCode::Invalid, "the variable " + core::printable(wanted, 80) +
                                             " (bearer_token_env_var) holds no token: it is empty "
                                             "or has characters that no header can carry"};
    secrets.add(*token);
    bearer.push_back({"Authorization", "Bearer " + *token, true});
    return {};
}

// What the auth method granted is stronger than the token from the environment.
std::vector<plugin::Header> Connection::Impl::all_credentials() const {
    auto all = auth->credentials();
    const bool granted = std::any_of(all.begin(), all.end(), [&](const auto& header) {
        return core::lower(header.name) == "authorization";
    });
    if (!granted) all.insert(all.end(), bearer.begin(), bearer.end());
    return all;
}

void Connection::Impl::unauthorized(RequestId id, const plugin::Problem& problem) {
    auto& entry = *pending.find(id);
    const bool old_ones = entry.auth_generation != auth->generation();
    // Refused after it had begun, as a stream that is taken up again may be: once is enough.
    if (entry.heard && !entry.own && !repeatable(entry.request)) {
        auto error = auth_error(problem, {});
        error.message += "; the request may have been carried out";
        return finish(id, named(std::move(error)));
    }
    entry.stage = Stage::Authorizing;
    if (!auth->configured() || entry.auth_rounds >= kMostAuthRounds)
        return give_up_authorizing(id, auth_error(problem, {}), problem.http_status);
    ++entry.auth_rounds;
    entry.uncertain = entry.uncertain || entry.heard;
    pending.set_wire_id(id, ++last_id);
    if (old_ones) return resend(id);  // others have asked already
    // A person may be signing in: no limit of ours runs meanwhile but the caller's own.
    entry.idle_deadline = core::Clock::time_point::max();
    if (entry.own) entry.deadline = core::Clock::time_point::max();
    startup_timer.stop();
    place.reset();  // nor does anybody queue behind a person
    auth->ask(problem, [this, id, problem](const Result<void>& outcome) {
        authorized(outcome);
        auto* waiting = pending.find(id);
        if (!waiting || waiting->stage != Stage::Authorizing) return;
        if (!outcome)
            return give_up_authorizing(id, auth_error(problem, outcome.error()),
                                       problem.http_status);
        if (waiting->own) waiting->deadline = context.terms.now() + waiting->wall;
        resend(id);
    });
}

// Before the messages that waited go out again.
void Connection::Impl::authorized(const Result<void>& outcome) {
    if (!channel || closing || lost_because) return;
    if (outcome) channel->set_credentials(all_credentials());
    if (state != State::Ready && !startup_timer.running()) start_startup_timer();
}

void Connection::Impl::challenged(const plugin::Problem& problem) {
    if (problem.error.code == ErrorCode::SessionLost) return stream_lost_session();
    if (!auth->configured()) return give_up_authorizing(0, auth_error(problem, {}), 0);
    // Messages may be welcome where the stream is not: they go on, and it has what there is.
    if (context.terms.now() - stream_refused_at >= kForgiven) stream_auth_rounds = 0;
    stream_refused_at = context.terms.now();
    if (stream_auth_rounds >= kMostAuthRounds)
        return core::log::debug(
            named({ErrorCode::AuthRequired,
                   "its background stream is left alone: " + auth_error(problem, {}).message})
                .message);
    ++stream_auth_rounds;
    auth->ask(problem, [this, problem](const Result<void>& outcome) {
        authorized(outcome);
        const bool matters = channel && !closing && !lost_because;
        if (!outcome && matters) give_up_authorizing(0, auth_error(problem, outcome.error()), 0);
    });
}

// The channel itself was refused: it is opened again with what is granted.
bool Connection::Impl::reopen_authorized(const plugin::Problem& problem) {
    if (!auth->configured() || open_auth_rounds >= kMostAuthRounds) return false;
    ++open_auth_rounds;
    if (state == State::Ready) set_state(State::Reconnecting);
    startup_timer.stop();
    place.reset();
    auth->ask(problem, [this, problem](const Result<void>& outcome) {
        if (closing || channel || place || preparing) return;
        if (outcome) return take_place([this] { open(); });
        attempt_failed(auth_error(problem, outcome.error()), false);
    });
    return true;
}

Error Connection::Impl::auth_error(const plugin::Problem& problem,
                                   const std::optional<Error>& refused) const {
    std::string text = problem.error.message;
    if (problem.http_status && text.find(std::to_string(problem.http_status)) == std::string::npos)
        text = "HTTP " + std::to_string(problem.http_status) + ": " + text;
    const auto url = problem.url.substr(0, problem.url.find('?'));  // a query may hold a secret
    if (!url.empty() && text.find(url) == std::string::npos) text += " (" + url + ")";
    if (refused) return {ErrorCode::AuthRequired, text + "; " + refused->message};
    if (auth->configured())
        return {ErrorCode::AuthRequired, text + "; " + auth_choice->name +
                                             " gave credentials that were refused " +
                                             std::to_string(kMostAuthRounds) + " times"};
    return {ErrorCode::AuthRequired,
            text + "; " +
                (bearer.empty() ? "set auth or bearer_token_env_var for this server"
                                : "the token in " + spec.config.bearer_token_env_var +
                                      " is not accepted, give another one")};
}

// Forbidden is one thing that may not be done; anything else shuts the whole server.
void Connection::Impl::give_up_authorizing(RequestId id, Error error, unsigned http_status) {
    if (id && http_status == kForbidden && state == State::Ready)
        return finish(id, named(std::move(error)));
    lose(std::move(error));
}

}  // namespace patchbay::connection
