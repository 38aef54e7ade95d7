// What `patchbay host sandbox-state` says to the host that runs, and the host to its servers.
#include "integration/host_guest.hpp"
#include "support/result_schema.hpp"

#include <string>
#include <utility>

namespace patchbay::test {
namespace {

constexpr const char* kState = R"({"sandboxPolicy":{"type":"read-only"},"sandboxCwd":"/work"})";
constexpr const char* kUpdate = R"("method":"codex/sandbox-state/update")";

class SandboxState : public ::testing::Test {
protected:
    SandboxState() { home.environment["PATCHBAY_HOST_PATIENCE_MS"] = "60000"; }
    ~SandboxState() override { EXPECT_EQ(nothing_left(), ""); }

    Outcome state(const Words& words, const std::string& input = {}) const {
        Words all{"host", "sandbox-state"};
        all.insert(all.end(), words.begin(), words.end());
        return home.run(std::move(all), input);
    }
    Home home;
};

TEST_F(SandboxState, IsToldToServersThatDeclareItOnChangeAndWhenTheyComeBack) {
    const auto declares = home.add_recorded("x", {"--sandbox-state", "--era", "legacy"});
    const auto silent = home.add_recorded("y");
    RunningHost host(home);
    ASSERT_EQ(home.run({"mcp", "status"}).exit_code, 0);
    EXPECT_EQ(state({"show"}).out, "null\n");
    const auto set = state({"set", kState, "--json"});
    EXPECT_EQ(set.exit_code, 0) << set.err;
    EXPECT_EQ(set.out, "{\"servers\":[\"x\"]}\n");
    EXPECT_TRUE(is_a("sandbox_state_told", json::parse(set.out)));
    EXPECT_TRUE(wait_for_file(declares, kState));
    EXPECT_EQ(state({"show"}).out, std::string(kState) + "\n");
    const auto changed = state({"set", "-"}, "{\n  \"n\": 1.50\n}\n");
    EXPECT_EQ(changed.exit_code, 0);
    EXPECT_THAT(changed.err, HasSubstr("told: x"));
    EXPECT_TRUE(wait_for_file(declares, "\"params\":{\"n\":1.50}"));
    EXPECT_EQ(home.run({"mcp", "restart", "x"}).exit_code, 0);  // its file begins anew
    EXPECT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).out, "hi\n");
    const auto again = read_file(declares);
    const auto at = again.find(kUpdate);
    ASSERT_NE(at, std::string::npos) << again;
    EXPECT_EQ(again.find(kUpdate, at + 1), std::string::npos) << "once: " << again;
    EXPECT_LT(again.find("notifications/initialized"), at);
    EXPECT_LT(at, again.find("\"tools/call\""));
    EXPECT_EQ(home.run({"call", "mcp__y__echo", "message=hi"}).out, "hi\n");
    EXPECT_EQ(read_file(silent).find(kUpdate), std::string::npos);
    EXPECT_EQ(state({"clear", "--json"}).out, "{\"servers\":[]}\n");
    EXPECT_EQ(state({"show"}).out, "null\n");
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(SandboxState, SaysWhatIsWrongWithIt) {
    home.add_example("x");
    const auto alone = state({"set", kState});
    EXPECT_EQ(alone.exit_code, 5);
    EXPECT_THAT(alone.err, HasSubstr("`patchbay run` starts one"));
    RunningHost host(home);
    const auto set = state({"set", kState});
    EXPECT_EQ(set.exit_code, 0);
    EXPECT_THAT(set.err, HasSubstr("no server that is connected declares codex/sandbox-state"));
    for (const auto& [given, why] :
         {std::pair{"[1]", "no JSON object"}, std::pair{"{\"a\":", "not valid JSON"}}) {
        const auto refused = state({"set", given});
        EXPECT_EQ(refused.exit_code, 3) << refused.err;
        EXPECT_THAT(refused.err, HasSubstr(why));
    }
    const auto large = state({"set", "-"}, "{\"a\":\"" + std::string(65'536, 'x') + "\"}");
    EXPECT_NE(large.exit_code, 0);
    EXPECT_THAT(large.err, HasSubstr("at most 65536 bytes"));
    EXPECT_EQ(state({"show"}).out, std::string(kState) + "\n") << "the one before stays";
    EXPECT_EQ(home.run({"host", "sandbox-state"}).exit_code, 3);
    EXPECT_EQ(host.end().exit_code, 0);
}

}  // namespace
}  // namespace patchbay::test
