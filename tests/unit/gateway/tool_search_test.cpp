// What a search of tools finds, and in which order.
#include "gateway/tool_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace patchbay::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ToolSearch : public ::testing::Test {
protected:
    void add(const std::string& name, const std::string& about) {
        auto& tool = tools_.emplace_back();
        tool.name = name;
        tool.known = R"("description":")" + about + "\"";
        listed_.push_back({"mcp__s__" + name, "s", &tool, {}});
    }
    std::vector<std::string> found(std::string_view query, std::size_t most = 10) const {
        std::vector<std::string> names;
        for (const auto* each : best_tools(query, listed_, most)) names.push_back(each->tool->name);
        return names;
    }

private:
    std::deque<protocol::Tool> tools_;
    std::vector<router::ListedTool> listed_;
};

TEST_F(ToolSearch, AWordOfTheNameIsWorthMoreThanAPartOfItAndThatThanTheDescription) {
    add("other", "opens an issue");
    add("reissue_ticket", "");
    add("issue", "");
    add("nothing", "at all");
    EXPECT_THAT(found("ISSUE"), ElementsAre("issue", "reissue_ticket", "other"));
    EXPECT_THAT(found("issue", 2), ElementsAre("issue", "reissue_ticket"));
}

TEST_F(ToolSearch, EqualOnesKeepTheirOrderAndMoreWordsCountForMore) {
    add("list_b", "");
    add("list_a", "");
    add("list_a_b", "");
    EXPECT_THAT(found("list"), ElementsAre("list_b", "list_a", "list_a_b"));
    EXPECT_THAT(found("a b list"), ElementsAre("list_a_b", "list_b", "list_a"));
}

TEST_F(ToolSearch, WordsBeyondAsciiAreFoundAndWhatHasNoneFindsNothing) {
    add("x", "schließt ein Projekt");
    EXPECT_THAT(found("schließt"), ElementsAre("x"));
    EXPECT_THAT(found("!?  --"), IsEmpty());
    EXPECT_THAT(found(""), IsEmpty());
}

TEST_F(ToolSearch, OfALongQueryTheFirstWordsCount) {
    add("last", "");
    std::string query;
    for (std::size_t i = 0; i < kMostWords; ++i) query += "w" + std::to_string(i) + " ";
    EXPECT_THAT(found(query + "last"), IsEmpty());
    EXPECT_THAT(found("last " + query), ElementsAre("last"));
}

}  // namespace
}  // namespace patchbay::gateway
