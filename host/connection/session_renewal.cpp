// A legacy HTTP server that restarted has forgotten its sessions. One new handshake on the same
// channel serves everybody who met that, and each of them is sent once more.
#include "connection/connection_impl.hpp"
#include "core/log.hpp"

namespace patchbay::connection {

void Connection::Impl::session_lost(RequestId id, const plugin::Problem& problem) {
    const auto* entry = pending.find(id);
    const bool current = entry->generation == generation;
    if (entry->own) {
        if (!session && handshake) return handshake_ended(id, &problem);
        if (state == State::Ready && current) renew_session();
        if (state != State::Ready && pending.find(id) && current && session)
            return lose(problem.error);  // lost again before it was of any use
        if (pending.find(id)) finish(id, named(problem.error));
        return;
    }
    if (entry->session_retried || entry->heard) {
        Error error{ErrorCode::SessionLost, problem.error.message};
        error.message += entry->heard
                             ? "; the request had begun and may have been carried out"
                             : "; the new session was lost as well, the request was not repeated";
        return finish(id, named(std::move(error)));
    }
    pending.find(id)->session_retried = true;
    if (state == State::Ready && current && session && session->era == protocol::Era::Legacy)
        renew_session();
    resend(id);  // now, or when the new session is ready
}

// Heard where nobody had called: what waits for changes of the server's goes on hearing of them.
void Connection::Impl::stream_lost_session() {
    if (state == State::Ready && session && session->era == protocol::Era::Legacy) renew_session();
}

void Connection::Impl::renew_session() {
    core::log::debug("server \"" + spec.id() + "\" forgot its session; a new one is begun");
    live.reset();
    tools.end_session();
    const std::string version = session->version;
    session.reset();
    server_requests.clear();  // of the old session
    set_state(State::Reconnecting);
    handshake.emplace(context.terms.identity, spec.config.protocol, version);
    start_startup_timer();
    drive(handshake->start());
}

}  // namespace patchbay::connection
