// The outer face: delegation and status.
#include "connection/connection.hpp"

#include "config/secret_values.hpp"
#include "connection/connection_impl.hpp"
#include "connection/time_limits.hpp"
#include "core/log.hpp"
#include "core/process_usage.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace patchbay::connection {

ErrorCode refusal_of(State state) {
    return state == State::AuthRequired ? ErrorCode::AuthRequired : ErrorCode::Unavailable;
}

const char* name_of(State state) {
    switch (state) {
        case State::Disabled:
            return "disabled";
        case State::Idle:
            return "idle";
        case State::Connecting:
            return "connecting";
        case State::AuthRequired:
            return "auth_required";
        case State::Ready:
            return "ready";
        case State::Error:
            return "error";
        case State::Reconnecting:
            return "reconnecting";
        case State::Stopped:
            return "stopped";
        case State::Failed:
            return "failed";
        case State::Untrusted:
            return "untrusted";
    }
    return "error";
}

std::string signal_name(int signal) {
    const char* const name = ::sigabbrev_np(signal);
    return name ? std::string("SIG") + name : std::string();
}

std::string to_string(const Exit& exit) {
    const auto limit = exit.limit.empty() ? std::string() : " (limits." + exit.limit + ")";
    if (exit.code) return "exit code " + std::to_string(*exit.code) + limit;
    if (!exit.signal) return "ended" + limit;
    const auto name = signal_name(*exit.signal);
    return "killed by " + (name.empty() ? "signal " + std::to_string(*exit.signal) : name) + limit;
}

Cost cost_by_now(Cost cost) {
    for (const auto pid : std::exchange(cost.running, {})) {
        const auto used = core::usage_of_tree(pid);
        cost.cpu += used.cpu;
        cost.peak_memory_bytes = std::max(cost.peak_memory_bytes, used.peak_memory_bytes);
    }
    return cost;
}

std::string to_string(const Starting& starting) {
    if (starting.queued) return "waiting for other servers to start first";
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(starting.taken).count();
    return "starting" + (seconds > 0 ? ", " + std::to_string(seconds) + " s" : std::string()) +
           (starting.last_said.empty() ? "" : ", last said on stderr: " + starting.last_said);
}

Status masked(Status status) {
    const auto mask = [](std::string& text) { text = core::log::masked(text); };
    for (auto* text : {&status.last_error, &status.protocol, &status.server_name,
                       &status.server_version, &status.instructions, &status.tools_error})
        mask(*text);
    for (auto* texts : {&status.capabilities, &status.notes})
        for (auto& text : *texts) mask(text);
    std::map<std::string, std::string> facts;
    for (const auto& [name, value] : status.facts)
        facts[core::log::masked(name)] = core::log::masked(value);
    status.facts = std::move(facts);
    if (status.starting)
        status.starting->last_said = config::without_secrets(status.starting->last_said);
    return status;
}

void add_counts(Status& all, const Status& one) {
    all.restarts += one.restarts;
    all.stray_lines += one.stray_lines;
    all.malformed += one.malformed;
    all.late_answers += one.late_answers;
    all.cost.calls += one.cost.calls;
    all.cost.sent_bytes += one.cost.sent_bytes;
    all.cost.received_bytes += one.cost.received_bytes;
    all.cost.cpu += one.cost.cpu;
    all.cost.peak_memory_bytes = std::max(all.cost.peak_memory_bytes, one.cost.peak_memory_bytes);
    all.cost.running.insert(all.cost.running.end(), one.cost.running.begin(),
                            one.cost.running.end());
    if (one.last_exit && (!all.last_exit || all.last_exit->at < one.last_exit->at))
        all.last_exit = one.last_exit;
}

Error why_not_ready(const Status& status) {
    const bool login = status.state == State::AuthRequired;
    return {login ? ErrorCode::AuthRequired : ErrorCode::Unavailable,
            status.last_error.empty() ? "server \"" + status.id + "\" is " + name_of(status.state)
                                      : status.last_error};
}

Connection::Connection(const Context& context, registry::ServerSpec spec,
                       std::shared_ptr<Starts> starts, Manner manner)
    : impl_(
          std::make_unique<Impl>(context, std::move(spec), std::move(starts), std::move(manner))) {}

Connection::~Connection() {
    impl_->abandon();
}

const registry::ServerSpec& Connection::spec() const {
    return impl_->spec;
}
void Connection::give_to(CallerNumber caller) {
    impl_->dialogue.audience.add(caller);
}
void Connection::take_over_wishes(CallerNumber caller, const Connection& from) {
    impl_->dialogue.wishes.take_over(caller, from.impl_->dialogue.wishes);
}
void Connection::release(CallerNumber caller) {
    impl_->dialogue.release(caller);
}
void Connection::amend(registry::ServerSpec spec) {
    impl_->spec.config = std::move(spec.config);
}
State Connection::state() const {
    return impl_->course.supervisor().shown();
}
bool Connection::late() const {
    // Its answer is its end.
    const std::size_t streams = impl_->agreement.is_listening() ? 1 : 0;
    const auto& dialogue = impl_->dialogue;
    return dialogue.link.late || dialogue.requests.pending().size() > streams;
}
bool Connection::unused() const {
    const auto& dialogue = impl_->dialogue;
    return state() == State::Ready && dialogue.link.user == 0 && !dialogue.wishes.any();
}
const std::vector<protocol::Tool>& Connection::tools() const {
    return impl_->dialogue.tools.tools();
}
const Error* Connection::tools_error() const {
    const auto& error = impl_->dialogue.tools.error();
    return error ? &*error : nullptr;
}
bool Connection::tools_due() const {
    return impl_->course.supervisor().is_ready() && impl_->dialogue.tools.due();
}
protocol::Caching Connection::tools_caching() const {
    return impl_->dialogue.tools.caching();
}
const Manner& Connection::manner() const {
    return impl_->manner;
}
std::string Connection::declared() const {
    return protocol::declared_by(impl_->identity);
}
const protocol::Session* Connection::session() const {
    const auto& session = impl_->dialogue.link.session;
    return session ? &*session : nullptr;
}

namespace {

// As the server says it.
void tell_of_session(Status& status, const protocol::Session& session, std::size_t most) {
    const auto text = [&](const char* key) {
        const auto* value = session.server_info.if_contains(key);
        return value && value->is_string()
                   ? core::printable({value->get_string().data(), value->get_string().size()}, 128)
                   : std::string();
    };
    status.protocol = session.version;
    status.server_name = text("name");
    status.server_version = text("version");
    status.instructions = core::printable(session.instructions, most, true);
    // Servers also write `"tools": false` or null.
    for (const auto& member : session.capabilities) {
        if (session.can(member.key()))
            status.capabilities.push_back(
                core::printable({member.key().data(), member.key().size()}, 64));
    }
}

}  // namespace

Status Connection::status() const {
    const auto& impl = *impl_;
    Status status = impl.course.shown();
    status.id = impl.spec.id();
    status.transport = impl.spec.config.transport;
    // A transport that is only being tried is not news yet.
    const auto& agreed = impl.choice.agreed();
    if (!agreed.empty() && agreed != status.transport)
        status.fallback_from = std::exchange(status.transport, agreed);
    status.place = impl.spec.config.place;
    status.state = state();
    impl.dialogue.reception.count(status);
    status.starting = impl.course.supervisor().starting(impl.dialogue.link.last_said);
    status.notes = impl.dialogue.tools.notes();
    if (auto why = no_calls(impl.dialogue.link.late_calls); !why.empty())
        status.notes.push_back(std::move(why));
    // A list that failed before there was any is not one of no tools.
    const auto* error = tools_error();
    if ((status.state == State::Ready && !error) || !tools().empty()) status.tools = tools().size();
    if (error) status.tools_error = core::printable(error->message, 1000);
    status.pending = impl.dialogue.requests.pending().size();
    if (const auto* said = session())
        tell_of_session(status, *said, impl.context.terms.limits.description_bytes);
    return masked(std::move(status));
}

void Connection::connect(std::function<void()> settled) {
    impl_->connect(std::move(settled));
}
void Connection::check(std::function<void()> known) {
    if (!impl_->agreement.check(known)) impl_->context.loop.defer(std::move(known));
}
void Connection::warm_up() {
    if (!impl_->course.why_put_off()) impl_->connect({});
}
RequestId Connection::request(Caller& caller, Request request, ReplyHandler handler) {
    return impl_->request(caller.number(), std::move(request), std::move(handler));
}
void Connection::cancel(RequestId id, const std::string& reason) {
    impl_->dialogue.requests.cancel(id, reason);
}
bool Connection::tell_sandbox_state() {
    impl_->dialogue.sandbox.tell();
    return impl_->dialogue.sandbox.is_wanted();
}
void Connection::notify(const std::string& method, const std::string& members) {
    impl_->dialogue.requests.delivery().notify(method, members);
}
void Connection::close(std::function<void()> closed) {
    impl_->close(std::move(closed));
}
void Connection::close_when_idle(std::function<void()> closed) {
    impl_->close_when_idle(std::move(closed));
}

void Connection::read_tools_again(std::function<void(Result<void>)> fresh) {
    const bool lists = session() && session()->can("tools");
    if (!impl_->course.supervisor().is_ready() || !lists) return refresh_tools(std::move(fresh));
    impl_->dialogue.tools.read_again(std::move(fresh));
}

void Connection::refresh_tools(std::function<void(Result<void>)> fresh) {
    auto& impl = *impl_;
    const auto outcome = [this] {
        const auto* error = tools_error();
        return error ? Result<void>(*error) : Result<void>();
    };
    if (impl.course.supervisor().is_ready()) {
        auto& tools = impl.dialogue.tools;
        const bool none = session() && !session()->can("tools");
        if (!none && !tools.fresh()) return tools.join(std::move(fresh));
        return impl.context.loop.defer(
            [fresh = std::move(fresh), known = outcome()] { fresh(known); });
    }
    // Connecting lists the tools; a connection that fails tells why.
    connect([this, watch = impl.lifetime.watch(), outcome, fresh = std::move(fresh)] {
        if (watch.expired()) return fresh(Error{ErrorCode::Unavailable, "the host is closing"});
        if (impl_->course.supervisor().is_ready()) return fresh(outcome());
        fresh(connection::why_not_ready(status()));
    });
}

void Connection::subscribe(Caller& caller, const std::string& uri, bool wanted,
                           ReplyHandler handler) {
    impl_->dialogue.wishes.subscribe(caller.number(), uri, wanted, std::move(handler));
}

void Connection::set_log_level(Caller& caller, const std::string& level, ReplyHandler handler) {
    const auto number = caller.number();
    if (impl_->course.supervisor().is_ready())
        return impl_->dialogue.wishes.set_log_level(number, level, std::move(handler));
    // Which of the two ways it goes is known when a session is agreed on.
    connect([this, watch = impl_->lifetime.watch(), number, level, handler = std::move(handler)] {
        if (watch.expired()) return handler(Error{ErrorCode::Unavailable, "the host is closing"});
        if (!impl_->context.callers.find(number)) return;
        if (impl_->course.supervisor().is_ready())
            return impl_->dialogue.wishes.set_log_level(number, level, handler);
        handler(impl_->name.named(impl_->course.why_not_ready()));
    });
}

}  // namespace patchbay::connection
