// How a host and a server agree on what they speak: a state machine without I/O or clock. Feed it
// what came, do what it says.
//
//   auto    server/discover, and `initialize` beside it as soon as the server stays silent for a
//           while; whichever answer identifies the server first counts, until a result of
//           `initialize` says that the server has settled on the legacy era. Where that era is
//           guessed, the other way round: `initialize`, and the probe where it is refused or silent
//   pinned  that one revision, nothing else
//
// Threads: [value].
// Errors:  in the step: the versions of both sides when they have none in common.
// Source:  MCP 2026-07-28 basic/versioning, basic/transports/stdio "Backward Compatibility";
//          MCP 2025-11-25 basic/lifecycle.
#pragma once

#include "core/result.hpp"
#include "protocol/envelope.hpp"
#include "protocol/versions.hpp"

#include <boost/json.hpp>

#include <string>
#include <variant>

namespace patchbay::protocol {

// What we say of ourselves.
struct ClientIdentity {
    boost::json::object info;  // name, version, title?
    boost::json::object capabilities;
};

// Tells what two of them declare apart: a digest of the capabilities; empty: there are none.
std::string declared_by(const ClientIdentity& identity);

// What was agreed, and what the server says of itself (data, never to be trusted).
struct Session {
    std::string version;
    Era era = Era::Legacy;
    boost::json::object server_info, capabilities;
    std::string instructions;

    // Named, and not by null or false: some servers name what they do not have. Whatever else stands
    // there in the place of an object is a yes; that it lacks what it says shows when it is asked.
    bool can(std::string_view capability) const;
    // capabilities.<capability>.<feature> is true
    bool can(std::string_view capability, std::string_view feature) const;
};

// The `_meta` members that every modern request carries, without braces.
std::string modern_meta(const ClientIdentity& identity);

class Handshake {
public:
    // `protocol`: "auto" or a revision we speak. `remembered`: the revision agreed last time, or
    // empty; it only chooses what is tried first. `guess` chooses that where nothing is remembered.
    Handshake(ClientIdentity identity, std::string protocol, std::string remembered = {},
              Era guess = Era::Modern);

    struct Send {  // send this request and report its answer with on_result / on_error
        std::string method;
        Params params;  // complete: `_meta` included
    };
    struct Wait {};  // an answer is still to come
    struct Done {
        Session session;
    };
    using Step = std::variant<Send, Wait, Done, Error>;

    Step start();
    // `method` is the one of the Send it answers.
    Step on_result(std::string_view method, const boost::json::object& result);
    Step on_error(std::string_view method, const RpcError& error);
    // It ended without a JSON-RPC answer (a 4xx, an empty stream), for the reason in `told`.
    Step on_refused(std::string_view method, const std::string& told);
    // It was answered, by nothing that makes sense, for the reason in `why`.
    Step on_unreadable(std::string_view method, const std::string& why);
    // Nothing came for a while (the caller's clock); asks the other question once, in auto.
    Step on_silence();

    bool probing() const { return probe_pending_; }  // the probe is unanswered
    // `initialize` alone was sent, by a guess, and is unanswered.
    bool guesses_legacy() const { return guesses_legacy_; }
    // A server that goes away now may be one of the other era that cannot stand what was sent, and is
    // to be tried again the other way.
    bool guessing() const { return probing() || guesses_legacy(); }

    // It was a modern server the last time.
    bool expects_modern() const;

    // "its answer to server/discover could not be read: ..."; empty: no such answer came.
    const std::string& unreadable() const { return unreadable_; }

    // Modern was agreed on while `initialize` was on its way too: a server of both eras that takes
    // that one has settled on the legacy era after all, and its answer is still to be reported.
    bool ambiguous() const { return ambiguous_; }

private:
    Step discover();
    Step initialize();
    Step fall_back();
    bool may_still_be_modern();
    Step refused(std::string_view method, const std::string& told);
    Step settle_modern(const boost::json::object& result);
    Step settle_legacy(const boost::json::object& result);
    Error nothing_in_common(const std::string& theirs) const;

    ClientIdentity identity_;
    std::string protocol_, remembered_;
    bool guesses_legacy_;
    bool probe_pending_ = false;
    bool initialize_sent_ = false;
    bool settled_ = false, ambiguous_ = false, asked_again_ = false;
    std::string initialize_error_, unreadable_;
};

}  // namespace patchbay::protocol
