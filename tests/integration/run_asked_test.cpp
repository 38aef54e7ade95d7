// Commands beside `patchbay run`: they ask it, and say what they say without it.
#include "integration/asked.hpp"
#include "integration/scripted_mcp.hpp"

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <thread>
#include <utility>
#include <vector>

namespace patchbay::test {
namespace {

namespace fs = std::filesystem;

TEST_F(Asked, CommandsSayByteForByteWhatTheySayAlone) {
    home.add_example(
        "x", {},
        {{"tools", {{"sleep", "deny"}, {"nowhere", "deny"}}}, {"disabled_tools", {"fail"}}});
    home.add("bad", {{"command", "/nonexistent/server"}});
    home.add("off", {{"command", "true"}, {"enabled", false}});
    RunningHost host(home, {},
                     std::chrono::seconds(110));  // a hundred commands, one after the other
    ASSERT_TRUE(asks(home.run({"-v", "call", "mcp__x__echo", "message=hi"})));
    const std::vector<Words> commands = {
        {"call", "mcp__x__echo", "message=hi"},
        {"call", "mcp__x__add", "a=1", "b=2", "--json"},
        {"call", "mcp__x__add", "--args", "{\"a\": 1,\n \"b\": 9007199254740993}", "--raw"},
        {"call", "mcp__x__add", "a=x", "b=2"},
        {"call", "mcp__x__add", "a=1", "b=2", "c=3"},
        {"call", "mcp__x__ad"},
        {"call", "mcp__x__fail"},
        {"call", "mcp__x__sleep", "ms=1"},
        {"call", "mcp__bad__any"},
        {"call", "mcp__off__any"},
        {"call", "mcp__y__any", "--json"},
        {"call", "echo", "message=hi"},
        {"call", "mcp__x__error"},
        {"call", "mcp__x__image"},
        {"tools"},
        {"tools", "--json"},
        {"tools", "--schema", "--server", "x"},
        {"tools", "mcp__x__add"},
        {"tools", "mcp__x__a*"},
        {"tools", "nothing like it"},
        {"tools", "--server", "bad"},
        {"tools", "--server", "off"},
        {"mcp", "status"},
        {"mcp", "status", "--json"},
        {"mcp", "status", "x"},
        {"mcp", "status", "bad", "--json"},
        {"mcp", "status", "off"},
        {"mcp", "status", "none"},
    };
    for (const auto& each : commands) says_the_same(each);
    const std::vector<Words> things = {
        {"resources", "list"},
        {"resources", "list", "--json"},
        {"resources", "templates"},
        {"resources", "list", "--server", "bad"},
        {"resources", "list", "--server", "off"},
        {"resources", "read", "test://none", "--server", "x"},
        {"resources", "read", "test://none"},
        {"prompts", "list"},
        {"prompts", "list", "--json"},
        {"resources", "read", "example://text"},
        {"resources", "read", "example://text", "--json"},
        {"resources", "read", "example://item/1"},
        {"prompts", "get", "simple"},
        {"prompts", "get", "greet", "who=Ada", "style=formal", "--json"},
        {"prompts", "get", "greet"},
        {"complete", "--prompt", "greet", "style=f"},
        {"prompts", "get", "none"},
        {"prompts", "get", "none", "--server", "y"},
        {"complete", "--prompt", "none", "argument=a"},
    };
    ASSERT_TRUE(asks(home.run({"-v", "resources", "list"})));
    ASSERT_TRUE(asks(home.run({"-v", "prompts", "get", "simple"})));
    for (const auto& each : things) says_the_same(each);
    EXPECT_EQ(home.run({"mcp", "list"}).exit_code, 0);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Asked, ABatchSaysWhatItSaysAlone) {
    home.add_example("x", {}, {{"tools", {{"nowhere", "deny"}}}});
    RunningHost host(home);
    const std::string good =
        "{\"id\":1,\"op\":\"tools/"
        "call\",\"name\":\"mcp__x__echo\",\"arguments\":{\"message\":\"hi\"}}\r\n";
    const std::string barrier = "{\"id\":\"b\",\"op\":\"barrier\"}\n";
    says_the_same({"batch"}, good);
    says_the_same({"batch"}, good + "\n" + barrier + "no json\n" + barrier +
                                 "{\"id\":2,\"op\":\"tools/list\",\"server\":\"x\"}");
    says_the_same({"batch"}, "");
    says_the_same({"batch"}, barrier + "{\"id\":\"" + std::string(17u << 20, 'x') + "\"}\n" + good);
    says_the_same({"batch"}, "{\"op\":\"host/statuses\",\"serverz\":1}\n" + barrier +
                                 "{\"op\":\"ping\",\"server\":\"y\"}\n");
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Asked, AnInterruptedBatchHasItsRequestsAnsweredBehindABarrierToo) {
    const auto input = home.add_recorded("x", {}, {{"lazy", true}});
    RunningHost host(home);
    Program batch(home.patchbay({"-v", "batch"}));
    batch.send(
        "{\"id\":1,\"op\":\"tools/"
        "call\",\"name\":\"mcp__x__sleep\",\"arguments\":{\"ms\":3600000}}\n"
        "{\"id\":2,\"op\":\"barrier\"}\n");
    ASSERT_TRUE(wait_for_file(input, "\"tools/call\"")) << batch.err();
    batch.signal(SIGINT);
    const auto done = batch.finish();
    EXPECT_EQ(done.exit_code, 130);
    EXPECT_TRUE(asks(done)) << done.err;
    EXPECT_EQ(Lines(done.out).kind(1), "cancelled");
    EXPECT_EQ(Lines(done.out).kind(2), "cancelled");
    EXPECT_TRUE(wait_for_file(input, "\"notifications/cancelled\""));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Asked, AnInterruptedCallIsCancelledAtItsServer) {
    const auto input = home.add_recorded("x");
    RunningHost host(home);
    Program call(home.patchbay({"call", "mcp__x__sleep", "ms=3600000"}));
    ASSERT_TRUE(wait_for_file(input, "\"tools/call\"")) << call.err();
    call.signal(SIGINT);
    EXPECT_EQ(call.finish().exit_code, 130);
    EXPECT_TRUE(wait_for_file(input, "\"notifications/cancelled\""));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Asked, AServerStaysFromOneCallToTheNext) {
    home.add_example("x");
    RunningHost host(home);
    const auto pid = [&] { return pid_of(home, "x"); };
    const auto before = pid();
    EXPECT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).exit_code, 0);
    EXPECT_EQ(pid(), before);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Asked, WhatAFileSaysByNowIsWhatAnswers) {
    home.add_example("x");
    home.add("named", {{"command", "named-server"}, {"lazy", true}});
    fs::create_directories(home.root() / "there");
    fs::create_symlink(example_server(), home.root() / "there/named-server");
    RunningHost host(home);
    ASSERT_TRUE(asks(home.run({"-v", "tools", "mcp__x__add"})));
    home.environment["TOKEN_OF_NOBODY"] = "1";
    EXPECT_TRUE(asks(home.run({"-v", "tools", "mcp__x__add"}))) << "nothing names it";
    const auto path = home.environment["PATH"];
    home.environment["PATH"] = (home.root() / "none").string() + ":" + path;
    EXPECT_TRUE(asks(home.run({"-v", "tools", "mcp__x__add"}))) << "it leads to the same program";
    home.environment["PATH"] = (home.root() / "there").string() + ":" + path;
    EXPECT_FALSE(asks(home.run({"-v", "tools", "mcp__x__add"}))) << "it leads to another program";
    home.environment["PATH"] = path;
    auto elsewhere = home.patchbay({"-v", "tools", "mcp__x__add"});
    elsewhere.directory = home.root() / "data";
    const auto other = run(elsewhere);
    EXPECT_EQ(other.exit_code, 0);
    EXPECT_THAT(other.err, HasSubstr("no host runs for this folder"));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Asked, FromAFolderBelowAHostIsAskedWhoseServersDoNotMind) {
    home.add_example("x", {}, {{"cwd", home.root().string()}});
    RunningHost host(home);
    fs::create_directories(home.work() / "deep/er");
    const auto from_below = [&] {
        auto command = home.patchbay({"-v", "call", "mcp__x__echo", "message=hi"});
        command.directory = home.work() / "deep/er";
        return run(command);
    };
    EXPECT_TRUE(asks(from_below()));
    home.add_example("y");
    const auto minding = from_below();
    EXPECT_EQ(minding.out, "hi\n");
    EXPECT_THAT(minding.err, HasSubstr("here a local server without `cwd`"))
        << "y is started in the folder of who starts it";
    const auto after = home.run({"-v", "call", "mcp__x__echo", "message=hi"});
    EXPECT_TRUE(asks(after)) << after.err << host.program().err();
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Asked, WhoWantsToBeAloneIs) {
    home.add_example("x");
    RunningHost host(home);
    const Words call{"-v", "call", "mcp__x__echo", "message=hi"};
    EXPECT_TRUE(asks(home.run(call)));
    auto alone = call;
    alone.insert(alone.begin(), "--alone");
    EXPECT_THAT(home.run(alone).err, HasSubstr("no running host is asked: --alone"));
    home.environment["PATCHBAY_ALONE"] = "1";
    EXPECT_THAT(home.run(call).err, HasSubstr("no running host is asked: PATCHBAY_ALONE"));
    home.environment["PATCHBAY_ALONE"] = "0";
    home.environment["PATCHBAY_HOST_PATIENCE_MS"] = "abc";
    const auto odd = home.run(call);
    EXPECT_THAT(odd.err, Not(HasSubstr("no running host is asked: PATCHBAY_ALONE")));
    EXPECT_THAT(odd.err, HasSubstr("PATCHBAY_HOST_PATIENCE_MS: \"abc\" is no number"));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Asked, AHostThatDoesNotAnswerHoldsNobodyUp) {
    home.add_example("x");
    RunningHost host(home);
    home.environment.erase("PATCHBAY_HOST_PATIENCE_MS");
    host.program().signal(SIGSTOP);
    const auto done = home.run({"-v", "call", "mcp__x__echo", "message=hi"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(done.out, "hi\n");
    EXPECT_THAT(done.err, HasSubstr("it does not answer within"));
    host.program().signal(SIGCONT);
    EXPECT_EQ(host.end().exit_code, 0);
}

// Listens where a host did, and answers a greeting with `line`.
class Impostor {
public:
    Impostor(const std::string& path, std::string line) {
        fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(::listen(fd_, 8), 0);
        thread_ = std::thread([this, line = std::move(line)] {
            const int one = ::accept(fd_, nullptr, nullptr);
            char greeting[4096];
            static_cast<void>(!::recv(one, greeting, sizeof greeting, 0));
            static_cast<void>(!::send(one, line.data(), line.size(), MSG_NOSIGNAL));
            ::close(one);
        });
    }
    ~Impostor() {
        ::shutdown(fd_, SHUT_RDWR);
        thread_.join();
        ::close(fd_);
    }
    Impostor(const Impostor&) = delete;

private:
    int fd_ = -1;
    std::thread thread_;
};

TEST_F(Asked, AHostOfAnotherVersionIsNotAskedAndThatIsSaid) {
    home.add_example("x");
    std::string path;
    {
        RunningHost host(home);
        path = host.socket();
        EXPECT_EQ(host.end().exit_code, 0);
    }
    const std::pair<const char*, const char*> cases[] = {
        {"{\"patchbay\":{\"protocol\":9,\"version\":\"9.1\"}}\n",
         "patchbay 9.1 there speaks protocol 9"},
        {"{\"patchbay\":{\"protocol\":1,\"version\":\"0.0.1\",\"pid\":5,\"since\":\"then\","
         "\"fits\":true}}\n",
         "(pid 5, since then) is patchbay 0.0.1 and is not asked"}};
    for (const auto& [line, told] : cases) {
        const Impostor impostor(path, line);
        const auto done = home.run({"call", "mcp__x__echo", "message=hi"});
        EXPECT_EQ(done.exit_code, 0);
        EXPECT_EQ(done.out, "hi\n");
        EXPECT_THAT(done.err, HasSubstr(told));
        fs::remove(path);
    }
    for (const char* line : {"", "no greeting\n", "{\"patchbay\":[]}\n"}) {
        const Impostor impostor(path, line);
        const auto done = home.run({"call", "mcp__x__echo", "message=hi"});
        EXPECT_EQ(done.exit_code, 0);
        EXPECT_EQ(done.out, "hi\n");
        EXPECT_EQ(done.err, "") << line;
        fs::remove(path);
    }
}

TEST_F(Asked, AHostThatStopsInTheMiddleHoldsNobodyForEver) {
    const auto input = home.add_recorded("x");
    RunningHost host(home);
    Program with_time(home.patchbay({"call", "mcp__x__sleep", "ms=3600000", "--timeout", "4"}));
    ASSERT_TRUE(wait_for_file(input, "\"tools/call\"")) << with_time.err();
    Program interrupted(home.patchbay({"call", "mcp__x__sleep", "ms=3599999"}));
    ASSERT_TRUE(wait_for_file(input, "3599999")) << interrupted.err();
    Program patient(home.patchbay({"call", "mcp__x__sleep", "ms=3599998"}));
    ASSERT_TRUE(wait_for_file(input, "3599998")) << patient.err();
    host.program().signal(SIGSTOP);
    interrupted.signal(SIGTERM);
    EXPECT_EQ(interrupted.finish().exit_code, 130);
    EXPECT_EQ(with_time.finish().exit_code, 8);
    const auto done = patient.finish();
    EXPECT_EQ(done.exit_code, 5);
    EXPECT_THAT(done.err, HasSubstr("does not answer; the request may have been carried out"));
    host.program().signal(SIGCONT);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Asked, ABatchWhoseHostStopsInTheMiddleEnds) {
    const auto input = home.add_recorded("x", {}, {{"lazy", true}});
    RunningHost host(home);
    Program batch(home.patchbay({"-v", "batch"}));
    Program events(home.patchbay({"events", "--follow"}));
    EXPECT_TRUE(events.wait_until(
        [&] { return events.out().find("mcp_startup_complete") != std::string::npos; }));
    batch.send(
        "{\"id\":1,\"op\":\"tools/"
        "call\",\"name\":\"mcp__x__sleep\",\"arguments\":{\"ms\":3600000}}\n");
    ASSERT_TRUE(wait_for_file(input, "\"tools/call\"")) << batch.err();
    host.program().signal(SIGSTOP);
    const auto done = batch.finish();
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_THAT(done.err, HasSubstr("does not answer, and what was not answered is lost"));
    const auto told = events.finish();
    EXPECT_EQ(told.exit_code, 5);
    EXPECT_THAT(told.err, HasSubstr("does not answer"));
    host.program().signal(SIGCONT);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Asked, AHostThatIsKilledInTheMiddleIsToldOf) {
    const auto input = home.add_recorded("x");
    RunningHost host(home);
    Program call(home.patchbay({"call", "mcp__x__sleep", "ms=3600000"}));
    Program batch(home.patchbay({"-v", "batch"}));
    ASSERT_TRUE(
        batch.wait_until([&] { return batch.err().find("is asked") != std::string::npos; }));
    ASSERT_TRUE(wait_for_file(input, "\"tools/call\"")) << call.err();
    host.program().signal(SIGKILL);
    host.program().finish();
    const auto done = call.finish();
    EXPECT_EQ(done.exit_code, 5);
    EXPECT_THAT(done.err, AllOf(HasSubstr("has gone; the request may have been carried out"),
                                Not(HasSubstr("--alone"))));
    const auto other = batch.finish();
    EXPECT_EQ(other.exit_code, 1);
    EXPECT_THAT(other.err, HasSubstr("has gone, and what was not answered is lost"));
}

TEST_F(Asked, AFolderThatOthersCanWriteIsNotBelieved) {
    home.add_example("x");
    RunningHost host(home);
    ASSERT_EQ(::chmod((home.root() / "run/patchbay").c_str(), 0777), 0);
    const auto done = home.run({"call", "mcp__x__echo", "message=hi"});
    EXPECT_EQ(done.out, "hi\n");
    EXPECT_THAT(done.err,
                AllOf(HasSubstr("warning: no running host is asked"), HasSubstr("chmod")));
    EXPECT_EQ(host.end().exit_code, 0);
}

// It says nothing when it goes: who asks it finds out, and so does who looks.
TEST_F(Asked, AServerBehindHttpThatHasGoneIsToldOfAsItIsAlone) {
    std::vector<std::unique_ptr<ScriptedHttp>> servers;
    for (const char* id : {"asked", "seen"}) {
        servers.push_back(std::make_unique<ScriptedHttp>(scripted_mcp({{{"name", "t"}}})));
        home.add(id, {{"url", servers.back()->url()}, {"restart", "never"}});
    }
    RunningHost host(home);
    EXPECT_EQ(home.run({"call", "mcp__asked__t"}).exit_code, 0);
    EXPECT_EQ(home.run({"mcp", "status"}).exit_code, 0);
    servers.clear();
    const std::string next = "`patchbay mcp start ";
    const std::pair<Words, std::string> commands[] = {
        {{"call", "mcp__asked__t"}, next + "asked` starts it again"},
        {{"tools", "--server", "asked", "--refresh"}, next + "asked` starts it again"},
        {{"mcp", "status", "seen"}, next + "seen` starts it again"},
        {{"mcp", "start", "seen"}, next + "seen` starts it again"}};
    for (const auto& [words, told] : commands) {
        SCOPED_TRACE(::testing::PrintToString(words));
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 5);
        EXPECT_THAT(done.out + done.err, HasSubstr(told));
        auto alone = words;
        alone.insert(alone.begin(), "--alone");
        if (words[1] != "start") {
            EXPECT_EQ(home.run(alone).exit_code, 5);
        }
    }
    EXPECT_EQ(host.end().exit_code, 0);
}

constexpr const char* kOfTheHost[][3] = {
    {"mcp", "stop", "x"}, {"config", "apply", ""}, {"config", "rollback", ""}, {"events", "", ""}};
Words words_of(const char* const (&said)[3]) {
    Words words;
    for (const char* each : said)
        if (*each) words.emplace_back(each);
    return words;
}

TEST_F(Asked, WhyARunningHostIsNotAskedIsSaidByWhatNeedsOne) {
    home.add_example("x");
    RunningHost host(home);
    const auto said = [&](const std::string& why) {
        for (const auto& each : kOfTheHost) {
            const auto done = home.run(words_of(each));
            EXPECT_EQ(done.exit_code, 5) << each[0];
            EXPECT_THAT(done.err, AllOf(HasSubstr(why), Not(HasSubstr("no host runs")))) << each[0];
        }
    };
    home.environment["PATCHBAY_ALONE"] = "1";
    said("no running host is asked: PATCHBAY_ALONE is set; leave that away");
    home.environment.erase("PATCHBAY_ALONE");
    EXPECT_THAT(home.run({"--alone", "mcp", "stop", "x"}).err, HasSubstr("asked: --alone; leave"));
    EXPECT_EQ(home.run({"--log-level", "debug", "mcp", "stop", "x"}).exit_code, 0);
    EXPECT_EQ(home.run({"mcp", "start", "x"}).exit_code, 0);
    fs::remove(host.socket());
    said("is not at its socket " + host.socket());
    host.program().signal(SIGHUP);
    EXPECT_TRUE(host.program().wait_until([&] {
        return host.program().err().find("is there again") != std::string::npos;
    })) << host.program().err();
    EXPECT_TRUE(asks(home.run({"-v", "call", "mcp__x__echo", "message=hi"})));
    host.program().signal(SIGSTOP);
    const auto stopped = home.run({"mcp", "stop", "x"});
    EXPECT_EQ(stopped.exit_code, 5);
    EXPECT_THAT(stopped.err, AllOf(HasSubstr("does not answer within 5"), HasSubstr("`kill ")));
    host.program().signal(SIGCONT);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Asked, WhoRunsAHostWhileAnotherIsEndingWaitsForThat) {
    const auto input = home.add_recorded("x");
    RunningHost host(home);
    Program call(home.patchbay({"call", "mcp__x__sleep", "ms=3600000"}));
    ASSERT_TRUE(wait_for_file(input, "\"tools/call\"")) << call.err();
    host.program().signal(SIGTERM);
    std::string told;
    EXPECT_TRUE(comes_true([&] {
        told = home.run({"config", "apply"}).err;
        return told.find("is ending") != std::string::npos;
    }));
    EXPECT_THAT(told, HasSubstr("is ending; `patchbay run` waits"));
    Program next(home.patchbay({"run"}));
    EXPECT_TRUE(next.wait_until([&] {
        return next.err().find("which is ending") != std::string::npos;
    })) << next.err();
    host.program().signal(SIGTERM);
    EXPECT_EQ(host.program().finish().exit_code, 0);
    EXPECT_TRUE(next.wait_until([&] {
        return next.err().find("patchbay runs: pid") != std::string::npos;
    })) << next.err();
    next.signal(SIGTERM);
    EXPECT_EQ(next.finish().exit_code, 0);
    call.finish();
}

TEST_F(Asked, AServerThatDoesNotComeUpIsUnavailableHoweverOftenItIsTried) {
    home.add("exits", {{"command", "/bin/sh"}, {"args", {"-c", "exit 7"}}});
    home.add_example("x");
    RunningHost host(home);
    for (int times = 0; times < 3; ++times) {
        EXPECT_EQ(home.run({"mcp", "status", "exits"}).exit_code, 5);
        EXPECT_EQ(home.run({"mcp", "status"}).exit_code, 5);
        EXPECT_EQ(home.run({"mcp", "start", "exits"}).exit_code, 5);
    }
    EXPECT_EQ(home.run({"mcp", "status", "x"}).exit_code, 0);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Asked, AListThatSomeServersAreSlowForIsShownMeanwhile) {
    home.add_example("quick");
    home.add("slow", {{"command", "/bin/sh"}, {"args", {"-c", "cat >/dev/null"}}});
    RunningHost host(home);
    Program tools(home.patchbay({"tools"}));
    EXPECT_TRUE(tools.wait_for_out("mcp__quick__echo"));
    EXPECT_TRUE(tools.wait_until([&] {
        return tools.err().find("waiting for slow") != std::string::npos;
    })) << tools.err();
    tools.signal(SIGINT);
    EXPECT_EQ(tools.finish().exit_code, 130);
    EXPECT_EQ(host.end().exit_code, 0);
}

}  // namespace
}  // namespace patchbay::test
