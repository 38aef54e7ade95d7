// `patchbay run` and files that change under it.
#include "integration/host_guest.hpp"

#include <csignal>
#include <filesystem>
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
    EXPECT_TRUE(says(host, "the configuration is not changed: error: ")) << host.program().err();
    const auto status = home.run({"mcp", "status"});
    EXPECT_THAT(status.err, AllOf(HasSubstr("goes on with what it ran by before: error: "),
                                  HasSubstr("mcp.json")));
    EXPECT_THAT(status.out, AllOf(HasSubstr("x "), HasSubstr("ready")));
    EXPECT_EQ(status.exit_code, 4);
    EXPECT_THAT(call("x").err, Not(HasSubstr(" is asked"))) << "the file is what counts";
    HostGuest guest(host.socket());
    guest.send("{\"patchbay\":{\"protocol\":1}}\n");
    EXPECT_THAT(guest.line(), AllOf(HasSubstr("\"fits\":false"), HasSubstr("\"kept\":\"error: ")));
    home.write(file(), good);
    EXPECT_TRUE(says(host, "is again what the host runs by")) << host.program().err();
    EXPECT_EQ(pid("x"), before);
    EXPECT_THAT(home.run({"mcp", "status"}).err, Not(HasSubstr("goes on")));
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
    EXPECT_THAT(call("x").err, HasSubstr("runs by another configuration"));
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

}  // namespace
}  // namespace patchbay::test
