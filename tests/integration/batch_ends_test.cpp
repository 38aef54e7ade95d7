// What ends before its answer in a batch: by `wait`, by `cancel`, by an interrupt.
#include "integration/home.hpp"

#include <csignal>

namespace patchbay::test {
namespace {

TEST(BatchOnTheCommandLine, AnswersEveryRequestThatAnInterruptEnds) {
    Home home;
    const auto input = home.add_recorded("x");
    Program batch(home.patchbay({"batch"}));
    batch.send(
        "{\"id\":1,\"op\":\"wait\",\"method\":\"notifications/never\"}\n"
        "{\"id\":2,\"op\":\"tools/"
        "call\",\"name\":\"mcp__x__sleep\",\"arguments\":{\"ms\":3600000}}\n");
    ASSERT_TRUE(wait_for_file(input, "\"tools/call\"")) << batch.err();
    batch.signal(SIGINT);
    const auto done = batch.finish();
    EXPECT_EQ(done.exit_code, 130);
    const Lines lines(done.out);
    EXPECT_EQ(lines.kind(1), "cancelled");
    EXPECT_EQ(lines.kind(2), "cancelled");
    EXPECT_THAT(read_file(input), HasSubstr("\"notifications/cancelled\""));
}

TEST(BatchOnTheCommandLine, AWaitCanBeCancelled) {
    const auto done = Home().run(
        {"batch"},
        "{\"id\":1,\"op\":\"wait\",\"method\":\"notifications/never\",\"timeout_ms\":3600000}\n"
        "{\"id\":2,\"op\":\"cancel\",\"target\":1}\n");
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_EQ(Lines(done.out).kind(1), "cancelled");
    EXPECT_EQ(Lines(done.out).kind(2), "");
}

TEST(BatchOnTheCommandLine, ANotificationEndsOneWaitForItsServerAndMethod) {
    Home home;
    home.add_example("x", {"--era", "legacy"});
    home.add_example("y", {"--era", "legacy"});
    const auto wait = [](const std::string& id, const std::string& more) {
        return "{\"id\":\"" + id +
               "\",\"op\":\"wait\",\"method\":\"notifications/tools/list_changed\"" + more + "}\n";
    };
    const std::string change = R"({"id":"call","op":"tools/call","name":"mcp__x__change_tools"})"
                               "\n";
    const auto done = home.run(
        {"batch"},
        wait("first", "") + wait("other server", R"(,"server":"y")") +
            R"({"id":"other method","op":"wait","method":"notifications/x","timeout_ms":200})"
            "\n" +
            wait("second", R"(,"server":"x","timeout_ms":200)") + change);
    EXPECT_EQ(done.exit_code, 1);
    const Lines lines(done.out);
    EXPECT_EQ(lines.kind("first"), "");
    for (const char* id : {"other method", "second"}) EXPECT_EQ(lines.kind(id), "timeout") << id;
    EXPECT_EQ(lines.kind("other server"), "unavailable") << "nothing has connected it";
    const auto late = home.run({"batch"}, change + wait("seen", "") +
                                              R"({"op":"barrier"})"
                                              "\n" +
                                              wait("of y", R"(,"server":"y")") +
                                              wait("again", R"(,"timeout_ms":1)"));
    EXPECT_EQ(Lines(late.out).kind("seen"), "");
    EXPECT_EQ(Lines(late.out).kind("of y"), "unavailable");
    EXPECT_EQ(Lines(late.out).kind("again"), "timeout") << "one ends one";
}

TEST(BatchOnTheCommandLine, AWaitThatIsOverTakesNoNotificationFromOthers) {
    Home home;
    home.add_example("x", {"--era", "legacy"});
    Program batch(home.patchbay({"batch"}));
    batch.send(
        R"({"id":"short","op":"wait","method":"notifications/tools/list_changed","timeout_ms":1}
{"id":"given up","op":"wait","method":"notifications/tools/list_changed"}
{"id":"long","op":"wait","method":"notifications/tools/list_changed","timeout_ms":50000}
{"id":"cancel","op":"cancel","target":"given up"}
)");
    ASSERT_TRUE(batch.wait_for_out("\"timeout\"")) << batch.out();
    batch.send(R"({"op":"tools/call","name":"mcp__x__change_tools"})"
               "\n");
    const auto done = batch.finish();
    EXPECT_EQ(Lines(done.out).kind("given up"), "cancelled");
    EXPECT_EQ(Lines(done.out).kind("long"), "") << done.out;
}

TEST(BatchOnTheCommandLine, AListThatIsCancelledEndsAndItsIdIsFree) {
    Home home;
    home.add("mute", {{"command", "sh"}, {"args", {"-c", "while read -r line; do :; done"}}});
    home.add("gone", {{"command", "/nonexistent/server"}});
    for (const char* of : {R"(,"server":"mute")", ""}) {
        for (const char* op : {"tools/list", "resources/list", "prompts/list"}) {
            const auto done =
                home.run({"batch"}, "{\"id\":1,\"op\":\"" + std::string(op) + "\"" + of + "}\n" +
                                        R"({"id":"cancel","op":"cancel","target":1}
{"id":"again","op":"cancel","target":1}
{"id":"itself","op":"cancel","target":"itself"}
{"id":1,"op":"tools/list","server":"gone"})");
            const Lines lines(done.out);
            EXPECT_EQ(lines.all.size(), 5u) << done.out;
            EXPECT_EQ(lines.kind("cancel"), "") << done.out;
            EXPECT_EQ(lines.kind("again"), "not_found");
            EXPECT_EQ(lines.kind("itself"), "not_found");
            EXPECT_THAT(done.out, HasSubstr("the list was cancelled")) << op << of;
            EXPECT_THAT(done.out, HasSubstr("/nonexistent/server")) << "the second of that id";
        }
    }
}

TEST(BatchOnTheCommandLine, AnInterruptCancelsListsThatWaitForAServer) {
    Home home;
    home.add_example("x");
    const auto input = home.add_recorded("mute", {"--never-answer", "--at", "first"});
    Program batch(home.patchbay({"batch"}));
    std::string lines;
    const Words ops{"tools/list", "resources/list", "prompts/list"};
    for (const auto& op : ops)
        for (const std::string server : {"", R"(,"server":"mute")"})
            lines += R"({"id":")" + op + std::to_string(server.size()) + R"(","op":")" + op + "\"" +
                     server + "}\n";
    batch.send(lines);
    ASSERT_TRUE(wait_for_file(input, "\"server/discover\"")) << batch.err();
    batch.signal(SIGINT);
    const auto done = batch.finish();
    EXPECT_EQ(done.exit_code, 130);
    std::size_t answers = 0;
    for (auto at = done.out.find(R"({"id":)"); at != done.out.npos;
         at = done.out.find(R"({"id":)", at + 1))
        ++answers;
    EXPECT_EQ(answers, 6u) << "each once\n" << done.out;
    for (const auto& op : ops) {
        for (const char* size : {"0", "16"}) {
            EXPECT_EQ(Lines(done.out).kind(json::value(op + size)), "cancelled") << done.out;
            EXPECT_EQ(Lines(done.out).message(json::value(op + size)), "interrupted by the user");
        }
    }
}

TEST(BatchOnTheCommandLine, AnInterruptCancelsWhatIsListenedToAndWhatWaits) {
    Home home;
    home.add_example("x", {"--era", "modern"});
    Program batch(home.patchbay({"batch"}));
    batch.send(
        R"({"id":1,"op":"subscriptions/listen","server":"x","notifications":{"toolsListChanged":true}}
{"id":2,"op":"wait","method":"notifications/never"}
{"id":3,"op":"barrier"}
{"id":4,"op":"status"}
)");
    ASSERT_TRUE(batch.wait_for_out("notifications/subscriptions/acknowledged")) << batch.err();
    batch.signal(SIGINT);
    // What ends the input before would end the stream well.
    ASSERT_TRUE(batch.wait_for_out("\"cancelled\"")) << batch.out();
    const auto done = batch.finish();
    EXPECT_EQ(done.exit_code, 130);
    for (int id = 1; id <= 3; ++id) EXPECT_EQ(Lines(done.out).kind(id), "cancelled") << id;
    EXPECT_THAT(done.out, Not(HasSubstr("\"id\":4"))) << "nothing more is started";
}

// It leaves when it is killed, so there is time for another line.
TEST(BatchOnTheCommandLine, NothingThatComesAfterAnInterruptIsStarted) {
    Home home;
    home.add("slow", {{"command", "/bin/sh"},
                      {"args",
                       {"-c",
                        "trap '' TERM; echo up >>ends; cat >/dev/null; "
                        "echo over >>ends; sleep 3600"}}});
    Program batch(home.patchbay({"batch"}));
    batch.send("{\"id\":1,\"op\":\"tools/list\"}\n");
    ASSERT_TRUE(wait_for_file(home.work() / "ends", "up")) << batch.err();
    batch.signal(SIGINT);
    ASSERT_TRUE(wait_for_file(home.work() / "ends", "over"));
    batch.send("{\"id\":2,\"op\":\"status\"}\n");
    const auto done = batch.finish();
    EXPECT_EQ(done.exit_code, 130);
    EXPECT_EQ(Lines(done.out).kind(1), "cancelled");
    EXPECT_THAT(done.out, Not(HasSubstr("\"id\":2")));
}

}  // namespace
}  // namespace patchbay::test
