// What a name that forbids means, wherever it stands: in [permissions] deny, in disabled_tools, and
// where `tools` denies. Read from files, as people write them.
#include "config/merge.hpp"
#include "core/text.hpp"
#include "policy/policy.hpp"
#include "protocol/qualified_name.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

namespace patchbay::policy {
namespace {

namespace json = boost::json;

enum class Place { Deny, DisabledTools, Tools };
constexpr Place kPlaces[] = {Place::Deny, Place::DisabledTools, Place::Tools};

struct Listing final : ListedTools {
    std::uint64_t version() const override { return 1; }
    bool any(std::string_view server, std::string_view name, bool or_longer) const override {
        ++asked;
        return server == "e" && std::any_of(tools.begin(), tools.end(), [&](const auto& tool) {
                   return or_longer ? tool.starts_with(name) : tool == name;
               });
    }
    std::set<std::string> tools = {"echo", "other"};
    mutable std::size_t asked = 0;
};

class Forbidding : public ::testing::Test {
protected:
    config::Config config_with(Place place, const std::string& name) const {
        json::object e{{"command", "e"}};
        json::object file;
        if (place == Place::Deny) file["permissions"] = {{"deny", {name}}};
        if (place == Place::DisabledTools) e["disabled_tools"] = {name};
        if (place == Place::Tools) e["tools"] = {{name, "deny"}};
        file["servers"] = {{"e", e}, {"echoes", {{"command", "f"}}}};
        std::vector<config::Fragment> fragments;
        fragments.push_back(config::read_fragment(json::serialize(file), config::Format::Json,
                                                  {config::Scope::User, 0, "user.json"}));
        return config::merge(std::move(fragments));
    }
    bool forbids(Place place, const std::string& name, const std::string& tool,
                 const std::string& server = "e") const {
        const auto config = config_with(place, name);
        const Policy policy(config.permissions, config.servers);
        const auto public_name = protocol::public_name(server, tool);
        Question question{core::Trust::Approves, server, tool, public_name};
        question.listed = &listing;
        return policy.judge(question).decision == Decision::Deny;
    }
    Listing listing;
};

struct Spelling {
    const char* text;
    bool echo, other;  // whether it forbids them
};

TEST_F(Forbidding, APublicNameMeansTheSameInEveryPlace) {
    for (const auto& [text, echo, other] : std::vector<Spelling>{
             {"mcp__e__echo", true, false},
             {" mcp__e__echo\t", true, false},
             {"mcp__e__other", false, true},
             {"mcp__e__ech", false, false},
             {"mcp__e__ech*", true, false},
             {"mcp__e__ech?", true, false},
             {"mcp__e__ech.", true, false},
             {"mcp__e__ech.*", true, false},
             {"mcp__e__ech%", true, false},
             {"mcp__e__echo(x)", true, false},
             {"mcp__e__echo:*", true, false},
             {"mcp__e__echo/*", true, false},
             {"mcp__e__echo #x", true, false},
             {"mcp__e__echo\u200b", true, false},
             {"mcp__e__echo\u2003", true, false},
             {"mcp__e__echo mcp__e__other", true, true},
             {"mcp__e__echo,mcp__e__other", true, true},
             {"mcp__e__`echo`", true, true},
             {"mcp__e__*", true, true},
             {"mcp__e__\uff0a", true, true},
             {"mcp__e__\u2217", true, true},
             {"mcp__e__", true, true},
             {"mcp__e", true, true},
             {"mcp__e/*", true, true},
             {"mcp__e:*", true, true},
             {"mcp__e/echo", true, true},
             {"mcp__e.echo", true, true},
             {"mcp__e_echo", true, false},
             {"mcp__<any>", true, true},
             {"mcp__?__echo", true, true},
             {"*", true, true},
             {"", true, true},
             {"mcp__elsewhere__echo", false, false},
             {"mcp__elsewhere", false, false},
             {"mcp__@org/elsewhere__*", false, false},
         })
        for (const auto place : kPlaces) {
            SCOPED_TRACE(std::string(text) + " in place " +
                         std::to_string(static_cast<int>(place)));
            EXPECT_EQ(forbids(place, text, "echo"), echo);
            EXPECT_EQ(forbids(place, text, "other"), other);
        }
}

// In a deny these are the names of nothing, which denies all.
TEST_F(Forbidding, AServersOwnNameMeansTheSameInBothOfItsRules) {
    for (const auto& [text, echo, other] : std::vector<Spelling>{
             {"echo", true, false},
             {" echo", true, false},
             {"ech", false, false},
             {"ech*", true, false},
             {"m", false, false},
             {"x*", false, false},
             {"ech?", true, true},
             {"echo(x)", true, true},
             {"echo(*)", true, true},
             {"echo,other", true, true},
             {"echo\u200b", true, true},
             {"e__echo", true, true},
             {"e_echo", false, false},
             {"mcp_echo", false, false},
             {"MCP__e__echo", true, true},
             {"?", true, true},
             {".*", true, true},
             {"**", true, true},
         })
        for (const auto place : kPlaces) {
            SCOPED_TRACE(std::string(text) + " in place " +
                         std::to_string(static_cast<int>(place)));
            EXPECT_EQ(forbids(place, text, "echo"), echo || place == Place::Deny);
            EXPECT_EQ(forbids(place, text, "other"), other || place == Place::Deny);
        }
}

// A name that no tool here has, and that may be this server's or a public one.
TEST_F(Forbidding, WhatMayNameTheServerClosesItWhereverItStands) {
    for (const auto* text : {"e",
                             "E",
                             "mcp",
                             "server:e",
                             "e__echo",
                             "e/echo",
                             "e.echo",
                             "e:echo",
                             "e echo",
                             "m*",
                             "mc*",
                             "mcp*",
                             "mcp_*",
                             "MCP*",
                             "mcp_e_echo",
                             "mcp-e-echo",
                             "MCP_E_ECHO",
                             "mcp:e:echo",
                             "mcp/e/echo",
                             "mcp.e.echo",
                             "mcp(e:echo)",
                             "Mcp(e__echo)",
                             "mcp_e",
                             "mcp_e*",
                             "mcp____e__echo",
                             "-mcp__e__echo",
                             "_mcp__e__echo",
                             "!mcp__e__echo",
                             "`mcp__e__echo`",
                             "mcp\u200b__e__echo",
                             "\u200bmcp__e__echo",
                             "mcp\uff3f\uff3fe__echo",
                             "\uff4dcp__e__echo",
                             "m\u0441p__e__echo",
                             "x|mcp__e__echo",
                             "^mcp__e__echo$",
                             "tool:mcp__e__echo",
                             "Tool(mcp__e__echo)",
                             "e__echo, e__x",
                             "x, e__echo",
                             "*echo",
                             "*__echo",
                             "**",
                             "\ue000"})
        for (const auto place : kPlaces) {
            SCOPED_TRACE(std::string(text) + " in place " +
                         std::to_string(static_cast<int>(place)));
            EXPECT_TRUE(forbids(place, text, "echo"));
            EXPECT_TRUE(forbids(place, text, "other"));
        }
}

TEST_F(Forbidding, APublicNameInOddSpellingMeansTheSameInEveryPlace) {
    std::size_t forbidden = 0;
    for (const auto* text : {"mcp__e__x, e__echo",
                             "mcp__e__x;e__echo",
                             "mcp__x/e__echo",
                             "mcp__x.e__*",
                             "mcp__x/e",
                             "mcp__e__x/echo",
                             "mcp__e__tool:echo",
                             "mcp__e__echo,other",
                             "mcp__e__{x,echo}",
                             "mcp__e__ec\u200bho",
                             "mcp__e\u200b__echo",
                             "mcp__e__\u0435cho",
                             "mcp__e__ec.ho",
                             "mcp__ e __ echo",
                             "mcp__*",
                             "mcp__e*",
                             "mcp__E__echo",
                             "mcp__e__Echo",
                             "mcp___e__echo",
                             "mcp__e____echo",
                             "mcp__e-",
                             "mcp__-e__echo",
                             "mcp__e__all",
                             "mcp__echoes__echo",
                             "mcp__f,e__echo"}) {
        for (const auto* tool : {"echo", "other"}) {
            const bool by_deny = forbids(Place::Deny, text, tool);
            if (by_deny) ++forbidden;
            for (const auto place : {Place::DisabledTools, Place::Tools})
                EXPECT_EQ(forbids(place, text, tool), by_deny) << text << " " << tool;
        }
    }
    EXPECT_GE(forbidden, 25U);
    for (const auto place : kPlaces)
        for (const auto* text : {"mcp__x/e__echo", "mcp__e__x, e__echo", "mcp__e__echo,other"})
            EXPECT_TRUE(forbids(place, text, "echo")) << text;
}

// The decoy is called as the rule is written.
TEST_F(Forbidding, AToolThatAServerListsTakesNothingFromARule) {
    struct Case {
        const char *text, *tool;
        bool in_deny = true;  // behind mcp__e__; else it names another tool there
    };
    for (const auto& [text, tool, in_deny] : std::vector<Case>{
             {"delete.file", "delete_file"},
             {"delete/file", "delete_file"},
             {"delete file", "delete_file"},
             {"delete\u200bfile", "delete_file"},
             {"delete?", "delete_file"},
             {"$echo", "echo"},
             {"`echo`", "echo"},
             {"x,echo", "echo"},
             {"e.echo", "echo"},
             {"mcp.e.echo", "echo"},
             {"mcp(e:echo)", "echo"},
             {"mcp\uff3f\uff3fe__echo", "echo"},
             {"mcp\u200b__e__echo", "echo"},
             {"m\u0441p__e__echo", "echo", false},
             {"e__echo", "echo", false},
             {"e__echo,x", "echo", false},
             {"mcp_e_echo", "echo", false},
             {"mcp-e-echo", "echo", false},
             {"mcp____e__echo", "echo", false},
         })
        for (const auto place : kPlaces) {
            if (place == Place::Deny && !in_deny) continue;
            const std::string name = (place == Place::Deny ? "mcp__e__" : "") + std::string(text);
            SCOPED_TRACE(name);
            listing.tools = {"echo", "delete_file", "delete_all"};
            EXPECT_TRUE(forbids(place, name, tool));
            listing.tools.insert({text, std::string(text) + "s"});
            EXPECT_TRUE(forbids(place, name, tool)) << "with the decoy";
            EXPECT_TRUE(forbids(place, name, text)) << "the decoy";
        }
}

TEST_F(Forbidding, ByItsOwnNameAToolIsForbiddenWithoutItsServerHoweverOdd) {
    for (const auto* odd : {"ech.o", "ech(x)", "ech o", "c++", "echo,x", "\u00e9cho", "ech/o",
                            "$ech", "ech:o", "e.x", "mcp.e.x", "e", "mcp"}) {
        listing.tools = {"other", "read", odd};
        for (const auto place : kPlaces) {
            SCOPED_TRACE(odd);
            const std::string name = (place == Place::Deny ? "mcp__e__" : "") + std::string(odd);
            EXPECT_TRUE(forbids(place, name, odd));
            EXPECT_FALSE(forbids(place, name, "other"));
            EXPECT_FALSE(forbids(place, name, "read"));
        }
    }
}

TEST_F(Forbidding, ByItsPublicNameAToolIsForbiddenAloneHoweverOdd) {
    for (const auto* odd :
         {"ech.o", "ech(x)", "c++", "echo,other", "\u00e9cho", "$ech", "e.echo"}) {
        listing.tools = {"echo", "ech", "other", "c", odd};
        for (const auto place : kPlaces) {
            SCOPED_TRACE(odd);
            const auto name = protocol::public_name("e", odd);
            EXPECT_TRUE(forbids(place, name, odd));
            for (const auto* tool : {"echo", "ech", "other", "c", "e"})
                EXPECT_FALSE(forbids(place, name, tool)) << tool;
        }
    }
}

TEST_F(Forbidding, ANameWithADotForbidsThatToolAndNotWhatBeginsLikeIt) {
    for (const auto place : kPlaces) {
        const std::string name = place == Place::Deny ? "mcp__e__ns.delete" : "ns.delete";
        listing.tools = {"echo", "ns.delete", "ns.list", "ns_delete", "ns"};
        for (const auto* tool : {"ns.delete", "ns_delete"}) EXPECT_TRUE(forbids(place, name, tool));
        for (const auto* tool : {"echo", "ns.list", "ns"}) EXPECT_FALSE(forbids(place, name, tool));
        listing.tools = {"echo", "ns.list"};
        EXPECT_TRUE(forbids(place, name, "ns.list")) << "nobody can tell what it means";
    }
}

TEST_F(Forbidding, ATextOfManyNamesForbidsAll) {
    std::string many = "a";
    for (int i = 0; i < 20; ++i) many += ",a" + std::to_string(i);
    listing.tools = {"echo", "other", many};
    for (const auto place : kPlaces)
        EXPECT_TRUE(forbids(place, (place == Place::Deny ? "mcp__e__" : "") + many, "echo"));
    many = "mcp__zz__a";
    for (int i = 0; i < 20; ++i) many += ",e__a" + std::to_string(i);
    EXPECT_TRUE(forbids(Place::Deny, many, "echo"));
}

TEST_F(Forbidding, AServerThatListsAMarkAsANameGetsOutOfNoRule) {
    for (const auto* mark :
         {"ech?", "ech.*", "ech[a-z]", "ech|x", "ech\\w", "?", "ech\u200b", "/*"}) {
        listing.tools = {"echo", mark, std::string(mark).substr(0, 4), "/"};
        for (const auto place : kPlaces)
            EXPECT_TRUE(forbids(place, (place == Place::Deny ? "mcp__e__" : "") + std::string(mark),
                                "echo"))
                << mark;
    }
}

// Whatever is put into a deny of a tool, and is no letter of another name: the tool is denied, or all.
TEST_F(Forbidding, NoLetterThatNamesDoNotHaveMakesADenyForbidLess) {
    std::vector<std::string> letters;
    for (int c = 1; c < 128; ++c)
        if (!std::isalnum(c) && c != '_' && c != '-') letters.emplace_back(1, static_cast<char>(c));
    for (const auto* unseen :
         {"\u00a0", "\u00ad", "\u034f", "\u061c", "\u180e", "\u200b", "\u200c", "\u200d", "\u200e",
          "\u2003", "\u202e", "\u2060", "\u2066", "\u3000", "\ufeff", "\uff0a"})
        letters.emplace_back(unseen);
    const std::string deny = "mcp__e__echo";
    for (const auto& letter : letters)
        for (std::size_t at = 0; at <= deny.size(); ++at) {
            auto written = deny;
            written.insert(at, letter);
            EXPECT_TRUE(forbids(Place::Deny, written, "echo"))
                << json::serialize(json::value(written));
            if (at < 8) continue;  // in the tool's name
            for (const auto place : {Place::DisabledTools, Place::Tools}) {
                EXPECT_TRUE(forbids(place, written, "echo")) << written;
                EXPECT_TRUE(forbids(place, written.substr(8), "echo")) << written;
            }
        }
}

TEST_F(Forbidding, AnotherServersRuleIsAnothers) {
    for (const auto* text : {"mcp__e__echo", "mcp__e__*", "mcp__e", "mcp__e/echo", "mcp__e__ech?"})
        EXPECT_FALSE(forbids(Place::Deny, text, "echo", "echoes")) << text;
    for (const auto place : {Place::DisabledTools, Place::Tools})
        EXPECT_FALSE(forbids(place, "*", "echo", "echoes"));
}

TEST_F(Forbidding, AReasonSaysAsWhatTheToolIsForbidden) {
    const auto config = config_with(Place::DisabledTools, "ech*");
    const Policy policy(config.permissions, config.servers);
    const Question question{core::Trust::Approves, "e", "echo", "mcp__e__echo"};
    EXPECT_THAT(
        policy.reason(question, policy.judge(question)),
        ::testing::HasSubstr("mcp__e__echo is in disabled_tools as \"ech*\" of server \"e\""));
}

TEST_F(Forbidding, WhatServersListIsLookedAtOnceAndNotForEachCall) {
    listing.tools = {"\u00e9cho", "other"};
    const auto config = config_with(Place::Deny, "mcp__e__\u00e9cho");
    const Policy policy(config.permissions, config.servers);
    Question question{core::Trust::Approves, "e", "other", "mcp__e__other"};
    question.listed = &listing;
    for (int i = 0; i < 100; ++i) EXPECT_EQ(policy.judge(question).decision, Decision::Allow);
    EXPECT_EQ(listing.asked, 1u);
    question.server = "echoes";
    policy.judge(question);
    EXPECT_EQ(listing.asked, 1u);
}

TEST_F(Forbidding, WhatIsCertainIsAskedOfNoListAndLeavesWhatIsKnownOfIt) {
    config::Server server;
    server.id = "e";
    server.disabled_tools = {"ech.o"};
    server.tools = {{"other", config::Level::Deny}};
    const Policy policy({}, {server});
    Question question{core::Trust::Approves, "e", "other", "mcp__e__other"};
    question.listed = &listing;
    policy.judge(question);
    ASSERT_EQ(listing.asked, 1u);
    EXPECT_TRUE(policy.certain_denial(core::Trust::Approves, "e", "mcp__e__other"));
    policy.judge(question);
    EXPECT_EQ(listing.asked, 1u);
}

// ---- bounds

TEST_F(Forbidding, APatternIsNoLongerThanItMayBe) {
    for (const auto* fill : {".", "_", "a", "?", " mcp__e__"}) {
        std::string longest = "mcp__e__";
        while (longest.size() + std::string_view(fill).size() <= 1'024) longest += fill;
        EXPECT_EQ(config_with(Place::Deny, longest + "*").permissions.closed.empty(),
                  longest.size() < 1'024)
            << fill;
        EXPECT_NE(config_with(Place::Deny, longest + std::string(20, 'x')).permissions.closed, "");
    }
}

// Far past what a file may hold: what comes of it is a few patterns of
// that length at most, and no call stands on another.
TEST(Readings, OfAnyLengthAreFew) {
    config::Server server;
    server.id = "e";
    const std::vector<config::Server> servers{server};
    const Readings readings(servers);
    for (int c = 1; c < 256; ++c)
        for (const auto* front : {"mcp__e__", "mcp__zz__", "mcp__", ""}) {
            std::string pattern = front;
            pattern.append(std::size_t{1} << 9, static_cast<char>(c));
            for (const auto* back : {"", "?", "*"}) {
                EXPECT_LE(readings.of_deny(pattern + back).patterns.size(), 12u) << c << front;
                EXPECT_LE(forbidden_by(server, pattern + back).patterns.size(), 24u) << c << front;
            }
        }
    const std::string dots(std::size_t{1} << 20, '.');
    EXPECT_LE(readings.of_deny("mcp__zz__" + dots + "?").patterns.size(), 3u);
    EXPECT_LE(readings.of_deny("mcp__e__" + dots + "?").patterns.size(), 9u);
}

}  // namespace
}  // namespace patchbay::policy
