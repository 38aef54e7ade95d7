// `config check`, `show` and `paths`.
#include "integration/home.hpp"

namespace patchbay::test {
namespace {

TEST(ConfigOnTheCommandLine, ShowMasksSecretsWhereverTheyStand) {
    Home home;
    const std::string secret = "s3cr3t-value";
    home.write("secret.txt", secret);
    home.write(home.user_config() / "config.toml",
               "[servers.a]\ncommand = \"x\"\nenv = { API_TOKEN = \"s3cr3t-value\" }\n"
               "[servers.b]\nurl = \"http://127.0.0.1:1\"\nheaders = { Authorization = \"Bearer "
               "s3cr3t-value\" }\n"
               "[servers.c]\ntransport = \"tcp\"\nport = 1\npassword = \"s3cr3t-value\"\n");
    for (const Words& verb :
         {Words{"config", "show"}, Words{"config", "show", "--origin"},
          Words{"config", "show", "--json"}, Words{"config", "check"},
          Words{"mcp", "list", "--json"}, Words{"--log-level", "trace", "mcp", "status"}}) {
        const auto done = home.run(verb);
        EXPECT_THAT(done.out, Not(HasSubstr(secret))) << verb.back();
        EXPECT_THAT(done.err, Not(HasSubstr(secret))) << verb.back();
    }
    EXPECT_THAT(home.run({"config", "show"}).out, HasSubstr("***"));
}

// The index of a checkout that has one file.
std::string index_with(const std::string& path) {
    std::string entry =
        std::string(60, 'x') + std::string(1, '\0') + static_cast<char>(path.size()) + path;
    entry.append(8 - entry.size() % 8, '\0');
    return std::string("DIRC\0\0\0\2\0\0\0\1", 12) + entry + std::string(20, 'c');
}

TEST(ConfigOnTheCommandLine, CheckTellsOfSecretsInFilesThatGitTracks) {
    Home home;
    home.write(".mcp.json",
               R"({"mcpServers": {"a": {"command": "cat", "env": {"API_KEY": "hunter2hunter"}}}})");
    const auto check = [&] { return home.run({"config", "check"}).err; };
    EXPECT_THAT(check(), Not(HasSubstr("git tracks")));
    home.write(".git/index", index_with(".mcp.json"));
    EXPECT_THAT(check(), AllOf(HasSubstr(".mcp.json:1:"),
                               HasSubstr("env.API_KEY is in clear text in a file that git tracks"),
                               Not(HasSubstr("hunter"))));
    EXPECT_THAT(home.run({"config", "check", ".mcp.json"}).err, HasSubstr("git tracks"));
    EXPECT_EQ(home.run({"trust", "a", "--yes"}).exit_code, 0);
    EXPECT_THAT(check(), HasSubstr("env.API_KEY is in clear text in a file that git tracks"));
    home.write(
        ".mcp.json",
        R"({"mcpServers": {"a": {"command": "cat", "args": ["--token", "hunter3hunter"]}}})");
    EXPECT_THAT(check(), HasSubstr("args is in clear text in a file that git tracks"));
    home.write(".mcp.json",
               R"({"mcpServers": {"a": {"command": "cat", "env": {"API_KEY": "${secret:x}"}}}})");
    EXPECT_THAT(check(), Not(HasSubstr("git tracks")));
}

TEST(ConfigOnTheCommandLine, CheckEndsWithHowMuchIsWrong) {
    Home home;
    home.write("one.toml", "[servers.a]\ncommand = 5\n[servers.b]\nurl = 'x'\nlasy = true\n");
    EXPECT_THAT(home.run({"config", "check", "one.toml"}).err, HasSubstr(" in 1 file\n"));
    EXPECT_THAT(home.run({"-q", "config", "check", "one.toml"}).err,
                Not(HasSubstr(" in 1 file\n")));
}

TEST(ConfigOnTheCommandLine, ShowTellsTheOriginOfAValue) {
    Home home;
    const auto file = home.write(".patchbay/config.toml", "[servers.a]\ncommand = \"x\"\n");
    EXPECT_EQ(home.run({"trust", "a", "--yes"}).exit_code, 0);
    const auto done = home.run({"config", "show", "--origin", "--json"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    json::error_code failed;
    const auto shown = json::parse(done.out, failed);
    ASSERT_FALSE(failed) << done.out;
    const auto& origin = shown.at("origins").at("servers.a.command");
    EXPECT_EQ(origin.at("scope"), "project");
    EXPECT_EQ(origin.at("file"), json::value(file));
    EXPECT_EQ(origin.at("line"), 2);
    EXPECT_FALSE(shown.at("origins").as_object().contains("servers.a.tool_timeout_sec"));
    home.environment["MCP_TOOL_TIMEOUT"] = "1000";
    EXPECT_THAT(home.run({"config", "show", "--origin", "--json"}).out,
                HasSubstr("\"servers.a.tool_timeout_sec\":{\"scope\":\"session\",\"file\":"
                          "\"MCP_TOOL_TIMEOUT\""));
}

TEST(ConfigOnTheCommandLine, SchemaIsTheOneThatTheReaderIsTestedBy) {
    Home home;
    const auto done = home.run({"config", "schema"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(done.out, read_file(PATCHBAY_SOURCE_DIR "/config/schema/patchbay.schema.json"));
}

TEST(ConfigOnTheCommandLine, PathsTellEveryPlaceAndWhatWasFound) {
    Home home;
    home.write(".mcp.json", "{}");
    const auto done = home.run({"config", "paths"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, AllOf(HasSubstr(home.user_config() / "config.toml"),
                                HasSubstr(home.work() / ".mcp.json"),
                                HasSubstr("/etc/patchbay/enterprise.toml")));
    const auto place = done.out.find(home.work() / ".mcp.json");
    ASSERT_NE(place, std::string::npos);
    const auto line = done.out.rfind('\n', place) + 1;
    EXPECT_THAT(done.out.substr(line, place - line), Not(HasSubstr("absent")));
}

TEST(ConfigOnTheCommandLine, PathsTellOfALocalFileThatIsAloneAndNotRead) {
    Home home;
    const auto alone = home.write(".patchbay.local.toml", "[servers.a]\ncommand = \"x\"\n");
    const auto why = HasSubstr(alone + "  (not read: no project file beside it)");
    EXPECT_THAT(home.run({"config", "paths"}).out, why);
    home.write(".mcp.json", "{}");
    EXPECT_THAT(home.run({"config", "paths"}).out, AllOf(HasSubstr(alone), Not(why)));
}

TEST(ConfigOnTheCommandLine, ACheckedFileSpeaksInItsOwnScope) {
    Home home;
    const auto wrong = "{\"servers\": {\"a\": {\"command\": 4}}}";
    const struct {
        std::string file;
        const char* scope;
    } cases[] = {{home.user_config() / "mcp.json", "user"}, {".mcp.json", "project"},
                 {".patchbay/config.json", "project"},      {".patchbay.local.json", "local"},
                 {"elsewhere/.mcp.json", "project"},        {"other.json", "user"}};
    for (const auto& c : cases) {
        home.write(c.file, wrong);
        const auto done = home.run({"config", "check", c.file});
        EXPECT_EQ(done.exit_code, 4);
        EXPECT_THAT(done.err, HasSubstr(std::string("error: ") + c.scope + " config ")) << c.file;
    }
}

TEST(ConfigOnTheCommandLine, ACheckedFileMayAdjustWhatAnotherDefines) {
    Home home;
    home.add_example("x");
    home.write(".patchbay/config.toml", "[servers.x]\ndisabled_tools = ['add']\n");
    home.write(".patchbay.local.toml", "[servers.x]\nenv = { A = 'b' }\n[helth]\n");
    const auto fine = home.run({"config", "check", ".patchbay/config.toml"});
    EXPECT_EQ(fine.out, "configuration is fine\n");
    EXPECT_EQ(fine.exit_code, 0);
    const auto local = home.run({"config", "check", ".patchbay.local.toml"});
    EXPECT_EQ(local.exit_code, 4);
    EXPECT_THAT(
        local.err,
        ::testing::MatchesRegex(
            "error: local config [^\n]*:2:1: [^\n]*\"env\" cannot change a "
            "server[^\n]*\n[^\n]*:3:2: unknown table[^\n]*\n1 error and 1 warning in 1 file\n"))
        << "in the order of its lines";
}

TEST(ConfigOnTheCommandLine, ACheckTellsWhatWouldNotStartHere) {
    Home home;
    home.write("here/run", "");
    const std::pair<json::object, const char*> cases[] = {
        {{{"command", "no-such-program"}}, "command \"no-such-program\" not found in"},
        {{{"command", "./here/run"}}, "./here/run\": is not executable"},
        {{{"command", "./here"}}, "./here\": "},
        {{{"command", "sh"}, {"cwd", "nowhere"}}, "cwd \"nowhere\": there is no such folder"},
        {{{"command", "sh"}, {"cwd", "here/run"}}, "cwd \"here/run\": there is no such folder"},
        {{{"command", "${X}"}, {"expand", false}}, "${X}"},
        {{{"command", "sh"}, {"cwd", "here"}}, nullptr},
        {{{"command", "no-such-program"}, {"enabled", false}}, nullptr},
        {{{"command", "${X:-sh}"}, {"cwd", "${Y:-here}"}}, nullptr},
        {{{"command", "${X:-sh}"}, {"cwd", "${Y}"}}, "cwd: the variable Y is not set"},
        {{{"command", "sh"}, {"args", {"a", "b${NOPE_X}"}}},
         "x.json:1:33: server \"s\" would not start here: args[1]: the variable NOPE_X is not set"},
        {{{"command", "sh"}, {"env", {{"A", "${NOPE_X}"}}}}, "env.A: the variable NOPE_X"},
        {{{"command", "sh"}, {"env", {{"A", "${file:nowhere}"}}}}, "/nowhere"},
        {{{"command", "sh"}, {"env", {{"A", "${command:false}"}}}}, nullptr},
        {{{"command", "sh"}, {"env", {{"A", "${command: no-such-program x}"}}}},
         "env.A: command \"no-such-program\" not found in"},
        {{{"command", "sh"}, {"env", {{"A", "${command:./here/run x}"}}}},
         "env.A: command \"./here/run\": is not executable"},
        {{{"command", "sh"}, {"env", {{"A", "${HOME}$${NOPE_X}"}}}}, nullptr},
        {{{"url", "http://${NOPE_X}/"}}, "url: the variable NOPE_X"},
        {{{"url", "http://127.0.0.1:1/"}, {"headers", {{"X-A", "${env:NOPE_X}"}}}},
         "headers.X-A: the variable NOPE_X"},
        {{{"command", "sh"}, {"args", {"${NOPE_X}"}}, {"enabled", false}}, nullptr},
        {{{"url", "http://127.0.0.1:1/"}}, nullptr},
    };
    for (const auto& [server, told] : cases) {
        SCOPED_TRACE(json::serialize(server));
        const auto file = home.write(
            "x.json", json::serialize(json::object{{"servers", json::object{{"s", server}}}}));
        for (const auto& words :
             {Words{"config", "check", "x.json"}, Words{"config", "check", "--config", file}}) {
            const auto done = home.run(words);
            EXPECT_EQ(done.exit_code, 0) << "elsewhere it may be there";
            if (told)
                EXPECT_THAT(done.err, AllOf(StartsWith("warning: "),
                                            HasSubstr("server \"s\" would not start here: "),
                                            HasSubstr(told)));
            else
                EXPECT_EQ(done.err, "");
        }
    }
}

TEST(ConfigOnTheCommandLine, CheckTellsWhatASignInLacksHere) {
    Home home;
    const auto file = home.write(home.user_config() / "config.toml",
                                 "[servers.a]\nurl = \"http://127.0.0.1:1/\"\nauth = \"corp\"\n"
                                 "[auth.corp]\nkind = \"bearer\"\ntoken = \"${NOPE_T}\"\n"
                                 "[servers.b]\nurl = \"http://127.0.0.1:1/\"\n"
                                 "bearer_token_env_var = \"NOPE_B\"\n");
    const std::string begin = "warning: user config " + file;
    EXPECT_THAT(home.run({"config", "check"}).err,
                AllOf(HasSubstr(begin + ":4:7: server \"a\" could not sign in here: "
                                        "auth.corp.token: the variable NOPE_T is not set"),
                      HasSubstr(begin + ":9:1: server \"b\" could not sign in here: "
                                        "bearer_token_env_var: the variable NOPE_B is not set")));
    home.environment["NOPE_T"] = home.environment["NOPE_B"] = "x";
    EXPECT_EQ(home.run({"config", "check"}).out, "configuration is fine\n");
}

TEST(ConfigOnTheCommandLine, CheckTellsWhatAFallbackLacks) {
    Home home;
    const std::pair<json::object, const char*> cases[] = {
        {{{"command", "sh"}, {"fallback", {"tcp"}}},
         "tcp\" in fallback would refuse its settings: lacks \"port\""},
        {{{"command", "sh"}, {"fallback", {"http"}}},
         "http\" in fallback would refuse its settings: lacks \"url\""},
        {{{"url", "http://127.0.0.1:1/"}, {"fallback", {"stdio"}}},
         "stdio\" in fallback would refuse its settings: lacks \"command\""},
        {{{"command", "sh"}, {"port", 7}, {"fallback", {"tcp"}}}, nullptr},
        {{{"url", "http://127.0.0.1:1/"}, {"fallback", {"sse"}}}, nullptr},
    };
    for (const auto& [server, told] : cases) {
        home.write("x.json",
                   json::serialize(json::object{{"servers", json::object{{"s", server}}}}));
        const auto done = home.run({"config", "check", "x.json"});
        EXPECT_EQ(done.exit_code, 0) << done.err;
        if (told)
            EXPECT_THAT(done.err, AllOf(StartsWith("warning: user config x.json:1:"),
                                        HasSubstr("server \"s\": transport \""), HasSubstr(told)));
        else
            EXPECT_EQ(done.err, "");
    }
}

TEST(ConfigOnTheCommandLine, CheckTellsWhatWouldNotWorkOfWhatIsNotApproved) {
    Home home;
    const auto file = home.write(".mcp.toml", "[servers.a]\ncommand = 5\n");
    const auto done = home.run({"config", "check"});
    EXPECT_EQ(done.exit_code, 0) << "it is not in force";
    EXPECT_THAT(done.err, HasSubstr("warning: project config " + file +
                                    ":2:11: server \"a\": command: expected a program"));
    EXPECT_THAT(done.err, HasSubstr("; it would not work if it were approved [invalid-value]\n"));
    EXPECT_EQ(home.run({"config", "check", file}).exit_code, 4);
}

TEST(ConfigOnTheCommandLine, ShowPrintsWhatWasSet) {
    Home home;
    const auto done = home.run({"--set", "health.reconnect_attempts=7", "config", "show"});
    EXPECT_THAT(done.out, HasSubstr("\"reconnect_attempts\": 7"));
}

}  // namespace
}  // namespace patchbay::test
