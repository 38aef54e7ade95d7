// Changes at paths that lead through folders and links, some of which are not there yet.
#include "app/path_watch.hpp"

#include "support/scratch_folder.hpp"
#include "support/turned_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <sys/resource.h>

namespace patchbay::app {
namespace {

namespace fs = std::filesystem;

void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
}

class PathWatchTest : public ::testing::Test {
protected:
    bool changes() {
        const int before = changed;
        return loop.run_until([&] { return changed > before; },
                              core::Clock::now() + std::chrono::seconds(20));
    }
    const test::ScratchFolder folder;
    core::Loop loop;
    int changed = 0;
    PathWatch watch{loop, [this] { ++changed; }};
};

TEST_F(PathWatchTest, HearsOfAFileInFoldersThatComeLater) {
    watch.watch({folder / "a/b/config.toml"});
    fs::create_directories(folder / "a");
    EXPECT_TRUE(changes());
    fs::create_directories(folder / "a/b");
    EXPECT_TRUE(changes());
    write(folder / "a/b/config.toml", "x = 1");
    EXPECT_TRUE(changes());
    fs::rename(folder / "a", folder / "other");
    fs::create_directories(folder / "a/b");
    write(folder / "a/b/config.toml.new", "x = 2");
    fs::rename(folder / "a/b/config.toml.new", folder / "a/b/config.toml");
    EXPECT_TRUE(changes());
    fs::remove(folder / "a/b/config.toml");
    EXPECT_TRUE(changes());
}

TEST_F(PathWatchTest, HearsOfAFolderThatLeavesOneOfAll) {
    fs::create_directories(folder / "all/mine");
    fs::permissions(folder / "all", fs::perms::all | fs::perms::sticky_bit);
    write(folder / "all/mine/config.toml", "x = 1");
    PathWatch left_out(
        loop, [this] { ++changed; }, PathWatch::IsDistant(), OfAll::LeftOut);
    left_out.watch({folder / "all/mine/config.toml"});
    fs::rename(folder / "all/mine", folder / "all/other");
    EXPECT_TRUE(changes());
    fs::create_directories(folder / "all/mine");
    EXPECT_TRUE(changes());
    write(folder / "all/mine/config.toml", "x = 2");
    EXPECT_TRUE(changes());
}

TEST_F(PathWatchTest, HearsOfNothingElseInTheFolder) {
    write(folder / "config.toml", "");
    watch.watch({folder / "config.toml"});
    for (int i = 0; i < 100; ++i) write(folder / ("other" + std::to_string(i)), "");
    write(folder / "config.toml", "x = 1");
    EXPECT_TRUE(changes());
    EXPECT_EQ(changed, 1) << "several changes are told as one";
}

class WatchedFiles : public ::testing::Test {
protected:
    static constexpr std::chrono::milliseconds kMoment{1};

    WatchedFiles() {
        for (const auto& path : {config, other}) write(path, "before");
        watch.watch({config, other});
    }
    const test::ScratchFolder folder;
    const std::string config = folder / "config.toml", other = folder / "other.toml";
    test::TurnedLoop loop;
    int changed = 0;
    PathWatch watch{loop, [this] { ++changed; }};
};

TEST_F(WatchedFiles, AreToldOfAsSoonAsTheirWriterIsDone) {
    write(config, "x = 1");
    EXPECT_FALSE(watch.somebody_writes());
    loop.pass(PathWatch::kQuiet + kMoment);
    EXPECT_EQ(changed, 1);
    write(config + ".new", "x = 2");
    fs::rename(config + ".new", config);
    loop.pass(PathWatch::kQuiet + kMoment);
    EXPECT_EQ(changed, 2);
    for (const auto& path : {config, other}) {
        write(path, "of one save");
        loop.pass(PathWatch::kQuiet / 2);
    }
    loop.pass(PathWatch::kQuiet + kMoment);
    EXPECT_EQ(changed, 3) << "two files are one change";
}

TEST_F(WatchedFiles, AreNotToldOfWhileSomebodyWrites) {
    std::ofstream half(config);
    half << "half of" << std::flush;
    EXPECT_TRUE(watch.somebody_writes());
    write(other, "x = 1");
    loop.pass(PathWatch::kSettle - kMoment);
    EXPECT_EQ(changed, 0);
    half << "it" << std::flush;
    loop.pass(PathWatch::kSettle - kMoment);
    EXPECT_EQ(changed, 0);
    half.close();
    EXPECT_FALSE(watch.somebody_writes());
    loop.pass(PathWatch::kQuiet + kMoment);
    EXPECT_EQ(changed, 1);
}

TEST_F(WatchedFiles, AreOpenFromWhatIsWrittenUntilTheyAreClosed) {
    std::ofstream half(config);
    half << "half of" << std::flush;
    loop.pass(PathWatch::kAtMost);
    EXPECT_EQ(changed, 1);
    EXPECT_FALSE(watch.somebody_writes()) << "nothing more has happened";
    EXPECT_TRUE(watch.is_open()) << "but it is open still";
    write(other, "x = 1");
    EXPECT_TRUE(watch.is_open());
    half << " it" << std::flush;
    half.close();
    EXPECT_FALSE(watch.is_open());
    loop.pass(PathWatch::kQuiet + kMoment);
    EXPECT_EQ(changed, 2) << "that it is closed is told";
}

TEST_F(WatchedFiles, AreOpenWhileTheyAreMade) {
    fs::remove(config);
    std::ofstream half(config);
    half << "half of" << std::flush;
    EXPECT_TRUE(watch.is_open()) << "it was written before it could be watched";
    half.close();
    EXPECT_FALSE(watch.is_open());
    fs::remove(other);
    fs::create_hard_link(config, other);
    EXPECT_FALSE(watch.is_open()) << "nobody writes what is linked to";
}

TEST_F(WatchedFiles, AreClosedByWhicheverNameTheyWereOpenedBy) {
    fs::create_hard_link(config, folder / "elsewhere");
    std::ofstream half(folder / "elsewhere", std::ios::app);
    half << "half of" << std::flush;
    EXPECT_TRUE(watch.is_open());
    half.close();
    EXPECT_FALSE(watch.is_open());
}

TEST_F(WatchedFiles, AreNotOpenForWhoWritesWhatWasThereBefore) {
    std::ofstream old(config);
    old << "half of" << std::flush;
    write(config + ".new", "x = 1");
    fs::rename(config + ".new", config);
    EXPECT_FALSE(watch.is_open());
    old << " it" << std::flush;
    EXPECT_FALSE(watch.is_open());
    write(config, "x = 2");
    loop.pass(PathWatch::kQuiet + kMoment);
    EXPECT_EQ(changed, 1);
}

TEST_F(WatchedFiles, ThatAreOpenAlwaysAreSoUntilTheyAreForgotten) {
    std::ofstream half(config, std::ios::app);
    half << "a line" << std::flush;
    EXPECT_TRUE(watch.is_open());
    watch.forget_writers();
    EXPECT_FALSE(watch.is_open());
    half << "another" << std::flush;
    EXPECT_TRUE(watch.is_open());
}

TEST_F(WatchedFiles, AreHeardOfWhenTheyAreWrittenInPlaceThoughTheyAreNew) {
    write(config + ".new", "x = 1");
    fs::rename(config + ".new", config);
    EXPECT_FALSE(watch.somebody_writes());
    std::ofstream half(config, std::ios::app);
    half << "half" << std::flush;
    EXPECT_TRUE(watch.somebody_writes());
    half.close();
    loop.pass(PathWatch::kQuiet + kMoment);
    EXPECT_EQ(changed, 1);
    half.open(config, std::ios::app);
    half << "half" << std::flush;
    EXPECT_TRUE(watch.somebody_writes());
}

// As by an editor that keeps the file under another name, a checkout, and a script of several commands.
TEST_F(WatchedFiles, AreNotToldOfWhileTheyAreGoneForAMoment) {
    fs::rename(config, config + "~");
    loop.pass(PathWatch::kSettle / 2);
    EXPECT_TRUE(watch.somebody_writes());
    write(config, "x = 1");
    loop.pass(PathWatch::kQuiet + kMoment);
    EXPECT_EQ(changed, 1);
    fs::remove(config);
    loop.pass(PathWatch::kSettle / 2);
    EXPECT_EQ(changed, 1);
    write(config, "");
    loop.pass(PathWatch::kSettle / 2);
    EXPECT_EQ(changed, 1) << "an empty one is written to next";
    write(config, "x = 2");
    loop.pass(PathWatch::kQuiet + kMoment);
    EXPECT_EQ(changed, 2);
    fs::remove(config);
    loop.pass(PathWatch::kSettle + kMoment);
    EXPECT_EQ(changed, 3) << "gone it is in the end";
    EXPECT_FALSE(watch.somebody_writes());
}

TEST_F(WatchedFiles, AreToldOfAtLastThoughSomebodyKeepsWriting) {
    std::ofstream half(config);
    for (auto passed = PathWatch::kSettle.zero(); passed < PathWatch::kAtMost;
         passed += PathWatch::kSettle / 2) {
        EXPECT_EQ(changed, 0);
        half << "more" << std::flush;
        loop.pass(PathWatch::kSettle / 2);
    }
    loop.pass(kMoment);
    EXPECT_EQ(changed, 1);
}

TEST_F(WatchedFiles, AreToldOfOnceMoreWhenThatIsAskedFor) {
    watch.tell_again();
    loop.pass(PathWatch::kSettle - kMoment);
    EXPECT_EQ(changed, 0);
    loop.pass(2 * kMoment);
    EXPECT_EQ(changed, 1);
    loop.pass(PathWatch::kAtMost);
    EXPECT_EQ(changed, 1);
}

// inotify has no descriptor to give for as long as it lives.
class NoDescriptors {
public:
    NoDescriptors() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit none{0, before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

TEST(PathLook, WhereNothingIsWatchedFilesAreLookedAt) {
    const test::ScratchFolder folder;
    test::TurnedLoop loop;
    int changed = 0;
    std::optional<PathWatch> watch;
    {
        const NoDescriptors none;
        watch.emplace(loop, [&] { ++changed; });
    }
    watch->watch({folder / "config.toml"});
    EXPECT_THAT(watch->looks_because(), ::testing::HasSubstr("no watch left"));
    loop.pass(5 * PathWatch::kLook);
    EXPECT_EQ(changed, 0) << "nothing is another one";
    for (const char* text : {"x = 1", "x = 12"}) {
        write(folder / "config.toml", text);
        loop.pass(2 * PathWatch::kLook);
    }
    EXPECT_EQ(changed, 2);
    fs::remove(folder / "config.toml");
    loop.pass(2 * PathWatch::kLook);
    EXPECT_EQ(changed, 3);
}

TEST(PathLook, ADiskOfAnotherMachineIsLookedAtToo) {
    const test::ScratchFolder folder;
    test::TurnedLoop loop;
    PathWatch watch(
        loop, [] {}, [](const std::string&) { return true; });
    watch.watch({folder / "config.toml"});
    EXPECT_THAT(watch.looks_because(), ::testing::HasSubstr("on a disk of another machine"));
    PathWatch other(loop, [] {});
    other.watch({folder / "config.toml"});
    EXPECT_EQ(other.looks_because(), "");
}

}  // namespace
}  // namespace patchbay::app
