// The headers of messages to a modern server behind HTTP.
#include "unit/connection/fixture.hpp"

namespace patchbay::connection {
namespace {

using ::testing::HasSubstr;

TEST_F(HttpConnectionTest, AModernServerGetsHeadersThatRepeatTheBody) {
    server.be_modern({marked_tool("sql", "Region")});
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_EQ(server.arrival("server/discover").header("Mcp-Method"), "server/discover");
    EXPECT_EQ(server.arrival("server/discover").protocol, "2026-07-28");
    EXPECT_EQ(server.arrival("tools/list").header("Mcp-Method"), "tools/list");
    ASSERT_TRUE(ask(call_with("sql", R"({"region":"\u4e16"})")));
    const auto& call = server.arrival("tools/call");
    EXPECT_EQ(call.header("Mcp-Method"), "tools/call");
    EXPECT_EQ(call.header("Mcp-Name"), "sql");
    EXPECT_EQ(call.header("Mcp-Param-Region"), "=?base64?5LiW?=");
    ASSERT_TRUE(ask(call_with("sql", R"({"region":null})")));
    EXPECT_EQ(server.arrival("tools/call", 1).header("Mcp-Param-Region"), "(none)");
}

TEST_F(HttpConnectionTest, ALegacyServerGetsNone) {
    server.be_legacy({marked_tool("sql", "Region")});
    ASSERT_EQ(connect(), State::Ready);
    ASSERT_TRUE(ask(call_with("sql", R"({"region":"a"})")));
    EXPECT_TRUE(server.arrival("tools/call").headers.empty());
    EXPECT_EQ(server.arrival("initialize").protocol, "");
    EXPECT_EQ(server.arrival("tools/call").protocol, "2025-11-25");
}

TEST_F(HttpConnectionTest, ATransportWithoutHeadersGetsNoneAndHidesNothing) {
    server.takes_headers = false;
    server.be_modern({marked_tool("sql", "bad name")});
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_EQ(connection().tools().size(), 1u);
    ASSERT_TRUE(ask(call_with("sql", R"({"region":"a"})")));
    EXPECT_TRUE(server.arrival("tools/call").headers.empty());
}

TEST_F(HttpConnectionTest, AnInvalidMarkHidesThatToolAndSaysWhy) {
    server.be_modern({marked_tool("bad", "a b"), marked_tool("good", "Region")});
    testing::internal::CaptureStderr();
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("tool \"bad\" was left out"));
    ASSERT_EQ(connection().tools().size(), 1u);
    EXPECT_EQ(connection().tools()[0].name, "good");
    ASSERT_EQ(connection().status().notes.size(), 1u);
    EXPECT_THAT(connection().status().notes[0],
                HasSubstr("tool \"bad\" was left out: x-mcp-header at region is \"a b\""));
}

TEST_F(HttpConnectionTest, AToolThatIsLeftOutForAnyReasonIsToldInTheLog) {
    json::object many = tool_named("many");
    for (int i = 0; i < 1'001; ++i) many[std::to_string(i)] = i;
    server.be_modern({many, {{"name", ""}}, tool_named("twice"), tool_named("twice")});
    testing::internal::CaptureStderr();
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                AllOf(HasSubstr("tool \"many\": it has more than 1000 members and was left out"),
                      HasSubstr("a tool with an empty name was left out"),
                      HasSubstr("tools listed twice under one name were left out")));
    EXPECT_EQ(connection().status().notes.size(), 3u);
}

TEST_F(HttpConnectionTest, OfManyHiddenToolsTheLogNamesTheFirstFew) {
    json::array tools;
    for (int i = 0; i < 50; ++i)
        tools.push_back(marked_tool(("bad" + std::to_string(i)).c_str(), "a b"));
    server.be_modern(tools);
    testing::internal::CaptureStderr();
    ASSERT_EQ(connect(), State::Ready);
    const auto log = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 4) << log;
    EXPECT_THAT(log, HasSubstr("more tools were left out"));
    EXPECT_EQ(connection().status().notes.size(), 50u);
}

TEST_F(HttpConnectionTest, AnArgumentThatNoHeaderCarriesEndsTheCallUnsent) {
    server.be_modern({marked_tool("sql", "Region")});
    const auto reply = ask(call_with("sql", R"({"region":{"deep":1}})"));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::Invalid);
    EXPECT_THAT(reply.error().message, HasSubstr("server \"s\": argument \"region\""));
    EXPECT_TRUE(server.requests("tools/call").empty());
}

TEST_F(HttpConnectionTest, ACallThatIsCancelledBeforeItsHeaderErrorEndsOnce) {
    server.be_modern({marked_tool("sql", "Region")});
    ASSERT_EQ(connect(), State::Ready);
    Outcome outcome;
    const auto id = begin(call_with("sql", R"({"region":{}})"), outcome);
    connection().cancel(id, "enough");
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    pass(1ms);
    EXPECT_EQ(outcome->error().code, ErrorCode::Cancelled);
    EXPECT_TRUE(server.requests("tools/call").empty());
}

TEST_F(HttpConnectionTest, AHeaderMismatchReadsTheToolListAgainAndAsksOnceMore) {
    server.be_modern({marked_tool("sql", "Region")});
    ASSERT_EQ(connect(), State::Ready);
    server.be_modern({marked_tool("sql", "Zone")});
    server.errors["tools/call"] = {-32020, "Mcp-Param-Zone is missing"};
    int told = 0;
    server.results["tools/list"] = [&, list = server.results["tools/list"]](const auto& params) {
        if (++told == 1) server.errors.erase("tools/call");
        return list(params);
    };
    server.results["tools/call"] = [](const auto&) -> json::value {
        return {{"resultType", "complete"}, {"ok", true}};
    };
    const auto reply = ask(call_with("sql", R"({"region":"a"})"));
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_THAT(*reply, HasSubstr("\"ok\":true"));
    EXPECT_EQ(server.arrival("tools/call", 0).header("Mcp-Param-Region"), "a");
    EXPECT_EQ(server.arrival("tools/call", 1).header("Mcp-Param-Zone"), "a");
    EXPECT_NE(server.arrival("tools/call", 0).exchange, server.arrival("tools/call", 1).exchange);
}

TEST_F(HttpConnectionTest, ASecondHeaderMismatchIsTheAnswer) {
    server.be_modern({tool_named("a")});
    server.errors["tools/call"] = {-32020, "no"};
    EXPECT_THAT(*ask(call("a")), HasSubstr("-32020"));
    EXPECT_EQ(server.requests("tools/call").size(), 2u);
}

TEST_F(HttpConnectionTest, SettlesWhatWasAnswered) {
    server.be_modern({tool_named("a")});
    ASSERT_TRUE(ask(call("a")));
    EXPECT_EQ(server.settled.back(), server.arrival("tools/call").exchange);
}

}  // namespace
}  // namespace patchbay::connection
