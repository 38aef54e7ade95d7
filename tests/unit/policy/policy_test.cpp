#include "policy/policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::policy {
namespace {

using config::Level;
using ::testing::HasSubstr;

config::Server server_named(const char* id) {
    config::Server server;
    server.id = id;
    server.place = {config::Scope::Project, ".mcp.json", 4, 5};
    return server;
}

// All that can be told of a verdict once its policy is gone.
struct Judged {
    bool listed, allowed;
    Level level;
    std::string reason;
    Decision decision;
    std::optional<Rule> rule;
};

Judged judge(const config::Permissions& permissions, const config::Server& server,
             Question question) {
    const Policy policy(permissions, {server});
    question.server = server.id;
    const auto verdict = policy.judge(question);
    Judged judged{verdict.listed(), verdict.decision == Decision::Allow,
                  verdict.level,    policy.reason(question, verdict),
                  verdict.decision, {}};
    if (verdict.rule) judged.rule = *verdict.rule;
    return judged;
}
Judged judge(const config::Permissions& permissions, const config::Server& server,
             std::string_view tool, core::Trust trust = core::Trust::Approves) {
    const auto name = "mcp__" + server.id + "__" + std::string(tool);
    return judge(permissions, server, {trust, {}, tool, name});
}

TEST(Policy, ALocalUserApprovesByCallingAndAnAgentNeedsARule) {
    const auto server = server_named("s");
    EXPECT_TRUE(judge({}, server, "a").allowed);
    const auto refused = judge({}, server, "a", core::Trust::NeedsApproval);
    EXPECT_TRUE(refused.listed);
    EXPECT_FALSE(refused.allowed);
    EXPECT_THAT(refused.reason, HasSubstr("to allow it: [servers.s.tools] a = \"allow-always\""));
    EXPECT_TRUE(judge({{{"mcp__s__*"}}, {}}, server, "a", core::Trust::NeedsApproval).allowed);
}

TEST(Policy, WhereALevelAsksForApprovalItIsTheOneToBeChanged) {
    auto server = server_named("s");
    server.tools = {{"a", Level::RequireApproval}};
    server.rules["tools.a"] = {config::Scope::User, "c.toml", 7, 1};
    const auto reason = [&] { return judge({}, server, "a", core::Trust::NeedsApproval).reason; };
    EXPECT_EQ(reason(),
              "mcp__s__a needs approval (user config c.toml:7:1) and nobody is there to give it; "
              "to allow it: [servers.s.tools] a = \"allow-always\", in place of the level there");
    server.rules["tools.a"].scope = config::Scope::Enterprise;
    EXPECT_THAT(reason(),
                ::testing::EndsWith("nobody is there to give it; ask your administrator"));
    server.tools.clear();
    server.enabled_tools = {{"a"}};
    EXPECT_THAT(reason(), ::testing::EndsWith("[servers.s.tools] a = \"allow-always\""));
}

TEST(Policy, OfALongToolNameItsAdviceTellsSoMuchAndNoMore) {
    const auto server = server_named("s");
    const std::string tool = "." + std::string(1'000, 'Q');
    const auto verdict =
        judge({}, server, {core::Trust::NeedsApproval, {}, tool, "mcp__s__hashed"});
    EXPECT_EQ(std::count(verdict.reason.begin(), verdict.reason.end(), 'Q'), 199);
}

TEST(Policy, DenyWinsOverAllow) {
    const auto verdict = judge({{{"mcp__*"}}, {"mcp__s__create_*"}}, server_named("s"), "create_x");
    EXPECT_TRUE(verdict.listed) << "denied is not hidden";
    EXPECT_FALSE(verdict.allowed);
    EXPECT_THAT(verdict.reason, HasSubstr("mcp__s__create_*"));
}

TEST(Policy, AnAllowListAllowsNothingElse) {
    EXPECT_TRUE(judge({{{"mcp__s__a"}}, {}}, server_named("s"), "a").allowed);
    EXPECT_FALSE(judge({{{"mcp__s__a"}}, {}}, server_named("s"), "b").allowed);
}

TEST(Policy, FiltersHideAndLevelsRefuse) {
    auto server = server_named("s");
    server.enabled_tools = {"a", "b", "c"};
    server.disabled_tools = {"b"};
    server.tools = {{"a", Level::Deny}, {"c", Level::Disable}};
    EXPECT_TRUE(judge({}, server, "a").listed);
    EXPECT_FALSE(judge({}, server, "a").allowed);
    EXPECT_FALSE(judge({}, server, "b").listed);
    EXPECT_FALSE(judge({}, server, "c").listed);
    const auto other = judge({}, server, "d");
    EXPECT_FALSE(other.listed);
    EXPECT_THAT(other.reason, HasSubstr("project config .mcp.json:4:5"));
}

TEST(Policy, AnUntrustedServerNeedsItsToolsNamed) {
    auto server = server_named("s");
    server.trust = "untrusted";
    EXPECT_FALSE(judge({}, server, "a").allowed);
    EXPECT_TRUE(judge({{{"mcp__s__a"}}, {}}, server, "a").allowed);
    server.enabled_tools = {"a"};
    EXPECT_TRUE(judge({}, server, "a").allowed);
}

// An allow list, or enabled_tools, that begins with one tool denies every other.
TEST(Policy, WhatARefusalAdvisesAllowsThatToolAndLocksOutNoOther) {
    auto server = server_named("s");
    server.trust = "untrusted";
    const auto refused = judge({}, server, "a");
    EXPECT_EQ(
        refused.reason,
        "server \"s\" is untrusted (project config .mcp.json:4:5) and no rule names mcp__s__a; "
        "to allow it: [servers.s.tools] a = \"allow-always\"");
    EXPECT_THAT(judge({}, server, "a.b\" = 1").reason,
                HasSubstr(R"([servers.s.tools] "a.b\" = 1" = "allow-always")"));
    server.tools = {{"a", Level::AllowAlways}};
    EXPECT_TRUE(judge({}, server, "a").allowed);
    server.trust.clear();
    EXPECT_TRUE(judge({}, server, "b").allowed);
}

TEST(Policy, AReasonNamesThePlaceOfThePattern) {
    config::Permissions permissions;
    permissions.deny = {"mcp__s__wipe"};
    permissions.deny_places = {{"mcp__s__wipe", {config::Scope::User, "c.toml", 2, 9}}};
    permissions.allow = {"mcp__s__read"};
    permissions.allow_places = {{"mcp__s__read", {config::Scope::User, "c.toml", 3, 10}}};
    const auto server = server_named("s");
    EXPECT_EQ(judge(permissions, server, "wipe").reason,
              "mcp__s__wipe is denied by [permissions] deny = \"mcp__s__wipe\" (user config "
              "c.toml:2:9)");
    EXPECT_EQ(judge(permissions, server, "list").reason,
              "mcp__s__list is denied, as no pattern of [permissions] allow (user config "
              "c.toml:3:10) matches \"mcp__s__list\"; add that to it");
}

// Of several lists the strongest one that lacks the tool is named: what is added to another is in vain.
TEST(Policy, AReasonNamesTheListThatLacksTheTool) {
    const config::Place mine{config::Scope::User, "c.toml", 3, 10},
        theirs{config::Scope::Enterprise, "/etc/e.toml", 2, 9};
    const auto reason = [&](std::vector<std::string> user, std::vector<std::string> enterprise,
                            const char* tool) {
        config::Permissions permissions;
        permissions.allow = {"mcp__s__both"};
        permissions.allow_lists = {{std::move(user), mine}, {std::move(enterprise), theirs}};
        return judge(permissions, server_named("s"), tool).reason;
    };
    EXPECT_EQ(
        reason({"mcp__s__*"}, {"mcp__s__both"}, "big"),
        "mcp__s__big is denied, as the enterprise config /etc/e.toml:2:9 does not allow it; ask "
        "your administrator");
    EXPECT_EQ(
        reason({"mcp__s__both"}, {"mcp__s__*"}, "big"),
        "mcp__s__big is denied, as no pattern of [permissions] allow (user config c.toml:3:10) "
        "matches \"mcp__s__big\"; add that to it");
    EXPECT_THAT(reason({"mcp__s__both"}, {"mcp__s__both"}, "big"), HasSubstr("administrator"));
}

TEST(Policy, AReasonSaysWhatOfTheServerWasAskedFor) {
    auto server = server_named("s");
    const auto reason = [&](const config::Permissions& permissions,
                            core::Trust trust = core::Trust::Approves) {
        return judge(permissions, server, {trust, {}, "", "mcp__s__", "resources"}).reason;
    };
    EXPECT_EQ(reason({{}, {"mcp__s__*"}}),
              "resources of server \"s\" are denied by [permissions] deny = \"mcp__s__*\"");
    EXPECT_EQ(reason({{{"mcp__s__a"}}, {}}),
              "resources of server \"s\" are denied, as no pattern of [permissions] allow matches "
              "\"mcp__s__\"; add that to it");
    EXPECT_THAT(reason({}, core::Trust::NeedsApproval),
                HasSubstr("[permissions] allow = [\"mcp__s__\"], beside all else"));
    EXPECT_EQ(
        judge({{}, {"mcp__s__*"}}, server, {core::Trust::Approves, {}, "", "mcp__s__a"}).reason,
        "mcp__s__a is denied by [permissions] deny = \"mcp__s__*\"")
        << "whoever's tool it turns out to be";
    server.trust = "untrusted";
    EXPECT_THAT(reason({}), HasSubstr("no rule names resources of server \"s\"; to allow them: "
                                      "trust = \"trusted\""));
}

// ---- the server itself: its resources, prompts and completion

TEST(Policy, WhatAnUntrustedServerOffersBesidesToolsNeedsARuleOfItsOwn) {
    auto server = server_named("s");
    server.trust = "untrusted";
    const auto refused = judge({}, server, "");
    EXPECT_FALSE(refused.allowed);
    EXPECT_THAT(refused.reason,
                HasSubstr("server \"s\" is untrusted (project config .mcp.json:4:5)"));
    server.rules["trust"] = {config::Scope::Session, "--set", 0, 0};
    EXPECT_THAT(judge({}, server, "").reason, HasSubstr("is untrusted (session config --set)"));
    server.enabled_tools = {"a"};
    server.tools = {{"a", Level::AllowAlways}};
    EXPECT_FALSE(judge({}, server, "").allowed) << "a rule for a tool says nothing of the rest";
    EXPECT_FALSE(judge({{{"mcp__s__a"}}, {}}, server, "").allowed);
    EXPECT_TRUE(judge({{{"mcp__s__*"}}, {}}, server, "").allowed);
    server.trust = "trusted";
    EXPECT_TRUE(judge({}, server, "").allowed);
}

TEST(Policy, ToolFiltersDoNotConcernWhatIsNoTool) {
    auto server = server_named("s");
    server.enabled_tools.emplace();
    server.tools = {{"", Level::Disable}};
    EXPECT_TRUE(judge({}, server, "").allowed);
    EXPECT_FALSE(judge({}, server, "a").listed);
}

TEST(Policy, TheServerItselfIsDeniedByAPatternThatCoversIt) {
    const auto server = server_named("s");
    EXPECT_FALSE(judge({{}, {"mcp__s__*"}}, server, "").allowed);
    EXPECT_FALSE(judge({{}, {"mcp__*"}}, server, "").allowed);
    EXPECT_TRUE(judge({{}, {"mcp__s__a"}}, server, "").allowed);
    EXPECT_FALSE(judge({}, server, "", core::Trust::NeedsApproval).allowed);
}

TEST(Policy, AnUntrustedServersToolIsNamedByItsTableToo) {
    auto server = server_named("s");
    server.trust = "untrusted";
    server.tools = {{"a", Level::AllowAlways}, {"b", Level::RequireApproval}, {"c", Level::Deny}};
    EXPECT_TRUE(judge({}, server, "a").allowed);
    EXPECT_EQ(judge({}, server, "b").decision, Decision::Ask) << "named, and to be asked";
    EXPECT_FALSE(judge({}, server, "c").allowed);
    EXPECT_FALSE(judge({}, server, "d").allowed);
    EXPECT_TRUE(judge({}, server, "a", core::Trust::NeedsApproval).allowed);
    EXPECT_FALSE(judge({}, server, "b", core::Trust::NeedsApproval).allowed);
}

TEST(Policy, AnAgentMayUseWhatALevelAllows) {
    auto server = server_named("s");
    server.tools = {{"once", Level::AllowOnce}, {"always", Level::AllowAlways}};
    EXPECT_TRUE(judge({}, server, "once", core::Trust::NeedsApproval).allowed);
    const auto always = judge({}, server, "always", core::Trust::NeedsApproval);
    EXPECT_TRUE(always.allowed);
    EXPECT_EQ(always.level, Level::AllowAlways);
    EXPECT_EQ(judge({}, server, "other", core::Trust::NeedsApproval).level, Level::RequireApproval);
    EXPECT_FALSE(
        judge({{}, {"mcp__s__always"}}, server, "always", core::Trust::NeedsApproval).allowed);
    EXPECT_FALSE(
        judge({{{"mcp__s__once"}}, {}}, server, "always", core::Trust::NeedsApproval).allowed);
}

TEST(Policy, ARefusalNamesThePlaceOfItsRule) {
    auto server = server_named("s");
    server.tools = {{"a", Level::Deny}, {"b", Level::Disable}};
    server.disabled_tools = {"c"};
    server.enabled_tools = {"a", "b", "c"};
    for (const auto* rule : {"tools.a", "tools.b", "disabled_tools", "enabled_tools"})
        server.rules[rule] = {config::Scope::Local, rule, 7, 1};
    EXPECT_THAT(judge({}, server, "a").reason, HasSubstr("(local config tools.a:7:1)"));
    EXPECT_THAT(judge({}, server, "b").reason, HasSubstr("(local config tools.b:7:1)"));
    EXPECT_THAT(judge({}, server, "c").reason, HasSubstr("(local config disabled_tools:7:1)"));
    EXPECT_THAT(judge({}, server, "d").reason, HasSubstr("(local config enabled_tools:7:1)"));
}

TEST(Policy, RulesThatCouldNotBeReadDenyAllWithTheirReason) {
    config::Permissions permissions;
    permissions.allow = {"mcp__*"};
    permissions.closed = "project config .mcp.toml is broken; mend it";
    const auto server = server_named("s");
    const auto verdict = judge(permissions, server, "read");
    EXPECT_FALSE(verdict.allowed);
    EXPECT_EQ(verdict.reason,
              "mcp__s__read is denied: project config .mcp.toml is broken; mend it");
}

TEST(Policy, WhereNoRuleAllowsAnAgentsCallItIsToBeAsked) {
    auto server = server_named("s");
    server.tools = {{"asked", Level::RequireApproval}, {"denied", Level::Deny}};
    const auto unruled = judge({}, server, "a", core::Trust::NeedsApproval);
    EXPECT_EQ(unruled.decision, Decision::Ask);
    EXPECT_FALSE(unruled.rule) << "nobody wrote one";
    const auto ruled = judge({}, server, "asked", core::Trust::NeedsApproval);
    EXPECT_EQ(ruled.decision, Decision::Ask);
    ASSERT_TRUE(ruled.rule);
    EXPECT_EQ(ruled.rule->text, "asked");
    EXPECT_EQ(judge({}, server, "denied", core::Trust::NeedsApproval).decision, Decision::Deny);
    EXPECT_EQ(judge({}, server, "asked").decision, Decision::Ask) << "also of who typed it";
}

TEST(Policy, AVerdictNamesTheRuleThatDecidedAndItsPlace) {
    const config::Place pattern_place{config::Scope::User, "c.toml", 2, 9};
    const config::Place level_place{config::Scope::Local, "l.toml", 7, 1};
    auto server = server_named("s");
    server.tools = {{"ruled", Level::AllowAlways}};
    server.rules["tools.ruled"] = level_place;
    const auto by_level = judge({}, server, "ruled", core::Trust::NeedsApproval);
    ASSERT_TRUE(by_level.rule);
    EXPECT_EQ(by_level.rule->kind, Rule::Kind::Level);
    EXPECT_EQ(by_level.rule->place, level_place);

    config::Permissions permissions;
    permissions.allow = {"mcp__t__*", "mcp__s__*"};
    permissions.allow_places = {{"mcp__s__*", pattern_place}};
    const auto by_pattern = judge(permissions, server, "ruled", core::Trust::NeedsApproval);
    ASSERT_TRUE(by_pattern.rule);
    EXPECT_EQ(by_pattern.rule->kind, Rule::Kind::Allow);
    EXPECT_EQ(by_pattern.rule->text, "mcp__s__*");
    EXPECT_EQ(by_pattern.rule->place, pattern_place);

    permissions.deny = {"mcp__s__ruled"};
    const auto denied = judge(permissions, server, "ruled", core::Trust::NeedsApproval);
    ASSERT_TRUE(denied.rule);
    EXPECT_EQ(denied.rule->kind, Rule::Kind::Deny);
    EXPECT_EQ(denied.rule->place, std::nullopt) << "nobody knows it";
}

TEST(Policy, OtherRulesInItsPlaceDecideTheNextQuestion) {
    auto server = server_named("s");
    Policy policy({}, {server});
    const Question question{core::Trust::Approves, "s", "a", "mcp__s__a"};
    EXPECT_EQ(policy.judge(question).decision, Decision::Allow);
    server.tools = {{"a", Level::Deny}};
    policy = Policy({}, {server});
    EXPECT_EQ(policy.judge(question).decision, Decision::Deny);
    policy = Policy({{{"mcp__s__b"}}, {}}, {server_named("s")});
    EXPECT_EQ(policy.judge(question).decision, Decision::Deny);
    policy = Policy({}, {server_named("s")});
    EXPECT_EQ(policy.judge(question).decision, Decision::Allow);
}

TEST(Policy, OfAServerThatItDoesNotKnowItAllowsNothing) {
    const Policy policy({{{"mcp__*"}}, {}}, {server_named("s")});
    const Question question{core::Trust::Approves, "t", "a", "mcp__t__a"};
    const auto verdict = policy.judge(question);
    EXPECT_EQ(verdict.decision, Decision::Deny);
    EXPECT_EQ(policy.reason(question, verdict),
              "mcp__t__a is denied: its server is not configured");
}

// ---- before the server has said what a name means

TEST(Policy, ANameThatIsDeniedWhateverItTurnsOutToBeIsDeniedBeforehand) {
    auto server = server_named("s");
    server.disabled_tools = {"disabled"};
    server.tools = {{"denied", Level::Deny}, {"always", Level::AllowAlways}};
    const config::Permissions permissions{{}, {"mcp__s__wipe*"}};
    const auto denial = [&](const std::string& tool) {
        return Policy(permissions, {server})
            .certain_denial(core::Trust::Approves, "s", "mcp__s__" + tool);
    };
    for (const char* tool : {"disabled", "denied", "wipe_all"}) EXPECT_TRUE(denial(tool)) << tool;
    EXPECT_EQ(denial("wipe"), "mcp__s__wipe is denied by [permissions] deny = \"mcp__s__wipe*\"");
    for (const char* tool : {"always", "other"}) EXPECT_FALSE(denial(tool)) << tool;
    server.enabled_tools = {"always"};
    EXPECT_TRUE(denial("denied")) << "is not enabled either";
    EXPECT_FALSE(denial("other")) << "may be the public name of what is enabled";
}

TEST(Policy, OfAnUntrustedServersToolThatNoRuleNamesNothingIsCertainBeforehand) {
    auto server = server_named("s");
    server.trust = "untrusted";
    server.tools = {{"named", Level::AllowAlways}, {"denied", Level::Deny}};
    const Policy policy({}, {server});
    EXPECT_FALSE(policy.certain_denial(core::Trust::Approves, "s", "mcp__s__other"));
    EXPECT_FALSE(policy.certain_denial(core::Trust::Approves, "s", "mcp__s__named"));
    EXPECT_TRUE(policy.certain_denial(core::Trust::Approves, "s", "mcp__s__denied"));
    EXPECT_TRUE(policy.certain_denial(core::Trust::Approves, "s", "mcp__s__other", "other"))
        << "by its own name it is no other one";
    EXPECT_FALSE(policy.certain_denial(core::Trust::Approves, "s", "mcp__s__named", "named"));
}

TEST(Policy, WhatWouldBeAskedForIsNotDeniedBeforehand) {
    const Policy policy({}, {server_named("s")});
    EXPECT_FALSE(policy.certain_denial(core::Trust::NeedsApproval, "s", "mcp__s__a"));
    EXPECT_FALSE(policy.certain_denial(core::Trust::NeedsApproval, "s", "mcp__s__a", "a"));
}

}  // namespace
}  // namespace patchbay::policy
