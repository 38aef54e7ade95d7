#include "catalogue/drift.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace patchbay::catalogue {
namespace {

using ::testing::ElementsAre;

protocol::Tool tool(const std::string& name, const std::string& known,
                    const std::string& others = {}) {
    return {name, known, others};
}

Listing listing(std::vector<protocol::Tool> tools) {
    return {"key", std::move(tools)};
}

TEST(Drift, NamesWhatIsNewGoneAndDescribedOtherwise) {
    const auto before = listing({tool("a", R"("description":"old")"), tool("b", ""),
                                 tool("c", R"("description":"c")", R"("x":1)")});
    const auto now = listing({tool("a", R"("description":"new","inputSchema":{"type":"object"})"),
                              tool("c", R"("description":"c")", R"("x":1)"), tool("d", "")});
    const auto drift = drift_of(before, now);
    ASSERT_TRUE(drift);
    EXPECT_THAT(drift->added, ElementsAre("d"));
    EXPECT_THAT(drift->removed, ElementsAre("b"));
    ASSERT_EQ(drift->changed.size(), 1u);
    EXPECT_EQ(drift->changed[0].name, "a");
    EXPECT_THAT(drift->changed[0].members, ElementsAre("description", "inputSchema"));
    EXPECT_EQ(summary(*drift),
              "1 added (d), 1 removed (b), 1 changed (a: description, inputSchema)");
}

TEST(Drift, TheSameInOtherWordsIsNone) {
    const auto before = listing({tool("a", R"("inputSchema":{"type":"object","title":"x"})")});
    EXPECT_FALSE(drift_of(before, before));
    EXPECT_FALSE(drift_of(
        before, listing({tool("a", R"("inputSchema":{"title":"\u0078","type":"object"})")})));
    EXPECT_TRUE(
        drift_of(before, listing({tool("a", R"("inputSchema":{"type":"object","title":"y"})")})));
}

TEST(Drift, SaysWhereTheFirstThatIsDescribedOtherwiseDiffersFirst) {
    struct Case {
        std::string before, now, first;
    };
    const std::string begin = "Reads a file, as it stands on the disk of this machine";
    const Case cases[] = {
        {R"("inputSchema":{"type":"object","properties":{"a/b":{"type":"string"}}})",
         R"("inputSchema":{"type":"object","properties":{"a/b":{"type":"number"}}})",
         R"(a: /inputSchema/properties/a~1b/type was "string", is "number")"},
        {R"("inputSchema":{"required":["x"]})", R"("inputSchema":{"required":["x","y"]})",
         R"(a: /inputSchema/required was ["x"], is ["x","y"])"},
        {R"("inputSchema":{"enum":[1,2]})", R"("inputSchema":{"enum":[1,3]})",
         R"(a: /inputSchema/enum/1 was 2, is 3)"},
        {R"("inputSchema":{"title":"x"})", R"("inputSchema":{"default":1})",
         R"(a: /inputSchema/title is gone, was "x")"},
        {R"("inputSchema":{})", R"("inputSchema":{"default":1})",
         R"(a: /inputSchema/default is new, 1)"},
        {"", R"("title":"x")", "a: /title is new"},
        {R"("description":")" + begin + ".\"", R"("description":")" + begin + ", and sends it.\"",
         R"(a: /description was ..."disk of this machine.", is ..."disk of this machine, and sends it.")"}};
    for (const auto& c : cases) {
        const auto drift = drift_of(listing({tool("a", c.before), tool("b", R"("title":"b")")}),
                                    listing({tool("a", c.now), tool("b", R"("title":"c")")}));
        ASSERT_TRUE(drift);
        EXPECT_EQ(drift->first, c.first);
    }
}

TEST(Drift, OtherInstructionsAreSome) {
    auto now = listing({});
    now.instructions = "Use it.";
    const auto drift = drift_of(listing({}), now);
    ASSERT_TRUE(drift);
    EXPECT_TRUE(drift->instructions);
    EXPECT_EQ(summary(*drift), "other instructions");
}

TEST(Drift, NamesAFewOfManyAndCountsTheRest) {
    std::vector<protocol::Tool> many;
    for (std::size_t i = 0; i < kMostDriftNames + 7; ++i)
        many.push_back(tool(std::to_string(1'000 + i), R"("description":"a")"));
    const auto all = listing(many);
    const auto drift = drift_of(listing({}), all);
    ASSERT_TRUE(drift);
    EXPECT_EQ(drift->added.size(), kMostDriftNames);
    EXPECT_EQ(drift->more_added, 7u);
    EXPECT_EQ(summary(*drift, 2), "107 added (1000, 1001, ...)");
    for (auto& each : many) each.known = R"("description":"b")";
    const auto changed = drift_of(all, listing(many));
    ASSERT_TRUE(changed);
    EXPECT_EQ(changed->more_changed, 7u);
    const auto gone = drift_of(all, listing({}));
    ASSERT_TRUE(gone);
    EXPECT_EQ(gone->more_removed, 7u);
}

TEST(Drift, WhatAServerWritesIsPrintable) {
    const auto drift = drift_of(listing({}), listing({tool("a\x1b[2J\nb", "")}));
    ASSERT_TRUE(drift);
    EXPECT_EQ(summary(*drift).find('\x1b'), std::string::npos);
    EXPECT_EQ(summary(*drift).find('\n'), std::string::npos);
}

}  // namespace
}  // namespace patchbay::catalogue
