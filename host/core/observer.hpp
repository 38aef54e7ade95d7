// Who hears of what a host does, to count it or to tell of it: told by the rooms in which it happens, joined by
// app. Where nobody listens the pointer to it is null, and a call costs one comparison. Answers are not told, arguments
// only where somebody asks for them, nor anything that is a secret but what stands in these and in an error's message: who
// passes that on masks it.
//
// Threads: [loop]. What is handed over is good within the call. Errors: none; nobody who is told may
//          throw, or call back into who tells.
#pragma once

#include "core/principal.hpp"
#include "core/result.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::core {

// A tool that is called. Of each there is one EndedRequest later, by the same number.
struct BegunCall {
    std::uint64_t number = 0;  // of the router's requests
    const Principal& caller;
    std::string_view name;    // public
    std::string_view server;  // whose it will be, as far as that is certain; else empty
    std::string_view tool;    // as its server calls it; empty likewise
};

// What is asked of a server, by whatever face, and what the rules have said of it.
struct AskedRequest {
    std::string_view method{};
    std::string_view server{};  // id; empty: it is not known whose it is
    std::string_view tool{};    // of tools/call, as its server calls it; empty likewise
    std::string_view name{};    // of tools/call, public, as it was asked for
    std::string_view about{};  // of another: the prompt's name, or a resource's URI; empty: neither
    std::uint64_t number = 0;  // of the router's requests
    const Principal* caller{};  // null: nobody knows
    // "allow", "deny"; where a person was asked "asked", then "approved", "refused" or "nobody_there".
    std::string_view decision{};  // empty: no rule was asked
    std::string_view level{};     // by its word
    std::string_view rule{};      // that decides, in the words of a file; empty: nobody wrote one
    std::string_view place{};     // of that rule; empty likewise
    std::string_view digest{};    // of what the server says of the tool
    std::size_t arguments_bytes = 0;
    std::string_view arguments{};  // as they are sent; empty where nobody wants_arguments()
};

// It is about to be sent, having waited for so long.
struct SentRequest {
    AskedRequest asked;
    std::chrono::nanoseconds waited{0};
};

// It has its outcome.
struct EndedRequest {
    AskedRequest asked;
    // "ok"; "is_error": the tool says that it failed; "server_error": the server answered with a
    // JSON-RPC error; else the name of our own ErrorCode.
    std::string_view outcome{};
    std::chrono::nanoseconds duration{0};
    std::size_t bytes_to_server = 0, bytes_from_server = 0;  // params and answer; 0: there was none
    std::string_view trouble{};  // what the error says; empty: it was answered
    std::optional<std::chrono::nanoseconds>
        waited{};  // of the duration, until it was sent; none: it was not
};

// A rule wants a person's word for a request.
struct ApprovalStep {
    std::uint64_t number = 0;  // of the router's requests
    std::string_view server, method;
    std::string_view name;  // public, of a tool; of a server as a whole the prefix of its tools
    std::string_view step;  // "asked", then "given", "refused" or "nobody_there"
};

// A server lists something else than it did.
struct ListChange {
    std::string_view server;
    std::string_view list;             // "tools", ...
    std::optional<std::size_t> count;  // of what it lists now; none: that is not known
    // By name; all empty where what it listed before is not known.
    std::vector<std::string> added, removed, changed;
};

// What a server lists otherwise than somebody approved it is another set than it was.
struct PinChange {
    std::string_view server;
    std::string_view list;  // "tools", "prompts", "resourceTemplates", "instructions"
    std::vector<std::string> blocked, told;  // by name; of instructions the word itself
};

// The host runs by another configuration, or was given one and keeps what it had.
struct ConfigurationChange {
    std::uint64_t number = 0;  // of what it runs by from now on; the first one is 1
    std::string_view cause;    // "files", "apply", "rollback", "turn"
    std::string_view refused;  // why it keeps what it had; empty: it does not
    std::vector<std::string> start, stop, restart, adjust;  // servers
    std::size_t widened = 0, narrowed = 0;                  // rules
};

// One of a server's connections is in another state.
struct ServerState {
    std::string_view server;
    std::uint64_t connection = 0;  // its number, which no other one of the host has
    std::string_view state;        // its word
    std::string_view trouble;      // what failed last; empty where it is of use
};

class Observer {
public:
    virtual void on_request_ended(const EndedRequest& request) = 0;
    virtual void on_server_state(const ServerState& state) = 0;
    // A connection that may have been on its way is closed: whether it is so soon or not, nothing comes of it.
    virtual void on_connection_closing(std::string_view, std::uint64_t) {}
    // It was ready, was lost and is brought up again.
    virtual void on_server_restart(std::string_view server) = 0;
    virtual void on_http_answer(unsigned status) = 0;
    // Whether the arguments of requests are kept for it.
    virtual bool wants_arguments() const { return false; }
    // An error: it is not sent, and ends so. For who must have it first.
    virtual Result<void> on_request_sent(const SentRequest&) { return {}; }
    // Who only counts need not hear of these.
    virtual void on_call_begun(const BegunCall&) {}
    virtual void on_approval(const ApprovalStep&) {}
    virtual void on_list_changed(const ListChange&) {}
    virtual void on_pins(const PinChange&) {}
    virtual void on_configuration(const ConfigurationChange&) {}

protected:
    ~Observer() = default;
};

}  // namespace patchbay::core
