// What a verb needs around a Host: options applied, diagnostics told, signals turned into loop
// events, an end that never hangs.
//
// Owns:    the host and the watchdog that signals come from. Threads: [loop].
#pragma once

#include "app/host.hpp"
#include "app/verbs.hpp"
#include "app/watchdog.hpp"

#include <functional>
#include <memory>
#include <string>

namespace patchbay::app {

// That no server answered, as one error with a message a line; `errors` says it of each.
Error nobody_answered(const std::vector<Error>& errors);
// Prints `error: ...` to stderr, and as JSON to stdout with --json; returns its exit code.
int report(const Error& error, const GlobalOptions& global);

class Session {
public:
    enum class Life { OneShot, Long };
    // Null when the configuration lets no verb go on: why was told, and the verb ends with
    // kConfigError. `presence`: who may be asked to sign in to a server.
    static std::unique_ptr<Session> open(
        const GlobalOptions& global, Life life,
        auth::Person::Presence presence = auth::Person::Presence::Nobody);
    ~Session();    // closes the servers, at most kCloseLimit
    void close();  // the same, before our end; what is in flight is answered meanwhile

    Host& host() const { return *host_; }
    const GlobalOptions& global() const { return global_; }

    // Pumps until done(). The first SIGINT or SIGTERM calls `interrupted` (and goes on pumping if
    // it is set), the second one ends the process.
    bool wait(const std::function<bool()>& done, std::function<void()> interrupted = {});
    bool was_interrupted() const { return interrupts_ > 0; }

    // Connects these servers, all when empty, with a progress line on a terminal.
    void connect(const std::vector<std::string>& servers);

    int report(const Error& error) const { return app::report(error, global_); }

    // What is wrong with entries of servers, on stderr; only of `server` if it is not empty, no
    // warnings when quiet. The rest of the configuration's diagnostics is told by the constructor.
    void tell_troubles(std::string_view server = {}) const;
    // Whether there is such a server to use; true of the empty name, which stands for all.
    bool has(const std::string& server) const;
    // Why there is no such server: out of order, disabled, or not there; names the others.
    Error no_such_server(const std::string& server) const;
    // `error`, or Invalid where what was not found may be in what the configuration has wrong.
    // `server`: whose it would be; empty: nobody knows.
    Error missing(Error error, std::string_view server) const;
    // Reports what one of these said; returns the exit code.
    int report_missing(const Error& error) const;
    // Whether the configuration has an error about `server`, about anything when that is empty.
    bool misconfigured(std::string_view server = {}) const;

private:
    Session(const GlobalOptions& global, Life life, auth::Person::Presence presence);
    void start();
    void on_signal();

    GlobalOptions global_;
    Watchdog watchdog_;  // before the host: loading a plugin may hang, and so may its end
    std::unique_ptr<Host> host_;
    core::Loop::WatchId signal_watch_ = 0;
    int interrupts_ = 0;
    std::function<void()> interrupted_;
};

// Somebody at a terminal, who does something else: asked before a browser opens.
auth::Person::Presence whoever_is_there();
config::Environment environment_of(const GlobalOptions& global);
// Of a host that does one thing and ends.
HostOptions host_options(const GlobalOptions& global);
// Reports Config::stop; returns its exit code.
int report_stop(const config::Config& config, const GlobalOptions& global);
// Diagnostics to stderr, warnings unless quiet. True when one is an error.
bool print_diagnostics(const std::vector<config::Diagnostic>& diagnostics, bool quiet);
// Those that are not of one server's entry.
void print_general_diagnostics(const config::Config& config, const GlobalOptions& global);

}  // namespace patchbay::app
