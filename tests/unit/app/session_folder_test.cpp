#include "app/session_folder.hpp"

#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::app {
namespace {

using gateway::SessionRecord;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

SessionRecord subscribed_to(const std::string& uri) {
    return {false, {"info", {uri}}};
}

class SessionFolderTest : public ::testing::Test {
protected:
    SessionFolder& open() { return records_.emplace(loop_, folder_.string(), limits_); }
    void close() { records_.reset(); }
    SessionRecord read(const std::string& id) {
        std::optional<SessionRecord> found;
        records_->read(id, [&](SessionRecord record) { found = std::move(record); });
        wait([&] { return found.has_value(); });
        return found.value_or(SessionRecord());
    }
    void write(const std::string& id, const SessionRecord& record) {
        bool written = false;
        records_->write(id, record, [&] { written = true; });
        wait([&] { return written; });
    }
    void wait(const std::function<bool()>& done) {
        EXPECT_TRUE(loop_.run_until(done, core::Clock::now() + 20s));
    }
    std::vector<fs::path> files() const {
        std::vector<fs::path> all;
        if (fs::exists(folder_))
            for (const auto& each : fs::recursive_directory_iterator(folder_))
                if (each.is_regular_file()) all.push_back(each.path());
        return all;
    }

    core::Loop loop_;
    const test::ScratchFolder scratch_;
    const fs::path folder_ = fs::path(scratch_.path()) / "state/sessions";
    SessionFolder::Limits limits_;
    std::optional<SessionFolder> records_;
};

TEST_F(SessionFolderTest, TheNextGatewayReadsWhatTheOneBeforeWrote) {
    open();
    EXPECT_TRUE(read("a").empty());
    write("a", subscribed_to("x:1"));
    write("a", subscribed_to("x:2"));
    write("b", {true});
    close();
    open();
    EXPECT_EQ(read("a"), subscribed_to("x:2"));
    EXPECT_TRUE(read("b").deleted);
    write("b", {});
    close();
    EXPECT_EQ(files().size(), 1u);
}

TEST_F(SessionFolderTest, TwoGatewaysAtOnceKeepEachTheirOwn) {
    open();
    core::Loop loop;
    SessionFolder other(loop, folder_.string());
    bool written = false;
    other.write("theirs", {true}, [&] { written = true; });
    write("mine", subscribed_to("x"));
    ASSERT_TRUE(loop.run_until([&] { return written; }, core::Clock::now() + 20s));
    EXPECT_TRUE(read("theirs").deleted);
    EXPECT_EQ(read("mine"), subscribed_to("x"));
}

TEST_F(SessionFolderTest, IsForThisUserAloneAndHasNoIdInIt) {
    open();
    write("secret-id", subscribed_to("x"));
    const auto all = files();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(fs::status(all.front()).permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(fs::status(folder_).permissions(), fs::perms::owner_all);
    EXPECT_EQ(all.front().string().find("secret"), std::string::npos);
    std::ifstream file(all.front());
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT_EQ(text.find("secret"), std::string::npos) << text;
}

// Of many changes in a row the last one is there, and who waits for any of them is told.
TEST_F(SessionFolderTest, WhatChangesWhileItIsWrittenIsWrittenThen) {
    open();
    int written = 0;
    for (int i = 0; i < 100; ++i)
        records_->write("a", subscribed_to(std::to_string(i)), [&] { ++written; });
    EXPECT_EQ(read("a"), subscribed_to("99")) << "also before it is on the disk";
    wait([&] { return written == 100; });
    records_->write("a", {true}, [] {});
    records_->write("a", subscribed_to("end"), [] {});
    close();  // which waits
    open();
    EXPECT_EQ(read("a"), subscribed_to("end"));
}

TEST_F(SessionFolderTest, WhatIsDamagedOrNotOursIsNotThere) {
    open();
    write("a", subscribed_to("x"));
    const auto file = files().front();
    struct Case {
        const char* what;
        std::function<void()> harm;
    };
    const Case cases[] = {
        {"cut off", [&] { fs::resize_file(file, 5); }},
        {"empty", [&] { fs::resize_file(file, 0); }},
        {"endless", [&] { fs::resize_file(file, gateway::kMostSessionRecordBytes + 1); }},
        {"others may read it", [&] { ::chmod(file.c_str(), 0644); }},
        {"a pipe", [&] { fs::remove(file), ::mkfifo(file.c_str(), 0600); }},
        {"a link", [&] { fs::remove(file), fs::create_symlink("/dev/zero", file); }},
    };
    for (const auto& each : cases) {
        SCOPED_TRACE(each.what);
        each.harm();
        EXPECT_TRUE(read("a").empty());
        write("a", subscribed_to("again"));
        EXPECT_EQ(read("a"), subscribed_to("again")) << "it is in its place";
    }
}

TEST_F(SessionFolderTest, WhereNothingCanBeWrittenTheRestGoesOn) {
    fs::create_directories(folder_.parent_path());
    std::ofstream(folder_) << "a file in the place of the folder";
    open();
    write("a", {true});
    EXPECT_TRUE(read("a").empty());
    fs::remove(folder_);
    write("a", {true});
    EXPECT_TRUE(read("a").deleted);
}

TEST_F(SessionFolderTest, TheOldestMakeRoom) {
    limits_.records = 100;
    open();
    write("first", {true});
    const auto old = files().front();
    fs::last_write_time(old, fs::file_time_type::clock::now() - 1h);
    for (int i = 0; i < 100; ++i) write(std::to_string(i), {true});
    EXPECT_TRUE(read("first").empty());
    EXPECT_TRUE(read("99").deleted);
    EXPECT_LE(files().size(), limits_.records);
    EXPECT_GE(files().size(), limits_.records / 2);
    limits_.bytes = 1'000;
    open();
    read("first");  // behind the sweep
    EXPECT_LE(files().size(), 1'000u / gateway::session_record_text({true}).size());
}

TEST_F(SessionFolderTest, WhatNobodyHasUsedForAMonthIsSweptAwayAndNothingElse) {
    open();
    write("old", {true});
    write("used", {true});
    const auto before = fs::file_time_type::clock::now() - 24h * 31;
    for (const auto& each : files()) fs::last_write_time(each, before);
    EXPECT_TRUE(read("used").deleted);  // and counts as used
    const auto stranger = folder_ / "ab" / "letter.txt";
    fs::create_directories(stranger.parent_path());
    std::ofstream(stranger) << "mine";
    fs::last_write_time(stranger, before);
    close();
    open();
    EXPECT_TRUE(read("old").empty());
    EXPECT_TRUE(read("used").deleted);
    EXPECT_TRUE(fs::exists(stranger));
}

}  // namespace
}  // namespace patchbay::app
