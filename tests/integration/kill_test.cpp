// The host is killed with SIGKILL, among servers that will not go. Nothing is left.
#include "integration/home.hpp"

#include <csignal>
#include <fstream>
#include <sstream>

namespace patchbay::test {
namespace {

namespace fs = std::filesystem;

// Processes that show `mark` in their command line or environment; zombies show neither.
std::vector<std::string> marked(const std::string& mark) {
    std::vector<std::string> found;
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator("/proc", gone)) {
        const std::string pid = entry.path().filename();
        if (pid.find_first_not_of("0123456789") != std::string::npos ||
            pid == std::to_string(::getpid()))
            continue;
        const std::string line = read_file(entry.path() / "cmdline");
        if ((line + read_file(entry.path() / "environ")).find(mark) != std::string::npos)
            found.push_back(pid + " " + line);
    }
    return found;
}

TEST(AKilledHost, LeavesNothingOfTenServersSomeHostile) {
    Home home;
    const std::string mark = home.root().filename();
    for (const char* id : {"one", "two", "three"}) home.add_example(id);
    home.add_example("stubborn", {"--stubborn"});
    home.add_example("daemon", {"--spawn-daemon"});
    home.add_example("both", {"--stubborn", "--spawn-daemon"});
    const Words ready{home.add_hostile("ignore", {"ignore"}),
                      home.add_hostile("setsid", {"ignore", "setsid"}),
                      home.add_hostile("double", {"ignore", "double"}),
                      home.add_hostile("forks", {"ignore", "setsid", "double", "forks"})};

    // The hostile ones never finish their start, and all of them are to be there.
    Program batch(home.patchbay({"batch", "--set", "limits.local_starts=16"}));
    std::string input;
    for (const char* id : {"one", "two", "three", "stubborn", "daemon", "both"}) {
        input += std::string("{\"id\":\"") + id + "\",\"op\":\"ping\",\"server\":\"" + id + "\"}\n";
    }
    batch.send(input + "{\"id\":\"up\",\"op\":\"barrier\"}\n");
    ASSERT_TRUE(batch.wait_for_out("\"up\"")) << batch.out() << batch.err();
    for (const char* id : {"ignore", "setsid", "double", "forks"})
        batch.send(std::string("{\"id\":\"") + id + "\",\"op\":\"ping\",\"server\":\"" + id +
                   "\"}\n");
    for (const auto& file : ready) ASSERT_TRUE(wait_for_file(file, "ready")) << file << batch.err();
    EXPECT_GE(marked(mark).size(), 80u) << "there is something to leave";

    batch.signal(SIGKILL);
    EXPECT_EQ(batch.finish().exit_code, 128 + SIGKILL);
    EXPECT_EQ(nothing_left(std::chrono::seconds(5)), "");
    EXPECT_THAT(marked(mark), ::testing::IsEmpty());
}

TEST(AKilledHost, LeavesNothingWhenAServerKillsItsSupervisorFirst) {
    Home home;
    const std::string mark = home.root().filename();
    const auto ready = home.add_hostile("bad", {"ignore", "setsid", "double", "supervisor"});
    home.add_example("good");
    Program batch(home.patchbay({"batch"}));
    batch.send(
        "{\"id\":1,\"op\":\"ping\",\"server\":\"bad\"}\n{\"id\":2,\"op\":\"ping\",\"server\":"
        "\"good\"}\n");
    ASSERT_TRUE(batch.wait_for_out("\"id\":2")) << batch.err();
    ASSERT_TRUE(wait_for_file(ready, "ready"));
    batch.signal(SIGKILL);
    batch.finish();
    EXPECT_EQ(nothing_left(std::chrono::seconds(5)), "");
    EXPECT_THAT(marked(mark), ::testing::IsEmpty());
}

TEST(AnInterruptedHost, LeavesNothingOfHostileServersEither) {
    Home home;
    const auto ready = home.add_hostile("bad", {"ignore", "setsid", "double"});
    Program batch(home.patchbay({"batch"}));
    batch.send("{\"id\":1,\"op\":\"ping\",\"server\":\"bad\"}\n");
    ASSERT_TRUE(wait_for_file(ready, "ready"));
    batch.signal(SIGINT);
    EXPECT_EQ(batch.finish().exit_code, 130);
    EXPECT_EQ(nothing_left(), "");
    EXPECT_THAT(marked(home.root().filename()), ::testing::IsEmpty());
}

}  // namespace
}  // namespace patchbay::test
