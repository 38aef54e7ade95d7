// Rules that name servers and tools as people wrote them, not by their ids.
#include "listing.hpp"
#include "policy/policy.hpp"
#include "protocol/qualified_name.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace patchbay::policy {
namespace {

using config::Level;

// Servers whose ids are not their names, and one more that a name could be taken for.
class WrittenNames : public ::testing::Test {
protected:
    WrittenNames() {
        for (const auto& [id, written] :
             {std::pair("a_b", "a__b"), std::pair("we-ird-N", "we ird.N"), std::pair("a", "")}) {
            servers.emplace_back().id = id;
            servers.back().written = written;
        }
    }
    bool allowed(const config::Permissions& permissions, std::string_view server,
                 std::string_view tool, Listing::Tools tools = {}) const {
        const auto name = protocol::public_name(server, tool);
        const Listing listing(std::move(tools));
        Question question{core::Trust::Approves, server, tool, name};
        question.listed = &listing;
        return Policy(permissions, servers).judge(question).decision == Decision::Allow;
    }
    std::vector<config::Server> servers;
};

TEST_F(WrittenNames, AreTakenForTheServersByADeny) {
    for (const auto* pattern :
         {"mcp__a__b__z", "mcp__a__b__*", "mcp__a__b", "mcp__a__*", " mcp__a_b__z", "mcp__a_b__z\t",
          "mcp__a_b", "mcp__a__b*", "mcp__a__b__?", "mcp__a__?__z", "mcp__?__z", "mcp__a_b__?"}) {
        SCOPED_TRACE(pattern);
        EXPECT_FALSE(allowed({{}, {pattern}}, "a_b", "z"));
    }
    for (const auto* pattern : {"mcp__we ird.N__x", "mcp__we ird.N__*", "mcp__we ird.N",
                                "mcp__we *", " mcp__we ird.N__x ", "mcp__we?ird.N__x"}) {
        SCOPED_TRACE(pattern);
        EXPECT_FALSE(allowed({{}, {pattern}}, "we-ird-N", "x"));
        EXPECT_TRUE(allowed({{}, {pattern}}, "a_b", "x"));
    }
    EXPECT_FALSE(allowed({{}, {"mcp__a__b__z"}}, "a", "b__z")) << "as it stands it counts too";
    for (const auto* pattern : {"mcp__a__b__y", "mcp__elsewhere__*", "mcp__b__z", "mcp__a_"})
        EXPECT_TRUE(allowed({{}, {pattern}}, "a_b", "z")) << pattern;
}

TEST_F(WrittenNames, ARegularExpressionDeniesAllThatBeginsLikeIt) {
    for (const auto* pattern :
         {"mcp__a__z.*", "mcp__a__.*", "mcp__a__(y|z)", "mcp__a__z$", "mcp__a__[xyz]",
          "mcp__a__z, mcp__a__y", "mcp__a__\\w+", "mcp__a__z+", "mcp__a__z\u00a0"})
        EXPECT_FALSE(allowed({{}, {pattern}}, "a", "z")) << pattern;
    EXPECT_TRUE(allowed({{}, {"mcp__a__y.*"}}, "a", "z"));
    EXPECT_FALSE(allowed({{}, {"mcp__a__z.x"}}, "a", "z"));
    EXPECT_TRUE(allowed({{}, {"mcp__a__z.x"}}, "a", "z", {{"a", {"z", "z.x"}}}))
        << "a dot is a letter of some names";
    EXPECT_FALSE(allowed({{{"mcp__a__.*"}}, {}}, "a", "z")) << "what allows says what it means";
}

TEST_F(WrittenNames, InTheRulesOfTheServerItselfMayHaveBlanksAroundThem) {
    auto& server = servers.front();
    server.disabled_tools = {"x ", " mcp__a_b__y"};
    server.tools = {{" z", Level::Deny}, {"u ", Level::AllowAlways}};
    for (const auto* tool : {"x", "y", "z"}) EXPECT_FALSE(allowed({}, "a_b", tool)) << tool;
    EXPECT_TRUE(allowed({}, "a_b", "u"));
}

TEST_F(WrittenNames, OfToolsThatAreToldApartAreDeniedByTheNameThatTheyShare) {
    const Policy policy({{}, {"mcp__a___b"}, {}, {}, {}}, servers);
    const auto decision = [&](const std::string& name) {
        return policy.judge({core::Trust::Approves, "a", "_b", name}).decision;
    };
    EXPECT_EQ(decision("mcp__a___b"), Decision::Deny);
    EXPECT_EQ(decision(protocol::name_told_apart("a", "_b")), Decision::Deny);
    EXPECT_EQ(decision(protocol::name_told_apart("a", "_c")), Decision::Allow);
}

TEST_F(WrittenNames, OfServersMayHoldLettersOfARegularExpression) {
    servers.resize(2);
    servers[0].id = "files-local";
    servers[0].written = "files (local)";
    servers[1].id = "files-remote";
    servers[1].written = "files (remote)";
    for (const auto* pattern : {"mcp__files (local)__x", "mcp__files (local)__*",
                                "mcp__files (local)", "mcp__files (local)__x$"}) {
        SCOPED_TRACE(pattern);
        EXPECT_FALSE(allowed({{}, {pattern}}, "files-local", "x"));
        EXPECT_TRUE(allowed({{}, {pattern}}, "files-remote", "x"));
    }
}

TEST_F(WrittenNames, OfToolsAreTakenForTheToolsByADeny) {
    for (const auto* pattern : {"mcp__a__my tool", "mcp__a__my t*", "mcp__a__my?tool"})
        EXPECT_FALSE(allowed({{}, {pattern}}, "a", "my tool")) << pattern;
    EXPECT_FALSE(
        allowed({{}, {"mcp__a__my tool"}}, "a", "my_tool", {{"a", {"my tool", "my_tool"}}}));
    const std::string longest(70, 'q');
    EXPECT_FALSE(allowed({{}, {"mcp__a__" + longest}}, "a", longest));
    EXPECT_FALSE(allowed({{}, {"mcp__a__" + longest.substr(5) + "*"}}, "a", longest));
}

TEST_F(WrittenNames, AllowWhereOneServerCanBeMeantAndNoMore) {
    EXPECT_TRUE(allowed({{{"mcp__we ird.N__x"}}, {}}, "we-ird-N", "x"));
    EXPECT_TRUE(allowed({{{"mcp__we ird.N__*"}}, {}}, "we-ird-N", "x"));
    EXPECT_TRUE(allowed({{{" mcp__a_b__z"}}, {}}, "a_b", "z"));
    EXPECT_TRUE(allowed({{{"mcp__a__my tool"}}, {}}, "a", "my tool"));
    for (const auto* pattern : {"mcp__a__b__z", "mcp__a__b__*", "mcp__a__*", "mcp__a_b",
                                "mcp__we *", "mcp__a_b__?", "mcp__?__z"})
        EXPECT_FALSE(allowed({{{pattern}}, {}}, "a_b", "z")) << pattern;
    EXPECT_FALSE(allowed({{{"mcp__a__b__z"}}, {}}, "a", "b__z")) << "nor the other one";
    servers.pop_back();  // nothing else is meant
    EXPECT_TRUE(allowed({{{"mcp__a__b__z"}}, {}}, "a_b", "z"));
}

TEST_F(WrittenNames, InTheRulesOfTheServerItselfForbidItsTools) {
    auto& server = servers.front();
    server.disabled_tools = {"mcp__a_b__x", "mcp__a__b__y", "mcp__a__z"};
    server.tools = {{"mcp__a_b__u", Level::Deny},
                    {"mcp__a_b__v", Level::AllowAlways},
                    {"w", Level::AllowAlways},
                    {"mcp__a_b__w", Level::Deny}};
    server.trust = "untrusted";
    for (const auto* tool : {"x", "y", "u", "v"}) EXPECT_FALSE(allowed({}, "a_b", tool)) << tool;
    EXPECT_FALSE(allowed({}, "a_b", "w")) << "the stricter counts";
    server.trust.clear();
    for (const auto* tool : {"v", "z"}) EXPECT_TRUE(allowed({}, "a_b", tool)) << tool;
}

TEST_F(WrittenNames, AreToldAsTheyStand) {
    config::Permissions permissions{{}, {"mcp__a__b__z"}};
    permissions.deny_places["mcp__a__b__z"] = {config::Scope::User, "u.toml", 2, 9};
    const Policy policy(permissions, servers);
    const Question question{core::Trust::Approves, "a_b", "z", "mcp__a_b__z"};
    EXPECT_EQ(policy.reason(question, policy.judge(question)),
              "mcp__a_b__z is denied by [permissions] deny = \"mcp__a__b__z\" (user config "
              "u.toml:2:9)");
}

}  // namespace
}  // namespace patchbay::policy
