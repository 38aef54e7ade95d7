// `patchbay run` and files that change under it.
#include "integration/host_guest.hpp"
#include "support/result_schema.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

namespace patchbay::test {
namespace {

namespace fs = std::filesystem;

class Reloaded : public ::testing::Test {
protected:
    Reloaded() {
        home.environment["PATCHBAY_HOST_PATIENCE_MS"] = "60000";
        home.add_example("x");
    }
    ~Reloaded() override { EXPECT_EQ(nothing_left(), ""); }

    int pid(const std::string& server) const { return pid_of(home, server); }
    Outcome call(const std::string& server) const {
        return home.run({"-v", "call", "mcp__" + server + "__echo", "message=hi"});
    }
    static bool says(RunningHost& host, const std::string& text) {
        return host.program().wait_until(
            [&] { return host.program().err().find(text) != std::string::npos; });
    }
    fs::path file() const { return home.user_config() / "mcp.json"; }

    Home home;
};

TEST_F(Reloaded, AChangeIsAppliedAtOnceAndTouchesNoOtherServer) {
    RunningHost host(home);
    const int before = pid("x");
    ASSERT_GT(before, 0);
    home.add_example("y", {}, {{"tools", {{"add", "deny"}}}});
    EXPECT_TRUE(says(host, "configuration: start y")) << host.program().err();
    const auto done = call("y");
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr(" is asked"));
    EXPECT_EQ(home.run({"call", "mcp__y__add", "a=1", "b=2"}).exit_code, 7);
    EXPECT_EQ(pid("x"), before);
    home.add_example("y");
    EXPECT_TRUE(says(host, "servers.y.tools.add")) << host.program().err();
    EXPECT_EQ(home.run({"call", "mcp__y__add", "a=1", "b=2"}).exit_code, 0);
    home.add_example("x", {"--era", "legacy"});
    EXPECT_TRUE(says(host, "configuration: restart x (args)")) << host.program().err();
    EXPECT_THAT(call("x").err, HasSubstr(" is asked"));
    EXPECT_NE(pid("x"), before);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Reloaded, AFileThatIsReplacedOrBehindALinkIsNoticedToo) {
    const auto real = home.root() / "dotfiles/mcp.json";
    fs::create_directories(real.parent_path());
    fs::rename(file(), real);
    fs::create_symlink(real, file());
    RunningHost host(home);
    const auto with = [&](const std::string& id) {
        return "{\"mcpServers\":{\"x\":{\"command\":\"" + example_server() + "\"},\"" + id +
               "\":{\"command\":\"" + example_server() + "\"}}}";
    };
    home.write(real.string() + ".new", with("renamed"));
    fs::rename(real.string() + ".new", real);
    EXPECT_TRUE(says(host, "configuration: start renamed")) << host.program().err();
    home.write(real, with("rewritten"));
    EXPECT_TRUE(says(host, "configuration: start rewritten")) << host.program().err();
    const auto other = home.root() / "other.json";
    home.write(other, with("linked"));
    fs::create_symlink(other, file().string() + ".new");
    fs::rename(file().string() + ".new", file());
    EXPECT_TRUE(says(host, "configuration: start linked")) << host.program().err();
    EXPECT_THAT(call("linked").err, HasSubstr(" is asked"));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Reloaded, WhatIsWrongKeepsWhatRunsAndIsTold) {
    const auto good = read_file(file());
    RunningHost host(home);
    const int before = pid("x");
    home.write(file(), "{\"mcpServers\": {");
    EXPECT_TRUE(says(host, "the configuration is not changed: ")) << host.program().err();
    const auto status = home.run({"mcp", "status"});
    EXPECT_THAT(status.err,
                AllOf(HasSubstr("goes on with what it ran by before\n"), HasSubstr("mcp.json")))
        << "what is wrong is told once";
    EXPECT_THAT(status.out, AllOf(HasSubstr("x "), HasSubstr("ready")));
    EXPECT_EQ(status.exit_code, 4);
    EXPECT_THAT(call("x").err, AllOf(Not(HasSubstr(" is asked")),
                                     HasSubstr("is not asked: it goes on with what it ran by")))
        << "the file is what counts";
    HostGuest guest(host.socket());
    guest.send("{\"patchbay\":{\"protocol\":1}}\n");
    EXPECT_THAT(guest.line(), AllOf(HasSubstr("\"fits\":false"), HasSubstr("\"kept\":\""),
                                    Not(HasSubstr("error: "))));
    guest.send(
        "{\"id\":1,\"op\":\"tools/"
        "call\",\"name\":\"mcp__x__echo\",\"arguments\":{\"message\":\"hi\"}}\n");
    EXPECT_THAT(guest.line_with("\"id\":1,"), HasSubstr("\"ok\":true")) << "what runs is kept";
    home.write(file(), good);
    EXPECT_TRUE(says(host, "is again what the host runs by")) << host.program().err();
    EXPECT_EQ(pid("x"), before);
    EXPECT_THAT(home.run({"mcp", "status"}).err, Not(HasSubstr("goes on")));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Reloaded, WhatWasOffBesideAFaultIsBroughtUpOnceThatIsMended) {
    const auto good = read_file(file());
    RunningHost host(home);
    ASSERT_GT(pid("x"), 0);
    home.write(file(), "{\"mcpServers\":{\"x\":{\"command\":\"" + example_server() +
                           "\",\"enabled\":false},\"y\":{\"command\":5}}}");
    EXPECT_TRUE(says(host, "configuration: stop x")) << host.program().err();
    home.write(file(), good);
    EXPECT_TRUE(says(host, "configuration: start x")) << host.program().err();
    EXPECT_TRUE(host.program().wait_until([&] {
        return home.run({"mcp", "list"}).out.find("ready") != std::string::npos;
    })) << "nobody has called it";
    EXPECT_EQ(host.end().exit_code, 0);
}

// `mcp add` in a checkout writes the file, and then that it is approved.
TEST_F(Reloaded, WhatOneCommandWritesIsOneChange) {
    RunningHost host(home);
    const auto number = [&] {
        HostGuest guest(host.socket());
        guest.send("{\"patchbay\":{\"protocol\":1}}\n");
        const auto told = json::parse(guest.line());
        return told.at_pointer("/patchbay/configuration").to_number<int>();
    };
    int expected = number();
    const Words commands[] = {{"mcp", "add", "y", "--", example_server()},
                              {"mcp", "disable", "x", "y", "--scope", "project"},
                              {"config", "undo"},
                              {"mcp", "remove", "y"},
                              {"config", "undo"}};
    for (const auto& words : commands) {
        SCOPED_TRACE(::testing::PrintToString(words));
        ASSERT_EQ(home.run(words).exit_code, 0);
        ++expected;
        EXPECT_TRUE(host.program().wait_until([&] { return number() >= expected; }));
        EXPECT_EQ(home.run({"mcp", "list"}).err, "") << "it runs by what the files say";
        EXPECT_EQ(number(), expected) << host.program().err();
    }
    ASSERT_EQ(home.run({"config", "rollback"}).exit_code, 0);
    EXPECT_TRUE(says(host, "rolled back: stop y")) << host.program().err();
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Reloaded, ASighupReadsAgainAndEndsNothing) {
    RunningHost host(home);
    const int before = pid("x");
    host.program().signal(SIGHUP);
    host.program().signal(SIGHUP);
    EXPECT_EQ(pid("x"), before) << host.program().err();
    EXPECT_EQ(host.end().exit_code, 0);
}

// A file that somebody has emptied to write it anew says nothing yet, whoever wants it read.
TEST_F(Reloaded, HalfAFileIsNotApplied) {
    RunningHost host(home);
    const auto good = read_file(file());
    const int before = pid("x");
    HostGuest guest(host.socket());
    ASSERT_TRUE(guest.greet());
    const auto begun = std::chrono::steady_clock::now();
    for (int round = 0; round < 20; ++round) {
        std::ofstream half(file());
        host.program().signal(SIGHUP);
        const auto status = guest.ask({{"op", "status"}});
        const auto again = guest.ask({{"op", "status"}});
        half << good;
        half.close();
        // Who has written for a second without a rest is believed.
        if (std::chrono::steady_clock::now() - begun > std::chrono::milliseconds(900)) break;
        EXPECT_THAT(json::serialize(again), HasSubstr("\"id\":\"x\"")) << host.program().err();
    }
    EXPECT_THAT(host.program().err(), Not(HasSubstr("stop x")));
    EXPECT_EQ(pid("x"), before);
    EXPECT_EQ(host.end().exit_code, 0);
}

// Beyond what is believed where nobody is heard: what is still to come may forbid something.
TEST_F(Reloaded, AFileWhoseWriterPausesCountsOnceItIsClosed) {
    const auto config = home.user_config() / "config.toml";
    const std::string server = "[servers.a]\ncommand = '" + example_server() + "'\n";
    const std::string rest = "[permissions]\ndeny = ['mcp__a__add']\n";
    home.write(config, server + rest);
    RunningHost host(home);
    const Words add{"call", "mcp__a__add", "a=1", "b=2"};
    ASSERT_EQ(home.run(add).exit_code, 7);
    HostGuest guest(host.socket());
    ASSERT_TRUE(guest.greet());
    std::ofstream half(config);
    half << server << std::flush;
    const auto begun = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begun < std::chrono::milliseconds(1'500)) {
        const auto asked = guest.ask(
            {{"op", "tools/call"}, {"name", "mcp__a__add"}, {"arguments", {{"a", 1}, {"b", 2}}}});
        ASSERT_THAT(json::serialize(asked), HasSubstr("denied")) << host.program().err();
    }
    half << rest << "[servers.b]\ncommand = '" << example_server() << "'\n";
    half.close();
    EXPECT_TRUE(says(host, "configuration: start b")) << host.program().err();
    EXPECT_EQ(home.run(add).exit_code, 7);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Reloaded, AFileThatIsNeverClosedCountsInTheEnd) {
    RunningHost host(home);
    std::ofstream open(home.user_config() / "config.toml");
    open << "[servers.a]\ncommand = '" << example_server() << "'\n" << std::flush;
    EXPECT_TRUE(says(host, "configuration: start a")) << host.program().err();
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Reloaded, AnApprovalCountsAtOnce) {
    home.write(".mcp.json", "{\"mcpServers\":{\"p\":{\"command\":\"" + example_server() + "\"}}}");
    RunningHost host(home);
    EXPECT_EQ(home.run({"call", "mcp__p__echo", "message=hi"}).exit_code, 7);
    const auto trusted = home.run({"trust", "p", "--yes"});
    EXPECT_EQ(trusted.exit_code, 0) << trusted.err;
    EXPECT_TRUE(says(host, "configuration: start p")) << host.program().err();
    const auto done = call("p");
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr(" is asked"));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Reloaded, WhatIsReadOnceMakesCommandsBringUpTheirOwn) {
    RunningHost host(home);
    ASSERT_THAT(call("x").err, HasSubstr(" is asked"));
    home.write(home.user_config() / "config.toml", "[health]\nmisses = 9\n");
    EXPECT_TRUE(says(host, "counts for a host that is started anew")) << host.program().err();
    EXPECT_THAT(call("x").err, HasSubstr("has another value of health.misses, which counts when"));
    for (const Words& words : {Words{"mcp", "stop", "x"}, Words{"config", "apply"},
                               Words{"mcp", "status"}, Words{"mcp", "start", "x"}})
        EXPECT_THAT(home.run(words).err,
                    AllOf(HasSubstr("has another value of health.misses"),
                          HasSubstr("do not ask it, and bring up servers of their own")))
            << words[1];
    fs::remove(home.user_config() / "config.toml");
    EXPECT_TRUE(host.program().wait_until(
        [&] { return call("x").err.find(" is asked") != std::string::npos; }));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Reloaded, AServerThatIsStoppedStaysSoWhenFilesChange) {
    RunningHost host(home);
    EXPECT_EQ(home.run({"mcp", "stop", "x"}).exit_code, 0);
    home.add_example("y");
    EXPECT_TRUE(says(host, "configuration: start y")) << host.program().err();
    EXPECT_EQ(pid("x"), 0);
    EXPECT_EQ(home.run({"mcp", "start", "x"}).exit_code, 0);
    EXPECT_GT(pid("x"), 0);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Reloaded, WhatIsForbiddenBesideAFaultCountsAndGoesWithTheFault) {
    const auto good = read_file(file());
    RunningHost host(home);
    HostGuest guest(host.socket());
    ASSERT_TRUE(guest.greet());
    const std::string add =
        "\"op\":\"tools/call\",\"name\":\"mcp__x__add\",\"arguments\":{\"a\":1,\"b\":2}}\n";
    guest.send("{\"id\":1," + add);
    EXPECT_THAT(guest.line_with("\"id\":1,"), HasSubstr("\"ok\":true"));
    const auto config = home.user_config() / "config.toml";
    home.write(
        config,
        "[permissions]\ndeny = [\"mcp__x__add\"]\n[servers.y]\ncommand = \"true\"\nurl = 7\n");
    ASSERT_TRUE(says(host, "the configuration is not changed: ")) << host.program().err();
    guest.send("{\"id\":2," + add);
    EXPECT_THAT(guest.line_with("\"id\":2,"), HasSubstr("\"denied\""));
    std::filesystem::remove(config);
    ASSERT_TRUE(says(host, "is again what the host runs by")) << host.program().err();
    guest.send("{\"id\":3," + add);
    EXPECT_THAT(guest.line_with("\"id\":3,"), HasSubstr("\"ok\":true"));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Reloaded, SomebodyGoesBackAndForthAgain) {
    RunningHost host(home);
    const int before = pid("x");
    EXPECT_EQ(home.run({"config", "rollback"}).exit_code, 6);
    home.add_example("y");
    EXPECT_TRUE(says(host, "configuration: start y")) << host.program().err();
    const auto back = home.run({"config", "rollback"});
    EXPECT_EQ(back.exit_code, 0) << back.err;
    EXPECT_THAT(back.out, AllOf(HasSubstr("stop"), HasSubstr("y")));
    EXPECT_THAT(back.err, HasSubstr("runs by configuration 3"));
    const auto status = home.run({"mcp", "status"});
    EXPECT_THAT(status.out, Not(HasSubstr("\ny ")));
    EXPECT_THAT(status.err, AllOf(HasSubstr("somebody has gone back to it"),
                                  HasSubstr("runs by configuration 3")));
    host.program().signal(SIGHUP);
    EXPECT_EQ(pid("y"), 0) << "nothing has changed in the files";
    const auto forth = home.run({"config", "apply", "--json"});
    EXPECT_EQ(forth.exit_code, 0) << forth.err;
    EXPECT_TRUE(is_a("configuration_move", json::parse(forth.out)));
    EXPECT_EQ(json::parse(forth.out).at("configuration"), 4);
    EXPECT_THAT(call("y").err, HasSubstr(" is asked"));
    EXPECT_EQ(home.run({"mcp", "status"}).err, "") << "it is what the files say";
    EXPECT_THAT(home.run({"-v", "mcp", "list"}).err, HasSubstr("runs by configuration 4"));
    EXPECT_EQ(pid("x"), before);
    home.write(file(), "{");
    EXPECT_EQ(home.run({"config", "apply"}).exit_code, 4);
    EXPECT_EQ(pid("x"), before);
    EXPECT_EQ(host.end().exit_code, 0);
    EXPECT_EQ(home.run({"config", "apply"}).exit_code, 5);
}

// Of a checkout, approved; and its file that anybody may have spoilt.
class ReloadedCheckout : public Reloaded {
protected:
    ReloadedCheckout() {
        home.write(".mcp.json",
                   "{\"mcpServers\":{\"p\":{\"command\":\"" + example_server() + "\"}}}");
        EXPECT_EQ(home.run({"trust", "p", "--yes"}).exit_code, 0);
    }
    // By whoever is connected to it, whatever files say by now.
    static std::string called(HostGuest& guest, const std::string& id, const std::string& server) {
        guest.send("{\"id\":" + id + ",\"op\":\"tools/call\",\"name\":\"mcp__" + server +
                   "__echo\",\"arguments\":{\"message\":\"hi\"}}\n");
        return guest.line_with("\"id\":" + id + ",");
    }
};

TEST_F(ReloadedCheckout, AFileThatCannotBeReadKeepsNoServerThatIsRevokedOrGone) {
    home.add_example("y");
    RunningHost host(home);
    HostGuest guest(host.socket());
    ASSERT_TRUE(guest.greet());
    EXPECT_THAT(called(guest, "1", "p"), HasSubstr("\"ok\":true"));
    home.write(".patchbay/config.toml", "junk");
    ASSERT_TRUE(says(host, "the configuration is not changed: ")) << host.program().err();
    EXPECT_THAT(called(guest, "2", "p"), HasSubstr("\"ok\":true"));
    EXPECT_EQ(home.run({"trust", "--revoke", "p"}).exit_code, 0);
    ASSERT_TRUE(says(host, "configuration: stop p")) << host.program().err();
    EXPECT_THAT(called(guest, "3", "p"), HasSubstr("\"ok\":false"));
    home.write(file(), "{\"mcpServers\":{\"y\":{\"command\":\"" + example_server() + "\"}}}");
    ASSERT_TRUE(says(host, "configuration: stop x")) << host.program().err();
    EXPECT_THAT(called(guest, "4", "x"), HasSubstr("\"ok\":false"));
    EXPECT_THAT(called(guest, "5", "y"), HasSubstr("\"ok\":true"));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(ReloadedCheckout, WhoGoesBackDoesNotGetBackWhatIsRevokedOrDenied) {
    RunningHost host(home);
    HostGuest guest(host.socket());
    ASSERT_TRUE(guest.greet());
    EXPECT_THAT(called(guest, "1", "p"), HasSubstr("\"ok\":true"));
    EXPECT_EQ(home.run({"trust", "--revoke", "p"}).exit_code, 0);
    ASSERT_TRUE(says(host, "configuration: stop p")) << host.program().err();
    EXPECT_EQ(home.run({"config", "rollback"}).exit_code, 0);
    EXPECT_THAT(called(guest, "2", "p"),
                AllOf(HasSubstr("\"ok\":false"), HasSubstr("it is not approved")));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(ReloadedCheckout, WhoGoesBackFromAFaultDoesNotGetBackWhatIsRevoked) {
    RunningHost host(home);
    HostGuest guest(host.socket());
    ASSERT_TRUE(guest.greet());
    home.write(".patchbay/config.toml", "junk");
    ASSERT_TRUE(says(host, "the configuration is not changed: ")) << host.program().err();
    EXPECT_EQ(home.run({"trust", "--revoke", "p"}).exit_code, 0);
    ASSERT_TRUE(says(host, "configuration: stop p")) << host.program().err();
    const auto back = home.run({"config", "rollback"});
    EXPECT_EQ(back.exit_code, 0) << back.err;
    EXPECT_THAT(back.out, HasSubstr("nothing changes: the files have a fault"));
    EXPECT_THAT(called(guest, "1", "p"), HasSubstr("\"ok\":false"));
    EXPECT_THAT(called(guest, "2", "x"), HasSubstr("\"ok\":true"));
    EXPECT_EQ(home.run({"config", "rollback"}).exit_code, 6);
    EXPECT_EQ(host.end().exit_code, 0);
}

// It stands there for less than the host waits for files to settle.
TEST_F(ReloadedCheckout, ADenyThatNobodyHasReadYetCountsForWhoGoesBack) {
    RunningHost host(home);
    HostGuest guest(host.socket());
    ASSERT_TRUE(guest.greet("person"));
    home.add_example("y");
    ASSERT_TRUE(says(host, "configuration: start y")) << host.program().err();
    home.write(home.user_config() / "config.toml", "[permissions]\ndeny = [\"mcp__x__echo\"]\n");
    guest.send("{\"id\":1,\"op\":\"host/rollback\"}\n");
    EXPECT_THAT(guest.line_with("\"id\":1,"), HasSubstr("\"ok\":true"));
    EXPECT_THAT(called(guest, "2", "x"), HasSubstr("\"denied\""));
    home.add_example("z");
    guest.send("{\"id\":3,\"op\":\"host/rollback\"}\n");
    EXPECT_NE(guest.line_with("\"id\":3,"), "");
    EXPECT_TRUE(says(host, "configuration: start z")) << host.program().err();
    EXPECT_THAT(called(guest, "4", "x"), HasSubstr("\"denied\""));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Reloaded, FromAFaultSomebodyGoesBackToWhatRunsStillAndWhatItForbidsCountsOn) {
    RunningHost host(home);
    home.add_example("y");
    ASSERT_TRUE(says(host, "configuration: start y")) << host.program().err();
    HostGuest guest(host.socket());
    ASSERT_TRUE(guest.greet());
    int number = 0;
    const auto is_denied = [&] {
        const auto id = "{\"id\":" + std::to_string(++number) + ",";
        guest.send(id +
                   "\"op\":\"tools/call\",\"name\":\"mcp__x__add\",\"arguments\":{\"a\":1,\"b\":2}}"
                   "\n");
        return guest.line_with(id.substr(1)).find("\"denied\"") != std::string::npos;
    };
    home.write(
        home.user_config() / "config.toml",
        "[permissions]\ndeny = [\"mcp__x__add\"]\n[gateway]\nfoo = 1\n[servers.z]\ncommand = "
        "\"true\"\nurl = 7\n");
    ASSERT_TRUE(says(host, "the configuration is not changed: ")) << host.program().err();
    EXPECT_TRUE(is_denied());
    const auto back = home.run({"config", "rollback"});
    EXPECT_EQ(back.exit_code, 0) << back.err;
    EXPECT_THAT(back.out, HasSubstr("nothing changes: the files have a fault"));
    EXPECT_GT(pid("y"), 0);
    EXPECT_TRUE(is_denied());
    const auto behind = home.run({"config", "rollback"});
    EXPECT_THAT(behind.out, AllOf(HasSubstr("stop"), HasSubstr("y"), Not(HasSubstr("widened"))));
    EXPECT_TRUE(is_denied()) << "the file says it still";
    EXPECT_EQ(home.run({"config", "rollback"}).exit_code, 6);
    std::filesystem::remove(home.user_config() / "config.toml");
    ASSERT_TRUE(says(host, "configuration: start y")) << host.program().err();
    EXPECT_TRUE(host.program().wait_until([&] { return !is_denied(); }));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Reloaded, OfAFaultItsCauseIsToldAndNotWhatFollowsFromIt) {
    RunningHost host(home);
    home.write(home.user_config() / "config.toml", "[rules]\ndeny = [\"x\"]\n");
    EXPECT_TRUE(says(host, "is not changed: user config ")) << host.program().err();
    EXPECT_TRUE(says(host, "unknown table or key \"rules\"")) << host.program().err();
    const auto apply = home.run({"config", "apply"});
    EXPECT_EQ(apply.exit_code, 4);
    EXPECT_THAT(apply.err, HasSubstr("error: user config "));
    EXPECT_THAT(apply.err, HasSubstr("unknown table or key \"rules\""));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Reloaded, OfAServerThatWasRolledBackItIsSaidWhereItIs) {
    RunningHost host(home);
    home.add_example("y");
    ASSERT_TRUE(says(host, "configuration: start y")) << host.program().err();
    ASSERT_EQ(home.run({"config", "rollback"}).exit_code, 0);
    for (const char* verb : {"status", "start", "stop"}) {
        const auto done = home.run({"mcp", verb, "y"});
        EXPECT_EQ(done.exit_code, 6) << verb;
        EXPECT_THAT(done.err, AllOf(HasSubstr("server \"y\" is in the files, but the running host"),
                                    HasSubstr("patchbay config apply")))
            << verb;
    }
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Reloaded, BesideABrokenFileServersAreTurnedWithoutAFault) {
    RunningHost host(home);
    home.write(file(), "{");
    ASSERT_TRUE(says(host, "the configuration is not changed: ")) << host.program().err();
    EXPECT_EQ(home.run({"mcp", "stop", "x"}).exit_code, 0);
    EXPECT_EQ(home.run({"mcp", "start", "x"}).exit_code, 0);
    EXPECT_EQ(host.end().exit_code, 0);
}

}  // namespace
}  // namespace patchbay::test
