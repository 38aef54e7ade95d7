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

std::vector<std::string> names_in(const json::object& answer, const char* member,
                                  const char* key = "name") {
    std::vector<std::string> names;
    const json::value whole = answer;
    json::error_code failed;
    const auto* list = whole.find_pointer(std::string("/result/") + member, failed);
    if (!list || !list->is_array()) return {json::serialize(answer)};
    for (const auto& each : list->get_array()) names.emplace_back(each.at(key).as_string());
    return names;
}

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

class ServeLegacy : public ::testing::Test {
protected:
    ServeLegacy() { home.add_example("x"); }
    Home home;
};

TEST_F(ServeLegacy, AgreesOnEveryRevisionAndOffersItsNewestForAnother) {
    for (const std::string asked : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}) {
        McpClient mcp(home, false);
        EXPECT_EQ(at(mcp.greet(asked), "/result/protocolVersion"), json::value(asked));
    }
    for (const std::string asked : {"1999-01-01", "2026-07-28"}) {
        McpClient mcp(home, false);
        EXPECT_EQ(at(mcp.greet(asked), "/result/protocolVersion"), "2025-11-25");
    }
}

TEST_F(ServeLegacy, TheOneRevisionThatHasBatchesGetsEachAnswer) {
    const std::string batch =
        R"([{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b","method":"ping"}])";
    McpClient mcp(home, false);
    mcp.greet("2025-03-26");
    mcp.write(batch);
    EXPECT_TRUE(mcp.wait_for("a").contains("result"));
    EXPECT_TRUE(mcp.wait_for("b").contains("result"));
    mcp.write("[]");
    EXPECT_EQ(at(mcp.wait_for(json::value()), "/error/code"), -32600);
}

TEST_F(ServeLegacy, WhatMakesNoSenseIsAnsweredAndTheRestGoesOn) {
    McpClient mcp(home, false);
    mcp.write(R"({"jsonrpc":"2.0","id":"early","method":"tools/list"})");
    EXPECT_EQ(at(mcp.wait_for("early"), "/error/code"), -32602);
    mcp.greet();
    mcp.write("{\"a\":");
    mcp.write("[1,2]");
    mcp.write(R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})");
    mcp.write(R"({"jsonrpc":"2.0","id":"p","method":"tools/list","params":[]})");
    mcp.write(R"({"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":7}})");
    mcp.write(R"({"jsonrpc":"2.0","id":"r","method":"resources/read","params":{}})");
    EXPECT_EQ(at(mcp.wait_for("p"), "/error/code"), -32602);
    EXPECT_EQ(at(mcp.wait_for("q"), "/error/code"), -32602);
    EXPECT_EQ(at(mcp.wait_for("r"), "/error/code"), -32602);
    std::vector<int> codes;
    for (const auto& message : mcp.messages())
        if (message.contains("error") && message.at("id").is_null())
            codes.push_back(static_cast<int>(message.at("error").at("code").as_int64()));
    EXPECT_THAT(codes, ElementsAre(-32700, -32600, -32600));
    EXPECT_EQ(text_in(mcp.call("mcp__x__echo", R"({"message":"on"})")), "on");
}

TEST_F(ServeLegacy, ALineWithoutEndIsPassedOver) {
    McpClient mcp(home, false);
    mcp.greet();
    mcp.write(std::string(17u << 20, 'x'));
    EXPECT_EQ(text_in(mcp.call("mcp__x__echo", R"({"message":"on"})")), "on");
    EXPECT_EQ(mcp.count("x"), 0u);
}

TEST_F(ServeLegacy, AnIdThatIsInFlightIsNoOtherRequests) {
    McpClient mcp(home, false);
    mcp.greet();
    mcp.write(R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":)"
              R"({"name":"mcp__x__sleep","arguments":{"ms":300}}})");
    mcp.write(R"({"jsonrpc":"2.0","id":"a","method":"tools/list"})");
    const auto refused = mcp.wait_for("a");
    EXPECT_EQ(at(refused, "/error/code"), -32600) << refused;
}

// What a client writes reaches the server as it is, and back.
TEST_F(ServeLegacy, NumbersThatNoTypeHoldsPassUnchanged) {
    const auto input = home.add_recorded("x");
    McpClient mcp(home, false);
    mcp.greet();
    mcp.write(R"({"jsonrpc":"2.0","id":12345678901234567890123,"method":"ping"})");
    ASSERT_TRUE(mcp.program().wait_for_out(R"("id":12345678901234567890123,"result":{}})"));
    mcp.write(R"({"jsonrpc":"2.0","id":"n","method":"tools/call","params":{"name":"mcp__x__echo",)"
              R"("arguments":{"message":"m","n":12345678901234567890123,"e":1E400,"z":1,"a":2},)"
              R"("_meta":{"com.example/k":1.50}}})");
    EXPECT_EQ(text_in(mcp.wait_for("n")), "m");
    const auto sent = read_file(input);
    EXPECT_THAT(sent, HasSubstr(R"("n":12345678901234567890123,"e":1E400,"z":1,"a":2})"));
    EXPECT_THAT(sent, HasSubstr(R"("com.example/k":1.50)"));
}

TEST_F(ServeLegacy, AServerThatIsSlowJoinsLaterAndIsToldOf) {
    home.add_example("slow", {"--slow-start", "1500"});
    McpClient mcp(home, false);
    mcp.greet();
    EXPECT_THAT(names_in(mcp.ask("tools/list"), "tools"), Not(Contains("mcp__slow__echo")));
    mcp.wait_for_method("notifications/tools/list_changed");
    EXPECT_THAT(names_in(mcp.ask("tools/list"), "tools"), Contains("mcp__slow__echo"));
}

// A server that starts once there is a file.
class ServeAgain : public ::testing::Test {
protected:
    ServeAgain() {
        home.add("late",
                 {{"command", "sh"},
                  {"args",
                   {"-c", "while [ ! -e \"$0\" ]; do sleep 0.02; done; . \"$0\"", gate.string()}}});
        let("exec " + example_server());
        McpClient mcp(home, false);
        mcp.greet();
        EXPECT_THAT(names_in(mcp.ask("tools/list"), "tools"), Contains("mcp__late__echo"));
        EXPECT_EQ(mcp.finish().exit_code, 0);
        std::filesystem::remove(gate);
    }
    void let(const std::string& script) {
        std::ofstream(gate.string() + ".draft") << script << std::endl;
        std::filesystem::rename(gate.string() + ".draft", gate);
    }
    Home home;
    const std::filesystem::path gate = home.work() / "gate";
};

TEST_F(ServeAgain, WhatAServerListedLastIsListedBeforeItIsThereAndACallWaitsForIt) {
    McpClient mcp(home, false);
    const auto greeted = mcp.greet();
    EXPECT_THAT(at(greeted, "/result/instructions").as_string().c_str(), HasSubstr("## late"));
    const auto listed = mcp.ask("tools/list");
    EXPECT_THAT(names_in(listed, "tools"), Contains("mcp__late__echo"));
    const auto call = mcp.begin(
        "tools/call", {{"name", "mcp__late__echo"}, {"arguments", {{"message", "at last"}}}});
    EXPECT_TRUE(mcp.ask("ping").contains("result"));
    let("exec " + example_server());
    EXPECT_EQ(text_in(mcp.wait_for(call)), "at last");
    EXPECT_EQ(mcp.ask("tools/list").at("result"), listed.at("result"));
    EXPECT_EQ(mcp.count("notifications/tools/list_changed"), 0u) << "it is what it was";
}

TEST_F(ServeAgain, WhatAServerListsNowIsToldWhereItIsSomethingElse) {
    McpClient mcp(home, false);
    mcp.greet();
    EXPECT_THAT(names_in(mcp.ask("tools/list"), "tools"), Contains("mcp__late__echo"));
    let("exec " + example_server() + " --tools 1");
    mcp.wait_for_method("notifications/tools/list_changed");
    EXPECT_THAT(names_in(mcp.ask("tools/list"), "tools"), Contains("mcp__late__tool_1"));
}

TEST_F(ServeAgain, AServerThatDoesNotComeKeepsItsToolsAndACallSaysWhy) {
    let("echo broken >&2; exit 3");
    McpClient mcp(home, false);
    mcp.greet();
    EXPECT_THAT(names_in(mcp.ask("tools/list"), "tools"), Contains("mcp__late__echo"));
    const auto refused = mcp.call("mcp__late__echo", R"({"message":"m"})");
    EXPECT_THAT(json::serialize(refused), HasSubstr("late"));
    EXPECT_THAT(json::serialize(refused), HasSubstr("broken"));
    EXPECT_THAT(names_in(mcp.ask("tools/list"), "tools"), Contains("mcp__late__echo"));
}

TEST_F(ServeAgain, AnotherDefinitionIsAnotherServer) {
    home.add("late", {{"command", "sh"}, {"args", {"-c", "exec sleep 3600"}}});
    McpClient mcp(home, false);
    mcp.greet();
    EXPECT_THAT(names_in(mcp.ask("tools/list"), "tools"), IsEmpty());
}

// Its one task waits for a word of the client's to end.
constexpr const char* kWithTasks = R"(state=working
while read -r line; do
  id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  task='{"taskId":"a","status":"'$state'","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":60000}'
  case $line in
  *'"method":"initialize"'*) r='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"t","version":"1"}}' ;;
  *'"tools/list"'*) r='"result":{"tools":[{"name":"work","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}' ;;
  *'"tools/call"'*'"task":'*) r='"result":{"task":'$task'}' ;;
  *'"tasks/get"'*'"taskId":"a"'*) r='"result":'$task ;;
  *'"tasks/result"'*'"taskId":"a"'*) state=completed
    r='"result":{"content":[{"type":"text","text":"worked"}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"a"}}}' ;;
  *'"tasks/cancel"'*'"taskId":"a"'*) r='"error":{"code":-32602,"message":"it has ended"}' ;;
  *'"id"'*) r='"error":{"code":-32601,"message":"no"}' ;;
  *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$r"
done)";

TEST(ServeTasks, AToolGoesOnAsATaskBesideAServerThatHasATaskOfTheSameId) {
    Home home;
    for (const char* id : {"s", "t"})
        home.add(id, {{"command", "/bin/sh"}, {"args", {"-c", kWithTasks}}});
    home.add_example("x");
    McpClient mcp(home, false);
    EXPECT_TRUE(at(mcp.greet(), "/result/capabilities/tasks/requests/tools/call").is_object());
    const auto begin = [&](const char* tool) {
        return mcp.ask("tools/call", {{"name", tool}, {"task", {{"ttl", 60'000}}}});
    };
    EXPECT_EQ(at(begin("mcp__s__work"), "/result/task/taskId"), "s:a");
    EXPECT_EQ(at(begin("mcp__t__work"), "/result/task/taskId"), "t:a");
    const json::object task{{"taskId", "t:a"}};
    EXPECT_EQ(at(mcp.ask("tasks/get", task), "/result/status"), "working");
    const auto result = mcp.ask("tasks/result", task);
    EXPECT_EQ(text_in(result), "worked");
    EXPECT_EQ(at(result, "/result/_meta/io.modelcontextprotocol~1related-task/taskId"), "t:a");
    EXPECT_EQ(at(mcp.ask("tasks/cancel", task), "/error/message"), "it has ended");
    const auto list = mcp.ask("tasks/list");
    EXPECT_THAT(names_in(list, "tasks", "taskId"), ElementsAre("s:a", "t:a"));
    EXPECT_THAT(names_in(list, "tasks", "status"), ElementsAre("working", "completed"));
    EXPECT_EQ(at(mcp.ask("tasks/get", {{"taskId", "a"}}), "/error/code"), -32602);
    EXPECT_EQ(at(begin("mcp__x__echo"), "/error/code"), -32601);
    EXPECT_EQ(mcp.finish().exit_code, 0);
    EXPECT_EQ(nothing_left(), "");
}

}  // namespace
}  // namespace patchbay::test
