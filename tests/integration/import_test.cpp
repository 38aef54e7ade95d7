// `patchbay import`: what it takes from the files of other clients, in which words it writes that, and what it
// leaves and why.
#include "integration/connect_fixture.hpp"
#include "support/result_schema.hpp"

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::test {
namespace {

class Import : public Connect {
protected:
    Outcome take(Words words = {}) const {
        words.insert(words.begin(), "import");
        return home.run(std::move(words));
    }
    std::string written() const { return text("config/patchbay/config.toml"); }
    // State and reason of each that was found, by client and id.
    std::map<std::string, std::pair<std::string, std::string>> found(Words words = {}) const {
        words.insert(words.begin(), {"--json", "-q", "import"});
        const auto said = home.run(std::move(words));
        std::map<std::string, std::pair<std::string, std::string>> states;
        const auto lines = json::parse(said.out);
        EXPECT_TRUE(is_a("imported", lines));
        for (const auto& each : lines.as_array()) {
            const auto& line = each.as_object();
            const auto* why = line.if_contains("why");
            states[line.at("client").as_string().c_str() + std::string(" ") +
                   line.at("id").as_string().c_str()] = {line.at("state").as_string().c_str(),
                                                         why ? why->as_string().c_str() : ""};
        }
        return states;
    }
    // The example server, as a client starts one.
    std::string example(const std::string& more = {}) const {
        return R"({"command": ")" + example_server() + "\"" + more + "}";
    }
    bool answers(const std::string& id) const {
        return home.run({"call", "mcp__" + id + "__echo", "message=hi"}).exit_code == 0;
    }
};

// Each as its own program writes it.
struct ClientFileCase {
    const char *client, *file, *text;
    std::vector<std::string> expected;
};

std::vector<ClientFileCase> files_of_clients() {
    return {
        {"claude",
         ".claude.json",
         R"({"numStartups": 3, "mcpServers": {"gh": {"type": "http", "url": "https://a.example/mcp"},
             "patchbay": {"command": "patchbay", "args": ["serve"]}}})",
         {"[servers.gh]\ntransport = \"http\"\nurl = \"https://a.example/mcp\"\n"}},
        {"claude-desktop",
         "config/Claude/claude_desktop_config.json",
         R"({"mcpServers": {"mem": {"command": "npx", "args": ["-y", "m"], "env": {"A": "b"}}}})",
         {"[servers.mem]\ncommand = \"npx\"\nargs = [\"-y\", \"m\"]\nenv = { A = \"b\" }\n"}},
        {"cline",
         ".cline/data/settings/cline_mcp_settings.json",
         R"({"mcpServers": {"c": {"command": "node", "timeout": 60, "transportType": "stdio",
             "alwaysAllow": ["x"], "disabled": true}}})",
         {"command = \"node\"\n", "enabled = false\n", "tool_timeout_sec = 60\n",
          "transport = \"stdio\"\n"}},
        {"codex",
         ".codex/config.toml",
         "model = 'x'\n[mcp_servers.fig]\nurl = 'https://f.example/mcp'\nbearer_token_env_var = "
         "'FIGMA'\nenabled = false\n[mcp_servers.ctx]\ncommand = 'npx'\nstartup_timeout_sec = 20\n",
         {"[servers.fig]\nurl = \"https://f.example/mcp\"\nbearer_token_env_var = \"FIGMA\"\n"
          "enabled = false\n",
          "[servers.ctx]\ncommand = \"npx\"\nstartup_timeout_sec = 20\n"}},
        {"copilot",
         ".copilot/mcp-config.json",
         R"({"mcpServers": {"l": {"type": "local", "command": "npx", "args": ["p"], "tools": ["*"]},
             "r": {"type": "http", "url": "https://c.example/", "headers": {}, "tools": ["a"]}}})",
         {"[servers.l]\ntransport = \"stdio\"\ncommand = \"npx\"\nargs = [\"p\"]\n",
          "[servers.r]\ntransport = \"http\"\nurl = \"https://c.example/\"\nenabled_tools = "
          "[\"a\"]\n"}},
        {"cursor",
         ".cursor/mcp.json",
         "{ // mine\n \"mcpServers\": {\"lin\": {\"url\": \"https://l.example/mcp\", \"headers\": "
         "{\"X\": \"${env:L}\"}}, }}",
         {"[servers.lin]\nurl = \"https://l.example/mcp\"\nheaders = { X = \"${env:L}\" }\n"}},
        {"gemini",
         ".gemini/settings.json",
         R"({"mcpServers": {"h": {"httpUrl": "https://g.example/mcp", "timeout": 5000, "trust": true,
             "headers": {"A": "Bearer $TOKEN"}}}})",
         {"url = \"https://g.example/mcp\"\n", "tool_timeout_ms = 5000\n",
          "headers = { A = \"Bearer ${TOKEN}\" }\n"}},
        {"goose",
         "config/goose/config.yaml",
         "GOOSE_PROVIDER: x\nextensions:\n  gh:\n    type: stdio\n    name: GitHub\n    cmd: npx\n"
         "    args: [-y, g]\n    enabled: true\n    envs: {A: b}\n    env_keys: [TOKEN]\n    "
         "timeout: 300\n  web:\n    type: streamable_http\n    uri: https://g.example/mcp\n"
         "    enabled: false\n",
         {"command = \"npx\"\n", "env = { A = \"b\", TOKEN = \"${TOKEN}\" }\n",
          "tool_timeout_sec = 300\n", "url = \"https://g.example/mcp\"\n", "enabled = false\n"}},
        {"kiro",
         ".kiro/settings/mcp.json",
         R"({"mcpServers": {"k": {"command": "uvx", "args": ["a"], "autoApprove": ["x"]}}})",
         {"[servers.k]\ncommand = \"uvx\"\nargs = [\"a\"]\n"}},
        {"mcporter",
         ".mcporter/mcporter.json",
         R"({"mcpServers": {"l": {"baseUrl": "https://l.example/mcp", "description": "d",
             "headers": {"Authorization": "Bearer $env:KEY"}}, "w": {"command": ["npx", "-y", "x"]}}})",
         {"url = \"https://l.example/mcp\"\n", "Authorization = \"Bearer ${KEY}\"",
          "[servers.w]\ncommand = \"npx\"\nargs = [\"-y\", \"x\"]\n"}},
        {"opencode",
         "config/opencode/opencode.json",
         R"({"mcp": {"o": {"type": "local", "command": ["bun", "x"], "enabled": true,
             "environment": {"E": "{env:HOME}/x"}}, "r": {"type": "remote", "url": "https://o.example/"}}})",
         {"command = \"bun\"\n", "args = [\"x\"]\n", "env = { E = \"${HOME}/x\" }\n",
          "[servers.r]\nurl = \"https://o.example/\"\n"}},
        {"qwen",
         ".qwen/settings.json",
         R"({"mcpServers": {"q": {"httpUrl": "https://q.example/mcp", "includeTools": ["a"]}}})",
         {"[servers.q]\nurl = \"https://q.example/mcp\"\nenabled_tools = [\"a\"]\n"}},
        {"roo",
         "config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
         R"({"mcpServers": {"r": {"type": "streamable-http", "url": "https://r.example/mcp"}}})",
         {"url = \"https://r.example/mcp\"\n"}},
        {"vscode",
         "config/Code/User/mcp.json",
         R"({"inputs": [{"id": "k", "type": "promptString", "default": "v"}], "servers": {"v":
             {"type": "stdio", "command": "npx", "env": {"K": "${input:k}"}}}})",
         {"[servers.v]\ntransport = \"stdio\"\ncommand = \"npx\"\nenv = { K = \"v\" }\n"}},
        {"vscode",
         "config/Code/User/profiles/abc/mcp.json",
         R"({"servers": {"p": {"command": "npx"}}})",
         {"[servers.p]\ncommand = \"npx\"\n"}},
        {"windsurf",
         ".codeium/windsurf/mcp_config.json",
         R"({"mcpServers": {"w": {"serverUrl": "https://w.example/sse", "disabled": true,
             "disabledTools": ["x"]}}})",
         {"url = \"https://w.example/sse\"\n", "enabled = false\n", "disabled_tools = [\"x\"]\n"}},
        {"zed",
         "config/zed/settings.json",
         "{ \"theme\": \"x\", // mine\n \"context_servers\": {\"a\": {\"source\": \"custom\", "
         "\"command\": \"zc\", \"args\": [\"a\"], \"env\": {}}, \"b\": {\"command\": {\"path\": "
         "\"zp\", \"args\": [], \"env\": null}}, }}",
         {"[servers.a]\ncommand = \"zc\"\nargs = [\"a\"]\n",
          "[servers.b]\nargs = []\ncommand = \"zp\"\n"}},
    };
}

TEST_F(Import, TakesWhatEachClientHasInOurWords) {
    for (const auto& each : files_of_clients()) {
        SCOPED_TRACE(each.file);
        const auto theirs = put(each.file, each.text);
        const auto taken = take({"--from", each.client});
        EXPECT_EQ(taken.exit_code, 0) << taken.err;
        for (const auto& expected : each.expected) EXPECT_THAT(written(), HasSubstr(expected));
        EXPECT_THAT(written(), Not(HasSubstr("patchbay")));
        EXPECT_EQ(read_file(theirs), each.text);
        EXPECT_EQ(home.run({"config", "check"}).exit_code, 0);
        fs::remove_all(home.user_config());
        fs::remove(theirs);
    }
}

TEST_F(Import, WhatIsTakenIsCalled) {
    put(".cursor/mcp.json", R"({"mcpServers": {"one": )" + example() + "}}");
    put("config/zed/settings.json", R"({"context_servers": {"two": )" + example() + "}}");
    const auto taken = take();
    EXPECT_EQ(taken.exit_code, 0) << taken.err;
    EXPECT_THAT(taken.out, AllOf(HasSubstr("one  added"), HasSubstr("two  added")));
    EXPECT_TRUE(answers("one") && answers("two"));
    EXPECT_THAT(take().out,
                AllOf(HasSubstr("one  there already"), HasSubstr("two  there already")));
    // One command, one step back.
    EXPECT_EQ(home.run({"config", "undo"}).exit_code, 0);
    EXPECT_FALSE(fs::exists(home.user_config() / "config.toml"));
}

TEST_F(Import, ATrialSaysTheSameAndWritesNothing) {
    put(".cursor/mcp.json",
        R"({"mcpServers": {"one": {"command": "cat"}, "a": {"command": "cat"}}})");
    put(".kiro/settings/mcp.json",
        R"({"mcpServers": {"one": {"command": "other"}, "a": {"command": "cat"}}})");
    const auto before = all();
    const auto trial = found({"--dry-run"});
    auto after = all();
    std::erase_if(after, [&](const auto& each) {  // whose turn it is, is asked on the disk
        return each.first.starts_with(file("state/patchbay"));
    });
    EXPECT_EQ(after, before);
    auto done = found();
    ASSERT_EQ(trial.size(), 4u);
    EXPECT_EQ(trial.at("cursor one").first, "would be added");
    EXPECT_EQ(trial.at("kiro a").first, "there already");
    EXPECT_THAT(trial.at("kiro one").second,
                HasSubstr("another client has another one by that id"));
    EXPECT_EQ(trial.at("kiro one"), done.at("kiro one"));
    EXPECT_EQ(done.at("cursor one").first, "added");
}

TEST_F(Import, WhatIsThereStaysUnlessItIsToBeReplaced) {
    put("config/patchbay/config.toml", "# mine\n[servers.one]\ncommand = 'mine' # why\n");
    put(".cursor/mcp.json", R"({"mcpServers": {"one": {"command": "cat"}}})");
    EXPECT_THAT(found().at("cursor one").second, HasSubstr("--replace puts this in its place"));
    EXPECT_EQ(take({"one"}).exit_code, 1);  // it was asked for
    EXPECT_THAT(written(), HasSubstr("command = 'mine' # why\n"));
    EXPECT_EQ(take({"one", "--replace"}).exit_code, 0);
    EXPECT_THAT(written(), AllOf(HasSubstr("# mine\n[servers.one]\n"), HasSubstr("\"cat\"")));
}

TEST_F(Import, TwoOfOneIdAreBothTakenByAnother) {
    put(".cursor/mcp.json", R"({"mcpServers": {"one": {"command": "cat"}}})");
    put(".kiro/settings/mcp.json", R"({"mcpServers": {"one": {"command": "tac"}}})");
    EXPECT_EQ(take({"--from", "cursor"}).exit_code, 0);
    EXPECT_THAT(take({"one", "--as", "two"}).err, HasSubstr("--from says whose is meant"));
    EXPECT_THAT(take({"--as", "two"}).err, HasSubstr("expected the one ID"));
    EXPECT_THAT(take({"one", "--from", "kiro", "--as", "a b"}).err, HasSubstr("is no id"));
    const auto done = take({"one", "--from", "kiro", "--as", "two"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr("written: " + file("config/patchbay/config.toml")));
    EXPECT_THAT(written(), AllOf(HasSubstr("[servers.one]\ncommand = \"cat\"\n"),
                                 HasSubstr("[servers.two]\ncommand = \"tac\"\n")));
}

TEST_F(Import, ASecretThatOthersMayReadIsToldWithItsFile) {
    put(".cursor/mcp.json",
        R"({"mcpServers": {"one": {"command": "cat", "env": {"API_TOKEN": "s3cret-value-1"}}}})");
    const auto into = put("config/patchbay/mcp.json", "{\"mcpServers\": {}}\n");
    const auto warning = "env.API_TOKEN is in clear text in " + into;
    fs::permissions(into, fs::perms(0600));
    EXPECT_THAT(take({"--dry-run"}).err, Not(HasSubstr(warning)));
    fs::permissions(into, fs::perms(0644));
    const auto done = take();
    EXPECT_THAT(done.err, AllOf(HasSubstr(warning), HasSubstr("--secrets store")));
    EXPECT_THAT(read_file(into), HasSubstr("s3cret-value-1"));
}

// What lies in the home is what its user has for all projects, also of who stands there.
TEST_F(Import, AtHomeItIsTheUsersFileAndNoCheckouts) {
    put(".cursor/mcp.json", R"({"mcpServers": {"one": {"command": "cat"}}})");
    auto command = home.patchbay({"import"});
    command.directory = home.root().string();
    const auto done = test::run(command);
    EXPECT_EQ(done.exit_code, 0);
    EXPECT_THAT(written(), HasSubstr("[servers.one]"));
}

TEST_F(Import, WhatCannotBeTakenSaysWhyAndTakesOnlyItselfOut) {
    put("config/goose/config.yaml",
        "extensions:\n  developer: {type: builtin, enabled: true}\n  fine: {type: stdio, cmd: "
        "cat}\n");
    put("config/Code/User/mcp.json",
        R"({"inputs": [{"id": "k"}], "servers": {"asks": {"command": "x", "env": {"K": "${input:k}"}},
            "text": "none", "list": []}})");
    put("config/zed/settings.json", R"({"context_servers": {"ext": {"source": "extension"}}})");
    put("config/opencode/opencode.json",
        R"({"mcp": {"odd": {"type": "pigeon"}, "none": {"type": "local", "command": []}}})");
    put(".cursor/mcp.json", R"({"mcpServers": {"here": {"command": "${workspaceFolder}/x"}}})");
    put(".gemini/settings.json", R"({"mcpServers": {"rel": {"command": "x", "cwd": "./s"}}})");
    put(".qwen/settings.json", "{\"mcpServers\": ");
    const auto states = found();
    const std::map<std::string, std::string> expected{
        {"goose developer", "it is a part of goose (type \"builtin\")"},
        {"vscode asks", "it asks a person for the input \"k\""},
        {"vscode text", "it is no table"},
        {"vscode list", "it is no table"},
        {"zed ext", "an extension of Zed brings its program"},
        {"opencode odd", "type \"pigeon\" is neither local nor remote"},
        {"opencode none", "its command is empty"},
        {"cursor here", "--scope project or local takes it"},
        {"gemini rel", "--scope project or local takes it"},
    };
    for (const auto& [id, why] : expected) {
        ASSERT_TRUE(states.contains(id)) << id;
        EXPECT_EQ(states.at(id).first, "left") << id;
        EXPECT_THAT(states.at(id).second, HasSubstr(why)) << id;
    }
    EXPECT_EQ(states.at("goose fine").first, "added");
    EXPECT_THAT(take().err, HasSubstr(file(".qwen/settings.json") + ":1:"));
    EXPECT_EQ(take({"--from", "qwen"}).exit_code, 4);
}

TEST_F(Import, WhatACheckoutBringsIsTakenByItsNameAlone) {
    home.write(".vscode/mcp.json", R"({"servers": {"theirs": )" + example() + "}}");
    EXPECT_THAT(found().at("vscode theirs").second, HasSubstr("it comes with the checkout"));
    EXPECT_FALSE(fs::exists(home.user_config() / "config.toml"));
    EXPECT_EQ(take({"theirs"}).exit_code, 0);
    EXPECT_TRUE(answers("theirs"));
    fs::remove(home.work() / ".vscode/mcp.json");
    fs::create_symlink(put("elsewhere.json", R"({"servers": {"x": {"command": "cat"}}})"),
                       home.work() / ".vscode/mcp.json");
    EXPECT_THAT(take({"--from", "vscode"}).err, HasSubstr("leads out of the project"));
}

// What nobody was shown is fetched or run for nobody.
TEST_F(Import, WhatWouldMeanSomethingHereAloneIsLeft) {
    for (const auto* kind :
         {"${command:touch x}", "${file:/etc/hostname}", "${secret:gh}", "${keyring:gh}"}) {
        home.write(".cursor/mcp.json", std::string(
                                           R"({"mcpServers": {"docs": {"url": "http://127.0.0.1:9/",
            "headers": {"X": ")") + kind + R"("}}}})");
        const auto taken = take({"docs"});
        EXPECT_EQ(taken.exit_code, 1) << kind;
        EXPECT_THAT(taken.err, HasSubstr("would have a meaning of its own here")) << kind;
    }
    EXPECT_FALSE(fs::exists(home.user_config() / "config.toml"));
}

TEST_F(Import, IntoAProjectItIsApprovedAndBeginsThere) {
    fs::create_directories(home.work() / ".git");
    put(".cursor/mcp.json",
        R"({"mcpServers": {"one": )" + example(R"(, "cwd": "${workspaceFolder}")") + "}}");
    EXPECT_EQ(take({"--scope", "project"}).exit_code, 0);
    EXPECT_THAT(read_file(home.work() / ".patchbay/config.toml"),
                HasSubstr("cwd = \"" + home.work().string() + "\""));
    EXPECT_TRUE(answers("one"));
}

TEST_F(Import, WhatClaudeHasOfThisProjectAloneIsTakenToo) {
    fs::create_directories(home.work() / ".git");
    put(".claude.json", R"({"projects": {")" + home.work().string() +
                            R"(": {"mcpServers": {"here": {"command": "cat"}}},
                            "/elsewhere": {"mcpServers": {"there": {"command": "cat"}}}}})");
    const auto trial = take({"--dry-run"});
    EXPECT_THAT(trial.err,
                HasSubstr("Claude Code has it for " + home.work().string() +
                          " alone, and in your user file it is there for every project"));
    EXPECT_THAT(take({"--dry-run", "--scope", "project"}).err, Not(HasSubstr("every project")));
    const auto states = found();
    EXPECT_EQ(states.at("claude here").first, "added");
    EXPECT_FALSE(states.contains("claude there"));
}

// As Claude Code does it: what is for the project counts there.
TEST_F(Import, OfTwoOfOneNameInOneFileTheOneOfTheProjectIsTaken) {
    fs::create_directories(home.work() / ".git");
    const auto file =
        put(".claude.json", R"({"mcpServers": {"ex": {"command": "cat"}}, "projects": {")" +
                                home.work().string() +
                                R"(": {"mcpServers": {"ex": {"command": "tac"}}}}})");
    const auto done = take({"ex", "--as", "mine"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(written(),
                AllOf(HasSubstr("[servers.mine]\ncommand = \"tac\"\n"), Not(HasSubstr("cat"))));
    const auto rest = take();
    EXPECT_THAT(rest.err, HasSubstr("in this project Claude Code uses another one of that name"));
    EXPECT_THAT(written(), Not(HasSubstr("\"cat\"")));
    // Two files of one client: nobody knows which is meant.
    put(".cursor/mcp.json", R"({"mcpServers": {"two": {"command": "cat"}}})");
    home.write(".cursor/mcp.json", R"({"mcpServers": {"two": {"command": "tac"}}})");
    const auto asked = take({"two", "--as", "mine2"});
    EXPECT_EQ(asked.exit_code, 3);
    EXPECT_THAT(asked.err, AllOf(HasSubstr("cursor has two servers \"two\" ("),
                                 HasSubstr("--from and --file say which is meant")));
}

TEST_F(Import, IntoAFileThatCannotBeReadIsAnErrorAndNothingIsWritten) {
    put(".cursor/mcp.json", R"({"mcpServers": {"one": {"command": "cat"}}})");
    const auto mine = put("config/patchbay/config.toml", "[servers\n");
    for (const auto& words : {Words{}, Words{"one"}, Words{"--dry-run"}, Words{"--json"}}) {
        const auto done = take(words);
        EXPECT_EQ(done.exit_code, 4) << done.err;
        EXPECT_THAT(done.err, HasSubstr(mine + ":1:"));
    }
    EXPECT_EQ(read_file(mine), "[servers\n");
}

TEST_F(Import, SecretsAreMaskedWhereTheyAreShownAndKeptFromOthers) {
    put(".cursor/mcp.json",
        R"({"mcpServers": {"one": {"url": "https://a.example/mcp?key=hunter3hunter",
            "headers": {"Authorization": "Bearer hunter4hunter"}}, "two": {"command": "x", "args":
            ["--token", "hunter5hunter"]}}})");
    for (const auto& said : {take({"--dry-run"}), home.run({"--json", "import"})})
        EXPECT_THAT(said.out + said.err, Not(HasSubstr("hunter")));
    EXPECT_THAT(written(), AllOf(HasSubstr("hunter3hunter"), HasSubstr("hunter5hunter")));
    EXPECT_EQ(mode_of(file("config/patchbay/config.toml")), 0600u);
}

TEST_F(Import, SecretsAreStoredByNameWhereThatIsAsked) {
    put(".cursor/mcp.json",
        R"({"mcpServers": {"one": {"command": ")" + example_server() +
            R"(", "args": ["--token", "hunter5hunter"], "env": {"API_KEY": "hunter6hunter", "LANG": "C", "DB": "postgres://u:hunter7hunter@h/db"}},
            "web": {"url": "https://a.example/mcp?key=hunter3hunter", "headers": {"Authorization":
            "Bearer hunter4hunter"}}}})");
    const auto trial = take({"--secrets", "store", "--dry-run"});
    EXPECT_THAT(trial.err, Not(HasSubstr("no secret")));
    EXPECT_EQ(home.run({"--json", "secret", "list"}).out, "[]\n");
    EXPECT_EQ(take({"--secrets", "store"}).exit_code, 0);
    EXPECT_THAT(written(), AllOf(Not(HasSubstr("hunter")), HasSubstr("LANG = \"C\""),
                                 HasSubstr("API_KEY = \"${secret:one.API_KEY}\""),
                                 HasSubstr("DB = \"postgres://u:${secret:one.DB}@h/db\""),
                                 HasSubstr("args = [\"--token\", \"${secret:one.args}\"]"),
                                 HasSubstr("mcp?key=${secret:web.url}\""),
                                 HasSubstr("Authorization = \"${secret:web.Authorization}\"")));
    EXPECT_EQ(home.run({"config", "check"}).exit_code, 0);
    EXPECT_THAT(take({"--secrets", "store"}).out, HasSubstr("one  there already"));
    EXPECT_THAT(home.run({"secret", "list"}).out, HasSubstr("web.Authorization  file"));
    EXPECT_THAT(home.run({"config", "undo"}).err,
                HasSubstr("the secret one.API_KEY was stored by that change and stays"));
}

TEST_F(Import, WrongWordsSayWhatIsExpected) {
    const std::vector<std::pair<Words, const char*>> cases{
        {{"--from", "curser"}, "did you mean \"cursor\"?"},
        {{"--file", "x.json"}, "--file: "},
        {{"--from", "zed", "--file", "nowhere.json"}, "nowhere.json: no such file"},
        {{"nobody"}, "no file of another client has a server \"nobody\""},
        {{"--scope", "plugin"}, "--scope"},
    };
    for (const auto& [words, why] : cases) {
        const auto said = take(words);
        EXPECT_NE(said.exit_code, 0);
        EXPECT_THAT(said.err, HasSubstr(why));
    }
    EXPECT_THAT(take().err, HasSubstr("nothing to import"));
}

TEST_F(Import, AnotherFileInTheWordsOfAClient) {
    home.write("old.yaml", "extensions:\n  one: {type: stdio, cmd: cat}\n");
    EXPECT_EQ(take({"--from", "goose", "--file", "old.yaml"}).exit_code, 0);
    EXPECT_THAT(written(), HasSubstr("[servers.one]"));
}

TEST_F(Import, WhatWasStoredIsThereAlreadyHoweverItIsAskedForAgain) {
    put(".cursor/mcp.json", R"({"mcpServers": {"one": {"command": ")" + example_server() +
                                R"(", "env": {"API_KEY": "hunter6hunter"}}}})");
    ASSERT_EQ(take({"one", "--secrets", "store"}).exit_code, 0);
    const auto again = take({"one"});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_THAT(again.out, HasSubstr("one  there already"));
    put(".cursor/mcp.json", R"({"mcpServers": {"one": {"command": ")" + example_server() +
                                R"(", "env": {"API_KEY": "hunter7hunter"}}}})");
    EXPECT_EQ(take({"one"}).exit_code, 1) << "another secret is another server";
}

}  // namespace
}  // namespace patchbay::test
