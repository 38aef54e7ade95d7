// The MCP project's own servers over stdio.
#include "integration/npm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace json = boost::json;

class RealServers : public NpmTest {
protected:
    void add(const std::string& id, const std::string& package, const Words& arguments = {},
             json::object environment = {}) {
        json::array all{(kServers / package / "dist/index.js").string()};
        for (const auto& argument : arguments) all.emplace_back(argument);
        home.add(id, {{"command", kNode.string()}, {"args", all}, {"env", environment}});
    }
};

TEST_F(RealServers, FilesAreReadByTheFilesystemServerAndOnlyInItsFolder) {
    add("files", "server-filesystem", {home.work()});
    home.write("README.md", "# A file to read\n");
    const auto done = home.run({"call", "mcp__files__read_text_file", "path=README.md"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("# A file to read"));
    const auto denied = home.run({"call", "mcp__files__read_text_file", "path=/etc/hostname"});
    EXPECT_EQ(denied.exit_code, 2);
    EXPECT_THAT(denied.out, HasSubstr("Access denied"));
    EXPECT_EQ(nothing_left(), "");
}

TEST_F(RealServers, WhatTheMemoryServerIsToldIsThereInTheNextRun) {
    add("memory", "server-memory", {},
        {{"MEMORY_FILE_PATH", (home.root() / "memory.json").string()}});
    const auto told =
        home.run({"call", "mcp__memory__create_entities",
                  R"(entities:=[{"name":"Ada","entityType":"person","observations":["counts"]}])"});
    EXPECT_EQ(told.exit_code, 0) << told.err;
    const auto graph = home.run({"call", "mcp__memory__read_graph", "--raw"});
    EXPECT_EQ(graph.exit_code, 0) << graph.err;
    EXPECT_THAT(graph.out, HasSubstr(R"("name":"Ada")"));
}

TEST_F(RealServers, EverythingOfServerEverythingIsReached) {
    add("all", "server-everything");
    const auto done =
        home.run({"batch"},
                 R"({"id":1,"op":"tools/call","name":"mcp__all__get-sum","arguments":{"a":2,"b":40}}
{"id":2,"op":"resources/list","server":"all"}
{"id":3,"op":"prompts/get","server":"all","name":"args-prompt","arguments":{"city":"Paris"}}
{"id":4,"op":"completion/complete","server":"all","ref":{"type":"ref/prompt","name":"completable-prompt"},"argument":{"name":"department","value":"E"}}
{"id":5,"op":"tools/call","name":"mcp__all__get-structured-content","arguments":{"location":"Chicago"}}
{"id":6,"op":"tools/call","name":"mcp__all__trigger-long-running-operation","arguments":{"duration":0.2,"steps":2},"progress":true}
{"id":7,"op":"logging/setLevel","server":"all","level":"debug"}
{"id":8,"op":"ping","server":"all"}
{"id":9,"op":"resources/read","server":"all","uri":"demo://resource/static/document/features.md"}
)");
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    const Lines lines(done.out);
    EXPECT_THAT(lines.text(1), HasSubstr("42"));
    EXPECT_THAT(json::serialize(lines.answer(2)),
                HasSubstr("demo://resource/static/document/features.md"));
    EXPECT_THAT(json::serialize(lines.answer(3)), HasSubstr("Paris"));
    EXPECT_THAT(json::serialize(lines.answer(4)), HasSubstr("Engineering"));
    EXPECT_THAT(json::serialize(lines.answer(5)), HasSubstr("\"structuredContent\":{"));
    EXPECT_EQ(lines.events("progress").size(), 2u);
    EXPECT_THAT(json::serialize(lines.answer(9)), HasSubstr("\"contents\":[{"));
}

TEST_F(RealServers, AllThreeTogetherListTheirTools) {
    add("files", "server-filesystem", {home.work()});
    add("memory", "server-memory");
    add("all", "server-everything");
    const auto done = home.run({"tools"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, AllOf(HasSubstr("mcp__files__read_text_file"),
                                HasSubstr("mcp__memory__read_graph"), HasSubstr("mcp__all__echo")));
}

}  // namespace
}  // namespace patchbay::test
