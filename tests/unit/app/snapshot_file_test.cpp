#include "app/snapshot_file.hpp"

#include "registry/plan.hpp"
#include "support/config_of.hpp"
#include "support/scratch_folder.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

namespace patchbay::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SnapshotFileTest : public ::testing::Test {
protected:
    static std::shared_ptr<const registry::Snapshot> snapshot(const std::string& command) {
        return registry::snapshot_of(test::config_of("[servers.a]\ncommand = \"" + command +
                                                     "\"\nenv = {TOKEN = \"hush\"}"));
    }
    void write(const std::string& text) const {
        std::ofstream(file.path()) << text;
        ASSERT_EQ(::chmod(file.path().c_str(), 0600), 0);
    }
    static unsigned mode_of(const std::string& path) {
        struct stat info {};
        EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
        return info.st_mode & 07777;
    }

    const test::ScratchFolder folder;
    const std::string state = folder / "state";
    const SnapshotFile file{state, "/srv/app"};
};

TEST_F(SnapshotFileTest, SaysWhatWasRememberedOfThatFolder) {
    EXPECT_EQ(*file.read(), std::nullopt) << "nothing yet";
    ASSERT_TRUE(file.remember(*snapshot("x")));
    const auto read = SnapshotFile(state, "/srv/app").read();
    ASSERT_TRUE(read && *read);
    const auto& before = **read;
    EXPECT_TRUE(registry::plan(before, registry::imprint_of(*snapshot("x"), before.salt)).empty());
    const auto after = registry::plan(before, registry::imprint_of(*snapshot("y"), before.salt));
    ASSERT_EQ(after.restart.size(), 1u);
    EXPECT_EQ(*SnapshotFile(state, "/srv/other").read(), std::nullopt);
    EXPECT_EQ(*SnapshotFile(state, "").read(), std::nullopt);
}

TEST_F(SnapshotFileTest, IsForThisUserAloneAndHoldsNoValue) {
    ASSERT_TRUE(file.remember(*snapshot("deploy-tool")));
    EXPECT_EQ(mode_of(file.path()), 0600u);
    EXPECT_EQ(mode_of(state + "/snapshots"), 0700u);
    const auto text = test::read_file(file.path());
    EXPECT_THAT(text, HasSubstr("/srv/app"));
    EXPECT_THAT(text, Not(HasSubstr("hush")));
    EXPECT_THAT(text, Not(HasSubstr("deploy-tool")));
}

TEST_F(SnapshotFileTest, EachHasASaltOfItsOwn) {
    ASSERT_TRUE(file.remember(*snapshot("x")));
    const auto first = (*file.read())->salt;
    ASSERT_TRUE(file.remember(*snapshot("x")));
    EXPECT_NE((*file.read())->salt, first);
    EXPECT_EQ(first.size(), 32u);
}

TEST_F(SnapshotFileTest, ThatCannotBeReadIsToldAndNotWrittenOver) {
    ASSERT_TRUE(file.remember(*snapshot("x")));
    const auto good = test::read_file(file.path());
    struct Case {
        std::string text;
        ErrorCode code;
        const char* says;
    };
    const Case cases[] = {
        {"", ErrorCode::Protocol, "is not valid JSON"},
        {good.substr(0, good.size() / 2), ErrorCode::Protocol, "is not valid JSON"},
        {"[]", ErrorCode::Protocol, "move it away"},
        {"{}", ErrorCode::Protocol, "is no snapshot of patchbay"},
        {R"({"version":1,"projects":{}})", ErrorCode::Protocol, "is no snapshot of patchbay"},
        {R"({"version":"1","snapshot":{}})", ErrorCode::Protocol, "is no snapshot of patchbay"},
        {R"({"version":1,"snapshot":{}})", ErrorCode::Protocol, "is damaged: \"salt\""},
        {R"({"version":2,"snapshot":{"new":true}})", ErrorCode::Unsupported,
         "was written by a newer patchbay (version 2, this one knows 1)"},
        {std::string(SnapshotFile::kFileBytes + 1, ' '), ErrorCode::Limit, "8"},
    };
    for (const auto& each : cases) {
        SCOPED_TRACE(each.text.substr(0, 60));
        write(each.text);
        const auto read = file.read();
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code, each.code) << read.error().message;
        EXPECT_THAT(read.error().message, HasSubstr(each.says));
        EXPECT_THAT(read.error().message, HasSubstr(file.path()));
        const auto written = file.remember(*snapshot("y"));
        ASSERT_FALSE(written);
        EXPECT_EQ(test::read_file(file.path()), each.text) << "nothing of it is lost";
    }
}

TEST_F(SnapshotFileTest, ThatOthersCouldWriteIsNotBelieved) {
    ASSERT_TRUE(file.remember(*snapshot("x")));
    ASSERT_EQ(::chmod(file.path().c_str(), 0666), 0);
    EXPECT_EQ(file.read().error().code, ErrorCode::Denied);
    EXPECT_EQ(file.remember(*snapshot("x")).error().code, ErrorCode::Denied);
}

}  // namespace
}  // namespace patchbay::app
