// Which transport a server is reached by: the configured one first, then those of `fallback`; an
// http server that answers `initialize` as an old HTTP+SSE server would is tried with `sse`. What
// worked is remembered and tried first the next time.
// Source: MCP 2025-11-25 basic/transports "Backwards Compatibility", and that of 2026-07-28.
#include "connection/connection_impl.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace patchbay::connection {

namespace {

constexpr const char* kOldTransport = "sse";

bool contains(const std::vector<std::string>& list, const std::string& wanted) {
    return std::find(list.begin(), list.end(), wanted) != list.end();
}

// The answers to `initialize` that the specification reads as: not this transport.
bool means_old_transport(unsigned http_status) {
    return http_status == 400 || http_status == 404 || http_status == 405;
}

// A 4xx that says something of the endpoint, and not of who asks or how often.
bool is_legacy_hint(unsigned http_status) {
    return http_status >= 400 && http_status < 500 && http_status != 401 && http_status != 403 &&
           http_status != 407 && http_status != 408 && http_status != 425 && http_status != 429;
}

}  // namespace

void Connection::Impl::begin_attempt() {
    tried.clear();
    failures.clear();
    const auto known = context.eras.find(spec.definition_key);
    const bool still_there = contains(spec.config.fallback, known.transport) ||
                             (known.transport == kOldTransport && implicit_fallback());
    transport = still_there ? known.transport : spec.config.transport;
}

bool Connection::Impl::implicit_fallback() const {
    return spec.config.fallback.empty() && spec.config.transport == "http" &&
           context.transports.has(kOldTransport);
}

std::string Connection::Impl::remembered_version() const {
    if (transport == kOldTransport) return std::string(protocol::kLegacyVersion);  // never modern
    const auto known = context.eras.find(spec.definition_key);
    const bool same =
        known.transport.empty() ? transport == spec.config.transport : known.transport == transport;
    return same ? known.version : std::string();
}

// Moves on to the next transport of this attempt; false: this failure is the last word.
bool Connection::Impl::next_transport(Error& error) {
    if (agreed || closing) return false;
    tried.push_back(transport);
    const auto failed = failures;
    failures.push_back(transport + ": " + error.message);
    // Another transport would meet the same.
    const bool explained = error.code == ErrorCode::AuthRequired ||
                           error.code == ErrorCode::Denied || error.code == ErrorCode::Invalid;
    std::string next;
    if (!explained) {
        // What was remembered is out of date: from the start.
        if (!contains(tried, spec.config.transport)) next = spec.config.transport;
        for (const auto& name : spec.config.fallback)
            if (next.empty() && !contains(tried, name)) next = name;
        if (next.empty() && means_old_transport(initialize_status) && implicit_fallback() &&
            !contains(tried, kOldTransport))
            next = kOldTransport;
    }
    if (next.empty()) {
        if (!failed.empty()) error.message = core::join(failures, "; ");
        return false;
    }
    core::log::debug("server \"" + spec.id() + "\": " + failures.back() + "; trying " + next);
    transport = next;
    return true;
}

// A request of the handshake ended without an answer to it.
void Connection::Impl::handshake_ended(RequestId id, const plugin::Problem* problem) {
    const auto entry = pending.take(id);  // its handler has nothing to add
    const auto& method = entry.request.method;
    const Error error =
        problem ? problem->error
                : Error{ErrorCode::Protocol, method + " was not answered: its stream ended"};
    const bool duplex = channel && !channel->request_scoped();
    if (duplex && problem && problem->http_status == 0) return;  // its channel ends, and says why
    if (problem) retry_after = std::chrono::milliseconds(problem->retry_after_ms);
    // No answer, a page for people, a 4xx: what servers of the other era make of a request.
    const bool no_answer =
        !problem || (error.code == ErrorCode::Protocol && problem->http_status < 400);
    const bool refused = no_answer || is_legacy_hint(problem->http_status);
    if (!refused) return lose(error);
    if (method == "initialize") initialize_status = problem ? problem->http_status : 0;
    drive(handshake->on_refused(method, error.message));
}

}  // namespace patchbay::connection
