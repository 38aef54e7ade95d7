#include "policy/unmatched_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::policy {
namespace {

using config::Level;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class UnmatchedRules : public ::testing::Test {
protected:
    UnmatchedRules() {
        for (const char* id : {"git", "github"}) {
            config::Server server;
            server.id = id;
            server.place = {config::Scope::User, "config.toml", 1, 1};
            config.servers.push_back(std::move(server));
        }
    }
    std::vector<std::string> found() const {
        std::vector<std::string> texts;
        for (const auto& each : unmatched_rules(config, known)) {
            EXPECT_EQ(each.severity, config::Severity::Warning);
            texts.push_back(to_string(each.place) + ": " + each.message);
        }
        return texts;
    }
    config::Config config;
    KnownTools known{{"git", {"log", "odd name"}}, {"github", {"create_issue"}}};
};

TEST_F(UnmatchedRules, EveryKindOfRuleIsOne) {
    EXPECT_FALSE(has_rules(config));
    const auto with = [this](const auto& change) {
        auto changed = config;
        change(changed);
        return has_rules(changed);
    };
    EXPECT_TRUE(with([](auto& each) { each.permissions.allow.emplace(); }));
    EXPECT_TRUE(with([](auto& each) { each.permissions.deny = {"mcp__git__*"}; }));
    EXPECT_TRUE(with([](auto& each) { each.permissions.ask = {"mcp__git__*"}; }));
    EXPECT_TRUE(with([](auto& each) { each.servers[1].enabled_tools.emplace(); }));
    EXPECT_TRUE(with([](auto& each) { each.servers[1].disabled_tools = {"push"}; }));
    EXPECT_TRUE(with([](auto& each) { each.servers[1].tools = {{"push", Level::Deny}}; }));
    config::Agent agent;
    agent.tools = {"mcp__git__log"};
    EXPECT_TRUE(with([&](auto& each) { each.agents = {agent}; }));
    agent.enabled = false;
    EXPECT_FALSE(with([&](auto& each) { each.agents = {agent}; })) << "nobody is shown by it";
}

TEST_F(UnmatchedRules, NamesThatNoToolHasAreToldOnceEachWithTheirPlace) {
    auto& git = config.servers[0];
    git.enabled_tools = {"log", "lgo"};
    git.disabled_tools = {"log", "push"};
    git.tools = {{"log", Level::Deny}, {"merge", Level::Deny}};
    git.rules = {{"disabled_tools", {config::Scope::Local, "l.toml", 3, 1}},
                 {"tools.merge", {config::Scope::User, "u.toml", 9, 2}}};
    EXPECT_THAT(
        found(),
        ElementsAre("user config config.toml:1:1: server \"git\": enabled_tools names \"lgo\", and "
                    "the server has no such tool; did you mean \"log\"?",
                    "local config l.toml:3:1: server \"git\": disabled_tools names \"push\", and "
                    "the server has no such tool",
                    "user config u.toml:9:2: server \"git\": tools.merge names \"merge\", and the "
                    "server has no such tool"));
    known.erase("git");
    EXPECT_THAT(found(), IsEmpty()) << "nothing is known of it yet";
}

TEST_F(UnmatchedRules, LevelsForBeginningsThatNoToolHasAreTold) {
    config.servers[0].tools = {{"*", Level::Deny}, {"lo*", Level::AllowAlways}};
    config.servers[1].tools = {{"craete_*", Level::Deny}, {"list_*", Level::AllowAlways}};
    EXPECT_THAT(found(),
                ElementsAre("user config config.toml:1:1: server \"github\": tools.craete_* names "
                            "\"craete_*\", and no tool of the server begins so; did you mean "
                            "\"create_\"?",
                            "user config config.toml:1:1: server \"github\": tools.list_* names "
                            "\"list_*\", and no tool of the server begins so"));
}

TEST_F(UnmatchedRules, OfWhatIsAskedAboutAreToldToo) {
    config.permissions.ask = {"mcp__git__lo*", "mcp__git__push", "mcp__gti__*"};
    EXPECT_THAT(found(),
                ElementsAre(HasSubstr("permissions.ask: \"mcp__git__push\" matches no tool"),
                            HasSubstr("did you mean \"git\"?")));
}

TEST_F(UnmatchedRules, PatternsThatMatchNoToolOfTheServersTheyConcernAreTold) {
    config.permissions.deny = {"mcp__git__log",
                               "mcp__git__lgo",
                               "mcp__github__delete_*",
                               "mcp__github__create_*",
                               "mcp__git*",
                               "mcp__*",
                               "*"};
    config.permissions.deny_places = {
        {"mcp__git__lgo", {config::Scope::User, "u.toml", 4, 9}},
        {"mcp__github__delete_*", {config::Scope::Enterprise, "e.toml", 2, 9}}};
    config.permissions.allow = {"mcp__git__", "mcp__git__*"};
    EXPECT_THAT(found(),
                ElementsAre(HasSubstr("user config u.toml:4:9: permissions.deny: "
                                      "\"mcp__git__lgo\" matches no tool of server \"git\"; did "
                                      "you mean \"mcp__git__log\""),
                            HasSubstr("enterprise config e.toml:2:9: permissions.deny: "
                                      "\"mcp__github__delete_*\" matches no tool of server")))
        << "\"mcp__git__\" is what is asked of the server besides its tools";
}

TEST_F(UnmatchedRules, WhatIsAllowedIsLookedAtLikeWhatIsDenied) {
    config.permissions.allow = {"mcp__git__log", "mcp__git__lgo", "mcp__github__delete_*", "git*"};
    config.permissions.allow_places = {
        {"mcp__git__lgo", {config::Scope::User, "u.toml", 5, 9}},
        {"mcp__github__delete_*", {config::Scope::Local, "l.toml", 6, 9}}};
    EXPECT_THAT(found(),
                ElementsAre(HasSubstr("user config u.toml:5:9: permissions.allow: "
                                      "\"mcp__git__lgo\" matches no tool of server \"git\"; did "
                                      "you mean \"mcp__git__log\""),
                            HasSubstr("local config l.toml:6:9: permissions.allow: "
                                      "\"mcp__github__delete_*\" matches no tool of server"),
                            HasSubstr("permissions.allow: \"git*\" can match no tool")));
}

TEST_F(UnmatchedRules, AServerAloneIsNoToolButAllOfThemToWhoDenies) {
    config.permissions.deny = {"mcp__git",   "mcp__git_log",   "mcp__git_lgo",
                               "mcp__git__", "mcp__elsewhere", "mcp__gihtub"};
    EXPECT_THAT(found(),
                ElementsAre(HasSubstr("\"mcp__git_lgo\" matches no tool of server \"git\"; did you "
                                      "mean \"mcp__git__log\""),
                            HasSubstr("\"mcp__gihtub\" concerns no server that is configured; did "
                                      "you mean \"github\"?")));
    config.permissions.deny.clear();
    config.permissions.allow = {"mcp__git"};
    EXPECT_THAT(found(), ElementsAre(HasSubstr("\"mcp__git\" can match no tool")));
}

TEST_F(UnmatchedRules, WhatIsReadWidelyIsTold) {
    config.permissions.deny = {"mcp__git__l.g", "mcp__git__odd name", "mcp__github/create_issue"};
    auto& git = config.servers[0];
    git.disabled_tools = {"l.g", "odd name", "lo*"};
    EXPECT_THAT(
        found(),
        ElementsAre(
            HasSubstr("disabled_tools names \"l.g\", and the server has no such tool; it may be "
                      "meant for others, so all its tools are denied; did you mean \"log\"?"),
            HasSubstr("disabled_tools names \"odd name\", which holds a \" \", which may stand for "
                      "more, so all that begins with \"mcp__git__odd\" is denied"),
            HasSubstr("\"mcp__git__l.g\" holds a \".\", which may stand for more, so all that "
                      "begins with \"mcp__git__\" is denied"),
            HasSubstr("\"mcp__git__odd name\" holds a \" \", which may stand for more"),
            HasSubstr("\"mcp__github/create_issue\" holds a \"/\"")));
}

TEST_F(UnmatchedRules, WhereAListDecidesWhatARuleMeansThatIsTold) {
    known["git"] = {"git", "log", "l.g", "\u00e9cho"};
    auto& git = config.servers[0];
    git.disabled_tools = {"git", "mcp.git.log", "l.g", "\u00e9cho", "mcp__git__git"};
    git.tools = {{"mcp_git_log", Level::Deny}};
    config.permissions.deny = {"mcp__git__\u00e9cho", "mcp__x/git__log", "mcp__git__a, git__b"};
    EXPECT_THAT(
        found(),
        ElementsAre(
            HasSubstr("names \"git\", which may mean more, but denies that tool alone since there "
                      "is one; write its public name"),
            HasSubstr("names \"mcp.git.log\", and the server has no such tool; it may be meant for "
                      "others, so all its tools are denied"),
            HasSubstr("names \"\u00e9cho\", which may mean more"),
            HasSubstr("tools.mcp_git_log names \"mcp_git_log\", and the server has no such tool; "
                      "it may be meant for others"),
            HasSubstr("\"mcp__git__\u00e9cho\" may mean more, but denies that tool alone"),
            HasSubstr("\"mcp__x/git__log\" holds a \"/\", which may stand for more, so all that "
                      "begins with \"mcp__git__\" is denied"),
            HasSubstr("\"mcp__git__a, git__b\" matches no tool of server \"git\"")));
}

TEST_F(UnmatchedRules, AnAllowThatMayBeAboutTwoServersIsTold) {
    config.servers[1].written = "git__hub";
    config.permissions.allow = {"mcp__git__hub__x"};
    EXPECT_THAT(found(), ElementsAre(HasSubstr("\"mcp__git__hub__x\" may be about two servers")));
}

TEST_F(UnmatchedRules, WhatForbidsAToolByItsPublicNameMatchesIt) {
    auto& git = config.servers[0];
    git.disabled_tools = {"mcp__git__log"};
    git.enabled_tools = {"mcp__git__log"};
    EXPECT_THAT(found(), ElementsAre(HasSubstr("enabled_tools names \"mcp__git__log\"")));
}

TEST_F(UnmatchedRules, AServerAsItIsWrittenIsThatServer) {
    config.servers[0].written = "g__it";
    config.permissions.deny = {"mcp__g__it__log", " mcp__git__log ", "mcp__git__odd name",
                               "mcp__g__it__lgo", "mcp__git__l?g",   "mcp__git__l.*"};
    EXPECT_THAT(found(),
                ElementsAre(HasSubstr("\"mcp__git__odd name\" holds a \" \""),
                            HasSubstr("\"mcp__g__it__lgo\" matches no tool of server \"git\""),
                            HasSubstr("\"mcp__git__l?g\" holds a \"?\""),
                            HasSubstr("\"mcp__git__l.*\" holds a \".\", which may stand for more, "
                                      "so all that begins with \"mcp__git__l\" is denied")));
}

TEST_F(UnmatchedRules, AServerThatIsWrittenAsAnotherBeginsIsNoRegularExpression) {
    config.servers[0].written = "git__";
    config.permissions.deny = {"mcp__git__"};
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(UnmatchedRules, ARuleThatFitsNeitherServerIsToldOfTheOneThatItNames) {
    config.servers[0].written = "gat__it";
    config.servers.push_back(config.servers[1]);
    config.servers.back().id = "gat";
    known["gat"] = {"log"};
    config.permissions.deny = {"mcp__gat__it__zz*"};
    EXPECT_THAT(found(), ElementsAre(HasSubstr("matches no tool of server \"gat\"")));
}

TEST_F(UnmatchedRules, OfALongRuleTheFirst80BytesAreTold) {
    config.permissions.deny = {std::string(81, 'x')};
    EXPECT_THAT(found(),
                ElementsAre(HasSubstr(": \"" + std::string(80, 'x') + "\" can match no tool")));
}

TEST_F(UnmatchedRules, OfThousandsOnlyTheFirstAreTold) {
    auto& git = config.servers[0];
    for (int i = 0; i < 4000; ++i) git.disabled_tools.push_back("lag" + std::to_string(i));
    for (int i = 0; i < 4000; ++i) known["git"].push_back("log" + std::to_string(i));
    for (int i = 0; i < 4000; ++i)
        config.permissions.deny.push_back("mcp__gitt" + std::to_string(i) + "__log");
    const auto texts = found();
    ASSERT_EQ(texts.size(), 21U);
    EXPECT_THAT(texts.back(), HasSubstr("the rest was not looked at"));
}

TEST_F(UnmatchedRules, ARuleForServersThatAreNotKnownMayBeRight) {
    config.permissions.deny = {"mcp__elsewhere__x", "mcp__github__nothing", "mcp__g*"};
    known.erase("github");
    EXPECT_THAT(found(), IsEmpty());
    config.servers[1].enabled = false;
    EXPECT_THAT(found(), IsEmpty()) << "nor is anybody asked of a disabled one";
}

TEST_F(UnmatchedRules, AServerThatIsMisspeltIsToldBeforeAnyIsAsked) {
    known.clear();
    config.permissions.deny = {"mcp__gihtub__*", "mcp__gihtub__push", "mcp__elsewhere__*"};
    EXPECT_THAT(found(),
                ElementsAre(HasSubstr("\"mcp__gihtub__*\" concerns no server that is configured; "
                                      "did you mean \"github\"?"),
                            HasSubstr("\"mcp__gihtub__push\" concerns no server")));
    config::Proposal waiting;
    waiting.id = "gihtub";
    config.untrusted.push_back(std::move(waiting));
    EXPECT_THAT(found(), IsEmpty()) << "one that waits for an approval is there";
}

TEST_F(UnmatchedRules, AServerWithoutToolsIsKnownToo) {
    config.permissions.deny = {"mcp__git__log"};
    known["git"].clear();
    EXPECT_THAT(found(), ElementsAre(HasSubstr("matches no tool of server \"git\"")));
}

TEST_F(UnmatchedRules, WhatIsNoPublicNameIsToldBeforeAnyServerIsAsked) {
    known.clear();
    config.permissions.deny = {"delete_*", "git__log", "mcp__", "mcp_*", "m*", "mcp__git__log"};
    EXPECT_THAT(found(), ElementsAre(HasSubstr("\"delete_*\" can match no tool"),
                                     HasSubstr("\"git__log\" can match no tool"),
                                     HasSubstr("\"mcp__\" can match no tool")));
}

TEST_F(UnmatchedRules, ANameThatWasCutOrHashedIsMatchedAsItIsCalled) {
    config.permissions.deny = {"mcp__git__odd_name_*"};
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(UnmatchedRules, WhatAnAgentOrAClientIsShownByPatternsThatMatchNothingIsToldToo) {
    config::Agent agent;
    agent.name = "x";
    agent.tools = {"mcp__git__*", "mcp__git__lgo", "mcp__gti__*", "log", "mcp__git__", "mcp__*"};
    agent.tool_places = {{"mcp__git__lgo", {config::Scope::User, "u.toml", 4, 3}},
                         {"mcp__gti__*", {config::Scope::User, "u.toml", 5, 3}},
                         {"log", {config::Scope::User, "u.toml", 6, 3}}};
    config.agents = {agent};
    const std::string key = ": agents.x.tools: ";
    EXPECT_THAT(
        found(),
        ElementsAre(
            "user config u.toml:4:3" + key +
                "\"mcp__git__lgo\" shows nothing: it matches no tool of server \"git\"; did you "
                "mean \"mcp__git__log\"?",
            "user config u.toml:5:3" + key +
                "\"mcp__gti__*\" shows nothing: it concerns no server that is configured; did "
                "you mean \"git\"?",
            ::testing::StartsWith(
                "user config u.toml:6:3" + key +
                "\"log\" shows nothing: it can match no tool: public names are")));
    known.clear();
    EXPECT_EQ(found().size(), 2u) << "nothing is known of git yet";
    EXPECT_THAT(unmatched_rules(config, known, OfAgents::No), IsEmpty());
    config.agents[0].enabled = false;
    EXPECT_THAT(found(), IsEmpty());
    const auto typed = unmatched_patterns(config, known, "--tools",
                                          {"mcp__git__lgo", "mcp__gti__*", "mcp__zzz__x"});
    ASSERT_EQ(typed.size(), 2u);
    EXPECT_EQ(typed[1].message,
              "\"mcp__zzz__x\" shows nothing: it concerns no server that is configured");
    EXPECT_EQ(to_string(typed[0].place), "session config --tools");
    EXPECT_THAT(typed[0].message,
                ::testing::StartsWith("\"mcp__gti__*\" shows nothing: it concerns no server"));
}

TEST_F(UnmatchedRules, WhatABundleShowsOrHidesByPatternsThatMatchNothingIsToldToo) {
    config::Bundle bundle;
    bundle.name = "b";
    bundle.servers = {"git"};
    bundle.allow = {"mcp__git__lgo", "mcp__git__log", "mcp__github__*"};
    bundle.deny = {"mcp__gti__*", "mcp__git__lo*"};
    bundle.allow_places["mcp__git__lgo"] = {config::Scope::User, "u.toml", 4, 3};
    config.bundles.push_back(bundle);
    EXPECT_TRUE(has_rules(config));
    EXPECT_THAT(found(),
                ElementsAre("user config u.toml:4:3: bundles.b.allow: \"mcp__git__lgo\" shows "
                            "nothing: it matches no tool of server \"git\"; did you mean "
                            "\"mcp__git__log\"?",
                            ::testing::EndsWith("bundles.b.allow: \"mcp__github__*\" shows "
                                                "nothing: it concerns none of its servers"),
                            ::testing::EndsWith("bundles.b.deny: \"mcp__gti__*\" hides nothing: "
                                                "it concerns no server that is configured; did "
                                                "you mean \"git\"?")));
    EXPECT_EQ(unmatched_in_bundle(config, known, config.bundles[0]).size(), 3u);
    EXPECT_THAT(unmatched_rules(config, known, OfAgents::No), IsEmpty());
    config.bundles[0].fault = "not to be used";
    EXPECT_THAT(found(), IsEmpty()) << "that was told";
}

}  // namespace
}  // namespace patchbay::policy
