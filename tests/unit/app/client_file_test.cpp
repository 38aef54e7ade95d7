// A file of another program, and whoever writes it at the same time.
#include "app/client_file.hpp"

#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace patchbay::app {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ClientFiles : public ::testing::Test {
protected:
    void put(const std::string& text) const { std::ofstream(path_) << text; }
    std::string text() const {
        std::ifstream stream(path_);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    Result<void> replace(const ClientFile& file, const std::string& text) {
        return file.replace(text, ClientFile::Readers::User, made_);
    }

    const test::ScratchFolder folder_;
    const std::string path_ = folder_ / "settings.json";
    std::vector<std::string> made_;
};

TEST_F(ClientFiles, WhatSomebodyHasWrittenSinceItWasReadStays) {
    put("one");
    const auto file = ClientFile::read(path_);
    ASSERT_TRUE(file);
    put("two");
    const auto refused = replace(*file, "ours");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Unavailable);
    EXPECT_THAT(refused.error().message, HasSubstr("was written by somebody else meanwhile"));
    EXPECT_FALSE(file->remove());
    EXPECT_EQ(text(), "two");
    // Another file with the same text is another file: its writer may not be done.
    put("one");
    fs::rename(path_, path_ + ".old");
    put("one");
    EXPECT_FALSE(replace(*file, "ours"));
    EXPECT_EQ(text(), "one");
}

TEST_F(ClientFiles, OneThatSomebodyMadeMeanwhileStays) {
    const auto file = ClientFile::read(path_);
    ASSERT_TRUE(file);
    EXPECT_FALSE(file->there());
    put("theirs");
    EXPECT_FALSE(replace(*file, "ours"));
    EXPECT_EQ(text(), "theirs");
}

TEST_F(ClientFiles, MakesTheFoldersThatAreMissing) {
    const auto path = folder_ / "a/b/c.json";
    const auto file = ClientFile::read(path);
    ASSERT_TRUE(file);
    ASSERT_TRUE(replace(*file, "ours"));
    EXPECT_THAT(made_, ::testing::ElementsAre(folder_ / "a", folder_ / "a/b"));
    EXPECT_EQ(static_cast<unsigned>(fs::status(folder_ / "a").permissions()), 0700u);
    EXPECT_EQ(static_cast<unsigned>(fs::status(path).permissions()), 0600u);
}

}  // namespace
}  // namespace patchbay::app
