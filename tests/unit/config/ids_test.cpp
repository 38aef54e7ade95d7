// Names that files give servers, and the ids that they become.
#include "config/ids.hpp"

#include "approval_fixture.hpp"
#include "config/merge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace patchbay::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ConfigMerge, ANameThatIsNoIdBecomesOne) {
    const struct {
        std::string name, id;
    } cases[] = {{"a", "a"},
                 {"A-b_9", "A-b_9"},
                 {"_a", "_a"},
                 {"_a_", "_a"},
                 {"a_-_", "a"},
                 {std::string(64, 'x'), std::string(64, 'x')},
                 {"a__b", "a_b"},
                 {"a.b", "a-b"},
                 {"My Server", "My-Server"},
                 {"@org/server-x", "org-server-x"},
                 {"a  b", "a-b"},
                 {std::string(65, 'x'), std::string(57, 'x') + "-9537c5"},
                 {"\xc3\xa9", "server-4a9955"},
                 {"__", "server-9911f4"}};
    for (const auto& c : cases) {
        const auto config = of_user("[servers.\"" + c.name + "\"]\ncommand = 'x'\n");
        ASSERT_EQ(config.servers.size(), 1u) << c.name << all(config.diagnostics);
        EXPECT_EQ(config.servers[0].id, c.id);
        EXPECT_EQ(config.servers[0].written, c.id == c.name ? "" : c.name);
        EXPECT_EQ(all(config.diagnostics), "");
    }
    EXPECT_THAT(of_user("[servers.\"\"]\ncommand = 'x'\n").servers, IsEmpty());
}

// mcp__a___x would be a tool of either.
TEST(ConfigMerge, NoIdBeginsThePublicNamesOfAnother) {
    const auto config = of_user(
        "[servers.a]\ncommand = 'a'\n[servers.a_]\ncommand = 'b'\n[servers.a__]\n"
        "command = 'c'\n[servers.a__b]\ncommand = 'd'\n");
    ASSERT_EQ(config.servers.size(), 4u) << all(config.diagnostics);
    EXPECT_TRUE(find(config, "a"));
    for (const auto& one : config.servers) {
        EXPECT_FALSE(one.id.ends_with('_')) << one.id;
        for (const auto& other : config.servers)
            EXPECT_TRUE(&one == &other || !(one.id + "__x").starts_with(other.id + "__")) << one.id;
    }
}

TEST(ConfigMerge, NamesThatWouldBecomeOneIdKeepApart) {
    const auto config = of_user(
        "[servers.\"a b\"]\ncommand = 'space'\n[servers.\"a.b\"]\ncommand = 'dot'\n"
        "[servers.\"c d\"]\ncommand = 'mapped'\n[servers.c-d]\ncommand = 'exact'\n");
    std::map<std::string, std::string> commands;
    for (const auto& server : config.servers)
        commands[std::string(server.settings.at("command").as_string())] = server.id;
    EXPECT_EQ(config.servers.size(), 4u);
    EXPECT_EQ(commands["exact"], "c-d");
    EXPECT_THAT(commands["mapped"], ::testing::MatchesRegex("c-d-[0-9a-f]{6}"));
    EXPECT_THAT(commands["space"], ::testing::MatchesRegex("a-b-[0-9a-f]{6}"));
    EXPECT_NE(commands["space"], commands["dot"]);
}

TEST(ConfigMerge, AnOverlayMayCallAServerByItsNameOrItsId) {
    for (const auto* name : {"my server", "my-server"}) {
        std::vector<Fragment> fragments;
        fragments.push_back(toml(Scope::User, "[servers.\"my server\"]\ncommand = 'x'\n"));
        fragments.push_back(
            toml(Scope::Session, std::string("[servers.\"") + name + "\"]\nenabled = false\n"));
        const auto config = merge(std::move(fragments));
        ASSERT_EQ(config.servers.size(), 1u) << all(config.diagnostics);
        EXPECT_EQ(config.servers[0].id, "my-server");
        EXPECT_FALSE(config.servers[0].enabled);
    }
}

// By the command of its definition, the id that a server has got.
std::map<std::string, std::string> ids_of(const Config& config) {
    std::map<std::string, std::string> ids;
    for (const auto& server : config.servers)
        ids[std::string(server.settings.at("command").as_string())] = server.id;
    return ids;
}

TEST(ConfigMerge, AStrongerSourceHasTheIdAndAWeakerOneTheHash) {
    // What is weaker here: of a checkout, which is settled last, though its definitions replace.
    const Scope by_strength[] = {Scope::Enterprise, Scope::Session, Scope::User,
                                 Scope::Plugin,     Scope::Local,   Scope::Project};
    for (std::size_t strong = 0; strong < std::size(by_strength); ++strong) {
        for (std::size_t weak = strong + 1; weak < std::size(by_strength); ++weak) {
            for (const auto* name : {"My Server", "My:Server", "My-Server"}) {
                for (const auto* other : {"My Server", "My:Server", "My-Server"}) {
                    SCOPED_TRACE(std::string(name_of(by_strength[strong])) + " " + name + ", " +
                                 name_of(by_strength[weak]) + " " + other);
                    std::vector<Fragment> fragments;
                    const auto define = [&](Scope scope, const char* as, const char* command) {
                        fragments.push_back(toml(
                            scope,
                            std::string(scope == Scope::Enterprise ? "exclusive = false\n" : "") +
                                "[servers.\"" + as + "\"]\ncommand = '" + command + "'\n"));
                    };
                    define(by_strength[weak], other, "weak");
                    define(by_strength[strong], name, "strong");
                    settle_ids(fragments);
                    EXPECT_EQ(fragments[1].servers[0].id, "My-Server");
                    if (std::string(name) == other) {
                        EXPECT_EQ(fragments[0].servers[0].id, "My-Server");
                    } else {
                        EXPECT_THAT(fragments[0].servers[0].id,
                                    ::testing::MatchesRegex("My-Server-[0-9a-f]{6}"));
                        EXPECT_EQ(fragments[0].servers[0].written, other);
                    }
                    const auto once = fragments;
                    settle_ids(fragments);
                    EXPECT_EQ(fragments[0].servers[0].id, once[0].servers[0].id) << "twice";
                    EXPECT_EQ(fragments[0].servers[0].written, once[0].servers[0].written);
                }
            }
        }
    }
}

TEST(ConfigMerge, AnIdIsGivenToOneNameAlone) {
    const auto hashed =
        ids_of(of_user("[servers.\"a b\"]\ncommand = 'space'\n[servers.\"a.b\"]\n"
                       "command = 'dot'\n"))["space"];
    std::vector<Fragment> fragments;
    fragments.push_back(toml(Scope::Session, "[servers." + hashed + "]\ncommand = 'taken'\n"));
    fragments.push_back(toml(Scope::User,
                             "[servers.\"a b\"]\ncommand = 'space'\n[servers.\"a.b\"]\n"
                             "command = 'dot'\n"));
    auto ids = ids_of(merge(std::move(fragments)));
    EXPECT_EQ(ids["taken"], hashed);
    EXPECT_NE(ids["space"], hashed);
    EXPECT_TRUE(ids["space"].starts_with(hashed)) << "with more of the same digits";
}

TEST(ConfigMerge, AnOverlayMeansInEachSourceTheServerThatItWouldMeanThereAlone) {
    const struct {
        const char *strong, *overlay;
        bool users_is_off;
    } cases[] = {{"My:Server", "My-Server", true},
                 {"My:Server", "My.Server", true},
                 {"My-Server", "My-Server", true},
                 {"My:Server", "Mine", false}};
    for (const auto& c : cases) {
        SCOPED_TRACE(std::string(c.strong) + " " + c.overlay);
        std::vector<Fragment> fragments;
        fragments.push_back(
            toml(Scope::User, "[servers.\"My Server\"]\ncommand = 'mine'\n[servers.\"" +
                                  std::string(c.overlay) + "\"]\nenabled = false\n"));
        fragments.push_back(toml(
            Scope::Session, "[servers.\"" + std::string(c.strong) + "\"]\ncommand = 'strong'\n"));
        const auto config = merge(std::move(fragments));
        EXPECT_EQ(config.servers.size(), 2u) << all(config.diagnostics);
        for (const auto& server : config.servers) {
            const bool users = server.settings.at("command") == "mine";
            EXPECT_EQ(server.enabled, !users || !c.users_is_off) << server.id;
        }
    }
}

TEST(ConfigMerge, AnOverlayOnlyForbidsInTheSecondServerThatItMayMean) {
    const auto with = [](const std::string& rule) {
        std::vector<Fragment> fragments;
        fragments.push_back(toml(Scope::Plugin,
                                 "[servers.\"My Server\"]\ncommand = 'weak'\ndisabled_tools = "
                                 "['wipe']\n"));
        fragments.push_back(toml(Scope::User, "[servers.My-Server]\ncommand = 'mine'\n"));
        fragments.push_back(toml(Scope::Session, "[servers.My-Server]\n" + rule));
        std::map<std::string, Server> servers;
        for (auto& server : merge(std::move(fragments)).servers)
            servers[std::string(server.settings.at("command").as_string())] = server;
        return servers;
    };
    auto servers = with("trust = 'trusted'\nenabled = true\ndisabled_tools = []\n");
    EXPECT_EQ(servers["mine"].trust, "trusted");
    EXPECT_EQ(servers["weak"].trust, "");
    EXPECT_FALSE(servers["weak"].enabled);
    EXPECT_THAT(servers["weak"].disabled_tools, ElementsAre("wipe"));
    servers = with("disabled_tools = ['wipe', 'format']\ntools = { x = 'deny' }\n");
    for (const auto* each : {"mine", "weak"}) {
        EXPECT_THAT(servers[each].disabled_tools, ElementsAre("wipe", "format"));
        EXPECT_EQ(servers[each].tools.size(), 1u);
    }
}

// What a server of the user may do, as its rules and those of all servers say.
struct Verdict {
    bool there = false, enabled = false, closed = false;
    std::set<std::string> disabled;
    std::optional<std::vector<std::string>> only;
    std::map<std::string, Level> levels;
};

std::map<std::string, Verdict> verdicts(const Config& config) {
    std::map<std::string, Verdict> all;
    for (const auto& server : config.servers)
        all[server.id] = {true,
                          server.enabled,
                          !config.permissions.closed.empty(),
                          {server.disabled_tools.begin(), server.disabled_tools.end()},
                          server.enabled_tools,
                          server.tools};
    return all;
}

// What `then` allows that `before` forbids; empty: nothing.
std::string loosened(const Verdict& before, const Verdict& then) {
    if (!then.there || !then.enabled || then.closed) return {};
    if (!before.enabled || before.closed) return "the server";
    if (!std::includes(then.disabled.begin(), then.disabled.end(), before.disabled.begin(),
                       before.disabled.end()))
        return "a disabled tool";
    if (then.only != before.only) return "other tools than those enabled";
    for (const auto& [tool, level] : before.levels)
        if (!then.levels.contains(tool) || then.levels.at(tool) > level) return tool;
    return {};
}

TEST_F(Approval, NothingUnapprovedChangesAnIdOrLoosensAServerOfTheUser) {
    std::mt19937 random(20260711);
    const auto pick = [&](auto&& from) -> decltype(auto) {
        return from[std::uniform_int_distribution<std::size_t>(0, std::size(from) - 1)(random)];
    };
    const std::vector<std::string> names = {
        "My Server", "My-Server", "My:Server",       "My.Server", "my-server", "MyServer", "github",
        "githb",     "gi thub",   "gi-thub",         "@o/x",      "o-x",       "o x",      "a__b",
        "a_b",       "a b",       "My-Server-c2d9a8"};
    const std::vector<std::string> rules = {"enabled = false\n",
                                            "disabled_tools = ['wipe']\n",
                                            "disabled_tools = ['wipe', 'x']\n",
                                            "enabled_tools = ['read']\n",
                                            "tools = { wipe = 'deny' }\n",
                                            "tools = { read = 'allow-always' }\n",
                                            "trust = 'untrusted'\n",
                                            ""};
    const auto one_of = [&](const std::string& before, bool defines) {
        auto text = "[" + before + "\"" + pick(names) + "\"]\n";
        if (defines)
            text += "command = 'run'\nargs = ['" + std::to_string(random() % 1000) + "']\n";
        return text + pick(rules);
    };
    // Each name once in a table: a second one breaks the file.
    const auto some = [&](std::size_t most, bool may_switch, bool only_definitions) {
        std::map<std::string, std::string> tables;
        for (auto left = 1 + random() % most; left > 0; --left) {
            const auto kind = only_definitions ? 0 : random() % (may_switch ? 4 : 3);
            auto text = one_of(kind == 3 ? "" : "servers.", kind < 2);
            if (kind == 3) text = text.substr(0, text.find('\n') + 1) + "enabled = false\n";
            tables[text.substr(0, text.find('\n'))] = text;
        }
        std::string all;
        for (const auto& [head, text] : tables) all += text;
        return all;
    };
    for (int round = 0; round < 250; ++round) {
        const auto mine = some(5, true, false);
        const auto theirs = some(12, false, true), more = some(12, false, true);
        SCOPED_TRACE(mine + "--- project\n" + theirs + "--- local\n" + more);
        user(mine);
        project("");
        local("");
        const auto before = verdicts(now());
        project(theirs);
        if (random() % 2 == 0) local(more);
        const auto config = now();
        const auto then = verdicts(config);
        for (const auto& [id, verdict] : then)
            ASSERT_TRUE(before.contains(id)) << id << "\n" << all(config.diagnostics);
        for (const auto& [id, verdict] : before)
            ASSERT_EQ(loosened(verdict, then.contains(id) ? then.at(id) : Verdict()), "") << id;
    }
}

}  // namespace
}  // namespace patchbay::config
