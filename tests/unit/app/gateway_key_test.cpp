// The key of session ids, on disks of every kind.
#include "app/gateway_key.hpp"

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
using ::testing::HasSubstr;

class GatewayKeyTest : public ::testing::Test {
protected:
    GatewayKeyTest() {
        fs::create_directory(folder_);
        ::chmod(folder_.c_str(), 0700);
    }
    void put(const std::string& text, mode_t mode = 0600) const {
        const auto file = folder_ / "gateway.key";
        std::ofstream(file) << text;
        ::chmod(file.c_str(), mode);
    }
    // Nobody, also not root, can write what is needed to make one.
    void let_nobody_write() const { fs::create_directory(folder_ / "gateway.lock"); }
    GatewayKey get() const {
        const auto key = gateway_key(folder_.string());
        EXPECT_TRUE(key) << key.error().message;
        return key ? *key : GatewayKey();
    }

    const test::ScratchFolder scratch_;
    const fs::path folder_ = fs::path(scratch_.path()) / "state";
};

TEST_F(GatewayKeyTest, IsMadeOnceAndFoundAgain) {
    const auto first = get(), second = get();
    EXPECT_EQ(first.text.size(), 64u);
    EXPECT_TRUE(first.kept);
    EXPECT_EQ(second.text, first.text);
}

TEST_F(GatewayKeyTest, IsFoundWhereNothingCanBeWritten) {
    put(std::string(64, 'a'));
    let_nobody_write();
    EXPECT_EQ(get().text, std::string(64, 'a'));
    EXPECT_TRUE(get().kept);
}

TEST_F(GatewayKeyTest, WhereItCannotBeKeptItIsThisProcessesAloneAndStopsNothing) {
    let_nobody_write();
    const auto first = get(), second = get();
    EXPECT_FALSE(first.kept);
    EXPECT_EQ(first.text.size(), 64u);
    EXPECT_NE(second.text, first.text);
}

TEST_F(GatewayKeyTest, OneThatOthersCanReadIsNotBelieved) {
    put(std::string(64, 'a'), 0644);
    const auto key = gateway_key(folder_.string());
    ASSERT_FALSE(key);
    EXPECT_THAT(key.error().message, HasSubstr("has mode 0644"));
}

TEST_F(GatewayKeyTest, OneThatWasCutOffIsMadeAnew) {
    put("abc");
    EXPECT_EQ(get().text.size(), 64u);
    EXPECT_TRUE(get().kept);
}

}  // namespace
}  // namespace patchbay::app
