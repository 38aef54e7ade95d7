// A host that stays on a machine that has no more of something: a disk that is full, a user that has no watch left. It goes
// on, says what it goes without, and its servers are what they were.
//
// The want is made in a user and mount namespace of the host alone; where there are none to be had the tests are skipped.
#include "integration/host_guest.hpp"

#include <filesystem>
#include <string>

namespace patchbay::test {
namespace {

namespace fs = std::filesystem;

class Scarce : public ::testing::Test {
protected:
    void SetUp() override {
        home.add_example("ex");
        auto probe = home.patchbay({});
        probe.argv = {"/usr/bin/unshare",
                      "-Urm",
                      "/bin/sh",
                      "-c",
                      "mount -t tmpfs none \"$0\" && echo 0 > "
                      "/proc/sys/user/max_inotify_instances",
                      state()};
        if (const auto tried = run(probe); tried.exit_code != 0)
            GTEST_SKIP() << "no namespaces are to be had here: " << tried.err;
    }
    ~Scarce() override { EXPECT_EQ(nothing_left(), ""); }

    std::string state() const { return home.root() / "state"; }
    // `patchbay run` behind `script`, which has the state folder as $0.
    Command host_behind(const std::string& script) const {
        auto command = home.patchbay({"run"});
        command.argv.insert(command.argv.begin(), {"/usr/bin/unshare", "-Urm", "/bin/sh", "-c",
                                                   script + "; exec \"$@\"", state()});
        return command;
    }
    std::string echo(HostGuest& guest, const std::string& server) {
        return json::serialize(guest.ask({{"op", "tools/call"},
                                          {"name", "mcp__" + server + "__echo"},
                                          {"arguments", {{"message", "hi"}}}}));
    }
    Home home;
};

TEST_F(Scarce, OnAFullDiskCallsGoOnAndItIsSaidOnceThatNothingIsKept) {
    home.add_example("other");
    RunningHost host(
        host_behind("mount -t tmpfs -o size=64k,mode=700 none \"$0\"; "
                    "head -c 1M /dev/zero > \"$0/full\" 2> /dev/null"));
    HostGuest guest(host.socket());
    ASSERT_TRUE(guest.greet());
    for (const char* server : {"ex", "other"})
        EXPECT_THAT(echo(guest, server), HasSubstr("\"ok\":true"));
    for (const char* op : {"tools/list", "prompts/list"})
        EXPECT_THAT(json::serialize(guest.ask({{"op", op}, {"refresh", true}})),
                    HasSubstr("\"ok\":true"));
    EXPECT_TRUE(host.program().wait_until([&] {
        return host.program().err().find("No space left on device") != std::string::npos;
    })) << host.program().err();
    EXPECT_EQ(host.end().exit_code, 0);
    const auto& said = host.program().err();
    const std::string warning = "is not kept for the next start";
    const auto first = said.find(warning);
    EXPECT_NE(first, said.npos) << said;
    EXPECT_EQ(said.find(warning, first + 1), said.npos) << said;
}

TEST_F(Scarce, WithoutAWatchLeftItLooksAndSaysSo) {
    RunningHost host(host_behind("echo 0 > /proc/sys/user/max_inotify_instances"));
    EXPECT_THAT(home.run({"mcp", "status"}).err,
                HasSubstr("it looks for changes of its files each 2 s, since the system has no "
                          "watch left for this user"));
    home.add_example("new");
    EXPECT_TRUE(host.program().wait_until([&] {
        return host.program().err().find("configuration: start new") != std::string::npos;
    })) << host.program().err();
    HostGuest guest(host.socket());
    ASSERT_TRUE(guest.greet());
    for (const char* server : {"ex", "new"})
        EXPECT_THAT(echo(guest, server), HasSubstr("\"ok\":true"));
    EXPECT_EQ(host.end().exit_code, 0);
}

}  // namespace
}  // namespace patchbay::test
