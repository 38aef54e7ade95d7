#include "metrics/metrics.hpp"

#include "core/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace patchbay::metrics {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

core::EndedRequest call_of(std::string_view tool, std::string_view outcome = "ok",
                           std::chrono::nanoseconds duration = 3ms) {
    return {{"tools/call", "git", tool}, outcome, duration, 10, 200};
}

std::size_t lines_with(const std::string& text, std::string_view part) {
    std::istringstream lines(text);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line);)
        if (line.find(part) != std::string::npos) ++count;
    return count;
}

TEST(Metrics, CallsAreCountedByServerToolAndOutcome) {
    Metrics metrics;
    metrics.on_request_ended(call_of("log"));
    metrics.on_request_ended(call_of("log"));
    metrics.on_request_ended(call_of("log", "is_error"));
    metrics.on_request_ended(call_of("log", "timeout"));
    metrics.on_request_ended({{"prompts/get", "git"}, "server_error", 1ms, 1, 2});
    const auto text = metrics.text({});
    for (const auto* line :
         {"patchbay_tool_calls_total{server=\"git\",tool=\"log\",outcome=\"ok\"} 2\n",
          "patchbay_tool_calls_total{server=\"git\",tool=\"log\",outcome=\"is_error\"} 1\n",
          "patchbay_tool_calls_total{server=\"git\",tool=\"log\",outcome=\"timeout\"} 1\n",
          "patchbay_tool_call_sent_bytes_total{server=\"git\",tool=\"log\"} 40\n",
          "patchbay_tool_call_received_bytes_total{server=\"git\",tool=\"log\"} 800\n",
          "patchbay_requests_total{server=\"git\",method=\"prompts/get\",outcome=\"server_error\"} "
          "1\n"})
        EXPECT_THAT(text, HasSubstr(line));
    EXPECT_THAT(text, Not(HasSubstr("tool=\"prompts/get\"")));
}

TEST(Metrics, ABucketOfAHistogramHasAllThatTookNoLonger) {
    Metrics metrics;
    for (const auto took : {1ms, 4ms, 5ms, 400'000ms})
        metrics.on_request_ended(call_of("log", "ok", took));
    const auto text = metrics.text({});
    const std::string of =
        "patchbay_tool_call_duration_seconds_bucket{server=\"git\",tool=\"log\",";
    for (const auto* bucket : {"le=\"0.001\"} 1\n", "le=\"0.002\"} 1\n", "le=\"0.005\"} 3\n",
                               "le=\"300\"} 3\n", "le=\"+Inf\"} 4\n"})
        EXPECT_THAT(text, HasSubstr(of + bucket));
    EXPECT_THAT(text, AllOf(HasSubstr("_seconds_sum{server=\"git\",tool=\"log\"} 400.010000000\n"),
                            HasSubstr("_seconds_count{server=\"git\",tool=\"log\"} 4\n"),
                            HasSubstr("# TYPE patchbay_tool_call_duration_seconds histogram\n")));
}

// One label that is no UTF-8, or ends its line, and Prometheus would read nothing at all.
TEST(Metrics, WhateverAToolIsCalledTheTextCanBeRead) {
    Metrics metrics;
    metrics.on_request_ended(call_of("a\"b\\c"));
    metrics.on_request_ended(call_of("new\nline"));
    metrics.on_request_ended(call_of("\xff\xfe"));
    metrics.on_request_ended(call_of(std::string(10'000, 'x')));
    const auto text = metrics.text({});
    EXPECT_TRUE(core::valid_utf8(text));
    EXPECT_THAT(text, HasSubstr("tool=\"a\\\"b\\\\c\""));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        EXPECT_TRUE(line.starts_with("# ") || line.starts_with("patchbay_")) << line;
        EXPECT_LT(line.size(), 500u);
    }
}

TEST(Metrics, BeyondSomeOfAServerToolsAreCountedTogether) {
    Metrics metrics;
    for (std::size_t i = 0; i < Metrics::kMostOfServer + 50; ++i)
        metrics.on_request_ended(call_of("tool_" + std::to_string(i)));
    metrics.on_request_ended({{"tools/call", "hub", "log"}, "ok", 1ms, 0, 0});
    const auto text = metrics.text({});
    EXPECT_EQ(lines_with(text, "patchbay_tool_calls_total{server=\"git\""),
              Metrics::kMostOfServer + 1);
    EXPECT_THAT(text, HasSubstr("{server=\"git\",tool=\"other\",outcome=\"ok\"} 50\n"));
    EXPECT_THAT(text, HasSubstr("{server=\"hub\",tool=\"log\",outcome=\"ok\"} 1\n"))
        << "what one server has too many of takes no place from another";
}

TEST(Metrics, BeyondSomeOfAllServersToolsAndServersAreCountedTogether) {
    Metrics metrics;
    for (std::size_t server = 0; server < Metrics::kMostServers + 100; ++server)
        for (std::size_t tool = 0; tool < 10; ++tool)
            metrics.on_request_ended(
                {{"tools/call", "s" + std::to_string(server), "t" + std::to_string(tool)},
                 "ok",
                 1ms,
                 0,
                 0});
    const auto text = metrics.text({});
    EXPECT_LE(lines_with(text, "patchbay_tool_calls_total{"),
              Metrics::kMostSeries + Metrics::kMostServers + 1);
    EXPECT_THAT(text, HasSubstr("{server=\"other\",tool=\"other\",outcome=\"ok\"} 1000\n"));
}

TEST(Metrics, WhatIsSoNowIsSaidAsItIsAsked) {
    Metrics metrics;
    metrics.on_server_state({"git", 1, "connecting", ""});
    metrics.on_server_state({"git", 1, "ready", ""});
    metrics.on_server_state({"git", 1, "reconnecting", ""});
    metrics.on_server_restart("git");
    metrics.on_http_answer(200);
    metrics.on_http_answer(200);
    metrics.on_http_answer(404);
    Now now;
    now.version = "1.2";
    now.sessions = 3;
    now.streams = 2;
    now.in_flight = 7;
    now.servers = {{"git", "reconnecting", 4, 5}, {"hub", "idle", 0, {}}};
    now.states = {{"idle", 1}, {"ready", 0}, {"reconnecting", 1}};
    const auto text = metrics.text(now);
    for (const auto* line :
         {"patchbay_build_info{version=\"1.2\"} 1\n", "patchbay_sessions 3\n",
          "patchbay_streams 2\n", "patchbay_requests_in_flight 7\n",
          "patchbay_http_requests_total{status=\"200\"} 2\n",
          "patchbay_http_requests_total{status=\"404\"} 1\n",
          "patchbay_servers{state=\"ready\"} 0\n", "patchbay_servers{state=\"idle\"} 1\n",
          "patchbay_server_state{server=\"git\",state=\"reconnecting\"} 1\n",
          "patchbay_server_requests_in_flight{server=\"git\"} 4\n",
          "patchbay_server_tools{server=\"git\"} 5\n",
          "patchbay_server_state_changes_total{server=\"git\",state=\"ready\"} 1\n",
          "patchbay_server_restarts_total{server=\"git\"} 1\n"})
        EXPECT_THAT(text, HasSubstr(line));
    EXPECT_THAT(text, Not(HasSubstr("patchbay_server_tools{server=\"hub\"}")));
}

}  // namespace
}  // namespace patchbay::metrics
