// The outer face: delegation, status, what a server said beside MCP, and the order in which things
// are torn down.
#include "connection/connection.hpp"

#include "connection/connection_impl.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

namespace patchbay::connection {

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
    return status;
}

Connection::Connection(const Context& context, registry::ServerSpec spec)
    : impl_(std::make_unique<Impl>(*this, context, std::move(spec))) {}

Connection::~Connection() {
    // First what is deferred, so that no handler below is met by it half torn down.
    *impl_->alive = false;
    impl_->live.reset();
    impl_->closing = true;  // a handler that asks again is refused, not connected
    impl_->state = State::Stopped;
    impl_->fail_all(impl_->named({ErrorCode::Unavailable, "the host is closing"}));
}

const registry::ServerSpec& Connection::spec() const {
    return impl_->spec;
}
State Connection::state() const {
    return impl_->state;
}
bool Connection::late() const {
    const std::size_t streams =
        impl_->live && impl_->live->listen.is_open() ? 1 : 0;  // its answer is its end
    return impl_->answered_late || impl_->pending.size() > streams;
}
const std::vector<protocol::Tool>& Connection::tools() const {
    return impl_->tools.tools();
}

const Error* Connection::tools_error() const {
    return impl_->tools.error() ? &*impl_->tools.error() : nullptr;
}

const protocol::Session* Connection::session() const {
    return impl_->session ? &*impl_->session : nullptr;
}

Status Connection::status() const {
    Status status = impl_->shown;
    status.id = impl_->spec.id();
    status.transport = impl_->spec.config.transport;
    // A transport that is only being tried is not news yet.
    if (impl_->agreed && impl_->choice.current() != status.transport)
        status.fallback_from = std::exchange(status.transport, impl_->choice.current());
    status.place = impl_->spec.config.place;
    status.state = impl_->state;
    const auto& tools = impl_->tools;
    if (impl_->state == State::Ready || !tools.tools().empty()) status.tools = tools.tools().size();
    if (tools.error()) status.tools_error = core::printable(tools.error()->message, 1000);
    status.notes = tools.notes();
    status.pending = impl_->pending.size();
    if (const auto& session = impl_->session) {
        const auto text = [&](const char* key) {
            const auto* value = session->server_info.if_contains(key);
            return value && value->is_string()
                       ? core::printable({value->get_string().data(), value->get_string().size()},
                                         128)
                       : std::string();
        };
        status.protocol = session->version;
        status.server_name = text("name");
        status.server_version = text("version");
        status.instructions = core::printable(session->instructions,
                                              impl_->context.terms.limits.description_bytes, true);
        // Servers also write `"tools": false` or null.
        for (const auto& member : session->capabilities) {
            if (session->can(member.key()))
                status.capabilities.push_back(
                    core::printable({member.key().data(), member.key().size()}, 64));
        }
    }
    return masked(std::move(status));
}

void Connection::connect(std::function<void()> settled) {
    impl_->connect(std::move(settled));
}
RequestId Connection::request(Request request, ReplyHandler handler) {
    return impl_->request(std::move(request), std::move(handler));
}
void Connection::cancel(RequestId id, const std::string& reason) {
    impl_->cancel(id, reason);
}
void Connection::notify(const std::string& method, const std::string& members) {
    impl_->notify(method, members);
}
void Connection::close(std::function<void()> closed) {
    impl_->close(std::move(closed));
}

void Connection::on_opened() {
    impl_->drive(impl_->handshake->start());
}
void Connection::on_message(plugin::ExchangeId exchange, core::Buffer body) {
    if (impl_->lost_because) return;  // given up: nothing that it says counts any more
    if (auto& live = impl_->live; live && live->health) live->health->heard();
    if (!std::exchange(impl_->spoke, true) && impl_->silence_timer.running()) impl_->await_probe();
    impl_->message(exchange, std::move(body));
}
void Connection::on_done(plugin::ExchangeId exchange, const plugin::Problem* problem) {
    impl_->done(exchange, problem);
}
void Connection::on_writable() {
    impl_->paused = false;
    impl_->flush_outbox();
}
void Connection::on_challenge(const plugin::Problem& problem) {
    impl_->challenged(problem);
}
void Connection::on_output(unsigned stream, std::string_view line) {
    // A program that writes has started: its silence counts from now.
    if (!std::exchange(impl_->spoke, true) && impl_->silence_timer.running()) impl_->await_probe();
    impl_->keep_line(stream != 1, line);
}
void Connection::on_fact(std::string_view name, std::string_view value) {
    if (value.empty())  // it is over, like the trouble of a connection that has come about
        impl_->shown.facts.erase(std::string(name));
    else
        impl_->shown.facts[core::printable(name, 32)] = core::printable(value, 256);
}
void Connection::on_closed(const plugin::Problem* problem) {
    impl_->channel_gone(problem);
}

void Connection::refresh_tools(std::function<void(Result<void>)> fresh) {
    auto& impl = *impl_;
    const auto outcome = [this] {
        const auto* error = tools_error();
        return error ? Result<void>(*error) : Result<void>();
    };
    if (impl.state == State::Ready) {
        const bool none = impl.session && !impl.session->can("tools");
        if (!none && !impl.tools.fresh()) return impl.tools.join(std::move(fresh));
        return impl.context.loop.defer(
            [fresh = std::move(fresh), known = outcome()] { fresh(known); });
    }
    // Connecting lists the tools; a connection that fails tells why.
    connect([this, watch = impl.alive, outcome, fresh = std::move(fresh)] {
        if (!*watch) return fresh(Error{ErrorCode::Unavailable, "the host is closing"});
        if (impl_->state == State::Ready) return fresh(outcome());
        fresh(Error{
            impl_->state == State::AuthRequired ? ErrorCode::AuthRequired : ErrorCode::Unavailable,
            impl_->shown.last_error});
    });
}

std::string Connection::Impl::with_output(std::string text) const {
    return output.with_stderr(output.with_strays(std::move(text), spec.id()));
}

void Connection::Impl::keep_line(bool stray, std::string_view line) {
    if (stray) ++shown.stray_lines;
    stray ? output.keep_stray(line) : output.keep_stderr(line);
    context.events.on_output(spec.id(), stray, line);
}

}  // namespace patchbay::connection
