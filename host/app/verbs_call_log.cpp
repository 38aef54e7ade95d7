#include "app/call_log.hpp"
#include "app/host_silence.hpp"
#include "app/look_for_host.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "core/error_words.hpp"
#include "core/json.hpp"

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

}  // namespace

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

}  // namespace patchbay::app
