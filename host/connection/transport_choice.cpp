#include "connection/transport_choice.hpp"

#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/versions.hpp"

#include <algorithm>

namespace patchbay::connection {

namespace {

bool contains(const std::vector<std::string>& list, const std::string& wanted) {
    return std::find(list.begin(), list.end(), wanted) != list.end();
}

// The answers to `initialize` that the specification reads as: not this transport.
bool means_old_transport(unsigned http_status) {
    return http_status == 400 || http_status == 404 || http_status == 405;
}

}  // namespace

bool is_legacy_hint(unsigned http_status) {
    return http_status >= 400 && http_status < 500 && http_status != 401 && http_status != 403 &&
           http_status != 407 && http_status != 408 && http_status != 425 && http_status != 429;
}

TransportChoice::TransportChoice(const config::Server& server)
    : server_(server), current_(server.transport) {}

void TransportChoice::begin(const KnownEra& known, bool has_old) {
    has_old_ = has_old;
    tried_.clear();
    failures_.clear();
    const bool still_there = contains(server_.fallback, known.transport) ||
                             (known.transport == kOldTransport && implicit_fallback());
    current_ = still_there ? known.transport : server_.transport;
}

bool TransportChoice::implicit_fallback() const {
    return server_.fallback.empty() && server_.transport == "http" && has_old_;
}

std::string TransportChoice::remembered_version(const KnownEra& known) const {
    if (current_ == kOldTransport) return std::string(protocol::kLegacyVersion);  // never modern
    const bool same =
        known.transport.empty() ? current_ == server_.transport : known.transport == current_;
    return same ? known.version : std::string();
}

void TransportChoice::opening() {
    initialize_status_ = 0;
    agreed_.clear();
}

bool TransportChoice::next(Error& error) {
    if (!agreed_.empty()) return false;
    const bool first = failures_.empty();
    tried_.push_back(current_);
    failures_.push_back(current_ + ": " + error.message);
    const auto next = following(error);
    if (next.empty()) {
        if (!first) error.message = core::join(failures_, "; ");
        return false;
    }
    core::log::debug("server \"" + server_.id + "\": " + failures_.back() + "; trying " + next);
    current_ = next;
    return true;
}

// Empty: there is none that is worth it.
std::string TransportChoice::following(const Error& error) const {
    // Another transport would meet the same.
    const bool explained = error.code == ErrorCode::AuthRequired ||
                           error.code == ErrorCode::Denied || error.code == ErrorCode::Invalid;
    if (explained) return {};
    // What was remembered is out of date: from the start.
    if (!contains(tried_, server_.transport)) return server_.transport;
    for (const auto& name : server_.fallback)
        if (!contains(tried_, name)) return name;
    const bool old_one = means_old_transport(initialize_status_) && implicit_fallback() &&
                         !contains(tried_, kOldTransport);
    return old_one ? kOldTransport : "";
}

}  // namespace patchbay::connection
