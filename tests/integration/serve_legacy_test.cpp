// `patchbay serve` where both speak the revisions that begin with a handshake: what those alone have, what
// makes no sense, and servers that come late or again.
#include "integration/mcp_client.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

namespace patchbay::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

// Some clients wait a second for that. The best of a few counts, for the machine does other things as well, and
// what a start takes by itself (under sanitizers much) says --version.
TEST_F(ServeLegacy, InitializeIsAnsweredAtOnceWhateverItsServersDo) {
    home.add("silent", {{"command", "sleep"}, {"args", {"600"}}});
    home.add_example("slow", {"--slow-start", "60000"});
    using Clock = std::chrono::steady_clock;
    auto start = Clock::duration::max(), answer = start;
    for (int i = 0; i < 5; ++i) {
        const auto before = Clock::now();
        EXPECT_EQ(home.run({"--version"}).exit_code, 0);
        start = std::min(start, Clock::now() - before);

        const auto begin = Clock::now();
        Program serve(home.patchbay({"serve", "--stdio"}));
        serve.send(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":)"
                   R"({"protocolVersion":"2025-11-25","capabilities":{}}})"
                   "\n");
        ASSERT_TRUE(serve.wait_for_out("\"id\":0")) << serve.err();
        answer = std::min(answer, Clock::now() - begin);
        EXPECT_EQ(serve.finish().exit_code, 0);
    }
    EXPECT_LT(answer, std::chrono::milliseconds(50) + 4 * start);
    RecordProperty("start_us", std::to_string(start / std::chrono::microseconds(1)));
    RecordProperty("answer_us", std::to_string(answer / std::chrono::microseconds(1)));
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
