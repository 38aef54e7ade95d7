// What `mcp logs -f` goes on with, while the file is written, put aside and made anew.
#include "app/log_follower.hpp"

#include "app/server_log.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace patchbay::app {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::EndsWith;

class LogFollowerTest : public ::testing::Test {
protected:
    void append(const std::string& text) {
        std::ofstream(folder.path() + "/s.log", std::ios::app) << text;
    }
    bool reach(std::size_t count) {
        return loop.run_until([&] { return told.size() >= count; }, core::Clock::now() + 20s);
    }

    const test::PluginFolder folder;
    core::Loop loop;
    std::vector<std::string> told;
    const LogFollower::Line tell = [this](const std::string& line) { told.push_back(line); };
};

TEST_F(LogFollowerTest, TellsWhatIsWrittenFromNowOn) {
    append("before\n");
    const LogFollower follower(loop, folder.path() + "/s.log", tell);
    append("one\ntw");
    ASSERT_TRUE(reach(1));
    append("o\nthree\n");
    ASSERT_TRUE(reach(3));
    EXPECT_THAT(told, ElementsAre("one", "two", "three"));
}

TEST_F(LogFollowerTest, WaitsForAFileThatIsNotThereYet) {
    const LogFollower follower(loop, folder.path() + "/s.log", tell);
    append("one\n");
    ASSERT_TRUE(reach(1));
    EXPECT_THAT(told, ElementsAre("one"));
}

TEST_F(LogFollowerTest, MissesNothingOfAFileThatWasNotThereAndIsPutAsideAtOnce) {
    config::LogSettings settings;
    settings.server_bytes = 1;
    ServerLog log(folder.path(), 100, settings);
    const LogFollower follower(loop, log.path_of("s"), tell);
    for (const auto* line : {"one", "two", "three"}) log.add("s", false, line);
    ASSERT_TRUE(reach(3));
    EXPECT_THAT(told, ElementsAre(EndsWith("one"), EndsWith("two"), EndsWith("three")));
}

// Three rotations in one go: nothing of what came between is left out.
TEST_F(LogFollowerTest, LosesNothingWhenTheFileIsPutAside) {
    config::LogSettings settings;
    settings.server_bytes = 1;
    settings.server_files = 10;
    ServerLog log(folder.path(), 100, settings);
    log.add("s", false, "before");
    const LogFollower follower(loop, log.path_of("s"), tell);
    for (const auto* line : {"one", "two", "three"}) log.add("s", false, line);
    ASSERT_TRUE(reach(3));
    log.add("s", false, "four");
    ASSERT_TRUE(reach(4));
    std::vector<std::string> last_words;
    for (const auto& line : told) last_words.push_back(line.substr(line.rfind(' ') + 1));
    EXPECT_THAT(last_words, ElementsAre("one", "two", "three", "four"));
}

}  // namespace
}  // namespace patchbay::app
