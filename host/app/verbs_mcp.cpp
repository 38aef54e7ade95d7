#include "app/distant_host.hpp"
#include "app/look_for_host.hpp"
#include "app/output.hpp"
#include "app/server_wait.hpp"
#include "app/session.hpp"
#include "app/status_tables.hpp"
#include "app/verb.hpp"
#include "core/text.hpp"
#include "service/statuses.hpp"

#include <algorithm>
#include <memory>

namespace patchbay::app {
namespace json = boost::json;
using connection::State;
using connection::Status;

ExitCode exit_code_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::Invalid:
            return kUsage;
        case ErrorCode::NotFound:
            return kNotFound;
        case ErrorCode::Unavailable:
        case ErrorCode::AuthRequired:
        case ErrorCode::SessionLost:
            return kUnavailable;
        case ErrorCode::Timeout:
            return kTimedOut;
        case ErrorCode::Denied:
            return kDenied;
        case ErrorCode::Cancelled:
            return kInterrupted;
        default:
            return kFailure;
    }
}

namespace {

constexpr const char* kTurnCodes =
    "\nExit codes: 5 no host runs, or a server that was to come up did not; 6 there is no such "
    "server, "
    "or a file\nturns it off; 7 it is not approved; 1 any other failure.";

// A server that was asked for and is not there, also while a host that stays tries it again. Who is disabled or not
// approved was not asked for.
bool is_unavailable(const Status& status) {
    return status.state == State::AuthRequired || status.state == State::Failed ||
           status.state == State::Error || status.state == State::Reconnecting ||
           (status.state == State::Connecting && !status.last_error.empty());
}

// Zero servers is an answer, not an error; it says where to put one.
void print_nothing_configured(const Host& host) {
    print_line("no MCP servers configured");
    // One line for the files of one name, which differ in their format alone.
    std::string stem, formats;
    const auto tell = [&] {
        if (!stem.empty()) say("  looked for " + stem + ".{" + formats + "}");
    };
    for (const auto& candidate : host.candidates()) {
        if (candidate.found == config::Candidate::Found::Read)
            say("  read " + candidate.path + ", which has none");
        if (candidate.found != config::Candidate::Found::Absent) continue;
        const auto dot = candidate.path.rfind('.');
        const auto format = candidate.path.substr(dot + 1);
        if (candidate.path.substr(0, dot) == stem) {
            formats += "," + format;
            continue;
        }
        tell();
        stem = candidate.path.substr(0, dot);
        formats = format;
    }
    tell();
    if (const auto& why = host.config().closed_by; !why.empty())
        say("  " + why + ", so no other file counts");
}

enum class Faults { OfFilesToo, OfServers };
// asked_for: they were to be connected. `faults`: which make the exit code.
int show_statuses(Session& session, std::vector<Status> statuses, bool asked_for,
                  Faults faults = Faults::OfFilesToo) {
    if (session.global().json) {
        json::array list;
        for (const auto& status : statuses)
            list.push_back(service::to_json(status, session.waited()));
        print_json(json::serialize(list));
    } else if (statuses.empty()) {
        print_nothing_configured(session.host());
    } else {
        print_statuses(session, statuses);
        for (const auto& status : statuses) {
            // What configuration took out was told with the diagnostics.
            const bool tried = !status.transport.empty();
            if (tried && !status.last_error.empty() && status.state != State::Ready)
                say(status.last_error);
            if (status.state == State::Ready && !status.tools_error.empty())
                say(status.tools_error);
        }
    }
    const bool failed = asked_for && std::any_of(statuses.begin(), statuses.end(), is_unavailable);
    if (session.was_interrupted()) return kInterrupted;
    if (faults == Faults::OfFilesToo && session.servers().misconfigured()) return kConfigError;
    return failed ? kUnavailable : kOk;
}

void ask_who_runs(Session& session) {
    if (auto line = look_for_host(session, Guest::Person, Fit::EvenIfKept))
        session.ask(std::make_unique<DistantHost>(session.servers(), std::move(line)));
}

int status_verb(const GlobalOptions& global, const std::string& server) {
    const auto opened = Session::open(global, Session::Life::OneShot);
    if (!opened) return kConfigError;
    auto& session = *opened;
    if (server.empty()) {
        session.troubles().tell_all();
        ask_who_runs(session);
        if (global.json)
            connect(session, {});
        else
            connect(session, {}, {[] {}, {}});  // says who is waited for
        return show_statuses(session, session.asked().statuses(), true);
    }
    session.troubles().tell_those_of({server}, TroubleTeller::Entries::All);
    ask_who_runs(session);
    auto statuses = session.asked().statuses();
    const auto named = [&](const Status& status) { return status.id == server; };
    if (std::none_of(statuses.begin(), statuses.end(), named)) {
        return session.report_no_server(server);
    }
    // One that is disabled, broken or not approved is shown as well, and not connected.
    if (session.host().connections().find(server)) connect(session, {server});
    statuses = session.asked().statuses();
    const auto found = std::find_if(statuses.begin(), statuses.end(), named);
    if (found == statuses.end()) return session.report_no_server(server);
    const auto& status = *found;
    if (global.json)
        print_json(json::serialize(service::to_json(status, session.waited())));
    else
        print_detail(session, status);
    if (session.was_interrupted()) return kInterrupted;
    if (session.servers().misconfigured(server)) return kConfigError;
    if (status.state == State::Untrusted) return kDenied;
    return is_unavailable(status) ? kUnavailable : kOk;
}

// By a host of its own: what runs already proves nothing of a start.
int test_verb(GlobalOptions global, const std::string& server, const std::string& scope) {
    global.alone = true;
    if (scope != "effective") global.servers_of = scope;
    const auto opened = Session::open(global, Session::Life::OneShot);
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.troubles().tell_those_of({server}, TroubleTeller::Entries::All);
    if (!session.host().connections().find(server)) return session.report_no_server(server);
    const auto began = session.host().loop().now();
    ask_for_tools(session, {server}, service::Ask::Anew, 0);
    const auto took =
        std::chrono::duration_cast<std::chrono::milliseconds>(session.host().loop().now() - began);
    if (session.was_interrupted()) return kInterrupted;
    const auto statuses = session.servers().statuses();
    const auto status = std::find_if(statuses.begin(), statuses.end(),
                                     [&](const Status& each) { return each.id == server; });
    if (status == statuses.end()) return session.report_no_server(server);
    const bool fine = status->state == State::Ready && status->tools_error.empty();
    if (global.json) {
        print_json(json::serialize(json::object{{"id", server},
                                                {"ok", fine},
                                                {"taken_ms", took.count()},
                                                {"status", service::to_json(*status)}}));
    } else if (fine) {
        print_line(server + ": connected over " + transport_of(*status) + ", protocol " +
                   status->protocol + ", " + tool_count(*status) + " tools, in " +
                   std::to_string(took.count()) + " ms");
    }
    if (fine) return kOk;
    if (!global.json && status->state == State::Ready)
        return session.report(
            {ErrorCode::Unavailable,
             "server \"" + server + "\" does not list its tools: " + status->tools_error});
    if (!global.json) return session.report(connection::why_not_ready(*status));
    return exit_code_of(connection::why_not_ready(*status).code);
}

int list_verb(const GlobalOptions& global) {
    const auto opened = Session::open(global, Session::Life::OneShot);
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.troubles().tell_all();
    ask_who_runs(session);
    if (global.json) session.host().recall_lists();  // what they say of themselves
    return show_statuses(session, session.asked().statuses(), false);
}

enum class ServerTurn { Stop, Start, Restart, Disable, Enable };

constexpr std::string_view kHostWord = "host/";
const char* op_of(ServerTurn turn) {
    switch (turn) {
        case ServerTurn::Stop:
            return "host/stop";
        case ServerTurn::Start:
            return "host/start";
        case ServerTurn::Restart:
            return "host/restart";
        case ServerTurn::Disable:
            return "host/disable";
        case ServerTurn::Enable:
            return "host/enable";
    }
    return "";
}

bool turns_off(ServerTurn turn) {
    return turn == ServerTurn::Stop || turn == ServerTurn::Disable;
}

// Of one that is stopped only the host knows that it can be started, or disabled.
std::vector<std::string> all_for(ServerTurn turn, const std::vector<Status>& statuses) {
    std::vector<std::string> ids;
    for (const auto& status : statuses)
        if (turn == ServerTurn::Start || turn == ServerTurn::Enable ||
            turn == ServerTurn::Disable || status.enabled)
            ids.push_back(status.id);
    return ids;
}

// all: `servers` is empty, and one that is off by a file stays so without an error.
int turn_verb(const GlobalOptions& global, ServerTurn turn, std::vector<std::string> servers,
              bool all) {
    const auto opened = Session::open(global, Session::Life::OneShot);
    if (!opened) return kConfigError;
    auto& session = *opened;
    if (all && !servers.empty())
        return session.report({ErrorCode::Invalid, "name servers or say --all, not both"});
    if (!all && servers.empty())
        return session.report({ErrorCode::Invalid, "name servers, or say --all"});
    auto line = running_host(session, Guest::Person);
    if (!line && (turn == ServerTurn::Enable || turn == ServerTurn::Disable))
        return session.report({line.error().code, line.error().message +
                                                      "; --scope user, project or local says so in "
                                                      "a file, for good"});
    if (!line) return session.report(line.error());
    auto owned = std::make_unique<DistantHost>(session.servers(), std::move(*line));
    auto& host = *owned;
    session.ask(std::move(owned));
    const auto before = host.statuses();
    if (all) servers = all_for(turn, before);
    int code = kOk;
    // All or none: who misspells one of several means to be told before anything is done.
    for (const auto& id : servers)
        if (std::none_of(before.begin(), before.end(),
                         [&](const auto& status) { return status.id == id; }))
            code = session.report_no_server(id);
    if (code != kOk) return code;
    std::vector<std::string> turned;
    for (const auto& id : servers) {
        const auto done = host.turn(op_of(turn), id);
        if (done)
            turned.push_back(id);
        else if (!all || done.error().code != ErrorCode::NotFound)
            code = session.report_missing(done.error());
    }
    if (!turns_off(turn) && !turned.empty()) connect(session, turned);
    auto statuses = host.statuses();
    std::erase_if(statuses, [&](const Status& status) {
        return std::find(turned.begin(), turned.end(), status.id) == turned.end();
    });
    if (statuses.empty()) {
        if (global.json) print_json("[]");
        if (code == kOk && !global.quiet)
            say("there is no server to " + std::string(op_of(turn)).substr(kHostWord.size()));
        return code;
    }
    // What is wrong in a file beside it is no fault of what was done.
    const int shown = show_statuses(session, std::move(statuses), true, Faults::OfServers);
    return code == kOk ? shown : code;
}

}  // namespace

void add_mcp_verbs(CLI::App& app, Choice& choice) {
    const auto server = std::make_shared<std::string>();
    auto& mcp = add_verb(app, "mcp",
                         "Servers: status, test, list, diff, logs, start, stop, restart, enable, "
                         "disable, add, add-json, presets, get, "
                         "remove, login, logout, auth",
                         "  patchbay mcp status\n  patchbay mcp status github --json\n  patchbay "
                         "mcp logs github -n 50\n  patchbay mcp logs --call 17");
    mcp.require_subcommand(1);
    auto& status =
        add_verb(mcp, "status", "Connect, and show the state of every server or of one",
                 "  patchbay mcp status\n  patchbay mcp status files\nExit code 5: a server "
                 "that was asked for (without ID: any) is auth_required, failed, in error or down "
                 "and\ntried again (reconnecting). It starts what is not up, but not what restart "
                 "= \"never\" keeps down; "
                 "`patchbay mcp list`\nlooks and starts nothing.");
    status.add_option("ID", *server, "Only this server, in detail");
    choice.on(status, [server](const auto& global) { return status_verb(global, *server); });
    auto& list = add_verb(mcp, "list", "List configured servers without connecting",
                          "  patchbay mcp list --json");
    auto& test = add_verb(
        mcp, "test", "Connect a server anew, let it list its tools, and end it",
        "  patchbay mcp test docs\nNo running host is asked. Exit codes: 4 its entry cannot be "
        "used, 5 it cannot be connected or lists no tools, in time, 6 there\nis no such server, 7 "
        "it is "
        "not approved.");
    test.add_option("ID", *server, "The server")->required();
    const auto scope = std::make_shared<std::string>("effective");
    for (auto* verb : {&list, &test})
        verb->add_option("--scope", *scope,
                         "What the files of one scope say, whether it counts or not; effective: "
                         "what counts")
            ->check(CLI::IsMember({"effective", "plugin", "client", "user", "project", "local",
                                   "session", "enterprise"}))
            ->capture_default_str();
    choice.on(test,
              [server, scope](const auto& global) { return test_verb(global, *server, *scope); });
    choice.on(list, [scope](const auto& global) {
        return *scope == "effective" ? list_verb(global) : list_of_scope(global, *scope);
    });
    add_logs_verb(mcp, choice);
    add_diff_verb(mcp, choice);
    struct Turned {
        std::vector<std::string> servers;
        std::string scope;  // empty: in the host that runs
        bool all = false;
    };
    const auto add_turn = [&](const char* name, ServerTurn turn, const std::string& what,
                              const std::string& examples) {
        const auto turned = std::make_shared<Turned>();
        auto& verb = add_verb(mcp, name, what, examples + kTurnCodes);
        verb.add_option("ID", turned->servers, "The servers");
        verb.add_flag("--all", turned->all, "All servers that are not off by what a file says");
        const bool on = turn == ServerTurn::Enable;
        if (on || turn == ServerTurn::Disable)
            verb.add_option("--scope", turned->scope,
                            "In the file of this scope, for good: local, project or user")
                ->check(CLI::IsMember({"local", "project", "user"}));
        choice.on(verb, [turned, turn, on](const auto& global) {
            if (turned->scope.empty()) return turn_verb(global, turn, turned->servers, turned->all);
            if (turned->all || turned->servers.empty())
                return report({ErrorCode::Invalid, "--scope needs the ids of the servers"}, global);
            return switch_in_file(global, turned->servers, turned->scope, on);
        });
    };
    add_turn("stop", ServerTurn::Stop,
             "In the host that runs: end a server with its last call, until it is started",
             "  patchbay mcp stop files\nNo file is changed, and the next host knows nothing of "
             "it.");
    add_turn("start", ServerTurn::Start,
             "In the host that runs: connect a server, also one that was stopped",
             "  patchbay mcp start files");
    add_turn("restart", ServerTurn::Restart,
             "In the host that runs: end a server at once, with its calls, and connect it anew",
             "  patchbay mcp restart files\n  patchbay mcp restart --all\nA server that was "
             "restarted less than 5 seconds ago is not restarted again (exit code 1).");
    add_turn(
        "disable", ServerTurn::Disable,
        "In the host that runs: end a server with its last call; it stays off until it is enabled",
        "  patchbay mcp disable files\n  patchbay mcp disable files --scope local\nAs stop, but "
        "`mcp start --all` leaves it alone. Without --scope no file is changed: the next host "
        "knows nothing of it.");
    add_turn("enable", ServerTurn::Enable,
             "In the host that runs: let a server be used again, and connect it",
             "  patchbay mcp enable files\n  patchbay mcp enable files --scope user");
    add_add_verbs(mcp, choice);
    add_presets_verb(mcp, choice);
    add_remove_verb(mcp, choice);
    add_get_verb(mcp, choice);
    add_auth_verbs(mcp, choice);
}

}  // namespace patchbay::app
