// What files and approvals forbid by now holds over a configuration that a host keeps to.
#include "app/stricter.hpp"

#include "config/levels.hpp"
#include "config/load.hpp"
#include "unit/config/support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>

namespace patchbay::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kMine = "[servers.mine]\ncommand = \"true\"\n";
constexpr const char* kProject = "{\"mcpServers\":{\"proj\":{\"command\":\"true\"}}}";

class Stricter : public ::testing::Test {
protected:
    Stricter() {
        user(kMine);
        project(kProject);
        kept = read();
    }
    void user(const std::string& text) { world.folder.write(kUser, text); }
    void project(const std::string& text) { world.folder.write(kOfProject, text); }
    void enterprise(const std::string& text) {
        world.folder.write("etc/enterprise.toml", "exclusive = false\n" + text);
    }
    // Beside all else: what nobody can read.
    void junk() { world.folder.write("home/user/src/project/.patchbay/config.toml", "junk"); }
    config::Config read() const {
        auto config = config::load(world.environment, {}, &approvals).config;
        config.consents = consents;
        return config;
    }
    config::Config stricter(Removed removed = Removed::IsOff) const {
        return made_stricter(kept, read(), removed).value_or(kept);
    }
    bool is_on(const std::string& server, Removed removed = Removed::IsOff) const {
        const auto config = stricter(removed);
        const auto* found = config::find(config, server);
        return found && found->enabled;
    }

    static constexpr const char* kUser = "home/user/.config/patchbay/config.toml";
    static constexpr const char* kOfProject = "home/user/src/project/.mcp.json";
    config::World world;
    config::FakeApprovals approvals;  // all, until it has digests
    std::set<std::string> consents{"proj"};
    config::Config kept;
};

TEST_F(Stricter, AFileThatCannotBeReadForbidsNothing) {
    junk();
    EXPECT_FALSE(made_stricter(kept, read(), Removed::IsOff));
    user("junk");
    project("junk");
    EXPECT_FALSE(made_stricter(kept, read(), Removed::IsOff));
}

TEST_F(Stricter, ALevelForAllThatBeginsSoCountsForEachNameThatHasAFreerOne) {
    user(std::string(kMine) + "tools = { push = 'allow-always', pull = 'disable' }\n");
    kept = read();
    junk();
    user(std::string(kMine) + "tools = { '*' = 'deny' }\n");
    const auto config = stricter();
    const auto& server = *config::find(config, "mine");
    using config::Level;
    EXPECT_EQ(config::level_for(server, "push", Level::AllowAlways), Level::Deny);
    EXPECT_EQ(config::level_for(server, "other", Level::AllowAlways), Level::Deny);
    EXPECT_EQ(config::level_for(server, "pull", Level::AllowAlways), Level::Disable);
    EXPECT_FALSE(made_stricter(config, read(), Removed::IsOff)) << "it is as strict by now";
}

TEST_F(Stricter, WhatIsAskedAboutAddsUp) {
    junk();
    user(std::string(kMine) + "[permissions]\nask = ['mcp__mine__*']\n");
    EXPECT_THAT(stricter().permissions.ask, ElementsAre("mcp__mine__*"));
}

TEST_F(Stricter, BesideItAnApprovalThatIsRevokedEndsTheServer) {
    junk();
    approvals.digests.emplace();
    consents.clear();
    EXPECT_FALSE(is_on("proj"));
    EXPECT_TRUE(is_on("mine"));
    const auto after = stricter();
    const auto why = config::why_disabled(*config::find(after, "proj"));
    EXPECT_THAT(why, HasSubstr("it is not approved; to see and approve it: patchbay trust proj"));
}

TEST_F(Stricter, ItEndsAlsoWhereTheFileThatDefinesItIsTheOneThatCannotBeRead) {
    project("junk");
    EXPECT_TRUE(is_on("proj"));
    consents.clear();
    EXPECT_FALSE(is_on("proj"));
}

TEST_F(Stricter, BesideItAServerThatNoFileDefinesAnyMoreIsOff) {
    junk();
    user("");
    EXPECT_FALSE(is_on("mine"));
    world.folder.write(kUser, kMine);
    std::filesystem::remove(world.folder / kOfProject);
    EXPECT_FALSE(is_on("proj"));
    EXPECT_TRUE(is_on("mine"));
}

TEST_F(Stricter, ACheckoutThatAdjustsAServerDoesNotKeepItThere) {
    user("");
    project("{\"mcpServers\":{\"mine\":{\"comand\":\"true\"}}}");
    EXPECT_FALSE(is_on("mine"));
}

TEST_F(Stricter, BesideItAListOfWhatIsAllowedNarrows) {
    junk();
    user(std::string(kMine) + "[permissions]\nallow = [\"mcp__mine__add\", \"mcp__mine__echo\"]\n");
    EXPECT_THAT(*stricter().permissions.allow, ElementsAre("mcp__mine__add", "mcp__mine__echo"));
    enterprise("[permissions]\nallow = [\"mcp__mine__add\"]\n");
    EXPECT_THAT(*stricter().permissions.allow, ElementsAre("mcp__mine__add"));
}

TEST_F(Stricter, WhatCanBeReadOfRulesBesideAFaultOfThemCounts) {
    const std::string mine(kMine);
    user(mine + "[permissions]\ndeny = [\"mcp__mine__echo\"]\nallow = 5\n");
    EXPECT_THAT(stricter().permissions.deny, ElementsAre("mcp__mine__echo"));
    EXPECT_FALSE(stricter().permissions.allow);
    user(mine + "[permissions]\ndeny = [\"mcp__mine__echo\", 5, \"echo\"]\n");
    EXPECT_THAT(stricter().permissions.deny, ElementsAre("mcp__mine__echo"));
    user(mine + "[permissions]\ndeny = \"mcp__mine__echo\"\n");
    EXPECT_THAT(stricter().permissions.deny, ElementsAre("mcp__mine__echo"));
    user(mine + "[permissions]\ndny = 1\nallow = [\"mcp__mine__add\", 5]\n");
    EXPECT_THAT(*stricter().permissions.allow, ElementsAre("mcp__mine__add"));
    EXPECT_NE(read().permissions.closed, "") << "whoever starts by it is allowed nothing";
}

TEST_F(Stricter, WhatCanBeReadOfRulesOfAServerWithAFaultCounts) {
    const auto after = [&](const std::string& rules) {
        user("[servers.mine]\n" + rules);
        return *config::find(stricter(), "mine");
    };
    EXPECT_TRUE(after("command = 5\n").enabled) << "a fault alone";
    EXPECT_FALSE(after("command = 5\nenabled = false\n").enabled);
    EXPECT_FALSE(after("command = \"true\"\ntool_timeout_sec = \"x\"\nenabled = false\n").enabled);
    EXPECT_THAT(after("command = 5\ndisabled_tools = [\"echo\"]\n").disabled_tools,
                ElementsAre("echo"));
    EXPECT_THAT(after("command = \"true\"\ndisabled_tools = [\"echo\", 7]\n").disabled_tools,
                ElementsAre("echo"));
    EXPECT_THAT(*after("command = \"true\"\nenabled_tools = [\"add\", 7]\n").enabled_tools,
                ElementsAre("add"));
    EXPECT_EQ(after("command = \"true\"\ntools = {echo = \"deny\", add = 5}\n").tools.at("echo"),
              config::Level::Deny);
    EXPECT_EQ(after("command = 5\ntrust = \"untrusted\"\n").trust, "untrusted");
}

TEST_F(Stricter, WhatAUserTookOutIsBackForWhoeverGoesBackAndNothingElse) {
    user("");
    EXPECT_TRUE(is_on("mine", Removed::IsBack));
    std::filesystem::remove(world.folder / kOfProject);
    EXPECT_FALSE(is_on("proj", Removed::IsBack));
    world.folder.write("etc/enterprise.toml", "");
    EXPECT_FALSE(is_on("mine", Removed::IsBack)) << "it is exclusive";
    enterprise("[servers.mine]\ncommand = \"false\"\n");
    EXPECT_FALSE(is_on("mine", Removed::IsBack)) << "an administrator has another one";
}

TEST_F(Stricter, WhatAnAgentIsShownNarrowsToo) {
    const std::string agent = std::string(kMine) + "[agents.a]\n";
    user(agent + "servers = [\"mine\", \"proj\"]\n");
    kept = read();
    junk();
    user(agent + "servers = [\"mine\"]\ntools = [\"mcp__mine__echo\"]\n");
    EXPECT_THAT(*stricter().agents.at(0).servers, ElementsAre("mine"));
    EXPECT_THAT(*stricter().agents.at(0).tools, ElementsAre("mcp__mine__echo"));
    user(agent + "enabled = false\n");
    EXPECT_FALSE(stricter().agents.at(0).enabled);
    user(agent + "servers = 5\n");
    EXPECT_NE(stricter().agents.at(0).fault, "");
    user(std::string(kMine));
    EXPECT_FALSE(stricter().agents.at(0).enabled) << "no file has it any more";
    EXPECT_FALSE(stricter(Removed::IsBack).agents.at(0).enabled)
        << "nor does who goes back have anybody come as it";
}

TEST_F(Stricter, WhatABundleHoldsNarrowsToo) {
    const std::string bundle = std::string(kMine) + "[bundles.b]\n";
    user(bundle + "servers = [\"mine\", \"proj\"]\n");
    kept = read();
    junk();
    user(bundle +
         "servers = [\"mine\", \"other\"]\nallow = [\"mcp__mine__*\"]\n"
         "deny = [\"mcp__mine__push\"]\n");
    const auto now = stricter().bundles.at(0);
    EXPECT_THAT(now.servers, ElementsAre("mine")) << "nothing that it had not before";
    EXPECT_THAT(*now.allow, ElementsAre("mcp__mine__*"));
    EXPECT_THAT(now.deny, ElementsAre("mcp__mine__push"));
    user(bundle + "servers = [\"mine\", \"proj\"]\nallw = []\n");
    EXPECT_NE(stricter().bundles.at(0).fault, "");
    user(std::string(kMine));
    EXPECT_THAT(stricter().bundles.at(0).fault, HasSubstr("no file has it any more"));
    user(bundle + "servers = [\"mine\", \"proj\", \"more\"]\n");
    EXPECT_EQ(stricter().bundles.at(0).servers.size(), 2u);
}

TEST_F(Stricter, ATableThatIsNotApprovedEndsTheServersThatUseIt) {
    world.folder.write("home/user/src/project/.patchbay/config.toml",
                       "[auth.corp]\nkind = \"static\"\n");
    user(std::string(kMine) + "auth = \"corp\"\n");
    kept = read();
    ASSERT_TRUE(is_on("mine"));
    approvals.digests.emplace();
    EXPECT_FALSE(is_on("mine"));
}

}  // namespace
}  // namespace patchbay::app
