#include "app/server_log.hpp"

#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
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

TEST(ServerLog, AFileThatIsFullMakesRoomForTheNextGeneration) {
    const test::PluginFolder folder;
    folder.write("s.log", std::string(ServerLog::kFileBytes, 'x'));
    const auto old = folder.path() + "/s.log.1";
    {
        ServerLog log(folder.path(), 100);
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
