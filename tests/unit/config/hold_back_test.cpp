// What a checkout may not loosen of what its user has set, and that the rest of it counts.
#include "config/merge.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::config {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ConfigMerge, OfACheckoutsOverlayThatLoosensWhatItForbidsCounts) {
    std::vector<Fragment> fragments;
    fragments.push_back(toml(Scope::User,
                             "[servers.x]\ncommand = 'x'\ndisabled_tools = ['wipe', "
                             "'mkfs']\nenabled_tools = ['a', 'b']\n"
                             "tool_timeout_sec = 60\ntools = { a = 'deny', b = 'allow-once' }\n"));
    fragments.push_back(
        toml(Scope::Project,
             "[servers.x]\ndisabled_tools = ['echo']\nenabled_tools = ['a', 'c']\n"
             "trust = 'trusted'\ntool_timeout_sec = 1\nstartup_timeout_sec = 90\n"
             "tools = { a = 'allow-always', b = 'deny', c = 'allow-once', d = 'disable' }\n"));
    const auto config = merge(std::move(fragments));
    ASSERT_EQ(config.servers.size(), 1u) << all(config.diagnostics);
    const auto& x = config.servers[0];
    EXPECT_THAT(x.disabled_tools, ElementsAre("echo", "wipe", "mkfs"));
    EXPECT_EQ(x.place_of_rule("disabled_tools").scope, Scope::Project) << "a part of it counts";
    EXPECT_THAT(*x.enabled_tools, ElementsAre("a"));
    EXPECT_EQ(x.trust, "");
    EXPECT_EQ(x.tool_timeout, 60s);
    EXPECT_EQ(x.startup_timeout, 90s);
    EXPECT_EQ(x.tools, (std::map<std::string, Level>{
                           {"a", Level::Deny}, {"b", Level::Deny}, {"d", Level::Disable}}));
    EXPECT_THAT(config.diagnostics,
                ElementsAre(Field(&Diagnostic::message, HasSubstr("a project file may not "))));
}

TEST(ConfigMerge, AllThatACheckoutMayNotIsToldAtOnce) {
    std::vector<Fragment> fragments;
    fragments.push_back(toml(Scope::User, "[servers.x]\ncommand = 'x'\nenabled = false\n"));
    fragments.push_back(toml(Scope::Project,
                             "[servers.x]\nenabled = true\ntrust = 'trusted'\n"
                             "tool_timeout_ms = 1\nrequest_timeout_ms = 1\n"));
    EXPECT_THAT(
        all(merge(std::move(fragments)).diagnostics),
        HasSubstr("may not turn on a server, nor raise the trust in a server, nor shorten a "
                  "time-out of a server; write it to your user config"));
}

TEST(ConfigMerge, ACheckoutTightensPinsAndLoosensNone) {
    const auto pins = [](const std::string& users, const std::string& checkouts) {
        std::vector<Fragment> fragments;
        fragments.push_back(toml(Scope::User, "[servers.x]\ncommand = 'x'\n" + users));
        fragments.push_back(toml(Scope::Project, "[servers.x]\npins = '" + checkouts + "'\n"));
        const auto config = merge(std::move(fragments));
        return config.servers.at(0).pins + " " + std::to_string(config.diagnostics.size());
    };
    EXPECT_EQ(pins("", "block"), "block 0");
    EXPECT_EQ(pins("", "warn"), " 1") << "what somebody stands behind would not be blocked";
    EXPECT_EQ(pins("", "off"), " 1");
    EXPECT_EQ(pins("pins = 'off'\n", "warn"), "warn 0");
    EXPECT_EQ(pins("pins = 'warn'\n", "off"), "warn 1");
    EXPECT_EQ(pins("pins = 'block'\n", "warn"), "block 1");
}

TEST(ConfigMerge, OfItsOwnServersACheckoutLoosensNoPinsEither) {
    for (const auto* word : {"warn", "off"}) {
        const std::string said = std::string("pins = '") + word + "'\n";
        std::vector<Fragment> own, beside;
        own.push_back(toml(Scope::Project, "[servers.x]\ncommand = 'x'\n" + said));
        beside.push_back(toml(Scope::Project, "[servers.x]\ncommand = 'x'\n"));
        beside.push_back(toml(Scope::Local, "[servers.x]\n" + said));
        for (auto* fragments : {&own, &beside}) {
            const auto config = merge(std::move(*fragments));
            EXPECT_EQ(config.servers.at(0).pins, "");
            EXPECT_EQ(config.servers.at(0).rules.count("pins"), 0u);
            EXPECT_THAT(all(config.diagnostics), HasSubstr("may not loosen the pins of a server"));
        }
    }
    std::vector<Fragment> session;
    session.push_back(toml(Scope::Project, "[servers.x]\ncommand = 'x'\n"));
    session.push_back(toml(Scope::Session, "[servers.x]\npins = 'off'\n"));
    EXPECT_EQ(merge(std::move(session)).servers.at(0).pins, "off") << "its user may";
}

TEST(ConfigMerge, ACheckoutKeepsCallersApartAndBringsNoneTogether) {
    const auto mode = [](const std::string& users, const char* checkouts) {
        std::vector<Fragment> fragments;
        fragments.push_back(toml(Scope::User, "[servers.x]\ncommand = 'x'\n" + users));
        fragments.push_back(
            toml(Scope::Project, "[servers.x]\nmode = '" + std::string(checkouts) + "'\n"));
        const auto config = merge(std::move(fragments));
        return config.servers.at(0).mode + " " + std::to_string(config.diagnostics.size());
    };
    EXPECT_EQ(mode("", "shared"), " 1");
    EXPECT_EQ(mode("mode = 'per_session'\n", "shared"), "per_session 1");
    EXPECT_EQ(mode("mode = 'per_session'\n", "auto"), "per_session 1");
    EXPECT_EQ(mode("mode = 'shared'\n", "per_session"), "per_session 0");
    EXPECT_EQ(mode("", "auto"), "auto 0") << "it says what is so";
}

TEST(ConfigMerge, WhatIsHeldBackIsTheSourceOfNoRule) {
    std::vector<Fragment> fragments;
    fragments.push_back(
        toml(Scope::User,
             "[servers.x]\ncommand = 'x'\nenabled = false\ntrust = 'untrusted'\n"
             "disabled_tools = ['wipe']\nenabled_tools = ['a']\ntool_timeout_sec = 60\n"
             "startup_timeout_sec = 60\ntools = { a = 'deny', b = 'allow-once' }\n"));
    fragments.push_back(
        toml(Scope::Project,
             "[servers.x]\nenabled = true\ntrust = 'trusted'\ndisabled_tools = []\n"
             "enabled_tools = ['a', 'c']\ntool_timeout_ms = 1\nstartup_timeout_sec = 90\n"
             "tools = { a = 'allow-always', b = 'deny' }\n"));
    MergeDefaults defaults;
    defaults.times.tool_timeout = 97'200s;
    defaults.times.tool_timeout_from = "MCP_TOOL_TIMEOUT";
    const auto config = merge(std::move(fragments), defaults);
    const auto& x = config.servers.at(0);
    for (const auto* rule : {"enabled", "trust", "disabled_tools", "enabled_tools", "tools.a"})
        EXPECT_EQ(x.place_of_rule(rule).scope, Scope::User) << rule;
    EXPECT_EQ(x.place_of_rule("tools.b").scope, Scope::Project);
    std::map<std::string, Scope> scopes;
    for (const auto& [key, place] : config.origins) scopes[key] = place.scope;
    EXPECT_EQ(scopes.count("servers.x.tool_timeout_ms"), 0u);
    EXPECT_EQ(scopes.at("servers.x.tool_timeout_sec"), Scope::User);
    EXPECT_EQ(scopes.at("servers.x.startup_timeout_sec"), Scope::Project);
    EXPECT_EQ(scopes.at("servers.x.tools.a"), Scope::User);
    EXPECT_EQ(scopes.at("servers.x.tools.b"), Scope::Project);
}

TEST(ConfigMerge, OfAnUntrustedServerACheckoutNamesNoToolThatItsUserDidNot) {
    const auto with = [](const std::string& overlay) {
        std::vector<Fragment> fragments;
        fragments.push_back(toml(Scope::User,
                                 "[servers.x]\ncommand = 'x'\ntrust = 'untrusted'\n"
                                 "tools = { known = 'require-approval' }\n"));
        fragments.push_back(toml(Scope::Project, "[servers.x]\n" + overlay));
        return merge(std::move(fragments));
    };
    const auto raised = with("tools = { wipe = 'require-approval', format = 'deny' }\n");
    EXPECT_EQ(
        raised.servers.at(0).tools,
        (std::map<std::string, Level>{{"known", Level::RequireApproval}, {"format", Level::Deny}}));
    EXPECT_THAT(all(raised.diagnostics), HasSubstr("may not raise the level of a tool"));
    const auto listed = with("enabled_tools = ['wipe', 'known']\n");
    EXPECT_THAT(*listed.servers.at(0).enabled_tools, ElementsAre("known"));
    EXPECT_THAT(all(listed.diagnostics), HasSubstr("may not add to enabled_tools"));
}

TEST(ConfigMerge, ACheckoutNamesNoToolOfAServerThatSomethingStrongerMakesUntrusted) {
    for (const auto stronger : {Scope::Local, Scope::Session, Scope::Enterprise}) {
        for (const bool untrusted : {true, false}) {
            SCOPED_TRACE(std::string(name_of(stronger)) + (untrusted ? " untrusted" : ""));
            const auto with = [&](const std::string& overlay) {
                std::vector<Fragment> fragments;
                fragments.push_back(
                    toml(Scope::User,
                         "[servers.x]\ncommand = 'x'\ntools = { known = 'require-approval' }\n"));
                fragments.push_back(toml(Scope::Project, "[servers.x]\n" + overlay));
                fragments.push_back(
                    toml(stronger,
                         std::string(stronger == Scope::Enterprise ? "exclusive = false\n" : "") +
                             "[servers.x]\n" +
                             (untrusted ? "trust = 'untrusted'\n" : "mode = 'auto'\n")));
                return merge(std::move(fragments)).servers.at(0);
            };
            const auto levels = with("tools = { wipe = 'require-approval', format = 'deny' }\n");
            EXPECT_EQ(levels.tools.count("wipe"), untrusted ? 0u : 1u);
            EXPECT_EQ(levels.tools.at("format"), Level::Deny);
            EXPECT_EQ(levels.tools.at("known"), Level::RequireApproval);
            EXPECT_EQ(with("enabled_tools = ['wipe', 'known']\n").enabled_tools->size(),
                      untrusted ? 1u : 2u);
            EXPECT_EQ(with("enabled_tools = ['wipe']\n").enabled_tools->empty(), untrusted);
        }
    }
}

TEST(ConfigMerge, WhoIsUntrustedIsWhatTheStrongestSays) {
    const auto tools_with = [](const char* local, const char* session) {
        std::vector<Fragment> fragments;
        fragments.push_back(toml(Scope::User, "[servers.x]\ncommand = 'x'\ntrust = 'untrusted'\n"));
        fragments.push_back(
            toml(Scope::Project, "[servers.x]\ntools = { a = 'require-approval' }\n"));
        fragments.push_back(toml(Scope::Local, std::string("[servers.x]\n") + local));
        fragments.push_back(toml(Scope::Session, std::string("[servers.x]\n") + session));
        return merge(std::move(fragments)).servers.at(0).tools.size();
    };
    EXPECT_EQ(tools_with("trust = 'trusted'\n", ""), 0u) << "a checkout may not raise it";
    EXPECT_EQ(tools_with("", "trust = 'trusted'\n"), 1u);
    EXPECT_EQ(tools_with("", "tools = { a = 'require-approval' }\n"), 1u) << "the user's own name";
}

TEST(ConfigMerge, ACheckoutMayNotSayWhenAServerIsTakenForDead) {
    for (const auto scope : {Scope::Project, Scope::Local}) {
        for (const std::string key :
             {"ping_interval_sec", "ping_timeout_sec", "misses", "reconnect_first_ms",
              "reconnect_most_ms", "reconnect_attempts", "stable_sec", "tool_cache_sec"}) {
            std::vector<Fragment> fragments;
            fragments.push_back(toml(scope, "[health]\n" + key + " = 1\n"));
            const auto config = merge(std::move(fragments));
            EXPECT_THAT(config.diagnostics,
                        ElementsAre(Field(&Diagnostic::message,
                                          "health." + key + ": not allowed in a " + name_of(scope) +
                                              " file; write it to your user config")));
            EXPECT_EQ(config.origins.size(), 0u) << key;
        }
    }
}

TEST(ConfigMerge, ACheckoutMayOnlyLengthenTheTimeoutsOfAServerOfTheUser) {
    struct Case {
        const char *theirs, *ours;
        bool fits;
    };
    const Case cases[] = {
        {"startup_timeout_sec = 5", "startup_timeout_ms = 4999", false},
        {"startup_timeout_sec = 5", "startup_timeout_sec = 5", true},
        {"request_timeout_ms = 700", "request_timeout_ms = 699", false},
        {"request_timeout_ms = 700", "request_timeout_sec = 0.7", true},
        {"tool_timeout_sec = 60", "tool_timeout_ms = 59999", false},
        {"tool_timeout_sec = 60", "tool_timeout_sec = 61", true},
        {"", "tool_timeout_ms = 200", false},
    };
    for (const auto& c : cases) {
        for (const auto scope : {Scope::Project, Scope::Local, Scope::Session}) {
            SCOPED_TRACE(std::string(c.ours) + " " + name_of(scope));
            std::vector<Fragment> fragments;
            fragments.push_back(
                toml(Scope::User, "[servers.x]\ncommand = 'x'\n" + std::string(c.theirs)));
            fragments.push_back(toml(scope, "[servers.x]\n" + std::string(c.ours)));
            const auto config = merge(std::move(fragments));
            if (c.fits || scope == Scope::Session)
                EXPECT_THAT(config.diagnostics, IsEmpty());
            else
                EXPECT_THAT(config.diagnostics,
                            ElementsAre(Field(&Diagnostic::message,
                                              HasSubstr("may not shorten a time-out of a "
                                                        "server; write it to your user"))));
        }
    }
}

TEST(ConfigMerge, ALocalFileMayLoosenWhatTheProjectDefines) {
    std::vector<Fragment> fragments;
    fragments.push_back(toml(Scope::Project, "[servers.x]\ncommand = 'x'\n"));
    fragments.push_back(toml(Scope::Local, "[servers.x]\ntools = { a = 'allow-always' }\n"));
    const auto config = merge(std::move(fragments));
    ASSERT_EQ(config.servers.size(), 1u);
    EXPECT_EQ(config.servers[0].tools.at("a"), Level::AllowAlways) << all(config.diagnostics);
}

}  // namespace
}  // namespace patchbay::config
