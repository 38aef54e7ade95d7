// How a connection comes to life, is found dead, comes back, and ends.
#include "config/launch.hpp"
#include "connection/connection_impl.hpp"
#include "core/json.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"

#include <algorithm>

namespace patchbay::connection {
namespace json = boost::json;
using namespace std::string_literals;

namespace {

// A silent server gets `initialize` beside the probe after this long (decision 11). Short, because
// a legacy server that drops unknown methods loses this much once per definition; long enough that
// a modern one that is already running never sees the second question.
constexpr std::chrono::milliseconds kProbeSilence{150};
// A program that has just been started and said nothing yet, not even on stderr, may not be there.
constexpr std::chrono::milliseconds kStartSilence{2'000};
// One that was a modern server the last time is likely to be one that starts slowly.
constexpr std::chrono::milliseconds kKnownSilence{10'000};
constexpr std::chrono::seconds kSteady{30};  // ready for this long: past failures are forgiven
constexpr std::chrono::seconds kMostRetryAfter{300};  // a server may ask for this much patience

}  // namespace

Connection::Impl::Impl(Connection& owner, const Context& shared, registry::ServerSpec server)
    : self(owner),
      context(shared),
      spec(std::move(server)),
      pending(
          shared.loop, [this](RequestId id) { expired(id); }, shared.now) {
    auth = make_auth_loop();
}

Error Connection::Impl::named(Error error) const {
    const std::string server = "server \"" + spec.id() + "\"";
    // What comes from below may have named it already.
    if (error.message.find(server) != std::string::npos) return error;
    return within(server, std::move(error));
}

std::string Connection::Impl::without_name(const std::string& message) const {
    const std::string server = "server \"" + spec.id() + "\": ";
    return message.rfind(server, 0) == 0 ? message.substr(server.size()) : message;
}

void Connection::Impl::set_state(State next) {
    if (state == next) return;
    state = next;
    context.events.on_state(spec.id(), next);
}

void Connection::Impl::settle() {
    for (auto& handler : std::exchange(settled, {})) context.loop.defer(std::move(handler));
}

void Connection::Impl::connect(std::function<void()> when_settled) {
    if (when_settled) settled.push_back(std::move(when_settled));
    if (state == State::Ready) return settle();
    if (closing) return settle();
    if (channel || preparing || asking_ahead || place || state == State::Connecting)
        return;  // this attempt's end will settle
    if (reconnect_timer) context.loop.cancel(std::exchange(reconnect_timer, 0));
    if (state == State::Failed || state == State::Error) attempts = 0;
    take_place([this] {
        begin_attempt();
        open();
    });
}

// Every way to a channel leads through here, the first as well as those after a loss; an attempt
// that has its place keeps it over all the transports that it tries.
void Connection::Impl::take_place(std::function<void()> start) {
    auto* queue = spec.local() ? context.local_starts : context.remote_starts;
    if (!queue || (place && place->taken())) return start();
    place = queue->enter(start);
    if (place->taken()) return start();
    set_state(attempts == 0 ? State::Connecting : State::Reconnecting);
}

void Connection::Impl::open() {
    set_state(attempts == 0 ? State::Connecting : State::Reconnecting);
    lost_because.reset();
    agreed = false;
    spoke = false;
    answered_late = false;
    initialize_status = 0;
    retry_after = {};
    stderr_tail.clear();
    strays_before = shown.stray_lines;
    shown.facts.clear();
    preparing = true;
    context.expand(spec.config, [this, watch = alive](Result<Expanded> expanded) {
        if (!*watch) return;
        preparing = false;
        if (closing) return;
        if (!expanded) return attempt_failed(expanded.error(), false);
        open_expanded(std::move(*expanded));
    });
}

void Connection::Impl::open_expanded(Expanded expanded) {
    auth_method = std::move(expanded.auth);
    if (auto token = read_bearer_token(); !token) return attempt_failed(token.error(), false);
    if (!auth_choice || !auth_choice->ahead || !auth->credentials().empty())
        return prepare_channel(std::move(expanded.settings));
    asking_ahead = true;
    const std::string url(core::text_in(&expanded.settings, "url").value_or(""));
    auth->ask_ahead(url,
                    [this, settings = std::move(expanded.settings)](const Result<void>& outcome) {
                        asking_ahead = false;
                        if (closing) return;
                        // Nobody has signed in: the server may let us in all the same.
                        if (outcome || outcome.error().code == ErrorCode::AuthRequired)
                            return prepare_channel(settings);
                        attempt_failed(outcome.error(), false);
                    });
}

// The limit of the start counts from here: a library may lie on a disk that does not answer.
void Connection::Impl::prepare_channel(json::object settings) {
    start_startup_timer();
    if (!context.prepare) return open_channel(std::move(settings));
    preparing = true;
    auto ready = [this, watch = alive, now = ++preparation,
                  settings = std::move(settings)](const Result<void>& loaded) {
        if (!*watch || now != preparation) return;
        preparing = false;
        if (closing) return;
        if (!loaded) return attempt_failed(loaded.error(), false);
        open_channel(settings);
    };
    context.prepare(transport, std::move(ready));
}

void Connection::Impl::open_channel(json::object settings) {
    const std::string remembered =
        try_first.empty() ? remembered_version() : std::exchange(try_first, {});
    handshake.emplace(context.identity, spec.config.protocol, remembered);
    plugin::ChannelOptions options{spec.id(), std::move(settings), all_credentials(),
                                   context.limits.message_bytes, signer};
    auto opened = context.open(transport, std::move(options), self);
    if (!opened) {
        return attempt_failed(opened.error(), opened.error().code == ErrorCode::Io ||
                                                  opened.error().code == ErrorCode::Timeout ||
                                                  opened.error().code == ErrorCode::Unavailable);
    }
    channel = std::move(*opened);
}

void Connection::Impl::start_startup_timer() {
    if (startup_timer) context.loop.cancel(startup_timer);
    startup_timer = context.loop.after(spec.config.startup_timeout, [this] {
        startup_timer = 0;
        if (std::exchange(moving_on, false)) {
            // The last transport does not let go of its channel: that is all there is to say.
            return tell_failure(State::Error, named(*lost_because));
        }
        const auto trouble = shown.facts.find("trouble");
        const bool not_open = trouble != shown.facts.end();
        const char* what = session     ? "tools/list was not answered to its end"
                           : preparing ? "the plugin was not loaded"
                           : not_open  ? "not connected"
                                       : "no answer to the handshake";
        lose({ErrorCode::Timeout,
              with_stderr(with_strays(
                  what + " within "s + core::duration(spec.config.startup_timeout) +
                  " (startup_timeout_sec)" +
                  (not_open                          ? ": " + trouble->second
                   : session || !handshake           ? ""
                   : handshake->unreadable().empty() ? ""
                                                     : "; " + handshake->unreadable())))});
    });
}

void Connection::Impl::drive(protocol::Handshake::Step step) {
    if (auto* send = std::get_if<protocol::Handshake::Send>(&step)) {
        const std::string method = send->method;
        send_now(
            {method, std::move(send->params), {}, {}}, spec.config.startup_timeout,
            [this, method](Result<Reply> reply) { handshake_result(method, std::move(reply)); });
        if (handshake->probing() && method == "server/discover" && !channel->request_scoped())
            await_probe();
    } else if (auto* done = std::get_if<protocol::Handshake::Done>(&step)) {
        established(std::move(done->session));
    } else if (auto* error = std::get_if<Error>(&step)) {
        lose({error->code, with_stderr(error->message)});
    }
    // What it asked before it was known to speak a revision without such requests waits for nothing.
    const bool modern_now = session && session->era == protocol::Era::Modern;
    if (modern_now && handshake && !handshake->ambiguous()) server_requests.clear();
}

// Gives the probe its time alone; begins anew when the server is heard of for the first time.
void Connection::Impl::await_probe() {
    if (silence_timer) context.loop.cancel(silence_timer);
    const bool starting = !spoke && shown.facts.count("pid") > 0;
    const auto patience = handshake->expects_modern() ? kKnownSilence
                          : starting                  ? kStartSilence
                                                      : kProbeSilence;
    // What remains of the limit is for `initialize`.
    const auto most = spec.config.startup_timeout / 3;
    silence_timer = context.loop.after(std::min(patience, most), [this] {
        silence_timer = 0;
        drive(handshake->on_silence());
    });
}

void Connection::Impl::handshake_result(const std::string& method, Result<Reply> reply) {
    if (!handshake) return;
    if (session && (!handshake->ambiguous() || !reply)) return;  // the slower of two answers
    if (!reply) {
        // A lost channel reports itself; a time-out is the startup timer's to tell.
        if (!channel || lost_because) return;
        const auto& error = reply.error();
        if (error.code == ErrorCode::Protocol || error.code == ErrorCode::Limit)
            return drive(handshake->on_unreadable(method, without_name(error.message)));
        if (channel->request_scoped()) lose(error);
        return;
    }
    if (!reply->error.empty()) {
        auto error = protocol::parse_rpc_error(reply->error);
        if (!error) return session ? void() : lose(error.error());
        return drive(handshake->on_error(method, *error));
    }
    const auto value = core::parse_json_object(reply->result, {.depth = context.limits.json_depth});
    if (!value) {
        if (session) return;
        return lose({value.error().code, "result of " + method + " " + value.error().message});
    }
    drive(handshake->on_result(method, *value));
}

void Connection::Impl::established(protocol::Session made) {
    if (silence_timer) context.loop.cancel(std::exchange(silence_timer, 0));
    // The server has settled on the other era after all: its tools are listed anew.
    if (session && listen_id) cancel(std::exchange(listen_id, 0), "the revision changes");
    session = std::move(made);
    retried_without_probe = false;
    const bool modern = session->era == protocol::Era::Modern;
    agreed = true;
    open_auth_rounds = 0;
    ++generation;
    context.eras.remember(spec.definition_key,
                          {session->version, transport == spec.config.transport ? "" : transport});
    if (!modern) notify("notifications/initialized", {});
    use_log_level();
    subscribe_again();
    if (session->can("tools")) return list_tools({});
    tools_error.reset();
    if (state != State::Ready) ready();
}

void Connection::Impl::ready() {
    if (startup_timer) context.loop.cancel(std::exchange(startup_timer, 0));
    place.reset();
    misses = 0;
    ready_at = context.now();
    shown.last_connected = std::chrono::system_clock::now();
    set_state(State::Ready);
    for (const auto id : std::exchange(unsent, {})) {
        auto* waiting = pending.find(id);
        if (waiting && waiting->stage == Stage::Waiting) transmit(id, *waiting);
    }
    settle();
    if (!context.long_lived) return;
    listen();
    if (context.health.ping_interval.count() > 0) {
        health_timer = context.loop.after(context.health.ping_interval, [this] { check_health(); });
    }
}

void Connection::Impl::check_health() {
    health_timer = context.loop.after(context.health.ping_interval, [this] { check_health(); });
    if (std::exchange(heard, false)) {
        misses = 0;
        return;
    }
    const char* method = session->era == protocol::Era::Modern ? "server/discover" : "ping";
    send_now({method, {}, {}, {}}, context.health.ping_timeout, [this](Result<Reply> reply) {
        if (reply || reply.error().code != ErrorCode::Timeout) return;
        if (++misses >= context.health.misses) {
            lose({ErrorCode::Unavailable, "no answer to " + std::to_string(misses) +
                                              " health checks in a row (health.misses)"});
        }
    });
}

void Connection::Impl::listen() {
    if (!session || session->era != protocol::Era::Modern) return;
    if (listen_id) {
        const auto before = std::exchange(listen_id, 0);
        cancel(before, "subscription changes");
    }
    json::object wanted;
    if (session->can("tools", "listChanged")) wanted["toolsListChanged"] = true;
    if (session->can("prompts", "listChanged")) wanted["promptsListChanged"] = true;
    if (session->can("resources", "listChanged")) wanted["resourcesListChanged"] = true;
    if (!subscriptions.empty()) {
        json::array uris(subscriptions.begin(), subscriptions.end());
        wanted["resourceSubscriptions"] = std::move(uris);
    }
    if (wanted.empty()) return;
    Request request{
        "subscriptions/listen", {"\"notifications\":" + json::serialize(wanted), ""}, {}, {}};
    listen_at = context.now();
    listen_id =
        send_now(std::move(request), std::chrono::milliseconds::max(), [this](Result<Reply> reply) {
            if (!reply && reply.error().code == ErrorCode::Cancelled) return;
            listen_id = 0;
            if (state == State::Ready && (!reply || reply->error.empty())) listen_again();
        });
}

// A server that ends the stream as soon as it is open is asked less and less often.
void Connection::Impl::listen_again() {
    const bool lived = context.now() - listen_at >= context.listen_most;
    short_listens = lived ? 0 : short_listens + 1;
    const auto doubled = context.listen_first * (1u << std::min(short_listens, 16u)) / 2;
    const auto pause = std::clamp(doubled, context.listen_first, context.listen_most);
    listen_timer = context.loop.after(pause, [this] {
        listen_timer = 0;
        listen();
    });
}

// Who waits hears of it now; the server may take its time to leave.
void Connection::Impl::lose(Error error) {
    if (lost_because) return;
    lost_because = error;
    if (!channel) return attempt_failed(std::move(error), true);
    if (next_transport(error)) {
        moving_on = true;
        if (!startup_timer) start_startup_timer();
        fail_all(named(*lost_because), Which::Started);  // of the handshake; the others wait on
        channel->close();
        return;
    }
    lost_because = error;
    lost_when_ready = state == State::Ready;
    if (lost_when_ready) forgive();
    channel->close();  // channel_gone() does the rest
    if (lost_when_ready) error = within("connection lost", std::move(error));
    const State next = error.code == ErrorCode::AuthRequired ? State::AuthRequired
                       : !closing && comes_back(error)       ? State::Reconnecting
                                                             : State::Failed;
    tell_failure(next, named(std::move(error)));
}

// One that falls over right after each start counts its attempts on.
void Connection::Impl::forgive() {
    if (context.now() - ready_at >= kSteady) attempts = 0;
}

bool Connection::Impl::comes_back(const Error& error) const {
    return error.code != ErrorCode::AuthRequired && context.long_lived && spec.config.restart &&
           attempts < context.health.reconnect_attempts;
}

void Connection::Impl::tell_failure(State next, const Error& error) {
    shown.last_error = core::printable(core::log::masked(error.message), 2000);
    core::log::debug(shown.last_error);
    place.reset();
    list_running = list_again = changed_meanwhile = false;  // what its page brings is not a list
    failed_at = context.now();
    // A server that never came up is told of to everybody; one that was there and comes back may
    // be waited for by what has certainly not been sent.
    const bool wait_on = next == State::Reconnecting && generation > 0;
    wait_on ? keep_waiting() : unsent.clear();
    set_state(next);
    fail_all(error, wait_on ? Which::Started : Which::All);
    tools_done(error);
    settle();
}

void Connection::Impl::channel_gone(const plugin::Problem* problem) {
    for (auto* timer :
         {&startup_timer, &silence_timer, &health_timer, &listen_timer, &relist_timer}) {
        if (*timer) context.loop.cancel(std::exchange(*timer, 0));
    }
    // The channel is still delivering this very event: it goes when that has returned.
    context.loop.defer([gone = std::shared_ptr<plugin::Channel>(std::move(channel))] {});
    const bool was_probing = handshake && handshake->probing() && !session;
    const bool was_ready = state == State::Ready || std::exchange(lost_when_ready, false);
    session.reset();
    meta.clear();
    outbox.clear();
    paused = false;
    server_requests.clear();
    keep_waiting();  // what the outbox held is not with the server
    listen_id = 0;
    tools_until.reset();
    list_running = list_again = changed_meanwhile = false;
    shown.facts.erase("pid");

    if (closing) {
        place.reset();
        fail_all(named({ErrorCode::Unavailable, "the connection was closed"}));
        set_state(State::Stopped);
        settle();
        tools_done(named({ErrorCode::Unavailable, "the connection was closed"}));
        return close_auth();
    }
    const bool refused = !lost_because && problem && problem->error.code == ErrorCode::AuthRequired;
    const auto died = [&](const std::string& why) {
        return with_stderr(was_ready ? why : with_strays(why)) +
               (generation == 0 ? config::hint_of_cwd(spec.config) : std::string());
    };
    Error error = lost_because ? *lost_because
                  : refused    ? auth_error(*problem, {})
                  : problem    ? Error{problem->error.code, died(problem->error.message)}
                               : Error{ErrorCode::Unavailable, "the connection was closed"};
    if (std::exchange(moving_on, false)) return take_place([this] { open(); });
    if (refused && reopen_authorized(*problem)) return fail_all(named(error), Which::Started);
    // Some legacy servers cannot stand the probe and leave: once more, without it.
    if (was_probing && !lost_because && spec.config.protocol == "auto" && !retried_without_probe) {
        retried_without_probe = true;
        try_first = protocol::kLegacyVersion;
        // The probe itself; what waits for Ready goes on waiting.
        fail_all(named(error), Which::Started);
        return take_place([this] { open(); });
    }
    if (was_ready) {
        forgive();
        ++shown.restarts;
        error = within("connection lost", std::move(error));
    }
    attempt_failed(std::move(error), true);
}

void Connection::Impl::attempt_failed(Error error, bool retryable) {
    if (startup_timer) context.loop.cancel(std::exchange(startup_timer, 0));
    if (std::exchange(preparing, false)) ++preparation;  // what comes of it is nobody's any more
    handshake.reset();
    retried_without_probe = false;
    if (!lost_because && next_transport(error)) {
        fail_all(named(error), Which::Started);
        return take_place([this] { open(); });
    }
    const bool again = retryable && comes_back(error);
    const State next = error.code == ErrorCode::AuthRequired ? State::AuthRequired
                       : again                               ? State::Reconnecting
                       : retryable                           ? State::Failed
                                                             : State::Error;
    tell_failure(next, named(std::move(error)));
    if (again) schedule_reconnect();
}

void Connection::Impl::schedule_reconnect() {
    auto delay = context.health.reconnect_first * (1u << std::min(attempts, 16u));
    ++attempts;
    delay = std::max(std::min(delay, context.health.reconnect_most),
                     std::min<std::chrono::milliseconds>(retry_after, kMostRetryAfter));
    reconnect_timer = context.loop.after(delay, [this] {
        reconnect_timer = 0;
        take_place([this] {
            begin_attempt();
            open();
        });
    });
}

void Connection::Impl::close(std::function<void()> when_closed) {
    closed.push_back(std::move(when_closed));
    if (reconnect_timer) context.loop.cancel(std::exchange(reconnect_timer, 0));
    const bool first = !std::exchange(closing, true);
    if (channel) {
        if (first) channel->close();
        return;
    }
    if (startup_timer) context.loop.cancel(std::exchange(startup_timer, 0));
    place.reset();
    fail_all(named({ErrorCode::Unavailable, "the connection was closed"}));
    set_state(State::Stopped);
    settle();
    close_auth();
}

// Its calls began under a definition that is no longer wanted, and end under it.
void Connection::Impl::close_if_idle() {
    if (!closing && !pending.any_begun()) close([] {});
}

// The last to go: an operation may still be under way for a person.
void Connection::Impl::close_auth() {
    auth->close([this, watch = alive] {
        if (!*watch) return;
        for (auto& handler : std::exchange(closed, {})) context.loop.defer(std::move(handler));
    });
}

}  // namespace patchbay::connection
