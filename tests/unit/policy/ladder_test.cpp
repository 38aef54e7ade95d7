// Levels by names and by beginnings of names, of several sources, and the lists beside them. What counts is compared
// with a small evaluator that was written from "What a call needs" of config/README.md, a sentence after the other.
#include "config/levels.hpp"
#include "policy/policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace patchbay::policy {
namespace {

using config::Level;
using config::Scope;
using ::testing::HasSubstr;

struct Said {
    std::string key;
    Level level;
    Scope scope = Scope::User;
};

config::Server server_saying(const std::vector<Said>& levels) {
    config::Server server;
    server.id = "s";
    for (const auto& [key, level, scope] : levels) {
        server.tools[key] = level;
        server.rules["tools." + key] = {scope, "c.toml", 1, 1};
    }
    return server;
}

Verdict judge(const config::Server& server, const std::string& tool,
              core::Trust trust = core::Trust::NeedsApproval,
              const config::Permissions& permissions = {}) {
    static std::optional<Policy> policy;  // the verdict's rule is good as long as it
    policy.emplace(permissions, std::vector{server});
    const auto name = "mcp__s__" + tool;
    return policy->judge({trust, "s", tool, name});
}

TEST(Levels, TheNameItselfCountsBeforeTheLongestBeginningAndThatBeforeTheStar) {
    const auto server = server_saying({{"*", Level::Deny},
                                       {"create_*", Level::RequireApproval},
                                       {"create_pr*", Level::AllowAlways},
                                       {"create_pr", Level::Disable}});
    EXPECT_EQ(judge(server, "delete").level, Level::Deny);
    EXPECT_EQ(judge(server, "create_x").level, Level::RequireApproval);
    EXPECT_EQ(judge(server, "create_pr_y").level, Level::AllowAlways);
    EXPECT_EQ(judge(server, "create_pr").level, Level::Disable);
    EXPECT_EQ(judge(server, "create_pr_y").decision, Decision::Allow);
    EXPECT_EQ(judge(server, "create_x").rule->text, "create_*");
}

TEST(Levels, AStricterOneOfAStrongerSourceIsNotLoosenedByAWeakerSourcesName) {
    const auto server = server_saying(
        {{"*", Level::Deny, Scope::Enterprise}, {"read", Level::AllowAlways, Scope::User}});
    EXPECT_EQ(judge(server, "read").level, Level::Deny);
    EXPECT_EQ(judge(server, "read").rule->place->scope, Scope::Enterprise);
}

TEST(Levels, AWeakerSourcesNameMayBeStricter) {
    const auto server = server_saying(
        {{"*", Level::AllowAlways, Scope::Session}, {"push", Level::Deny, Scope::User}});
    EXPECT_EQ(judge(server, "push").level, Level::Deny);
    EXPECT_EQ(judge(server, "pull").level, Level::AllowAlways);
}

TEST(Levels, AStrongerSourcesNameCountsWhateverAWeakerOneSaysOfAll) {
    const auto server = server_saying(
        {{"*", Level::Deny, Scope::User}, {"read", Level::AllowAlways, Scope::Session}});
    EXPECT_EQ(judge(server, "read").decision, Decision::Allow);
    EXPECT_EQ(judge(server, "write").decision, Decision::Deny);
}

TEST(Levels, ABeginningThatForbidsIsOfNamesAsTheyAreShownToo) {
    auto server = server_saying({{"create_*", Level::Deny}});
    const Policy policy({}, {server});
    const std::string shown = "mcp__s__create_x_0123abcd";
    EXPECT_EQ(policy.judge({core::Trust::Approves, "s", "create x", shown}).decision,
              Decision::Deny);
    server = server_saying({{"create_*", Level::AllowAlways}});
    const Policy freer({}, {server});
    EXPECT_EQ(freer.judge({core::Trust::NeedsApproval, "s", "create x", shown}).decision,
              Decision::Ask)
        << "what allows is of names as the server has them";
}

TEST(Levels, WhatEnabledToolsLeavesOutStaysHiddenWhateverALevelSaysOfAll) {
    auto server = server_saying({{"*", Level::AllowAlways}});
    server.enabled_tools = {"a"};
    EXPECT_EQ(judge(server, "a").decision, Decision::Allow);
    EXPECT_FALSE(judge(server, "b").listed());
}

TEST(Levels, ALevelForAllNamesTheToolsOfAnUntrustedServer) {
    auto server = server_saying({{"read_*", Level::AllowAlways}});
    server.trust = "untrusted";
    EXPECT_EQ(judge(server, "read_a").decision, Decision::Allow);
    EXPECT_EQ(judge(server, "write", core::Trust::Approves).decision, Decision::Deny);
}

TEST(Asking, IsForWhoeverCallsWhereSomebodyWroteThatItIs) {
    const auto server = server_saying({{"*", Level::RequireApproval}});
    for (const auto trust :
         {core::Trust::Approves, core::Trust::NeedsApproval, core::Trust::NeedsRule})
        EXPECT_EQ(judge(server, "a", trust).decision, Decision::Ask);
    EXPECT_EQ(judge(server_saying({}), "a", core::Trust::Approves).decision, Decision::Allow)
        << "a call that is typed is approved where nobody wrote a level";
}

TEST(Asking, ByAListComesBeforeWhateverAllowsAndBehindWhateverDenies) {
    config::Permissions permissions;
    permissions.ask = {"mcp__s__create_*"};
    permissions.allow = {"mcp__s__*"};
    permissions.deny = {"mcp__s__create_user"};
    const auto server = server_saying({{"create_pr", Level::AllowAlways}});
    const auto asked = judge(server, "create_pr", core::Trust::Approves, permissions);
    EXPECT_EQ(asked.decision, Decision::Ask);
    EXPECT_EQ(asked.rule->kind, Rule::Kind::Ask);
    EXPECT_EQ(judge(server, "create_user", core::Trust::Approves, permissions).decision,
              Decision::Deny);
    EXPECT_EQ(judge(server, "list", core::Trust::NeedsApproval, permissions).decision,
              Decision::Allow);
    permissions.allow = {"mcp__s__list"};
    EXPECT_EQ(judge(server, "create_pr", core::Trust::Approves, permissions).decision,
              Decision::Deny)
        << "to be asked is no permission";
}

TEST(Asking, OfAnAdministratorsRuleIsForEachCall) {
    const auto server = server_saying({{"a", Level::RequireApproval, Scope::Enterprise},
                                       {"b", Level::RequireApproval, Scope::User}});
    EXPECT_TRUE(judge(server, "a").asks_every_time());
    EXPECT_FALSE(judge(server, "b").asks_every_time());
    config::Permissions permissions;
    permissions.ask = {"mcp__s__b"};
    permissions.ask_places["mcp__s__b"] = {Scope::Enterprise, "e.toml", 3, 1};
    EXPECT_TRUE(judge(server, "b", core::Trust::Approves, permissions).asks_every_time());
}

TEST(Asking, IsRefusedWithWhatWouldAllowIt) {
    config::Permissions permissions;
    permissions.ask = {"mcp__s__*"};
    permissions.ask_places["mcp__s__*"] = {Scope::User, "c.toml", 3, 1};
    const Policy by_list(permissions, {server_saying({})});
    const Question question{core::Trust::Approves, "s", "a", "mcp__s__a"};
    EXPECT_EQ(
        by_list.reason(question, by_list.judge(question)),
        "mcp__s__a needs approval (user config c.toml:3:1) and nobody is there to give it; to "
        "allow it: take \"mcp__s__*\" out of [permissions] ask");
    const Policy by_level({}, {server_saying({{"*", Level::RequireApproval}})});
    EXPECT_THAT(
        by_level.reason(question, by_level.judge(question)),
        HasSubstr("to allow it: [servers.s.tools] a = \"allow-always\", in that file, beside "
                  "\"*\""));
}

// ---- what config/README.md says, by an evaluator of its own

constexpr std::array kTools = {"a", "ab", "ab_c", "ab_cd", "b", "b_x"};
constexpr std::array kKeys = {"a", "ab", "ab_c", "b", "*", "a*", "ab*", "ab_*", "b_*"};
constexpr std::array kPatterns = {"mcp__*",      "mcp__s__*",    "mcp__s__a*", "mcp__s__ab_*",
                                  "mcp__s__b_*", "mcp__s__ab_c", "mcp__s__b",  "mcp__t__*",
                                  "mcp__s__a",   "mcp__s__ab_cd"};
constexpr std::array kScopes = {Scope::Client, Scope::User, Scope::Local, Scope::Session,
                                Scope::Enterprise};

bool fits(const std::string& pattern, const std::string& name) {
    return pattern.back() == '*'
               ? name.compare(0, pattern.size() - 1, pattern, 0, pattern.size() - 1) == 0
               : pattern == name;
}

bool any_fits(const std::vector<std::string>& patterns, const std::string& name) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const auto& pattern) { return fits(pattern, name); });
}

// "The name itself counts before the longest beginning, and that before `*`."
std::size_t specific(const Said& said) {
    return said.key.back() == '*' ? said.key.size() - 1 : 1'000;
}

std::optional<Level> level_by_the_book(const std::vector<Said>& levels, const std::string& tool) {
    std::optional<Level> decides;
    for (const auto& said : levels) {
        if (!fits(said.key, tool)) continue;
        // "A key counts unless a source as strong has a more specific one that fits."
        const bool counts = std::none_of(levels.begin(), levels.end(), [&](const auto& other) {
            return fits(other.key, tool) && specific(other) > specific(said) &&
                   other.scope >= said.scope;
        });
        // "Of those that count the strictest decides."
        if (counts && (!decides || said.level < *decides)) decides = said.level;
    }
    return decides;
}

struct World {
    std::vector<Said> levels;
    std::vector<std::string> disabled, deny, ask;
    std::optional<std::vector<std::string>> enabled, allow;
    bool untrusted = false;
};

bool names(const std::vector<std::string>& list, const std::string& tool) {
    return std::find(list.begin(), list.end(), tool) != list.end();
}

Decision by_the_book(const World& world, const std::string& tool, core::Trust trust) {
    const auto name = "mcp__s__" + tool;
    const auto level = level_by_the_book(world.levels, tool);
    if (names(world.disabled, tool)) return Decision::Deny;
    if (world.enabled && !names(*world.enabled, tool)) return Decision::Deny;
    if (level && *level <= Level::Deny) return Decision::Deny;
    if (any_fits(world.deny, name)) return Decision::Deny;
    const bool allowed = world.allow && any_fits(*world.allow, name);
    if (world.allow && !allowed) return Decision::Deny;
    if (world.untrusted && !allowed && !level && !world.enabled) return Decision::Deny;
    if (any_fits(world.ask, name) || level == Level::RequireApproval) return Decision::Ask;
    if (allowed || level || trust == core::Trust::Approves) return Decision::Allow;
    return Decision::Ask;
}

class Dice {
public:
    explicit Dice(unsigned seed) : engine_(seed) {}
    std::size_t below(std::size_t most) { return engine_() % most; }
    template <class List>
    auto one_of(const List& list) {
        return list[below(list.size())];
    }
    template <class List>
    std::vector<std::string> some_of(const List& list, std::size_t most) {
        std::vector<std::string> some;
        for (auto left = below(most + 1); left > 0; --left) some.emplace_back(one_of(list));
        return some;
    }

private:
    std::mt19937 engine_;
};

World world_by(Dice& dice) {
    World world;
    for (auto left = dice.below(5); left > 0; --left) {
        const std::string key(dice.one_of(kKeys));
        if (std::any_of(world.levels.begin(), world.levels.end(),
                        [&](const auto& said) { return said.key == key; }))
            continue;  // of one key the strongest source counts, which merging has settled
        world.levels.push_back({key, static_cast<Level>(dice.below(7)), dice.one_of(kScopes)});
    }
    if (dice.below(4) == 0) world.disabled = dice.some_of(kTools, 2);
    if (dice.below(4) == 0) world.enabled = dice.some_of(kTools, 3);
    if (dice.below(3) == 0) world.deny = dice.some_of(kPatterns, 2);
    if (dice.below(3) == 0) world.ask = dice.some_of(kPatterns, 2);
    if (dice.below(3) == 0) world.allow = dice.some_of(kPatterns, 3);
    world.untrusted = dice.below(4) == 0;
    return world;
}

std::string told(const World& world) {
    std::string text;
    for (const auto& said : world.levels)
        text += std::string(config::name_of(said.scope)) + " " + said.key + " = " +
                config::name_of(said.level) + "\n";
    const auto list = [&](const char* what, const std::vector<std::string>& all) {
        text += what;
        for (const auto& each : all) text += " " + each;
        text += "\n";
    };
    list("disabled", world.disabled);
    if (world.enabled) list("enabled", *world.enabled);
    list("deny", world.deny);
    list("ask", world.ask);
    if (world.allow) list("allow", *world.allow);
    return text + (world.untrusted ? "untrusted\n" : "");
}

TEST(APolicy, OfAnyKindJudgesAsTheReadmeSays) {
    constexpr unsigned kWorlds = 100'000;
    Dice dice(50);
    std::array<std::size_t, 3> decided{};
    for (unsigned i = 0; i < kWorlds; ++i) {
        const auto world = world_by(dice);
        auto server = server_saying(world.levels);
        server.disabled_tools = world.disabled;
        server.enabled_tools = world.enabled;
        if (world.untrusted) server.trust = "untrusted";
        config::Permissions permissions;
        permissions.allow = world.allow;
        permissions.deny = world.deny;
        permissions.ask = world.ask;
        config::Server other;
        other.id = "t";
        const Policy policy(permissions, {server, other});
        const std::string tool(dice.one_of(kTools));
        const auto trust = static_cast<core::Trust>(dice.below(3));
        const auto name = "mcp__s__" + tool;
        const Question question{trust, "s", tool, name};
        const auto verdict = policy.judge(question);
        const auto wanted = by_the_book(world, tool, trust);
        ASSERT_EQ(verdict.decision, wanted) << told(world) << "tool " << tool;
        // What is told of it is told by the same: a refusal has its reason, a denial beforehand is one.
        ASSERT_EQ(policy.reason(question, verdict).empty(), wanted == Decision::Allow);
        ASSERT_TRUE(wanted == Decision::Allow || wanted == Decision::Ask || verdict.rule);
        if (policy.certain_denial(trust, "s", name)) {
            ASSERT_EQ(wanted, Decision::Deny) << told(world) << tool;
        }
        ++decided[static_cast<std::size_t>(wanted)];
    }
    for (const auto each : decided) EXPECT_GT(each, kWorlds / 20) << "the worlds are too alike";
}

// With ten thousand rules, half of them beginnings, in what a machine under test can promise; what it takes where
// nothing else runs stands in the bench.
TEST(APolicy, OfTenThousandRulesJudgesInAMoment) {
    std::vector<Said> levels;
    config::Permissions permissions;
    permissions.allow.emplace();
    for (int i = 0; i < 2'500; ++i) {
        const auto number = std::to_string(i);
        levels.push_back({"tool_" + number, Level::AllowAlways});
        levels.push_back({"some_" + number + "_*", Level::RequireApproval});
        permissions.deny.push_back("mcp__s__denied_" + number + "_*");
        permissions.ask.push_back("mcp__s__asked_" + number);
    }
    permissions.allow->push_back("mcp__s__*");
    const Policy policy(permissions, {server_saying(levels)});
    const std::string tool = "some_1234_thing", name = "mcp__s__" + tool;
    const Question question{core::Trust::Approves, "s", tool, name};
    constexpr int kTimes = 20'000;
    const auto begun = std::clock();  // of the processor: others may be busy
    std::size_t asked = 0;
    for (int i = 0; i < kTimes; ++i) asked += policy.judge(question).decision == Decision::Ask;
    const double took = 1e6 * static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
    EXPECT_EQ(asked, static_cast<std::size_t>(kTimes));
    RecordProperty("microseconds", std::to_string(took / kTimes));
    EXPECT_LT(took / kTimes, 40) << "per decision, in microseconds";
}

}  // namespace
}  // namespace patchbay::policy
