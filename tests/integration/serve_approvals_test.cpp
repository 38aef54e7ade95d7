// Who approves what a client of `patchbay serve` calls, as [gateway] approvals says.
#include "integration/mcp_client.hpp"

namespace patchbay::test {
namespace {

class ServeApprovals : public ::testing::TestWithParam<bool> {
protected:
    ServeApprovals() { home.add_example("x"); }
    McpClient client(const std::string& capabilities, Words flags) {
        return McpClient(home, GetParam(), capabilities, std::move(flags));
    }
    // What the client's user is shown of a call, and the call's answer after that decision.
    std::pair<std::string, json::object> decide(McpClient& mcp, json::object call,
                                                const char* decision) {
        const json::object given{{"action", "accept"}, {"content", {{"decision", decision}}}};
        const auto id = mcp.begin("tools/call", call);
        if (!GetParam()) {
            const auto asked = mcp.wait_for_method("elicitation/create");
            mcp.write(json::serialize(
                json::object{{"jsonrpc", "2.0"}, {"id", asked.at("id")}, {"result", given}}));
            return {json::serialize(at(asked, "/params/message")), mcp.wait_for(id)};
        }
        const auto wanted = mcp.wait_for(id);
        const auto requests = at(wanted, "/result/inputRequests").as_object();
        call["inputResponses"] = json::object{{requests.begin()->key(), given}};
        call["requestState"] = at(wanted, "/result/requestState");
        return {json::serialize(requests.begin()->value()), mcp.ask("tools/call", call)};
    }
    const json::object kEcho{{"name", "mcp__x__echo"}, {"arguments", {{"message", "hi"}}}};
    Home home;
};
INSTANTIATE_TEST_SUITE_P(OfEachEra, ServeApprovals, ::testing::Bool(), [](const auto& modern) {
    return std::string(modern.param ? "Modern" : "Legacy");
});

TEST_P(ServeApprovals, TheUserOfTheClientIsAskedOnceForTheSession) {
    auto mcp = client(R"({"elicitation":{}})", {"--set", "gateway.approvals=ask"});
    mcp.greet();
    const auto [shown, answer] = decide(mcp, kEcho, "session");
    EXPECT_THAT(shown, AllOf(HasSubstr("echo"), HasSubstr("server"), HasSubstr("mcp.json"),
                             HasSubstr("message:"), HasSubstr("hi")));
    EXPECT_EQ(text_in(answer), "hi");
    EXPECT_EQ(text_in(mcp.call("mcp__x__echo", R"({"message":"again"})")), "again");
}

TEST_P(ServeApprovals, WhoSaysNoIsNotCalledAndWhoCannotBeAskedIsToldTheRule) {
    auto able = client(R"({"elicitation":{}})", {"--set", "gateway.approvals=ask"});
    able.greet();
    const auto refused = decide(able, kEcho, "no").second;
    EXPECT_EQ(at(refused, "/result/isError"), true);
    EXPECT_THAT(text_in(refused), HasSubstr("was not approved by client"));
    auto unable = client("{}", {"--set", "gateway.approvals=ask"});
    unable.greet();
    const auto told = unable.call("mcp__x__echo", R"({"message":"hi"})");
    const bool modern = GetParam();
    EXPECT_THAT(modern ? std::string(at(told, "/error/message").as_string()) : text_in(told),
                HasSubstr("[servers.x.tools] echo = \"allow-always\""));
    if (modern) EXPECT_EQ(at(told, "/error/code"), -32021);
}

TEST_P(ServeApprovals, AnAnswerForAlwaysCountsForTheNextClientAndNotForWhatIsTyped) {
    const Words asked = {"--set", "gateway.approvals=ask", "--set",
                         "servers.x.tools.echo=\"require-approval\""};
    auto able = client(R"({"elicitation":{}})", asked);
    able.greet();
    EXPECT_EQ(text_in(decide(able, kEcho, "always").second), "hi");
    auto unable = client("{}", asked);
    unable.greet();
    EXPECT_EQ(text_in(unable.call("mcp__x__echo", R"({"message":"again"})")), "again");
    auto typed = asked;
    typed.insert(typed.end(), {"call", "mcp__x__echo", "message=hi"});
    EXPECT_EQ(home.run(typed).exit_code, 7);
    auto by_rules = client("{}", {"--set", "gateway.approvals=rules"});
    by_rules.greet();
    EXPECT_THAT(text_in(by_rules.call("mcp__x__echo", R"({"message":"hi"})")),
                HasSubstr("needs approval"));
}

TEST_P(ServeApprovals, RulesAloneAllowByRules) {
    auto mcp = client(R"({"elicitation":{}})", {"--set", "gateway.approvals=rules", "--set",
                                                "servers.x.tools.echo=\"allow-always\""});
    mcp.greet();
    EXPECT_EQ(text_in(mcp.call("mcp__x__echo", R"({"message":"hi"})")), "hi");
    EXPECT_THAT(text_in(mcp.call("mcp__x__add", R"({"a":1,"b":2})")), HasSubstr("needs approval"));
}

TEST_P(ServeApprovals, AWrittenLevelIsAskedForWhereTheClientApprovesTheRest) {
    auto mcp =
        client(R"({"elicitation":{}})", {"--set", "servers.x.tools.echo=\"require-approval\""});
    mcp.greet();
    EXPECT_EQ(text_in(decide(mcp, kEcho, "once").second), "hi");
    EXPECT_THAT(text_in(mcp.call("mcp__x__add", R"({"a":1,"b":2})")), HasSubstr("3"));
}

TEST_P(ServeApprovals, WhatACheckoutBringsAndNobodyApprovedIsNotThere) {
    home.write(".mcp.json", R"({"mcpServers": {"theirs": {"command": ")" + example_server() +
                                R"("}}, "gateway": {"approvals": "client"}})");
    auto mcp = client("{}", {});
    mcp.greet();
    EXPECT_THAT(json::serialize(mcp.ask("tools/list")), Not(HasSubstr("mcp__theirs__")));
    EXPECT_TRUE(mcp.call("mcp__theirs__echo").contains("error") ||
                at(mcp.call("mcp__theirs__echo"), "/result/isError") == true);
}

}  // namespace
}  // namespace patchbay::test
