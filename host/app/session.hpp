// What a verb needs around a Host: options applied, signals turned into loop events, an end that never
// hangs. How servers are waited for: server_wait.hpp.
//
// Owns:    the host, who asks it, and the watchdog that signals come from. Threads: [loop].
#pragma once

#include "app/any_host.hpp"
#include "app/hello.hpp"
#include "app/host.hpp"
#include "app/host_approvals.hpp"
#include "app/local_caller.hpp"
#include "app/terminal_approvals.hpp"
#include "app/trouble_teller.hpp"
#include "app/verbs.hpp"
#include "app/watchdog.hpp"
#include "service/statuses.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace patchbay::app {

inline constexpr std::chrono::seconds kLastWords{1};  // of a verb that ends; then nobody reads them

// Prints `error: ...` to stderr, and as JSON to stdout with --json; returns its exit code.
int report(const Error& error, const GlobalOptions& global);
// The same of a file that is changed: where its text is at fault ("PATH:LINE:..."), that is a fault of
// configuration, wherever the file is.
int report_file(const Error& error, const GlobalOptions& global);
int code_of_file(const Error& error);  // that it ends with; nothing is told

class Session {
public:
    // Offline: asks no server, and goes on where an enterprise file denies them all. Shared: as Long, and
    // other callers come from outside.
    enum class Life { OneShot, Long, Shared, Offline };
    // Null when the configuration lets no verb go on: why was told, and the verb ends with
    // kConfigError. `presence`: who may be asked to sign in to a server. `observe`: as HostOptions
    // has it.
    static std::unique_ptr<Session> open(
        const GlobalOptions& global, Life life,
        auth::Person::Presence presence = auth::Person::Presence::Nobody,
        HostOptions::Observe observe = {});
    ~Session();    // closes the servers, at most kCloseLimit
    void close();  // the same, before our end; what is in flight is answered meanwhile
    // It was interrupted, or its servers are being closed.
    bool is_closing() const { return closing_ || was_interrupted(); }

    // Of what a rule wants approved. Whoever types --yes approves beforehand, but not of what an administrator wants asked
    // each time.
    Approving approving() const;
    // Asks the person at the terminal, if there is one.
    HostApprovals::Ask approval_asker();

    Host& host() const { return *host_; }
    // Who asks: the person at the command line, or the batch.
    LocalCaller& caller() const { return *caller_; }
    const service::Servers& servers() const { return host_->servers(); }
    // What servers are asked through: our own host, or the one that runs.
    AnyHost& asked() const { return *asked_; }
    void ask(std::unique_ptr<AnyHost> host) { asked_ = std::move(host); }
    void ask_own();
    const GlobalOptions& global() const { return global_; }
    TroubleTeller& troubles() { return *troubles_; }
    // Of a warning that may come again, and is told once.
    bool first_time(const std::string& warning) const { return told_.insert(warning).second; }

    // Pumps until done(). The first SIGINT or SIGTERM calls `interrupted` (and goes on pumping if
    // it is set), the second one ends the process, as kInterrupted or where it is Shared as kOk.
    bool wait(const std::function<bool()>& done, std::function<void()> interrupted = {});
    // The end of the time that the command was given, for every wait() to come: a loop that hangs in a
    // plugin's call does not outlive it for long (watchdog.hpp).
    void set_due(core::Clock::time_point due) { due_ = due; }
    // SIGHUP interrupts nothing from now on.
    void set_hangup_handler(std::function<void()> hung_up) {
        hung_up_ = std::move(hung_up);
        watchdog_.set_hangups_apart();
    }
    int signals() const { return watchdog_.fd(); }  // readable when one has come
    bool was_interrupted() const { return interrupts_ > 0; }
    // The exit code of a verb that serves until somebody ends it, and was interrupted: by SIGTERM, as
    // systemd and clients do it, that is how it ends well.
    int code_of_end() const;
    // Whether servers were waited for until an interruption.
    service::Wait waited() const {
        return was_interrupted() ? service::Wait::CutShort : service::Wait::ToTheEnd;
    }

    int report(const Error& error) const;

    // Reports why something is missing, as service::Servers says it; returns the exit code.
    int report_missing(const Error& error) const;
    int report_no_server(const std::string& server) const;

private:
    Session(const GlobalOptions& global, Life life, auth::Person::Presence presence,
            HostOptions::Observe observe, std::shared_ptr<TerminalAsker> asker);
    void start();
    connection::Question approve(connection::Approvable wanted, connection::Caller::Decide decide);
    void on_signal();

    GlobalOptions global_;
    const Life life_;
    Watchdog watchdog_;  // before the host: loading a plugin may hang, and so may its end
    std::unique_ptr<Host> host_;
    core::Clock::time_point due_ = core::Clock::time_point::max();
    std::unique_ptr<LocalCaller> caller_;
    TerminalApprovals approvals_;
    std::unique_ptr<AnyHost> asked_;  // after what it borrows
    std::optional<TroubleTeller> troubles_;
    mutable std::set<std::string> told_;
    core::Loop::WatchId signal_watch_ = 0;
    int interrupts_ = 0;
    bool closing_ = false;
    mutable bool timed_out_ = false;  // so it was reported
    std::function<void()> interrupted_, hung_up_;
};

// Somebody at a terminal, who does something else: asked before a browser opens.
auth::Person::Presence whoever_is_there();
config::Environment environment_of(const GlobalOptions& global);
// Of a host that does one thing and ends.
HostOptions host_options(const GlobalOptions& global);
// Reports Config::stop; returns its exit code.
int report_stop(const config::Config& config, const GlobalOptions& global);

}  // namespace patchbay::app
