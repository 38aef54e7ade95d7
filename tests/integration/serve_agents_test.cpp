// Agents of other people, put before Patchbay by `connect` and run without a login: what they do of themselves
// with a server is done, and nothing asks their maker. They are large and another one each week, so that no
// lock file has them: PATCHBAY_CLAUDE and PATCHBAY_CODEX name the programs
// (npm: @anthropic-ai/claude-code-linux-x64, @openai/codex-linux-x64), and where they do not these tests are skipped.
#include "integration/home.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

namespace patchbay::test {
namespace {
namespace fs = std::filesystem;

class Agents : public ::testing::Test {
protected:
    Agents() {
        home.add_example("x", {"--era", "legacy"});
        // An agent hands on no more of its environment than it likes: what is found without counts.
        fs::create_directory_symlink(home.root() / "config", home.root() / ".config");
        home.environment["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "1";
    }
    // That program in a network of its own, which has nobody in it.
    Command agent(const char* variable, Words arguments) const {
        auto command = home.patchbay({});
        command.argv = {"/usr/bin/unshare", "--map-root-user", "--net", std::getenv(variable)};
        for (auto& each : arguments) command.argv.push_back(std::move(each));
        return command;
    }
    Home home;
};

TEST_F(Agents, ClaudeCodeIsConnectedOnceItHasTheEntry) {
    if (!std::getenv("PATCHBAY_CLAUDE")) GTEST_SKIP() << "PATCHBAY_CLAUDE names no program";
    ASSERT_EQ(home.run({"connect", "claude"}).exit_code, 0);
    const auto listed = run(agent("PATCHBAY_CLAUDE", {"mcp", "list"}));
    EXPECT_THAT(listed.out, HasSubstr("serve --stdio - \xe2\x9c\x94 Connected")) << listed.err;
    EXPECT_EQ(nothing_left(), "");
}

TEST_F(Agents, CodexCallsAToolOnceItHasTheEntry) {
    if (!std::getenv("PATCHBAY_CODEX")) GTEST_SKIP() << "PATCHBAY_CODEX names no program";
    fs::create_directory(home.root() / ".codex");
    ASSERT_EQ(home.run({"connect", "codex"}).exit_code, 0);
    Program codex(agent("PATCHBAY_CODEX", {"app-server"}));
    // The line that answers, once it is there.
    const auto answer_to = [&](const std::string& id, const std::string& request) {
        codex.send(request + "\n");
        const auto begin = "{\"id\":" + id + ",";
        EXPECT_TRUE(codex.wait_for_out(begin)) << codex.out() << codex.err();
        const auto at = codex.out().find(begin);
        EXPECT_TRUE(
            codex.wait_until([&] { return codex.out().find('\n', at) != std::string::npos; }));
        json::error_code failed;
        const auto line = codex.out().substr(at, codex.out().find('\n', at) - at);
        const auto read = json::parse(line, failed);
        return !failed && read.is_object() ? read.get_object() : json::object{};
    };
    answer_to("1", R"({"id":1,"method":"initialize","params":{"clientInfo":)"
                   R"({"name":"t","title":"t","version":"1"}}})");
    codex.send("{\"method\":\"initialized\"}\n");
    const auto thread = answer_to("2", R"({"id":2,"method":"thread/start","params":{}})");
    const json::value all(thread);
    json::error_code failed;
    const auto* id = all.find_pointer("/result/thread/id", failed);
    ASSERT_NE(id, nullptr) << all;
    const auto called = answer_to(
        "3", json::serialize(json::object{{"id", 3},
                                          {"method", "mcpServer/tool/call"},
                                          {"params",
                                           {{"threadId", *id},
                                            {"server", "patchbay"},
                                            {"tool", "mcp__x__echo"},
                                            {"arguments", {{"message", "from an agent"}}}}}}));
    EXPECT_THAT(json::serialize(called), HasSubstr(R"([{"type":"text","text":"from an agent"}])"));
    codex.signal(SIGKILL);
    codex.finish();
    EXPECT_EQ(nothing_left(), "");
}

}  // namespace
}  // namespace patchbay::test
