// `patchbay batch`: what BATCH.md promises, in both eras.
#include "integration/home.hpp"

#include <csignal>
#include <fstream>
#include <sys/stat.h>

namespace patchbay::test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string call(const std::string& id, const std::string& tool,
                 const std::string& arguments = "{}", const std::string& more = "") {
    return "{\"id\":" + id + ",\"op\":\"tools/call\",\"name\":\"mcp__x__" + tool +
           "\",\"arguments\":" + arguments + more + "}\n";
}

std::string barrier(const std::string& id) {
    return "{\"id\":\"" + id + "\",\"op\":\"barrier\"}\n";
}

const std::string kForever = R"({"ms":3600000})";

class Batch : public ::testing::TestWithParam<const char*> {
protected:
    Batch() { home.add_example("x", {"--era", GetParam()}); }
    bool modern() const { return std::string_view(GetParam()) == "modern"; }
    Home home;
};

TEST_P(Batch, AnswersComeAsTheyAreReadyAndCarryTheirIds) {
    const auto done = home.run({"batch"}, call("1", "sleep", R"({"ms":300})") +
                                              call("\"two\"", "echo", R"({"message":"hi"})") +
                                              call("3", "add", R"({"a":1,"b":2})"));
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    const Lines lines(done.out);
    EXPECT_EQ(lines.text(1), "slept 300 ms");
    EXPECT_EQ(lines.text("two"), "hi");
    EXPECT_EQ(lines.text(3), "3");
    EXPECT_LT(lines.place("two"), lines.place(1));
    EXPECT_LT(lines.place(3), lines.place(1));
}

TEST_P(Batch, ManyRequestsAreInFlightAtOnce) {
    std::string input;
    for (int i = 0; i < 200; ++i) input += call(std::to_string(i), "sleep", R"({"ms":500})");
    const auto done = home.run({"batch"}, input);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    const Lines lines(done.out);
    EXPECT_EQ(lines.all.size() - lines.events("notification").size(), 200u);
    EXPECT_LT(done.took, std::chrono::seconds(50)) << "one after the other would take 100 s";
}

TEST_P(Batch, MoreRequestsThanMayBeInFlightAreAllAnswered) {
    std::string input;
    for (int i = 0; i < 3000; ++i)
        input += call(std::to_string(i), "add", "{\"a\":" + std::to_string(i) + ",\"b\":1}");
    const auto done = home.run({"batch"}, input);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    const Lines lines(done.out);
    EXPECT_EQ(lines.all.size() - lines.events("notification").size(), 3000u);
    for (const auto& line : lines.all) {
        if (line.contains("event")) continue;
        const json::value whole = line;
        EXPECT_EQ(whole.at_pointer("/result/structuredContent/sum"),
                  whole.at("id").to_number<int>() + 1);
    }
}

TEST_P(Batch, NothingPassesABarrier) {
    const auto done = home.run({"batch"}, call("1", "sleep", R"({"ms":300})") + barrier("b") +
                                              call("2", "echo", R"({"message":"later"})"));
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    const Lines lines(done.out);
    EXPECT_LT(lines.place(1), lines.place("b"));
    EXPECT_LT(lines.place("b"), lines.place(2));
}

TEST_P(Batch, ABarrierMayFollowABarrier) {
    const auto done =
        home.run({"batch"}, barrier("a") + barrier("b") + call("1", "sleep", R"({"ms":100})") +
                                barrier("c") + "\n" + barrier("d") + barrier("e") +
                                call("2", "echo", R"({"message":"last"})"));
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    const Lines lines(done.out);
    EXPECT_LT(lines.place("a"), lines.place("b"));
    EXPECT_LT(lines.place(1), lines.place("c"));
    EXPECT_LT(lines.place("d"), lines.place("e"));
    EXPECT_LT(lines.place("e"), lines.place(2));
}

TEST_P(Batch, WhoDoesNotReadTheAnswersHoldsUpNothingElse) {
    const auto input = home.add_recorded("x", {"--era", GetParam()});
    // More than a pipe holds, and too soon for the time-out to pass before.
    const auto much = "{\"message\":\"" + std::string(600'000, 'x') + "\"}";
    auto requests = "{\"id\":0,\"op\":\"ping\",\"server\":\"x\"}\n" + barrier("up") +
                    call("5", "sleep", kForever, ",\"timeout_ms\":1000");
    for (int id = 1; id <= 4; ++id) requests += call(std::to_string(id), "echo", much);
    requests += call("6", "sleep", kForever);  // so that nothing but the interruption ends it
    Program batch(home.patchbay({"batch", home.write("requests", requests)}));
    ASSERT_TRUE(wait_for_file(input, "cancelled")) << "its time-out went by";
    batch.signal(SIGINT);
    const auto done = batch.finish();
    EXPECT_EQ(done.exit_code, 130);
    EXPECT_THAT(done.err, Not(HasSubstr("hangs")));
    EXPECT_EQ(Lines(done.out).kind(5), "timeout");
    EXPECT_EQ(Lines(done.out).kind(6), "cancelled");
}

TEST_P(Batch, NothingToReadIsNoRequest) {
    const auto done = home.run({"batch", "/dev/null"});
    EXPECT_EQ(done.exit_code, 0);
    EXPECT_EQ(done.out + done.err, "");
}

TEST_P(Batch, ProgressComesAsEventsInOrder) {
    const auto done =
        home.run({"batch"}, call("1", "progress", R"({"steps":3})", ",\"progress\":true") +
                                call("2", "progress", R"({"steps":3})"));
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    const Lines lines(done.out);
    const auto events = lines.events("progress");
    ASSERT_THAT(events, SizeIs(3)) << "only for the request that asked";
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(events[i].at("id"), 1);
        EXPECT_EQ(events[i].at("progress"), i + 1);
        EXPECT_EQ(events[i].at("total"), 3);
        EXPECT_EQ(events[i].at("message"), json::value("step " + std::to_string(i + 1)));
    }
    EXPECT_EQ(lines.text(1), "3 steps done");
}

TEST_P(Batch, ACancelledCallIsAnsweredAsSuchAndTheOthersGoOn) {
    const auto input = home.add_recorded("x", {"--era", GetParam()});
    Program batch(home.patchbay({"batch"}));
    batch.send(call("1", "sleep", kForever));
    ASSERT_TRUE(wait_for_file(input, "\"tools/call\""));
    batch.send("{\"id\":2,\"op\":\"cancel\",\"target\":1,\"reason\":\"changed my mind\"}\n" +
               call("3", "echo", R"({"message":"hi"})") +
               "{\"id\":4,\"op\":\"cancel\",\"target\":77}\n");
    const auto done = batch.finish();
    EXPECT_EQ(done.exit_code, 1);
    const Lines lines(done.out);
    EXPECT_EQ(lines.kind(1), "cancelled");
    EXPECT_EQ(lines.kind(2), "");
    EXPECT_EQ(lines.text(3), "hi");
    EXPECT_EQ(lines.kind(4), "not_found");
    EXPECT_THAT(read_file(input),
                AllOf(HasSubstr("notifications/cancelled"), HasSubstr("changed my mind")));
}

// The secret of the first is not there before the second has answered.
TEST_P(Batch, ASecretThatTakesItsTimeHoldsUpNoOtherServer) {
    const auto pipe = home.root() / "secret";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    home.add_example("slow", {"--era", GetParam()},
                     {{"env", {{"KEY", "${command:cat " + pipe.string() + "}"}}}});
    home.add_example("quick", {"--era", GetParam()});
    Program batch(home.patchbay({"batch"}));
    batch.send(
        R"({"id":1,"op":"tools/call","name":"mcp__slow__echo","arguments":{"message":"at last"}})"
        "\n"
        R"({"id":2,"op":"tools/call","name":"mcp__quick__echo","arguments":{"message":"hi"}})"
        "\n");
    ASSERT_TRUE(batch.wait_for_out("\"hi\"")) << batch.err();
    EXPECT_THAT(batch.out(), Not(HasSubstr("at last")));
    std::ofstream(pipe) << "s3cret\n";
    const auto done = batch.finish();
    EXPECT_EQ(Lines(done.out).text(1), "at last") << done.err;
}

TEST_P(Batch, ATimeOutEndsOnlyItsRequest) {
    // The time for connecting is in it, so the server is there first.
    const auto done =
        home.run({"batch"}, call("0", "echo", R"({"message":"there"})") + barrier("9") +
                                call("1", "sleep", kForever, ",\"timeout_ms\":200") +
                                call("2", "echo", R"({"message":"hi"})"));
    EXPECT_EQ(done.exit_code, 1);
    const Lines lines(done.out);
    EXPECT_EQ(lines.kind(1), "timeout");
    EXPECT_THAT(lines.message(1),
                HasSubstr("server \"x\": tools/call was not answered within 200 ms"));
    EXPECT_EQ(lines.text(2), "hi");
}

TEST_P(Batch, ErrorsOfToolAndProtocolAreTold) {
    const auto done =
        home.run({"batch"}, call("1", "fail", R"({"message":"no"})") +
                                call("2", "rpc_error", R"({"code":-32099,"message":"never"})") +
                                call("3", "nothing"));
    EXPECT_EQ(done.exit_code, 1);
    const Lines lines(done.out);
    EXPECT_EQ(lines.answer(1).at("ok"), true);
    EXPECT_THAT(json::serialize(lines.answer(1)), HasSubstr("\"isError\":true"));
    EXPECT_EQ(lines.kind(2), "server");
    EXPECT_THAT(json::serialize(lines.answer(2)),
                HasSubstr(R"("rpc":{"code":-32099,"message":"never","data":{"asked":true}})"));
    EXPECT_EQ(lines.kind(3), "not_found");
    EXPECT_THAT(lines.message(3), HasSubstr("server \"x\" has no tool \"mcp__x__nothing\""));
}

TEST_P(Batch, AToolErrorAloneFailsTheBatch) {
    EXPECT_EQ(home.run({"batch"}, call("1", "fail")).exit_code, 1);
    EXPECT_EQ(home.run({"batch"}, "").exit_code, 0);
}

TEST_P(Batch, LinesThatMakeNoSenseAreNamedAndTheRestIsDone) {
    const auto done = home.run(
        {"batch"},
        "nonsense\n[1]\n\n{\"id\":4,\"op\":\"tools/cal\"}\n{\"id\":5,\"op\":\"tools/call\"}\n"
        "{\"id\":6,\"op\":\"ping\"}\n{\"id\":7,\"op\":\"ping\",\"server\":\"y\"}\n" +
            call("8", "echo", "[1]") + call("9", "sleep", R"({"ms":100})") + call("9", "echo") +
            call("10", "echo", R"({"message":"still here"})"));
    EXPECT_EQ(done.exit_code, 1);
    std::string text = done.out;
    EXPECT_THAT(
        text,
        AllOf(HasSubstr("line 1 is not valid JSON at byte 1"),
              HasSubstr("line 2: a request is a JSON object"),
              HasSubstr("line 4: unknown op \\\"tools/cal\\\"; did you mean \\\"tools/call\\\"?"),
              HasSubstr("tools/call needs a \\\"name\\\""),
              HasSubstr("ping needs a \\\"server\\\""), HasSubstr("id 9 is in flight already")));
    EXPECT_THAT(text, HasSubstr("\"id\":7,\"ok\":false,\"error\":{\"kind\":\"not_found\""));
    EXPECT_THAT(text, HasSubstr("\\\"arguments\\\" must be an object"));
    EXPECT_THAT(text, HasSubstr("still here"));
    EXPECT_THAT(text, HasSubstr("slept 100 ms"));
}

TEST_P(Batch, StatusTellsOfEveryServer) {
    home.add_example("idle");
    const auto done = home.run({"batch"}, "{\"id\":1,\"op\":\"ping\",\"server\":\"x\"}\n" +
                                              barrier("b") + "{\"id\":2,\"op\":\"status\"}\n");
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    const json::value status = Lines(done.out).answer(2);
    EXPECT_EQ(status.at_pointer("/result/servers/0/id"), "idle");
    EXPECT_EQ(status.at_pointer("/result/servers/0/state"), "idle");
    EXPECT_EQ(status.at_pointer("/result/servers/1/state"), "ready");
    EXPECT_EQ(status.at_pointer("/result/servers/1/protocol"),
              json::value(modern() ? "2026-07-28" : "2025-11-25"));
}

TEST_P(Batch, AToolAddedLaterIsListedAndCalled) {
    Program batch(home.patchbay({"batch"}));
    batch.send("{\"id\":1,\"op\":\"tools/list\",\"server\":\"x\"}\n" + barrier("b1") +
               call("2", "change_tools") +
               "{\"id\":3,\"op\":\"wait\",\"server\":\"x\",\"method\":\"notifications/tools/"
               "list_changed\",\"timeout_ms\":50000}\n" +
               barrier("b2") + "{\"id\":4,\"op\":\"tools/list\",\"server\":\"x\"}\n" +
               barrier("b3"));
    ASSERT_TRUE(batch.wait_for_out("\"b3\"")) << batch.out() << batch.err();
    const std::string added = Lines(batch.out()).text(2);
    batch.send(call("5", added));
    const auto done = batch.finish();
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    const Lines lines(done.out);
    EXPECT_THAT(json::serialize(lines.answer(1)), Not(HasSubstr("\"mcp__x__" + added + "\"")));
    EXPECT_THAT(json::serialize(lines.answer(4)), HasSubstr("\"mcp__x__" + added + "\""));
    EXPECT_EQ(lines.text(5), added);
    EXPECT_THAT(lines.events("notification", "notifications/tools/list_changed"), SizeIs(1));
}

TEST_P(Batch, SubscribersHearOfUpdatesAndNoOthers) {
    const std::string uri = "example://text";
    const auto touch = [&](const std::string& id, const std::string& what) {
        return call(id, "touch", "{\"uri\":\"" + what + "\"}");
    };
    const auto done =
        home.run({"batch"},
                 R"({"id":1,"op":"resources/subscribe","server":"x","uri":"example://text"})"
                 "\n" +
                     barrier("b1") + touch("2", "example://blob") + touch("3", uri) +
                     "{\"id\":4,\"op\":\"wait\",\"method\":\"notifications/resources/"
                     "updated\",\"timeout_ms\":50000}\n" +
                     barrier("b2") +
                     R"({"id":5,"op":"resources/unsubscribe","server":"x","uri":"example://text"})"
                     "\n" +
                     barrier("b3") + touch("6", uri));
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    const auto events = Lines(done.out).events("notification", "notifications/resources/updated");
    ASSERT_THAT(events, SizeIs(1));
    EXPECT_EQ(events[0].at("server"), "x");
    EXPECT_EQ(json::value(events[0]).at_pointer("/params/uri"), json::value(uri));
}

TEST_P(Batch, AnUnheardNotificationEndsAWaitWithATimeOut) {
    const auto done = home.run(
        {"batch"},
        "{\"id\":0,\"op\":\"ping\",\"server\":\"x\"}\n" + barrier("b") +
            "{\"id\":1,\"op\":\"wait\",\"method\":\"notifications/never\",\"timeout_ms\":50}\n");
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_EQ(Lines(done.out).message(1), "no notifications/never within 50 ms (timeout_ms)");
}

TEST_P(Batch, AWaitEndsWhenNobodyIsThereWhoCouldEndIt) {
    home.add("dead", {{"command", "false"}, {"restart", false}});
    const auto wait = [](const std::string& id, const std::string& more) {
        return "{\"id\":" + id + ",\"op\":\"wait\",\"method\":\"n\"" + more + "}\n";
    };
    auto done = home.run({"batch"}, wait("1", "") + wait("2", R"(,"server":"x")") + barrier("3"));
    EXPECT_EQ(done.exit_code, 1);
    Lines lines(done.out);
    EXPECT_EQ(lines.kind(1), "unavailable");
    EXPECT_EQ(lines.message(1), "n cannot come: no server is connected");
    EXPECT_EQ(lines.message(2), "n cannot come: server \"x\" is not connected");
    EXPECT_THAT(done.out, HasSubstr("{\"id\":\"3\",\"ok\":true"));
    done = home.run({"batch"}, R"({"id":1,"op":"ping","server":"dead"})"
                               "\n" +
                                   wait("2", R"(,"server":"dead")"));
    EXPECT_THAT(Lines(done.out).message(2), HasSubstr("n cannot come: server \"dead\""));
    home.add("dies", {{"command", "/bin/sh"},
                      {"args", {"-c", "read line; exec 0<&- 1>&-; sleep 1"}},
                      {"restart", false}});
    done = home.run({"batch"}, R"({"id":1,"op":"ping","server":"dies"})"
                               "\n" +
                                   wait("2", R"(,"server":"dies","timeout_ms":3600000)"));
    EXPECT_THAT(Lines(done.out).message(2), HasSubstr("n cannot come: server \"dies\""));
}

TEST_P(Batch, LogMessagesOfTheServerAreEvents) {
    const std::string set =
        modern() ? ""
                 : "{\"id\":1,\"op\":\"logging/setLevel\",\"server\":\"x\",\"level\":\"info\"}\n" +
                       barrier("b");
    const auto done =
        home.run({"batch"}, set + call("2", "log", R"({"level":"error","message":"a word"})",
                                       R"(,"_meta":{"io.modelcontextprotocol/logLevel":"info"})"));
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    const auto events = Lines(done.out).events("notification", "notifications/message");
    ASSERT_THAT(events, SizeIs(1)) << done.out;
    EXPECT_EQ(json::value(events[0]).at_pointer("/params/data"), "a word");
}

TEST_P(Batch, ALogLevelThatIsNoneIsSaidToNoServer) {
    const auto input = home.add_recorded("x", {"--era", GetParam()});
    const auto done = home.run(
        {"batch"},
        "{\"id\":1,\"op\":\"logging/setLevel\",\"server\":\"x\",\"level\":\"loud\"}\n"
        "{\"id\":2,\"op\":\"request\",\"server\":\"x\",\"method\":\"logging/"
        "setLevel\",\"level\":\"eror\"}\n"
        "{\"id\":3,\"op\":\"request\",\"server\":\"x\",\"method\":\"resources/"
        "subscribe\"}\n"
        "{\"id\":4,\"op\":\"logging/setLevel\",\"server\":\"x\",\"level\":\"emergency\"}\n" +
            barrier("b") + call("5", "echo", R"({"message":"hi"})"));
    EXPECT_EQ(done.exit_code, 1);
    const Lines lines(done.out);
    for (int id = 1; id <= 3; ++id) EXPECT_EQ(lines.kind(id), "invalid") << done.out;
    EXPECT_THAT(lines.message(1), HasSubstr("unknown log level \"loud\"; known: debug, info, "));
    EXPECT_THAT(lines.message(2), HasSubstr("did you mean \"error\"?"));
    EXPECT_THAT(lines.message(3), HasSubstr("resources/subscribe needs a \"uri\""));
    EXPECT_EQ(lines.kind(4), "");
    EXPECT_EQ(lines.text(5), "hi");
    EXPECT_THAT(read_file(input),
                AllOf(HasSubstr("emergency"), Not(HasSubstr("loud")), Not(HasSubstr("eror\""))));
}

TEST_P(Batch, QuestionsAreRefusedUnlessConfigured) {
    const auto done = home.run({"batch"}, call("1", "ask"));
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_THAT(done.out, HasSubstr("the client has no elicitation"));
}

TEST_P(Batch, QuestionsAreAnsweredWithTheDefaultsOfTheirSchema) {
    const auto done = home.run({"--set", "client.elicitation=defaults", "batch"}, call("1", "ask"));
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    EXPECT_EQ(Lines(done.out).text(1),
              R"({"action":"accept","content":{"name":"nobody","age":30}})");
}

TEST_P(Batch, QuestionsAreAnsweredWithFixedContent) {
    const auto done = home.run({"--set", "client.elicitation=fixed", "--set",
                                "client.elicitation_content={name=\"Ada\",age=36}", "batch"},
                               call("1", "ask"));
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    EXPECT_THAT(Lines(done.out).text(1),
                AllOf(HasSubstr(R"("action":"accept")"), HasSubstr(R"("name":"Ada")"),
                      HasSubstr(R"("age":36)")));
}

TEST_P(Batch, RootsComeFromTheConfiguration) {
    const auto done =
        home.run({"--set", "client.roots=[\"file:///srv/data\"]", "batch"}, call("1", "roots"));
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    EXPECT_THAT(Lines(done.out).text(1), HasSubstr("file:///srv/data"));
}

TEST_P(Batch, EveryRequestHasItsOperation) {
    const auto done = home.run({"batch"}, R"({"id":1,"op":"resources/list"}
{"id":2,"op":"resources/templates/list","server":"x"}
{"id":3,"op":"prompts/list"}
{"id":4,"op":"prompts/get","server":"x","name":"greet","arguments":{"who":"Ada"}}
{"id":5,"op":"completion/complete","server":"x","ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"A"}}
{"id":6,"op":"resources/read","server":"x","uri":"example://blob"}
{"id":7,"op":"resources/read","server":"x","uri":"example://nothing"}
{"id":8,"op":"request","server":"x","method":"prompts/list"}
{"id":9,"op":"request","server":"x","method":"no/such"}
)");
    EXPECT_EQ(done.exit_code, 1);
    const Lines lines(done.out);
    const auto raw = [&](int id) { return json::serialize(lines.answer(id)); };
    EXPECT_THAT(raw(1), AllOf(HasSubstr("example://text"), HasSubstr("\"server\":\"x\"")));
    EXPECT_THAT(raw(2), HasSubstr("example://item/{n}"));
    EXPECT_THAT(raw(3), HasSubstr("\"greet\""));
    EXPECT_THAT(raw(4), HasSubstr("Hello, Ada."));
    EXPECT_THAT(raw(5), HasSubstr(R"("values":["Ada","Alan"])"));
    EXPECT_THAT(raw(6), HasSubstr("\"blob\":\"AAECA/8=\""));
    EXPECT_EQ(lines.kind(7), "server");
    EXPECT_EQ(lines.message(7), "Resource not found");
    EXPECT_EQ(lines.kind(8), "");
    EXPECT_THAT(raw(9), HasSubstr("-32601"));
}

TEST_P(Batch, AnInterruptEndsItWith130AndLeavesNothing) {
    const auto input = home.add_recorded("x", {"--era", GetParam()});
    Program batch(home.patchbay({"batch"}));
    batch.send(call("1", "sleep", kForever));
    ASSERT_TRUE(wait_for_file(input, "\"tools/call\""));
    batch.signal(SIGINT);
    EXPECT_EQ(batch.finish().exit_code, 130);
    EXPECT_EQ(nothing_left(), "");
}

TEST_P(Batch, TheEndOfTheInputLetsTheRestFinish) {
    Program batch(home.patchbay({"batch"}));
    batch.send(call("1", "sleep", R"({"ms":300})"));
    const auto done = batch.finish();
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(Lines(done.out).text(1), "slept 300 ms");
}

INSTANTIATE_TEST_SUITE_P(, Batch, ::testing::Values("legacy", "modern"),
                         [](const auto& era) { return std::string(era.param); });

TEST(BatchOfModernServers, ABarrierWaitsForNoListenStream) {
    Home home;
    home.add_example("x", {"--era", "modern"});
    const auto done = home.run(
        {"batch"},
        R"({"id":1,"op":"subscriptions/listen","server":"x","notifications":{"toolsListChanged":true}}
{"id":2,"op":"ping","server":"x"}
{"id":3,"op":"barrier"}
{"id":4,"op":"status"}
)");
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    const Lines lines(done.out);
    EXPECT_LT(lines.place(2), lines.place(3));
    EXPECT_LT(lines.place(3), lines.place(4));
    EXPECT_LT(lines.place(3), lines.place(1)) << "which ends with the input";
}

TEST(BatchOfModernServers, WhatIsAcknowledgedIsWhatALineAskedFor) {
    Home home;
    home.add_example("x", {"--era", "modern"});
    Program batch(home.patchbay({"batch"}));
    // The connection listens for itself as well, as soon as it is ready.
    batch.send(
        R"({"id":1,"op":"subscriptions/listen","server":"x","notifications":{"resourceSubscriptions":["example://text"]}}
{"id":2,"op":"wait","method":"notifications/subscriptions/acknowledged"}
)");
    ASSERT_TRUE(batch.wait_for_out("\"id\":2,")) << batch.out() << batch.err();
    const auto done = batch.finish();
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    const auto told =
        Lines(done.out).events("notification", "notifications/subscriptions/acknowledged");
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_THAT(json::serialize(told[0]), HasSubstr("example://text"));
}

TEST(BatchOfModernServers, AHopelessWaitEndsBesideAListenStream) {
    Home home;
    home.add_example("x", {"--era", "modern"});
    home.add("dead", {{"command", "false"}, {"restart", false}});
    const auto done = home.run(
        {"batch"},
        R"({"id":1,"op":"subscriptions/listen","server":"x","notifications":{"toolsListChanged":true}}
{"id":2,"op":"ping","server":"dead"}
{"id":3,"op":"wait","server":"dead","method":"n","timeout_ms":3600000}
)");
    const Lines lines(done.out);
    EXPECT_EQ(lines.kind(3), "unavailable") << done.out;
    EXPECT_EQ(lines.answer(1).at("ok"), true) << "which ends with the input";
}

TEST(BatchOfModernServers, AListenStreamEndsWithTheInput) {
    Home home;
    home.add_example("x", {"--era", "modern"});
    Program batch(home.patchbay({"batch"}));
    batch.send(
        "{\"id\":1,\"op\":\"subscriptions/"
        "listen\",\"server\":\"x\",\"notifications\":{\"toolsListChanged\":true}}\n");
    ASSERT_TRUE(batch.wait_for_out("notifications/subscriptions/acknowledged"))
        << batch.out() << batch.err();
    const auto done = batch.finish();
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    EXPECT_EQ(Lines(done.out).answer(1).at("ok"), true);
}

}  // namespace
}  // namespace patchbay::test
