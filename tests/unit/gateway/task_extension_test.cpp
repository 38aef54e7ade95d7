// Tasks of the modern era, which is an extension: what its clients get of servers of both eras.
#include "gateway/task_names.hpp"
#include "gateway/task_streams.hpp"
#include "session_fixture.hpp"

#include <optional>
#include <string>

namespace patchbay::gateway {
namespace {

constexpr const char* kExtension = "io.modelcontextprotocol/tasks";
constexpr const char* kMeta = "io.modelcontextprotocol/clientCapabilities";

TEST(TaskNames, OpenWhereTheyWereMadeAndForThatClientAlone) {
    const TaskNames names("key", "me\nall");
    const TaskNames::Task task{"git", "a:b/ü \"1\""};
    const auto name = names.make(task);
    EXPECT_EQ(names.open(name), task);
    EXPECT_EQ(TaskNames("key", "me\nall").open(name), task) << "of another process";
    EXPECT_EQ(TaskNames("key", "you\nall").open(name), std::nullopt);
    EXPECT_EQ(TaskNames("key", "me\nless").open(name), std::nullopt);
    EXPECT_EQ(TaskNames("other", "me\nall").open(name), std::nullopt);
    const auto seal = name.substr(4, 32);
    for (const auto& forged :
         {std::string(), std::string("git"), "git:" + task.id, "git::" + task.id,
          "github:" + seal + ":" + task.id, "git:" + seal + ":" + task.id + "2",
          "git:" + seal.substr(1) + ":" + task.id, std::string(1u << 20, ':')})
        EXPECT_EQ(names.open(forged), std::nullopt) << forged.substr(0, 100);
}

TEST(TaskNames, OfAKeyThatIsNotGivenEndWithIt) {
    const auto name = TaskNames().make({"git", "1"});
    EXPECT_EQ(TaskNames().open(name), std::nullopt);
}

class TaskExtensionTest : public SessionTest {
protected:
    // "git" is of the modern era and has tasks, "github" of the legacy one.
    TaskExtensionTest() { have_tasks("git"); }
    void have_tasks(const std::string& id) {
        auto& server = servers.at(id);
        server.errors.erase("server/discover");
        server.be_modern({test::tool_named("log")});
        const auto discovered = server.results.at("server/discover");
        server.results["server/discover"] = [this, discovered](const auto& params) {
            auto result = discovered(params);
            if (git_has_tasks)
                result.as_object()["capabilities"].as_object()["extensions"] = {
                    {kExtension, json::object()}};
            return result;
        };
        offer(id, "tools/call",
              {{"resultType", "task"}, {"taskId", "t-1"}, {"status", "working"}, {"ttlMs", 7}});
        offer(id, "tasks/get",
              {{"resultType", "complete"},
               {"taskId", "t-1"},
               {"status", "input_required"},
               {"inputRequests", {{"q", {{"method", "roots/list"}}}}}});
        for (const char* method : {"tasks/update", "tasks/cancel"})
            offer(id, method, {{"resultType", "complete"}});
    }
    json::object ask_taking(int id, const std::string& method, json::object params = {}) {
        params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                           {kMeta, {{"extensions", {{kExtension, json::object()}}}}}};
        return ask(id, method, std::move(params));
    }
    std::string begin(int id, const std::string& tool = "mcp__git__log") {
        auto call = kCall;
        call["name"] = tool;
        const auto begun = ask_taking(id, "tools/call", call);
        EXPECT_EQ(at(begun, "/result/resultType"), "task") << json::serialize(begun);
        const auto name = at(begun, "/result/taskId");
        return name.is_string() ? std::string(name.get_string()) : "";
    }
    // What that server has heard of the last request of that method.
    json::object last(const std::string& server, const std::string& method) {
        const auto all = servers.at(server).requests(method);
        return all.empty() ? json::object() : all.back().at("params").as_object();
    }

    bool git_has_tasks = true;
};

TEST_F(TaskExtensionTest, ATaskIsAskedForByANameOfOursAndItsServerHearsItsOwn) {
    const auto name = begin(1);
    EXPECT_THAT(name, ::testing::StartsWith("git:"));
    EXPECT_THAT(json::serialize(at(last("git", "tools/call"), "/_meta").at(kMeta)),
                HasSubstr(kExtension));
    const auto got = ask_taking(2, "tasks/get", {{"taskId", name}});
    EXPECT_EQ(at(got, "/result/taskId"), name.c_str());
    EXPECT_EQ(at(got, "/result/inputRequests"), (json::object{{"q", {{"method", "roots/list"}}}}));
    EXPECT_EQ(last("git", "tasks/get").at("taskId"), "t-1");
    const json::object answers{{"q", {{"roots", json::array()}}}};
    const auto updated =
        ask_taking(3, "tasks/update", {{"taskId", name}, {"inputResponses", answers}});
    EXPECT_EQ(at(updated, "/result/resultType"), "complete");
    EXPECT_EQ(last("git", "tasks/update").at("taskId"), "t-1");
    EXPECT_EQ(last("git", "tasks/update").at("inputResponses"), json::value(answers));
    EXPECT_TRUE(ask_taking(4, "tasks/cancel", {{"taskId", name}}).contains("result"));
    EXPECT_EQ(last("git", "tasks/cancel").at("taskId"), "t-1");
}

TEST_F(TaskExtensionTest, OneServerThatIsShownAloneHasThemToo) {
    view.only = "git";
    const auto begun =
        ask_taking(1, "tools/call", {{"name", "log"}, {"arguments", json::object()}});
    const auto name = at(begun, "/result/taskId");
    EXPECT_TRUE(ask_taking(2, "tasks/get", {{"taskId", name}}).contains("result"));
    EXPECT_EQ(last("git", "tasks/get").at("taskId"), "t-1");
}

TEST_F(TaskExtensionTest, WhoDoesNotTakeTasksIsGivenNoneAndToldWhatIsMissing) {
    const auto refused = ask_modern(1, "tools/call", kCall);
    EXPECT_THAT(json::serialize(last("git", "tools/call")), Not(HasSubstr(kExtension)));
    EXPECT_FALSE(json::serialize(refused).find("t-1") != std::string::npos)
        << "the server has broken its word: " << json::serialize(refused);
    const auto name = begin(2);
    for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
        SCOPED_TRACE(method);
        const auto lacking = ask_modern(method, method, {{"taskId", name}});
        EXPECT_EQ(at(lacking, "/error/code"), -32021);
        EXPECT_EQ(at(lacking, "/error/data/requiredCapabilities"),
                  (json::object{{"extensions", {{kExtension, json::object()}}}}));
        EXPECT_THAT(servers.at("git").requests(method), IsEmpty());
    }
}

TEST_F(TaskExtensionTest, WhatWasNotBegunForThisClientReachesNoServer) {
    const auto name = begin(1);
    int id = 1;
    for (const auto& forged : {std::string("t-1"), std::string("git:t-1"), name + "2",
                               "github" + name.substr(3), std::string()})
        for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
            SCOPED_TRACE(std::string(method) + " " + forged);
            EXPECT_EQ(at(ask_taking(++id, method, {{"taskId", forged}}), "/error/code"), -32602);
            EXPECT_THAT(servers.at("git").requests(method), IsEmpty());
        }
    EXPECT_EQ(at(ask_taking(++id, "tasks/get"), "/error/code"), -32602);
    for (const char* legacy : {"tasks/result", "tasks/list"})
        EXPECT_EQ(at(ask_taking(++id, legacy, {{"taskId", name}}), "/error/code"), -32601);
}

TEST_F(TaskExtensionTest, AServerThatSaysNoIdHasBegunNone) {
    for (const json::value& taskId :
         {json::value(""), json::value(7), json::value(std::string(600, 'x'))}) {
        offer("git", "tools/call", {{"resultType", "task"}, {"taskId", taskId}});
        const auto refused = ask_taking(static_cast<int>(sent.size()) + 1, "tools/call", kCall);
        EXPECT_THAT(json::serialize(refused), HasSubstr("whose id has"));
    }
}

TEST_F(TaskExtensionTest, NoWishOfOneEraReachesAServerOfTheOther) {
    const auto& github = servers.at("github");
    auto call = kCall;
    call["name"] = "mcp__github__log";
    call["task"] = {{"ttl", 1}};
    EXPECT_TRUE(ask_taking(1, "tools/call", call).contains("result"));
    EXPECT_FALSE(last("github", "tools/call").contains("task")) << "it means nothing here";
    for (const auto& message : github.received)
        EXPECT_THAT(json::serialize(message), Not(HasSubstr(kExtension)));
    view.only = "github";
    session_.reset();
    call["name"] = "log";
    EXPECT_TRUE(ask_taking(2, "tools/call", call).contains("result"));
    EXPECT_FALSE(last("github", "tools/call").contains("task"));
}

TEST_F(TaskExtensionTest, ALegacyClientThatNamesItIsOfTheOtherEraAndGetsNone) {
    offer("git", "tools/call", {{"resultType", "complete"}, {"content", json::array()}});
    greet({{"extensions", {{kExtension, json::object()}}}});
    EXPECT_TRUE(ask(2, "tools/call", kCall).contains("result"));
    for (const auto& message : servers.at("git").received)
        EXPECT_THAT(json::serialize(message), Not(HasSubstr(kExtension)));
    servers.at("git").say(
        R"({"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"t-1"}})");
    servers.at("git").say(R"({"jsonrpc":"2.0","method":"notifications/other","params":{}})");
    EXPECT_TRUE(wait([&] { return !told("notifications/other").empty(); }));
    EXPECT_THAT(told("notifications/tasks"), IsEmpty());
}

TEST_F(TaskExtensionTest, ItIsShownUnlessAllServersAreKnownToLackIt) {
    const auto shown = [&](int id) {
        return json::serialize(at(ask_modern(id, "server/discover"), "/result/capabilities"))
                   .find(kExtension) != std::string::npos;
    };
    EXPECT_TRUE(shown(1)) << "none is there yet";
    ask_modern(2, "tools/list");
    EXPECT_TRUE(shown(3)) << "one has it";
    session_.reset();
    git_has_tasks = false;
    view.only = "github";
    ask_modern(4, "tools/list");
    EXPECT_FALSE(shown(5)) << "the one that is shown is of the legacy era";
}

class TaskStreamsTest : public TaskExtensionTest {
protected:
    static constexpr const char* kAgreed = "notifications/subscriptions/acknowledged";

    void listen(int id, json::array tasks) {
        say(id, "subscriptions/listen",
            {{"notifications", {{"taskIds", std::move(tasks)}, {"toolsListChanged", true}}},
             {"_meta",
              {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
               {kMeta, {{"extensions", {{kExtension, json::object()}}}}}}}});
    }
    // What "git" was asked to tell of, once it was; its number there is kept.
    json::array asked_of_git() {
        json::array tasks;
        const bool asked = wait([&] {
            for (const auto& request : servers.at("git").requests("subscriptions/listen")) {
                const auto& filter = request.at("params").at("notifications").as_object();
                const auto* ids = filter.if_contains("taskIds");
                if (!ids) continue;
                tasks = ids->as_array();
                stream_at_git = request.at("id").to_number<int>();
            }
            return stream_at_git != 0;
        });
        EXPECT_TRUE(asked);
        return tasks;
    }
    void git_says(const std::string& method, json::object params) {
        params["_meta"] = {{"io.modelcontextprotocol/subscriptionId", stream_at_git}};
        servers.at("git").say(json::serialize(
            json::object{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}}));
    }
    json::object agreed() {
        EXPECT_TRUE(wait([&] { return !told(kAgreed).empty(); }));
        return told(kAgreed).empty() ? json::object() : told(kAgreed)[0];
    }
    std::string why_left_out(const std::string& task) {
        const auto reasons = at(agreed(), "/params/_meta/dev.patchbay~1leftOut");
        const auto* why = reasons.is_object() ? reasons.get_object().if_contains(task) : nullptr;
        return why ? json::serialize(*why) : "";
    }

    int stream_at_git = 0;
};

TEST_F(TaskStreamsTest, AStreamIsToldOfItsTasksAsTheirServerTellsOfThem) {
    const auto name = begin(1);
    listen(2, {json::string(name), "git:x:t-9"});
    EXPECT_EQ(asked_of_git(), json::array{"t-1"});
    EXPECT_THAT(told(kAgreed), IsEmpty()) << "its server has not agreed";
    git_says(kAgreed, {{"notifications", {{"taskIds", {"t-1", "t-7"}}}}});
    EXPECT_EQ(at(agreed(), "/params/notifications"),
              (json::object{{"toolsListChanged", true}, {"taskIds", {json::string(name)}}}));
    EXPECT_THAT(why_left_out("git:x:t-9"), HasSubstr("no such task was begun for this client"));

    git_says("notifications/tasks", {{"taskId", "t-2"}, {"status", "working"}});
    git_says("notifications/tasks", {{"taskId", "t-1"}, {"status", "completed"}, {"ttlMs", 7}});
    ASSERT_TRUE(wait([&] { return !told("notifications/tasks").empty(); }));
    ASSERT_EQ(told("notifications/tasks").size(), 1u) << "t-2 is another client's";
    EXPECT_EQ(at(told("notifications/tasks")[0], "/params"),
              (json::object{{"taskId", json::string(name)},
                            {"status", "completed"},
                            {"ttlMs", 7},
                            {"_meta", {{"io.modelcontextprotocol/subscriptionId", 2}}}}));

    session().take(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
    EXPECT_TRUE(wait([&] {
        for (const auto& message : servers.at("git").received)
            if (message.contains("method") && message.at("method") == "notifications/cancelled" &&
                message.at("params").at("requestId") == stream_at_git)
                return true;
        return false;
    })) << "nobody listens any more";
}

TEST_F(TaskStreamsTest, OfWhatAServerDoesNotAgreeToTheStreamSaysWhy) {
    const auto name = begin(1);
    listen(2, {json::string(name)});
    asked_of_git();
    git_says(kAgreed, {{"notifications", json::object()}});
    EXPECT_EQ(at(agreed(), "/params/notifications"), (json::object{{"toolsListChanged", true}}));
    EXPECT_THAT(why_left_out(name), HasSubstr("does not tell of it"));
    git_says("notifications/tasks", {{"taskId", "t-1"}, {"status", "completed"}});
    ask_taking(3, "tasks/get", {{"taskId", name}});
    EXPECT_THAT(told("notifications/tasks"), IsEmpty());
}

TEST_F(TaskStreamsTest, AServerThatRefusesToBeListenedToHoldsUpNothing) {
    const auto name = begin(1);
    servers.at("git").errors["subscriptions/listen"] = {-32601, "Method not found"};
    listen(2, {json::string(name)});
    EXPECT_EQ(at(agreed(), "/params/notifications"), (json::object{{"toolsListChanged", true}}));
    EXPECT_THAT(why_left_out(name), HasSubstr("does not tell of it"));
}

TEST_F(TaskStreamsTest, AServerThatSaysNothingIsNotWaitedForWithoutEnd) {
    const auto name = begin(1);
    listen(2, {json::string(name)});
    asked_of_git();
    EXPECT_EQ(at(agreed(), "/params/notifications"), (json::object{{"toolsListChanged", true}}));
    EXPECT_THAT(why_left_out(name), HasSubstr("has not said within 10 s"));
}

// Of two servers one says nothing: what the other tells meanwhile may be the last word about a task.
TEST_F(TaskStreamsTest, WhatIsToldBeforeTheStreamIsAcknowledgedFollowsThat) {
    have_tasks("github");
    const auto name = begin(1);
    listen(3, {json::string(name), json::string(begin(2, "mcp__github__log"))});
    asked_of_git();
    git_says(kAgreed, {{"notifications", {{"taskIds", {"t-1"}}}}});
    for (const char* status : {"working", "completed"})
        git_says("notifications/tasks", {{"taskId", "t-1"}, {"status", status}});
    EXPECT_EQ(at(agreed(), "/params/notifications/taskIds"), json::array{json::string(name)});
    ASSERT_TRUE(wait([&] { return !told("notifications/tasks").empty(); }));
    ASSERT_EQ(told("notifications/tasks").size(), 1u);
    EXPECT_EQ(at(told("notifications/tasks")[0], "/params/status"), "completed") << "the last one";
    EXPECT_EQ(sent.back().at("method"), "notifications/tasks") << "behind the acknowledgment";
}

TEST_F(TaskStreamsTest, AStreamEndsWithAWordWhereItsServerTellsNoMore) {
    const auto name = begin(1);
    listen(2, {json::string(name)});
    asked_of_git();
    git_says(kAgreed, {{"notifications", {{"taskIds", {"t-1"}}}}});
    agreed();
    servers.at("git").say(json::serialize(json::object{
        {"jsonrpc", "2.0"}, {"id", stream_at_git}, {"result", {{"resultType", "complete"}}}}));
    EXPECT_TRUE(answer_to(2).contains("result")) << "its client listens anew";
}

TEST_F(TaskStreamsTest, AServerThatIsDeniedByThenIsHeardNoMore) {
    const auto name = begin(1);
    listen(2, {json::string(name)});
    asked_of_git();
    git_says(kAgreed, {{"notifications", {{"taskIds", {"t-1"}}}}});
    agreed();
    permissions.deny = {"mcp__git__*"};
    set_rules();
    git_says("notifications/tasks", {{"taskId", "t-1"}, {"status", "completed"}});
    EXPECT_TRUE(answer_to(2).contains("result"));
    EXPECT_THAT(told("notifications/tasks"), IsEmpty());
}

TEST_F(TaskStreamsTest, LastLongerThanACallMay) {
    const auto name = begin(1);
    listen(2, {json::string(name)});
    asked_of_git();
    git_says(kAgreed, {{"notifications", {{"taskIds", {"t-1"}}}}});
    agreed();
    loop.pass(std::chrono::hours(48));
    git_says("notifications/tasks", {{"taskId", "t-1"}, {"status", "completed"}});
    EXPECT_TRUE(wait([&] { return !told("notifications/tasks").empty(); }));
}

TEST_F(TaskStreamsTest, AreOfWhoIsShownSomeToolsOfTheServerAlone) {
    view.tools = {{"mcp__git__log"}};
    const auto name = begin(1);
    listen(2, {json::string(name)});
    EXPECT_EQ(asked_of_git(), json::array{"t-1"});
}

TEST_F(TaskStreamsTest, NamesNoMoreTasksThanItMay) {
    listen(2, json::array(TaskStreams::kMost + 1, "git:x:t-1"));
    EXPECT_THAT(json::serialize(answer_to(2)), HasSubstr("taskIds names 257 tasks; at most 256"));
}

TEST_F(TaskStreamsTest, OfWhoDoesNotTakeTasksIsNone) {
    const auto refused =
        ask_modern(1, "subscriptions/listen", {{"notifications", {{"taskIds", {"git:x:t-1"}}}}});
    EXPECT_EQ(at(refused, "/error/code"), -32021);
}

}  // namespace
}  // namespace patchbay::gateway
