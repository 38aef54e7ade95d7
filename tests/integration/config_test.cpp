// Configuration through the command line: places in messages, hints, exit codes, secrets.
#include "integration/home.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace patchbay::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace json = boost::json;

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
        Faulty{"IdWithTwoUnderscores",
               "config.yaml",
               "servers:\n  a__b:\n    command: x\n",
               4,
               {":2:3: server \"a__b\": an id is 1 to 64 letters, digits, \"-\" and \"_\", without "
                "\"__\""}},
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

TEST(ConfigOnTheCommandLine, ABrokenFileDoesNotTakeTheOthersDown) {
    Home home;
    home.add_example("good");
    const auto file = home.write(".patchbay/config.toml", "[servers.a\n");
    const auto done = home.run({"call", "mcp__good__echo", "message=hi"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(done.out, "hi\n");
    EXPECT_THAT(done.err, HasSubstr(file + ":1:"));
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

TEST(ConfigOnTheCommandLine, ShowTellsTheOriginOfAValue) {
    Home home;
    const auto file = home.write(".patchbay/config.toml", "[servers.a]\ncommand = \"x\"\n");
    const auto done = home.run({"config", "show", "--origin", "--json"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    json::error_code failed;
    const auto shown = json::parse(done.out, failed);
    ASSERT_FALSE(failed) << done.out;
    const auto& origin = shown.at("origins").at("servers.a.command");
    EXPECT_EQ(origin.at("scope"), "project");
    EXPECT_EQ(origin.at("file"), json::value(file));
    EXPECT_EQ(origin.at("line"), 2);
}

TEST(ConfigOnTheCommandLine, ProjectIsStrongerThanUserAndASettingStrongerThanBoth) {
    Home home;
    home.write(home.user_config() / "config.toml", "[servers.a]\ncommand = \"of-user\"\n");
    EXPECT_THAT(home.run({"config", "show"}).out, HasSubstr("of-user"));
    home.write(".patchbay/config.yaml", "servers:\n  a:\n    command: of-project\n");
    EXPECT_THAT(home.run({"config", "show"}).out,
                AllOf(HasSubstr("of-project"), Not(HasSubstr("of-user"))));
    EXPECT_THAT(home.run({"--set", "servers.a.command=of-session", "config", "show"}).out,
                AllOf(HasSubstr("of-session"), Not(HasSubstr("of-project"))));
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

TEST(ConfigOnTheCommandLine, ADisabledServerIsNotCalled) {
    Home home;
    home.add_example("x", {}, {{"enabled", false}});
    const auto done = home.run({"call", "mcp__x__echo", "message=hi"});
    EXPECT_EQ(done.exit_code, 6);
    EXPECT_THAT(done.err, HasSubstr("mcp__x__echo"));
}

TEST(ConfigOnTheCommandLine, ADeniedToolIsExitCode7) {
    Home home;
    home.add_example("x");
    home.write(home.user_config() / "config.toml", "[permissions]\ndeny = [\"mcp__x__fail\"]\n");
    const auto done = home.run({"call", "mcp__x__fail"});
    EXPECT_EQ(done.exit_code, 7) << done.err;
    EXPECT_THAT(done.err, HasSubstr("mcp__x__fail"));
    EXPECT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).out, "hi\n");
}

}  // namespace
}  // namespace patchbay::test
