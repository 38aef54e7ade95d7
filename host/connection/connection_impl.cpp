#include "connection/connection_impl.hpp"

#include "config/launch.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

#include <utility>

namespace patchbay::connection {

using Retry = Supervisor::Retry;
using Which = Requests::Which;

Connection::Impl::Impl(const Context& shared, registry::ServerSpec server,
                       std::shared_ptr<Starts> starts, Manner how)
    : context(shared),
      spec(std::move(server)),
      manner(std::move(how)),
      course(context, spec.config, name, std::move(starts)) {}

std::optional<protocol::ClientIdentity> Connection::Impl::with(
    const std::optional<boost::json::object>& declares) const {
    if (!declares) return {};
    auto own = context.terms.identity;
    own.capabilities = *declares;
    return own;
}

void Connection::Impl::connect(std::function<void()> when_settled) {
    if (course.want(std::move(when_settled))) opening.begin();
}

RequestId Connection::Impl::request(CallerNumber caller, Request&& asked, ReplyHandler&& handler) {
    auto& requests = dialogue.requests;
    if (course.supervisor().is_closing())
        return requests.refuse({ErrorCode::Unavailable, "the connection is closed"},
                               std::move(handler));
    if (auto why = course.why_put_off())
        return requests.refuse(std::move(*why), std::move(handler));
    if (!asked.log_level.empty()) dialogue.wishes.on_request_of_level(caller, asked.log_level);
    const auto id = requests.add(caller, std::move(asked), std::move(handler));
    if (course.supervisor().wakes() && requests.pending().find(id))
        context.loop.defer(lifetime.guard([this] { connect({}); }));
    return id;
}

void Connection::Impl::on_ready() {
    course.starts()->well = true;  // first, for who takes the place that this one has had
    opening.end();
    agreement.begin_live();
    course.ready();
    dialogue.requests.send_waiting();
    course.settle();
    // What was asked for before is asked for even by a command that does not stay.
    if (context.terms.long_lived || !dialogue.wishes.resources().empty()) agreement.listen();
}

void Connection::Impl::on_malformed(const Error& error) {
    course.note(name.before(error.message));
    core::log::debug(course.shown().last_error);
}

// Who waits hears of it now; the server may take its time to leave.
void Connection::Impl::lose(Error error) {
    auto& link = dialogue.link;
    if (link.lost) return;
    // The limit of the start is that of all transports: there is no time for another.
    if (!link.channel) return on_failed(std::move(error), Retry::Worthwhile);
    if (opening.move_on(error)) return;
    const bool was_ready = agreement.is_live();
    link.lost = Lost{error, was_ready};
    link.channel->close();  // on_channel_closed() does the rest
    if (was_ready) error = within("connection lost", std::move(error));
    tell_failure(name.named(error), [&](Supervisor& supervisor) { supervisor.lose(error); });
}

void Connection::Impl::on_failed(Error error, Retry retry) {
    tell_failure(name.named(error), [&](Supervisor& supervisor) { supervisor.fail(error, retry); });
}

void Connection::Impl::on_stuck(const Error& why) {
    tell_failure(name.named(why), &Supervisor::give_up);
}

void Connection::Impl::tell_failure(const Error& why, const Course::Event& event) {
    auto& requests = dialogue.requests;
    agreement.end();
    const auto error = course.fail(why, event);
    opening.end();
    // A server that never came up is told of to everybody; one that was there and comes back may
    // be waited for by what has certainly not been sent. Of one elsewhere once: the transport has tried for a while
    // already, and whether somebody brings it up again nobody here can say.
    const bool was_there = dialogue.link.generation > 0;
    const auto& supervisor = course.supervisor();
    const bool wait_on = was_there && supervisor.shown() == State::Reconnecting &&
                         (spec.local() || supervisor.has_served());
    if (wait_on) requests.keep_waiting();
    requests.fail_all(error, wait_on     ? Which::Started
                             : was_there ? Which::OfOneThatWas
                                         : Which::All);
    dialogue.tools.tell(error);
    course.settle();
    const auto pause = course.pause();
    if (!pause) return;
    const bool wanted = course.supervisor().wakes() && requests.pending().any_of(0);
    opening.begin_after(wanted ? std::chrono::milliseconds(0) : *pause);
}

void Connection::Impl::on_channel_closed(const plugin::Problem* problem) {
    auto& requests = dialogue.requests;
    const auto& handshake = dialogue.link.handshake;
    const auto lost = std::move(dialogue.link.lost);
    const bool was_ready = agreement.is_live() || (lost && lost->when_ready);
    const bool was_guessing = !lost && handshake && handshake->guessing() && !dialogue.link.session;
    opening.end_limit();
    agreement.end();
    dialogue.end_channel();
    if (course.supervisor().is_closing()) return stopped();
    Error error = lost ? lost->why : why_gone(problem, was_ready);
    if (requests.pending().draining()) {
        // What it never got is not for a server that nobody wants any more.
        if (was_ready) error = within("connection lost", std::move(error));
        course.pass(&Supervisor::stop);
        requests.fail_all(name.named(error));
        return stopped();
    }
    if (opening.go_on(error, lost ? nullptr : problem, was_guessing)) return;
    if (was_ready && !lost && dialogue.link.bill.left_well() && course.supervisor().rests())
        return on_left(within("the server has ended", std::move(error)));
    if (was_ready) {
        course.was_ready();
        error = within("connection lost", std::move(error));
    }
    if (lost) return on_failed(std::move(error), Retry::Worthwhile);
    opening.on_attempt_failed(std::move(error), Retry::Worthwhile);
}

// It had done what it was there for, as far as it knows: the next request starts it, and so does one
// that no server has got.
void Connection::Impl::on_left(const Error& error) {
    auto& requests = dialogue.requests;
    course.note(core::printable(name.named(error).message, 2000));
    core::log::debug(course.shown().last_error);
    course.pass(&Supervisor::rest);
    opening.end();
    requests.keep_waiting();
    requests.fail_all(name.named(error), Which::Started);
    dialogue.tools.tell(name.named(error));
    course.settle();
    if (requests.pending().any_of(0)) context.loop.defer(lifetime.guard([this] { connect({}); }));
}

Error Connection::Impl::why_gone(const plugin::Problem* problem, bool was_ready) const {
    if (!problem) return {ErrorCode::Unavailable, "the connection was closed"};
    if (problem->error.code == ErrorCode::AuthRequired) return dialogue.credentials.error(*problem);
    const auto& why = problem->error.message;
    const auto& reception = dialogue.reception;
    const bool strays_count = !was_ready && reception.has_strays();
    return {problem->error.code,
            (strays_count   ? reception.with_output(why)
             : spec.local() ? reception.with_last_words(why)
                            : reception.with_stderr(why)) +
                (dialogue.link.generation == 0 ? config::hint_of_cwd(spec.config) : std::string())};
}

void Connection::Impl::close(std::function<void()> when_closed) {
    course.await_close(std::move(when_closed));
    dialogue.tools.end_session();
    const bool first = !course.supervisor().is_closing();
    course.pass(&Supervisor::stop);
    const auto& channel = dialogue.link.channel;
    if (!channel) return stopped();
    if (first) channel->close();
}

// Its calls began under a definition that is no longer wanted, and end under it.
void Connection::Impl::close_when_idle(std::function<void()> when_closed) {
    auto& requests = dialogue.requests;
    requests.end_streams("its server is going");
    if (course.supervisor().is_closing() || !dialogue.link.channel ||
        !requests.pending().any_begun())
        return close(std::move(when_closed));
    course.await_close(std::move(when_closed));
    requests.pending().drain([this] {
        if (!course.supervisor().is_closing()) close([] {});
    });
}

// The last to go is who signs in: an operation may still be under way for a person.
void Connection::Impl::stopped() {
    const auto error = name.named({ErrorCode::Unavailable, "the connection was closed"});
    opening.end();
    dialogue.requests.fail_all(error);
    course.pass(&Supervisor::stopped);
    course.settle();
    dialogue.tools.tell(error);
    dialogue.credentials.close(lifetime.guard([this] { course.closed(); }));
}

void Connection::Impl::abandon() {
    // First what is deferred, so that no handler below is met by it half torn down.
    lifetime.end();
    agreement.end();
    opening.end();
    course.abandon();  // a handler that asks again is refused, not connected
    const auto error = name.named({ErrorCode::Unavailable, "the host is closing"});
    if (!dialogue.link.lost)
        dialogue.link.lost = Lost{error};  // what ends below is no failure of the server's
    dialogue.requests.fail_all(error);
    dialogue.tools.tell(error);
    dialogue.link.end();  // before the reception, which hears its events
}

}  // namespace patchbay::connection
