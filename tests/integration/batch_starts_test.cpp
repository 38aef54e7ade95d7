// How many servers a batch starts at once.
#include "integration/home.hpp"
#include "integration/scripted_mcp.hpp"
#include "support/process_size.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <sys/resource.h>
#include <utility>

namespace patchbay::test {
namespace {

// Servers that are counted from their start to when they are asked for their tools.
class Starts {
public:
    void begin() {
        std::unique_lock lock(mutex_);
        ++begun_;
        most_ = std::max(most_, ++now_);
        changed_.notify_all();
        // Long enough for another one to begin, if it may.
        changed_.wait_for(lock, std::chrono::milliseconds(300), [this] { return most_ > 1; });
    }
    void end() {
        const std::scoped_lock lock(mutex_);
        --now_;
    }
    std::pair<int, int> all_and_most() {
        const std::scoped_lock lock(mutex_);
        return {begun_, most_};
    }

private:
    std::mutex mutex_;  // guards what follows
    std::condition_variable changed_;
    int begun_ = 0, now_ = 0, most_ = 0;
};

TEST(BatchOnTheCommandLine, SoManyRemoteServersStartAtOnceAsTheConfigurationSays) {
    for (const int limit : {1, 3}) {
        SCOPED_TRACE(limit);
        Starts starts;
        Home home;
        std::vector<std::unique_ptr<ScriptedHttp>> servers;
        for (int i = 0; i < 3; ++i) {
            const auto begun = std::make_shared<bool>(false);
            servers.push_back(std::make_unique<ScriptedHttp>(
                scripted_mcp({}, [&starts, begun](const std::string& method) {
                    if (!std::exchange(*begun, true)) starts.begin();
                    if (method == "tools/list") starts.end();
                })));
            home.add("s" + std::to_string(i), {{"url", servers.back()->url()}});
        }
        const auto done =
            home.run({"--set", "limits.remote_starts=" + std::to_string(limit), "batch"},
                     "{\"id\":1,\"op\":\"tools/list\"}\n");
        EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
        const auto [all, most] = starts.all_and_most();
        EXPECT_EQ(all, 3);
        EXPECT_EQ(most == 1, limit == 1) << most;
    }
}

TEST(BatchOnTheCommandLine, SoManyLocalServersStartAtOnceAsTheConfigurationSays) {
    for (const int limit : {1, 3}) {
        SCOPED_TRACE(limit);
        Home home;
        const auto lock = (home.root() / "starting").string();
        const auto overlap = home.root() / "overlap", begun = home.root() / "begun";
        // One that is asked for its tools has started, as far as it knows; whoever finds another one
        // before that says so.
        const std::string script =
            "echo >> '" + begun.string() + "'; mkdir '" + lock + "' 2>&- || echo >> '" +
            overlap.string() +
            "'; while IFS= read -r line; do case $line in *'\"tools/list\"'*) "
            "rmdir '" +
            lock + "' 2>&- ;; esac; printf '%s\\n' \"$line\"; done | exec '" + example_server() +
            "' --slow-start 300";
        for (const char* id : {"a", "b", "c"})
            home.add(id, {{"command", "/bin/sh"}, {"args", json::array{"-c", script}}});
        const auto done =
            home.run({"--set", "limits.local_starts=" + std::to_string(limit), "batch"},
                     "{\"id\":1,\"op\":\"tools/list\"}\n");
        EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
        EXPECT_EQ(read_file(begun), "\n\n\n");
        EXPECT_EQ(std::filesystem::exists(overlap), limit == 3);
    }
}

// Growing it while there are threads takes milliseconds of the kernel's, each time.
TEST(BatchOnTheCommandLine, HasRoomForTheDescriptorsOfManyServersBeforeItHasThreads) {
    Home home;
    home.add_example("x");
    Program batch(home.patchbay({"batch"}));
    batch.send("{\"id\":1,\"op\":\"tools/list\"}\n");
    ASSERT_TRUE(batch.wait_for_out("mcp__x__echo"));
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    EXPECT_GE(size_of_process(batch.pid()).room, std::min<std::size_t>(limit.rlim_cur, 4'096));
}

}  // namespace
}  // namespace patchbay::test
