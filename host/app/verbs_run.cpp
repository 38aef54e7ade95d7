#include "app/descriptor_limit.hpp"
#include "app/detached.hpp"
#include "app/guests.hpp"
#include "app/handed_over.hpp"
#include "app/meeting_point.hpp"
#include "app/output.hpp"
#include "app/reload.hpp"
#include "app/required_servers.hpp"
#include "app/server_switch.hpp"
#include "app/service_manager.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "core/lifetime.hpp"
#include "service/statuses.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr std::chrono::seconds kDrain{10};       // what is in flight may take as long
constexpr std::chrono::seconds kLastAnswers{3};  // once that is cancelled
constexpr std::chrono::minutes kLookAtLog{1};

// Of CLOCK_MONOTONIC, as sd_notify(3) has it.
std::string microseconds_now() {
    return std::to_string(
        std::chrono::duration_cast<std::chrono::microseconds>(core::Clock::now().time_since_epoch())
            .count());
}

class RunningHost {
public:
    RunningHost(Session& session, Seat& seat)
        : session_(session),
          seat_(seat),
          since_(service::time_of(session.host().loop().time().date())),
          at_a_terminal_(::isatty(STDIN_FILENO)),
          switch_(session.host()),
          reload_(
              session.host(), switch_, environment_of(session.global()),
              [this](const std::string& line) { tell(line); },
              [this](const std::vector<std::string>& servers) { connect(servers); }),
          guests_(session.host(), seat, session.caller(), switch_, reload_,
                  [this](const Hello& hello) { return welcome(hello); }),
          patience_(session.host().loop()),
          log_time_(session.host().loop()) {
        session.set_hangup_handler([this] { on_hangup(); });
        session.host().set_moved_handler([this] { guests_.show_anew(); });
    }
    // The session outlives it.
    ~RunningHost() {
        session_.set_hangup_handler({});
        session_.host().set_moved_handler({});
    }
    RunningHost(const RunningHost&) = delete;

    int run(std::optional<Detached> detached) {
        if (detached && !detached->ready()) return kInterrupted;
        if (detached) watch(*detached);
        session_.host().recall_lists();
        connect(session_.host().connections().ids());
        tell_service_manager("READY=1");
        session_.wait([this] { return draining_ && guests_.empty(); }, [this] { drain(); });
        seat_.give_up();
        session_.close();
        return kOk;
    }

private:
    Welcome welcome(const Hello& hello) {
        Welcome welcome;
        welcome.version = PATCHBAY_VERSION;
        welcome.pid = ::getpid();
        welcome.since = since_;
        welcome.fits = reload_.fits(hello.configuration);
        welcome.configuration = session_.host().configuration_number();
        if (!welcome.fits) welcome.next_start = reload_.next_start();
        welcome.looks_because = reload_.looks_because();
        if (!welcome.fits) welcome.kept = reload_.kept(hello.configuration);
        return welcome;
    }

    // Those of them that are not to wait for their first use.
    void connect(const std::vector<std::string>& servers) {
        std::vector<std::string> eager;
        for (const auto& server : session_.host().config().servers)
            if (!server.lazy && session_.servers().has(server.id) &&
                std::find(servers.begin(), servers.end(), server.id) != servers.end())
                eager.push_back(server.id);
        auto startup = lifetime_.guard([this, eager] { tell_startup(eager); });
        // Told once in any case: somebody waits for the first one, of a host with no server too.
        if (eager.empty() && !first_) return;
        first_ = false;
        if (eager.empty()) return startup();  // to connect none would mean all
        session_.host().connections().connect(session_.caller(), eager, startup);
    }

    void tell_startup(const std::vector<std::string>& servers) {
        std::vector<std::string> ready;
        std::vector<events::EventLog::Failed> failed;
        for (const auto& status : session_.servers().statuses()) {
            const bool meant =
                std::find(servers.begin(), servers.end(), status.id) != servers.end();
            // Of what its entry in a file says nothing was to be brought up.
            const bool broken = status.transport.empty() && !status.last_error.empty();
            if (meant && status.state == connection::State::Ready)
                ready.push_back(status.id);
            else if (meant || broken)
                failed.emplace_back(status.id, status.last_error);
        }
        session_.host().event_log()->tell_startup(ready, failed);
    }

    // Of a terminal that is gone it is its end, as of any program there; else it asks for the files.
    void on_hangup() {
        if (at_a_terminal_ && !::isatty(STDIN_FILENO)) {
            if (!draining_) drain();
        } else {
            tell_service_manager("RELOADING=1\nMONOTONIC_USEC=" + microseconds_now());
            if (!draining_) find_socket();
            reload_.read_again();
            tell_service_manager("READY=1");
        }
    }

    void find_socket() {
        if (!seat_.was_lost()) return;
        const auto found = guests_.listen_anew();
        tell(found ? "the socket was gone, and is there again: " + seat_.path()
                   : "warning: the socket is gone: " + found.error().message);
    }

    void tell(const std::string& line) const {
        if (!session_.global().quiet) say(line);
    }

    // First nobody finds it any more: a command that comes now has a host of its own.
    void drain() {
        draining_ = true;
        tell_service_manager("STOPPING=1");
        seat_.give_up();
        guests_.drain();
        // What is in flight may end; then it is cancelled; what does not end by that is cut off.
        patience_.start(kDrain, [this] {
            guests_.interrupt("the host ends");
            patience_.start(kLastAnswers, [this] { session_.host().interrupt(); });
        });
    }

    void watch(const Detached& detached) {
        log_time_.start(kLookAtLog, [this, &detached] {
            detached.keep_log_short();
            watch(detached);
        });
    }

    Session& session_;
    Seat& seat_;
    const std::string since_;
    const bool at_a_terminal_;
    ServerSwitch switch_;
    Reload reload_;
    Guests guests_;
    core::Timer patience_, log_time_;
    bool draining_ = false, first_ = true;
    core::Lifetime lifetime_;
};

// `log`: of a detached one; empty: it says what it says here.
void print_ready(int pid, const std::string& socket, const std::string& log,
                 const GlobalOptions& global) {
    json::object told{{"pid", pid}, {"socket", socket}};
    if (!log.empty()) told["log"] = log;
    if (global.json) print_json(json::serialize(told));
    static_cast<void>(stdout_error());  // whoever reads has it now
}

void say_ready(const std::string& socket, const GlobalOptions& global) {
    if (!global.quiet)
        say("patchbay runs: pid " + std::to_string(::getpid()) + ", socket " + socket);
}

int run_verb(const GlobalOptions& global, bool detach) {
    auto handed_over = take_handed_over();  // before anything else is opened
    const auto environment = environment_of(global);
    const auto key = meeting_key(environment, global.plugin_directories);
    const MeetingPoint point(runtime_folder(environment), key);
    // Forked before there is a loop, a thread or a lock, none of which would survive it.
    std::optional<Detached> detached;
    if (detach) {
        Detached::Started started;
        auto side = Detached::fork(default_state_directory(environment), key, started);
        if (!side) return report(side.error(), global);
        if (!*side && started.exit_code == kOk) {
            const auto log = Detached::log_path(default_state_directory(environment), key);
            print_ready(started.pid, point.path(), log, global);
            // The one way to end it: nothing else says so where no log is told of.
            if (global.quiet && !global.json) print_line(std::to_string(started.pid));
            if (!global.quiet)
                say("its log is " + log + "; `kill " + std::to_string(started.pid) + "` ends it");
        }
        if (!*side) return started.exit_code;
        detached = std::move(*side);
    }
    // Before the configuration is read: of two that start at once one goes on.
    auto seat = point.take(environment.working_directory, std::move(handed_over),
                           [&](const Holder& before) {
                               if (!global.quiet)
                                   say("waiting for the host (pid " + std::to_string(before.pid) +
                                       "), which is ending");
                           });
    if (!seat) {
        const int code = report(seat.error(), global);
        return code == kUsage && !point.holder() ? kUsage : kFailure;  // there can be none anywhere
    }
    allow_descriptors();
    const auto session = Session::open(global, Session::Life::Shared);
    if (!session) return kConfigError;
    session->troubles().tell_all();
    session->host().tell_of_servers();
    if (!connect_required(*session, session->caller())) {
        const auto& why = session->host().why_ended();
        return why ? session->report(*why) : session->code_of_end();
    }
    RunningHost host(*session, *seat);
    if (!detached) print_ready(::getpid(), seat->path(), {}, global);
    say_ready(seat->path(), global);
    return host.run(std::move(detached));
}

}  // namespace

void add_run_verb(CLI::App& app, Choice& choice) {
    const auto detach = std::make_shared<bool>(false);
    auto& run = add_verb(
        app, "run", "Stay up with servers connected, for all commands of this user in this folder",
        "  patchbay run              until Ctrl-C or SIGTERM\n  patchbay run --detach     in the "
        "background; returns when it is ready\nIts log is STATE/patchbay/run/*.log "
        "(XDG_STATE_HOME, or "
        "~/.local/state), which --detach names; with -q it prints the pid alone.\n`kill PID` ends "
        "it: the pid is in what it says as "
        "it starts, and in `patchbay service status`.\nThere is one for each folder and "
        "configuration; "
        "it does not start without a server\nthat says required = true (exit code 5). "
        "What is in flight when it is ended has 10 s, a second\nsignal ends it at once. Programs "
        "speak to it at its socket, in the words of `patchbay batch`.\nExit codes: 0 it "
        "was ended, also by Ctrl-C; 1 a host runs already; 3 there is no place for what it keeps; "
        "4 an enterprise\nfile, or what --config and --set say, is wrong: of other files it is "
        "told what is, and it starts without that; 5 as "
        "above.");
    run.add_flag("--detach", *detach, "Go on in the background");
    choice.on(run, [detach](const auto& global) { return run_verb(global, *detach); });
}

}  // namespace patchbay::app
