// Every part built and joined by hand, top to bottom: the table of contents of a running host.
// Embedders and the command line use the same class.
//
// Owns:    everything below. Threads: the constructing thread runs the loop and owns all state.
// Errors:  construction never fails; what is broken is a diagnostic or a server's status.
#pragma once

#include "app/sign_ins.hpp"
#include "auth/named_secrets.hpp"
#include "auth/person.hpp"
#include "config/load.hpp"
#include "connection/connection_pool.hpp"
#include "core/loop.hpp"
#include "core/observer.hpp"
#include "events/event_log.hpp"
#include "plugin/loading/catalogue.hpp"
#include "registry/plan.hpp"
#include "router/router.hpp"
#include "service/decisions.hpp"
#include "service/servers.hpp"
#include "service/trust_file.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::app {

class ServerPins;

struct HostOptions {
    config::Environment environment;              // where configuration comes from
    std::vector<std::string> plugin_directories;  // --plugin-dir
    std::string state_directory;                  // logs, remembered eras; empty: keep nothing
    // Long-lived hosts reconnect and check health; a one-shot command does neither.
    bool long_lived = true;
    bool turned_by_commands = false;       // as connection::Terms has it
    bool more_callers = true;              // may come; a verb or a batch is the only one
    bool quiet = false;                    // logs errors only, whatever the configuration says
    std::shared_ptr<auth::Person> person;  // who may be asked to sign in; null: nobody
    plugin::MapLibrary map_library;        // empty: from the disk
    // Asked once, when the configuration is read: who counts, and outlives the host; null: nobody.
    using Observe = std::function<core::Observer*(const config::Config&)>;
    Observe observe = {};
    bool keep_events = false;  // event_log() has them
};

// $XDG_STATE_HOME/patchbay, default ~/.local/state/patchbay
std::string default_state_directory(const config::Environment& environment);

class Host {
public:
    explicit Host(HostOptions options);
    ~Host();  // closes what is open, waits at most 10 s for it
    Host(const Host&) = delete;

    core::Loop& loop();
    const config::Config& config() const;
    // What was approved of checkouts; a change counts for the next host.
    const auth::NamedSecrets& named_secrets() const;
    service::TrustFile& trust();
    service::Decisions& decisions();     // answers that were kept of what rules want approved
    const std::string& project() const;  // the folder whose files were read; empty: none
    const std::vector<config::Candidate>& candidates() const;  // for `config paths`
    // What is wrong in all that is configured, or in one file, judged with what it would adjust: by the
    // plugins of this host, and by the programs that are here. Looks for files.
    std::vector<config::Diagnostic> check() const;
    std::vector<config::Diagnostic> check_file(const std::string& file) const;
    // The same were `text` in that file.
    std::vector<config::Diagnostic> check_text(const std::string& file,
                                               std::string_view text) const;
    // What this host runs by, and what it would run by were it started now.
    std::shared_ptr<const registry::Snapshot> snapshot();
    std::shared_ptr<const registry::Snapshot> read_snapshot() const;
    // Moves to `wanted` and tells what that did; calls in flight end under what they began with.
    // Invalid, and nothing has changed: its configuration may not run at all (Config::stop). `cause`: as events
    // have it.
    Result<registry::Plan> apply(std::shared_ptr<const registry::Snapshot> wanted,
                                 std::string_view cause = "apply");
    // Moves to the one before; NotFound: there is none.
    Result<registry::Plan> rollback();
    // Called behind each such move, when everything is as it says.
    void set_moved_handler(std::function<void()> moved);
    std::uint64_t configuration_number() const;  // of what it runs by; the first is 1
    events::EventLog* event_log();               // null: none are kept

    // Whoever asks for something is one of these: a LocalCaller, or a Caller of the embedder's own.
    connection::Callers& callers();
    plugin::Catalogue& plugins();
    connection::ConnectionPool& connections();
    router::Router& router();
    catalogue::Catalogue& catalogue();
    // What these servers, all when empty, listed for an earlier host is in the catalogue from now on, until they
    // list something else. Of a server that starts it is in any case, and what it lists for this one is kept for
    // the next. Reads files.
    void recall_lists(const std::vector<std::string>& servers = {});

    // What was approved of what servers list; null: without a state directory nothing is kept.
    ServerPins* pins();

    // What operations stand on: statuses, and why there is no server of a name.
    const service::Servers& servers() const;

    SignIns& sign_ins();  // one that is under way ends before close()

    // Under which sandbox the embedder runs programs, for servers that declare `codex/sandbox-state`; kept as long as
    // the host. As ConnectionPool::set_sandbox_state has it.
    Result<std::vector<std::string>> set_sandbox_state(std::string_view state);
    std::string sandbox_state() const;

    // Last lines a server wrote to stderr (kept in memory, then from disk), oldest first.
    std::vector<std::string> log_tail(const std::string& server, std::size_t most_lines) const;

    // Where that is written; empty: nowhere.
    std::string log_path(const std::string& server) const;

    // From now on the log says which servers are down, and which are back.
    void tell_of_servers();
    // From now on this host is of no use without each server that says `required`: where one of them
    // cannot be started that has never been ready, interrupt() is called, and why_ended() says which.
    void end_without_required();
    const std::optional<Error>& why_ended() const;

    // Pumps the loop until `done`. False: the deadline passed, or interrupt() was called.
    bool run_until(const std::function<bool()>& done,
                   core::Clock::time_point deadline = core::Clock::time_point::max());
    void interrupt();  // [any], also from a signal handler's self-pipe: run_until returns false

    // Closes every server; true when all were gone before the deadline.
    bool close(core::Clock::time_point deadline);

private:
    std::vector<config::Diagnostic> check_one(const std::string& file,
                                              config::Config checked) const;

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace patchbay::app
