// What turns a server on, and rules for servers that are not there by that name.
#include "config/merge.hpp"
#include "core/spelling.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

constexpr const char* kItself =
    "it is `patchbay serve` itself, which would start itself without end; with --only or --config "
    "it "
    "is another one";

TEST(ConfigMerge, WhatTurnsAServerOnIsTheKeyThatTurnedItOff) {
    const auto json = [](const char* text) {
        std::vector<Fragment> one;
        one.push_back(read_fragment(text, Format::Json, {Scope::User, 0, "mcp.json"}));
        return merge(std::move(one));
    };
    const struct {
        const char* text;
        bool enabled;
        const char* turn_on;
        const char* says;
        const char* place = "";
    } cases[] = {
        {R"({"mcpServers": {"x": {"command": "x", "disabled": true}}})", false,
         "set disabled = false", ""},
        {R"({"servers": {"x": {"command": "x", "enabled": false}}})", false, "set enabled = true",
         ""},
        {R"({"enabled": false, "servers": {"x": {"command": "x"}}})", false,
         "set enabled = true at the top of that file", ""},
        {"{\n\"disabledMcpServers\": [\"x\"], \"mcpServers\": {\"x\": {\"command\": \"x\"}}}",
         false, "take it out of \"disabledMcpServers\" in line 2 of that file", ""},
        {"{\"mcp\": {\"allowed\": [\"y\"]}, \"mcpServers\": {\"x\": {\"command\": \"x\"}}}", false,
         "add it to \"mcp.allowed\" in line 1 of that file", ""},
        {"{\"mcpServers\": {\"x\": {\"command\": \"x\",\n\"disabled\": true, \"enabled\": true}}}",
         false, "set disabled = false", "contradict each other, so it is off", "mcp.json:2:1"},
        {"{\"mcpServers\": {\"x\": {\"command\": \"x\",\n\"enabled\": true, \"disabled\": true}}}",
         false, "set disabled = false", "contradict each other, so it is off", "mcp.json:2:18"},
        {R"({"mcpServers": {"x": {"command": "x", "enabled": false, "disabled": false}}})", false,
         "set enabled = true", "contradict each other, so it is off"},
        {R"({"mcpServers": {"x": {"command": "x", "enabled": true, "disabled": false}}})", true,
         nullptr, ""},
        {R"({"mcpServers": {"x": {"command": "/opt/bin/patchbay", "args": ["serve"]}}})", false,
         kItself, ""},
        {R"({"servers": {"x": {"command": "patchbay", "args": ["serve"], "env": {}}}})", false,
         kItself, ""},
        {R"({"servers": {"x": {"command": "patchbay", "args": ["serve"], "env": {"HOME": "/x"}}}})",
         true, nullptr, ""},
        {R"({"servers": {"x": {"command": "patchbay", "args": ["serve", "--only", "y"]}}})", true,
         nullptr, ""},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.text);
        const auto config = json(c.text);
        const auto* x = find(config, "x");
        ASSERT_TRUE(x);
        EXPECT_EQ(x->enabled, c.enabled);
        EXPECT_FALSE(x->settings.contains("disabled"));
        if (c.turn_on) {
            EXPECT_EQ(x->turn_on, c.turn_on);
        }
        EXPECT_THAT(to_string(x->place_of_rule("enabled")), HasSubstr(c.place));
        EXPECT_THAT(all(config.diagnostics), HasSubstr(c.says));
        EXPECT_EQ(config.diagnostics.empty(), !*c.says);
    }
    EXPECT_THAT(all(json(R"({"mcpServers": {"x": {"command": "x", "disabled": 1}}})").diagnostics),
                HasSubstr("disabled: expected true or false"));
}

TEST(ConfigMerge, WhatTurnsAServerOnIsForWhoeverMay) {
    struct Said {
        Scope scope;
        const char* text;
    };
    const char* const kVain = "enabled: it has no effect here, since the server is disabled";
    const struct {
        std::vector<Said> said;
        const char* turn_on;
        std::size_t vain = 0;  // who turns it on where that does not count
    } cases[] = {
        {{{Scope::Enterprise, "[servers.x]\ncommand = 'x'\nenabled = false\n"}},
         "ask your administrator"},
        {{{Scope::Enterprise, "[servers.x]\ncommand = 'x'\nenabled = false\n"},
          {Scope::User, "[servers.x]\nenabled = true\n"},
          {Scope::Session, "[servers.x]\nenabled = true\n"}},
         "ask your administrator",
         2},
        {{{Scope::Enterprise, "[servers.x]\nenabled = false\n"},
          {Scope::User, "[servers.x]\ncommand = 'x'\n"},
          {Scope::Session, "[servers.x]\nenabled = true\n"}},
         "ask your administrator",
         1},
        {{{Scope::Enterprise, "enabled = false\n[servers.x]\ncommand = 'x'\n"}},
         "ask your administrator"},
        {{{Scope::Plugin, "[servers.x]\ncommand = 'x'\nenabled = true\n"}},
         "set servers.x.enabled = true in your user config"},
        {{{Scope::User, "[servers.x]\ncommand = 'x'\nenabled = false\n"},
          {Scope::Project, "[servers.x]\nenabled = true\n"}},
         "set enabled = true; a project file may not turn on a server, so project config f:1:10 "
         "does not count"},
        {{{Scope::User, "[servers.x]\ncommand = 'x'\n"},
          {Scope::Project, "[servers.x]\nenabled = false\n"}},
         "set enabled = true"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.turn_on);
        std::vector<Fragment> fragments;
        for (const auto& [scope, text] : c.said) {
            fragments.push_back(read_fragment(text, Format::Toml, {scope, 0, "f"}));
            if (scope == Scope::Enterprise) fragments.back().exclusive = false;
        }
        const auto config = merge(std::move(fragments));
        const auto* x = find(config, "x");
        ASSERT_TRUE(x) << all(config.diagnostics);
        EXPECT_FALSE(x->enabled);
        EXPECT_EQ(x->turn_on, c.turn_on);
        EXPECT_EQ(std::count_if(config.diagnostics.begin(), config.diagnostics.end(),
                                [&](const auto& each) {
                                    return each.message.find(kVain) != std::string::npos &&
                                           each.place.scope != Scope::Enterprise;
                                }),
                  static_cast<std::ptrdiff_t>(c.vain))
            << all(config.diagnostics);
    }
}

TEST(ConfigMerge, WhatTurnsOffAServerByAMisspeltNameIsTold) {
    const std::string defined = "[servers.github]\ncommand = 'x'\n";
    EXPECT_THAT(
        all(of_user(defined + "[servers.gihtub]\nenabled = false\n").diagnostics),
        HasSubstr("warning: user config user.toml:3:10: server \"gihtub\": no source defines "
                  "this server, so nothing is turned off; did you mean \"github\"?"));
    EXPECT_EQ(all(of_user(defined + "[servers.other]\nenabled = false\n").diagnostics), "")
        << "another checkout may have it";
}

// Each kind of overlay, by a name that is nearly that of the one server there is.
TEST(ConfigMerge, ARuleForAServerOfNearlyThatNameIsToldToWhoeverAsksForIt) {
    const struct {
        const char* text;
        Severity severity;
    } overlays[] = {{"[servers.gihtub]\nenabled = false\n", Severity::Warning},
                    {"[mcpServers.gihtub]\ndisabled = true\n", Severity::Warning},
                    {"[servers.gihtub]\nenabled = true\n", Severity::Warning},
                    {"[servers.gihtub]\ndisabled_tools = ['wipe']\n", Severity::Error},
                    {"[servers.gihtub]\nenabled_tools = ['read']\n", Severity::Error},
                    {"[servers.gihtub]\ntools.wipe = 'deny'\n", Severity::Error},
                    {"[servers.gihtub]\ntrust = 'untrusted'\n", Severity::Error}};
    for (const auto& overlay : overlays) {
        for (const auto scope : {Scope::User, Scope::Local, Scope::Session, Scope::Enterprise}) {
            SCOPED_TRACE(std::string(name_of(scope)) + ": " + overlay.text);
            std::vector<Fragment> fragments;
            fragments.push_back(toml(Scope::User, "[servers.github]\ncommand = 'x'\n"));
            fragments.push_back(
                read_fragment((scope == Scope::Enterprise ? "exclusive = false\n" : "") +
                                  std::string(overlay.text),
                              Format::Toml, {scope, 1, "rules.toml"}));
            const auto config = merge(std::move(fragments));
            EXPECT_FALSE(config.deny_all);
            EXPECT_TRUE(find(config, "github"));
            ASSERT_EQ(config.diagnostics.size(), 1u) << all(config.diagnostics);
            EXPECT_EQ(config.diagnostics[0].severity, overlay.severity);
            EXPECT_EQ(config.diagnostics[0].server, "gihtub");
            EXPECT_THAT(config.diagnostics[0].near, ElementsAre("github"));
            EXPECT_THAT(config.diagnostics[0].message, HasSubstr("; did you mean \"github\"?"));
        }
    }
}

TEST(ConfigMerge, WhatACheckoutNamesDoesNotHideThatARuleIsForNoServer) {
    const std::string off(30, 'a'), on(30, 'b');  // as long, and not near
    std::string names = "[servers]\n";
    for (int i = 1000; i < 2000; ++i)
        names += off + std::to_string(i) + " = { enabled = false }\n" + on + std::to_string(i) +
                 " = { command = 'x' }\n";
    std::vector<Fragment> fragments;
    fragments.push_back(toml(Scope::Project, names));
    fragments.push_back(
        toml(Scope::User, "[servers.zulip]\ncommand = 'x'\n[servers.zulpi]\nenabled = false\n"));
    EXPECT_THAT(all(merge(std::move(fragments)).diagnostics),
                HasSubstr("so nothing is turned off; did you mean \"zulip\"?"));
}

TEST(ConfigMerge, AnEnterpriseRuleForAServerWhoseNameOnlyLooksDifferentDeniesAll) {
    const struct {
        const char* server;
        const char* rule;
        bool denies;
    } names[] = {{"e", "E", true},
                 {"GitHub", "github", true},
                 {"my-server", "my_server", true},
                 {"my_server", "my.server", true},
                 {"myserver", "my-server", true},
                 {"My Server", "my server", true},
                 {"@org/x", "@Org/x", true},
                 {"github", "git\xE2\x80\x8Bhub", true},
                 {"github", "GitHub\xE2\x81\xA0", true},
                 {"\xE6\x97\xA5", "\xE6\x97\xA5 ", true},
                 {"github", "github\xE2\x80\x8B", false},  // its id is that of the server
                 {"my.server", "my-server", false},
                 {"e", "ee", false},
                 {"github", "gihtub", false},
                 {"github", "other", false}};
    for (const auto& name : names) {
        for (const auto* says :
             {"enabled = false", "disabled_tools = ['wipe']", "tools.wipe = 'deny'",
              "trust = 'untrusted'", "enabled_tools = ['read']", "nonsense = true"}) {
            SCOPED_TRACE(std::string(name.server) + ", " + name.rule + ": " + says);
            std::vector<Fragment> fragments;
            fragments.push_back(toml(
                Scope::User, "[servers.\"" + std::string(name.server) + "\"]\ncommand = 'x'\n"));
            fragments.push_back(toml(
                Scope::Enterprise,
                "exclusive = false\n[servers.\"" + std::string(name.rule) + "\"]\n" + says + "\n"));
            const auto config = merge(std::move(fragments));
            EXPECT_EQ(config.deny_all, name.denies);
            if (!name.denies) continue;
            EXPECT_TRUE(config.servers.empty());
            EXPECT_THAT(config.stop,
                        AllOf(HasSubstr("enterprise.toml:2:10: the enterprise config is broken "
                                        "(server \""),
                              HasSubstr("no source defines it, and \""),
                              HasSubstr("differs only in letter case")));
        }
    }
    for (const auto scope : {Scope::User, Scope::Session}) {
        std::vector<Fragment> fragments;
        fragments.push_back(toml(Scope::User, "[servers.e]\ncommand = 'x'\n"));
        fragments.push_back(read_fragment("[servers.E]\nenabled = false\n", Format::Toml,
                                          {scope, 1, "rules.toml"}));
        const auto config = merge(std::move(fragments));
        EXPECT_FALSE(config.deny_all);
        EXPECT_THAT(config.diagnostics, ElementsAre(Field(&Diagnostic::near, ElementsAre("e"))));
    }
}

// What waits for its approval is no server yet; and of what is excluded nobody asks.
TEST(ConfigMerge, AnEnterpriseRuleIsComparedWithWhatIsDefined) {
    const auto with = [](const char* enterprise, bool approved = true) {
        std::vector<Fragment> fragments;
        fragments.push_back(toml(Scope::Project, "[servers.e]\ncommand = 'x'\n"));
        if (!approved) fragments.back().servers.front().withheld.emplace();
        fragments.push_back(toml(Scope::Enterprise, enterprise));
        return merge(std::move(fragments)).deny_all;
    };
    EXPECT_TRUE(with("exclusive = false\n[servers.E]\nenabled = false\n"));
    EXPECT_FALSE(with("exclusive = false\n[servers.E]\nenabled = false\n", false))
        << "a checkout closes nothing by what it wants to bring";
    EXPECT_FALSE(with("[servers.E]\nenabled = false\n")) << "no other file is read";
    EXPECT_TRUE(with("[servers.E]\nenabled = false\n[servers.e]\ncommand = 'own'\n"));
    EXPECT_FALSE(with("[servers.E]\nenabled = false\n[servers.E-]\nenabled = false\n"));
}

// Steps of comparing names are counted, not time.
TEST(ConfigMerge, NearNamesAreOfferedAsLongAsTheEffortOfALoadLasts) {
    std::string defined, adjusted;
    for (int i = 0; i < 4000; ++i) {
        const auto number = std::to_string(100'000 + i);
        defined += "[servers.aaaaaaaaaaaaaaaa" + number + "]\ncommand = 'x'\n";
        adjusted += "[servers.aaaaaaaaaaaaaaab" + number + "]\nlazy = true\n";
    }
    std::vector<Fragment> fragments;
    fragments.push_back(toml(Scope::User, defined));
    fragments.push_back(toml(Scope::Project, adjusted));
    const auto config = merge(std::move(fragments));
    std::size_t errors = 0, offered = 0;
    for (const auto& told : config.diagnostics) {
        if (told.severity == Severity::Error) ++errors;
        if (told.message.find("did you mean") != std::string::npos) ++offered;
    }
    EXPECT_EQ(errors, 4000u) << "each is told";
    EXPECT_GT(offered, 0u);
    EXPECT_LE(offered, core::Effort::kOneLoad / (4000 * 22) + 1);
}

}  // namespace
}  // namespace patchbay::config
