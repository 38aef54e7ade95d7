// Who approves what a client calls, as [gateway] approvals says: a session before two servers.
#include "gateway/approvals.hpp"

#include "session_fixture.hpp"

namespace patchbay::gateway {
namespace {

using ::testing::AllOf;
using ::testing::StartsWith;

class ApprovalsTest : public SessionTest {
protected:
    const json::object kAble{{"elicitation", json::object()}};

    void approve_by(const char* who) { config.gateway.approvals = who; }
    // A task of its own, called "1", comes of each call.
    void speak_tasks() {
        auto& server = servers.at("git");
        const auto greeting = server.results.at("initialize");
        server.results["initialize"] = [greeting](const auto& params) {
            auto result = greeting(params);
            result.as_object()["capabilities"].as_object()["tasks"] = {
                {"requests", {{"tools", {{"call", json::object()}}}}}};
            return result;
        };
        const json::object task{{"taskId", "1"}, {"status", "working"}};
        offer("git", "tools/call", {{"task", task}});
        for (const char* method : {"tasks/get", "tasks/result", "tasks/cancel"})
            offer("git", method, task);
    }
    json::object call_as_task() const {
        auto call = kCall;
        call["task"] = json::object();
        return call;
    }
    void require_approval(const char* tool = "log") {
        for (auto& spec : specs)
            if (spec.config.id == "git") spec.config.tools[tool] = config::Level::RequireApproval;
    }
    std::size_t calls(const char* id = "git") {
        return servers.at(id).requests("tools/call").size();
    }
    std::string text(const json::object& answer) {
        return std::string(at(answer, "/result/content/0/text").as_string());
    }
    // The question that a legacy client is asked next, behind `before` of them.
    json::object asked(std::size_t before = 0) {
        EXPECT_TRUE(wait([&] { return told("elicitation/create").size() > before; }));
        return told("elicitation/create").at(before);
    }
    void decide(const json::object& question, json::object result) {
        session().take(json::serialize(json::object{
            {"jsonrpc", "2.0"}, {"id", question.at("id")}, {"result", std::move(result)}}));
    }
    static json::object accepting(const char* decision) {
        return {{"action", "accept"}, {"content", {{"decision", decision}}}};
    }
};

TEST_F(ApprovalsTest, AClientApprovesItselfWhatNobodyWroteALevelFor) {
    greet(kAble);
    EXPECT_TRUE(ask(2, "tools/call", kCall).contains("result"));
    EXPECT_EQ(calls(), 1u);
    EXPECT_THAT(told("elicitation/create"), IsEmpty());
}

TEST_F(ApprovalsTest, ALevelThatSomebodyWroteIsAskedForAllTheSame) {
    require_approval();
    greet(kAble);
    say(2, "tools/call", kCall);
    decide(asked(), accepting("once"));
    EXPECT_TRUE(answer_to(2).contains("result"));
    EXPECT_EQ(calls(), 1u);
}

TEST_F(ApprovalsTest, ALevelThatSomebodyWroteCountsForMoreThanAPattern) {
    require_approval();
    permissions.allow = {"mcp__git__*"};
    greet();
    const auto refused = ask(2, "tools/call", kCall);
    EXPECT_EQ(at(refused, "/result/isError"), true);
    EXPECT_THAT(text(refused), HasSubstr("needs approval"));
    EXPECT_EQ(calls(), 0u);
}

TEST_F(ApprovalsTest, AClientThatCannotBeAskedIsToldTheRule) {
    approve_by("ask");
    greet();
    const auto refused = ask(2, "tools/call", kCall);
    EXPECT_EQ(at(refused, "/result/isError"), true);
    EXPECT_THAT(text(refused), HasSubstr("[servers.git.tools] log = \"allow-always\""));
    EXPECT_EQ(calls(), 0u);
}

TEST_F(ApprovalsTest, ByRulesNobodyIsAsked) {
    approve_by("rules");
    require_approval();
    permissions.allow = {"mcp__github__log"};
    greet(kAble);
    EXPECT_THAT(text(ask(2, "tools/call", kCall)), HasSubstr("deni"));
    EXPECT_TRUE(ask(3, "tools/call", {{"name", "mcp__github__log"}}).contains("result"));
    EXPECT_EQ(calls("github"), 1u);
    EXPECT_EQ(calls(), 0u);
    EXPECT_THAT(told("elicitation/create"), IsEmpty());
}

TEST_F(ApprovalsTest, WhatBecomesOfATaskNeedsNoApprovalForItsCallHadIt) {
    speak_tasks();
    approve_by("ask");
    greet(kAble);
    say(2, "tools/call", call_as_task());
    decide(asked(), accepting("once"));
    EXPECT_TRUE(answer_to(2).contains("result"));
    int id = 2;
    for (const char* method : {"tasks/get", "tasks/result", "tasks/cancel"})
        EXPECT_TRUE(ask(++id, method, {{"taskId", "git:1"}}).contains("result")) << method;
    EXPECT_EQ(at(ask(++id, "tasks/list"), "/result/tasks").as_array().size(), 1u);
    EXPECT_EQ(told("elicitation/create").size(), 1u) << "for the call alone";
}

TEST_F(ApprovalsTest, WhereRulesAllowOneToolItsTasksCanBeFollowedAndOtherThingsNot) {
    speak_tasks();
    approve_by("rules");
    permissions.allow = {"mcp__git__log"};
    greet();
    EXPECT_EQ(at(ask(2, "tools/call", call_as_task()), "/result/task/taskId"), "git:1");
    EXPECT_EQ(at(ask(3, "tasks/get", {{"taskId", "git:1"}}), "/result/status"), "working");
    EXPECT_TRUE(ask(4, "resources/read", {{"uri", "patchbay+git:file:///a"}}).contains("error"));
}

TEST_F(ApprovalsTest, WhateverIsNoApprovalRefuses) {
    approve_by("ask");
    greet(kAble);
    const json::object answers[] = {
        {{"action", "decline"}}, {{"action", "cancel"}},
        {{"action", "accept"}},  accepting("no"),
        accepting("yes"),        {{"action", "decline"}, {"content", {{"decision", "once"}}}}};
    int id = 2;
    for (const auto& answer : answers) {
        say(id, "tools/call", kCall);
        decide(asked(static_cast<std::size_t>(id - 2)), answer);
        EXPECT_THAT(text(answer_to(id)), HasSubstr("was not approved by client")) << answer;
        ++id;
    }
    EXPECT_EQ(calls(), 0u);
}

TEST_F(ApprovalsTest, ACallThatNobodyDecidesAboutEndsAfterTenMinutesAndIsNotSent) {
    approve_by("ask");
    greet(kAble);
    say(2, "tools/call", kCall);
    const auto question = asked();
    loop.pass(ClientQuestions::kLifetime + 1s);
    EXPECT_THAT(text(answer_to(2)),
                AllOf(HasSubstr("was not approved by client"), HasSubstr("nobody answered")));
    EXPECT_EQ(at(told("notifications/cancelled").at(0), "/params/requestId"), question.at("id"));
    decide(question, accepting("once"));
    ask(3, "ping");
    EXPECT_EQ(calls(), 0u);
    EXPECT_TRUE(session().idle());
}

TEST_F(ApprovalsTest, ASessionsApprovalCountsForThatToolAsLongAsItIsTheSame) {
    approve_by("ask");
    greet(kAble);
    say(2, "tools/call", kCall);
    decide(asked(), accepting("session"));
    answer_to(2);
    ask(3, "tools/call", kCall);
    EXPECT_EQ(calls(), 2u);
    EXPECT_EQ(told("elicitation/create").size(), 1u);
    say(4, "tools/call", {{"name", "mcp__github__log"}});
    decide(asked(1), accepting("no"));
    answer_to(4);
    auto changed = std::make_shared<catalogue::Listing>(*catalogue->listings().at("git"));
    changed->tools.at(0).others = R"("title":"Sends it all away")";
    catalogue->publish("git", changed);
    say(5, "tools/call", kCall);
    decide(asked(2), accepting("no"));
    answer_to(5);
    EXPECT_EQ(calls(), 2u);
}

TEST_F(ApprovalsTest, AModernClientIsAskedByTheAnswerToItsCall) {
    approve_by("ask");
    const auto wanted = ask_modern(1, "tools/call", kCall);
    ASSERT_EQ(at(wanted, "/result/resultType"), "input_required") << wanted;
    EXPECT_EQ(calls(), 0u);
    const auto requests = at(wanted, "/result/inputRequests").as_object();
    ASSERT_EQ(requests.size(), 1u);
    auto again = kCall;
    again["inputResponses"] = json::object{{requests.begin()->key(), accepting("once")}};
    again["requestState"] = at(wanted, "/result/requestState");
    EXPECT_TRUE(at(ask_modern(2, "tools/call", again), "/result").is_object());
    EXPECT_EQ(calls(), 1u);
    EXPECT_EQ(at(ask_modern(3, "tools/call", again), "/error/code"), -32602) << "once";
    EXPECT_EQ(calls(), 1u);
}

TEST_F(ApprovalsTest, AModernClientThatCannotBeAskedIsToldWhatItLacks) {
    approve_by("ask");
    session().take(
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp__git__log","_meta":{)"
        R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
        R"("io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}}})");
    const auto answer = answer_to(1);
    EXPECT_EQ(at(answer, "/error/code"), -32021) << answer;
    EXPECT_TRUE(at(answer, "/error/data/requiredCapabilities/elicitation").is_object());
    EXPECT_EQ(calls(), 0u);
}

TEST_F(ApprovalsTest, ListsNeedNoneAndReadingDoes) {
    approve_by("ask");
    offer("git", "resources/list", {{"resources", {{{"uri", "a:1"}, {"name", "n"}}}}});
    offer("git", "resources/read", {{"contents", json::array()}});
    greet(kAble);
    EXPECT_THAT(json::serialize(ask(2, "resources/list")), HasSubstr("a:1"));
    EXPECT_TRUE(ask(3, "logging/setLevel", {{"level", "error"}}).contains("result"));
    EXPECT_THAT(told("elicitation/create"), IsEmpty());
    say(4, "resources/read", {{"uri", "a:1"}});
    const auto question = asked();
    EXPECT_THAT(std::string(at(question, "/params/message").as_string()),
                AllOf(HasSubstr("resources/read"), HasSubstr("a:1")));
    decide(question, accepting("once"));
    EXPECT_TRUE(answer_to(4).contains("result"));
}

TEST_F(ApprovalsTest, ACallThatIsCancelledWithdrawsItsQuestion) {
    approve_by("ask");
    greet(kAble);
    say(2, "tools/call", kCall);
    const auto question = asked();
    session().take(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
    ASSERT_TRUE(wait([&] { return !told("notifications/cancelled").empty(); }));
    EXPECT_EQ(at(told("notifications/cancelled")[0], "/params/requestId"), question.at("id"));
    decide(question, accepting("once"));
    ask(3, "ping");
    EXPECT_EQ(calls(), 0u);
}

connection::Approvable wanting(const std::string& arguments, const std::string& tool = "log") {
    connection::Approvable wanted;
    wanted.server = "git";
    wanted.tool = tool;
    wanted.public_name = "mcp__git__log";
    wanted.arguments = arguments;
    return wanted;
}
std::string message_of(const connection::Approvable& wanted) {
    config::Config config;
    config::Server server;
    server.id = "git";
    server.transport = "stdio";
    server.place = {config::Scope::User, "mcp.json", 7, 1};
    config.servers.push_back(server);
    return std::string(approval_form(config, wanted).at("message").as_string());
}

TEST(ApprovalForm, SaysWhichToolOfWhomAndWithWhat) {
    const auto message = message_of(wanting(R"({"path":"/srv/a","n":1})"));
    EXPECT_THAT(message, StartsWith("May the tool \"log\" be sent to server \"git\"?\n"));
    EXPECT_THAT(message, HasSubstr("Server: git (stdio, user config mcp.json:7:1)\n"));
    EXPECT_THAT(message, HasSubstr("Arguments:\n  path: \"/srv/a\"\n  n: 1"));
    EXPECT_THAT(message_of(wanting("")), HasSubstr("Without arguments."));
    EXPECT_THAT(message_of(wanting(R"({"name":"password","value":"hush"})")),
                HasSubstr("Arguments:\n  name: \"password\"\n  value: \"***\""));
    EXPECT_THAT(message_of(wanting(R"({"name":"password","value":"hush","value":"hush"})")),
                Not(HasSubstr("hush")))
        << "as written, since a server may take either";
    EXPECT_THAT(message, Not(HasSubstr("all such requests")));
    EXPECT_THAT(
        message_of(wanting("", "")),
        AllOf(StartsWith("May the request \"tools/call\" be sent"),
              HasSubstr("longer than once counts for all such requests to that server.\n")));
}

TEST(ApprovalForm, MasksSecretsShowsWhatNobodyWouldSeeAndFoldsWhatIsLong) {
    const auto message =
        message_of(wanting(R"({"api_key":"hush-hush","headers":{"Authorization":"Bearer hush"},)"
                           R"("text":"a\u001b[2Jb\u202ec\nd","long":")" +
                           std::string(5'000, 'x') + R"("})"));
    EXPECT_THAT(message, Not(HasSubstr("hush")));
    EXPECT_THAT(message, Not(HasSubstr("\x1b")));
    EXPECT_THAT(message, Not(HasSubstr("\xe2\x80\xae")));
    EXPECT_THAT(message, AllOf(HasSubstr("\\u001b"), HasSubstr("bytes in all")));
    EXPECT_LT(message.size(), 2'000u);
}

TEST(ApprovalForm, ArgumentsThatMayMeanTwoThingsAreShownAsWritten) {
    EXPECT_THAT(message_of(wanting(R"({"path":"/etc/passwd","path":"/srv/a"})")),
                AllOf(HasSubstr("as written"), HasSubstr("/etc/passwd"), HasSubstr("/srv/a")));
}

TEST(ApprovalForm, OffersWhatAnAnswerMaySetAndNothingElse) {
    using config::Level;
    const auto decisions = [](std::vector<Level> levels) {
        auto wanted = wanting("{}");
        wanted.levels = std::move(levels);
        const json::value form = approval_form({}, wanted);
        return json::serialize(
            form.at("requestedSchema").at("properties").at("decision").at("enum"));
    };
    EXPECT_EQ(decisions({Level::AllowOnce, Level::AllowSession}), R"(["once","session","no"])");
    EXPECT_EQ(decisions({Level::AllowOnce}), R"(["once","no"])");
    EXPECT_EQ(decisions({Level::AllowOnce, Level::AllowProject, Level::AllowAlways}),
              R"(["once","project","always","no"])");
}

TEST(ApprovalForm, NamesTheRuleThatWantsIt) {
    auto wanted = wanting("{}");
    wanted.rule = "tools \"log\" (user config mcp.json:9:3)";
    EXPECT_THAT(message_of(wanted),
                HasSubstr("\nAsked by: tools \"log\" (user config mcp.json:9:3)\n"));
}

TEST(ApprovalsOfASession, AreForgottenFromTheOldestWhereThereAreTooMany) {
    config::Config config;
    config.gateway.approvals = "ask";
    connection::SessionApprovals given;
    Approvals approvals(config, given);
    std::size_t questions = 0;
    const auto approve = [&](std::size_t i) {
        approvals.approve(
            wanting("{}", "t" + std::to_string(i)), Lasting::Session, [](auto) {},
            [&](const auto&, auto answer) {
                ++questions;
                answer(json::object{{"action", "accept"}, {"content", {{"decision", "session"}}}});
                return connection::Question();
            });
    };
    for (std::size_t i = 0; i <= connection::SessionApprovals::kMost; ++i) approve(i);
    EXPECT_EQ(questions, connection::SessionApprovals::kMost + 1);
    approve(connection::SessionApprovals::kMost);
    EXPECT_EQ(questions, connection::SessionApprovals::kMost + 1);
    approve(0);
    EXPECT_EQ(questions, connection::SessionApprovals::kMost + 2);
}

class ApprovedStreams : public ApprovalsTest {
protected:
    json::value agreed_on() {
        approve_by("ask");
        offer("git", "resources/list", {{"resources", {{{"uri", "a:1"}, {"name", "n"}}}}});
        say_modern("s", "subscriptions/listen",
                   {{"notifications",
                     {{"resourceSubscriptions", {"a:1"}}, {"promptsListChanged", true}}}});
        const auto agreed = "notifications/subscriptions/acknowledged";
        EXPECT_TRUE(wait([&] { return !told(agreed).empty(); }));
        return at(told(agreed).back(), "/params/notifications");
    }
};

// A stream may not ask for something on its way, as a call may.
TEST_F(ApprovedStreams, AreForNoResourceThatTheUserWouldHaveToBeAskedAboutAndTheLogSaysWhy) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(agreed_on(), (json::object{{"promptsListChanged", true}}));
    EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                AllOf(HasSubstr("resources/subscribe for a client: "), HasSubstr("mcp__git__")));
    EXPECT_THAT(servers.at("git").requests("resources/subscribe"), IsEmpty());
    const auto why = at(told("notifications/subscriptions/acknowledged").back(),
                        "/params/_meta/dev.patchbay~1leftOut/a:1");
    EXPECT_THAT(std::string(why.as_string()),
                AllOf(HasSubstr("need approval"), HasSubstr("mcp__git__")));
}

TEST_F(ApprovedStreams, AreForWhatTheUserLetTheSessionRead) {
    approve_by("ask");
    agreed_on();
    offer("git", "resources/read", {{"contents", json::array()}});
    const auto wanted = ask_modern(1, "resources/read", {{"uri", "a:1"}});
    const auto requests = at(wanted, "/result/inputRequests").as_object();
    const auto key = requests.begin()->key();
    ask_modern(2, "resources/read",
               {{"uri", "a:1"},
                {"inputResponses", json::object{{key, accepting("session")}}},
                {"requestState", at(wanted, "/result/requestState")}});
    session().take(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}})");
    sent.clear();
    EXPECT_EQ(agreed_on().at("resourceSubscriptions"), (json::array{"a:1"}));
}

// And not the other way round: to hear that something changed is less than to read it.
TEST_F(ApprovedStreams, LetNobodyReadWhatTheyAreFor) {
    approve_by("ask");
    offer("git", "resources/list", {{"resources", {{{"uri", "a:1"}, {"name", "n"}}}}});
    offer("git", "resources/read", {{"contents", json::array()}});
    greet(kAble);
    say(2, "resources/subscribe", {{"uri", "a:1"}});
    decide(asked(), accepting("session"));
    answer_to(2);
    say(3, "resources/read", {{"uri", "a:1"}});
    decide(asked(1), accepting("no"));
    EXPECT_TRUE(answer_to(3).contains("error"));
}

TEST_F(ApprovedStreams, AreForWhatARuleAllows) {
    permissions.allow = {"mcp__git__"};
    EXPECT_EQ(agreed_on().at("resourceSubscriptions"), (json::array{"a:1"}));
}

}  // namespace
}  // namespace patchbay::gateway
