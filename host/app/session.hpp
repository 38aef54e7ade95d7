// What a verb needs around a Host: options applied, diagnostics told, signals turned into loop
// events, an end that never hangs.
//
// Owns:    the host, who asks it, and the watchdog that signals come from. Threads: [loop].
#pragma once

#include "app/any_host.hpp"
#include "app/host.hpp"
#include "app/local_caller.hpp"
#include "app/verbs.hpp"
#include "app/watchdog.hpp"
#include "service/statuses.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace patchbay::app {

// Prints `error: ...` to stderr, and as JSON to stdout with --json; returns its exit code.
int report(const Error& error, const GlobalOptions& global);

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

    Host& host() const { return *host_; }
    // Who asks: the person at the command line, or the batch.
    LocalCaller& caller() const { return *caller_; }
    const service::Servers& servers() const { return host_->servers(); }
    // What servers are asked through: our own host, or the one that runs.
    AnyHost& asked() const { return *asked_; }
    void ask(std::unique_ptr<AnyHost> host) { asked_ = std::move(host); }
    void ask_own();
    const GlobalOptions& global() const { return global_; }

    // Pumps until done(). The first SIGINT or SIGTERM calls `interrupted` (and goes on pumping if
    // it is set), the second one ends the process, as kInterrupted or where it is Shared as kOk.
    bool wait(const std::function<bool()>& done, std::function<void()> interrupted = {});
    // The same for `server`; when it takes its time to start, that is told on stderr, once.
    bool wait_for(const std::string& server, const std::function<bool()>& done);
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

    // When most of many servers have answered, nobody has for kPatience, and some are silent still,
    // `meanwhile` shows what is there, and once more when more have answered. Who is waited for is
    // told on stderr, unless there is enough.
    struct Meanwhile {
        std::function<void()> show;    // none: nothing is told before all have answered
        std::function<bool()> enough;  // that nobody else need be waited for; none: never
        bool is_enough() const { return enough && enough(); }
    };
    static constexpr std::chrono::milliseconds kPatience{1000};
    // The same where there is but one to wait for, with nothing to show before.
    static constexpr std::chrono::milliseconds kPatienceWithOne{5000};
    // Servers that are on their way, for whatever was asked of them.
    struct OnTheirWay {
        std::size_t count;
        std::function<std::vector<std::string>()> silent;  // of which nothing is known yet
        std::function<bool()> done;
        std::function<void()> interrupted;
    };
    // Waits for them, with a progress line on a terminal.
    void wait_for(const OnTheirWay& servers, const Meanwhile& meanwhile = {nullptr, nullptr});
    // Connects these servers, all when empty. Ends early when interrupted, and leaves them as they
    // are: what is known by then is worth telling.
    void connect(const std::vector<std::string>& servers,
                 const Meanwhile& meanwhile = {nullptr, nullptr});

    int report(const Error& error) const;

    // All diagnostics of the configuration, on stderr and each once; no warnings when quiet.
    void tell_troubles();
    // Those that a verb which names `servers` has to do with: errors of whole files and tables, what
    // was said for this run, and all about those servers, or about ones that are not there by nearly
    // the same name; InForce: where a verb ends with an error about the others, but for what was
    // said of them for this run in vain.
    enum class Entries { All, InForce };
    void tell_troubles_of(const std::vector<std::string>& servers,
                          Entries entries = Entries::InForce);
    // Rules that match no tool of the servers that have listed theirs by now.
    void tell_rules_without_tools() const;
    // Reports why something is missing, as service::Servers says it; returns the exit code.
    int report_missing(const Error& error) const;
    int report_no_server(const std::string& server) const;

private:
    Session(const GlobalOptions& global, Life life, auth::Person::Presence presence,
            HostOptions::Observe observe);
    void start();
    // Those of `servers`, all when empty, of which nothing is known yet.
    std::vector<std::string> silent_of(const std::vector<std::string>& servers) const;
    void say_waiting_for(const std::vector<std::string>& silent) const;
    void tell(std::vector<config::Diagnostic> diagnostics);
    void on_signal();

    GlobalOptions global_;
    const Life life_;
    Watchdog watchdog_;  // before the host: loading a plugin may hang, and so may its end
    std::unique_ptr<Host> host_;
    core::Clock::time_point due_ = core::Clock::time_point::max();
    std::unique_ptr<LocalCaller> caller_;
    std::unique_ptr<AnyHost> asked_;  // after what it borrows
    core::Loop::WatchId signal_watch_ = 0;
    int interrupts_ = 0;
    bool closing_ = false;
    mutable bool timed_out_ = false;  // so it was reported
    std::function<void()> interrupted_, hung_up_;
    std::set<std::string> told_;                  // diagnostics
    std::map<std::string, std::size_t> told_of_;  // how many of each file
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

}  // namespace patchbay::app
