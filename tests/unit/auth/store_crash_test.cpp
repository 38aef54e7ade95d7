// Killed at every system call that changes the disk, the store is wholly old or wholly new.
#include "auth/store_file.hpp"
#include "support/killed_at.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gtest/gtest.h>

namespace patchbay::auth {
namespace {

namespace json = boost::json;

struct Change {
    const char* name;
    json::object before, after;  // record of server "a"; empty: none
    friend void PrintTo(const Change& each, std::ostream* out) { *out << each.name; }
};

class Crash : public ::testing::TestWithParam<Change> {};

std::string record_of(const StoreFile& store) {
    const auto contents = store.read();
    if (!contents) return contents.error().message;
    EXPECT_EQ(contents->warning, "");
    const auto& servers = contents->file.at("servers").get_object();
    EXPECT_TRUE(servers.contains("other")) << "what the change is not about is always there";
    const auto* record = servers.if_contains("a");
    return record ? json::serialize(*record) : "{}";
}

TEST_P(Crash, LeavesTheOldStoreOrTheNewOne) {
    const auto& change = GetParam();
    int killed = 0, old_ones = 0, new_ones = 0;
    for (int nth = 1;; ++nth) {
        const test::PluginFolder folder;
        const StoreFile store(folder.path() + "/state");
        ASSERT_TRUE(store.replace("other", {{"access_token", "kept"}}));
        if (!change.before.empty()) {
            ASSERT_TRUE(store.replace("a", change.before));
        }
        const auto outcome = test::killed_at(nth, folder.path(), [&] {
            return StoreFile(folder.path() + "/state").replace("a", change.after) ? 0 : 1;
        });
        const auto found = record_of(store);
        if (!outcome.killed) {
            EXPECT_EQ(outcome.exit_code, 0);
            EXPECT_EQ(found, json::serialize(change.after));
            break;
        }
        ++killed;
        const bool is_old = found == json::serialize(change.before);
        EXPECT_TRUE(is_old || found == json::serialize(change.after))
            << "killed before " << outcome.last_call << " (" << nth << "): " << found;
        ++(is_old ? old_ones : new_ones);
        const auto again = store.replace("a", change.after);
        EXPECT_TRUE(again) << "after " << outcome.last_call << ": " << again.error().message;
        EXPECT_EQ(record_of(store), json::serialize(change.after));
    }
    EXPECT_GE(killed, 6);
    EXPECT_GE(new_ones, 1) << "some change follows the one that counts";
    std::printf("%s: killed %d times, %d old, %d new, 0 broken\n", change.name, killed, old_ones,
                new_ones);
}

INSTANTIATE_TEST_SUITE_P(StoreFile, Crash,
                         ::testing::Values(Change{"Store", {}, {{"access_token", "first"}}},
                                           Change{
                                               "Refresh",
                                               {{"access_token", "one"}, {"refresh_token", "r1"}},
                                               {{"access_token", "two"}, {"refresh_token", "r2"}}},
                                           Change{"Logout", {{"access_token", "one"}}, {}}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace patchbay::auth
