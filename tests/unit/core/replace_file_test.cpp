// A file that is replaced whole, and what killed writers leave.
#include "core/replace_file.hpp"

#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace patchbay::core {
namespace {

namespace fs = std::filesystem;
using ::testing::UnorderedElementsAre;

class ReplaceFile : public ::testing::Test {
protected:
    std::vector<std::string> names() const {
        std::vector<std::string> out;
        for (const auto& entry : fs::directory_iterator(folder_.path()))
            out.push_back(entry.path().filename());
        return out;
    }
    void leave(const std::string& name, std::chrono::seconds age) const {
        std::ofstream(folder_ / name) << "draft";
        fs::last_write_time(folder_ / name, fs::file_time_type::clock::now() - age);
    }
    static std::string content(const std::string& path) {
        std::string text;
        std::getline(std::ifstream(path), text);
        return text;
    }
    // The number of a process that has ended.
    static std::string ended() {
        const pid_t pid = ::fork();
        if (pid == 0) ::_exit(0);
        ::waitpid(pid, nullptr, 0);
        return std::to_string(pid);
    }

    const test::ScratchFolder folder_;
    const std::string path_ = folder_ / "eras.json";
};

TEST_F(ReplaceFile, LeavesTheNewTextAndNothingElse) {
    ASSERT_TRUE(replace_file(path_, "one"));
    ASSERT_TRUE(replace_file(path_, "two"));
    EXPECT_EQ(content(path_), "two");
    EXPECT_THAT(names(), UnorderedElementsAre("eras.json"));
    EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(ReplaceFile, RemovesTheDraftsOfProcessesThatAreGone) {
    using std::chrono::hours;
    const auto gone = ended();
    const auto there = std::to_string(::getppid());
    leave("eras.json." + gone, hours(1));
    leave("eras.json." + there, hours(1));
    leave("eras.json.bak", hours(1000));
    leave("eras.json." + gone + "x", hours(1000));
    leave("other.json." + gone, hours(1));
    ASSERT_TRUE(replace_file(path_, "text"));
    EXPECT_THAT(names(), UnorderedElementsAre("eras.json", "eras.json." + there, "eras.json.bak",
                                              "eras.json." + gone + "x", "other.json." + gone));
    leave("eras.json." + there, hours(25));
    ASSERT_TRUE(replace_file(path_, "text"));
    EXPECT_FALSE(fs::exists(path_ + "." + there)) << "another process has that number now";
}

TEST_F(ReplaceFile, LeavesADraftThatWasJustWrittenAlone) {
    const auto gone = ended();  // or in another PID namespace
    leave("eras.json." + gone, std::chrono::seconds(0));
    ASSERT_TRUE(replace_file(path_, "text"));
    EXPECT_TRUE(fs::exists(path_ + "." + gone));
}

TEST_F(ReplaceFile, ThatIsDurableIsTheSameFile) {
    ASSERT_TRUE(replace_file(path_, "one", Durable::Yes));
    ASSERT_TRUE(replace_file(path_, "two", Durable::Yes));
    EXPECT_EQ(content(path_), "two");
    EXPECT_THAT(names(), UnorderedElementsAre("eras.json"));
}

TEST_F(ReplaceFile, DoesNotFollowALinkInTheDraftsPlace) {
    fs::create_symlink(folder_ / "elsewhere", path_ + "." + std::to_string(::getpid()));
    ASSERT_TRUE(replace_file(path_, "text"));
    EXPECT_EQ(content(path_), "text");
    EXPECT_FALSE(fs::exists(folder_ / "elsewhere"));
}

TEST_F(ReplaceFile, ThatFailsNamesTheFileAndLeavesNoDraft) {
    fs::create_directory(path_);
    const auto replaced = replace_file(path_, "text");
    ASSERT_FALSE(replaced);
    EXPECT_THAT(replaced.error().message, ::testing::HasSubstr("cannot write " + path_));
    EXPECT_THAT(names(), UnorderedElementsAre("eras.json"));
    EXPECT_FALSE(replace_file("/nonexistent/folder/file", "text"));
}

}  // namespace
}  // namespace patchbay::core
