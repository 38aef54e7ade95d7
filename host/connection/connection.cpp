// The outer face: delegation, status, what a server said beside MCP, and the order in which things
// are torn down.
#include "connection/connection.hpp"

#include "connection/connection_impl.hpp"
#include "core/log.hpp"
#include "core/shell_word.hpp"
#include "core/text.hpp"

namespace patchbay::connection {

namespace {
constexpr std::size_t kStderrTail = 5;  // lines kept for error messages
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
    // First what is deferred or timed, so that no handler below is met by it half torn down.
    *impl_->alive = false;
    for (const auto timer : {impl_->startup_timer, impl_->silence_timer, impl_->reconnect_timer,
                             impl_->health_timer, impl_->listen_timer, impl_->relist_timer}) {
        if (timer) impl_->context.loop.cancel(timer);
    }
    impl_->closing = true;          // a handler that asks again is refused, not connected
    impl_->state = State::Stopped;  // and what goes on while a server is ready ends
    impl_->fail_all(impl_->named({ErrorCode::Unavailable, "the host is closing"}));
}

const registry::ServerSpec& Connection::spec() const {
    return impl_->spec;
}
void Connection::amend(registry::ServerSpec spec) {
    impl_->spec = std::move(spec);
}
State Connection::state() const {
    return impl_->state;
}
bool Connection::late() const {
    const std::size_t streams = impl_->listen_id ? 1 : 0;  // its answer is its end
    return impl_->answered_late || impl_->pending.size() > streams;
}
const std::vector<protocol::Tool>& Connection::tools() const {
    return impl_->tools;
}

const Error* Connection::tools_error() const {
    return impl_->tools_error ? &*impl_->tools_error : nullptr;
}

const protocol::Session* Connection::session() const {
    return impl_->session ? &*impl_->session : nullptr;
}

Status Connection::status() const {
    Status status = impl_->shown;
    status.id = impl_->spec.id();
    status.transport = impl_->spec.config.transport;
    // A transport that is only being tried is not news yet.
    if (impl_->agreed && impl_->transport != status.transport)
        status.fallback_from = std::exchange(status.transport, impl_->transport);
    status.place = impl_->spec.config.place;
    status.state = impl_->state;
    if (impl_->state == State::Ready || !impl_->tools.empty()) status.tools = impl_->tools.size();
    if (impl_->tools_error) status.tools_error = core::printable(impl_->tools_error->message, 1000);
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
        status.instructions =
            core::printable(session->instructions, impl_->context.limits.description_bytes, true);
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
void Connection::close_when_idle(std::function<void()> closed) {
    if (impl_->closing || !impl_->pending.any_begun()) return impl_->close(std::move(closed));
    impl_->closed.push_back(std::move(closed));
    impl_->retired = true;
}

void Connection::on_opened() {
    impl_->drive(impl_->handshake->start());
}
void Connection::on_message(plugin::ExchangeId exchange, core::Buffer body) {
    if (impl_->lost_because) return;  // given up: nothing that it says counts any more
    impl_->heard = true;
    if (!std::exchange(impl_->spoke, true) && impl_->silence_timer) impl_->await_probe();
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
    if (!std::exchange(impl_->spoke, true) && impl_->silence_timer) impl_->await_probe();
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

std::string Connection::Impl::with_stderr(std::string text) const {
    if (stderr_tail.empty()) return text;
    const std::vector<std::string> tail(stderr_tail.begin(), stderr_tail.end());
    return text + "; stderr: " + core::log::masked(core::join(tail, " | "));
}

std::string Connection::Impl::with_strays(std::string text) const {
    const auto lines = shown.stray_lines - strays_before;
    if (lines == 0) return text;
    return text + "; it wrote " +
           (lines == 1 ? "a line that is" : std::to_string(lines) + " lines that are") +
           " no JSON-RPC " + (lines == 1 ? "message: " : "messages, the first: ") +
           core::log::masked(first_stray) + "; see patchbay mcp logs " +
           core::shell_word(spec.id());
}

void Connection::Impl::keep_line(bool stray, std::string_view line) {
    if (stray) {
        if (shown.stray_lines++ == strays_before)
            first_stray = "\"" + core::printable(core::log::masked(line), 80) + "\"";
    } else {
        stderr_tail.push_back(core::printable(core::log::masked(line), 300));
        if (stderr_tail.size() > kStderrTail) stderr_tail.pop_front();
    }
    context.events.on_output(spec.id(), stray, line);
}

}  // namespace patchbay::connection
