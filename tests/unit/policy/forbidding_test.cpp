// What a name that forbids means, wherever it stands: in [permissions] deny, in disabled_tools, and
// where `tools` denies. Read from files, as people write them.
#include "config/merge.hpp"
#include "core/text.hpp"
#include "listing.hpp"
#include "policy/policy.hpp"
#include "protocol/qualified_name.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>
#include <vector>

namespace patchbay::policy {
namespace {

namespace json = boost::json;

enum class Place { Deny, DisabledTools, Tools };
constexpr Place kPlaces[] = {Place::Deny, Place::DisabledTools, Place::Tools};

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
    using Tools = std::set<std::string>;
    // Which of the two tools of server "e" it forbids.
    Tools forbidden(Place place, const std::string& name) const {
        Tools tools;
        for (const auto* tool : {"echo", "other"})
            if (forbids(place, name, tool)) tools.insert(tool);
        return tools;
    }
    const Tools both{"echo", "other"};
    Listing listing{Listing::Tools{{"e", both}}};

    struct Meaning {
        Tools tools;  // that are forbidden
        std::vector<const char*> written;
    };
};

TEST_F(Forbidding, APublicNameMeansTheSameInEveryPlace) {
    const Meaning meanings[] = {
        {{"echo"},
         {"mcp__e__echo", " mcp__e__echo\t", "mcp__e__ech*", "mcp__e__ech?", "mcp__e__ech.",
          "mcp__e__ech.*", "mcp__e__ech%", "mcp__e__echo(x)", "mcp__e__echo:*", "mcp__e__echo/*",
          "mcp__e__echo #x", "mcp__e__echo\u200b", "mcp__e__echo\u2003", "mcp__e_echo"}},
        {both,
         {"mcp__e__echo mcp__e__other", "mcp__e__echo,mcp__e__other", "mcp__e__`echo`", "mcp__e__*",
          "mcp__e__\uff0a", "mcp__e__\u2217", "mcp__e__", "mcp__e", "mcp__e/*", "mcp__e:*",
          "mcp__e/echo", "mcp__e.echo", "mcp__<any>", "mcp__?__echo", "*", ""}},
        {{"other"}, {"mcp__e__other"}},
        {{}, {"mcp__e__ech", "mcp__elsewhere__echo", "mcp__elsewhere", "mcp__@org/elsewhere__*"}}};
    for (const auto& [tools, written] : meanings)
        for (const auto* text : written)
            for (const auto place : kPlaces)
                EXPECT_EQ(forbidden(place, text), tools)
                    << text << " in place " << static_cast<int>(place);
}

// In a deny these are the names of nothing, which denies all.
TEST_F(Forbidding, AServersOwnNameMeansTheSameInBothOfItsRules) {
    const Meaning meanings[] = {{{"echo"},
                                 {"echo", " echo", "ech*", "ech?", "echo(x)", "echo(*)",
                                  "echo,other", "echo\u200b", "e__echo", "MCP__e__echo"}},
                                {both, {"?", ".*", "**"}},
                                {{}, {"ech"}}};
    for (const auto& [tools, written] : meanings)
        for (const auto* text : written)
            for (const auto place : kPlaces)
                EXPECT_EQ(forbidden(place, text), place == Place::Deny ? both : tools)
                    << text << " in place " << static_cast<int>(place);
}

TEST_F(Forbidding, AToolIsForbiddenAloneByItsOwnNameHoweverOdd) {
    for (const auto* odd :
         {"ech.o", "ech(x)", "ech o", "c++", "echo,other", "\u00e9cho", "ech/o", "$ech", "ech:o"}) {
        listing.tools["e"] = {"echo", "ech", "other", "c", odd};
        for (const auto place : kPlaces) {
            SCOPED_TRACE(odd);
            const std::string name = (place == Place::Deny ? "mcp__e__" : "") + std::string(odd);
            EXPECT_TRUE(forbids(place, name, odd));
            for (const auto* tool : {"echo", "ech", "other", "c"})
                EXPECT_FALSE(forbids(place, name, tool)) << tool;
        }
    }
    listing.tools["e"] = {"echo", "admin/list", "administer"};
    EXPECT_TRUE(forbids(Place::Deny, "mcp__e__admin/*", "admin/list"));
    EXPECT_FALSE(forbids(Place::Deny, "mcp__e__admin/*", "administer"));
}

TEST_F(Forbidding, AServerThatListsAMarkAsANameGetsOutOfNoRule) {
    for (const auto* mark :
         {"ech?", "ech.*", "ech[a-z]", "ech|x", "ech\\w", "?", "ech\u200b", "/*"}) {
        listing.tools["e"] = {"echo", mark, std::string(mark).substr(0, 4), "/"};
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
    const auto config = config_with(Place::Deny, "mcp__e__ech.o");
    const Policy policy(config.permissions, config.servers);
    Question question{core::Trust::Approves, "e", "other", "mcp__e__other"};
    question.listed = &listing;
    for (int i = 0; i < 100; ++i) EXPECT_EQ(policy.judge(question).decision, Decision::Allow);
    EXPECT_EQ(listing.asked, 1u);
    EXPECT_FALSE(policy.certain_denial(core::Trust::Approves, "e", "mcp__e__other"));
    policy.judge(question);
    EXPECT_EQ(listing.asked, 1u) << "what is certain is asked of no list";
    question.server = "echoes";
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
