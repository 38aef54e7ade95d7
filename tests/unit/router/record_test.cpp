// What is told of requests that have ended, whatever became of them.
#include "core/log.hpp"
#include "unit/router/fixture.hpp"

namespace patchbay::router {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

struct Counts final : core::Observer {
    struct Ended {
        std::string method, server, tool, outcome;
        std::size_t sent, received;
    };
    void on_request_ended(const core::EndedRequest& told) override {
        ended.push_back({std::string(told.asked.method), std::string(told.asked.server),
                         std::string(told.asked.tool), std::string(told.outcome),
                         told.bytes_to_server, told.bytes_from_server});
    }
    void on_server_state(const core::ServerState& told) override {
        states.push_back(std::string(told.server) + " " + std::string(told.state));
    }
    void on_server_restart(std::string_view server) override { restarts.emplace_back(server); }
    void on_http_answer(unsigned) override {}

    std::vector<Ended> ended;
    std::vector<std::string> states, restarts;
};

class RecordTest : public RouterTest {
protected:
    RecordTest() { observer = &counts; }
    const Counts::Ended& last() {
        static const Counts::Ended none{};
        EXPECT_FALSE(counts.ended.empty());
        return counts.ended.empty() ? none : counts.ended.back();
    }
    Counts counts;
};

TEST_F(RecordTest, ACallIsToldOfOnceByItsServersNamesAndWithItsBytes) {
    const auto answer = call("mcp__git__odd_name_8974eba3", R"({"max":3})");
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_THAT(counts.ended, SizeIs(1));
    EXPECT_EQ(last().method, "tools/call");
    EXPECT_EQ(last().server, "git");
    EXPECT_EQ(last().tool, "odd name");
    EXPECT_EQ(last().outcome, "ok");
    EXPECT_EQ(last().sent, std::string_view(R"("name":"odd name","arguments":{"max":3})").size());
    EXPECT_EQ(last().received, answer->size());
    EXPECT_THAT(counts.states, ElementsAre("git connecting", "git ready"));
}

TEST_F(RecordTest, EachWayToEndHasItsWord) {
    ASSERT_TRUE(call("mcp__git__log"));
    servers.at("git").results["tools/call"] = [](const auto&) -> json::value {
        return {{"resultType", "complete"}, {"content", json::array()}, {"isError", true}};
    };
    ASSERT_TRUE(call("mcp__git__log"));
    EXPECT_EQ(last().outcome, "is_error");
    servers.at("git").errors["tools/call"] = {-32050, "no"};
    ASSERT_TRUE(call("mcp__git__log"));
    EXPECT_EQ(last().outcome, "server_error");
    EXPECT_GT(last().received, 0u);
    EXPECT_FALSE(call("mcp__git__nope"));
    EXPECT_EQ(last().outcome, "not_found");
    EXPECT_EQ(last().server + last().tool, "") << "no name that somebody made up becomes a label";
    EXPECT_FALSE(call("mcp__github__log"));
    EXPECT_EQ(last().outcome, "denied");
    EXPECT_EQ(last().sent, 0u);
    EXPECT_FALSE(ask("git", "prompts/list"));
    EXPECT_EQ(last().method, "prompts/list");
    EXPECT_EQ(last().server, "git");
    EXPECT_EQ(last().outcome, "unsupported");
}

TEST_F(RecordTest, WhatIsCancelledOrLosesItsCallerIsToldOfToo) {
    ASSERT_TRUE(call("mcp__git__log"));
    servers.at("git").results.erase("tools/call");
    std::optional<test::FakeCaller> other(std::in_place, callers);
    Call slow;
    slow.name = "mcp__git__log";
    const auto cancelled = router().call(caller, slow, [](const auto&) {});
    router().call(*other, slow, [](const auto&) {});
    EXPECT_EQ(router().in_flight(), 2u);
    EXPECT_EQ(router().in_flight_by_server().at("git"), 2u);
    router().cancel(cancelled);
    other.reset();
    EXPECT_EQ(router().in_flight(), 0u);
    ASSERT_THAT(counts.ended, SizeIs(3));
    EXPECT_EQ(counts.ended[1].outcome, "cancelled");
    EXPECT_EQ(counts.ended[2].outcome, "cancelled");
}

TEST_F(RecordTest, ALineOfTheLogSaysWhoAskedForWhatAndNothingOfWhatWasSaid) {
    observer = nullptr;
    core::log::set_level(core::log::Level::Debug);
    ::testing::internal::CaptureStderr();
    call("mcp__git__log", R"({"token":"sesame"})");
    const auto log = ::testing::internal::GetCapturedStderr();
    core::log::set_level(core::log::Level::Warn);
    EXPECT_THAT(log, AllOf(HasSubstr(core::to_string(caller.principal()) +
                                     ": tools/call mcp__git__log at server \"git\": ok after "),
                           HasSubstr(" bytes out, "), Not(HasSubstr("sesame"))));
}

}  // namespace
}  // namespace patchbay::router
