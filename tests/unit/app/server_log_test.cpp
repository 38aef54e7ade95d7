#include "app/server_log.hpp"

#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::app {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// The host cuts lines by `[limits] stderr_line_bytes`, as it is configured.
TEST(ServerLog, CutsALineAtItsLimitInMemoryAndInTheFile) {
    const test::PluginFolder folder;
    const std::string line = "0123456789abcdefghij";
    {
        ServerLog log(folder.path(), 10);
        log.add("s", false, line);
        EXPECT_THAT(log.tail("s", 1).at(0), HasSubstr(" stderr 0123456789"));
        EXPECT_THAT(log.tail("s", 1).at(0), Not(HasSubstr("abcdefghij")));
    }
    EXPECT_THAT(test::read_file(folder.path() + "/s.log"), Not(HasSubstr("abcdefghij")));
    ServerLog wide(folder.path(), 9'000);
    const std::string longer(8'500, 'x');
    wide.add("s", false, longer);
    EXPECT_THAT(wide.tail("s", 1).at(0), EndsWith(longer)) << "cut at the default of 8 KiB";
}

TEST(ServerLog, KeepsTheLastLinesOfEachServerOldestFirst) {
    ServerLog log("", 100);
    for (std::size_t i = 0; i <= ServerLog::kLinesInMemory; ++i)
        log.add("s", i % 2 != 0, "line " + std::to_string(i) + ".");
    log.add("other", true, "its own");
    const auto all = log.tail("s", 10'000);
    ASSERT_EQ(all.size(), ServerLog::kLinesInMemory);
    EXPECT_THAT(all.front(), EndsWith(" stdout line 1."));
    EXPECT_THAT(all.back(), EndsWith(" stderr line 500."));
    const auto last = log.tail("s", 2);
    ASSERT_EQ(last.size(), 2u);
    EXPECT_THAT(last[0], EndsWith("line 499."));
    EXPECT_EQ(log.tail("other", 10).size(), 1u);
    EXPECT_TRUE(log.tail("nobody", 10).empty());
}

TEST(ServerLog, SaysAheadOfARunsFirstLineWhichDefinitionItIsOf) {
    const test::PluginFolder folder;
    ServerLog log(folder.path(), 100);
    log.begin("s", "user config a:1:1");
    EXPECT_TRUE(log.tail("s", 10).empty()) << "it has written nothing";
    log.add("s", false, "one");
    log.add("s", false, "two");
    log.begin("s", "user config a:1:1");
    log.begin("s", "project config b:2:2");
    log.add("s", true, "three");
    const auto lines = ElementsAre(
        EndsWith("Z starts user config a:1:1"), EndsWith(" stderr one"), EndsWith(" stderr two"),
        EndsWith("Z starts project config b:2:2"), EndsWith(" stdout three"));
    EXPECT_THAT(log.tail("s", 10), lines);
    EXPECT_THAT(ServerLog(folder.path(), 100).tail("s", 10), lines) << "from the file";
}

TEST(ServerLog, OfAnotherProcessIsReadFromItsFilesOldGenerationFirst) {
    const test::PluginFolder folder;
    folder.write("s.log.1", "one\ntwo\n");
    folder.write("s.log", "three\nfour\n");
    const ServerLog log(folder.path(), 100);
    EXPECT_THAT(log.tail("s", 10), ElementsAre("one", "two", "three", "four"));
    EXPECT_THAT(log.tail("s", 3), ElementsAre("two", "three", "four"));
    EXPECT_THAT(log.tail("s", 1), ElementsAre("four"));
    EXPECT_TRUE(ServerLog("", 100).tail("s", 10).empty()) << "without a folder there are no files";
}

config::LogSettings sized(std::size_t bytes) {
    config::LogSettings settings;
    settings.server_bytes = bytes;
    return settings;
}

// A date that stands until the test turns it.
class SetDate final : public core::TimeSource {
public:
    explicit SetDate(std::time_t seconds = 1'767'225'600)  // 2026-01-01
        : date_(core::Calendar::from_time_t(seconds)) {}
    core::Calendar::time_point date() const override { return date_; }
    void turn(core::Calendar::duration span) { date_ += span; }

private:
    core::Calendar::time_point date_;
};

// What the files of `s` hold, the oldest first.
std::vector<std::string> files_of(const test::PluginFolder& folder) {
    std::vector<std::string> held;
    for (const auto* name : {"/s.log.4", "/s.log.3", "/s.log.2", "/s.log.1", "/s.log"})
        if (std::filesystem::exists(folder.path() + name))
            held.push_back(test::read_file(folder.path() + name));
    return held;
}

TEST(ServerLog, KeepsAsManyFilesAsItIsToldAndReadsThemAll) {
    const test::PluginFolder folder;
    auto settings = sized(1);
    settings.server_files = 3;
    const SetDate date;
    ServerLog log(folder.path(), 100, settings, date);
    for (const auto* line : {"one", "two", "three", "four"}) log.add("s", false, line);
    EXPECT_THAT(files_of(folder),
                ElementsAre(EndsWith("two\n"), EndsWith("three\n"), EndsWith("four\n")));
    EXPECT_THAT(ServerLog(folder.path(), 100).tail("s", 10),
                ElementsAre(EndsWith("two"), EndsWith("three"), EndsWith("four")));
    settings.server_files = 1;
    ServerLog fewer(folder.path(), 100, settings, date);
    fewer.add("s", false, "five");
    EXPECT_THAT(files_of(folder), ElementsAre(EndsWith("five\n")));
}

TEST(ServerLog, AFileIsPutAsideWhenItsFirstLineIsOldAndIsRemovedLater) {
    const test::PluginFolder folder;
    SetDate date(std::time(nullptr));  // files are as old as the system says
    const auto day = std::chrono::hours(24);
    config::LogSettings settings;
    settings.server_age = day;
    ServerLog log(folder.path(), 100, settings, date);
    log.add("s", false, "one");
    date.turn(day - std::chrono::seconds(1));
    log.add("s", false, "two");
    EXPECT_EQ(files_of(folder).size(), 1u);
    date.turn(std::chrono::seconds(1));
    log.add("s", false, "three");
    EXPECT_THAT(files_of(folder), ElementsAre(EndsWith("two\n"), EndsWith("three\n")));
    // The next host, which has not written there yet.
    date.turn(day);
    ServerLog(folder.path(), 100, settings, date).add("s", false, "four");
    EXPECT_THAT(files_of(folder), ElementsAre(EndsWith("three\n"), EndsWith("four\n")));
}

TEST(ServerLog, AFileThatIsFullMakesRoomForTheNextGeneration) {
    const test::PluginFolder folder;
    folder.write("s.log", "2026-01-01T00:00:00Z stderr " + std::string(300, 'x'));
    const auto old = folder.path() + "/s.log.1";
    const SetDate date;
    {
        ServerLog log(folder.path(), 100, sized(330), date);
        log.add("s", false, "goes in");  // not over the limit yet
        EXPECT_FALSE(std::filesystem::exists(old));
        log.add("s", false, "makes room");
        log.add("s", false, "follows");
    }
    EXPECT_THAT(test::read_file(old), EndsWith(" stderr goes in\n"));
    EXPECT_THAT(test::read_file(folder.path() + "/s.log"),
                AllOf(HasSubstr(" stderr makes room\n"), EndsWith(" stderr follows\n"),
                      Not(HasSubstr("goes in"))));
}

TEST(ServerLog, AFolderThatCannotBeIsToldOfOnceAndMemoryGoesOn) {
    const test::PluginFolder folder;
    ServerLog log(folder.write("file", "") + "/logs", 100);
    ::testing::internal::CaptureStderr();
    log.add("s", false, "one");
    log.add("s", false, "two");
    const auto told = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(told, HasSubstr("/logs/s.log: "));
    EXPECT_THAT(told, HasSubstr("server output is kept in memory only"));
    EXPECT_EQ(told.find("cannot write"), told.rfind("cannot write"));
    EXPECT_EQ(log.tail("s", 10).size(), 2u);
}

// What cannot be written is told, and the next line after a while is written again.
TEST(ServerLog, AFullDiskIsToldOfAndTriedAgainAMinuteLater) {
    const test::PluginFolder folder;
    SetDate date(1'790'000'000);
    ServerLog log(folder.path(), 9'000, {}, date);
    rlimit before{}, less{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    less = before;
    less.rlim_cur = 4'096;
    const auto handler = ::signal(SIGXFSZ, SIG_IGN);
    ::testing::internal::CaptureStderr();
    ::setrlimit(RLIMIT_FSIZE, &less);
    log.add("s", false, std::string(8'000, 'x'));
    log.add("s", false, std::string(8'000, 'y'));
    ::setrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, handler);
    log.add("s", false, "kept in memory");
    const auto told = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(told, HasSubstr("server output is kept in memory only"));
    EXPECT_EQ(told.find("cannot write"), told.rfind("cannot write"));
    EXPECT_EQ(log.tail("s", 10).size(), 3u);
    date.turn(ServerLog::kAgain);
    log.add("s", false, "written");
    const auto file = test::read_file(folder.path() + "/s.log");
    EXPECT_THAT(file, AllOf(HasSubstr(" stderr written\n"), Not(HasSubstr("kept in memory"))));
}

TEST(ServerLog, FollowsNoLinkAndIsForItsOwnerAlone) {
    const test::PluginFolder folder;
    const auto elsewhere = folder.write("elsewhere", "");
    ServerLog log(folder.path(), 100);
    log.add("s", false, "one");
    struct stat info {};
    ASSERT_EQ(::stat((folder.path() + "/s.log").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    ASSERT_EQ(::symlink(elsewhere.c_str(), (folder.path() + "/linked.log").c_str()), 0);
    ::testing::internal::CaptureStderr();
    log.add("linked", false, "one");
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("linked.log"));
    EXPECT_EQ(test::read_file(elsewhere), "");
}

}  // namespace
}  // namespace patchbay::app
