// Ctrl-C while some servers have answered and others have not: what is known is told.
#include "integration/home.hpp"

#include <csignal>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::test {
namespace {

// `quick` answers at once, `slow` never.
class Interrupted : public ::testing::Test {
protected:
    Interrupted() {
        home.add_example("quick");
        home.add("slow", {{"command", "/bin/sh"}, {"args", {"-c", "cat >/dev/null"}}});
    }
    Outcome run(Words verb, const std::string& sign = "server \"quick\" is ready") {
        verb.insert(verb.begin(), {"--log-level", "debug"});
        Program program(home.patchbay(std::move(verb)));
        EXPECT_TRUE(program.wait_until([&] {
            return program.err().find(sign) != std::string::npos &&
                   program.err().find("server \"slow\" is connecting") != std::string::npos;
        })) << program.err();
        program.signal(SIGINT);
        auto done = program.finish();
        EXPECT_EQ(done.exit_code, 130) << done.err;
        EXPECT_EQ(nothing_left(), "");
        return done;
    }

    Home home;
};

TEST_F(Interrupted, AStatusShowsWhoIsUpAndWhoWasNotWaitedFor) {
    const auto done = run({"mcp", "status", "--json"});
    const auto all = json::parse(done.out).as_array();
    ASSERT_EQ(all.size(), 2u) << done.out;
    EXPECT_EQ(all[0].at("state"), "ready");
    EXPECT_GT(all[0].at("tools").to_number<int>(), 0);
    EXPECT_EQ(all[1].at("state"), "interrupted");
    EXPECT_THAT(run({"mcp", "status"}).out, AllOf(HasSubstr("ready"), HasSubstr("interrupted")));
}

TEST_F(Interrupted, AStatusOfOneServerIsItsOwn) {
    const auto done = run({"mcp", "status", "slow", "--json"}, "");
    EXPECT_EQ(json::parse(done.out).at("state"), "interrupted");
}

TEST_F(Interrupted, AListOfToolsHasThoseOfWhoAnswered) {
    const auto done = run({"tools", "--json"});
    const auto all = json::parse(done.out).as_array();
    ASSERT_FALSE(all.empty()) << done.err;
    for (const auto& tool : all) EXPECT_EQ(tool.at("server"), "quick");
    EXPECT_THAT(done.err,
                AllOf(HasSubstr("error: server \"slow\": interrupted before it had answered\n"),
                      Not(HasSubstr("error: server \"quick\""))));
}

TEST_F(Interrupted, AListThatNobodyAnsweredIsAnError) {
    const auto done = run({"tools", "--server", "slow", "--json"}, "");
    EXPECT_EQ(done.out,
              "{\"error\":{\"kind\":\"cancelled\",\"message\":\"server \\\"slow\\\": "
              "interrupted before it had answered\"}}\n");
}

TEST_F(Interrupted, ACallThatFoundNoToolYetIsAnError) {
    const auto done = run({"call", "mcp__slow__any", "--json"}, "");
    EXPECT_EQ(done.out,
              "{\"error\":{\"kind\":\"cancelled\",\"message\":\"interrupted by the "
              "user\"}}\n");
}

TEST_F(Interrupted, AListOfOtherThingsNamesWhoHadNotAnswered) {
    const std::string answers = home.root() / "answers";
    const std::string line = "'" + example_server() + "' | tee '" + answers + "'";
    home.add("quick", {{"command", "/bin/sh"}, {"args", {"-c", line}}});
    Program program(home.patchbay({"resources", "list", "--json"}));
    ASSERT_TRUE(wait_for_file(answers, "\"resources\":[")) << program.err();
    program.signal(SIGINT);
    const auto done = program.finish();
    EXPECT_EQ(done.exit_code, 130);
    EXPECT_EQ(done.err, "error: server \"slow\": interrupted before it had answered\n");
    json::error_code wrong;
    const auto all = json::parse(done.out, wrong);
    ASSERT_TRUE(!wrong && all.is_array()) << "one document: " << done.out;
    EXPECT_FALSE(all.as_array().empty());
    for (const auto& resource : all.as_array()) EXPECT_EQ(resource.at("server"), "quick");
}

// Nothing came: a list of none would look like one that is whole.
TEST_F(Interrupted, AListOfOtherThingsThatNobodyAnsweredIsAnError) {
    const auto done = run({"resources", "list", "--server", "slow", "--json"}, "");
    EXPECT_EQ(done.out,
              "{\"error\":{\"kind\":\"cancelled\",\"message\":\"server \\\"slow\\\": "
              "interrupted before it had answered\"}}\n");
}

// Its grace is a minute, and the end of its input means nothing to it. It is asked to end all the
// same, for nobody waits for an answer any longer.
class WhoDoesNotLeave : public ::testing::Test {
protected:
    WhoDoesNotLeave() {
        home.add("slow", {{"command", "/bin/sh"},
                          {"args",
                           {"-c",
                            "trap 'echo asked >>ends; exit' TERM; echo up >>ends; "
                            "sleep 3600 & wait"}},
                          {"stop_grace_ms", 60'000}});
    }
    std::string ends() const { return read_file(home.work() / "ends"); }
    Home home;
};

TEST_F(WhoDoesNotLeave, IsAskedToSoonAfterATimeOut) {
    const auto done = home.run({"call", "mcp__slow__x", "--timeout", "0.5"});
    EXPECT_EQ(done.exit_code, 8) << done.err;
    EXPECT_EQ(ends(), "up\nasked\n");
}

TEST_F(WhoDoesNotLeave, IsAskedToSoonWhenItDidNotStartInTime) {
    home.add_example("quick");
    const auto done = home.run({"tools", "--set", "servers.slow.startup_timeout_sec=0.5"});
    EXPECT_EQ(done.exit_code, 1) << done.err;
    EXPECT_THAT(done.out, HasSubstr("mcp__quick__echo"));
    EXPECT_EQ(ends(), "up\nasked\n");
}

TEST_F(WhoDoesNotLeave, IsAskedToSoonAfterAnInterrupt) {
    Program program(home.patchbay({"mcp", "status"}));
    ASSERT_TRUE(wait_for_file(home.work() / "ends", "up"));
    program.signal(SIGINT);
    EXPECT_EQ(program.finish().exit_code, 130);
    EXPECT_EQ(ends(), "up\nasked\n");
    EXPECT_EQ(nothing_left(), "");
}

// `mute` lists what it does not answer for, and stays until it is killed; `good` needs longer to leave.
TEST(ATimeOut, LeavesTheServersBesideItTheirGrace) {
    Home home;
    const std::string mute_is_there = home.work() / "mute_is_there";
    ASSERT_EQ(::mkfifo(mute_is_there.c_str(), 0600), 0);
    const std::string server = "'" + example_server() + "'";
    const auto shell = [](const std::string& script) {
        return json::object{
            {"command", "/bin/sh"}, {"args", {"-c", script}}, {"stop_grace_ms", 60'000}};
    };
    home.add("good", shell("exec 8<mute_is_there; " + server +
                           "; trap 'echo hurried >>ends' TERM; cat <&8; echo left >>ends"));
    auto mute = shell("exec 9<>mute_is_there; grep -v --line-buffered resources/read | " + server +
                      " | sed -u s,example:,mute:,g; trap '' TERM; cat mute_is_there");
    mute["request_timeout_ms"] = 800;
    home.add("mute", std::move(mute));
    const auto done = home.run({"resources", "read", "mute://text"});
    EXPECT_EQ(done.exit_code, 8) << done.err;
    EXPECT_EQ(read_file(home.work() / "ends"), "left\n");
}

TEST(BatchOfAFifo, WaitsForItsWriterInTheLoop) {
    Home home;
    home.add_example("ex");
    const std::string fifo = home.root() / "fifo";
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    EXPECT_EQ(home.run({"--config", "/nonexistent", "batch", fifo}).exit_code, 4)
        << "what is wrong is told without a writer";
    const int writer = ::open(fifo.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(writer, 0);
    Program batch(home.patchbay({"batch", fifo}));
    constexpr std::string_view kLine = "{\"id\":1,\"op\":\"ping\",\"server\":\"ex\"}\n";
    EXPECT_EQ(::write(writer, kLine.data(), kLine.size()), static_cast<ssize_t>(kLine.size()));
    EXPECT_TRUE(batch.wait_for_out("{\"id\":1,\"ok\":true")) << batch.err();
    ::close(writer);
    EXPECT_EQ(batch.finish().exit_code, 0) << "the end of its writer is the end of the input";
}

// The list that it is asked for never reaches it.
TEST(InterruptedWhileListing, WhoHasNotListedIsNamed) {
    Home home;
    const std::string input = home.root() / "input";
    const std::string line =
        "tee '" + input + "' | grep -v --line-buffered resources/list | '" + example_server() + "'";
    home.add("deaf", {{"command", "/bin/sh"}, {"args", {"-c", line}}});
    Program program(home.patchbay({"resources", "list"}));
    ASSERT_TRUE(wait_for_file(input, "resources/list")) << program.err();
    program.signal(SIGINT);
    const auto done = program.finish();
    EXPECT_EQ(done.exit_code, 130);
    EXPECT_EQ(done.err, "error: server \"deaf\": interrupted before it had answered\n");
}

}  // namespace
}  // namespace patchbay::test
