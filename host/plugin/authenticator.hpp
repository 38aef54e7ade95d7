// The host's typed face of one auth method in use; the only class that calls through an auth table.
//
// Owns:    the plugin's authenticator, from create to destroy. Borrows `loop` and the events, which
//          must outlive it; the destructor abandons one that has not closed (leaks it on purpose,
//          events go nowhere).
// Threads: [loop]. Plugin events may come on any thread; they are queued and delivered on the loop
//          after the plugin's call has returned, never from inside one of the calls below.
// Errors:  create fails with the plugin's text. A contract broken by the plugin (acquired twice, OK
//          without a grant, a credential that no header can carry, an event after closed) ends the
//          operation and the authenticator with ErrorCode::Internal and marks the plugin as bad.
// Limits:  kMostCredentials of kCredentialBytes in one grant.
#pragma once

#include "plugin/channel.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::plugin {

inline constexpr std::size_t kMostCredentials = 32;
inline constexpr std::size_t kCredentialBytes = 64u << 10;

using OperationId = std::uint64_t;  // never 0, never reused on one authenticator

struct Grant {
    std::vector<Header> credentials;  // secret ones are masked in logs already
    std::optional<std::chrono::system_clock::time_point> expires;
};

class AuthenticatorEvents {
public:
    // The one end of an acquire that went well.
    virtual void on_acquired(OperationId operation, Result<Grant> grant) = 0;
    virtual void on_authenticator_closed() = 0;  // the last event

protected:
    ~AuthenticatorEvents() = default;
};

// What may be done to obtain credentials: PATCHBAY_AUTH_*.
enum class Asking {
    Quiet = 0,   // nobody is asked
    MayAsk = 1,  // somebody is there to sign in, if nothing else helps
    SignIn = 2,  // somebody wants to sign in, whatever is stored
};

struct AcquireRequest {
    OperationId operation = 0;
    std::string url;  // the protected resource
    Asking asking = Asking::Quiet;
    const Problem* challenge = nullptr;  // null: nobody has refused anything yet
    std::string scope;                   // wanted, by spaces; empty: the method's choice
};

class Authenticator {
public:
    virtual ~Authenticator() = default;
    // One at a time. on_acquired follows, unless this fails.
    virtual Result<void> acquire(const AcquireRequest& request) = 0;
    virtual void cancel(OperationId operation) = 0;
    virtual void forget() = 0;  // sign out
    virtual void close() = 0;   // on_authenticator_closed follows; twice is harmless
};

// What a channel and the authenticator of its server share.
std::shared_ptr<Signer> make_signer();

struct AuthenticatorOptions {
    std::string server;              // configured id, for messages
    boost::json::object settings;    // expanded, valid against the method's schema
    std::shared_ptr<Signer> signer;  // filled while the authenticator lives; may be null
};

}  // namespace patchbay::plugin
