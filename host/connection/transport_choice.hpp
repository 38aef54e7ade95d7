// Which transport a server is reached by: the configured one first, then those of `fallback`; an
// http server that answers `initialize` as an old HTTP+SSE server would is tried with `sse`. What
// worked is remembered and tried first the next time (decision 7).
//
// Threads: [value]: decides, and does nothing.
// Source:  MCP 2025-11-25 basic/transports "Backwards Compatibility", and that of 2026-07-28.
#pragma once

#include "config/config.hpp"
#include "connection/era_memory.hpp"
#include "core/result.hpp"

#include <string>
#include <vector>

namespace patchbay::connection {

// A 4xx that says something of the endpoint, and not of who asks or how often.
bool is_legacy_hint(unsigned http_status);

class TransportChoice {
public:
    static constexpr const char* kOldTransport = "sse";

    // Borrows `server`.
    explicit TransportChoice(const config::Server& server);

    // A new attempt: what is known comes first. `has_old`: a plugin provides the old HTTP+SSE one.
    void begin(const KnownEra& known, bool has_old);
    const std::string& current() const { return current_; }
    // The revision that was agreed on by this transport; empty: it is not known.
    std::string remembered_version(const KnownEra& known) const;

    // A channel is opened; the HTTP status that refused its `initialize`; it has led to a session.
    void opening();
    void initialize_refused(unsigned http_status) { initialize_status_ = http_status; }
    void session_agreed() { agreed_ = current_; }
    // The one that the last session came about by; empty until there is one since the last opening.
    const std::string& agreed() const { return agreed_; }

    // Moves on to the next transport of this attempt. False: this failure is the last word, and
    // tells of the others; or the transport is the right one.
    bool next(Error& error);

private:
    bool implicit_fallback() const;
    std::string following(const Error& error) const;

    const config::Server& server_;
    std::string current_, agreed_;
    bool has_old_ = false;
    std::vector<std::string> tried_, failures_;  // without success; "http: why" for each
    unsigned initialize_status_ = 0;
};

}  // namespace patchbay::connection
