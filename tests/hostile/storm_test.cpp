// Servers that end again and again: each start comes later than the one before, there is a last one,
// and nobody else notices.
#include "hostile/server.hpp"
#include "integration/home.hpp"
#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace patchbay::hostile {
namespace {

using test::Home;
using test::Program;
using ::testing::HasSubstr;
namespace json = boost::json;

constexpr std::size_t kAttempts = 4;
constexpr int kFirstPauseMs = 20;
constexpr std::size_t kQueue = 20;

// A batch with the server "storm", and the good one beside it.
class Storm {
public:
    explicit Storm(json::object server) {
        home.add_example("good");
        home.add("storm", std::move(server));
        const auto first = "health.reconnect_first_ms=" + std::to_string(kFirstPauseMs);
        const auto attempts = "health.reconnect_attempts=" + std::to_string(kAttempts);
        const auto queue = "limits.queue_messages=" + std::to_string(kQueue);
        host_.emplace(home.patchbay({"--set", first, "--set", attempts, "--set", queue, "batch"}));
    }
    // Its answer, when it has come.
    json::object ask(const std::string& request) {
        const auto id = std::to_string(++asked_);
        host_->send("{\"id\":\"" + id + "\"," + request + "}\n");
        return answer_to(id);
    }
    json::object answer_to(const std::string& id) {
        const auto begin = "{\"id\":\"" + id + "\",";
        std::string line;
        EXPECT_TRUE(host_->wait_until([&] {
            const std::string_view out = host_->out();
            const auto at = out.find(begin);
            const auto end = out.find('\n', at);
            if (at == out.npos || end == out.npos) return false;
            line = out.substr(at, end - at);
            return true;
        })) << host_->err();
        return line.empty() ? json::object{} : json::parse(line).as_object();
    }
    json::object call(const std::string& name, const std::string& arguments = "{}") {
        return ask("\"op\":\"tools/call\",\"name\":\"mcp__" + name +
                   "\",\"arguments\":" + arguments);
    }
    // The answer to the last of so many calls at once.
    json::object call_many(std::size_t count, const std::string& name) {
        std::string lines;
        for (std::size_t i = 1; i <= count; ++i)
            lines += "{\"id\":\"call " + std::to_string(i) +
                     "\",\"op\":\"tools/call\",\"name\":\"mcp__" + name + "\"}\n";
        host_->send(lines);
        return answer_to("call " + std::to_string(count));
    }
    // Until nothing more is tried of it; the good server is called all the while. `tried` counts
    // what is tried, and nobody waits for more than `most`.
    json::object until_given_up(const std::function<std::size_t()>& tried, std::size_t most) {
        while (tried() <= most) {
            EXPECT_EQ(call("good__sleep", "{\"ms\":5}").at("ok"), true);
            const auto status = ask("\"op\":\"status\"");
            for (const auto& each : status.at("result").at("servers").as_array())
                if (each.at("id") == "storm" && each.at("state") == "failed")
                    return each.as_object();
        }
        ADD_FAILURE() << "it is tried more often than " << most << " times";
        return {};
    }

    Home home;

private:
    std::optional<Program> host_;
    int asked_ = 0;
};

// Seconds at which the program was started, one line each.
std::vector<double> starts_in(const std::string& file) {
    std::ifstream lines(file);
    std::vector<double> starts;
    for (double at = 0; lines >> at;) starts.push_back(at);
    return starts;
}

std::string program_that_notes(const std::string& file, const std::string& then) {
    return "cut -d' ' -f1 /proc/uptime >> " + file + "; " + then;
}

TEST(RestartStorm, AServerThatNeverStartsIsNotStartedForEver) {
    const test::ScratchFolder folder;
    const auto file = folder / "starts";
    Storm storm(
        {{"command", "/bin/sh"}, {"args", json::array{"-c", program_that_notes(file, "exit 3")}}});
    const auto refused = storm.call("storm__do");
    EXPECT_EQ(refused.at("ok"), false);
    EXPECT_THAT(json::serialize(refused), HasSubstr("exited with code 3"));
    constexpr auto kStarts = 2 * (1 + kAttempts);  // each attempt asks it in both eras
    storm.until_given_up([&] { return starts_in(file).size(); }, kStarts);
    EXPECT_EQ(starts_in(file).size(), kStarts);
}

TEST(RestartStorm, AServerThatEndsAfterEachStartIsGivenUpAfterItsAttempts) {
    const test::ScratchFolder folder;
    const auto file = folder / "starts";
    const auto server = test::built("tests/peers/hostile_server");
    Storm storm({{"command", "/bin/sh"},
                 {"restart", "always"},
                 {"args", json::array{"-c", program_that_notes(file, "exec " + server +
                                                                         " AnswerThenClose list "
                                                                         "2025-11-25")}}});
    storm.call("storm__do");
    const auto status = storm.until_given_up([&] { return starts_in(file).size(); }, 1 + kAttempts);
    EXPECT_THAT(json::serialize(status), HasSubstr("exited with code 0"));
    const auto starts = starts_in(file);
    ASSERT_EQ(starts.size(), 1 + kAttempts);
    // The last pause is 8 times the first; /proc/uptime counts in hundredths.
    EXPECT_GE(starts.back() - starts[starts.size() - 2], 8 * kFirstPauseMs / 1000.0 - 0.02);
}

TEST(RestartStorm, AServerThatHangsUpOnEachConnectionIsGivenUpAfterItsAttempts) {
    const auto cells = cells_of(Transport::Tcp, Phase::List, Era::Legacy);
    const auto cell = std::find_if(cells.begin(), cells.end(), [](const Cell& each) {
        return each.row->name == "AnswerThenClose";
    });
    ASSERT_NE(cell, cells.end());
    const Server server({*cell});
    Storm storm({{"transport", "tcp"}, {"port", server.port_of(*cell)}});
    storm.call("storm__do");
    // Each connection is one visit, and so are the probe, initialize and tools/list over it.
    storm.until_given_up([&] { return server.visits_of(*cell); }, 4 * (1 + kAttempts));
}

TEST(Crowd, AServerThatAnswersNothingHoldsNoMoreCallsThanItsQueue) {
    Storm storm({{"command", test::built("tests/peers/hostile_server")},
                 {"args", json::array{"NoAnswer", "call", "2025-11-25"}},
                 {"tool_timeout_ms", 20'000}});
    const auto answer = storm.call_many(1 + kQueue, "storm__do");
    EXPECT_EQ(answer.at("ok"), false);
    EXPECT_THAT(json::serialize(answer), HasSubstr("limits queue_messages"));
}

}  // namespace
}  // namespace patchbay::hostile
