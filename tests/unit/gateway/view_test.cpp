#include "gateway/view.hpp"

#include "config/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

View picking(View::Ids ids) {
    View view;
    view.picked = std::move(ids);
    return view;
}
View of_tools(std::vector<std::string> patterns) {
    View view;
    view.tools.push_back(std::move(patterns));
    return view;
}

TEST(View, HoldsServersThatItsPatternsReachAndNoOthers) {
    EXPECT_TRUE(View().holds("git"));
    EXPECT_FALSE(picking({"git"}).holds("github"));
    for (const auto* pattern :
         {"mcp__git__log", "mcp__git__*", "mcp__git__l*", "mcp__*", "mcp__g*", "*"})
        EXPECT_TRUE(of_tools({pattern}).holds("git")) << pattern;
    for (const auto* pattern : {"mcp__git", "mcp__github__*", "mcp__gi", "git", "mcp__x*"})
        EXPECT_FALSE(of_tools({pattern}).holds("git")) << pattern;
}

TEST(View, HoldsAToolThatMatchesAndWhatElseAServerHasByItsBareName) {
    const auto view = of_tools({"mcp__git__log", "mcp__github__*"});
    EXPECT_TRUE(view.holds("git", "mcp__git__log"));
    EXPECT_FALSE(view.holds("git", "mcp__git__push"));
    EXPECT_FALSE(view.sight()->holds_others_of("git"));
    EXPECT_TRUE(view.sight()->holds_others_of("github"));
    EXPECT_FALSE(View().sight()) << "all there is";
}

TEST(View, ABundleHoldsWhatItAllowsButForWhatItDenies) {
    config::Config config;
    config::Bundle bundle{"b", {}};
    bundle.servers = {"git", "x"};
    bundle.allow = {"mcp__git__*", "mcp__x__*"};
    bundle.deny = {"mcp__git__push*", "mcp__x__*"};
    config.bundles = {bundle};
    const auto view = view_of_bundle(config, "b");
    ASSERT_TRUE(view) << view.error().message;
    EXPECT_TRUE(view->holds("git", "mcp__git__log"));
    EXPECT_FALSE(view->holds("git", "mcp__git__push"));
    EXPECT_FALSE(view->holds("git", "mcp__git__push_all"));
    EXPECT_TRUE(view->sight()->holds_others_of("git"));
    EXPECT_FALSE(view->holds("x")) << "nothing of it is left";
    EXPECT_FALSE(view->holds("y", "mcp__y__a"));
    EXPECT_FALSE(view->meta);
    // Whatever it is joined with shows no more than it does, and two that have nothing in common show nothing.
    EXPECT_FALSE(of_tools({"mcp__git__push"}).within(*view).holds("git", "mcp__git__push"));
    EXPECT_FALSE(picking({"y"}).within(*view).holds("git"));
    EXPECT_FALSE(view->within(picking({"y"})).holds("y"));
    EXPECT_NE(view->key(), picking({"git", "x"}).key());
    config.bundles[0].deny.clear();
    EXPECT_NE(view->key(), view_of_bundle(config, "b")->key())
        << "a session of the one is none of the other";
    config.bundles[0].mode = "meta";
    EXPECT_TRUE(view_of_bundle(config, "b")->meta);
}

TEST(View, AnAgentIsShownNoMoreThanItsBundle) {
    config::Config config;
    config::Bundle bundle{"b", {}};
    bundle.servers = {"git"};
    bundle.deny = {"mcp__git__push"};
    config.bundles = {bundle};
    config::Agent agent;
    agent.name = "a";
    agent.servers = {"git", "x"};
    agent.bundle = "b";
    config.agents = {agent};
    const auto view = view_of_agent(config, "a");
    ASSERT_TRUE(view);
    EXPECT_EQ(view->agent, "a");
    EXPECT_TRUE(view->holds("git", "mcp__git__log"));
    EXPECT_FALSE(view->holds("git", "mcp__git__push"));
    EXPECT_FALSE(view->holds("x"));
    config.agents[0].bundle = "none";
    EXPECT_FALSE(view_of_agent(config, "a"));
    config.bundles[0].fault = "it is broken";
    EXPECT_THAT(view_of_bundle(config, "b").error().message, HasSubstr("it is broken"));
}

TEST(View, TwoShowNoMoreThanEachAlone) {
    const auto both = picking({"git", "x"})
                          .within(of_tools({"mcp__git__*", "mcp__y__*"}))
                          .within(of_tools({"mcp__git__log", "mcp__x__a"}));
    EXPECT_TRUE(both.holds("git", "mcp__git__log"));
    EXPECT_FALSE(both.holds("git", "mcp__git__push"));
    EXPECT_FALSE(both.holds("x"));
    EXPECT_FALSE(both.holds("y"));
    EXPECT_FALSE(picking({"a"}).within(picking({"b"})).holds("a"));
    EXPECT_FALSE(View{"a"}.within(View{"b"}).holds("a"));
    EXPECT_TRUE(View().within(picking({"a"})).holds("a"));
}

// As it comes over HTTP: without an agent at first, then at that agent's endpoint, with a token that shows less.
TEST(View, AnAgentsOwnServerIsItsOwnByWhateverWayItComes) {
    View none;
    none.owned = {{"priv", "owner"}};
    auto owner = picking({"a", "priv"}), other = View();
    owner.agent = "owner";
    other.agent = "other";
    for (auto* each : {&owner, &other}) each->owned = none.owned;
    EXPECT_FALSE(none.holds("priv"));
    EXPECT_TRUE(none.holds("a"));
    EXPECT_TRUE(none.within(owner).holds("priv"));
    EXPECT_FALSE(none.within(other).holds("priv"));
    EXPECT_TRUE(none.within(picking({"priv"})).holds("priv")) << "somebody picked it by name";
    EXPECT_FALSE(none.within(owner).within(picking({"a"})).holds("priv"));
    EXPECT_NE(none.within(other).key(), other.within(picking({"priv"})).key());
    View alone{"priv"};
    alone.owned = none.owned;
    EXPECT_TRUE(alone.holds("priv"));
}

TEST(View, AnotherOneHasAnotherKeyAndTheSameTheSame) {
    EXPECT_EQ(View().key(), "");
    EXPECT_EQ(View{"git"}.key(), "git");
    EXPECT_EQ(picking({"a", "b"}).key(), picking({"b", "a"}).key());
    EXPECT_NE(picking({"a", "b"}).key(), picking({"a"}).key());
    EXPECT_NE(of_tools({"mcp__a__*"}).key(), of_tools({"mcp__b__*"}).key());
    EXPECT_NE(picking({}).key(), "") << "shows nothing, and not all";
}

TEST(ViewOfAgent, IsWhatItsTableSaysOrWhyThereIsNone) {
    config::Config config;
    const config::Place place{config::Scope::User, "c.toml", 3, 9};
    const auto agent = [&](const char* name) {
        config::Agent made;
        made.name = name;
        made.place = place;
        return made;
    };
    auto off = agent("off"), reviewer = agent("reviewer"), wrong = agent("wrong");
    off.enabled = false;
    reviewer.servers = {"git"};
    reviewer.tools = {"mcp__git__log"};
    reviewer.description = "reads";
    wrong.fault = "user config c.toml:4:1: tools: ...";
    config.agents = {off, reviewer, wrong};
    const auto view = view_of_agent(config, "reviewer");
    ASSERT_TRUE(view);
    EXPECT_EQ(view->agent, "reviewer");
    EXPECT_EQ(view->about, "reads");
    EXPECT_TRUE(view->holds("git", "mcp__git__log"));
    EXPECT_FALSE(view->holds("github"));
    EXPECT_EQ(view_of_agent(config, "off").error().message,
              "agent \"off\" is disabled (user config c.toml:3:9); set enabled = true");
    EXPECT_THAT(view_of_agent(config, "wrong").error().message, HasSubstr("c.toml:4:1: tools"));
    EXPECT_EQ(view_of_agent(config, "reviewr").error().message,
              "no agent \"reviewr\" is configured; did you mean \"reviewer\"? Known: reviewer");
}

TEST(ViewOfAgent, HidesWhatIsAnothersOwnUnlessItPicksThat) {
    config::Config config;
    for (const auto* name : {"friend", "other", "owner"}) {
        config::Agent agent;
        agent.name = name;
        if (agent.name == "friend") agent.servers = {"own"};
        config.agents.push_back(agent);
    }
    for (const auto* id : {"git", "own"}) {
        config::Server server;
        server.id = id;
        if (server.id == "own") server.agent = "owner";
        config.servers.push_back(server);
    }
    const auto shows = [&](const char* agent) {
        return view_of_agent(config, agent)->holds("own");
    };
    EXPECT_TRUE(shows("owner"));
    EXPECT_TRUE(shows("friend"));
    EXPECT_FALSE(shows("other"));
    const auto other = *view_of_agent(config, "other");
    EXPECT_TRUE(other.holds("git"));
    EXPECT_FALSE(other.holds("own", "mcp__own__x"));
    View nobody;
    note_owned(nobody, config);
    EXPECT_FALSE(nobody.holds("own"));
    EXPECT_FALSE(nobody.all());
    EXPECT_NE(nobody.key(), "");
    EXPECT_FALSE(View().within(other).holds("own")) << "with what options show";
}

}  // namespace
}  // namespace patchbay::gateway
