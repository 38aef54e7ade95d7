// Which folders and names lead to paths, through links and to what is not there.
#include "app/path_ways.hpp"

#include "support/scratch_folder.hpp"

#include <climits>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace patchbay::app {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
}

class PathWaysTest : public ::testing::Test {
protected:
    Names in(const std::string& at, const std::vector<std::string>& paths) const {
        auto names = ways_of(paths).names;
        return names[at];
    }
    const test::ScratchFolder folder;
};

TEST_F(PathWaysTest, AreTheNamesOfTheFileAndOfEachLink) {
    fs::create_directories(folder / "data");
    write(folder / "data/real.toml", "");
    fs::create_directory_symlink(folder / "data", folder / "current");
    fs::create_symlink("current/real.toml", folder / "config.toml");
    EXPECT_EQ(in(folder.path(), {folder / "config.toml"}),
              (Names{"config.toml", "current", "data"}));
    EXPECT_EQ(in(folder / "data", {folder / "config.toml"}), Names{"real.toml"});
}

TEST_F(PathWaysTest, EndAtTheFirstNameThatIsNotThere) {
    EXPECT_EQ(in(folder.path(), {folder / "none/of/it"}), Names{"none"});
    EXPECT_EQ(in(folder.path(), {folder / "none/of/it", folder / "none/of/other"}), Names{"none"});
    EXPECT_EQ(ways_of({folder / "none/of/it"}).names.count(folder / "none"), 0u);
    write(folder / "file", "");
    EXPECT_EQ(in(folder.path(), {folder / "file/under"}), Names{"file"});
}

// To watch such a folder, of which /tmp is one, costs milliseconds where many names are in it.
TEST_F(PathWaysTest, LeaveOutAFolderOfAllWhereTheNextIsThere) {
    fs::create_directories(folder / "all/mine");
    fs::permissions(folder / "all", fs::perms::all | fs::perms::sticky_bit);
    EXPECT_EQ(in(folder / "all", {folder / "all/mine/config.toml"}), Names{"mine"})
        << "unless that is said";
    const auto names = ways_of({folder / "all/mine/config.toml"}, OfAll::LeftOut).names;
    EXPECT_EQ(names.count(folder / "all"), 0u);
    EXPECT_EQ(names.at(folder / "all/mine"), Names{"config.toml"});
    EXPECT_EQ(ways_of({folder / "all/mine"}, OfAll::LeftOut).names.at(folder / "all/mine"),
              Names{});
}

TEST_F(PathWaysTest, LeadThroughAFolderOfAllWhereItMayTellOfMoreThanAFolderThatGoes) {
    fs::create_directories(folder / "all/mine");
    fs::permissions(folder / "all", fs::perms::all | fs::perms::sticky_bit);
    fs::create_directory_symlink("mine", folder / "all/link");
    write(folder / "all/file", "");
    fs::create_directory_symlink(folder / "all/mine", folder / "all/far");
    const auto names = ways_of({folder / "all/none/x", folder / "all/file", folder / "all/link/x",
                                folder / "all/mine/x", folder / "all/far/x"},
                               OfAll::LeftOut)
                           .names;
    EXPECT_EQ(names.at(folder / "all"), (Names{"far", "file", "link", "none"}));
}

TEST_F(PathWaysTest, OfSeveralPathsAreTheirsTogether) {
    fs::create_directories(folder / "real/deep");
    fs::create_directory_symlink("real", folder / "link");
    const std::vector<std::string> paths{folder / "link/deep/a", folder / "link/deep/b",
                                         folder / "real/deep/c", folder / "link/d",
                                         folder / "link/deep/../e"};
    EXPECT_EQ(in(folder.path(), paths), (Names{"link", "real"}));
    EXPECT_EQ(in(folder / "real", paths), (Names{"d", "deep", "e"}));
    EXPECT_EQ(in(folder / "real/deep", paths), (Names{"a", "b", "c"}));
}

TEST_F(PathWaysTest, ThroughLinksThatLeadInCirclesAreLost) {
    fs::create_symlink(folder / "loop", folder / "loop");
    fs::create_symlink("there/x", folder / "here");
    fs::create_symlink("here/x", folder / "there");
    EXPECT_EQ(in(folder.path(), {folder / "loop/file"}), Names{"loop"});
    EXPECT_EQ(in(folder.path(), {folder / "here/file"}), (Names{"here", "there"}));
    EXPECT_TRUE(ways_of({folder / "here/file"}).all);
}

// A folder per level, and in each some files: no more is looked at than there is.
TEST_F(PathWaysTest, ThroughDeepFoldersAreAllFoundWithinTheLimit) {
    constexpr int kLevels = 256;
    std::string deep = folder.path();
    std::vector<std::string> paths;
    for (int level = 0; level < kLevels; ++level) {
        deep += "/d";
        for (int file = 0; file < 10; ++file) paths.push_back(deep + "/" + std::to_string(file));
    }
    fs::create_directories(deep);
    const auto ways = ways_of(paths);
    EXPECT_TRUE(ways.all) << "each of " << paths.size() << " paths has " << kLevels / 2
                          << " folders above it on average";
    EXPECT_EQ(ways.names.at(deep).size(), 10u);
}

TEST_F(PathWaysTest, ThatLinksMakeEndlessAreCutAndThatIsSaid) {
    fs::create_directories(folder / "d");
    std::string round;
    while (round.size() + 5 < PATH_MAX - folder.path().size() - 2) round += "d/../";
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < 2 * PathWays::kMostParts / (round.size() / 5); ++i) {
        paths.push_back(folder / ("link" + std::to_string(i)));
        fs::create_symlink(round + "file", paths.back());
    }
    EXPECT_FALSE(ways_of(paths).all);
}

TEST_F(PathWaysTest, OfWhatNoSystemCallTakesThereAreNone) {
    std::string path;
    while (path.size() < PATH_MAX) path += "/d";
    EXPECT_TRUE(ways_of({path}).names.empty());
}

}  // namespace
}  // namespace patchbay::app
