// Where exec would find a program, and what is told when it finds none.
#include "core/program.hpp"

#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace patchbay::core {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class Program : public ::testing::Test {
protected:
    Program() {
        for (const auto* folder : {"/a", "/b", "/b/tool-folder"})
            fs::create_directories(root + folder);
        put("/a/plain", fs::perms::owner_read);
        put("/b/plain", fs::perms::owner_all);
        put("/b/tool", fs::perms::owner_all);
    }

    void put(const std::string& name, fs::perms mode) const {
        std::ofstream(root + name) << "#!/bin/sh\n";
        fs::permissions(root + name, mode);
    }
    std::string found(const std::string& name, const std::string& path,
                      const std::string& cwd = {}) const {
        const auto program = find_on_path(name, path, cwd);
        return program ? *program : program.error().message;
    }

    const test::ScratchFolder scratch;
    const std::string root = scratch.path();
};

TEST_F(Program, IsARegularFileThatMayBeExecuted) {
    EXPECT_EQ(trouble_with_program(root + "/b/tool"), "");
    EXPECT_EQ(trouble_with_program(root + "/a"), "is a directory");
    EXPECT_THAT(trouble_with_program(root + "/a/plain"), HasSubstr("is not executable"));
    EXPECT_EQ(trouble_with_program("/dev/null"), "is not executable (chmod +x?)");
    EXPECT_EQ(trouble_with_program(root + "/none"), "No such file or directory");
}

TEST_F(Program, IsTheFirstOfPathThatCanBeExecuted) {
    EXPECT_EQ(found("tool", root + "/a:" + root + "/b"), root + "/b/tool");
    EXPECT_EQ(found("plain", root + "/a:" + root + "/b"), root + "/b/plain") << "past what is none";
    EXPECT_EQ(found("tool", root + "/b:" + root + "/a"), root + "/b/tool");
}

TEST_F(Program, OfARelativeFolderIsSoughtFromWhereItIsStarted) {
    EXPECT_EQ(found("tool", "b", root), "b/tool");
    EXPECT_EQ(found("tool", "", root + "/b"), "./tool") << "an empty folder is where we are";
    EXPECT_EQ(found("tool", "/nowhere:", root + "/b"), "./tool") << "the last one too";
    EXPECT_THAT(found("tool", "b", root + "/a"), HasSubstr("not found"));
    EXPECT_EQ(found("tool", root + "/b", root + "/a"), root + "/b/tool");
}

TEST_F(Program, ThatIsNotFoundIsToldWithWhatWasInTheWay) {
    EXPECT_THAT(found("tool", root + "/a"),
                AllOf(HasSubstr("command \"tool\" not found in the 1 folder of PATH; install it"),
                      Not(HasSubstr(root))));
    EXPECT_THAT(found("tool-folder", root + "/a:" + root + "/b"),
                HasSubstr("in the 2 folders of PATH; " + root + "/b/tool-folder is a directory"));
    EXPECT_EQ(find_on_path("tool", root + "/a", "").error().code, ErrorCode::NotFound);
}

TEST_F(Program, BehindLinksIsTheFileItself) {
    fs::create_symlink(root + "/b/tool", root + "/a/link");
    EXPECT_EQ(behind_links(root + "/a/../a/link"), root + "/b/tool");
    fs::remove(root + "/b/tool");
    EXPECT_EQ(behind_links(root + "/a/link"), "");
}

}  // namespace
}  // namespace patchbay::core
