// One host, one good server, and every hostile server of a phase and an era beside it, over the
// transport that this program was built for. What must hold of each cell is in README.md.
#include "hostile/server.hpp"
#include "hostile/transport.hpp"
#include "integration/home.hpp"
#include "support/process_size.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace patchbay::hostile {
namespace {

using test::Home;
using test::Program;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
namespace json = boost::json;

// Far above what a cell takes: whoever gets there was not ended by what the server did.
constexpr int kPatientMs = 150'000;
// Of rows where only a time-out can tell.
constexpr int kImpatientMs = 1'500;
constexpr std::chrono::seconds kWhole{220};
// For the status to tell what has happened beside the calls.
constexpr std::chrono::seconds kTelling{60};
// Of the host, over all cells of one drill.
#if defined(PATCHBAY_SANITIZED)
constexpr std::size_t kMostMemoryMiB = 1'000;
#else
constexpr std::size_t kMostMemoryMiB = 250;
#endif

// Of one file: what it may grow to, and a line more.
constexpr std::size_t kMostLogBytes = (1u << 20) + (64u << 10);
// What a list that failed must not be told as.
constexpr const char* kNoTool = "has no tool";

constexpr std::pair<const char*, std::size_t> kLimits[] = {{"message_bytes", kMessageBytes},
                                                           {"list_bytes", kListBytes},
                                                           {"pages_per_list", kPagesPerList},
                                                           {"tools_per_server", kToolsPerServer},
                                                           {"server_requests", kServerRequests},
                                                           {"local_starts", 8},
                                                           {"remote_starts", 1'000}};

struct Drill {
    Phase phase;
    Era era;
};

void PrintTo(const Drill& drill, std::ostream* out) {
    *out << name_of(drill.phase) << " " << name_of(drill.era);
}

std::vector<Drill> drills() {
    std::vector<Drill> all;
    for (const auto phase : kPhases) {
        for (const auto era : kEras) {
            if (!cells_of(kTransport, phase, era).empty()) all.push_back({phase, era});
        }
    }
    return all;
}

// Where a program of that cell counts its calls.
fs::path calls_file(const Home& home, const Cell& cell) {
    return home.root() / (cell.row->name + ".calls");
}

json::object settings_of(const Cell& cell, const Server& server, const Home& home) {
    // Good answers before the misbehaviour have their time.
    const bool silent = cell.fate() == Fate::TimesOut;
    const bool at_start = cell.phase != Phase::Call && cell.phase != Phase::Idle;
    const int start = silent && at_start ? kImpatientMs : kPatientMs;
    json::object settings{{"restart", false},
                          {"startup_timeout_ms", start},
                          {"request_timeout_ms", start},
                          {"tool_timeout_ms", silent ? kImpatientMs : kPatientMs}};
    const auto name = cell.row->name;
    if (kTransport == Transport::Stdio) {
        settings["command"] = test::built("tests/peers/hostile_server");
        settings["args"] = json::array{name, name_of(cell.phase), name_of(cell.era)};
        settings["env"] = {{"HOSTILE_CALLS", calls_file(home, cell).string()}};
        return settings;
    }
    const auto port = server.port_of(cell);
    if (kTransport == Transport::Tcp) {
        settings["transport"] = "tcp";
        settings["port"] = port;
        return settings;
    }
    if (kTransport == Transport::Sse) settings["transport"] = "sse";
    settings["url"] = std::string(kTransport == Transport::Ws ? "ws" : "http") +
                      "://127.0.0.1:" + std::to_string(port) + "/" + name;
    return settings;
}

std::string call(const std::string& id, const std::string& tool, const std::string& arguments) {
    return "{\"id\":\"" + id + "\",\"op\":\"tools/call\",\"name\":\"mcp__" + tool +
           "\",\"arguments\":" + arguments + "}\n";
}
std::string call(const Cell& cell, const std::string& id) {
    return call(id, cell.row->name + "__do", "{\"text\":\"" + std::string(40, 'a') + "!\"}");
}

// The answers of a batch as they come; a flood of events is passed over unread.
class Answers {
public:
    explicit Answers(const Program& program) : program_(program) {}
    // Those that are new.
    std::vector<json::object> take() {
        std::vector<json::object> answers;
        const std::string_view out = program_.out();
        for (std::size_t end; (end = out.find('\n', seen_)) != std::string_view::npos;) {
            const auto line = out.substr(seen_, end - seen_);
            seen_ = end + 1;
            if (line.rfind("{\"id\":", 0) != 0) continue;
            json::error_code failed;
            json::parse_options deep;
            deep.max_depth = 256;
            const auto value = json::parse({line.data(), line.size()}, failed, {}, deep);
            if (failed || !value.is_object())
                ADD_FAILURE() << "not JSON: " << line.substr(0, 300);
            else
                answers.push_back(value.get_object());
        }
        return answers;
    }

private:
    const Program& program_;
    std::size_t seen_ = 0;
};

std::string text_in(const json::object& answer, const char* key) {
    const auto* error = answer.if_contains("error");
    return error ? json::value_to<std::string>(error->at(key)) : "";
}

void judge(const Cell& cell, Fate fate, const json::object& answer) {
    // Beside a call, what ends the connection is the status's to tell.
    const auto says = fate == Fate::Breaks ? "" : cell.says();
    SCOPED_TRACE(cell.name() + ": " + json::serialize(answer).substr(0, 600));
    const bool ok = answer.at("ok") == true;
    const auto message = text_in(answer, "message");
    if (fate != Fate::Breaks) {
        EXPECT_EQ(ok, fate == Fate::Works);
    }
    if (ok) return;
    // An error of the server's own is handed on as it is.
    if (text_in(answer, "kind") != "server") {
        EXPECT_THAT(message, AnyOf(HasSubstr("server \"" + cell.row->name + "\""),
                                   HasSubstr("mcp__" + cell.row->name + "__do: argument ")));
    }
    EXPECT_THAT(message, HasSubstr(says));
    if (says != kNoTool) {
        EXPECT_THAT(message, Not(HasSubstr(kNoTool))) << "the cause is lost";
    }
    EXPECT_NE(text_in(answer, "kind"), "internal");
    const bool timed_out = message.find(" within ") != std::string::npos;
    EXPECT_EQ(timed_out, fate == Fate::TimesOut) << "told by a time-out";
}

// What the host says of a server beside which it was idle. False: what must come has not come yet.
bool judge_status(const Cell& cell, const json::object& status) {
    const auto* told = status.if_contains("last_error");  // null: there is none
    const auto error = told ? json::value_to<std::string>(*told) : std::string();
    if (cell.fate() == Fate::Breaks) return error.find(cell.says()) != error.npos && !error.empty();
    if (cell.fate() != Fate::Works) return true;
    EXPECT_EQ(status.at("state"), "ready") << cell.name() << ": " << error;
    EXPECT_EQ(status.at("restarts"), 0) << cell.name() << ": " << error;
    return true;
}

bool is_object(std::string_view text) {
    json::error_code failed;
    json::parse_options deep;  // as what a server lists may be
    deep.max_depth = 256;
    return json::parse(text, failed, {}, deep).is_object();
}

// What the host leaves in its state directory is whole, and known.
void judge_state(const fs::path& directory) {
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
        if (entry.is_directory()) continue;
        SCOPED_TRACE(entry.path().string());
        if (entry.path().parent_path().filename() == "logs") {
            EXPECT_LE(entry.file_size(), kMostLogBytes);
            continue;
        }
        const auto text = test::read_file(entry.path());
        const auto name = entry.path().filename().string();
        const bool of_lines = entry.path().extension() == ".jsonl";
        if (name == "audit.key" || name == "gateway.lock" || name == "catalogue.lock") continue;
        EXPECT_TRUE(of_lines || name == "head" || entry.path().extension() == ".json")
            << "a draft was left";
        std::istringstream lines(text);
        for (std::string line; of_lines && std::getline(lines, line);)
            EXPECT_TRUE(is_object(line)) << line.substr(0, 300);
        EXPECT_TRUE(of_lines || is_object(text)) << text.substr(0, 300);
    }
}

class HostileDrill : public ::testing::TestWithParam<Drill> {};

TEST_P(HostileDrill, EachCallEndsAsItMustAndNobodyElseNotices) {
    const auto cells = cells_of(kTransport, GetParam().phase, GetParam().era);
    const Server server(kTransport == Transport::Stdio ? std::vector<Cell>() : cells);
    Home home;
    home.add_example("good");
    for (const auto& cell : cells) home.add(cell.row->name, settings_of(cell, server, home));

    test::Words words;
    for (const auto& [name, value] : kLimits) {
        words.insert(words.end(),
                     {"--set", std::string("limits.") + name + "=" + std::to_string(value)});
    }
    words.push_back("batch");
    auto command = home.patchbay(words);
    command.deadline = kWhole;
    Program host(command);
    Answers answers(host);

    // id of a call -> its cell; what is answered is taken out.
    std::map<std::string, const Cell*> waiting;
    const auto ask = [&](const Cell& cell, const std::string& id) {
        waiting[id] = &cell;
        host.send(call(cell, id));
    };
    std::size_t good_calls = 0;
    const auto ask_good = [&] {
        host.send(call("good " + std::to_string(++good_calls), "good__sleep", "{\"ms\":20}"));
    };
    for (const auto& cell : cells) ask(cell, cell.row->name);
    ask_good();
    const bool ended = host.wait_until([&] {
        for (const auto& answer : answers.take()) {
            const auto id = json::value_to<std::string>(answer.at("id"));
            if (id.rfind("good ", 0) == 0) {
                EXPECT_TRUE(answer.at("ok") == true)
                    << "a good server beside them: " << json::serialize(answer);
                if (!waiting.empty()) ask_good();
                continue;
            }
            const auto asked = waiting.find(id);
            if (asked == waiting.end()) {
                ADD_FAILURE() << "answered twice: " << id;
                continue;
            }
            const auto& cell = *asked->second;
            waiting.erase(asked);
            // In Idle the first call is answered before anything happens, but where the two go over
            // different connections.
            const bool first = cell.phase == Phase::Idle && id == cell.row->name;
            const auto fate = cell.fate();
            const bool at_once = kTransport == Transport::Http && fate == Fate::Breaks;
            if (!first || fate != Fate::TimesOut)  // whose limit is short
                judge(cell, first && !at_once ? Fate::Works : fate, answer);
            if (first) ask(cell, cell.row->name + " again");
        }
        return waiting.empty();
    });
    for (const auto& [id, cell] : waiting)
        ADD_FAILURE() << cell->name() << ": the call \"" << id << "\" has not ended";
    ASSERT_TRUE(ended) << "the host has ended, or its time: " << host.err().substr(0, 2'000);

    // Behind HTTP the listening stream may still be on its way.
    std::string missing;
    const auto told_by = std::chrono::steady_clock::now() + kTelling;
    const auto ask_status = [&] { host.send("{\"id\":\"status\",\"op\":\"status\"}\n"); };
    if (GetParam().phase == Phase::Idle) ask_status();
    EXPECT_TRUE(GetParam().phase != Phase::Idle || host.wait_until([&] {
        for (const auto& answer : answers.take()) {
            if (answer.at("id") != "status") continue;
            missing.clear();
            for (const auto& each : answer.at("result").at("servers").as_array()) {
                for (const auto& cell : cells) {
                    if (each.at("id") == json::value(cell.row->name) &&
                        !judge_status(cell, each.as_object()))
                        missing += cell.name() + ": " + json::serialize(each) + "\n";
                }
            }
            if (missing.empty() || std::chrono::steady_clock::now() > told_by) return true;
            ask_status();
        }
        return false;
    }));
    EXPECT_EQ(missing, "") << "the status does not tell of these";

    std::size_t called = 0;
    for (const auto& cell : cells) {
        SCOPED_TRACE(cell.name());
        const bool program = kTransport == Transport::Stdio;
        if (!program) {
            EXPECT_LE(server.visits_of(cell), cell.row->most_visits);
        }
        const std::size_t asked = cell.phase == Phase::Idle ? 2 : 1;
        const auto calls =
            program ? test::read_file(calls_file(home, cell)).size() : server.calls_of(cell);
        EXPECT_LE(calls, asked * cell.row->most_calls) << "a call was sent twice";
        called += calls;
    }
    if (GetParam().phase == Phase::Call || GetParam().phase == Phase::Idle) {
        EXPECT_GT(called, 0u) << "what counts them counts nothing";
    }
    EXPECT_LT(test::size_of_process(host.pid()).most_resident_kib / 1024, kMostMemoryMiB);
    host.send(call("last", "good__echo", "{\"message\":\"still here\"}"));
    ASSERT_TRUE(host.wait_for_out("still here")) << host.err().substr(0, 2'000);
    EXPECT_LE(host.finish().exit_code, 1) << host.err().substr(0, 2'000);
    EXPECT_EQ(test::nothing_left(), "");
    judge_state(home.root() / "state");
}

INSTANTIATE_TEST_SUITE_P(, HostileDrill, ::testing::ValuesIn(drills()), [](const auto& drill) {
    return std::string(name_of(drill.param.phase)) +
           (drill.param.era == Era::Legacy ? "Legacy" : "Modern");
});

}  // namespace
}  // namespace patchbay::hostile
