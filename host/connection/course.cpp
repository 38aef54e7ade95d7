#include "connection/course.hpp"

#include "core/log.hpp"
#include "core/text.hpp"

#include <utility>

namespace patchbay::connection {

using Phase = Supervisor::Phase;
using Retry = Supervisor::Retry;

namespace {

void defer_all(core::Loop& loop, std::vector<std::function<void()>>& handlers) {
    for (auto& handler : std::exchange(handlers, {})) loop.defer(std::move(handler));
}

}  // namespace

Course::Course(const Context& context, const config::Server& server, const ServerName& name,
               std::shared_ptr<Starts> starts)
    : context_(context),
      name_(name),
      starts_(std::move(starts)),
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
    const auto before = supervisor_.shown();
    event(supervisor_);
    if (supervisor_.shown() == before) return;
    context_.events.on_state(name_.id(), supervisor_.shown());
    if (!context_.observer) return;
    const auto state = supervisor_.shown();
    const bool in_trouble = state == State::Reconnecting || state == State::Failed ||
                            state == State::Error || state == State::AuthRequired;
    context_.observer->on_server_state(
        name_.id(), name_of(state),
        in_trouble ? std::string_view(shown_.last_error) : std::string_view());
}

void Course::ready() {
    shown_.last_connected = context_.loop.time().date();
    pass(&Supervisor::ready);
}

void Course::fail(const Error& told, const Event& event) {
    note(core::printable(core::log::masked(told.message), 2000));
    core::log::debug(shown_.last_error);
    const auto was = supervisor_.phase();
    pass(event);
    if (was == Phase::Attempting || was == Phase::MovingOn)
        starts_->fail({told,
                       supervisor_.shown() == State::Error ? Retry::Useless : Retry::Worthwhile,
                       context_.loop.now()});
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
    if (supervisor_.refuses()) return why_not_ready();
    // A new caller's asks no sooner than an old one's.
    const auto& terms = context_.terms;
    if (supervisor_.phase() == Phase::Idle &&
        starts_->failed_within(terms.health.reconnect_most, context_.loop.now()))
        return starts_->last.why;
    return {};
}

}  // namespace patchbay::connection
