// [gateway] and [agents.*]: what clients of `serve` are shown, and who may say so.
#include "config/merge.hpp"
#include "config/show.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Config merged(Scope scope, const std::string& text) {
    std::vector<Fragment> fragments;
    fragments.push_back(toml(scope, text));
    return merge(std::move(fragments));
}

TEST(ConfigAgents, AreWhatTheirTablesSay) {
    const auto config = merged(Scope::User,
                               "[servers.git]\ncommand = 'git'\n"
                               "[agents.reviewer]\nservers = ['git']\ntools = [' mcp__git__* ']\n"
                               "description = 'reads'\n"
                               "[agents.off]\nenabled = false\n");
    EXPECT_EQ(all(config.diagnostics), "");
    ASSERT_EQ(config.agents.size(), 2u);
    EXPECT_FALSE(config.agents[0].enabled);
    const auto& agent = config.agents[1];
    EXPECT_EQ(agent.name, "reviewer");
    EXPECT_EQ(to_string(agent.place), "user config user.toml:3:9");
    EXPECT_THAT(*agent.servers, ElementsAre("git"));
    EXPECT_THAT(*agent.tools, ElementsAre("mcp__git__*"));
    EXPECT_EQ(agent.description, "reads");
    EXPECT_EQ(to_json(config, false).at("agents").at("reviewer"),
              (boost::json::object{{"enabled", true},
                                   {"servers", {"git"}},
                                   {"tools", {"mcp__git__*"}},
                                   {"description", "reads"}}));
}

TEST(ConfigAgents, AStrongerTableReplacesAWeakerOneWhole) {
    std::vector<Fragment> fragments;
    fragments.push_back(toml(Scope::User, "[agents.x]\ntools = ['mcp__a__*']\n"));
    fragments.push_back(
        toml(Scope::Enterprise, "exclusive = false\n[agents.x]\nservers = ['a']\n"));
    const auto config = merge(std::move(fragments));
    ASSERT_EQ(config.agents.size(), 1u);
    EXPECT_FALSE(config.agents[0].tools);
    EXPECT_EQ(config.agents[0].place.scope, Scope::Enterprise);
}

TEST(ConfigAgents, ACheckoutSetsNothingOfTheGateway) {
    for (const auto scope : {Scope::Project, Scope::Local}) {
        std::vector<Fragment> fragments;
        fragments.push_back(toml(
            Scope::User, "[gateway]\napprovals = 'rules'\n[agents.x]\ntools = ['mcp__a__b']\n"));
        fragments.push_back(
            toml(scope,
                 "[gateway]\napprovals = 'client'\nfirst_list_ms = 0\nhost_tools = true\n"
                 "[agents.x]\nenabled = true\n[agents.y]\n"));
        const auto config = merge(std::move(fragments));
        EXPECT_EQ(config.gateway.approvals, "rules");
        EXPECT_EQ(config.gateway.first_list.count(), 1000);
        EXPECT_FALSE(config.gateway.host_tools);
        ASSERT_EQ(config.agents.size(), 1u);
        EXPECT_TRUE(config.agents[0].tools);
        for (const auto* key : {"gateway.approvals", "gateway.first_list_ms", "gateway.host_tools",
                                "agents.x", "agents.y"})
            EXPECT_THAT(all(config.diagnostics),
                        HasSubstr(std::string(key) + ": not allowed in a " + name_of(scope)));
    }
}

TEST(ConfigAgents, WhatMayHaveBeenMeantToHideSomethingMakesTheAgentUseless) {
    for (const auto* keys :
         {"servers = 'git'", "servers = []", "tools = []", "tools = ['a*b']", "tools = [7]",
          "server = ['git']", "tool = ['mcp__git__log']", "disabled_tools = ['x']",
          "deny = ['mcp__git__*']", "enabled = 'no'"}) {
        const auto config = merged(Scope::User, "[agents.x]\n" + std::string(keys) + "\n");
        ASSERT_EQ(config.agents.size(), 1u);
        EXPECT_THAT(config.agents[0].fault, HasSubstr("user config user.toml:2:")) << keys;
        EXPECT_THAT(all(config.diagnostics), HasSubstr("error: ")) << keys;
    }
    const auto harmless = merged(Scope::User, "[agents.x]\nmodel = 'm'\ndescripton = 'd'\n");
    EXPECT_EQ(harmless.agents[0].fault, "");
    EXPECT_THAT(all(harmless.diagnostics), HasSubstr("did you mean \"description\"?"));
    EXPECT_THAT(merged(Scope::User, "[agents.'a b']\n").agents, IsEmpty());
}

TEST(ConfigAgents, AServerThatIsNotThereIsToldWithTheNearest) {
    const auto config =
        merged(Scope::User, "[servers.git]\ncommand = 'git'\n[agents.x]\nservers = ['gti']\n");
    EXPECT_THAT(all(config.diagnostics),
                HasSubstr("user config user.toml:4:12: agents.x.servers: no server \"gti\" is "
                          "configured; did you mean \"git\"?"))
        << "at its own line, though the table stands above";
    EXPECT_EQ(config.agents[0].fault, "");
    // That of a checkout where we are not.
    const auto elsewhere = merged(Scope::User,
                                  "[servers.git]\ncommand = 'git'\n[agents.x]\nservers = "
                                  "['billing']\nmodes.billing = 'shared'\n");
    EXPECT_EQ(all(elsewhere.diagnostics), "");
    const auto flag = read_fragment("[agents.x]\nservers = ['billing']\n", Format::Toml,
                                    {Scope::Session, 0, "--set"});
    EXPECT_THAT(all(merge({flag}).diagnostics), HasSubstr("no server \"billing\" is configured"));
}

TEST(ConfigGateway, ItsKeysAreCheckedAndAnotherProgramsAgentsAreItsOwn) {
    const auto config =
        merged(Scope::User, "[gateway]\napprovals = 'ask'\nfirst_list_ms = 0\nhost_tools = true\n");
    EXPECT_EQ(all(config.diagnostics), "");
    EXPECT_TRUE(config.gateway.host_tools);
    EXPECT_THAT(all(merged(Scope::User, "[gateway]\nhost_tools = 'yes'\n").diagnostics),
                HasSubstr("gateway.host_tools"));
    EXPECT_EQ(config.gateway.approvals, "ask");
    EXPECT_EQ(config.gateway.first_list.count(), 0);
    EXPECT_THAT(all(merged(Scope::User, "[gateway]\napprovals = 'asks'\n").diagnostics),
                HasSubstr("gateway.approvals"));
    EXPECT_THAT(all(merged(Scope::User, "[gateway]\nfirst_list_ms = 60001\n").diagnostics),
                HasSubstr("from 0 to 60000"));
    EXPECT_EQ(
        all(merged(Scope::User, "[mcp_servers.x]\ncommand = 'x'\n[agents]\nmax = 3\n").diagnostics),
        "");
}

}  // namespace
}  // namespace patchbay::config
