// `patchbay serve` in front of real servers: each era of client before each era of server.
#include "integration/mcp_client.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>

namespace patchbay::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kAble = R"({"elicitation":{},"sampling":{},"roots":{}})";

struct Eras {
    bool modern_client;
    const char* server;
};
void PrintTo(const Eras& eras, std::ostream* out) {
    *out << (eras.modern_client ? "modern" : "legacy") << " client, " << eras.server << " server";
}

class Serve : public ::testing::TestWithParam<Eras> {
protected:
    Serve() { home.add_example("x", {"--era", GetParam().server}); }

    McpClient client(const std::string& capabilities = "{}", Words flags = {}) {
        return McpClient(home, modern(), capabilities, std::move(flags));
    }
    static bool modern() { return GetParam().modern_client; }
    Home home;
};

INSTANTIATE_TEST_SUITE_P(EveryClientBeforeEveryServer, Serve,
                         ::testing::Values(Eras{false, "legacy"}, Eras{false, "modern"},
                                           Eras{true, "legacy"}, Eras{true, "modern"}),
                         [](const auto& eras) {
                             return std::string(eras.param.modern_client ? "Modern" : "Legacy") +
                                    "Before" + eras.param.server;
                         });

TEST_P(Serve, ListsAndCallsToolsByTheirPublicNames) {
    auto mcp = client();
    mcp.greet();
    const auto tools = mcp.ask("tools/list");
    EXPECT_THAT(names_in(tools, "tools"), Contains("mcp__x__echo"));
    EXPECT_THAT(at(tools, "/result/tools/0/description").as_string().c_str(), StartsWith("[x] "));
    EXPECT_EQ(text_in(mcp.call("mcp__x__echo", R"({"message":"hi"})")), "hi");
    EXPECT_EQ(mcp.finish().exit_code, 0);
    EXPECT_EQ(nothing_left(), "");
}

TEST_P(Serve, AnswersAsTheEraOfItsClientHasIt) {
    auto mcp = client();
    mcp.greet();
    const bool typed = mcp.call("mcp__x__echo", R"({"message":"hi"})")
                           .at("result")
                           .as_object()
                           .contains("resultType");
    // What a modern server adds a legacy client passes over.
    EXPECT_EQ(typed, modern() || std::string_view(GetParam().server) == "modern");
    const auto list = mcp.ask("tools/list");
    EXPECT_EQ(list.at("result").as_object().contains("ttlMs"), modern());
    EXPECT_EQ(at(mcp.ask("ping"), "/error/code") == -32601, modern()) << "only legacy has it";
    EXPECT_EQ(at(mcp.ask("no/such"), "/error/code"), -32601);
}

TEST_P(Serve, PassesAnErrorOfTheServerOn) {
    auto mcp = client();
    mcp.greet();
    const auto failed = mcp.call("mcp__x__rpc_error", R"({"code":-32050,"message":"as asked"})");
    EXPECT_EQ(at(failed, "/error/code"), -32050);
    EXPECT_EQ(at(failed, "/error/data/asked"), true);
    EXPECT_EQ(at(mcp.call("mcp__x__fail"), "/result/isError"), true);
    EXPECT_EQ(at(mcp.call("mcp__x__nope"), "/error/code"), -32602);
}

TEST_P(Serve, TellsTheProgressOfACallByTheTokenOfItsClient) {
    auto mcp = client();
    mcp.greet();
    const auto done = mcp.ask("tools/call", {{"name", "mcp__x__progress"},
                                             {"arguments", {{"steps", 2}}},
                                             {"_meta", {{"progressToken", "mine"}}}});
    EXPECT_EQ(text_in(done), "2 steps done");
    const auto told = mcp.wait_for_method("notifications/progress");
    EXPECT_EQ(at(told, "/params/progressToken"), "mine");
    EXPECT_EQ(at(told, "/params/progress"), 1);
    EXPECT_EQ(mcp.count("notifications/progress"), 2u);
}

TEST_P(Serve, ATraceContextReachesTheServerAsItsClientWroteIt) {
    const auto input = home.add_recorded("x", {"--era", GetParam().server});
    const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
    auto mcp = client();
    mcp.greet();
    mcp.ask("tools/call",
            {{"name", "mcp__x__echo"},
             {"arguments", {{"message", "hi"}}},
             {"_meta", {{"traceparent", parent}, {"tracestate", "a=1"}, {"baggage", "k=v"}}}});
    EXPECT_TRUE(wait_for_file(
        input, "\"traceparent\":\"" + parent + "\",\"tracestate\":\"a=1\",\"baggage\":\"k=v\""));
}

TEST_P(Serve, ACancelledCallIsEndedAtItsServerAndNotAnswered) {
    const auto input = home.add_recorded("x", {"--era", GetParam().server});
    auto mcp = client();
    mcp.greet();
    const auto id =
        mcp.begin("tools/call", {{"name", "mcp__x__sleep"}, {"arguments", {{"ms", 3600000}}}});
    ASSERT_TRUE(wait_for_file(input, "\"tools/call\""));
    mcp.notify("notifications/cancelled", {{"requestId", id}, {"reason", "enough"}});
    EXPECT_TRUE(wait_for_file(input, "notifications/cancelled"));
    EXPECT_EQ(text_in(mcp.call("mcp__x__echo", R"({"message":"on"})")), "on");
    for (const auto& message : mcp.messages())
        EXPECT_FALSE(message.contains("id") && message.at("id") == id) << message;
}

TEST_P(Serve, ResourcesAndPromptsLeadToTheirServer) {
    auto mcp = client();
    mcp.greet();
    const auto uris = names_in(mcp.ask("resources/list"), "resources", "uri");
    ASSERT_THAT(uris, Not(IsEmpty()));
    EXPECT_EQ(at(mcp.ask("resources/read", {{"uri", uris.front()}}), "/result/contents/0/uri"),
              json::value(uris.front()));
    const auto prompts = names_in(mcp.ask("prompts/list"), "prompts");
    ASSERT_THAT(prompts, Contains("mcp__x__greet"));
    const auto prompt =
        mcp.ask("prompts/get", {{"name", "mcp__x__greet"}, {"arguments", {{"who", "Ada"}}}});
    EXPECT_THAT(json::serialize(prompt), HasSubstr("Ada"));
    EXPECT_EQ(at(mcp.ask("resources/read", {{"uri", "no:such"}}), "/error/code"),
              modern() ? -32602 : -32002);
    EXPECT_EQ(at(mcp.ask("prompts/get", {{"name", "mcp__x__none"}}), "/error/code"), -32602);
}

// A question of the server reaches the client as its era has it, and the call goes on with the answer.
TEST_P(Serve, WhatAServerAsksItsClientAnswers) {
    auto mcp = client(kAble);
    mcp.greet();
    const json::object given{{"action", "accept"}, {"content", {{"name", "Ada"}}}};
    const json::object call{{"name", "mcp__x__ask"}, {"arguments", json::object()}};
    const auto id = mcp.begin("tools/call", call);
    if (!modern()) {
        const auto asked = mcp.wait_for_method("elicitation/create");
        EXPECT_EQ(at(asked, "/params/message"), "What is your name?");
        mcp.write(json::serialize(
            json::object{{"jsonrpc", "2.0"}, {"id", asked.at("id")}, {"result", given}}));
        EXPECT_THAT(text_in(mcp.wait_for(id)), HasSubstr("Ada"));
        return;
    }
    const auto wanted = mcp.wait_for(id);
    ASSERT_EQ(at(wanted, "/result/resultType"), "input_required") << wanted;
    const auto requests = at(wanted, "/result/inputRequests").as_object();
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_EQ(requests.begin()->value().at("method"), "elicitation/create");
    auto again = call;
    again["inputResponses"] = json::object{{requests.begin()->key(), given}};
    again["requestState"] = at(wanted, "/result/requestState");
    EXPECT_THAT(text_in(mcp.ask("tools/call", again)), HasSubstr("Ada"));
    const auto replayed = mcp.ask("tools/call", again);
    EXPECT_EQ(at(replayed, "/error/code"), -32602) << "a state counts once: " << replayed;
}

TEST_P(Serve, WhatIsLeftUnansweredIsAskedForAgainAndAnotherRequestHasNoUseOfAState) {
    if (!modern()) GTEST_SKIP() << "rounds are of the modern era";
    auto mcp = client(kAble);
    json::object call{{"name", "mcp__x__ask"}, {"arguments", json::object()}};
    const auto first = mcp.ask("tools/call", call);
    call["requestState"] = at(first, "/result/requestState");
    const auto second = mcp.ask("tools/call", call);
    EXPECT_EQ(at(second, "/result/inputRequests"), at(first, "/result/inputRequests"));
    EXPECT_NE(at(second, "/result/requestState"), at(first, "/result/requestState"));
    const auto other =
        mcp.ask("tools/call", {{"name", "mcp__x__echo"},
                               {"arguments", {{"message", "x"}}},
                               {"requestState", at(second, "/result/requestState")}});
    EXPECT_EQ(at(other, "/error/code"), -32602) << other;
}

TEST_P(Serve, AClientThatCannotBeAskedIsNot) {
    auto mcp = client();
    mcp.greet();
    const auto answer = mcp.call("mcp__x__ask");
    EXPECT_THAT(json::serialize(answer), HasSubstr("elicitation"));
    EXPECT_EQ(mcp.count("elicitation/create"), 0u);
    EXPECT_THAT(json::serialize(answer), Not(HasSubstr("inputRequests")));
}

TEST_P(Serve, WhatChangesIsTold) {
    auto mcp = client();
    mcp.greet();
    if (modern()) {
        mcp.begin("subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}});
        const auto heard = mcp.wait_for_method("notifications/subscriptions/acknowledged");
        EXPECT_EQ(at(heard, "/params/notifications/toolsListChanged"), true);
    }
    mcp.ask("tools/list");
    const auto added = text_in(mcp.call("mcp__x__change_tools"));
    const auto told = mcp.wait_for_method("notifications/tools/list_changed");
    if (modern()) {
        EXPECT_EQ(at(told, "/params/_meta/io.modelcontextprotocol~1subscriptionId"), 1);
    }
    EXPECT_THAT(names_in(mcp.ask("tools/list"), "tools"), Contains("mcp__x__" + added));
}

TEST_P(Serve, AStreamEndsWithAWordWhenItsServerIsEnded) {
    if (!modern()) GTEST_SKIP() << "streams are of the modern era";
    auto mcp = client();
    const auto id =
        mcp.begin("subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}});
    mcp.wait_for_method("notifications/subscriptions/acknowledged");
    mcp.program().close_input();
    EXPECT_EQ(at(mcp.wait_for(id), "/result/_meta/io.modelcontextprotocol~1subscriptionId"), id);
    EXPECT_EQ(at(mcp.wait_for_method("notifications/cancelled"), "/params/requestId"), id);
    EXPECT_EQ(mcp.finish().exit_code, 0);
}

TEST_P(Serve, TheEndOfTheInputEndsItWithItsServersAfterTheLastAnswers) {
    auto mcp = client();
    mcp.greet();
    const auto id =
        mcp.begin("tools/call", {{"name", "mcp__x__sleep"}, {"arguments", {{"ms", 200}}}});
    mcp.program().close_input();
    EXPECT_EQ(text_in(mcp.wait_for(id)), "slept 200 ms");
    EXPECT_EQ(mcp.finish().exit_code, 0);
    EXPECT_EQ(nothing_left(), "");
}

TEST_P(Serve, ACallThatNeverEndsHoldsItUpNoLongerThanASignalDoes) {
    // Of a signal: SIGTERM is how it is asked to end, SIGINT cuts it short.
    const std::pair<int, int> cases[] = {{0, 0}, {SIGTERM, 0}, {SIGINT, 130}};
    for (const auto& [by_signal, code] : cases) {
        const auto input = home.add_recorded("x", {"--era", GetParam().server});
        auto mcp = client();
        mcp.greet();
        mcp.begin("tools/call", {{"name", "mcp__x__sleep"}, {"arguments", {{"ms", 3600000}}}});
        ASSERT_TRUE(wait_for_file(input, "\"tools/call\""));
        if (by_signal != 0) mcp.program().signal(by_signal);
        EXPECT_EQ(mcp.finish().exit_code, code) << by_signal;
        EXPECT_EQ(nothing_left(), "");
        std::filesystem::remove(input);
    }
}

TEST_P(Serve, WhatIsDeniedOrDisabledStaysSo) {
    auto mcp = client("{}", {"--set", "permissions.deny=[\"mcp__x__echo\"]", "--set",
                             "servers.x.tools.add=\"disable\""});
    mcp.greet();
    const auto names = names_in(mcp.ask("tools/list"), "tools");
    EXPECT_THAT(names, Not(Contains("mcp__x__add")));
    const auto denied = mcp.call("mcp__x__echo", R"({"message":"hi"})");
    EXPECT_EQ(at(denied, "/result/isError"), true);
    EXPECT_THAT(text_in(denied), HasSubstr("deny"));
    EXPECT_THAT(json::serialize(mcp.call("mcp__x__add", R"({"a":1,"b":2})")),
                Not(HasSubstr("\"sum\"")));
}

// A bridge: what the server has keeps its names and descriptions.
TEST_P(Serve, OneServerAloneIsShownAsItIs) {
    home.add_example("other");
    auto mcp = client(kAble, {"--only", "x"});
    mcp.greet();
    const auto tools = mcp.ask("tools/list");
    EXPECT_THAT(names_in(tools, "tools"), Contains("echo"));
    EXPECT_THAT(json::serialize(tools), AllOf(Not(HasSubstr("mcp__")), Not(HasSubstr("[x]"))));
    EXPECT_EQ(text_in(mcp.call("echo", R"({"message":"hi"})")), "hi");
    EXPECT_THAT(names_in(mcp.ask("prompts/list"), "prompts"), Contains("greet"));
    const auto prompt =
        mcp.ask("prompts/get", {{"name", "greet"}, {"arguments", {{"who", "Ada"}}}});
    EXPECT_THAT(json::serialize(prompt), HasSubstr("Ada"));
    EXPECT_EQ(at(mcp.call("none"), "/error/code"), -32602);
    const auto id = mcp.begin("tools/call", {{"name", "ask"}, {"arguments", json::object()}});
    if (modern())
        EXPECT_EQ(at(mcp.wait_for(id), "/result/resultType"), "input_required");
    else
        EXPECT_TRUE(mcp.wait_for_method("elicitation/create").contains("id"));
}

TEST(ServeOnly, NamesTheNearestWhereThereIsNoSuchServer) {
    Home home;
    home.add_example("files");
    const auto done = home.run({"serve", "--only", "file"});
    EXPECT_EQ(done.exit_code, 6);
    EXPECT_EQ(done.out, "");
    EXPECT_THAT(done.err, HasSubstr("did you mean \"files\"?"));
}

}  // namespace
}  // namespace patchbay::test
