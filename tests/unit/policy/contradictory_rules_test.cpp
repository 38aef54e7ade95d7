#include "policy/contradictory_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::policy {
namespace {

using config::Level;
using config::Place;
using config::Scope;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ContradictoryRules : public ::testing::Test {
protected:
    ContradictoryRules() {
        config::Server server;
        server.id = "git";
        server.place = {Scope::User, "mcp.toml", 1, 1};
        config.servers.push_back(std::move(server));
    }
    config::Server& git() { return config.servers.front(); }
    void level(const std::string& key, Level level, Scope scope, unsigned line) {
        git().tools[key] = level;
        git().rules["tools." + key] = {scope, "mcp.toml", line, 1};
    }
    void deny(const std::string& pattern, Scope scope = Scope::User) {
        config.permissions.deny.push_back(pattern);
        config.permissions.deny_places[pattern] = {scope, "config.toml", 9, 1};
    }
    void allow(const std::vector<std::string>& patterns) {
        config.permissions.allow = patterns;
        config.permissions.allow_lists = {{patterns, {Scope::User, "config.toml", 5, 1}}};
        for (const auto& each : patterns)
            config.permissions.allow_places[each] = {Scope::User, "config.toml", 5, 3};
    }
    std::vector<std::string> found() const {
        std::vector<std::string> texts;
        for (const auto& each : contradictory_rules(config)) {
            EXPECT_EQ(each.severity, config::Severity::Warning);
            EXPECT_EQ(config::name_of(each.rule), "contradictory-rules");
            texts.push_back(to_string(each.place) + ": " + each.message);
        }
        return texts;
    }

    config::Config config;
};

TEST_F(ContradictoryRules, ALevelThatAListDeniesIsToldWithBothPlaces) {
    level("push", Level::AllowAlways, Scope::User, 3);
    level("log", Level::AllowAlways, Scope::User, 4);
    deny("mcp__git__push");
    EXPECT_THAT(found(),
                ElementsAre("user config mcp.toml:3:1: server \"git\": tools \"push\" = "
                            "allow-always never counts: permissions.deny \"mcp__git__push\" (user "
                            "config config.toml:9:1) forbids the same, and what forbids wins"));
}

TEST_F(ContradictoryRules, ABeginningIsToldWhereAllThatBeginsSoIsForbiddenAndNotWhereSomeIs) {
    level("create_*", Level::RequireApproval, Scope::User, 3);
    deny("mcp__git__create_tag");
    EXPECT_THAT(found(), IsEmpty()) << "the others count";
    deny("mcp__git__c*");
    EXPECT_THAT(found(), ElementsAre(HasSubstr("tools \"create_*\" = require-approval never")));
}

TEST_F(ContradictoryRules, ABeginningBesideAListOfWhatMayBeUsedCountsForThese) {
    level("*", Level::AllowAlways, Scope::User, 3);
    level("e*", Level::AllowAlways, Scope::User, 4);
    config.servers.front().enabled_tools = {"echo"};
    EXPECT_THAT(found(), IsEmpty());
    config.servers.front().enabled_tools.reset();
    config.permissions.allow = {"mcp__git__echo"};
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(ContradictoryRules, AKeyThatAStrongerScopesBeginningForbidsIsTold) {
    level("push", Level::AllowAlways, Scope::User, 3);
    level("*", Level::Deny, Scope::Enterprise, 7);
    EXPECT_THAT(found(), ElementsAre(AllOf(HasSubstr("mcp.toml:3:1"),
                                           HasSubstr("enterprise config mcp.toml:7:1"))));
    level("*", Level::Deny, Scope::User, 7);
    EXPECT_THAT(found(), IsEmpty()) << "one's own exact name outlives one's own wide word";
}

TEST_F(ContradictoryRules, AServersOwnListsAreHeldAgainstEachOtherAndAgainstItsLevels) {
    git().enabled_tools = {"log", "push"};
    git().disabled_tools = {"push"};
    git().rules["enabled_tools"] = {Scope::User, "mcp.toml", 4, 1};
    git().rules["disabled_tools"] = {Scope::User, "mcp.toml", 5, 1};
    level("show", Level::AllowAlways, Scope::User, 6);
    EXPECT_THAT(found(),
                ElementsAre(AllOf(HasSubstr("tools \"show\""), HasSubstr("enabled_tools")),
                            AllOf(HasSubstr("mcp.toml:4:1: server \"git\": enabled_tools \"push\""),
                                  HasSubstr("disabled_tools"), HasSubstr("mcp.toml:5:1"))));
}

TEST_F(ContradictoryRules, AnAllowThatIsDeniedIsToldAndOneThatADenyNarrowsIsNot) {
    allow({"mcp__git__*", "mcp__git__push"});
    deny("mcp__git__push");
    EXPECT_THAT(
        found(),
        ElementsAre(HasSubstr("config.toml:5:3: permissions.allow: \"mcp__git__push\" never")));
    level("log", Level::Deny, Scope::User, 3);
    EXPECT_THAT(found(), SizeIs(1)) << "the wide one is still for the others";
    allow({"mcp__git__log"});
    EXPECT_THAT(found(), ElementsAre(HasSubstr("tools \"log\"")));
}

TEST_F(ContradictoryRules, OfAServerThatIsOffAndOfOneThatIsNotHereNothingIsTold) {
    level("push", Level::AllowAlways, Scope::User, 3);
    allow({"mcp__web__get"});
    deny("mcp__git__push");
    deny("mcp__web__get");
    git().enabled = false;
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(ContradictoryRules, AreToldOfToALimit) {
    for (unsigned i = 0; i < 100; ++i)
        level("t" + std::to_string(i), Level::AllowAlways, Scope::User, i + 1);
    deny("mcp__git__*");
    EXPECT_THAT(found(), SizeIs(kMostContradictions));
}

}  // namespace
}  // namespace patchbay::policy
