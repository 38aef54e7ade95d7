// Configuration through the command line: places in messages, hints, exit codes, secrets.
#include "integration/home.hpp"

namespace patchbay::test {
namespace {

struct Faulty {
    const char* name;
    const char* file;
    const char* text;
    int exit_code;
    std::vector<const char*> says;  // after the path of the file
};

class FaultyFiles : public ::testing::TestWithParam<Faulty> {};

TEST_P(FaultyFiles, AreReportedWithTheirPlace) {
    const auto& faulty = GetParam();
    Home home;
    const auto file = home.write(home.user_config() / faulty.file, faulty.text);
    const auto done = home.run({"config", "check"});
    EXPECT_EQ(done.exit_code, faulty.exit_code) << done.out << done.err;
    for (const char* part : faulty.says) {
        EXPECT_THAT(done.err, HasSubstr(part[0] == ':' ? file + part : std::string(part)));
    }
    EXPECT_EQ(home.run({"config", "check", file}).exit_code, faulty.exit_code) << "alone as well";
}

INSTANTIATE_TEST_SUITE_P(
    , FaultyFiles,
    ::testing::Values(
        Faulty{"BrokenToml",
               "config.toml",
               "[servers.a]\ncommand = \n",
               4,
               {":2:11: not TOML: ", "nothing of it is used"}},
        Faulty{"BrokenYaml", "config.yaml", "servers:\n  a: [1, 2\n", 4, {":3:1: not YAML: "}},
        Faulty{"BrokenJson",
               "config.json",
               "{\"servers\": {\"a\": }}",
               4,
               {":1:19: not JSON: expected a value"}},
        Faulty{"UnknownKey",
               "config.toml",
               "[servers.a]\ncomand = \"x\"\ncommand = \"y\"\n",
               0,
               {":2:1: server \"a\": unknown key \"comand\"", "did you mean \"command\"?"}},
        Faulty{"UnknownTransport",
               "config.toml",
               "[servers.a]\ntransport = \"stdoi\"\ncommand = \"x\"\n",
               4,
               {":1:10: server \"a\": unknown transport \"stdoi\"; loaded transports: ",
                "did you mean \"stdio\"?"}},
        Faulty{"WrongType",
               "config.toml",
               "[servers.a]\ncommand = 4\n",
               4,
               {":2:11: server \"a\": command: expected a program"}},
        Faulty{"UrlWithoutSense",
               "config.yaml",
               "servers:\n  a:\n    url: htp://x\n",
               4,
               {":3:5: server \"a\": url: expected one that begins with http:// or https://"}},
        Faulty{"UrlWithoutHost",
               "config.yaml",
               "servers:\n  a:\n    url: https:///mcp\n",
               4,
               {"server \"a\": url: expected a host behind https://"}},
        Faulty{"UrlWithAPortThatNoneIs",
               "config.yaml",
               "servers:\n  a:\n    url: http://127.0.0.1:99999/mcp\n",
               4,
               {":3:5: server \"a\": url: expected a port from 1 to 65535"}},
        Faulty{"UrlWithABracketThatStaysOpen",
               "config.yaml",
               "servers:\n  a:\n    url: 'http://[::1/'\n",
               4,
               {":3:5: server \"a\": url: expected a ] behind the address in brackets"}},
        Faulty{"UrlWithAPassword",
               "config.yaml",
               "servers:\n  a:\n    url: http://u:pw@127.0.0.1/mcp\n",
               4,
               {":3:5: server \"a\": url: it holds a user name or password"}},
        Faulty{"AHeaderOfOurs",
               "config.yaml",
               "servers:\n  a:\n    url: http://127.0.0.1/mcp\n    headers: {Cookie: x}\n",
               4,
               {":4:15: server \"a\": headers: \"Cookie\" is set by Patchbay itself"}},
        Faulty{
            "AHeaderWithANameThatIsNone",
            "config.yaml",
            "servers:\n  a:\n    url: http://127.0.0.1/mcp\n    headers: {X A: x}\n",
            4,
            {":4:15: server \"a\": headers: the name that begins with \"X\" cannot be a header's"}},
        Faulty{
            "AHeaderWithALineBreak",
            "config.yaml",
            "servers:\n  a:\n    url: http://127.0.0.1/mcp\n    headers:\n      X-A: \"a\\nb\"\n",
            4,
            {":5:7: server \"a\": headers: \"X-A\": its value holds a control character"}},
        Faulty{"ATokenThatReachesNothing",
               "config.toml",
               "[servers.a]\ncommand = \"x\"\nbearer_token_env_var = \"T\"\n",
               0,
               {":3:1: server \"a\": bearer_token_env_var is for servers behind a URL"}},
        Faulty{"CommandLineInOneText",
               "config.toml",
               "[servers.a]\ncommand = \"npx -y foo\"\n",
               0,
               {":2:1: server \"a\": command: there are spaces in it, and no shell splits it"}},
        Faulty{
            "AuthThatIsNowhere",
            "config.toml",
            "[auth.corp]\nkind = \"bearer\"\ntoken = \"x\"\n[servers.a]\ncommand = \"x\"\nauth = "
            "\"crop\"\n",
            4,
            {"server \"a\": ", "there is no [auth.crop] table", "did you mean \"corp\"?"}},
        Faulty{"AuthByItsMethod",
               "config.toml",
               "[servers.a]\nurl = \"https://example.com/mcp\"\nauth = "
               "\"oauth\"\n[servers.b]\ncommand "
               "= \"x\"\nauth = \"none\"\n",
               0,
               {}},
        Faulty{"IdTwiceInToml",
               "config.toml",
               "[servers.a]\ncommand = \"x\"\n[servers.a]\ncommand = \"y\"\n",
               4,
               {":3:1: not TOML: "}},
        Faulty{"IdTwiceInJson",
               "mcp.json",
               "{\"mcpServers\":{\n\"a\":{\"command\":\"x\"},\n\"a\":{\"command\":\"y\"}}}",
               4,
               {":3:1: ", "\"a\""}},
        Faulty{"IdTwiceInYaml",
               "config.yaml",
               "servers:\n  a: {command: x}\n  a: {command: y}\n",
               4,
               {":3:3: ", "\"a\""}},
        Faulty{"NotUtf8",
               "config.toml",
               "[servers.a]\ncommand = \"\xff\"\n",
               4,
               {":2:1: this line is not valid UTF-8"}}),
    [](const auto& faulty) { return faulty.param.name; });

TEST(ConfigOnTheCommandLine, WithABrokenFileServersAreToldAndNothingIsCalled) {
    Home home;
    home.add_example("good");
    const auto file = home.write(".patchbay/config.toml", "[servers.a\n");
    const auto done = home.run({"call", "mcp__good__echo", "message=hi"});
    EXPECT_EQ(done.exit_code, 7) << "the file may forbid it";
    EXPECT_EQ(done.out, "");
    EXPECT_THAT(done.err, AllOf(HasSubstr(file + ":1:"), HasSubstr("mcp__good__echo is denied"),
                                HasSubstr(file + " is broken")));
    EXPECT_EQ(home.run({"mcp", "status", "good"}).exit_code, 0);
    std::filesystem::remove(file);
    EXPECT_EQ(home.run({"call", "mcp__good__echo", "message=hi"}).out, "hi\n");
}

// Each of them names something that is not there or makes no sense.
TEST(ConfigOnTheCommandLine, WhatIsNamedForARunMustBeThere) {
    Home home;
    home.add_example("good");
    const Words call{"call", "mcp__good__echo", "message=hi"};
    const struct {
        Words flags;
        const char* variable;
        const char* value;
        const char* says;
    } cases[] = {
        {{"--config", "typo.toml"}, "", "", "typo.toml: no such file (named by --config)"},
        {{"--set", "helth.misses=1"}, "", "", "did you mean \"health\"?"},
        {{"--set", "servers.goood.enabled=false"},
         "",
         "",
         "\"goood\": no source defines this server; did you mean \"good\"?"},
        {{"--set", "servers.good.comand=x"}, "", "", "did you mean \"command\"?"},
        {{"--set", "servers.new.command=x", "--set", "servers.new.agrs=[\"x\"]"},
         "",
         "",
         "unknown key \"agrs\" for transport \"stdio\"; did you mean \"args\"?"},
        {{"--set", "servers.new.transport=htpp"}, "", "", "unknown transport \"htpp\""},
        {{"--set", "executors.a.b=1"}, "", "", "executors.a: unknown key \"b\""},
        {{}, "PATCHBAY_CONFIG", "/typo.toml", "no such file (named by PATCHBAY_CONFIG)"},
        {{}, "PATCHBAY_CONFIG_JSON", "{", "PATCHBAY_CONFIG_JSON:1:2: not JSON"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.says);
        auto words = c.flags;
        words.insert(words.end(), call.begin(), call.end());
        auto command = home.patchbay(words);
        if (*c.variable) command.environment[c.variable] = c.value;
        const auto done = run(command);
        EXPECT_EQ(done.exit_code, 4);
        EXPECT_EQ(done.out, "");
        EXPECT_THAT(done.err, AllOf(HasSubstr("error: session config "), HasSubstr(c.says)));
    }
    EXPECT_EQ(home.run({"--set", "servers.good.enabled=false", "mcp", "list"}).exit_code, 0);
    const auto as_json = home.run({"--config", "typo.toml", "tools", "--json"});
    EXPECT_EQ(as_json.exit_code, 4);
    EXPECT_THAT(as_json.out, HasSubstr("no such file (named by --config)"));
}

TEST(ConfigOnTheCommandLine, WhatStopsARunIsToldOnceAndQuietlyWithoutWarnings) {
    Home home;
    const auto file = home.write(home.user_config() / "config.toml", "[log]\nlevle = \"info\"\n");
    for (const bool quiet : {false, true}) {
        Words words{"--config", "typo.toml", "mcp", "list"};
        if (quiet) words.push_back("-q");
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 4);
        EXPECT_EQ(done.err.find(file) == std::string::npos, quiet) << done.err;
        const auto at = done.err.find("no such file");
        ASSERT_NE(at, std::string::npos) << done.err;
        EXPECT_EQ(done.err.find("no such file", at + 1), std::string::npos) << done.err;
    }
}

TEST(ConfigOnTheCommandLine, AFaultyServerDoesNotTakeTheOthersOfItsFileDown) {
    Home home;
    home.add_example("good");
    home.add("bad", {{"command", 4}});
    EXPECT_EQ(home.run({"call", "mcp__good__echo", "message=hi"}).out, "hi\n");
    EXPECT_EQ(home.run({"config", "check"}).exit_code, 4);
}

TEST(ConfigOnTheCommandLine, NestingAndSizeAreBounded) {
    Home home;
    home.write(home.user_config() / "config.json", std::string(100'000, '['));
    const auto deep = home.run({"config", "check"});
    EXPECT_EQ(deep.exit_code, 4) << deep.err;
    EXPECT_THAT(deep.err, HasSubstr("config.json:1:"));
    home.write(home.user_config() / "config.json", "{" + std::string(2u << 20, ' ') + "}");
    const auto big = home.run({"config", "check"});
    EXPECT_EQ(big.exit_code, 4) << big.err;
    EXPECT_THAT(big.err, HasSubstr("1 MiB"));
}

TEST(ConfigOnTheCommandLine, AnAliasBombIsStopped) {
    Home home;
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 12; ++i) {
        const std::string before = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
        for (int j = 1; j < 10; ++j) bomb += ", " + before;
        bomb += "]\n";
    }
    home.write(home.user_config() / "config.yaml", bomb);
    const auto done = home.run({"config", "check"});
    EXPECT_EQ(done.exit_code, 4) << done.err;
    EXPECT_THAT(done.err, HasSubstr("more than 100000 values after aliases are expanded"));
    EXPECT_LT(done.peak_rss_kb, 512 * 1024);
}

TEST(ConfigOnTheCommandLine, ProjectIsStrongerThanUserAndASettingStrongerThanBoth) {
    Home home;
    home.write(home.user_config() / "config.toml", "[servers.a]\ncommand = \"of-user\"\n");
    EXPECT_THAT(home.run({"config", "show"}).out, HasSubstr("of-user"));
    home.write(".patchbay/config.yaml", "servers:\n  a:\n    command: of-project\n");
    EXPECT_THAT(home.run({"config", "show"}).out,
                AllOf(HasSubstr("of-user"), Not(HasSubstr("of-project"))));
    EXPECT_EQ(home.run({"trust", "a", "--yes"}).exit_code, 0);
    EXPECT_THAT(home.run({"config", "show"}).out,
                AllOf(HasSubstr("of-project"), Not(HasSubstr("of-user"))));
    EXPECT_THAT(home.run({"--set", "servers.a.command=of-session", "config", "show"}).out,
                AllOf(HasSubstr("of-session"), Not(HasSubstr("of-project"))));
}

TEST(ConfigOnTheCommandLine, AServerIsCalledByTheIdThatItsNameBecomes) {
    Home home;
    home.add_example("My Server");
    EXPECT_EQ(home.run({"call", "mcp__My-Server__echo", "message=hi"}).out, "hi\n");
    EXPECT_THAT(home.run({"mcp", "status", "My-Server"}).out,
                HasSubstr("its name in the configuration is \"My Server\""));
}

TEST(ConfigOnTheCommandLine, AProgramStandsBesideItsFile) {
    Home home;
    std::filesystem::create_symlink(example_server(), home.user_config() / "serve");
    home.add("x", {{"command", "./serve"}});
    EXPECT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).out, "hi\n");
}

TEST(ConfigOnTheCommandLine, AnArgumentBesideTheFileIsLookedUpInTheWorkingDirectory) {
    Home home;
    const auto file = [&](const std::string& more) {
        home.write(home.root() / "conf/c.json",
                   R"({"servers":{"x":{"command":"cat","args":["-e","script.txt"])" + more + "}}}");
    };
    const auto status = [&] {
        return home.run({"--config", home.root() / "conf/c.json", "mcp", "status", "x"}).out;
    };
    home.write(home.root() / "conf/script.txt", "");
    const std::string folder = home.root() / "conf/";
    file("");
    EXPECT_THAT(status(), HasSubstr("\"script.txt\" is in " + folder +
                                    " and not in the working directory: set cwd, for which "
                                    "\".\" is the folder of that file"));
    file(R"(,"cwd":".")");
    EXPECT_THAT(status(), Not(HasSubstr("set cwd")));
    file("");
    home.write("script.txt", "");
    EXPECT_THAT(status(), Not(HasSubstr("set cwd")));
}

TEST(ConfigOnTheCommandLine, AFileThatIsNotThereIsAnError) {
    Home home;
    const auto done = home.run({"config", "check", "nothing.toml"});
    EXPECT_EQ(done.exit_code, 4);
    EXPECT_THAT(done.err, AllOf(HasSubstr("nothing.toml"), HasSubstr("no such file")));
}

TEST(ConfigOnTheCommandLine, WithoutServersItSaysSo) {
    Home home;
    const auto done = home.run({"mcp", "status"});
    EXPECT_EQ(done.exit_code, 0);
    EXPECT_THAT(done.out + done.err, HasSubstr("no MCP servers configured"));
    for (const auto& each : {home.user_config() / "config", home.user_config() / "mcp",
                             home.work() / ".patchbay/config", home.work() / ".mcp"})
        EXPECT_THAT(done.err,
                    HasSubstr("looked for " + each.string() + ".{toml,yaml,yml,json,jsonc}\n"));
}

TEST(ConfigOnTheCommandLine, AFileThatNamesNoServerIsToldAsWell) {
    Home home;
    const auto file = home.write("empty.json", "{}");
    EXPECT_THAT(home.run({"mcp", "status", "--config", file}).err,
                HasSubstr("  read " + file + ", which has none\n"));
}

TEST(ConfigOnTheCommandLine, WrongUsageIsExitCode3AndHelpIsNot) {
    Home home;
    EXPECT_EQ(home.run({"nonsense"}).exit_code, 3);
    EXPECT_EQ(home.run({"call"}).exit_code, 3);
    for (const Words& verb :
         {Words{}, Words{"mcp", "status"}, Words{"mcp", "list"}, Words{"mcp", "logs"},
          Words{"tools"}, Words{"call"}, Words{"resources", "list"}, Words{"resources", "read"},
          Words{"prompts", "get"}, Words{"batch"}, Words{"config", "show"},
          Words{"config", "check"}, Words{"plugin", "doctor"}}) {
        auto words = verb;
        words.push_back("--help");
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 0);
        EXPECT_THAT(done.out, HasSubstr("Examples:")) << testing::PrintToString(words);
    }
    EXPECT_THAT(home.run({"--version"}).out, HasSubstr("patchbay "));
}

TEST(ConfigOnTheCommandLine, WhatIsWrongWithTheConfigurationIsExitCode4) {
    Home home;
    home.add_example("good");
    EXPECT_EQ(home.run({"mcp", "list"}).exit_code, 0);
    home.add("bad", {{"command", "x"}, {"args", 4}});
    for (const Words& words :
         {Words{"mcp", "list"}, Words{"mcp", "status"}, Words{"mcp", "status", "bad"},
          Words{"call", "mcp__bad__x"}, Words{"tools", "--server", "bad"},
          Words{"resources", "list", "--server", "bad"}, Words{"tools", "mcp__bad__*"},
          Words{"resources", "read", "x://y", "--server", "bad"},
          Words{"prompts", "get", "p", "--server", "bad"},
          Words{"complete", "--prompt", "p", "a=b", "--server", "bad"},
          Words{"mcp", "login", "bad"}, Words{"mcp", "logout", "bad"},
          Words{"-q", "mcp", "status"}}) {
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 4) << testing::PrintToString(words);
        EXPECT_THAT(done.err + done.out, HasSubstr("args: expected a list"));
    }
    EXPECT_EQ(home.run({"mcp", "status", "good"}).exit_code, 0);
    Home broken;
    broken.add_example("good");
    broken.write(".mcp.json", "{");
    EXPECT_EQ(broken.run({"mcp", "list"}).exit_code, 4);
    EXPECT_EQ(broken.run({"mcp", "status"}).exit_code, 4);
    EXPECT_EQ(broken.run({"mcp", "status", "good"}).exit_code, 0);
}

}  // namespace
}  // namespace patchbay::test
