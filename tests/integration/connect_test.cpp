// `patchbay connect`: one entry in the file of a client, and nothing else of that file.
#include "integration/connect_fixture.hpp"
#include "support/result_schema.hpp"

namespace patchbay::test {
namespace {

struct Known {
    const char *client, *file, *project, *table;
    const char *before, *after;  // the command, where it begins the entry
};
// What each client's documentation says: file, table, and the words of an entry.
constexpr Known kKnown[] = {
    {"claude", ".claude.json", ".mcp.json", "mcpServers", "",
     ",\n      \"args\": [\"serve\", \"--stdio\"]"},
    {"claude-desktop", "config/Claude/claude_desktop_config.json", nullptr, "mcpServers", "",
     ",\n      \"args\": [\"serve\", \"--stdio\"]"},
    {"cline", ".cline/data/settings/cline_mcp_settings.json", nullptr, "mcpServers", "",
     ",\n      \"args\": [\"serve\", \"--stdio\"]"},
    {"copilot", ".copilot/mcp-config.json", ".mcp.json", "mcpServers",
     "\"type\": \"local\",\n      ",
     ",\n      \"args\": [\"serve\", \"--stdio\"],\n      \"tools\": [\"*\"]"},
    {"cursor", ".cursor/mcp.json", ".cursor/mcp.json", "mcpServers", "",
     ",\n      \"args\": [\"serve\", \"--stdio\"]"},
    {"gemini", ".gemini/settings.json", ".gemini/settings.json", "mcpServers", "",
     ",\n      \"args\": [\"serve\", \"--stdio\"]"},
    {"kiro", ".kiro/settings/mcp.json", ".kiro/settings/mcp.json", "mcpServers", "",
     ",\n      \"args\": [\"serve\", \"--stdio\"]"},
    {"mcporter", ".mcporter/mcporter.json", "config/mcporter.json", "mcpServers", "",
     ",\n      \"args\": [\"serve\", \"--stdio\"]"},
    {"qwen", ".qwen/settings.json", ".qwen/settings.json", "mcpServers", "",
     ",\n      \"args\": [\"serve\", \"--stdio\"]"},
    {"roo", "config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
     ".roo/mcp.json", "mcpServers", "", ",\n      \"args\": [\"serve\", \"--stdio\"]"},
    {"vscode", "config/Code/User/mcp.json", ".vscode/mcp.json", "servers",
     "\"type\": \"stdio\",\n      ", ",\n      \"args\": [\"serve\", \"--stdio\"]"},
    {"vscode-insiders", "config/Code - Insiders/User/mcp.json", ".vscode/mcp.json", "servers",
     "\"type\": \"stdio\",\n      ", ",\n      \"args\": [\"serve\", \"--stdio\"]"},
    {"windsurf", ".codeium/windsurf/mcp_config.json", nullptr, "mcpServers", "",
     ",\n      \"args\": [\"serve\", \"--stdio\"]"},
    {"zed", "config/zed/settings.json", ".zed/settings.json", "context_servers", "",
     ",\n      \"args\": [\"serve\", \"--stdio\"],\n      \"env\": {}"},
};

TEST_F(Connect, PutsTheEntryInTheWordsOfEachClientAndTakesItOutAgain) {
    const auto before = all();
    for (const auto& known : kKnown) {
        SCOPED_TRACE(known.client);
        const auto done = connect({known.client});
        EXPECT_EQ(done.exit_code, 0) << done.err;
        EXPECT_EQ(done.out, "");
        EXPECT_EQ(text(known.file), std::string("{\n  \"") + known.table +
                                        "\": {\n    \"patchbay\": {\n      " + known.before +
                                        "\"command\": \"" + program + "\"" + known.after +
                                        "\n    }\n  }\n}\n");
        EXPECT_EQ(mode_of(file(known.file)), 0600u);
        const auto again = connect({known.client});
        EXPECT_THAT(again.err, HasSubstr("has patchbay already: \"patchbay\" in "));
        EXPECT_EQ(again.exit_code, 0);
        if (known.project) {
            EXPECT_THAT(connect({known.client, "--project"}).err, HasSubstr(" --project --undo\n"));
            EXPECT_EQ(read_file(home.work() / known.project), text(known.file));
            EXPECT_EQ(connect({known.client, "--project", "--undo"}).exit_code, 0);
        } else {
            const auto none = connect({known.client, "--project"});
            EXPECT_EQ(none.exit_code, 3);
            EXPECT_THAT(none.err, HasSubstr("has no file for one project"));
        }
        EXPECT_EQ(connect({known.client, "--undo"}).exit_code, 0);
    }
    fs::remove_all(home.root() / "state/patchbay");
    EXPECT_EQ(all(), before);
}

TEST_F(Connect, SpeaksTomlToCodexYamlToGooseAndOpencodesOwnJson) {
    ASSERT_EQ(connect({"codex"}).exit_code, 0);
    EXPECT_THAT(text(".codex/config.toml"),
                StartsWith("[mcp_servers.patchbay]\ncommand = \"" + program +
                           "\"\nargs = [\"serve\", \"--stdio\"]\n"));
    ASSERT_EQ(connect({"goose"}).exit_code, 0);
    EXPECT_THAT(
        text("config/goose/config.yaml"),
        AllOf(StartsWith("extensions:\n  patchbay:\n    type: stdio\n    name: patchbay\n    "
                         "enabled: true\n    cmd: "),
              HasSubstr("\n    args: [\"serve\", \"--stdio\"]\n    envs: {}\n")));
    ASSERT_EQ(connect({"opencode"}).exit_code, 0);
    EXPECT_THAT(text("config/opencode/opencode.json"),
                HasSubstr("\"mcp\": {\n    \"patchbay\": {\n      \"type\": \"local\",\n      "
                          "\"command\": [\"" +
                          program + "\", \"serve\", \"--stdio\"]\n"));
    // The table of its second generation, where it is in use.
    put("config/opencode/opencode.json", "{\"mcp\": {\"servers\": {}}}\n");
    ASSERT_EQ(connect({"opencode"}).exit_code, 0);
    EXPECT_THAT(text("config/opencode/opencode.json"),
                StartsWith("{\"mcp\": {\"servers\": {\"patchbay\": {\"type\": \"local\""));
}

// Codex hands on no variable of those that say where our files are: what it starts would read others.
TEST_F(Connect, TellsWhereItsFilesAreToAClientThatHandsNoVariableOn) {
    home.environment["PATCHBAY_CONFIG"] = "mine.toml";
    home.environment["PATCHBAY_CONFIG_JSON"] = R"({"servers":{}})";
    home.environment["XDG_DATA_HOME"] = "";
    const std::string expected[] = {"XDG_CONFIG_HOME = \"" + file("config") + "\"",
                                    "XDG_STATE_HOME = \"" + file("state") + "\"",
                                    "PATCHBAY_CONFIG = \"" + home.work().string() + "/mine.toml\""};
    put("work/mine.toml", "");
    for (const auto& how : {Words{"codex", "--print"}, Words{"codex", "--dry-run"}}) {
        const auto shown = connect(how);
        for (const auto& each : expected) EXPECT_THAT(shown.out, HasSubstr(each)) << shown.err;
        EXPECT_THAT(shown.out, AllOf(Not(HasSubstr("XDG_DATA_HOME")), Not(HasSubstr("_JSON"))));
    }
    const auto done = connect({"codex"});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    for (const auto& each : expected) EXPECT_THAT(text(".codex/config.toml"), HasSubstr(each));
    EXPECT_THAT(connect({"codex"}).err, HasSubstr("has patchbay already"));
    EXPECT_THAT(connect({"gemini", "--print"}).out, Not(HasSubstr("XDG_")));
    EXPECT_THAT(connect({"codex", "--print", "--http", "http://[::1]:1/mcp"}).out,
                Not(HasSubstr("XDG_")));
    const auto shared = connect({"codex", "--project"});
    ASSERT_EQ(shared.exit_code, 0) << shared.err;
    EXPECT_THAT(read_file(home.work() / ".codex/config.toml"), Not(HasSubstr("XDG_")));
    EXPECT_THAT(shared.err, HasSubstr("warning: Codex hands XDG_CONFIG_HOME, XDG_STATE_HOME"));
}

TEST_F(Connect, LooksWhereAVariableHasMovedTheFile) {
    home.environment["CODEX_HOME"] = file("elsewhere");
    home.environment["CLAUDE_CONFIG_DIR"] = file("claude");
    ASSERT_EQ(connect({"codex"}).exit_code, 0);
    ASSERT_EQ(connect({"claude"}).exit_code, 0);
    EXPECT_TRUE(fs::exists(file("elsewhere/config.toml")));
    EXPECT_TRUE(fs::exists(file("claude/.claude.json")));
    put("config/opencode/opencode.jsonc", "// mine\n{}\n");
    ASSERT_EQ(connect({"opencode"}).exit_code, 0);
    EXPECT_THAT(text("config/opencode/opencode.jsonc"), StartsWith("// mine\n{\n  \"mcp\""));
}

TEST_F(Connect, NothingElseInTheFileChangesAndUndoGivesBackItsBytes) {
    const std::string before =
        "\xef\xbb\xbf// Zed\r\n{\r\n\t\"theme\": \"One\", // dark\r\n\t\"context_servers\": {\r\n"
        "\t\t/* none */\r\n\t\t\"a\": {\"command\": \"x\", \"env\": {\"TOKEN\": "
        "\"s3cret\"}},\r\n\t},\r\n}";
    const auto path = put("config/zed/settings.json", before);
    ::chmod(path.c_str(), 0640);
    const auto done = connect({"zed"});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const auto after = text("config/zed/settings.json");
    const auto added = after.find("\r\n\t\t\"patchbay\": {");
    ASSERT_NE(added, std::string::npos) << after;
    const auto end = after.find("\r\n\t\t},", added);
    ASSERT_NE(end, std::string::npos) << after;
    EXPECT_EQ(after.substr(0, added) + after.substr(end + 6), before);
    EXPECT_EQ(mode_of(path), 0640u);
    // What was there before is kept, for this user alone.
    const auto kept = done.err.find("the text before is kept: ");
    ASSERT_NE(kept, std::string::npos) << done.err;
    const auto backup = done.err.substr(kept + 25, done.err.find('\n', kept) - kept - 25);
    EXPECT_EQ(read_file(backup), before);
    EXPECT_EQ(mode_of(backup), 0600u);
    EXPECT_EQ(mode_of(fs::path(backup).parent_path()), 0700u);
    EXPECT_EQ(connect({"zed", "--undo"}).exit_code, 0);
    EXPECT_EQ(text("config/zed/settings.json"), before);
    EXPECT_EQ(mode_of(path), 0640u);
    // It had that secret too.
    EXPECT_FALSE(fs::exists(backup));
    const auto again = connect({"zed", "--undo"});
    EXPECT_EQ(again.exit_code, 6);
    EXPECT_THAT(again.err, HasSubstr("has no entry \"patchbay\""));
}

TEST_F(Connect, UndoTakesOutTheEntryAloneWhereOthersHaveWrittenSince) {
    put(".cursor/mcp.json", "{}");
    ASSERT_EQ(connect({"cursor"}).exit_code, 0);
    auto now = text(".cursor/mcp.json");
    now.insert(1, "\n  \"mine\": 1,");
    put(".cursor/mcp.json", now);
    ASSERT_EQ(connect({"cursor", "--undo"}).exit_code, 0);
    EXPECT_EQ(text(".cursor/mcp.json"), "{\n  \"mine\": 1\n}");
    // A file that was made for it, and has more in it by now, stays.
    ASSERT_EQ(connect({"kiro"}).exit_code, 0);
    now = text(".kiro/settings/mcp.json");
    now.insert(now.find("\"patchbay\""), "\"files\": {\"command\": \"x\"},\n    ");
    put(".kiro/settings/mcp.json", now);
    ASSERT_EQ(connect({"kiro", "--undo"}).exit_code, 0);
    EXPECT_EQ(text(".kiro/settings/mcp.json"),
              "{\n  \"mcpServers\": {\n    \"files\": {\"command\": \"x\"}\n  }\n}\n");
}

TEST_F(Connect, AnUpdateKeepsTheWayBackToWhatWasBeforeTheFirst) {
    put(".cursor/mcp.json", "{\"a\":1}");
    ASSERT_EQ(connect({"cursor"}).exit_code, 0);
    ASSERT_EQ(connect({"cursor", "--", "--only", "files"}).exit_code, 0);
    EXPECT_THAT(text(".cursor/mcp.json"),
                HasSubstr("[\"serve\",\"--stdio\",\"--only\",\"files\"]"));
    ASSERT_EQ(connect({"cursor", "--http", "http://127.0.0.1:8808/mcp"}).exit_code, 0);
    EXPECT_THAT(text(".cursor/mcp.json"), HasSubstr("{\"url\":\"http://127.0.0.1:8808/mcp\"}"));
    ASSERT_EQ(connect({"cursor", "--undo"}).exit_code, 0);
    EXPECT_EQ(text(".cursor/mcp.json"), "{\"a\":1}");
}

TEST_F(Connect, ATokenIsNamedInTheWordsOfTheClientAndStandsInNoFile) {
    home.environment["GATEWAY_TOKEN"] = "patchbay_0123456789abcdef";
    const std::pair<const char*, std::vector<std::string>> cases[] = {
        {"claude", {R"("Authorization": "Bearer ${GATEWAY_TOKEN}")"}},
        {"cursor", {R"("Authorization": "Bearer ${env:GATEWAY_TOKEN}")"}},
        {"opencode", {R"("Authorization": "Bearer {env:GATEWAY_TOKEN}")"}},
        {"codex", {R"(bearer_token_env_var = "GATEWAY_TOKEN")"}},
        {"goose", {"Authorization: \"Bearer ${GATEWAY_TOKEN}\"", "GATEWAY_TOKEN"}}};
    for (const auto& [client, parts] : cases) {
        const auto done = connect({client, "--print", "--http", "https://mcp.example/mcp",
                                   "--token-env", "GATEWAY_TOKEN"});
        EXPECT_EQ(done.exit_code, 0) << done.err;
        for (const auto& part : parts) EXPECT_THAT(done.out, HasSubstr(part)) << client;
        EXPECT_THAT(done.out + done.err, Not(HasSubstr("patchbay_0123")));
    }
    const auto done = connect({"cursor", "--http", "https://mcp.example/mcp"});
    EXPECT_THAT(done.err, HasSubstr("--token-env VARIABLE"));
    EXPECT_THAT(
        connect({"cursor", "--http", "http://localhost.evil.example/mcp", "--token-env", "T"}).err,
        HasSubstr("in the clear"));
    EXPECT_THAT(connect({"cursor", "--http", "http://mcp.example/mcp", "--token-env", "T"}).err,
                HasSubstr("warning: the token goes to http://mcp.example/mcp in the clear"));
    EXPECT_THAT(
        connect({"cursor", "--print", "--http", "http://mcp.example/mcp", "--token-env", "T"}).err,
        HasSubstr("warning: the token goes to http://mcp.example/mcp in the clear"));
    EXPECT_THAT(connect({"zed", "--http", "https://mcp.example/mcp"}).err,
                HasSubstr("by hand, as https://zed.dev/"));
}

TEST_F(Connect, WhatServeIsToldOfFilesIsFoundFromEverywhere) {
    const auto done = connect({"codex", "--print", "--", "--config", "a.toml", "--plugin-dir=b"});
    EXPECT_THAT(done.out,
                HasSubstr("[\"serve\", \"--stdio\", \"--config\", \"" + home.work().string() +
                          "/a.toml\", \"--plugin-dir=" + home.work().string() + "/b\"]"))
        << done.err;
}

TEST_F(Connect, AnEntryOfThatNameThatIsSomebodyElsesStays) {
    const std::string before =
        "{\n  \"mcpServers\": {\n    \"patchbay\": {\"command\": \"other\", \"env\": "
        "{\"API_TOKEN\": "
        "\"abcd1234efgh\"}}\n  }\n}\n";
    put(".cursor/mcp.json", before);
    for (const Words& words : {Words{"cursor"}, Words{"cursor", "--dry-run"}}) {
        const auto refused = connect(words);
        EXPECT_EQ(refused.exit_code, 3);
        EXPECT_THAT(refused.err, AllOf(HasSubstr("--replace"), HasSubstr("--name")));
    }
    EXPECT_EQ(connect({"cursor", "--undo"}).exit_code, 3);
    EXPECT_EQ(text(".cursor/mcp.json"), before);
    const auto shown = connect({"cursor", "--replace", "--dry-run"});
    EXPECT_EQ(shown.exit_code, 0);
    EXPECT_THAT(shown.out, AllOf(HasSubstr("-    \"patchbay\": {\"command\": \"other\""),
                                 HasSubstr("\"***\""), Not(HasSubstr("abcd1234"))));
    const auto named = connect({"cursor", "--name", "pb"});
    ASSERT_EQ(named.exit_code, 0);
    EXPECT_THAT(named.err, HasSubstr("back with: patchbay connect cursor --name pb --undo\n"));
    ASSERT_EQ(connect({"cursor", "--name", "pb", "--undo"}).exit_code, 0);
    ASSERT_EQ(connect({"cursor", "--replace"}).exit_code, 0);
    EXPECT_THAT(text(".cursor/mcp.json"), HasSubstr(program));
    // Somebody else writes meanwhile: then the old entry alone comes back.
    put(".cursor/mcp.json", text(".cursor/mcp.json") + "\n");
    ASSERT_EQ(connect({"cursor", "--undo"}).exit_code, 0);
    const auto back = json::parse(text(".cursor/mcp.json"));
    EXPECT_EQ(back.at_pointer("/mcpServers/patchbay/env/API_TOKEN"), "abcd1234efgh");
}

TEST_F(Connect, DryRunAndPrintWriteNothing) {
    put(".cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}\n");
    put(".codex/config.toml", "model = \"o3\"\n");
    const auto before = all();
    const auto dry = connect({"cursor", "--dry-run"});
    EXPECT_EQ(dry.exit_code, 0);
    EXPECT_EQ(dry.out,
              "--- " + file(".cursor/mcp.json") + "\n+++ " + file(".cursor/mcp.json") +
                  "\n@@ -3,1 +3,5 @@\n-    \"a\": {}\n+    \"a\": {},\n+    \"patchbay\": {\n+  "
                  "    \"command\": \"" +
                  program + "\",\n+      \"args\": [\"serve\", \"--stdio\"]\n+    }\n");
    EXPECT_THAT(dry.err, HasSubstr("nothing is written"));
    EXPECT_EQ(connect({"zed", "--dry-run"}).exit_code, 0);
    EXPECT_THAT(connect({"codex", "--print"}).out,
                StartsWith("[mcp_servers.patchbay]\ncommand = \"" + program +
                           "\"\nargs = [\"serve\", \"--stdio\"]\n"));
    EXPECT_EQ(connect({"codex", "--print", "--http", "http://[::1]:1/mcp"}).out,
              "[mcp_servers.patchbay]\nurl = \"http://[::1]:1/mcp\"\n");
    EXPECT_EQ(connect({"cursor", "--undo", "--dry-run"}).exit_code, 6);
    const auto of_any = connect({"--print", "--", "--only", "x"});
    EXPECT_EQ(json::parse(of_any.out).at_pointer("/mcpServers/patchbay"),
              (json::value{{"command", program}, {"args", {"serve", "--stdio", "--only", "x"}}}));
    EXPECT_THAT(of_any.err, HasSubstr("as most clients read it"));
    EXPECT_EQ(json::parse(connect({"--print", "--http", "http://[::1]:1/mcp"}).out)
                  .at_pointer("/mcpServers/patchbay/url"),
              json::value("http://[::1]:1/mcp"));
    EXPECT_EQ(all(), before);
}

TEST_F(Connect, DryRunShowsNoSecretOfAnEntryThatGoesOrComesBack) {
    put(".cursor/mcp.json", R"({
  "mcpServers": {
    "patchbay": {
      "command": "other",
      // "OLD_TOKEN": "remark-x",
      "args": ["--token", "word-x", "--header", "Authorization: Bearer bearer-x"],
      "env": {"API_TOKEN": "sl\/ash \"x\"", "DB_PASSWORD": "plain-x", "PIN_TOKEN": 12345678}
    }
  }
}
)");
    const auto shows_none = [](const Outcome& shown, std::string_view sign) {
        EXPECT_EQ(shown.exit_code, 0) << shown.err;
        EXPECT_THAT(shown.out, HasSubstr(std::string(sign) + "      \"command\": \"other\""));
        for (const auto* secret : {"remark-x", "word-x", "bearer-x", "ash", "plain-x", "12345678"})
            EXPECT_THAT(shown.out, Not(HasSubstr(secret)));
    };
    shows_none(connect({"cursor", "--replace", "--dry-run"}), "-");
    ASSERT_EQ(connect({"cursor", "--replace"}).exit_code, 0);
    shows_none(connect({"cursor", "--undo", "--dry-run"}), "+");
}

TEST_F(Connect, RefusesWhatMakesNoSense) {
    struct Case {
        Words words;
        int exit_code;
        const char* says;
    };
    const Case cases[] = {
        {{"curser"}, 3, "did you mean \"cursor\"?"},
        {{"claude-desktop", "--http", "http://127.0.0.1:1/mcp"}, 1, "takes no URL from its file"},
        {{"cursor", "--http", "127.0.0.1:8808"}, 3, "is no URL"},
        {{"cursor", "--http", "http://127.0.0.1:8808"}, 3, "has no path"},
        {{"cursor", "--http", "http://u:p@127.0.0.1:8808/mcp"}, 3, "with a user or a password"},
        {{"cursor", "--http", "http://127.0.0.1:1/mcp", "--", "--only", "x"}, 3, "behind --"},
        {{"cursor", "--", "--http", "127.0.0.1:1"}, 3, "over stdio"},
        {{"cursor", "--", "--onyl", "x"},
         3,
         "behind --: patchbay serve has no option \"--onyl\"; did you mean \"--only\"?"},
        {{"cursor", "--", "--only"}, 3, "behind --: --only"},
        {{"cursor", "--", "--auth", "token"}, 3, "behind --: --auth is for a gateway that listens"},
        {{"cursor", "--http", "unix:/x.sock"}, 3, "takes a Unix socket"},
        {{"cursor", "--token-env", "X"}, 3, "--token-env requires --http"},
        {{"cursor", "--http", "http://127.0.0.1:1/mcp", "--token-env", "a-b"},
         3,
         "not written into"},
        {{"zed", "--http", "http://127.0.0.1:1/mcp", "--token-env", "X"}, 1, "https://zed.dev/"},
        {{"cursor", "nonsense"}, 3, "behind --: "},
        {{"cursor", "codex"}, 3, "patchbay connect cursor, and then patchbay connect codex"},
        {{"cursor", "--name", "a.b"}, 3, "is no name that every client takes"},
        {{"cursor", "--undo", "--http", "http://127.0.0.1:1/mcp"}, 3, "--undo takes the entry out"},
        {{"--undo"}, 3, "needs to be told which client"},
    };
    const auto before = all();
    for (const auto& each : cases) {
        const auto refused = connect(each.words);
        EXPECT_EQ(refused.exit_code, each.exit_code) << each.says;
        EXPECT_THAT(refused.err, HasSubstr(each.says));
        EXPECT_THAT(refused.err, Not(HasSubstr("u:p@")));
    }
    EXPECT_EQ(all(), before);
}

TEST_F(Connect, ListsTheClientsAndWhichHaveIt) {
    put(".codex/config.toml", "model = \"o3\"\n");
    put(".gemini/settings.json", "{,}");
    ASSERT_EQ(connect({"cursor"}).exit_code, 0);
    const auto listed = connect({});
    EXPECT_EQ(listed.exit_code, 0);
    EXPECT_THAT(listed.out, AllOf(StartsWith("CLIENT"), HasSubstr("\ncursor           connected"),
                                  HasSubstr("\ncodex            not connected"),
                                  HasSubstr("\ngemini           broken"),
                                  HasSubstr("\nzed              no file")));
    EXPECT_THAT(listed.err, HasSubstr(".gemini/settings.json:1:2: not JSON"));
    const auto told = json::parse(connect({"--json"}).out);
    EXPECT_TRUE(are_all("client", told));
    EXPECT_EQ(told.as_array().size(), std::size(kKnown) + 3);
}

TEST_F(Connect, AnswersInJsonAsItIsDescribed) {
    for (const Words& words : {Words{"cursor", "--dry-run"}, Words{"cursor"}, Words{"cursor"},
                               Words{"cursor", "--undo"}}) {
        auto all_words = words;
        all_words.emplace_back("--json");
        EXPECT_TRUE(is_a("client_change", json::parse(connect(all_words).out)));
    }
    const auto printed = json::parse(connect({"goose", "--print", "--json"}).out);
    EXPECT_TRUE(is_a("client_entry", printed));
    EXPECT_TRUE(is_a("client_entry", json::parse(connect({"--print", "--json"}).out)));
    EXPECT_EQ(printed.at_pointer("/value/cmd"), json::value(program));
    EXPECT_EQ(json::parse(connect({"nobody", "--json"}).out).at_pointer("/error/kind"), "invalid");
}

// Claude's file of a project is one that Patchbay reads: it must not start itself from there.
TEST_F(Connect, APatchbayThatReadsTheFileOfAClientDoesNotStartItself) {
    ASSERT_EQ(connect({"claude", "--project"}).exit_code, 0);
    ASSERT_EQ(connect({"claude"}).exit_code, 0);
    const auto listed = home.run({"mcp", "list", "--config", file(".claude.json"), "--json"});
    const auto told = json::parse(listed.out);
    ASSERT_EQ(told.as_array().size(), 1u) << listed.out;
    EXPECT_EQ(told.at_pointer("/0/state"), "disabled");
    EXPECT_THAT(home.run({"tools", "--server", "patchbay", "--config", file(".claude.json")}).err,
                HasSubstr("would start itself without end"));
}

TEST_F(Connect, ItsEntryInAFileOfTheProjectIsNoServerThatWaitsForAnApproval) {
    home.add_example("x");
    ASSERT_EQ(connect({"claude", "--project"}).exit_code, 0);
    const auto listed = home.run({"mcp", "list"});
    EXPECT_EQ(listed.err, "");
    EXPECT_THAT(listed.out, AllOf(HasSubstr("x "), Not(HasSubstr("patchbay"))));
    EXPECT_THAT(home.run({"config", "paths"}).out,
                HasSubstr("its entry \"patchbay\" starts Patchbay itself, and is left out"));
}

TEST_F(Connect, WarnsOfNamesThatNobodyHas) {
    home.add_example("docs");
    const auto only = connect({"cursor", "--", "--only", "dosc"});
    EXPECT_EQ(only.exit_code, 0) << "it may be configured later";
    EXPECT_THAT(only.err, HasSubstr("warning: no server \"dosc\" is configured here; did you mean "
                                    "\"docs\"?"));
    EXPECT_THAT(connect({"cursor", "--", "--agent", "none"}).err,
                HasSubstr("warning: no agent \"none\" is configured here"));
    EXPECT_THAT(connect({"cursor", "--", "--servers", "docs"}).err, Not(HasSubstr("warning")));
}

// The whole way: connected, started as the client would, and a first call through it.
TEST_F(Connect, AClientThatStartsTheEntryReachesTheServersBehindIt) {
    home.add_example("x");
    ASSERT_EQ(connect({"cursor"}).exit_code, 0);
    const auto config = json::parse(text(".cursor/mcp.json"));
    const auto& entry = config.at_pointer("/mcpServers/patchbay").as_object();
    Command command{{json::value_to<std::string>(entry.at("command"))},
                    home.environment,
                    home.root(),
                    {},
                    kDeadline};
    for (const auto& word : entry.at("args").as_array())
        command.argv.push_back(json::value_to<std::string>(word));
    Program server(command);
    server.send(
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
        R"("capabilities":{},"clientInfo":{"name":"cursor","version":"1"}}})"
        "\n");
    ASSERT_TRUE(server.wait_for_out("\"protocolVersion\"")) << server.err();
    server.send(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
        "\"mcp__x__echo\",\"arguments\":{\"message\":\"by the entry\"}}}\n");
    EXPECT_TRUE(server.wait_for_out("by the entry")) << server.out() << server.err();
    EXPECT_EQ(server.finish().exit_code, 0);
}

}  // namespace
}  // namespace patchbay::test
