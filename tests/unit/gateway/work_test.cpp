// How much one client can have the loop of all do in one turn, counted in what it asks of the heap.
#include "gateway/tool_search.hpp"
#include "session_fixture.hpp"
#include "support/counted_memory.hpp"

#include <deque>
#include <string>
#include <vector>

namespace patchbay::gateway {
namespace {

// A search that cuts each text into its words asks for one piece of memory a word and more.
TEST(Work, ASearchOfManyToolsIsAFewPiecesOfMemoryForEach) {
    constexpr std::size_t kTools = 1'000, kPiecesOfOne = 10;
    std::string about;
    while (about.size() < 2'000) about += "wonderfully-considerable-descriptions ";
    std::deque<protocol::Tool> tools;
    std::vector<router::ListedTool> listed;
    for (std::size_t i = 0; i < kTools; ++i) {
        auto& tool = tools.emplace_back();
        tool.name = "tool_number_" + std::to_string(i);
        tool.known = R"("description":")" + about + "\"";
        listed.push_back({"mcp__s__" + tool.name, "s", &tool, {}});
    }
    const auto before = test::memory_asked_for();
    EXPECT_EQ(best_tools("descriptions of nothing and 7", listed, 10).size(), 10u);
    EXPECT_LT(test::memory_asked_for().pieces - before.pieces, kTools * kPiecesOfOne);
}

class SessionWork : public SessionTest {};

// It is put together with something for each tool that there is, if one is not careful.
TEST_F(SessionWork, ACallOfAToolWithANameOfMegabytesIsAFewCopiesOfIt) {
    constexpr std::size_t kTools = 300, kCopies = 60;
    json::array many;
    for (std::size_t i = 0; i < kTools; ++i)
        many.push_back(test::tool_named(("t" + std::to_string(i)).c_str()));
    offer("git", "tools/list", {{"tools", many}});
    greet();
    ask(2, "tools/list");
    const std::string name = "mcp__git__" + std::string(5u << 20, 'a');
    const auto before = test::memory_asked_for();
    EXPECT_EQ(at(ask(3, "tools/call", {{"name", name}}), "/error/code"), -32602);
    EXPECT_LT(test::memory_asked_for().bytes - before.bytes, name.size() * kCopies);
}

}  // namespace
}  // namespace patchbay::gateway
