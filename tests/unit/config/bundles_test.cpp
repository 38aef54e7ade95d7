// What [bundles] says, and what makes one useless.
#include "config/bundles.hpp"

#include "support/config_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

const std::string kServers = "[servers.a]\ncommand = 'a'\n[servers.b]\ncommand = 'b'\n";

Config of(const std::string& text) {
    return test::config_of(kServers + text);
}
std::string fault(const std::string& text) {
    const auto config = of(text);
    const auto found = bundle_named(config.bundles, "x");
    return found ? "" : found.error().message;
}

TEST(Bundles, HaveServersAndPatternsOfTheirTools) {
    const auto config =
        of("[bundles.x]\nservers = ['a', 'b']\nallow = ['mcp__a__*']\ndeny = "
           "['mcp__a__push']\nmode = 'meta'\n"
           "[bundles.y]\nserver = 'b'\n[bundles]\nz = ['a', 'b']\n");
    ASSERT_EQ(config.bundles.size(), 3u);
    const auto& x = config.bundles[0];
    EXPECT_EQ(x.fault, "");
    EXPECT_THAT(x.servers, ElementsAre("a", "b"));
    EXPECT_THAT(x.allow, Optional(ElementsAre("mcp__a__*")));
    EXPECT_THAT(x.deny, ElementsAre("mcp__a__push"));
    EXPECT_EQ(x.mode, "meta");
    EXPECT_THAT(config.bundles[1].servers, ElementsAre("b"));
    EXPECT_EQ(config.bundles[1].mode, "direct");
    EXPECT_THAT(config.bundles[2].servers, ElementsAre("a", "b"));
}

TEST(Bundles, ThatMakeNoSenseCannotBeUsed) {
    const std::pair<const char*, const char*> cases[] = {
        {"[bundles.x]\nmode = 'meta'\n", "names no servers"},
        {"[bundles.x]\nservers = []\n", "an empty list shows nothing"},
        {"[bundles.x]\nservers = ['a']\nallow = []\n", "an empty list allows nothing"},
        {"[bundles.x]\nservers = ['a']\nallow = ['a*b']\n", "expected names"},
        {"[bundles.x]\nservers = ['a']\ndeny = ['push']\n", "can match no tool"},
        {"[bundles.x]\nservers = ['a']\ndeny = ['mcp__a']\n", "can match no tool"},
        {"[bundles.x]\nservers = ['a']\nmode = 'mete'\n", "meta"},
        {"[bundles.x]\nservers = ['a']\ntrust = 'untrusted'\n", "allow has to name"},
        {"[bundles.x]\nservers = ['a']\ndenies = ['mcp__a__x']\n", "unknown key \"denies\""},
        {"[bundles]\nx = 7\n", "expected a table"},
        {"", "no bundle \"x\" is configured"},
    };
    for (const auto& [text, told] : cases) EXPECT_THAT(fault(text), HasSubstr(told)) << text;
    EXPECT_EQ(fault("[bundles.x]\nservers = ['a']\ntrust = 'untrusted'\nallow = ['mcp__a__x']\n"),
              "");
}

TEST(Bundles, ThatAnAgentHasAndThatAreNotThereShowItNothing) {
    const auto config = of("[agents.me]\nbundle = 'x'\n[bundles.y]\nservers = ['a']\n");
    ASSERT_EQ(config.agents.size(), 1u);
    EXPECT_THAT(config.agents[0].fault, HasSubstr("no bundle \"x\" is configured"));
    EXPECT_EQ(of("[agents.me]\nbundle = 'y'\n[bundles.y]\nservers = ['a']\n").agents[0].fault, "");
}

TEST(Bundles, NameServersThatAreThere) {
    const auto config = of("[bundles.x]\nservers = ['aa']\n");
    ASSERT_FALSE(config.diagnostics.empty());
    EXPECT_THAT(config.diagnostics[0].message,
                HasSubstr("bundles.x: no server \"aa\" is configured; did you mean"));
}

RuleId rule(const std::string& text) {
    const auto config = of(text);
    return config.diagnostics.empty() ? RuleId::SyntaxError : config.diagnostics.front().rule;
}

TEST(Bundles, AreToldOfByTheRuleThatTheyBreak) {
    const std::pair<const char*, RuleId> cases[] = {
        {"[bundles.x]\nservers = ['a']\ndenies = ['mcp__a__x']\n", RuleId::UnknownKey},
        {"[bundles.x]\nservers = []\n", RuleId::EmptyList},
        {"[bundles.x]\nmode = 'meta'\n", RuleId::EmptyList},
        {"[bundles.x]\nservers = ['a']\nallow = []\n", RuleId::EmptyList},
        {"[bundles.x]\nservers = ['a']\nallow = [1]\n", RuleId::InvalidValue},
        {"[bundles.x]\nservers = ['a']\ntrust = 'untrusted'\n", RuleId::ConflictingKeys},
        {"[agents.x]\nservers = []\n", RuleId::EmptyList},
        {"[agents.x]\ntool = ['mcp__a__x']\n", RuleId::UnknownKey},
        {"[agents.x]\nmeta = { nam = 'n' }\n", RuleId::UnknownKey},
    };
    for (const auto& [text, wanted] : cases)
        EXPECT_EQ(name_of(rule(text)), name_of(wanted)) << text;
}

std::vector<std::string> texts(const std::vector<Diagnostic>& all) {
    std::vector<std::string> found;
    for (const auto& each : all) found.push_back(to_string(each.place) + ": " + each.message);
    return found;
}

TEST(Bundles, WithServersThatAreNowhereAreToldOnceWithTheNearestOrWithout) {
    const auto config = of("[bundles.x]\nservers = ['aa', 'elsewhere', 'b']\n");
    EXPECT_THAT(texts(missing_servers(config, config.bundles[0])),
                ElementsAre("user config /home/me/config.toml:6:18: bundles.x: no server "
                            "\"elsewhere\" is configured here, so nothing of it is shown"))
        << "the other one is told with its nearest";
    EXPECT_THAT(texts(empty_views(config)), ElementsAre()) << "there is b";
}

TEST(Bundles, AndAgentsThatShowNothingAreTold) {
    const auto config =
        of("[servers.c]\ncommand = 'c'\nenabled = false\n"
           "[bundles.off]\nservers = ['c', 'elsewhere']\n[bundles.a]\nservers = ['a']\n"
           "[agents.me]\nservers = ['b']\nbundle = 'a'\n[agents.you]\nservers = ['c']\n"
           "[agents.both]\nservers = ['a', 'b']\nbundle = 'a'\n[agents.all]\nbundle = 'off'\n");
    EXPECT_THAT(
        texts(empty_views(config)),
        ElementsAre("user config /home/me/config.toml:8:10: bundles.off: it shows nothing, since "
                    "none of its servers is in force here",
                    "user config /home/me/config.toml:21:10: agents.all.bundle: it is shown "
                    "nothing, since \"off\" holds no server that is in force here",
                    "user config /home/me/config.toml:14:10: agents.me.bundle: it is shown "
                    "nothing, since \"a\" holds none of its servers that is in force here",
                    "user config /home/me/config.toml:15:9: agents.you: it is shown nothing, "
                    "since none of its servers is in force here"));
}

}  // namespace
}  // namespace patchbay::config
