// `patchbay run`: one host for each user and configuration, at a socket that is theirs alone.
#include "integration/host_guest.hpp"
#include "support/result_schema.hpp"

#include <csignal>
#include <fstream>
#include <memory>
#include <sys/stat.h>

namespace patchbay::test {
namespace {

namespace fs = std::filesystem;

std::string call(const std::string& id, const std::string& tool, const std::string& arguments) {
    return "{\"id\":" + id + ",\"op\":\"tools/call\",\"name\":\"mcp__x__" + tool +
           "\",\"arguments\":" + arguments + "}\n";
}

const std::string kForever = R"({"ms":3600000})";

class Run : public ::testing::Test {
protected:
    ~Run() override { EXPECT_EQ(nothing_left(), ""); }
    Home home;
};

TEST_F(Run, ACallThatIsOlderThanAnyClockHasNoTimeLeft) {
    home.add_example("x");
    RunningHost host(home);
    HostGuest guest(host.socket());
    EXPECT_TRUE(guest.greet("person"));
    for (const char* spent : {"9223372036854775807", "-9223372036854775808"}) {
        guest.send(
            std::string(
                R"({"id":1,"op":"host/call","name":"mcp__x__echo","arguments":{"message":"hi"},)") +
            R"("timeout_ms":60000,"spent_ms":)" + spent + "}\n");
        EXPECT_NE(guest.line_with("\"id\":1"), "") << spent;
    }
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Run, AnswersWhoConnectsAsABatchIsAnswered) {
    home.add_example("x");
    RunningHost host(home);
    HostGuest guest(host.socket());
    EXPECT_TRUE(guest.greet());
    guest.send(call("1", "echo", R"({"message":"hi"})") + "no json\n\n" + R"({"op":"status"})");
    guest.end_input();
    std::string out;
    for (auto line = guest.line(); !line.empty(); line = guest.line()) out += line + "\n";
    const Lines lines(out);
    EXPECT_EQ(lines.text(1), "hi");
    EXPECT_THAT(lines.message(nullptr), HasSubstr("line 2"));
    EXPECT_TRUE(lines.answer("line 4").contains("result")) << "lines count from the greeting on";
    ASSERT_FALSE(lines.all.empty());
    EXPECT_TRUE(is_a("batch_end", lines.all.back()));
    EXPECT_EQ(lines.all.back(),
              (json::object{{"event", "end"}, {"failed", true}, {"warnings", json::array()}}));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Run, WhatComesWithTheGreetingIsAnsweredToo) {
    home.add_example("x");
    RunningHost host(home);
    HostGuest guest(host.socket());
    guest.send("{\"patchbay\":{\"protocol\":1}}\n" + call("1", "echo", R"({"message":"hi"})"));
    EXPECT_THAT(guest.line(), HasSubstr("\"fits\":true"));
    EXPECT_THAT(guest.line(), HasSubstr("\"id\":1,\"ok\":true"));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Run, ThereIsOneForEachFolder) {
    RunningHost host(home);
    const auto second = home.run({"run"});
    EXPECT_EQ(second.exit_code, 1);
    EXPECT_THAT(second.err, AllOf(HasSubstr("a host runs for this configuration already: pid " +
                                            std::to_string(host.program().pid()) + ", since 20"),
                                  HasSubstr("in " + home.work().string())));
    EXPECT_EQ(home.run({"run", "--detach"}).exit_code, 1);
    auto elsewhere = home.patchbay({"run"});
    fs::create_directories(home.root() / "other");
    elsewhere.directory = home.root() / "other";
    Program other(elsewhere);
    EXPECT_TRUE(other.wait_until([&] {
        return other.err().find("runs: pid") != std::string::npos;
    })) << other.err();
    other.signal(SIGTERM);
    EXPECT_EQ(other.finish().exit_code, 0);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Run, OfSeveralAtOnceOneRuns) {
    std::vector<std::unique_ptr<Program>> all;
    for (int i = 0; i < 6; ++i) all.push_back(std::make_unique<Program>(home.patchbay({"run"})));
    int running = 0;
    for (auto& each : all) {
        const auto is_ready = [&] { return each->err().find("runs: pid") != std::string::npos; };
        if (!each->wait_until(is_ready)) continue;
        ++running;
        each->signal(SIGTERM);
        EXPECT_EQ(each->finish().exit_code, 0);
        break;  // another one may take its place from now on
    }
    EXPECT_EQ(running, 1);
    for (auto& each : all) each->signal(SIGTERM);
    for (auto& each : all) each->finish();
}

TEST_F(Run, ItsSocketIsTheUsersAlone) {
    RunningHost host(home);
    struct stat info {};
    ASSERT_EQ(::lstat(host.socket().c_str(), &info), 0) << host.socket();
    EXPECT_EQ(info.st_mode, mode_t(S_IFSOCK | 0600));
    ASSERT_EQ(::stat((home.root() / "run/patchbay").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode, mode_t(S_IFDIR | 0700));
    EXPECT_EQ(host.end().exit_code, 0);
    EXPECT_FALSE(fs::exists(host.socket())) << "it goes with the host";
}

TEST_F(Run, WithoutAPrivateRuntimeFolderItIsInTheStateFolder) {
    fs::permissions(home.root() / "run", fs::perms(0755));
    RunningHost host(home);
    EXPECT_THAT(host.socket(), StartsWith((home.root() / "state/patchbay/run/").string()));
    HostGuest guest(host.socket());
    EXPECT_TRUE(guest.greet());
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Run, WhatSomebodyElseLaidInItsWayIsNotUsed) {
    const auto folder = home.root() / "run/patchbay";
    fs::create_directories(home.root() / "elsewhere");
    fs::create_directory_symlink(home.root() / "elsewhere", folder);
    const auto linked = home.run({"run"});
    EXPECT_EQ(linked.exit_code, 1);
    EXPECT_THAT(linked.err, HasSubstr("symbolic link"));
    fs::remove(folder);
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms(0777));
    const auto open = home.run({"run"});
    EXPECT_EQ(open.exit_code, 1);
    EXPECT_THAT(open.err, HasSubstr("chmod 700"));
}

TEST_F(Run, AKilledOneLeavesNothingAndIsReplaced) {
    home.add_example("x");
    std::string socket;
    {
        RunningHost host(home);
        socket = host.socket();
        HostGuest guest(socket);
        EXPECT_TRUE(guest.greet());
        guest.send(call("1", "echo", R"({"message":"hi"})"));
        EXPECT_THAT(guest.line_with("\"id\":1"), HasSubstr("hi"));
        host.program().signal(SIGKILL);
        host.program().finish();
    }
    EXPECT_EQ(nothing_left(), "") << "its servers went with it";
    EXPECT_TRUE(fs::exists(socket));
    RunningHost again(home);
    EXPECT_EQ(again.socket(), socket);
    EXPECT_TRUE(HostGuest(socket).greet());
    EXPECT_EQ(again.end().exit_code, 0);
}

TEST_F(Run, WhoDoesNotGreetAsItDoesIsToldSo) {
    RunningHost host(home);
    HostGuest newer(host.socket());
    newer.send("{\"patchbay\":{\"protocol\":2,\"version\":\"9.9\"}}\n");
    EXPECT_THAT(newer.line(), AllOf(HasSubstr("\"unsupported\""), HasSubstr("patchbay 9.9"),
                                    HasSubstr("protocol 2")));
    EXPECT_EQ(newer.line(), "");
    HostGuest rude(host.socket());
    rude.send("{\"op\":\"status\"}\n");
    EXPECT_THAT(rude.line(), AllOf(HasSubstr("\"invalid\""), HasSubstr("first line")));
    HostGuest half(host.socket());
    half.send("{\"patchbay\":");
    half.end_input();
    EXPECT_THAT(half.line(), HasSubstr("\"invalid\""));
    HostGuest(host.socket()).vanish();
    EXPECT_TRUE(HostGuest(host.socket()).greet());
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Run, ALineWithoutEndCostsItLittle) {
    RunningHost host(home);
    const std::string much(1u << 20, 'x');
    HostGuest before(host.socket());
    for (int i = 0; i < 64 && before.send(much); ++i) {
    }
    HostGuest guest(host.socket());
    EXPECT_TRUE(guest.greet());
    for (int i = 0; i < 64 && guest.send(much); ++i) {
    }
    EXPECT_THAT(guest.line(), HasSubstr("line 1 is over 16 MiB"));
    EXPECT_TRUE(HostGuest(host.socket()).greet());
    const auto done = host.end();
    EXPECT_EQ(done.exit_code, 0);
    EXPECT_LT(done.peak_rss_kb, 300 << 10);
}

TEST_F(Run, AThousandAreServedAndOneMoreIsRefused) {
    RunningHost host(home);
    std::vector<std::unique_ptr<HostGuest>> all;
    for (int i = 0; i < 1'000; ++i) {
        all.push_back(std::make_unique<HostGuest>(host.socket()));
        ASSERT_TRUE(all.back()->greet()) << i;
    }
    HostGuest more(host.socket());
    EXPECT_THAT(more.line(), AllOf(HasSubstr("\"limit\""), HasSubstr("1000 commands")));
    all.front()->send(R"({"id":1,"op":"status"})"
                      "\n");
    EXPECT_THAT(all.front()->line(), HasSubstr("\"servers\":[]"));
    all.clear();
    bool served = false;
    for (int i = 0; i < 1'000 && !served; ++i) served = HostGuest(host.socket()).greet();
    EXPECT_TRUE(served);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Run, WhoReadsNothingHoldsUpNobody) {
    home.add_example("x");
    RunningHost host(home);
    HostGuest deaf(host.socket()), other(host.socket());
    EXPECT_TRUE(deaf.greet("person"));
    EXPECT_TRUE(other.greet("person"));
    // The host stops reading where the answers pile up; what it was sent by then, it is sent.
    const auto message = "{\"message\":\"" + std::string(100'000, 'x') + "\"}";
    std::size_t sent = 0;
    for (int id = 0; sent < (64u << 20); ++id) {
        const auto line = call("\"deaf " + std::to_string(id) + "\"", "echo", message);
        if (!deaf.send_now(line)) break;
        sent += line.size();
    }
    EXPECT_LT(sent, 64u << 20);
    ASSERT_TRUE(other.send(call("2", "echo", R"({"message":"meanwhile"})")));
    EXPECT_THAT(other.line_with("\"id\":2"), HasSubstr("meanwhile"));
    host.program().signal(SIGTERM);
    EXPECT_THAT(other.line_with("\"end\""), HasSubstr("false")) << "nobody waits for the deaf one";
    host.program().signal(SIGTERM);
    const auto done = host.program().finish();
    EXPECT_EQ(done.exit_code, 0);
    EXPECT_LT(done.peak_rss_kb, 400 << 10);
}

TEST_F(Run, WhoVanishesHasItsCallsCancelled) {
    for (const char* as : {"batch", "person"}) {
        Home own;
        const auto input = own.add_recorded("x", {}, {{"lazy", true}});
        RunningHost host(own);
        HostGuest guest(host.socket());
        EXPECT_TRUE(guest.greet(as));
        guest.send(call("1", "sleep", kForever));
        ASSERT_TRUE(wait_for_file(input, "\"tools/call\"")) << as;
        // With something that it has not read the end is a reset.
        guest.send(R"({"id":2,"op":"status"})"
                   "\n");
        HostGuest(host.socket()).greet();
        guest.vanish();
        EXPECT_TRUE(wait_for_file(input, "\"notifications/cancelled\"")) << as;
        const auto done = host.end();
        EXPECT_EQ(done.exit_code, 0);
        EXPECT_THAT(done.err, Not(HasSubstr("cannot read"))) << "it is no news";
    }
}

TEST_F(Run, WhatIsInFlightIsAnsweredBeforeItEnds) {
    const auto input = home.add_recorded("x");
    RunningHost host(home);
    HostGuest guest(host.socket()), idle(host.socket());
    EXPECT_TRUE(guest.greet("person"));
    EXPECT_TRUE(idle.greet("person"));
    guest.send(call("1", "sleep", R"({"ms":500})"));
    ASSERT_TRUE(wait_for_file(input, "\"tools/call\""));
    host.program().signal(SIGTERM);
    EXPECT_THAT(idle.line(), HasSubstr("\"event\":\"end\""));
    EXPECT_THAT(guest.line(), HasSubstr("slept 500 ms"));
    EXPECT_THAT(guest.line(), HasSubstr("\"event\":\"end\""));
    EXPECT_EQ(host.program().finish().exit_code, 0);
    EXPECT_FALSE(HostGuest(host.socket()).connected());
}

TEST_F(Run, ASecondSignalEndsItAtOnce) {
    const auto input = home.add_recorded("x");
    RunningHost host(home);
    HostGuest guest(host.socket());
    EXPECT_TRUE(guest.greet("person"));
    guest.send(call("1", "sleep", kForever));
    ASSERT_TRUE(wait_for_file(input, "\"tools/call\""));
    host.program().signal(SIGTERM);
    EXPECT_TRUE([&] {  // it has begun to drain
        for (int i = 0; i < 10'000 && HostGuest(host.socket()).connected(); ++i) {
        }
        return !HostGuest(host.socket()).connected();
    }());
    host.program().signal(SIGTERM);
    const auto done = host.program().finish();
    EXPECT_EQ(done.exit_code, 0);
    EXPECT_LT(done.took, std::chrono::seconds(9)) << "it is not drained";
}

TEST_F(Run, GoesOnInTheBackgroundOnceItIsReady) {
    home.add_example("x");
    const auto started = home.run({"run", "--detach", "--json"});
    EXPECT_EQ(started.exit_code, 0) << started.err;
    const auto found = sockets_in(home.root() / "run/patchbay");
    ASSERT_EQ(found.size(), 1u) << started.err;
    HostGuest guest(found.front());
    EXPECT_TRUE(guest.greet());
    guest.send(call("1", "echo", R"({"message":"hi"})"));
    EXPECT_THAT(guest.line_with("\"id\":1"), HasSubstr("hi"));
    const auto told = json::parse(started.out);
    EXPECT_TRUE(is_a("running_host", told));
    EXPECT_EQ(told.at("socket").as_string(), found.front().string());
    EXPECT_TRUE(fs::exists(std::string(told.at("log").as_string())));
    EXPECT_EQ(::kill(told.at("pid").to_number<pid_t>(), SIGTERM), 0);
}

// Nobody sees anything else of it.
TEST_F(Run, SaysInItsLogWhatItSaysInTheBackground) {
    home.add("gone", {{"command", "/nonexistent/server"}});
    const auto started = home.run({"run", "--detach", "--json"});
    ASSERT_EQ(started.exit_code, 0) << started.err;
    const auto log = home.root() / "state/patchbay/run";
    std::string said;
    EXPECT_TRUE(comes_true([&] {
        said.clear();
        for (const auto& each : fs::directory_iterator(log))
            if (each.path().extension() == ".log") said += read_file(each.path());
        return said.find("server \"gone\"") != std::string::npos;
    })) << said;
    EXPECT_EQ(::kill(json::parse(started.out).at("pid").to_number<pid_t>(), SIGTERM), 0);
}

TEST_F(Run, SaysItsPidInTheBackgroundAlsoWhereItIsQuiet) {
    const auto started = home.run({"-q", "run", "--detach"});
    ASSERT_EQ(started.exit_code, 0) << started.err;
    const int pid = std::atoi(started.out.c_str());
    EXPECT_EQ(started.out, std::to_string(pid) + "\n");
    EXPECT_EQ(::kill(pid, SIGTERM), 0);
}

TEST_F(Run, TellsTheServiceManagerHowFarItIs) {
    const auto path = home.root() / "notify";
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.string().copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const auto told = [fd] {
        pollfd ready{fd, POLLIN, 0};
        char text[64];
        if (::poll(&ready, 1, static_cast<int>(std::chrono::milliseconds(kDeadline).count())) <= 0)
            return std::string("nothing");
        const auto got = ::recv(fd, text, sizeof text, 0);
        return std::string(text, got > 0 ? static_cast<std::size_t>(got) : 0);
    };
    home.environment["NOTIFY_SOCKET"] = path;
    RunningHost host(home);
    EXPECT_EQ(told(), "READY=1");
    host.program().signal(SIGTERM);
    EXPECT_EQ(told(), "STOPPING=1");
    EXPECT_EQ(host.program().finish().exit_code, 0);
    ::close(fd);
}

TEST_F(Run, SaysInTheForegroundWhyItDoesNotGoToTheBackground) {
    const auto wrong = home.run({"run", "--detach", "--config", "/nonexistent.toml"});
    EXPECT_EQ(wrong.exit_code, 4);
    EXPECT_THAT(wrong.err, HasSubstr("/nonexistent.toml"));
}

TEST_F(Run, SaysAsJsonWhyThereIsNone) {
    const auto wrong = home.run({"run", "--detach", "--json", "--config", "/nonexistent.toml"});
    EXPECT_EQ(wrong.exit_code, 4);
    EXPECT_THAT(wrong.out, AllOf(StartsWith("{\"error\":"), HasSubstr("/nonexistent.toml")));
    RunningHost host(home);
    for (const auto& words : {Words{"run", "--json"}, {"run", "--json", "--detach"}}) {
        const auto second = home.run(words);
        EXPECT_EQ(second.exit_code, 1) << second.err;
        EXPECT_THAT(second.out, AllOf(StartsWith("{\"error\":"), HasSubstr("pid ")));
    }
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Run, WhereItsFolderIsNoFolderThatIsSaidAsWhatItIs) {
    home.write("plain", "");
    home.environment["XDG_STATE_HOME"] = (home.work() / "plain").string();
    home.environment["XDG_RUNTIME_DIR"] = "";
    for (const auto& words : {Words{"run"}, {"run", "--detach"}}) {
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 3) << done.err;
        EXPECT_THAT(done.err, HasSubstr("/plain is no directory, so there can be no "));
    }
}

}  // namespace
}  // namespace patchbay::test
