// What every connection of one host shares: what it is told once, and the interfaces through which
// it reaches what lies above this room. The app implements those, and tests have fakes of them.
//
// Threads: [loop].
#pragma once

#include "catalogue/catalogue.hpp"
#include "config/config.hpp"
#include "connection/caller.hpp"
#include "connection/era_memory.hpp"
#include "connection/reply.hpp"
#include "connection/start_queue.hpp"
#include "connection/status.hpp"
#include "core/limits.hpp"
#include "core/loop.hpp"
#include "core/observer.hpp"
#include "plugin/authenticator.hpp"
#include "plugin/channel.hpp"
#include "protocol/handshake.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::connection {

// Hears how servers fare, and what they say beside MCP. Owned by whoever made the host.
class ServerEvents {
public:
    virtual ~ServerEvents() = default;
    // A line of stderr or a stray line of stdout. Any bytes.
    virtual void on_output(const std::string& server, bool stray, std::string_view line) = 0;
    virtual void on_state(const std::string& server, State state) = 0;
    // A channel to it is opened, for a program: that is started. Once for each that is tried.
    virtual void on_start(const std::string& server) = 0;
    virtual void on_tools_changed(const std::string& server) = 0;  // a new list is in tools()
};

struct AuthChoice {
    std::string name;    // `auth "github"`
    bool ahead = false;  // ask before the first request
};

// A server's settings without `${...}`, and how it is signed in to, when it is.
struct AuthMethod {
    std::string name;  // `oauth`
    boost::json::object settings;
};
struct Expanded {
    boost::json::object settings;
    Result<AuthMethod> auth = AuthMethod{};  // its error is told when somebody has to sign in
};

// Called once: from within the call that was given it where there is nothing to wait for, otherwise
// from the loop.
using Prepared = std::function<void(Result<void>)>;

// `${...}` of a server's settings, just before it is opened.
class SettingsExpander {
public:
    using Then = std::function<void(Result<Expanded>)>;  // called as Prepared is
    virtual ~SettingsExpander() = default;
    virtual void expand(const config::Server& server, Then then) = 0;
};

// The transports that plugins provide: Catalogue, or fakes.
class TransportSource {
public:
    virtual ~TransportSource() = default;
    virtual bool has(const std::string& transport) const = 0;
    // What open() would otherwise wait for.
    virtual void prepare(const std::string& transport, Prepared ready) = 0;
    // `events` outlives the channel.
    virtual Result<std::unique_ptr<plugin::Channel>> open(const std::string& transport,
                                                          plugin::ChannelOptions options,
                                                          plugin::ChannelEvents& events) = 0;
};

// How servers are signed in to.
class CredentialSource {
public:
    virtual ~CredentialSource() = default;
    // What messages call it, and whether there is something to ask for before the server refuses.
    // Nothing: not at all.
    virtual std::optional<AuthChoice> choice(const config::Server& server) const = 0;
    // What authenticator() would otherwise wait for.
    virtual void prepare(const AuthMethod& method, Prepared ready) = 0;
    virtual Result<std::unique_ptr<plugin::Authenticator>> authenticator(
        const config::Server& server, const AuthMethod& method,
        std::shared_ptr<plugin::Signer> signer, plugin::AuthenticatorEvents& events) = 0;
    // An environment variable, for bearer_token_env_var.
    virtual std::optional<std::string> variable(const std::string& name) const = 0;
};

// Whether what a caller asked may still go out: it waited for the next session, or is sent again, and what its server
// lists may be another thing by now.
class ResendJudge {
public:
    // Why not; nothing: it may.
    virtual std::optional<Error> refuses(CallerNumber caller, const std::string& server,
                                         const Request& request) = 0;

protected:
    ~ResendJudge() = default;
};

// What no connection changes.
struct Terms {
    protocol::ClientIdentity identity;
    config::HealthSettings health = {};
    core::Limits limits = {};
    // Health checks, list subscriptions and reconnecting; a one-shot command wants none of them.
    bool long_lived = true;
    bool more_callers = true;         // may come: else nothing is kept ready for them
    bool turned_by_commands = false;  // `patchbay mcp start`, `stop` and their like reach this host
    // Whether a program of this machine may serve several callers where its `mode` says so.
    bool stdio_sharing = false;
    plugin::Asking asking = plugin::Asking::Quiet;  // whether somebody is there to sign in
    // Between two subscriptions/listen: the floor, and where doubling stops.
    std::chrono::milliseconds listen_first{1'000}, listen_most{30'000};
    // Between two lists of tools that a server asks for by saying that they changed.
    std::chrono::milliseconds relist_first = core::kRelistFirst, relist_most = core::kRelistMost;
};

// Under which sandbox clients run programs: one JSON object whose members are nobody's business here.
struct SandboxState {
    std::string text;         // without white space
    protocol::Params params;  // the same
};

// All it refers to outlives the connections.
struct Context {
    core::Loop& loop;
    ServerEvents& events;
    Callers& callers;
    EraMemory& eras;
    SettingsExpander& expander;
    TransportSource& transports;
    CredentialSource& credentials;
    Terms terms;
    // Where servers queue to start; null: nobody waits.
    StartQueue* local_starts = nullptr;
    StartQueue* remote_starts = nullptr;
    // Where servers' lists are published; null: nobody reads them.
    catalogue::Catalogue* catalogue = nullptr;
    core::Observer* observer = nullptr;  // null: nobody counts
    // Of the connection that was made last, each of which has a number of its own; null: they are not told apart.
    std::uint64_t* last_connection = nullptr;
    std::optional<SandboxState> sandbox_state = std::nullopt;  // none: nobody has set one
    ResendJudge* resends = nullptr;                            // null: all may
};

}  // namespace patchbay::connection
