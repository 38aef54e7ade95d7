#include "connection/course.hpp"

#include "core/log.hpp"
#include "core/shell_word.hpp"
#include "core/text.hpp"

#include <utility>

namespace patchbay::connection {

using Phase = Supervisor::Phase;
using Retry = Supervisor::Retry;

namespace {

// Not called here: a handler may ask for the connection again, or destroy it, while its owner is in the middle of a
// transition.
void defer_all(core::Loop& loop, std::vector<std::function<void()>>& handlers) {
    for (auto& handler : std::exchange(handlers, {})) loop.defer(std::move(handler));
}

}  // namespace

Course::Course(const Context& context, const config::Server& server, const ServerName& name,
               std::shared_ptr<Starts> starts)
    : context_(context),
      name_(name),
      starts_(std::move(starts)),
      number_(context.last_connection ? ++*context.last_connection : 1),
      supervisor_(context.loop.time(), context.terms, server) {}

bool Course::want(std::function<void()> settled) {
    if (settled) until_settled_.push_back(std::move(settled));
    if (supervisor_.is_ready() || supervisor_.is_closing() || supervisor_.stays_down()) {
        settle();
        return false;
    }
    return supervisor_.want();  // otherwise the end of the one under way will settle
}

void Course::settle() {
    defer_all(context_.loop, until_settled_);
}

void Course::await_close(std::function<void()> closed) {
    until_closed_.push_back(std::move(closed));
}

void Course::closed() {
    defer_all(context_.loop, until_closed_);
}

void Course::pass(const Event& event) {
    // Several phases look alike from outside: who watches is told of what they can see, once.
    const auto before = supervisor_.shown();
    const bool was_closing = supervisor_.is_closing();
    event(supervisor_);
    if (!was_closing && supervisor_.is_closing() && context_.observer)
        context_.observer->on_connection_closing(name_.id(), number_);
    if (supervisor_.shown() == before) return;
    context_.events.on_state(name_.id(), supervisor_.shown());
    if (!context_.observer) return;
    const auto state = supervisor_.shown();
    const bool in_trouble = state == State::Reconnecting || state == State::Failed ||
                            state == State::Error || state == State::AuthRequired;
    context_.observer->on_server_state(
        {name_.id(), number_, name_of(state),
         in_trouble ? std::string_view(shown_.last_error) : std::string_view()});
}

void Course::ready() {
    shown_.last_connected = context_.loop.time().date();  // first: who is told of it reads it
    // Why it was down is still of interest, and what to do about that no more.
    if (shown_.last_error.ends_with(advice_))
        shown_.last_error.resize(shown_.last_error.size() - advice_.size());
    advice_.clear();
    pass(&Supervisor::ready);
}

// What to do about one that does not come back by itself. A single command has tried it, and is over.
std::string Course::next_step() const {
    const auto& terms = context_.terms;
    if (!supervisor_.is_given_up() || !terms.long_lived) return {};
    if (terms.turned_by_commands)
        return "; `patchbay mcp start " + core::shell_word(name_.id()) + "` starts it again";
    return supervisor_.must_stay_down()
               ? "; it is to stay down (restart = \"never\")"
               : "; a request later than " + core::duration(terms.health.reconnect_most) +
                     " (health.reconnect_most_ms) starts it again";
}

Error Course::fail(const Error& told, const Event& event) {
    // In its words there may be a secret or a control character of the server's: what is kept is shown to people.
    note(core::printable(core::log::masked(told.message), 2000));
    core::log::debug(shown_.last_error);
    const auto was = supervisor_.phase();
    pass(event);
    // By where it has come to: only what stays down needs to be started by somebody.
    advice_ = next_step();
    shown_.last_error += advice_;
    // An end of what was ready is no failed start: the next caller may try at once.
    if (was == Phase::Attempting || was == Phase::MovingOn)
        starts_->fail({told,
                       supervisor_.shown() == State::Error ? Retry::Useless : Retry::Worthwhile,
                       context_.loop.now()});
    // Whoever waits has sent nothing: whatever broke on the way, to them it is a server that is not there.
    const auto code = told.code == ErrorCode::Io ? ErrorCode::Unavailable : told.code;
    return {code, told.message + advice_};
}

void Course::was_ready() {
    supervisor_.was_ready();
    ++shown_.restarts;
    if (context_.observer) context_.observer->on_server_restart(name_.id());
}

std::optional<std::chrono::milliseconds> Course::pause() {
    if (supervisor_.phase() != Phase::BackingOff) return {};
    return supervisor_.pause();
}

Error Course::why_not_ready() const {
    const auto state = supervisor_.shown();
    return {refusal_of(state), name_.in_state(name_of(state), shown_.last_error)};
}

std::optional<Error> Course::why_put_off() const {
    if (supervisor_.refuses() || supervisor_.stays_down()) return why_not_ready();
    // A new caller's asks no sooner than an old one's.
    const auto& terms = context_.terms;
    if (supervisor_.phase() == Phase::Idle &&
        starts_->failed_within(terms.health.reconnect_most, context_.loop.now()))
        return starts_->last.why;
    return {};
}

}  // namespace patchbay::connection
