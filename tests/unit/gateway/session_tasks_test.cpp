// Tasks that a client's calls begin at servers of the legacy era.
#include "session_fixture.hpp"

namespace patchbay::gateway {
namespace {

constexpr const char* kRelated = "io.modelcontextprotocol/related-task";

json::object task_of(std::string_view id, const char* status = "working") {
    return {{"taskId", id}, {"status", status}, {"ttl", 60'000}, {"pollInterval", 5}};
}

class TasksTest : public SessionTest {
protected:
    TasksTest() {
        for (const char* id : {"git", "github"}) speak_tasks(id);
    }
    // Its tasks are "1", and so on.
    void speak_tasks(const std::string& id) {
        auto& server = servers.at(id);
        const auto greeting = server.results.at("initialize");
        server.results["initialize"] = [greeting](const auto& params) {
            auto result = greeting(params);
            result.as_object()["capabilities"].as_object()["tasks"] = {
                {"requests", {{"tools", {{"call", json::object()}}}}}};
            return result;
        };
        server.results["tools/call"] = [this, id](const auto&) -> json::value {
            return {{"task", task_of(std::to_string(++begun[id]))}, {"kept", true}};
        };
        for (const char* method : {"tasks/get", "tasks/cancel"})
            server.results[method] = [id, method](const json::object& params) -> json::value {
                auto task = task_of(params.at("taskId").as_string(),
                                    method == std::string("tasks/get") ? "working" : "cancelled");
                task["statusMessage"] = id;
                return task;
            };
        server.results["tasks/result"] = [id](const json::object& params) -> json::value {
            return {{"content", {{{"type", "text"}, {"text", id}}}},
                    {"_meta", {{kRelated, {{"taskId", params.at("taskId")}}}, {"x", 1}}}};
        };
    }
    // What its client knows the new task by.
    json::value begin(int id, const std::string& tool) {
        return at(ask(id, "tools/call",
                      {{"name", tool}, {"arguments", json::object()}, {"task", {{"ttl", 60'000}}}}),
                  "/result/task/taskId");
    }
    json::value asked_of(const std::string& server, const char* method) {
        const auto all = servers.at(server).requests(method);
        return all.empty() ? json::value("nothing") : json::value(all.back().at("params"));
    }

    std::map<std::string, int> begun;
};

TEST_F(TasksTest, TheyAreOfferedToALegacyClientAlone) {
    const auto greeted =
        ask(1, "initialize", {{"protocolVersion", "2025-11-25"}, {"capabilities", json::object()}});
    const json::object call{{"call", json::object()}};
    EXPECT_EQ(at(greeted, "/result/capabilities/tasks"),
              (json::object{{"list", json::object()},
                            {"cancel", json::object()},
                            {"requests", {{"tools", call}}}}));
    EXPECT_FALSE(
        at(ask_modern(2, "server/discover"), "/result/capabilities").as_object().contains("tasks"));
}

TEST_F(TasksTest, EachIsAskedForWhereItWasBegunThoughTwoServersCallTheirsTheSame) {
    greet();
    EXPECT_EQ(begin(2, "mcp__git__log"), "git:1");
    EXPECT_EQ(begin(3, "mcp__github__log"), "github:1");
    EXPECT_EQ(at(json::value_to<json::object>(asked_of("git", "tools/call")), "/task/ttl"), 60'000);
    int id = 3;
    for (const char* server : {"git", "github"}) {
        SCOPED_TRACE(server);
        const auto name = server + std::string(":1");
        const auto got = ask(++id, "tasks/get", {{"taskId", name}});
        EXPECT_EQ(at(got, "/result/taskId"), name.c_str());
        EXPECT_EQ(at(got, "/result/statusMessage"), server);
        const auto result = ask(++id, "tasks/result", {{"taskId", name}});
        EXPECT_EQ(at(result, "/result/content/0/text"), server);
        EXPECT_EQ(at(result, "/result/_meta"),
                  (json::object{{kRelated, {{"taskId", name}}}, {"x", 1}}));
        const auto cancelled = ask(++id, "tasks/cancel", {{"taskId", name}});
        EXPECT_EQ(at(cancelled, "/result/status"), "cancelled");
        for (const char* method : {"tasks/get", "tasks/result", "tasks/cancel"})
            EXPECT_EQ(asked_of(server, method), (json::object{{"taskId", "1"}}));
    }
}

TEST_F(TasksTest, WhereOneServerIsShownAloneTheyKeepTheirIds) {
    view.only = "git";
    greet();
    EXPECT_EQ(begin(2, "log"), "1");
    EXPECT_EQ(at(ask(3, "tasks/result", {{"taskId", "1"}}), "/result/_meta").at(kRelated),
              (json::object{{"taskId", "1"}}));
}

TEST_F(TasksTest, OneThatThisSessionHasNotBegunReachesNoServer) {
    greet();
    begin(2, "mcp__git__log");
    int id = 2;
    for (const char* name : {"git:2", "github:1", "1", "git:", ""})
        for (const char* method : {"tasks/get", "tasks/result", "tasks/cancel"}) {
            SCOPED_TRACE(std::string(method) + " " + name);
            EXPECT_EQ(at(ask(++id, method, {{"taskId", name}}), "/error/code"), -32602);
        }
    EXPECT_EQ(asked_of("git", "tasks/get"), "nothing");
}

TEST_F(TasksTest, OneOfAnotherSessionThatSharesItsConnectionReachesNoServer) {
    for (auto& spec : specs) spec.config.mode = "shared";
    greet();
    EXPECT_EQ(begin(2, "mcp__git__log"), "git:1");
    session_.emplace(
        ClientSession::Parts{callers, known(), *catalogue, outward(), view},
        core::Principal{core::Principal::Kind::Client, {}, "other", core::Trust::Approves},
        connection::Responder(config.client, {}), "1");
    sent.clear();
    greet();
    EXPECT_EQ(at(ask(2, "tasks/get", {{"taskId", "git:1"}}), "/error/code"), -32602);
    EXPECT_EQ(at(ask(3, "tasks/list"), "/result/tasks"), json::array());
    EXPECT_EQ(asked_of("git", "tasks/get"), "nothing");
}

TEST_F(TasksTest, WhatAServerStartedAnewBeginsForAnotherSessionIsOfThatOneAlone) {
    for (auto& spec : specs) spec.config.mode = "shared";
    task_claims.emplace();
    greet();
    EXPECT_EQ(begin(2, "mcp__git__log"), "git:1");
    EXPECT_EQ(begin(3, "mcp__git__log"), "git:2");
    begun["git"] = 0;
    ClientSession other(
        ClientSession::Parts{callers, known(), *catalogue, outward(), view, ClientRequests::kMost,
                             true, nullptr, false, nullptr, &*task_claims},
        core::Principal{core::Principal::Kind::Client, {}, "other", core::Trust::Approves},
        connection::Responder(config.client, {}), "1");
    other.take(
        R"({"jsonrpc":"2.0","id":90,"method":"initialize","params":{"protocolVersion":"2025-11-25"}})");
    other.take(
        R"({"jsonrpc":"2.0","id":91,"method":"tools/call","params":{"name":"mcp__git__log","task":{}}})");
    EXPECT_EQ(at(answer_to(91), "/result/task/taskId"), "git:1");
    int id = 3;
    for (const char* method : {"tasks/get", "tasks/result", "tasks/cancel"}) {
        EXPECT_EQ(at(ask(++id, method, {{"taskId", "git:1"}}), "/error/code"), -32602) << method;
        EXPECT_EQ(asked_of("git", method), "nothing") << method;
    }
    const auto list = ask(++id, "tasks/list");
    ASSERT_EQ(at(list, "/result/tasks").as_array().size(), 1u) << list;
    EXPECT_EQ(at(list, "/result/tasks/0/taskId"), "git:2");
    other.take(R"({"jsonrpc":"2.0","id":92,"method":"tasks/get","params":{"taskId":"git:1"}})");
    EXPECT_EQ(at(answer_to(92), "/result/taskId"), "git:1");
}

TEST_F(TasksTest, AnAnswerWithoutSenseOrEndIsLeftOutOfTheListAndNotTheOthers) {
    greet();
    int id = 1;
    for (int i = 0; i < 5; ++i) begin(++id, "mcp__git__log");
    begin(++id, "mcp__github__log");
    servers.at("git").results["tasks/get"] = [](const json::object& params) -> json::value {
        const std::string asked(params.at("taskId").as_string());
        if (asked == "1") return json::object();
        if (asked == "2") return {{"taskId", 2}};
        if (asked == "3") return task_of("5");
        auto task = task_of(asked);
        if (asked == "4") task["statusMessage"] = std::string(TaskOperations::kListedBytes, 'x');
        return task;
    };
    const auto list = ask(++id, "tasks/list");
    ASSERT_EQ(at(list, "/result/tasks").as_array().size(), 2u);
    EXPECT_EQ(at(list, "/result/tasks/0/taskId"), "git:5");
    EXPECT_EQ(at(list, "/result/tasks/1/taskId"), "github:1");
    EXPECT_EQ(at(ask(++id, "tasks/get", {{"taskId", "git:4"}}), "/result/taskId"), "git:4");
}

TEST_F(TasksTest, WhoIsShownOneToolOfAServerHasItsTasks) {
    view.tools = {{"mcp__git__log"}};
    greet();
    EXPECT_EQ(begin(2, "mcp__git__log"), "git:1");
    EXPECT_EQ(at(ask(3, "tasks/get", {{"taskId", "git:1"}}), "/result/taskId"), "git:1");
}

TEST_F(TasksTest, TheListIsOfAllThatItHasBegunInPages) {
    greet();
    EXPECT_EQ(at(ask(2, "tasks/list"), "/result"), (json::object{{"tasks", json::array()}}));
    int id = 2;
    for (std::size_t i = 0; i < TaskOperations::kPage; ++i) begin(++id, "mcp__git__log");
    begin(++id, "mcp__github__log");
    const auto first = ask(++id, "tasks/list");
    EXPECT_EQ(at(first, "/result/tasks").as_array().size(), TaskOperations::kPage);
    EXPECT_EQ(at(first, "/result/tasks/1/taskId"), "git:2");
    const auto next = ask(++id, "tasks/list", {{"cursor", at(first, "/result/nextCursor")}});
    EXPECT_EQ(at(next, "/result/tasks/0/taskId"), "github:1");
    EXPECT_FALSE(at(next, "/result").as_object().contains("nextCursor"));
    for (const json::value& cursor : {json::value("x"), json::value(5), json::value(json::array())})
        EXPECT_EQ(at(ask(++id, "tasks/list", {{"cursor", cursor}}), "/error/code"), -32602);
}

TEST_F(TasksTest, AServerThatHasNoneRunsNoToolForACallThatWantsOne) {
    offer("git", "initialize",
          {{"protocolVersion", "2025-11-25"},
           {"capabilities", {{"tools", json::object()}}},
           {"serverInfo", {{"name", "fake"}, {"version", "1"}}}});
    greet();
    const auto refused =
        ask(2, "tools/call", {{"name", "mcp__git__log"}, {"task", json::object()}});
    EXPECT_EQ(at(refused, "/error/code"), -32601);
    EXPECT_EQ(asked_of("git", "tools/call"), "nothing");
    EXPECT_EQ(at(ask(3, "tools/call", {{"name", "mcp__git__nothing"}, {"task", json::object()}}),
                 "/error/code"),
              -32602);
}

TEST_F(TasksTest, ADeniedToolBeginsNone) {
    permissions = {{}, {"mcp__git__log"}};
    greet();
    const auto refused =
        ask(2, "tools/call", {{"name", "mcp__git__log"}, {"task", json::object()}});
    EXPECT_TRUE(refused.contains("error")) << refused;
    EXPECT_EQ(asked_of("git", "tools/call"), "nothing");
}

TEST_F(TasksTest, WhatAServerTellsOfOneComesByTheNameThatTheClientKnowsAndOfOthersNot) {
    greet();
    begin(2, "mcp__git__log");
    const auto tell = [&](const char* id) {
        servers.at("git").say(
            R"({"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"status":"working","ttl":1.50,"taskId":")" +
            std::string(id) + R"("}})");
    };
    tell("another");
    tell("1");
    const char* method = "notifications/tasks/status";
    ASSERT_TRUE(wait([&] { return !told(method).empty(); }));
    ASSERT_EQ(told(method).size(), 1u);
    EXPECT_EQ(at(told(method)[0], "/params/taskId"), "git:1");
}

TEST_F(TasksTest, AQuestionNamesItsTaskAsTheClientKnowsItAndItsAnswerAsTheServerDoes) {
    greet({{"elicitation", json::object()}});
    begin(2, "mcp__git__log");
    servers.at("git").say(
        R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"name?",)"
        R"("requestedSchema":{"type":"object"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}}}})");
    ASSERT_TRUE(wait([&] { return !told("elicitation/create").empty(); }));
    const auto question = told("elicitation/create")[0];
    const auto meta = at(question, "/params/_meta");
    EXPECT_EQ(meta, (json::object{{kRelated, {{"taskId", "git:1"}}}}));
    session().take(
        json::serialize(json::object{{"jsonrpc", "2.0"},
                                     {"id", question.at("id")},
                                     {"result", {{"action", "decline"}, {"_meta", meta}}}}));
    ASSERT_TRUE(wait([&] {
        return servers.at("git").bodies.back().find(R"({"taskId":"1"})") != std::string::npos;
    })) << servers.at("git").bodies.back();
}

TEST_F(TasksTest, AResultMayBeLongInComingAndToGiveItUpDoesNotCancelTheTask) {
    servers.at("git").results.erase("tasks/result");
    greet();
    begin(2, "mcp__git__log");
    say(3, "tasks/result", {{"taskId", "git:1"}});
    ASSERT_TRUE(wait([&] { return asked_of("git", "tasks/result") != "nothing"; }));
    loop.pass(300s);
    for (const auto& message : sent) EXPECT_NE(message.at("id"), 3) << message;
    session().take(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}})");
    ASSERT_TRUE(wait([&] {
        return servers.at("git").bodies.back().find("notifications/cancelled") != std::string::npos;
    }));
    EXPECT_EQ(asked_of("git", "tasks/cancel"), "nothing");
    EXPECT_EQ(at(ask(4, "tasks/get", {{"taskId", "git:1"}}), "/result/status"), "working");
}

TEST(ClientTasks, ThoseThatHaveEndedOrAreOldMakeRoomAndNoOthers) {
    const View view;
    ClientTasks tasks(view);
    core::Clock::time_point now{};
    const auto add = [&](const std::string& id, const std::string& more) {
        tasks.add("s", "{\"taskId\":\"" + id + "\"" + more + "}", now);
    };
    add("old", R"(,"status":"working","ttl":1000)");
    add("done", R"(,"status":"working","ttl":null)");
    for (std::size_t i = 2; i < ClientTasks::kMost; ++i) add(std::to_string(i), "");
    EXPECT_FALSE(tasks.room(now));
    tasks.update("s", R"({"taskId":"done","status":"completed"})", now);
    EXPECT_TRUE(tasks.room(now));
    add("new", "");
    EXPECT_FALSE(tasks.find("s:done"));
    EXPECT_TRUE(tasks.find("s:old"));
    EXPECT_FALSE(tasks.room(now));
    EXPECT_TRUE(tasks.room(now + 1s));
}

}  // namespace
}  // namespace patchbay::gateway
