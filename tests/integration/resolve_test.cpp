// `patchbay resolve` and `run-agent`, as a person types them: what an agent is given, the file that a client reads, and a
// command with that file around which nothing stays.
#include "integration/connect_fixture.hpp"
#include "support/result_schema.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace patchbay::test {
namespace {

class Resolve : public Connect {
protected:
    void SetUp() override {
        fs::create_directories(home.root() / "run");
        ::chmod((home.root() / "run").c_str(), 0700);
        home.environment["XDG_RUNTIME_DIR"] = (home.root() / "run").string();
        home.environment["TOKEN"] = "t0psecret-value";
        config("[servers.ex]\ncommand = '" + example_server() +
               "'\nenv = { TOKEN = '${TOKEN}', PLAIN = 'word' }\n"
               "[servers.web]\nurl = 'http://localhost:9/mcp'\nheaders = { X-Key = '${TOKEN}' }\n"
               "[agents.rev]\nservers = ['ex', 'web']\n[agents.one]\nservers = ['ex']\n"
               "[executors.local_docker]\nhttp_url_rewrite = [{ from = 'http://localhost', to = "
               "'http://host.docker.internal' }]\n");
    }
    void config(const std::string& text) const {
        fs::create_directories(home.user_config());
        std::ofstream(home.user_config() / "config.toml") << text;
    }
    std::string at_work(const std::string& name) const { return (home.work() / name).string(); }
    Outcome materialized(const std::string& name, Words more = {}) const {
        Words words{"resolve", "--agent", "rev", "--materialize", name};
        words.insert(words.end(), more.begin(), more.end());
        return home.run(std::move(words));
    }
    // What is left of runs.
    std::size_t folders() const {
        std::size_t count = 0;
        std::error_code none;
        for (fs::directory_iterator each(home.root() / "run/patchbay/agents", none);
             !none && each != fs::directory_iterator(); ++each)
            count += each->is_directory() ? 1 : 0;
        return count;
    }
};

TEST_F(Resolve, PrintsWhatAnAgentIsGivenThere) {
    const auto said = home.run(
        {"--json", "resolve", "--agent", "rev", "--executor", "local_docker", "--session", "s1"});
    ASSERT_EQ(said.exit_code, 0) << said.err;
    const auto told = json::parse(said.out);
    EXPECT_TRUE(is_a("resolution", told));
    EXPECT_EQ(told.at("session"), "s1");
    EXPECT_EQ(told.at("servers").at(0).at("env"), (json::array{"TOKEN", "PLAIN"}));
    EXPECT_EQ(told.at("servers").at(1).at("endpoint"), "http://host.docker.internal:9/mcp");
    EXPECT_THAT(said.out + said.err, Not(HasSubstr("t0psecret")));
    EXPECT_THAT(said.out, Not(HasSubstr("word")));
    const auto table = home.run({"resolve", "--agent", "rev"}).out;
    EXPECT_THAT(table, HasSubstr("ex    stdio      per_session  " + example_server()));
    const auto elsewhere = home.run({"resolve", "--agent", "rev", "--executor", "k8s"});
    EXPECT_THAT(elsewhere.out, Not(HasSubstr("ex ")));
    EXPECT_THAT(elsewhere.err,
                HasSubstr("config.toml:1:10: server \"ex\" is left out: it is a program"));
}

TEST_F(Resolve, WhoIsNotThereIsToldWithTheNearest) {
    const auto agent = home.run({"resolve", "--agent", "rew"});
    EXPECT_EQ(agent.exit_code, 6);
    EXPECT_THAT(agent.err, HasSubstr("did you mean \"rev\"?"));
    const auto executor = home.run({"resolve", "--executor", "k8"});
    EXPECT_EQ(executor.exit_code, 6);
    EXPECT_THAT(executor.err, HasSubstr("did you mean \"k8s\"?"));
    const auto format = home.run({"resolve", "--materialize", "f", "--format", "cluade"});
    EXPECT_EQ(format.exit_code, 3);
    EXPECT_THAT(format.err, HasSubstr("did you mean \"claude\"?"));
    EXPECT_EQ(home.run({"run-agent", "rew", "--", "true"}).exit_code, 6);
    EXPECT_EQ(home.run({"run-agent", "rev", "--", "no-such-program"}).exit_code, 6);
    EXPECT_EQ(home.run({"run-agent", "rev"}).exit_code, 3);
    EXPECT_EQ(folders(), 0u);
}

TEST_F(Resolve, WhatItWritesIsReadBackAndWorks) {
    for (const auto* format : {"patchbay", "claude"}) {
        const auto name = std::string(format) + ".json";
        const auto said = materialized(name, {"--format", format});
        ASSERT_EQ(said.exit_code, 0) << said.err;
        struct stat about {};
        ASSERT_EQ(::stat(at_work(name).c_str(), &about), 0);
        EXPECT_EQ(about.st_mode & 0777, 0600u);
        auto reader =
            home.patchbay({"--config", at_work(name), "call", "mcp__ex__echo", "message=hi"});
        fs::rename(home.user_config() / "config.toml", home.user_config() / "away");
        const auto answer = run(reader);
        fs::rename(home.user_config() / "away", home.user_config() / "config.toml");
        EXPECT_EQ(answer.exit_code, 0) << format << answer.err;
        EXPECT_THAT(read_file(at_work(name)), Not(HasSubstr("t0psecret"))) << format;
    }
}

TEST_F(Resolve, WhatAClientCannotReadIsWrittenAsItsValueAndSaid) {
    const auto desktop = materialized("d.json", {"--format", "claude-desktop"});
    EXPECT_THAT(desktop.err, HasSubstr("ex: env.TOKEN"));
    EXPECT_THAT(desktop.err, HasSubstr("\"web\" is left out: Claude Desktop does not speak http"));
    EXPECT_THAT(desktop.err, Not(HasSubstr("t0psecret")));
    EXPECT_THAT(read_file(at_work("d.json")), HasSubstr("t0psecret-value"));
    const auto shown = materialized("-", {"--format", "codex"});
    EXPECT_EQ(shown.exit_code, 0);
    EXPECT_THAT(shown.out, HasSubstr("[mcp_servers."));
    EXPECT_THAT(materialized("nowhere/e.json").err, HasSubstr("there is no folder"));
    EXPECT_FALSE(fs::exists(at_work("nowhere")));
    home.environment.erase("TOKEN");
    EXPECT_THAT(materialized("e.json", {"--format", "claude-desktop"}).err,
                HasSubstr("\"ex\" is left out: env.TOKEN: the variable TOKEN is not set"));
    ASSERT_EQ(materialized("c.toml", {"--format", "codex"}).exit_code, 0);
    const auto codex = read_file(at_work("c.toml"));
    EXPECT_THAT(codex, AllOf(HasSubstr("env_vars = [\"TOKEN\"]"), HasSubstr("PLAIN = \"word\""),
                             HasSubstr("X-Key = \"TOKEN\""), HasSubstr("env_http_headers")));
    EXPECT_THAT(codex, Not(HasSubstr("t0psecret")));
}

// Each as its documentation has it.
TEST_F(Resolve, EveryClientReadsItsOwnWords) {
    config(
        "[servers.p]\ncommand = '/bin/p'\nargs = ['-x', '${TOKEN}']\nenv = { A = 'a${TOKEN}' "
        "}\ncwd = "
        "'/tmp'\n[servers.s]\ntransport = 'sse'\nurl = 'http://s/sse'\n"
        "[servers.w]\nurl = 'http://w/mcp'\nbearer_token_env_var = 'TOKEN'\n");
    struct Case {
        const char *client, *table, *expected;
    };
    const Case cases[] = {
        {"claude", "/mcpServers",
         R"({"p": {"command": "/bin/p", "args": ["-x", "${TOKEN}"], "env": {"A": "a${TOKEN}"}},
             "s": {"type": "sse", "url": "http://s/sse"},
             "w": {"type": "http", "url": "http://w/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}})"},
        {"cursor", "/mcpServers",
         R"({"p": {"command": "/bin/p", "args": ["-x", "${env:TOKEN}"], "env": {"A": "a${env:TOKEN}"}},
             "s": {"url": "http://s/sse"},
             "w": {"url": "http://w/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}}})"},
        {"gemini", "/mcpServers",
         R"({"p": {"command": "/bin/p", "args": ["-x", "${TOKEN}"], "env": {"A": "a${TOKEN}"}, "cwd": "/tmp"},
             "s": {"url": "http://s/sse"},
             "w": {"httpUrl": "http://w/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}})"},
        {"opencode", "/mcp",
         R"({"p": {"type": "local", "command": ["/bin/p", "-x", "{env:TOKEN}"],
                   "environment": {"A": "a{env:TOKEN}"}},
             "s": {"type": "remote", "url": "http://s/sse"},
             "w": {"type": "remote", "url": "http://w/mcp",
                   "headers": {"Authorization": "Bearer {env:TOKEN}"}}})"},
        {"vscode", "/servers",
         R"({"p": {"type": "stdio", "command": "/bin/p", "args": ["-x", "${env:TOKEN}"],
                   "env": {"A": "a${env:TOKEN}"}, "cwd": "/tmp"},
             "s": {"type": "sse", "url": "http://s/sse"},
             "w": {"type": "http", "url": "http://w/mcp",
                   "headers": {"Authorization": "Bearer ${env:TOKEN}"}}})"},
        {"cline", "/mcpServers",
         R"({"p": {"command": "/bin/p", "args": ["-x", "t0psecret-value"], "env": {"A": "at0psecret-value"},
                   "cwd": "/tmp"},
             "s": {"type": "sse", "url": "http://s/sse"},
             "w": {"type": "streamableHttp", "url": "http://w/mcp",
                   "headers": {"Authorization": "Bearer t0psecret-value"}}})"},
        {"copilot", "/mcpServers",
         R"({"p": {"type": "local", "command": "/bin/p", "args": ["-x", "t0psecret-value"],
                   "env": {"A": "at0psecret-value"}, "tools": ["*"]},
             "s": {"type": "sse", "url": "http://s/sse", "tools": ["*"]},
             "w": {"type": "http", "url": "http://w/mcp", "tools": ["*"],
                   "headers": {"Authorization": "Bearer t0psecret-value"}}})"},
        {"zed", "/context_servers",
         R"({"p": {"command": "/bin/p", "args": ["-x", "t0psecret-value"], "env": {"A": "at0psecret-value"}},
             "w": {"url": "http://w/mcp", "headers": {"Authorization": "Bearer t0psecret-value"}}})"},
    };
    for (const auto& c : cases) {
        const auto name = std::string(c.client) + ".json";
        const auto said = home.run({"resolve", "--materialize", name, "--format", c.client});
        ASSERT_EQ(said.exit_code, 0) << said.err;
        EXPECT_EQ(json::parse(read_file(at_work(name))).at_pointer(c.table),
                  json::parse(c.expected))
            << c.client;
    }
    EXPECT_THAT(home.run({"resolve", "--materialize", "zed.json", "--format", "zed"}).err,
                AllOf(HasSubstr("\"s\" is left out: Zed does not speak sse"),
                      HasSubstr("\"p\": Zed has no word for cwd")));
}

TEST_F(Resolve, AnAgentThatIsOffRunsNothing) {
    config("[servers.ex]\ncommand = 'cat'\n[agents.off]\nservers = ['ex']\nenabled = false\n");
    const auto ran = home.run({"run-agent", "off", "--", "touch", at_work("ran")});
    EXPECT_EQ(ran.exit_code, 7) << ran.err;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("agent \"off\" is disabled"), HasSubstr("config.toml:3")));
    EXPECT_FALSE(fs::exists(at_work("ran")));
    EXPECT_EQ(folders(), 0u);
}

TEST_F(Resolve, AServerThatNobodyDefinesIsToldToWhoAsksAboutTheAgent) {
    config("[servers.ex]\ncommand = 'cat'\n[agents.a]\nservers = [\n  'ex',\n  'elsewhere']\n");
    const std::string told =
        "config.toml:6:3: agents.a.servers: no server \"elsewhere\" is configured";
    EXPECT_THAT(home.run({"resolve", "--agent", "a"}).err, HasSubstr(told));
    EXPECT_THAT(home.run({"config", "check"}).err, HasSubstr(told));
    EXPECT_THAT(home.run({"serve", "--stdio", "--agent", "a"}).err, HasSubstr(told));
    EXPECT_THAT(home.run({"mcp", "list"}).err, Not(HasSubstr("elsewhere")))
        << "it may be another checkout's";
}

TEST_F(Resolve, WhatAgentsAreShownIsNoMatterOfACall) {
    config("[servers.ex]\ncommand = '" + example_server() +
           "'\n[agents.a]\ntools = ['log', 'mcp__ex__nothing']\n[agents.b]\nservers = "
           "['elsewhere']\n");
    const auto called = home.run({"call", "mcp__ex__echo", "message=hi"});
    EXPECT_EQ(called.exit_code, 0) << called.err;
    EXPECT_THAT(called.err, Not(HasSubstr("agents.")));
    EXPECT_THAT(home.run({"config", "check"}).err,
                HasSubstr("agents.a.tools: \"log\" shows nothing"));
}

TEST_F(Resolve, NoToolThatARuleDeniesIsListedForAClient) {
    config(
        "[servers.ex]\ncommand = 'cat'\ndisabled_tools = ['b']\ntools = { c = 'deny' }\n"
        "[servers.shut]\ncommand = 'cat'\nenabled_tools = ['x']\n"
        "[permissions]\ndeny = ['mcp__ex__d*', 'mcp__shut__x']\n"
        "[agents.a]\nservers = ['ex', 'shut']\ntools = ['mcp__ex__a', 'mcp__ex__b', "
        "'mcp__ex__c', 'mcp__ex__dd', 'mcp__shut__x']\n");
    for (const auto* format : {"codex", "patchbay"}) {
        const auto file = at_work(std::string("servers.") + format);
        const auto done =
            home.run({"resolve", "--agent", "a", "--materialize", file, "--format", format});
        EXPECT_EQ(done.exit_code, 0) << done.err;
        EXPECT_THAT(read_file(file), ::testing::ContainsRegex("enabled_tools\"?[ =:]*\\[\"a\"\\]"));
        EXPECT_THAT(read_file(file), Not(HasSubstr("shut")));
        EXPECT_THAT(done.err, HasSubstr("server \"shut\" is left out: the rules leave no tool"));
    }
}

TEST_F(Resolve, AFileOfSomebodyElseStays) {
    home.write("mine.json", "{\"mine\": true}\n");
    const auto refused = materialized("mine.json");
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_THAT(refused.err, HasSubstr("`patchbay resolve` has not written it"));
    EXPECT_EQ(read_file(at_work("mine.json")), "{\"mine\": true}\n");
    ASSERT_EQ(materialized("own.json").exit_code, 0);
    ASSERT_EQ(materialized("own.json", {"--format", "claude"}).exit_code, 0) << "it is ours";
    home.write("own.json", "{}\n");
    EXPECT_THAT(materialized("own.json").err, HasSubstr("was changed since"));
    EXPECT_EQ(read_file(at_work("own.json")), "{}\n");
}

TEST_F(Resolve, ACommandHasTheFileAndNothingStays) {
    const auto said =
        home.run({"run-agent", "one", "--session", "s1", "--format", "claude", "--", "sh", "-c",
                  "stat -c %a \"$PATCHBAY_MCP_CONFIG\" \"${PATCHBAY_MCP_CONFIG%/*}\"; echo "
                  "$PATCHBAY_AGENT $PATCHBAY_SESSION $1; cat {config}; exit 7",
                  "sh", "--mcp={config}"});
    EXPECT_EQ(said.exit_code, 7) << said.err;
    EXPECT_THAT(said.out, StartsWith("600\n700\none s1 --mcp=/"));
    EXPECT_THAT(said.out, HasSubstr("\"mcpServers\""));
    EXPECT_EQ(folders(), 0u);
    const auto tools = home.run(
        {"run-agent", "one", "--", program, "--config", "{config}", "tools", "--server", "ex"});
    EXPECT_EQ(tools.exit_code, 0) << tools.err;
    EXPECT_THAT(tools.out, HasSubstr("mcp__ex__echo"));
}

TEST_F(Resolve, AClientIsToldOfTheFileAsItsDocumentationSays) {
    const auto fake = [&](const std::string& name) {
        const auto path = home.write("bin/" + name,
                                     "#!/bin/sh\nfor w; do echo \"word $w\"; done\nls -A "
                                     "\"$CODEX_HOME\" 2>/dev/null\ncat "
                                     "\"$CODEX_HOME/config.toml\" 2>/dev/null\n");
        ::chmod(path.c_str(), 0755);
        return path;
    };
    const auto claude = home.run({"run-agent", "one", "--", fake("claude"), "-p", "x"});
    EXPECT_THAT(claude.out, StartsWith("word --mcp-config=/")) << claude.err;
    EXPECT_THAT(claude.out, HasSubstr("mcp.json\nword --strict-mcp-config\nword -p\nword x\n"));
    fs::create_directories(home.root() / ".codex");
    std::ofstream(home.root() / ".codex/config.toml")
        << "model = \"m\"  # mine\n\n[mcp_servers.old]\ncommand = \"old\"\n";
    std::ofstream(home.root() / ".codex/auth.json") << "{}";
    const auto codex = home.run({"run-agent", "one", "--", fake("codex")});
    EXPECT_THAT(codex.out, StartsWith("auth.json\nconfig.toml\nmodel = \"m\"  # mine"))
        << codex.err;
    EXPECT_THAT(codex.out, HasSubstr("mcp_servers.ex"));
    EXPECT_THAT(codex.out, Not(HasSubstr("old")));
    EXPECT_TRUE(fs::exists(home.root() / ".codex/auth.json"))
        << "the link went, not what it led to";
    EXPECT_EQ(folders(), 0u);
}

TEST_F(Resolve, SignalsGoOnAndTheFolderGoesWhateverHappens) {
    const Words words{
        "run-agent", "one",
        "--",        "sh",
        "-c",        "trap 'echo got; exit 9' USR1 TERM; echo ready; while :; do sleep 0.05; done"};
    {
        Program run(home.patchbay(words));
        ASSERT_TRUE(run.wait_for_out("ready"));
        EXPECT_EQ(folders(), 1u);
        run.signal(SIGUSR1);
        const auto end = run.finish();
        EXPECT_EQ(end.exit_code, 9);
        EXPECT_THAT(end.out, HasSubstr("got"));
        EXPECT_EQ(folders(), 0u);
    }
    Program killed(home.patchbay(words));
    ASSERT_TRUE(killed.wait_for_out("ready"));
    killed.signal(SIGKILL);
    EXPECT_THAT(killed.finish().out, HasSubstr("got")) << "the command ends with us";
    EXPECT_EQ(nothing_left(), "");
    EXPECT_EQ(folders(), 0u) << "by whoever waits for that";
}

TEST_F(Resolve, WhatAKilledRunLeftIsSweptByTheNext) {
    const auto base = home.root() / "run/patchbay/agents";
    fs::create_directories(base / "mine");
    fs::permissions(home.root() / "run/patchbay", fs::perms::owner_all);
    fs::permissions(base, fs::perms::owner_all);
    ASSERT_EQ(home.run({"run-agent", "one", "--", "true"}).exit_code, 0);
    fs::create_directories(base / "agent-dead00");
    std::ofstream(base / "agent-dead00/lock") << "";
    ASSERT_EQ(home.run({"run-agent", "one", "--", "true"}).exit_code, 0);
    EXPECT_EQ(folders(), 1u) << "what is no run's stays";
    EXPECT_FALSE(fs::exists(base / "agent-dead00"));
}

// As a program that ignores the ends of its children starts others.
TEST_F(Resolve, EndsWithItsCommandWhoeverStartsIt) {
    auto command = home.patchbay({"run-agent", "one", "--", "sh", "-c", "exit 5"});
    command.argv.insert(command.argv.begin(), {"/usr/bin/env", "--ignore-signal=CHLD"});
    EXPECT_EQ(run(command).exit_code, 5);
}

TEST_F(Resolve, NoFileIsWrittenThroughALink) {
    fs::create_symlink(home.root() / "elsewhere.json", at_work("link.json"));
    const auto refused = materialized("link.json");
    EXPECT_EQ(refused.exit_code, 7);
    EXPECT_THAT(refused.err, HasSubstr("is a link"));
    EXPECT_FALSE(fs::exists(home.root() / "elsewhere.json"));
}

TEST_F(Resolve, ServersGoIntoAClientsOwnFileAndOutAgain) {
    const std::string before =
        "{\n  // mine\n  \"mcpServers\": {\"old\": {\"command\": \"old\"}}\n}\n";
    put(".cursor/mcp.json", before);
    EXPECT_EQ(home.run({"export", "--to", "cursor", "--dry-run"}).exit_code, 0);
    EXPECT_EQ(text(".cursor/mcp.json"), before);
    const auto done = home.run({"--json", "export", "--to", "cursor"});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_TRUE(is_a("exported", json::parse(done.out)));
    const auto now = text(".cursor/mcp.json");
    EXPECT_THAT(now, AllOf(HasSubstr("// mine"), HasSubstr("\"old\""), HasSubstr("${env:TOKEN}"),
                           HasSubstr("http://localhost:9/mcp"), Not(HasSubstr("t0psecret"))));
    EXPECT_THAT(home.run({"export", "--to", "cursor"}).out, HasSubstr("there already"));
    const auto undone = home.run({"export", "--to", "cursor", "--undo"});
    EXPECT_EQ(undone.exit_code, 0) << undone.err;
    EXPECT_EQ(text(".cursor/mcp.json"), before);
    put(".cursor/mcp.json", R"({"mcpServers": {"web": {"url": "http://theirs"}}})");
    const auto kept = home.run({"export", "--to", "cursor", "web"});
    EXPECT_EQ(kept.exit_code, 1);
    EXPECT_THAT(kept.err, HasSubstr("--replace"));
    EXPECT_THAT(text(".cursor/mcp.json"), HasSubstr("http://theirs"));
    const auto left = home.run({"export", "--to", "claude-desktop", "ex"});
    EXPECT_EQ(left.exit_code, 1);
    EXPECT_THAT(left.err, HasSubstr("env.TOKEN; --secrets write"));
    EXPECT_EQ(home.run({"export", "--to", "cursro"}).exit_code, 3);
    EXPECT_EQ(home.run({"export", "--to", "cursor", "wbe"}).exit_code, 6);
}

TEST_F(Resolve, WhichReferencesAClientReadsIsTold) {
    ASSERT_EQ(home.run({"secret", "set", "k"}, "t0psecret").exit_code, 0);
    config("[servers.s]\ncommand = 'x'\nenv = { KEY = '${secret:k}' }\n");
    EXPECT_THAT(
        home.run({"export", "--to", "cursor", "s"}).err,
        HasSubstr("Cursor reads the variables of its own environment alone, as ${env:NAME}, "
                  "and not what is named in env.KEY; --secrets write"));
    EXPECT_THAT(home.run({"export", "--to", "claude-desktop", "s"}).err,
                HasSubstr("reads no reference in env.KEY; --secrets write"));
}

TEST_F(Resolve, APickThatLeadsRoundAndABadRewriteAreErrorsWithTheirLine) {
    config(
        "[agents.a]\nservers = ['agents.a']\n[executors.x]\nhttp_url_rewrite = [{ from = 'here', "
        "to = "
        "'there' }]\n");
    const auto round = home.run({"resolve", "--agent", "a"});
    EXPECT_NE(round.exit_code, 0);
    EXPECT_THAT(
        round.err,
        HasSubstr("config.toml:2:12: agents.a.servers: \"agents.a\": it leads round: a, a"));
    const auto bad = home.run({"resolve", "--executor", "x"});
    EXPECT_NE(bad.exit_code, 0);
    EXPECT_THAT(bad.err, HasSubstr("config.toml:4:"));
    EXPECT_THAT(bad.err, HasSubstr("expected the beginning of a URL"));
}

TEST_F(Resolve, WhatIsWrongInTheFileIsNoWrongUse) {
    config(
        "[agents.a]\nservers = 5\n[servers.off]\ncommand = 'true'\nenabled = false\n"
        "[agents.none]\nservers = ['off']\n");
    EXPECT_EQ(home.run({"resolve", "--agent", "a"}).exit_code, 4);
    EXPECT_EQ(home.run({"run-agent", "a", "--", "true"}).exit_code, 4);
    EXPECT_EQ(home.run({"resolve", "--session", "a b"}).exit_code, 3);
    const auto none = home.run({"run-agent", "none", "--", "true"});
    EXPECT_EQ(none.exit_code, 0);
    EXPECT_THAT(none.err, HasSubstr("warning: agent \"none\" has no server here"));
}

}  // namespace
}  // namespace patchbay::test
