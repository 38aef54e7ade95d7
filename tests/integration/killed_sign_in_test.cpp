// A sign-in, a renewal and a sign-out that are killed at every change of the disk.
#include "integration/sign_in.hpp"
#include "support/killed_at.hpp"

#include <cstdio>
#include <vector>

namespace patchbay::test {
namespace {

struct Killing {
    const char* name;
    Words words;
    bool signed_in, expired;  // before
    friend void PrintTo(const Killing& each, std::ostream* out) { *out << each.name; }
};

class KilledSignIn : public SignIn, public ::testing::WithParamInterface<Killing> {
protected:
    std::filesystem::path state() const { return store().parent_path(); }
    void restore(const std::filesystem::path& snapshot) const {
        std::filesystem::remove_all(state());
        if (!std::filesystem::exists(snapshot)) return;
        std::filesystem::create_directory(state());
        std::filesystem::permissions(state(), std::filesystem::perms::owner_all);
        std::filesystem::copy(snapshot, state(), std::filesystem::copy_options::recursive);
    }
    // The record of the server, or what is wrong; "" when there is none.
    std::string kept() {
        const auto told = home.run({"mcp", "auth", "--json"});
        EXPECT_EQ(told.exit_code, 0) << told.err;
        EXPECT_EQ(told.err, "");
        if (!std::filesystem::exists(store())) return "";
        const auto file = json::parse(read_file(store()));
        const auto* record = file.at("servers").as_object().if_contains("guarded");
        return record ? json::serialize(*record) : "";
    }
};

TEST_P(KilledSignIn, LeavesTheOldStoreOrTheNewOne) {
    peer.emplace(*this, kNode, Words{"bad.mjs"});
    home.add("guarded", {{"url", peer->origin() + "/fine/mcp"}});
    if (GetParam().signed_in) {
        ASSERT_EQ(login().exit_code, 0);
    }
    if (GetParam().expired) expire();
    const auto snapshot = home.root() / "snapshot";
    if (std::filesystem::exists(state()))
        std::filesystem::copy(state(), snapshot, std::filesystem::copy_options::recursive);
    const auto before = kept();
    auto command = home.patchbay(GetParam().words);
    command.environment["ASAN_OPTIONS"] = "detect_leaks=0";  // that does not work under ptrace
    int killed = 0, old_ones = 0;
    for (int nth = 1;; ++nth) {
        restore(snapshot);
        const auto outcome = killed_at(nth, state(), [&] { return become(command); });
        const auto now = kept();
        if (!outcome.killed) {
            EXPECT_EQ(outcome.exit_code, 0);
            EXPECT_NE(now, before);
            break;
        }
        ++killed;
        if (now == before) {
            ++old_ones;
            continue;
        }
        // New: nothing, or a record that is whole.
        EXPECT_TRUE(now.empty() || json::parse(now).as_object().contains("refresh_token"))
            << "killed before " << outcome.last_call << " (" << nth << "): " << now;
    }
    EXPECT_GE(killed, 9);
    EXPECT_GE(old_ones, 5);
    std::printf("%s: killed %d times, %d old, %d new, 0 broken\n", GetParam().name, killed,
                old_ones, killed - old_ones);
}

INSTANTIATE_TEST_SUITE_P(
    , KilledSignIn,
    ::testing::Values(Killing{"Login", {"mcp", "login", "guarded"}, false, false},
                      Killing{"Refresh", {"call", "mcp__guarded__who"}, true, true},
                      Killing{"Logout", {"mcp", "logout", "guarded"}, true, false}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace patchbay::test
