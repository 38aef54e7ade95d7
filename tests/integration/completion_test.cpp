// What a shell is told may stand next, as its script asks.
#include "integration/home.hpp"

#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::test {
namespace {

class CompletionOfLines : public ::testing::Test {
protected:
    // The first word of each line.
    std::vector<std::string> next(Words words) {
        words.insert(words.begin(), {"completion", "words", "--"});
        const auto done = home.run(std::move(words));
        EXPECT_EQ(done.exit_code, 0) << done.err;
        EXPECT_EQ(done.err, "") << "a shell shows it in the middle of a line";
        std::vector<std::string> all;
        std::istringstream lines(done.out);
        for (std::string line; std::getline(lines, line);)
            all.push_back(line.substr(0, line.find('\t')));
        return all;
    }
    Home home;
};

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_F(CompletionOfLines, VerbsAndWhatStandsBelowThem) {
    EXPECT_THAT(next({"=ru"}), UnorderedElementsAre("run", "run-agent"));
    EXPECT_THAT(next({"mcp", "=re"}), UnorderedElementsAre("restart", "remove"));
    EXPECT_THAT(next({"--config", "mcp", "config", "=rol"}), ElementsAre("rollback"))
        << "what an option takes is no verb";
    EXPECT_THAT(next({"-v", "mcp", "=lo"}), UnorderedElementsAre("login", "logout", "logs"));
}

TEST_F(CompletionOfLines, OptionsOfTheVerbAndOfAll) {
    EXPECT_THAT(next({"mcp", "add", "x", "=--oauth-client-"}),
                UnorderedElementsAre("--oauth-client-id", "--oauth-client-secret"));
    EXPECT_THAT(next({"mcp", "add", "x", "=--plugin"}), ElementsAre("--plugin-dir"));
    EXPECT_THAT(next({"mcp", "list", "--scope", "=pro"}), ElementsAre("project"));
    EXPECT_THAT(next({"mcp", "list", "--scope", "=", "=pro"}), ElementsAre("project"))
        << "as bash has it";
    EXPECT_THAT(next({"mcp", "list", "=--scope=pro"}), ElementsAre("--scope=project"));
}

TEST_F(CompletionOfLines, ServersWhateverTheirState) {
    home.write(home.user_config() / "config.toml",
               "[servers.files]\ncommand = \"true\"\n[servers.off]\ncommand = \"true\"\nenabled = "
               "false\n[servers.wrong]\nport = \"x\"\n");
    home.write(".mcp.json", R"({"mcpServers": {"theirs": {"command": "true"}}})");
    EXPECT_THAT(next({"mcp", "get", "="}), UnorderedElementsAre("files", "off", "wrong", "theirs"));
    EXPECT_THAT(next({"mcp", "get", "files", "="}), IsEmpty());
    EXPECT_THAT(next({"mcp", "stop", "files", "=of"}), ElementsAre("off"));
    EXPECT_THAT(next({"tools", "--server", "=fi"}), ElementsAre("files"));
}

TEST_F(CompletionOfLines, ToolsThatWereListedBefore) {
    home.add_example("ex");
    EXPECT_THAT(next({"call", "=mcp__"}), IsEmpty()) << "nobody is started for it";
    ASSERT_EQ(home.run({"tools"}).exit_code, 0);
    EXPECT_THAT(next({"call", "=mcp__ex__ec"}), Contains("mcp__ex__echo"));
    EXPECT_THAT(next({"tools", "=mcp__ex__ec"}), Contains("mcp__ex__echo"));
}

TEST_F(CompletionOfLines, ValuesOfWhichAllAreKnown) {
    home.write(home.user_config() / "config.toml",
               "[servers.one]\ncommand = \"true\"\n[servers.two]\ncommand = \"true\"\n"
               "[agents.coder]\nservers = [\"one\"]\n");
    EXPECT_THAT(next({"--log-level", "=de"}), ElementsAre("debug"));
    EXPECT_THAT(next({"mcp", "add", "x", "--transport", "="}),
                ::testing::IsSupersetOf({"stdio", "http", "sse", "ws", "tcp"}));
    EXPECT_THAT(next({"import", "--from", "=cur"}), ElementsAre("cursor"));
    EXPECT_THAT(next({"connect", "=cod"}), ElementsAre("codex"));
    EXPECT_THAT(next({"serve", "--agent", "=c"}), ElementsAre("coder"));
    EXPECT_THAT(next({"resolve", "--agent", "=c"}), ElementsAre("coder"));
    EXPECT_THAT(next({"run-agent", "=c"}), ElementsAre("coder"));
    EXPECT_THAT(next({"export", "--to", "=cur"}), ElementsAre("cursor"));
    EXPECT_THAT(next({"mcp", "add", "--preset", "=mem"}), ElementsAre("memory"));
    EXPECT_THAT(next({"serve", "--only", "=t"}), ElementsAre("two"));
    EXPECT_THAT(next({"serve", "--servers", "=one,t"}), ElementsAre("one,two"));
    EXPECT_THAT(next({"token", "add", "x", "=--servers=o"}), ElementsAre("--servers=one"));
    EXPECT_THAT(next({"secret", "rm", "="}), IsEmpty());
    ASSERT_EQ(home.run({"secret", "set", "gh"}, "s3cret").exit_code, 0);
    EXPECT_THAT(next({"secret", "rm", "="}), ElementsAre("gh"));
    EXPECT_THAT(next({"secret", "set", "="}), IsEmpty()) << "that is a new one";
    EXPECT_THAT(next({"resolve", "--executor", "=local"}),
                UnorderedElementsAre("local_pc", "local_docker"));
    EXPECT_THAT(next({"resolve", "--format", "=pa"}), ElementsAre("patchbay"));
    EXPECT_THAT(next({"run-agent", "coder", "--format", "=clau"}), Contains("claude"));
    ASSERT_EQ(home.run({"token", "add", "laptop"}).exit_code, 0);
    EXPECT_THAT(next({"token", "rm", "="}), ElementsAre("laptop"));
    EXPECT_THAT(next({"token", "remove", "="}), ElementsAre("laptop"));
    EXPECT_THAT(next({"=man"}), IsEmpty()) << "it is hidden, as in the help";
}

TEST_F(CompletionOfLines, WhatWaitsForAnApprovalAndWhatHasIt) {
    home.write(".mcp.json", R"({"mcpServers": {"a": {"command": "sh"}, "b": {"command": "sh"}}})");
    ASSERT_EQ(home.run({"trust", "a", "--yes"}).exit_code, 0);
    EXPECT_THAT(next({"trust", "="}), ElementsAre("b"));
    EXPECT_THAT(next({"trust", "--revoke", "="}), ElementsAre("a"));
}

TEST_F(CompletionOfLines, FilesAreLeftToTheShell) {
    EXPECT_THAT(next({"config", "check", "="}), ElementsAre(":files"));
    EXPECT_THAT(next({"mcp", "add", "x", "--", "="}), ElementsAre(":files"));
    EXPECT_THAT(next({"--config", "=a"}), ElementsAre(":files"));
    EXPECT_EQ(home.run({"completion", "words", "--", "mcp"}).exit_code, 3);
}

TEST_F(CompletionOfLines, AFileThatIsBrokenTakesNoVerbAway) {
    home.write(home.user_config() / "config.toml", "x = [\n");
    EXPECT_THAT(next({"mcp", "=gx"}), IsEmpty());
    EXPECT_THAT(next({"mcp", "=ge"}), ElementsAre("get"));
    EXPECT_THAT(next({"mcp", "get", "="}), IsEmpty());
}

TEST_F(CompletionOfLines, BashCompletesByItsScript) {
    home.add_example("ex");
    home.write("session.sh", home.run({"completion", "bash"}).out +
                                 "COMP_WORDS=(\"$0\" mcp get e); COMP_CWORD=3; _patchbay; echo "
                                 "\"${COMPREPLY[@]}\"\n"
                                 "COMP_WORDS=(\"$0\" mcp rem); COMP_CWORD=2; _patchbay; echo "
                                 "\"${COMPREPLY[@]}\"\n"
                                 "COMP_WORDS=(./patchbay mcp rem); _patchbay; echo "
                                 "\"${COMPREPLY[@]}\"\n");
    // What a checkout calls so is not run for a key that is pressed.
    home.write("patchbay", "#!/bin/sh\ntouch ran\n");
    std::filesystem::permissions(home.work() / "patchbay", std::filesystem::perms::owner_all);
    auto shell = home.patchbay({});
    shell.argv = {"/bin/bash", "-c", ". ./session.sh", shell.argv.front()};
    Program program(shell);
    const auto done = program.finish();
    EXPECT_THAT(done.out, StartsWith("ex\nremove\n")) << done.err;
    EXPECT_FALSE(std::filesystem::exists(home.work() / "ran"));
}

// What zsh would offer is told by a stand-in for its own `_describe`.
TEST_F(CompletionOfLines, ZshCompletesByItsScript) {
    if (!std::filesystem::exists("/usr/bin/zsh")) GTEST_SKIP() << "no zsh";
    home.add_example("ex");
    home.write("_patchbay", home.run({"completion", "zsh"}).out);
    home.write("session.zsh",
               "compdef() { : }\n_describe() { print -l -- \"${(@P)2}\" }\n_files() { print files "
               "}\n. ./_patchbay\n"
               "words=($1 mcp get e); CURRENT=4; _patchbay\n"
               "words=($1 mcp rem); CURRENT=3; _patchbay\n"
               "words=($1 config check ''); CURRENT=4; _patchbay\n");
    auto shell = home.patchbay({});
    shell.argv = {"/usr/bin/zsh", "-f", "session.zsh", shell.argv.front()};
    Program program(shell);
    const auto done = program.finish();
    EXPECT_THAT(done.out, StartsWith("ex\nremove:Take a server out of the file")) << done.err;
    EXPECT_THAT(done.out, HasSubstr("\nfiles\n"));
    EXPECT_EQ(done.err, "");
}

// fish itself is asked for what it would offer.
TEST_F(CompletionOfLines, FishCompletesByItsScript) {
    if (!std::filesystem::exists("/usr/bin/fish")) GTEST_SKIP() << "no fish";
    home.add_example("ex");
    home.write("patchbay.fish", home.run({"completion", "fish"}).out);
    home.write("session.fish",
               "set -x PATH (dirname $argv[1]) $PATH\nsource ./patchbay.fish\n"
               "complete -C 'patchbay mcp get e'\ncomplete -C 'patchbay mcp rem'\n"
               "complete -C 'patchbay --config pat'\n");
    auto shell = home.patchbay({});
    shell.argv = {"/usr/bin/fish", "--no-config", "session.fish", shell.argv.front()};
    Program program(shell);
    const auto done = program.finish();
    EXPECT_THAT(done.out, StartsWith("ex\nremove\tTake a server out of the file")) << done.err;
    EXPECT_THAT(done.out, HasSubstr("\npatchbay.fish\n"));
}

}  // namespace
}  // namespace patchbay::test
