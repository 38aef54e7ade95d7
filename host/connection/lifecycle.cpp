// How a connection comes to life, is found dead, comes back, and ends.
#include "config/launch.hpp"
#include "connection/connection_impl.hpp"
#include "core/json.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

namespace patchbay::connection {

using namespace std::string_literals;
using Phase = Supervisor::Phase;
using Retry = Supervisor::Retry;
using Which = Requests::Which;

Connection::Impl::Impl(const Context& shared, registry::ServerSpec server,
                       std::shared_ptr<Starts> of)
    : context(shared), spec(std::move(server)), starts(std::move(of)), audience(shared.callers) {}

Connection::Impl::Live::Live(Impl& owner)
    : listen(owner.context.loop, owner.context.terms, owner.requests) {
    if (owner.context.terms.long_lived)
        health.emplace(owner.context.loop, owner.context.terms, owner.link, owner.requests, owner);
}

void Connection::Impl::pass(const std::function<void()>& transition) {
    const auto before = supervisor.shown();
    transition();
    if (supervisor.shown() != before) context.events.on_state(spec.id(), supervisor.shown());
}

void Connection::Impl::settle() {
    for (auto& handler : std::exchange(waiting_to_settle, {}))
        context.loop.defer(std::move(handler));
}

void Connection::Impl::connect(std::function<void()> when_settled) {
    if (when_settled) waiting_to_settle.push_back(std::move(when_settled));
    if (supervisor.is_ready() || supervisor.is_closing() || supervisor.stays_down())
        return settle();
    if (supervisor.want()) begin_attempt();  // otherwise the end of the one under way will settle
}

RequestId Connection::Impl::request(CallerNumber caller, Request&& asked, ReplyHandler&& handler) {
    if (supervisor.is_closing())
        return requests.refuse({ErrorCode::Unavailable, "the connection is closed"},
                               std::move(handler));
    if (auto why = why_put_off()) return requests.refuse(std::move(*why), std::move(handler));
    const auto id = requests.add(caller, std::move(asked), std::move(handler));
    if (supervisor.wakes() && requests.pending().find(id))
        context.loop.defer(lifetime.guard([this] { connect({}); }));
    return id;
}

void Connection::Impl::release(CallerNumber caller) {
    audience.remove(caller);
    // What it asked first: to refuse what it was asked may end the connection, and all that is in it.
    requests.drop_all_of(caller);
    questions.release(caller);
    wishes.release(caller);
}

Error Connection::Impl::why_not_ready() const {
    const auto state = supervisor.shown();
    return {refusal_of(state), name.in_state(name_of(state), shown.last_error)};
}

std::optional<Error> Connection::Impl::why_put_off() const {
    if (supervisor.refuses()) return why_not_ready();
    // A new caller's asks no sooner than an old one's.
    const auto& terms = context.terms;
    if (supervisor.phase() == Phase::Idle &&
        starts->failed_within(terms.health.reconnect_most, context.loop.now()))
        return starts->last.why;
    return {};
}

void Connection::Impl::begin_attempt() {
    back_off.stop();
    const bool has_old =
        spec.config.transport == "http" && context.transports.has(TransportChoice::kOldTransport);
    choice.begin(context.eras.find(spec.definition_key), has_old);
    attempt.emplace(context, spec, starts, credentials, *this);
    attempt->go();
}

void Connection::Impl::on_queued() {
    pass([&] { supervisor.queue(); });
}

void Connection::Impl::on_opening() {
    pass([&] { supervisor.attempt(); });
    agreed_transport.clear();
    choice.opening();
    requests.begin_channel();
    reception.begin();
}

void Connection::Impl::on_way_free(boost::json::object settings) {
    greeting.prepare(attempt->probe_is_left_out()
                         ? std::string(protocol::kLegacyVersion)
                         : choice.remembered_version(context.eras.find(spec.definition_key)));
    plugin::ChannelOptions options{spec.id(), std::move(settings), credentials.all(),
                                   context.terms.limits.message_bytes, credentials.signer()};
    auto opened = context.transports.open(choice.current(), std::move(options), reception);
    if (opened) {
        link.channel = std::move(*opened);
        return;
    }
    const auto code = opened.error().code;
    const bool passing =
        code == ErrorCode::Io || code == ErrorCode::Timeout || code == ErrorCode::Unavailable;
    on_attempt_failed(opened.error(), passing ? Retry::Worthwhile : Retry::Useless);
}

namespace {

// Where nothing came that could say more.
std::string what_to_look_at(const registry::ServerSpec& spec) {
    const auto& settings = spec.config.settings;
    const auto url = core::text_in(&settings, "url").value_or("");
    // A query may hold a secret.
    const auto who = url.empty() ? "this" : core::printable(url.substr(0, url.find('?')), 200);
    return "; is " + who + " an MCP server? " +
           (settings.contains("command") ? "Run its command by hand" : "Ask whoever runs it") +
           ", or raise that time";
}

}  // namespace

void Connection::Impl::on_start_expired() {
    if (supervisor.phase() == Phase::MovingOn) {
        // The last transport does not let go of its channel: that is all there is to say.
        return tell_failure(name.named(link.lost->why), [&] { supervisor.give_up(); });
    }
    const auto* trouble = reception.trouble();
    const char* what = link.session            ? "tools/list was not answered to its end"
                       : attempt->is_loading() ? "the plugin was not loaded"
                       : trouble               ? "not connected"
                                               : "no answer to the handshake";
    const bool silent = link.session || !link.handshake || link.handshake->unreadable().empty();
    const std::string why =
        trouble  ? ": " + *trouble
        : silent ? (link.session || attempt->is_loading() ? "" : what_to_look_at(spec))
                 : "; " + link.handshake->unreadable();
    lose({ErrorCode::Timeout,
          reception.with_output(what + " within "s + core::duration(spec.config.startup_timeout) +
                                " (" + spec.config.startup_timeout_from + ")" + why)});
}

void Connection::Impl::on_handshake_refused(const std::string& method,
                                            const plugin::Problem* problem) {
    if (problem) supervisor.server_asks_for(std::chrono::milliseconds(problem->retry_after_ms));
    if (method == "initialize") choice.initialize_refused(problem ? problem->http_status : 0);
}

void Connection::Impl::on_handshake_failed(Error error) {
    lose({error.code, reception.with_stderr(std::move(error.message))});
}

void Connection::Impl::on_agreed(protocol::Session made) {
    // The server has settled on the other era after all: its tools are listed anew.
    if (link.session && live) live->listen.close("the revision changes");
    link.session = std::move(made);
    ++link.generation;
    agreed_transport = choice.current();
    credentials.agreed();
    context.eras.remember(
        spec.definition_key,
        {link.session->version, agreed_transport == spec.config.transport ? "" : agreed_transport});
    link.meta.clear();
    if (link.legacy()) requests.notify("notifications/initialized", {});
    wishes.renew();
    const bool has_tools = link.session->can("tools");
    tools.begin_session(has_tools ? ToolList::Offered::Tools : ToolList::Offered::Nothing);
    if (!has_tools && !live) ready();
}

void Connection::Impl::ready() {
    starts->well = true;  // first, for who takes the place that this one has had
    attempt.reset();
    shown.last_connected = context.loop.time().date();
    live.emplace(*this);
    pass([&] { supervisor.ready(); });
    requests.send_waiting();
    settle();
    // What was asked for before is asked for even by a command that does not stay.
    if (context.terms.long_lived || !wishes.resources().empty()) on_resources_wanted();
}

void Connection::Impl::on_resources_wanted() {
    if (live) live->listen.open(*link.session, wishes.resources());
}

void Connection::Impl::on_heard() {
    if (live && live->health) live->health->heard();
}

void Connection::Impl::on_malformed(const Error& error) {
    shown.last_error = name.before(error.message);
    core::log::debug(shown.last_error);
}

void Connection::Impl::on_listed(std::shared_ptr<const catalogue::Listing> listing) {
    // What another definition lists now is not to be replaced by this one's.
    const bool current = !requests.draining() && !supervisor.is_closing();
    if (context.catalogue && current) context.catalogue->publish(spec.id(), std::move(listing));
}

void Connection::Impl::on_tools_changed(const Result<void>& outcome) {
    if (!outcome) shown.last_error = core::printable(outcome.error().message, 1000);
    context.events.on_tools_changed(spec.id());
}

void Connection::Impl::on_tools_read() {
    if (!live) ready();
}

// A server whose first list does not come is of no use yet, and comes back as one that was lost; one
// that is ready keeps the tools it has.
bool Connection::Impl::on_list_unanswered(const Error& error) {
    if (live) return false;
    auto told = error;
    if (told.message.find("tools/list") == std::string::npos)
        told.message.insert(name.length_in(told.message), "tools/list failed: ");
    told.message = reception.with_stderr(std::move(told.message));
    lose(std::move(told));
    return true;
}

void Connection::Impl::renew_session() {
    core::log::debug("server \"" + spec.id() + "\" forgot its session; a new one is begun");
    live.reset();
    tools.end_session();
    const std::string version = link.session->version;
    link.session.reset();
    questions.clear();  // of the old session
    pass([&] { supervisor.renew(); });
    attempt.emplace(context, spec, starts, credentials, *this);
    attempt->begin_limit();
    greeting.prepare(version);
    greeting.start();
}

void Connection::Impl::on_asking() {
    if (attempt) attempt->wait_for_person();
}

void Connection::Impl::on_asked() {
    if (attempt) attempt->keep_limit();
}

// False: this failure is the last word.
bool Connection::Impl::next_transport(Error& error) {
    if (!agreed_transport.empty() || supervisor.is_closing() || !choice.next(error)) return false;
    attempt->try_probe_again();
    return true;
}

// Who waits hears of it now; the server may take its time to leave.
void Connection::Impl::lose(Error error) {
    if (link.lost) return;
    if (!link.channel) {
        // The limit of the start is that of all transports: there is no time for another.
        tell_failure(name.named(error), [&] { supervisor.fail(error, Retry::Worthwhile); });
        return;
    }
    if (next_transport(error)) {
        link.lost = Lost{error};
        pass([&] { supervisor.move_on(); });
        attempt->keep_limit();
        requests.fail_all(name.named(error), Which::Started);  // of the handshake
        link.channel->close();                                 // on_channel_closed() goes on
        return;
    }
    link.lost = Lost{error, live.has_value()};
    link.channel->close();  // on_channel_closed() does the rest
    if (live) error = within("connection lost", std::move(error));
    tell_failure(name.named(error), [&] { supervisor.lose(error); });
}

void Connection::Impl::tell_failure(const Error& error, const std::function<void()>& transition) {
    shown.last_error = core::printable(core::log::masked(error.message), 2000);
    core::log::debug(shown.last_error);
    live.reset();
    tools.end_session();  // what its page brings is not a list
    const auto was = supervisor.phase();
    pass(transition);
    if (was == Phase::Attempting || was == Phase::MovingOn)
        starts->fail({error,
                      supervisor.shown() == State::Error ? Retry::Useless : Retry::Worthwhile,
                      context.loop.now()});
    attempt.reset();
    // A server that never came up is told of to everybody; one that was there and comes back may
    // be waited for by what has certainly not been sent.
    const bool wait_on = supervisor.shown() == State::Reconnecting && link.generation > 0;
    wait_on ? requests.keep_waiting() : requests.forget_waiting();
    requests.fail_all(error, wait_on ? Which::Started : Which::All);
    tools.tell(error);
    settle();
    if (supervisor.phase() == Phase::BackingOff)
        back_off.start(supervisor.pause(), [this, failed = starts->failed] {
            starts->failed == failed ? begin_attempt() : on_failed_beside();
        });
}

void Connection::Impl::on_failed_beside() {
    const auto failure = starts->last;
    tell_failure(failure.why, [&] { supervisor.fail(failure.why, failure.retry); });
}

void Connection::Impl::on_attempt_failed(Error error, Retry retry) {
    if (next_transport(error)) {
        requests.fail_all(name.named(error), Which::Started);
        attempt->end_limit();
        return attempt->go();
    }
    tell_failure(name.named(error), [&] { supervisor.fail(error, retry); });
}

void Connection::Impl::on_channel_closed(const plugin::Problem* problem) {
    const bool was_ready = live || (link.lost && link.lost->when_ready);
    const bool was_probing = link.handshake && link.handshake->probing() && !link.session;
    const auto lost = std::move(link.lost);
    greeting.stop();
    if (attempt) attempt->end_limit();
    live.reset();
    tools.end_session();
    // The channel is still delivering this very event: it goes when that has returned.
    context.loop.defer([gone = std::shared_ptr<plugin::Channel>(link.end())] {});
    questions.clear();
    addressees.clear();
    requests.end_channel();
    reception.process_gone();
    if (supervisor.is_closing()) return stopped();
    const bool refused = !lost && problem && problem->error.code == ErrorCode::AuthRequired;
    Error error = lost ? lost->why : why_gone(problem, was_ready);
    if (requests.draining()) {
        // What it never got is not for a server that nobody wants any more.
        if (was_ready) error = within("connection lost", std::move(error));
        supervisor.stop();
        requests.fail_all(name.named(error));
        return stopped();
    }
    if (supervisor.phase() == Phase::MovingOn) return attempt->go();
    if (refused && reopen_authorized(*problem))
        return requests.fail_all(name.named(error), Which::Started);
    if (was_probing && !lost && spec.config.protocol == "auto" && attempt->leave_out_probe()) {
        // The probe itself; what waits for Ready goes on waiting.
        requests.fail_all(name.named(error), Which::Started);
        return attempt->go();
    }
    if (was_ready) {
        supervisor.was_ready();
        ++shown.restarts;
        error = within("connection lost", std::move(error));
    }
    if (!lost) return on_attempt_failed(std::move(error), Retry::Worthwhile);
    tell_failure(name.named(error), [&] { supervisor.fail(error, Retry::Worthwhile); });
}

Error Connection::Impl::why_gone(const plugin::Problem* problem, bool was_ready) const {
    if (!problem) return {ErrorCode::Unavailable, "the connection was closed"};
    if (problem->error.code == ErrorCode::AuthRequired) return credentials.error(*problem);
    const auto& why = problem->error.message;
    const bool strays_count = !was_ready && reception.has_strays();
    return {problem->error.code,
            (strays_count   ? reception.with_output(why)
             : spec.local() ? reception.with_last_words(why)
                            : reception.with_stderr(why)) +
                (link.generation == 0 ? config::hint_of_cwd(spec.config) : std::string())};
}

// The channel itself was refused: it is opened again with what is granted.
bool Connection::Impl::reopen_authorized(const plugin::Problem& problem) {
    if (!credentials.try_channel_again()) return false;
    pass([&] { supervisor.renew(); });
    if (!attempt) attempt.emplace(context, spec, starts, credentials, *this);
    attempt->wait_for_person();
    credentials.ask(problem, attempt->guard([this, problem](const Result<void>& outcome) {
        if (outcome) return attempt->go();
        const auto error = credentials.error(problem, outcome.error());
        tell_failure(name.named(error), [&] { supervisor.fail(error, Retry::Useless); });
    }));
    return true;
}

void Connection::Impl::close(std::function<void()> when_closed) {
    waiting_to_close.push_back(std::move(when_closed));
    back_off.stop();
    tools.end_session();
    const bool first = !supervisor.is_closing();
    supervisor.stop();
    if (!link.channel) return stopped();
    if (first) link.channel->close();
}

// Its calls began under a definition that is no longer wanted, and end under it.
void Connection::Impl::close_when_idle(std::function<void()> when_closed) {
    if (supervisor.is_closing() || !link.channel || !requests.pending().any_begun())
        return close(std::move(when_closed));
    waiting_to_close.push_back(std::move(when_closed));
    requests.drain([this] {
        if (!supervisor.is_closing()) close([] {});
    });
}

// The last to go is who signs in: an operation may still be under way for a person.
void Connection::Impl::stopped() {
    const auto error = name.named({ErrorCode::Unavailable, "the connection was closed"});
    attempt.reset();
    requests.fail_all(error);
    pass([&] { supervisor.stopped(); });
    settle();
    tools.tell(error);
    credentials.close(lifetime.guard([this] {
        for (auto& handler : std::exchange(waiting_to_close, {}))
            context.loop.defer(std::move(handler));
    }));
}

void Connection::Impl::abandon() {
    // First what is deferred, so that no handler below is met by it half torn down.
    lifetime.end();
    live.reset();
    attempt.reset();
    back_off.stop();
    supervisor.stopped();  // a handler that asks again is refused, not connected
    requests.fail_all(name.named({ErrorCode::Unavailable, "the host is closing"}));
    link.end();  // before the reception, which hears its events
}

}  // namespace patchbay::connection
