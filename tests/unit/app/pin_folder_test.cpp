#include "app/pin_folder.hpp"

#include "pins/approval.hpp"
#include "support/killed_at.hpp"
#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>

namespace patchbay::app {
namespace {

namespace fs = std::filesystem;
using pins::Basis;
using pins::Key;
using pins::Part;
using pins::Record;
using pins::Texts;
using ::testing::AllOf;
using ::testing::HasSubstr;

pins::Store::Change adding(const std::string& tool, Basis basis = Basis::Used) {
    return [tool, basis](Record record) -> Result<Record> {
        record.server = "x";
        record.pins[{Part::Tools, tool}] = {pins::digest_of(tool), basis, 1, "mcp__x__" + tool,
                                            tool};
        return record;
    };
}

class PinFolderTest : public ::testing::Test {
protected:
    void write(const Key& key, const std::string& text) const {
        fs::create_directories(path);
        ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
        const auto file = file_of(key);
        std::ofstream(file) << text;
        ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
    }
    std::string file_of(const Key& key) const { return path + "/" + PinFolder::file_of(key); }
    std::size_t records() const {
        std::size_t count = 0;
        for (const auto& each : fs::directory_iterator(path))
            count += each.path().extension() == ".json" ? 1 : 0;
        return count;
    }

    const test::ScratchFolder scratch;
    const std::string path = scratch / "pins";
    core::Loop loop;
    const Key x{"x", "", "definition"};
};

TEST_F(PinFolderTest, KeepsWhatWasChangedForTheNextProcess) {
    PinFolder one(loop, path), other(loop, path);
    EXPECT_FALSE(one.read(x, Texts::Read)->has_value());
    ASSERT_TRUE(one.change_now(x, adding("echo")));
    EXPECT_TRUE(other.is_other(x)) << "it has not read it";
    const auto read = other.read(x, Texts::Read);
    ASSERT_TRUE(read && *read);
    EXPECT_EQ((**read).find({Part::Tools, "echo"})->text, "echo");
    EXPECT_FALSE(other.is_other(x));
    ASSERT_TRUE(one.change_now(x, adding("add")));
    EXPECT_TRUE(other.is_other(x));
    struct stat about {};
    ASSERT_EQ(::stat(file_of(x).c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600u);
}

TEST_F(PinFolderTest, ChangesWhatOthersHaveWrittenMeanwhile) {
    PinFolder one(loop, path), other(loop, path);
    ASSERT_TRUE(one.read(x, Texts::Read));
    ASSERT_TRUE(other.change_now(x, adding("add")));
    const auto both = one.change_now(x, adding("echo"));
    ASSERT_TRUE(both);
    EXPECT_EQ(both->pins.size(), 2u);
}

TEST_F(PinFolderTest, TellsWhenItIsOnTheDisk) {
    PinFolder one(loop, path);
    std::optional<Result<Record>> kept;
    one.change(x, adding("echo"), [&](Result<Record> now) { kept.emplace(std::move(now)); });
    EXPECT_FALSE(kept) << "told from inside the call";
    ASSERT_TRUE(loop.run_until([&] { return kept.has_value(); },
                               core::Clock::now() + std::chrono::seconds(20)));
    ASSERT_TRUE(*kept);
    EXPECT_TRUE(fs::exists(file_of(x)));
}

TEST_F(PinFolderTest, EachServerOfACheckoutAndEachDefinitionHasAFileOfItsOwn) {
    const Key keys[] = {x,
                        {"y", "", "definition"},
                        {"x", "", "other"},
                        {"x", "/work", ""},
                        {"x", "/other", ""},
                        {"x", "definition", ""}};
    PinFolder all(loop, path);
    for (const auto& key : keys) ASSERT_TRUE(all.change_now(key, adding("echo")));
    EXPECT_EQ(records(), std::size(keys));
    EXPECT_EQ(PinFolder::file_of({"x", "/work", "one"}), PinFolder::file_of({"x", "/work", "two"}))
        << "whatever the checkout makes of it";
}

TEST_F(PinFolderTest, ARecordThatMakesNoSenseIsNotWrittenOver) {
    for (const auto* text : {"", "{", "[]", R"({"version":7,"whole":[],"pins":[]})", "\x01\x02"}) {
        SCOPED_TRACE(text);
        write(x, text);
        PinFolder all(loop, path);
        const auto read = all.read(x, Texts::LeftOut);
        ASSERT_FALSE(read);
        EXPECT_THAT(read.error().message,
                    AllOf(HasSubstr(file_of(x)), HasSubstr("move the file away"),
                          HasSubstr("patchbay trust ID --tools")));
        EXPECT_FALSE(all.change_now(x, adding("echo")));
        std::ifstream now(file_of(x));
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(now), {}), text);
    }
}

TEST_F(PinFolderTest, ARecordThatOthersMayWriteIsNotBelieved) {
    PinFolder all(loop, path);
    ASSERT_TRUE(all.change_now(x, adding("echo")));
    ASSERT_EQ(::chmod(file_of(x).c_str(), 0666), 0);
    const auto read = all.read(x, Texts::LeftOut);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::Denied);
}

TEST_F(PinFolderTest, WhatCannotBeWrittenIsAnErrorWithThePath) {
    fs::create_directories(path);
    std::ofstream(scratch / "file") << "no folder";
    PinFolder all(loop, (scratch / "file") + std::string("/pins"));
    const auto kept = all.change_now(x, adding("echo"));
    ASSERT_FALSE(kept);
    EXPECT_THAT(kept.error().message, HasSubstr("file"));
}

TEST_F(PinFolderTest, WhoeverIsKilledLeavesTheOldRecordOrTheNewOne) {
    const auto old = pins::to_text(*adding("old")(Record()));
    int killed = 0;
    for (int nth = 1; nth < 100; ++nth) {
        write(x, old);
        const auto outcome = test::killed_at(nth, scratch.path(), [&] {
            core::Loop own;
            return PinFolder(own, path).change_now(x, adding("new")) ? 0 : 1;
        });
        PinFolder next(loop, path);
        const auto read = next.read(x, Texts::Read);
        ASSERT_TRUE(read && *read) << "killed before " << outcome.last_call << " (" << nth << ")";
        EXPECT_TRUE((**read).find({Part::Tools, "old"}));
        if (!outcome.killed) {
            EXPECT_EQ(outcome.exit_code, 0);
            EXPECT_TRUE((**read).find({Part::Tools, "new"}));
            break;
        }
        ++killed;
    }
    EXPECT_GE(killed, 3);
}

TEST_F(PinFolderTest, ForgetsWhatItIsToldTo) {
    PinFolder all(loop, path);
    EXPECT_FALSE(*all.remove(x));
    ASSERT_TRUE(all.change_now(x, adding("echo")));
    EXPECT_TRUE(*all.remove(x));
    EXPECT_FALSE(all.read(x, Texts::Read)->has_value());
}

TEST_F(PinFolderTest, OfVeryManyTheOldestGoButForWhatSomebodyApproved) {
    PinFolder all(loop, path);
    const auto approved = Key{"approved", "", "d"};
    ASSERT_TRUE(all.change_now(approved, adding("echo", Basis::Approved)));
    ASSERT_TRUE(all.change_now({"oldest", "", "d"}, adding("echo")));
    const auto text = pins::to_text(*adding("echo")(Record()));
    for (std::size_t i = records(); i < PinFolder::kMostFiles; ++i)
        write({"n" + std::to_string(i), "", "d"}, text);
    using namespace std::chrono_literals;
    const auto now = fs::last_write_time(file_of(approved));
    fs::last_write_time(file_of(approved), now - 48h);
    fs::last_write_time(file_of({"oldest", "", "d"}), now - 24h);
    ASSERT_TRUE(all.change_now(x, adding("echo")));
    EXPECT_EQ(records(), PinFolder::kMostFiles);
    EXPECT_TRUE(fs::exists(file_of(approved)));
    EXPECT_FALSE(fs::exists(file_of({"oldest", "", "d"})));
    EXPECT_TRUE(fs::exists(file_of(x)));
}

}  // namespace
}  // namespace patchbay::app
