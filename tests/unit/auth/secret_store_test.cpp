// Records and locks as auth plugins get them.
#include "auth/secret_store.hpp"

#include "core/log.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::auth {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

class SecretStoreTest : public ::testing::Test {
protected:
    bool until(const std::function<bool()>& done) {
        return loop.run_until(done, core::Clock::now() + 20s);
    }
    Result<void> put(SecretStore& of, const std::string& record,
                     const std::string& plugin = "mine") {
        std::optional<Result<void>> outcome;
        of.put(plugin, "demo", record, [&](Result<void> told) { outcome = told; });
        EXPECT_FALSE(outcome) << "told from inside the call";
        EXPECT_TRUE(until([&] { return outcome.has_value(); }));
        return *outcome;
    }
    std::string get(SecretStore& of, const std::string& plugin = "mine") {
        std::optional<Result<std::string>> outcome;
        of.get(plugin, "demo", [&](Result<std::string> told) { outcome = told; });
        EXPECT_TRUE(until([&] { return outcome.has_value(); }));
        return *outcome ? **outcome : outcome->error().message;
    }
    std::optional<Result<void>> locked(SecretStore& of, std::uint64_t& id,
                                       std::chrono::milliseconds limit) {
        std::optional<Result<void>> outcome;
        id = of.lock("demo", limit, [&](Result<void> told) { outcome = told; });
        EXPECT_TRUE(until([&] { return outcome.has_value(); }));
        return outcome;
    }

    const test::PluginFolder folder;
    core::Loop loop;
    SecretStore store{loop, folder.path(), nullptr}, other{loop, folder.path(), nullptr};
};

TEST_F(SecretStoreTest, GivesBackWhatWasPut) {
    EXPECT_EQ(get(store), "");
    ASSERT_TRUE(put(store, R"({"access_token":"s3cret-token","scope":"a"})"));
    EXPECT_EQ(get(other), R"({"access_token":"s3cret-token","scope":"a"})");
    EXPECT_EQ(core::log::masked("x s3cret-token"), "x ***");
    ASSERT_TRUE(put(store, ""));
    EXPECT_EQ(get(other), "");
}

TEST_F(SecretStoreTest, ShowsARecordOnlyToThePluginThatPutIt) {
    ASSERT_TRUE(put(store, R"({"access_token":"of-mine"})"));
    EXPECT_EQ(get(store, "another"), "");
}

TEST_F(SecretStoreTest, TellsWhyNothingWasKept) {
    ::chmod(folder.path().c_str(), 0755);
    const auto outcome = put(store, R"({"access_token":"x"})");
    ASSERT_FALSE(outcome);
    EXPECT_THAT(outcome.error().message, HasSubstr("chmod 700"));
    ::chmod(folder.path().c_str(), 0700);
}

TEST_F(SecretStoreTest, LetsOneHoldTheLockAtATime) {
    std::uint64_t mine = 0, theirs = 0;
    ASSERT_TRUE(*locked(store, mine, 1s));
    std::optional<Result<void>> second;
    theirs = other.lock("demo", 20s, [&](Result<void> told) { second = told; });
    loop.run_until([] { return false; }, core::Clock::now() + 50ms);
    EXPECT_FALSE(second) << "the first has not given it back";
    store.unlock(mine);
    ASSERT_TRUE(until([&] { return second.has_value(); }));
    EXPECT_TRUE(*second);
    other.unlock(theirs);
}

TEST_F(SecretStoreTest, WaitsForALockOnlySoLong) {
    std::uint64_t mine = 0, theirs = 0;
    ASSERT_TRUE(*locked(store, mine, 1s));
    const auto refused = locked(other, theirs, 30ms);
    ASSERT_FALSE(*refused);
    EXPECT_EQ(refused->error().code, ErrorCode::Timeout);
    store.unlock(mine);
}

TEST_F(SecretStoreTest, TellsNobodyOfALockThatWasGivenUp) {
    std::uint64_t mine = 0;
    ASSERT_TRUE(*locked(store, mine, 1s));
    bool told = false;
    const auto theirs = other.lock("demo", 20s, [&](Result<void>) { told = true; });
    other.unlock(theirs);
    store.unlock(mine);
    loop.run_until([] { return false; }, core::Clock::now() + 50ms);
    EXPECT_FALSE(told);
}

TEST_F(SecretStoreTest, MasksWhatItReadsAndKeepsTheRestReadable) {
    ASSERT_TRUE(put(store, R"({"refresh_token":"hid-by-put","scope":"open-scope","x_key":7})"));
    EXPECT_EQ(core::log::masked("hid-by-put open-scope"), "*** open-scope");
    folder.write("mcp-auth.json",
                 R"({"version":1,"servers":{"demo":{"plugin":"mine","access_token":"hid-by-get",
                     "scope":"open-too"},"odd":7}})");
    ::chmod((folder.path() + "/mcp-auth.json").c_str(), 0600);
    EXPECT_EQ(boost::json::parse(get(other)),
              boost::json::parse(R"({"access_token":"hid-by-get","scope":"open-too"})"));
    EXPECT_EQ(core::log::masked("hid-by-get open-too"), "*** open-too");
}

TEST_F(SecretStoreTest, KeepsNoRecordThatIsNone) {
    const auto outcome = put(store, "{broken");
    ASSERT_FALSE(outcome);
    EXPECT_THAT(outcome.error().message, HasSubstr("the record to keep"));
    EXPECT_EQ(get(store), "");
}

TEST_F(SecretStoreTest, ListsAndErasesWhoeverPutIt) {
    ASSERT_TRUE(put(store, R"({"access_token":"x"})"));
    ASSERT_TRUE(store.stored());
    EXPECT_EQ(store.stored()->at("demo").at("plugin"), "mine");
    std::optional<Result<void>> outcome;
    store.erase("demo", [&](Result<void> told) { outcome = told; });
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_TRUE(*outcome);
    EXPECT_TRUE(store.stored()->empty());
}

TEST_F(SecretStoreTest, TellsOnceWhyNothingCanBeLocked) {
    ::chmod(folder.path().c_str(), 0755);
    std::uint64_t id = 0;
    const auto outcome = locked(store, id, 1s);
    ::chmod(folder.path().c_str(), 0700);
    ASSERT_FALSE(*outcome);
    EXPECT_THAT(outcome->error().message, HasSubstr("chmod 700"));
    store.unlock(id);  // gone already
}

TEST_F(SecretStoreTest, GivesItsLocksBackWhenItGoes) {
    std::uint64_t mine = 0, theirs = 0;
    {
        SecretStore gone(loop, folder.path(), nullptr);
        ASSERT_TRUE(*locked(gone, mine, 1s));
        gone.lock("demo", 20s, [](Result<void>) { ADD_FAILURE() << "told after its end"; });
    }
    EXPECT_TRUE(*locked(other, theirs, 20s));
    other.unlock(theirs);
}

TEST_F(SecretStoreTest, LocksEachServerByItself) {
    std::uint64_t mine = 0;
    ASSERT_TRUE(*locked(store, mine, 1s));
    std::optional<Result<void>> outcome;
    const auto theirs = other.lock("another", 0ms, [&](Result<void> told) { outcome = told; });
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_TRUE(*outcome) << outcome->error().message;
    other.unlock(theirs);
    store.unlock(mine);
}

TEST_F(SecretStoreTest, MayEndFromInsideTheAnswerToALock) {
    auto gone = std::make_unique<SecretStore>(loop, folder.path(), nullptr);
    bool told = false;
    gone->lock("demo", 20s, [&](Result<void>) {
        told = true;
        gone.reset();
    });
    ASSERT_TRUE(until([&] { return told; }));
}

}  // namespace
}  // namespace patchbay::auth
