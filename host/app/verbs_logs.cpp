// `mcp logs`: what a server wrote, as it is kept or as it comes, and everything of one call.
#include "app/call_log.hpp"
#include "app/host_silence.hpp"
#include "app/log_follower.hpp"
#include "app/look_for_host.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "core/error_words.hpp"
#include "core/json.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr std::size_t kMostLogLines = 1'000'000;  // above what is kept of any server
constexpr std::chrono::seconds kAnswer{10};
constexpr std::size_t kLines = 100'000;  // of a log, looked through

// Those that the host that runs keeps.
Result<std::vector<json::object>> kept_events(HostLine& line) {
    std::vector<json::object> events;
    std::optional<Result<void>> answer;
    const auto take = [&](std::string_view said) {
        auto object = core::parse_json_object(said);
        if (!object) return;
        if (object->contains("ok")) {
            const auto* error = core::object_in(&*object, "error");
            if (!error) return static_cast<void>(answer.emplace());
            const auto kind = error_code_from(core::text_in(error, "kind").value_or(""));
            answer.emplace(Error{kind.value_or(ErrorCode::Internal),
                                 std::string(core::text_in(error, "message").value_or(""))});
        } else if (object->contains("event")) {
            object->stable_erase(object->find("id"));
            events.push_back(std::move(*object));
        }
    };
    line.listen(take, [] {});
    line.put(R"({"id":1,"op":"events"})");
    const bool done = line.read_until([&] { return answer.has_value(); }, kAnswer);
    line.listen([](std::string_view) {}, [] {});
    if (!done) return Error{ErrorCode::Unavailable, lost_host(line)};
    if (!*answer) return answer->error();
    return events;
}

void print(const CallLog& log, bool as_json) {
    if (as_json)
        return print_json(
            json::serialize(json::value(json::array(log.entries.begin(), log.entries.end()))));
    for (const auto& entry : log.entries) print_foreign(text_of_entry(entry));
}

void tell_others(const CallLog& log) {
    if (log.beside == 0) return;
    say("note: server \"" + log.server + "\" had " + std::to_string(log.beside) + " other call" +
        (log.beside == 1 ? "" : "s") + " meanwhile; what it wrote may be of these");
}

void print_log_line(const std::string& line, bool as_json) {
    if (as_json)
        print_json(json::serialize(json::value(line)));
    else
        print_foreign(line);
}

// Until somebody ends it, or nobody reads it any more.
int follow_log(Session& session, const std::string& server) {
    static_cast<void>(stdout_error());  // whoever reads has what is there by now
    bool ended = false, unread = false;
    const bool as_json = session.global().json;
    const LogFollower follower(session.host().loop(), session.host().log_path(server),
                               [&](const std::string& line) {
                                   if (unread) return;
                                   print_log_line(line, as_json);
                                   unread = stdout_error() != 0;
                               });
    session.wait([&] { return ended || unread; }, [&] { ended = true; });
    return session.was_interrupted() ? int(kInterrupted) : int(kOk);
}

int logs_verb(const GlobalOptions& global, const std::string& server, std::size_t lines,
              bool follow) {
    const auto opened = Session::open(global, Session::Life::Offline);
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.troubles().tell_those_of({server});
    const auto kept = session.host().log_tail(server, lines);
    const auto statuses = session.servers().statuses();
    const bool known = std::any_of(statuses.begin(), statuses.end(),
                                   [&](const auto& status) { return status.id == server; });
    // A log is there for longer than the entry of its server, and may say why that had to go.
    if (kept.empty() && !known) return session.report_no_server(server);
    if (global.json && !follow)
        print_json(json::serialize(json::value(json::array(kept.begin(), kept.end()))));
    else
        for (const auto& line : kept) print_log_line(line, global.json);
    if (follow) return follow_log(session, server);
    if (kept.empty()) say("server \"" + server + "\" has written nothing yet");
    return kOk;
}

std::string no_call_number(const std::string& text) {
    std::uint64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed == std::errc() && end == text.data() + text.size() && number >= 1) return {};
    return "\"" + text + "\" is no number of a call, which `patchbay events` shows";
}

// CLI11's own conversion takes "-1" for a huge number and says only that it could not convert.
std::string no_line_count(const std::string& text) {
    std::size_t lines = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), lines);
    if (failed == std::errc() && end == text.data() + text.size() && lines >= 1 &&
        lines <= kMostLogLines)
        return {};
    return "\"" + text + "\" is no number of lines from 1 to " + std::to_string(kMostLogLines);
}

// `server`: whose it ought to be; empty: anybody's.
int call_log_verb(const GlobalOptions& global, std::uint64_t call, const std::string& server) {
    const auto opened = Session::open(global, Session::Life::OneShot);
    if (!opened) return kConfigError;
    auto& session = *opened;
    const auto line = running_host(session, Guest::Person);
    if (!line) return session.report(line.error());
    const auto events = kept_events(**line);
    if (!events) return session.report(events.error());
    auto log = log_of_call(*events, call);
    const auto which = "call " + std::to_string(call);
    if (!log)
        return session.report({ErrorCode::NotFound, "the host that runs keeps no event of " +
                                                        which +
                                                        "; patchbay events shows those it keeps"});
    if (!server.empty() && log->server != server)
        return session.report(
            {ErrorCode::NotFound,
             which + (log->server.empty() ? " was of no server"
                                          : " was of server \"" + log->server + "\"")});
    if (!log->server.empty()) add_lines(*log, session.host().log_tail(log->server, kLines));
    print(*log, global.json);
    if (!global.quiet) tell_others(*log);
    return kOk;
}

}  // namespace

void add_logs_verb(CLI::App& mcp, Choice& choice) {
    struct Words {
        std::string server;
        std::size_t lines = 100;
        bool follow = false;
        std::uint64_t call = 0;  // 0: of none
    };
    const auto words = std::make_shared<Words>();
    auto& logs =
        add_verb(mcp, "logs", "What a server wrote to stderr, and stray lines of its stdout",
                 "  patchbay mcp logs files -n 20\n  patchbay mcp logs files -f\nA line `starts` "
                 "says which definition of that id "
                 "has written what follows; a start that\nwrites nothing has none.");
    logs.add_option("ID", words->server, "The server; with --call it need not be named");
    logs.add_option("-n,--lines", words->lines, "At most so many lines")
        ->check(no_line_count)
        ->capture_default_str();
    logs.add_flag(
        "-f,--follow", words->follow,
        "Go on with what it writes from now on, until Ctrl-C (exit code 130); --json: a line of "
        "JSON each");
    logs.add_option("--call", words->call,
                    "In the host that runs, everything of the call of that number (`call` of its "
                    "events): its events, what became of the server meanwhile, and what that wrote")
        ->type_name("NUMBER")
        ->check(no_call_number)
        ->excludes("--follow")
        ->excludes("--lines");
    logs.callback([words, &choice] {
        if (words->call == 0 && words->server.empty()) throw CLI::RequiredError("ID");
        choice.pick([words](const auto& global) {
            return words->call > 0 ? call_log_verb(global, words->call, words->server)
                                   : logs_verb(global, words->server, words->lines, words->follow);
        });
    });
}

}  // namespace patchbay::app
