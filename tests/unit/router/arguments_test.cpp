// Arguments that do not fit are told to whoever wrote them, before anybody is asked and before anything is sent.
#include "unit/router/fixture.hpp"

namespace patchbay::router {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Arguments : public RouterTest {
protected:
    Arguments() {
        takes(R"({"type":"object","properties":{"max":{"type":"integer"}},"required":["max"]})");
    }
    void takes(const char* schema) {
        auto tool = tool_named("log");
        tool["inputSchema"] = json::parse(schema);
        servers.at("git").be_modern({std::move(tool), tool_named("odd name")});
    }
    std::size_t sent() { return servers.at("git").requests("tools/call").size(); }
};

TEST_F(Arguments, ThatDoNotFitAreRefusedWithTheirPlaceAndNotSent) {
    EXPECT_TRUE(call("mcp__git__log", R"({"max":3})"));
    const auto wrong = call("mcp__git__log", R"({"max":"three"})");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, ErrorCode::Invalid);
    EXPECT_THAT(wrong.error().message,
                AllOf(HasSubstr("mcp__git__log: argument \"max\": expected integer, got"),
                      HasSubstr("string")));
    EXPECT_THAT(call("mcp__git__log", "{}").error().message, HasSubstr("missing argument \"max\""));
    EXPECT_EQ(sent(), 1u);
    EXPECT_TRUE(call("mcp__git__odd_name_8974eba3", R"({"max":"three"})"))
        << "its siblings take what they take";
}

TEST_F(Arguments, OfACallInTheServersOwnWordsAreCheckedAsWell) {
    const auto wrong = ask("git", "tools/call", R"("name":"log","arguments":{"max":"three"})");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, ErrorCode::Invalid);
    EXPECT_TRUE(ask("git", "tools/call", R"("name":"log","arguments":{"max":3})"));
    EXPECT_EQ(sent(), 1u);
}

TEST_F(Arguments, OfADeniedCallAreNobodysBusiness) {
    permissions.deny = {"mcp__git__log"};
    const auto denied = call("mcp__git__log", R"({"max":"three"})");
    ASSERT_FALSE(denied);
    EXPECT_EQ(denied.error().code, ErrorCode::Denied);
}

TEST_F(Arguments, ThatDoNotFitAreAskedOfNobody) {
    agent.approves = true;
    std::optional<Error> error;
    Call request;
    request.name = "mcp__git__log";
    request.arguments = R"({"max":"three"})";
    router().call(agent, std::move(request), [&](const Result<Reply>& reply) {
        if (!reply) error = reply.error();
    });
    EXPECT_TRUE(loop.run_until([&] { return error.has_value(); }, core::Clock::now() + 20s));
    EXPECT_EQ(error->code, ErrorCode::Invalid);
    EXPECT_THAT(agent.approvals, IsEmpty());
}

TEST_F(Arguments, GoAsTheyAreWhereItsServerSaysSo) {
    specs[0].config.check_arguments = false;
    EXPECT_TRUE(call("mcp__git__log", R"({"max":"three"})"));
    specs[0].config.check_arguments = true;
    connections->apply(specs);
    EXPECT_FALSE(call("mcp__git__log", R"({"max":"three"})")) << "from now on";
}

TEST_F(Arguments, GoAsTheyAreWhereTheSchemaMakesNoSense) {
    takes(R"({"type":"object","properties":{"max":{"type":"whole"}}})");
    EXPECT_TRUE(call("mcp__git__log", R"({"max":"three"})"));
}

}  // namespace
}  // namespace patchbay::router
