#include "config/secrets.hpp"
#include "core/log.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sched.h>
#include <sys/stat.h>
#include <thread>

namespace patchbay::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Expand : public ::testing::Test {
protected:
    Server server_;
    World world_;

    void SetUp() override {
        server_.id = "a";
        server_.place = {Scope::User, world_.folder / "home/user/config.toml", 3, 1};
        world_.variables = {{"NAME", "value"}, {"EMPTY", ""}, {"NESTED", "${NAME}"}};
    }
    std::string one(const std::string& text) {
        server_.settings = {{"url", text}};
        const auto settings = expand(server_, world_.environment);
        return settings ? std::string(settings->at("url").as_string())
                        : "error: " + settings.error().message;
    }
};

// Else the folder that one happens to be in would decide which program gets to know a token.
TEST_F(Expand, TheProgramOfATableStandsBesideItsFile) {
    const auto program = [&](const std::string& written) {
        const auto own = expand_auth(
            server_, {{"command", boost::json::array{written, "./argument"}}}, world_.environment);
        EXPECT_TRUE(own) << own.error().message;
        EXPECT_EQ(own->at("command").at(1), "./argument");
        return std::string(own->at("command").at(0).as_string());
    };
    EXPECT_EQ(program("bin/token"), world_.folder / "home/user/bin/token");
    EXPECT_EQ(program("/bin/token"), "/bin/token");
    EXPECT_EQ(program("token"), "token");
}

TEST_F(Expand, ReplacesReferencesOnceAndLeavesTheRest) {
    const struct {
        const char* text;
        const char* wanted;
    } cases[] = {
        {"plain", "plain"},
        {"${NAME}", "value"},
        {"a${NAME}b${NAME}", "avaluebvalue"},
        {"${env:NAME}", "value"},
        {"${NONE:-x y}", "x y"},
        {"${NONE:-}", ""},
        {"${NAME:-x}", "value"},
        {"${EMPTY:-x}", "x"},
        {"${EMPTY}", ""},
        {"${NESTED}", "${NAME}"},
        {"$${NAME}", "${NAME}"},
        {"$$${NAME}", "$${NAME}"},
        {"$NAME", "$NAME"},
        {"$", "$"},
        {"a$${b} ${NAME}", "a${b} value"},
        {"${NONE:-a:-b}", "a:-b"},
    };
    for (const auto& c : cases) EXPECT_EQ(one(c.text), c.wanted) << c.text;
}

TEST_F(Expand, ReachesEverySettingThatTakesReferencesAndNoOther) {
    server_.settings =
        boost::json::parse(
            R"({"command": "${NAME}", "args": ["-x", "${NAME}"], "cwd": "/${NAME}", "env": {"A": "${NAME}"},
        "url": "${NAME}", "headers": {"B": "${NAME}"}, "other": "${NAME}", "port": 5})")
            .as_object();
    const auto settings = expand(server_, world_.environment);
    ASSERT_TRUE(settings);
    EXPECT_EQ(
        serialize(*settings),
        R"({"command":"value","args":["-x","value"],"cwd":"/value","env":{"A":"value"},"url":"value","headers":{"B":"value"},"other":"${NAME}","port":5})");
}

TEST_F(Expand, AProgramNamedByAPathAndItsFolderStandBesideTheFile) {
    const auto folder = world_.folder / "home/user";
    world_.variables["SUB"] = "sub";
    for (const bool on : {true, false}) {
        server_.expand = on;
        server_.settings = {
            {"command", "./run"}, {"cwd", on ? "${SUB}" : "sub"}, {"args", {"./x"}}};
        auto settings = expand(server_, world_.environment);
        ASSERT_TRUE(settings);
        EXPECT_EQ(settings->at("command"), boost::json::value(folder + "/./run"));
        EXPECT_EQ(settings->at("cwd"), boost::json::value(folder + "/sub"));
        EXPECT_EQ(settings->at("args").at(0), "./x") << "that is the program's to read";
    }
    server_.settings = {{"command", "npx"}, {"cwd", "/abs"}};
    auto settings = expand(server_, world_.environment);
    EXPECT_EQ(settings->at("command"), "npx");
    EXPECT_EQ(settings->at("cwd"), "/abs");
    server_.place = {Scope::Session, "--set", 0, 0};
    server_.settings = {{"command", "bin/run"}};
    settings = expand(server_, world_.environment);
    EXPECT_EQ(settings->at("command"),
              boost::json::value(world_.environment.working_directory + "/bin/run"));
}

TEST_F(Expand, IsOffWhenToldSo) {
    server_.expand = false;
    EXPECT_EQ(one("${NAME} ${"), "${NAME} ${");
}

TEST_F(Expand, NamesTheMissingVariableAndThePlace) {
    server_.settings = {{"env", {{"TOKEN", "${NONE}"}}}};
    const auto settings = expand(server_, world_.environment);
    ASSERT_FALSE(settings);
    EXPECT_EQ(settings.error().code, ErrorCode::Invalid);
    EXPECT_EQ(settings.error().message, "user config " + (world_.folder / "home/user/config.toml") +
                                            ":3:1: server \"a\": env.TOKEN: the variable NONE is "
                                            "not set; set it, or write ${NONE:-default}");
}

TEST_F(Expand, RefusesWhatIsNoReference) {
    EXPECT_THAT(one("x ${NAME"), HasSubstr("a \"${\" that is never closed"));
    EXPECT_THAT(one("${}"), HasSubstr("\"${}\" is no reference"));
    EXPECT_THAT(one("${a b}"), HasSubstr("expected ${NAME}, ${NAME:-default}"));
    EXPECT_THAT(one("${1A}"), HasSubstr("is no reference"));
    EXPECT_THAT(one("${DB_PASS-secret}"), HasSubstr("\"${DB_PASS...}\" is no reference"));
    EXPECT_THAT(one("${env:DB-PASS:-secret}"), HasSubstr("\"${DB...}\" is no reference"));
    EXPECT_THAT(one("${keyring:x}"), HasSubstr("no secrets are kept here; use a variable"));
}

TEST_F(Expand, FetchesSecretsByNameAndMasksThem) {
    world_.environment.stored_secrets = {
        [](const std::string& name) {
            return name == "gh.token" ? Result<std::string>("s3cret-by-name")
                                      : Error{ErrorCode::NotFound, "no secret \"" + name + "\""};
        },
        {}};
    EXPECT_EQ(one("a ${secret:gh.token} b"), "a s3cret-by-name b");
    EXPECT_EQ(one("${keyring:gh.token}"), "s3cret-by-name");
    EXPECT_EQ(core::log::masked("s3cret-by-name"), "***");
    EXPECT_THAT(one("${secret:other}"), HasSubstr("no secret \"other\""));
    EXPECT_EQ(one("${secret:-x}"), "x") << "of a variable, what stands for it where it is not set";
    for (const auto* wrong : {"${secret:}", "${secret:a b}", "${keyring:a/b}", "${secret:.x}"})
        EXPECT_THAT(one(wrong), HasSubstr("is no name of a secret: expected 1 to 64 letters"))
            << wrong;
    for (const auto* text : {"${secret:x}", "${keyring:x}"})
        EXPECT_TRUE(expansion_waits({{"url", text}})) << text;
}

TEST_F(Expand, ReadsSecretsFromFilesAndMasksThem) {
    world_.folder.write("home/user/token", "s3cret-of-a-file\n");
    EXPECT_EQ(one("Bearer ${file:token}"), "Bearer s3cret-of-a-file");
    EXPECT_EQ(one("${file:~/token}"), "s3cret-of-a-file");
    EXPECT_EQ(one("${file:" + (world_.folder / "home/user/token") + "}"), "s3cret-of-a-file");
    EXPECT_EQ(core::log::masked("it is s3cret-of-a-file."), "it is ***.");
}

TEST_F(Expand, MasksVariablesThatLookLikeSecretsWhereverTheyGo) {
    world_.variables["SOME_TOKEN"] = "by-its-name-only";
    world_.variables["OTHER"] = "sk-abcdefghij0123456789";
    server_.settings = {
        {"command", "x"},
        {"args", {"${SOME_TOKEN}", "${OTHER}", "${DB_PASSWORD:-by-default}", "${NAME}/and/more"}}};
    {
        core::Secrets secrets;
        world_.environment.secrets = &secrets;
        ASSERT_TRUE(expand(server_, world_.environment));
        EXPECT_EQ(core::log::masked("by-its-name-only sk-abcdefghij0123456789 by-default value"),
                  "*** *** *** value");
    }
    EXPECT_EQ(core::log::masked("by-its-name-only"), "by-its-name-only");
}

TEST_F(Expand, MasksWhatAVariableYieldsWhereSecretsStand) {
    const struct {
        boost::json::object settings;
        const char* name;
        const char* value;
        bool masked;
    } cases[] = {
        {{{"headers", {{"X-K", "${K}"}}}}, "K", "harmless", true},
        {{{"headers", {{"X-K", "Key ${K}!"}}}}, "K", "harmless", true},
        {{{"headers", {{"X-K", "${K:-harmless}"}}}}, "K", "", true},
        {{{"url", "https://h/mcp?k=${K}"}}, "K", "harmless", true},
        {{{"url", "https://h/mcp#${K}&x"}}, "K", "harmless", true},
        {{{"url", "https://${K}@h/mcp"}}, "K", "harmless", true},
        {{{"url", "https://u:${K}@h/mcp"}}, "K", "harmless", true},
        {{{"env", {{"API_KEY", "${K}"}}}}, "K", "harmless", true},
        {{{"env", {{"K", "${K}"}}}}, "K", "a1b2c3d4e5f6g7h8", true},
        {{{"args", {"--x=${K}"}}}, "K", "a1b2c3d4e5f6g7h8", true},
        {{{"env", {{"K", "${MY_TOKEN}"}}}}, "MY_TOKEN", "harmless", true},
        {{{"url", "https://${K}/mcp?x=1"}}, "K", "harmless", false},
        {{{"url", "https://h/${K}/user@host"}}, "K", "harmless", false},
        {{{"url", "${K}/mcp"}}, "K", "https://harmless", false},
        {{{"env", {{"K", "${K}"}}}}, "K", "harmless", false},
        {{{"env", {{"HEADERS_OF_IT", "${K}"}}}}, "K", "harmless", false},
        {{{"args", {"--x=${K}"}}}, "K", "harmless", false},
        {{{"headers", {{"X-K", "${K}"}}}}, "K", "tiny", false},  // too short to be found in a text
    };
    for (const auto& c : cases) {
        world_.variables = {{c.name, c.value}};
        server_.settings = c.settings;
        core::Secrets secrets;
        world_.environment.secrets = &secrets;
        ASSERT_TRUE(expand(server_, world_.environment)) << serialize(c.settings);
        const std::string value = *c.value ? c.value : "harmless";
        EXPECT_EQ(core::log::masked("it is " + value) == "it is ***", c.masked)
            << serialize(c.settings);
    }
}

TEST_F(Expand, MasksWhatATableOfCredentialsIsMadeOf) {
    world_.variables = {
        {"A", "harmless-a"}, {"B", "harmless-b"}, {"C", "harmless-c"}, {"D", "harmless-d"}};
    core::Secrets secrets;
    world_.environment.secrets = &secrets;
    ASSERT_TRUE(expand_auth(server_,
                            {{"token", "${A}"},
                             {"headers", {{"X-K", "${B}"}}},
                             {"token_url", "https://h/?k=${C}"},
                             {"scope", "${D}"}},
                            world_.environment));
    EXPECT_EQ(core::log::masked("harmless-a harmless-b harmless-c harmless-d"),
              "*** *** *** harmless-d");
}

TEST_F(Expand, SaysWhyAFileIsNoSecret) {
    world_.folder.write("home/user/big", std::string((64u << 10) + 1, 'x'));
    world_.folder.write("home/user/nul", std::string("a\0b", 3));
    ASSERT_EQ(::mkfifo((world_.folder / "home/user/pipe").c_str(), 0600), 0);
    EXPECT_THAT(one("${file:none}"),
                AllOf(HasSubstr("url: \""), HasSubstr("cannot read it: No such file")));
    EXPECT_THAT(one("${file:big}"), HasSubstr("larger than 64 KiB"));
    EXPECT_THAT(one("${file:nul}"), HasSubstr("NUL byte"));
    EXPECT_THAT(one("${file:pipe}"), HasSubstr("not a regular file"));
    EXPECT_THAT(one("${file:~}"), HasSubstr("cannot read it"));
}

TEST_F(Expand, TakesTheFirstLineOfACommand) {
    EXPECT_EQ(one("${command:printf first-line\\nsecond}"), "first-line");
    EXPECT_EQ(core::log::masked("first-line"), "***");
    EXPECT_EQ(one("${command:  echo   $HOME;ls }"), "$HOME;ls");  // no shell
}

TEST_F(Expand, ProjectFilesRunNoCommands) {
    for (const auto scope : {Scope::Project, Scope::Local}) {
        server_.place.scope = scope;
        EXPECT_THAT(one("${command:echo x}"),
                    HasSubstr(std::string("${command:...} is not allowed in a ") + name_of(scope) +
                              " file"));
        for (const auto* text : {"${a b}"})
            EXPECT_THAT(one(text),
                        AllOf(HasSubstr("${file:PATH}"), ::testing::Not(HasSubstr("${command:"))))
                << "nothing is advised that is not allowed there";
    }
}

// What was approved is the text: what it leads to must not change with the checkout.
TEST_F(Expand, ProjectFilesReadNothingOfTheirOwnFolder) {
    const auto app = world_.folder / "home/user/app";
    world_.folder.write("home/user/app/in", "inside");
    world_.folder.write("home/user/out", "outside");
    std::filesystem::create_symlink(world_.folder / "home/user/out", app + "/link-out");
    std::filesystem::create_symlink(app, world_.folder / "home/user/link-in");
    for (const auto* config : {"/.mcp.json", "/.patchbay/config.toml"})
        for (const auto scope : {Scope::Project, Scope::Local}) {
            server_.place = {scope, app + config, 1, 1};
            EXPECT_EQ(one("${file:~/out}"), "outside");
            EXPECT_EQ(one("${file:" + (world_.folder / "home/user/out") + "}"), "outside");
            for (const std::string& path :
                 {std::string("in"), std::string("../in"), std::string("../../out"), app + "/in",
                  std::string("~/app/in"), std::string("~/link-in/in"), app + "/../app/in"}) {
                EXPECT_THAT(one("${file:" + path + "}"),
                            HasSubstr("may not lead into its own folder"))
                    << path;
            }
        }
    world_.folder.write("home/user/repo/.git", "");
    world_.folder.write("home/user/repo/beside", "beside");
    world_.folder.write("home/user/repo/sub/x", "");
    server_.place = {Scope::Project, world_.folder / "home/user/repo/sub/.mcp.json", 1, 1};
    world_.folder.write("home/user/repo/sub/.git", "gitdir: ../.git/modules/sub\n");
    for (const auto* path :
         {"~/repo/beside", "~/repo/sub/x", "/proc/self/cwd/x", "/dev/null", "//proc/self/cwd/x",
          "/./proc/self/cwd/x", "/x/../proc/self/cwd/x", "/x/..//dev/fd/0"})
        EXPECT_THAT(one(std::string("${file:") + path + "}"), HasSubstr("may not lead into"))
            << path;
    const auto link = [&](const std::string& target, const std::string& name) {
        std::filesystem::create_symlink(target, world_.folder / ("home/user/" + name));
    };
    link(world_.folder / "home/user/out", "repo/l");  // which the next pull may have lead elsewhere
    link("..", "repo/up");
    link("repo/l", "through");
    link("/proc/self", "self");
    link("round", "round");
    link("./out", "plain");
    for (const auto* path : {"~/repo/l", "~/repo/up/out", "~/through", "~/self/environ", "~/round",
                             "~/repo/../repo/up/../out"})
        EXPECT_THAT(one(std::string("${file:") + path + "}"), HasSubstr("may not lead into"))
            << path;
    for (const auto* path : {"~/plain", "~/./../user/plain", "~//out"})
        EXPECT_EQ(one(std::string("${file:") + path + "}"), "outside") << path;
    world_.folder.write("home/user/.git", "");
    EXPECT_EQ(one("${file:~/out}"), "outside") << "a home is not the checkout's";
    server_.place = {Scope::User, app + "/config.toml", 1, 1};
    EXPECT_EQ(one("${file:in}"), "inside");
    EXPECT_EQ(one("${file:link-out}"), "outside");
}

TEST_F(Expand, ACheckTellsOfAServersFirstTwentyReferencesToNothing) {
    std::string many;
    for (int i = 0; i < 30; ++i) many += "${NOPE}";
    const std::string long_name(1'000, 'n');
    server_.settings = {{"env", {{long_name, many}}}};
    Config config;
    config.servers = {server_};
    check_references(config, world_.environment);
    ASSERT_EQ(config.diagnostics.size(), 20u);
    EXPECT_THAT(config.diagnostics.front().message, HasSubstr("the variable NOPE is not set"));
    EXPECT_LT(config.diagnostics.front().message.size(), 500u);
}

TEST_F(Expand, SaysHowACommandFailed) {
    EXPECT_THAT(one("${command:false}"), HasSubstr("\"false\" ended with exit code 1"));
    EXPECT_THAT(one("${command:/nowhere/x y}"),
                HasSubstr("cannot run \"/nowhere/x\": No such file"));
    EXPECT_THAT(one("${command:true}"), HasSubstr("printed nothing"));
    EXPECT_THAT(one("${command:}"), HasSubstr("no command is named"));
    EXPECT_THAT(one("${command:yes}"), HasSubstr("printed more than 64 KiB"));
}

TEST(SecretFromCommand, IsKilledWhenNobodyWaitsAnyMore) {
    Folder folder;
    folder.write("begun", "");
    folder.write("slow", "#!/bin/sh\necho yes > " + (folder / "begun") + "\nexec sleep 1000\n");
    std::filesystem::permissions(folder / "slow", std::filesystem::perms::owner_all);
    std::stop_source source;
    std::thread stopper([&] {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        std::string said;
        while (said.empty() && std::chrono::steady_clock::now() < deadline)
            std::ifstream(folder / "begun") >> said;
        source.request_stop();
    });
    const auto secret =
        secret_from_command(folder / "slow", source.get_token(), std::chrono::seconds(60));
    stopper.join();
    ASSERT_FALSE(secret);
    EXPECT_EQ(secret.error().code, ErrorCode::Cancelled);
    EXPECT_FALSE(secret_from_command("sleep 1000", source.get_token()))
        << "stopped before it began";
}

TEST(ExpansionWaits, ForFilesAndProgramsOnly) {
    using boost::json::array;
    EXPECT_FALSE(expansion_waits({{"command", "x"}, {"env", {{"A", "${HOME:-command:}"}}}}));
    EXPECT_TRUE(expansion_waits({{"env", {{"A", "Bearer ${command:pass show x}"}}}}));
    EXPECT_TRUE(expansion_waits({{"args", array{"-k", "${file:~/key}"}}}));
}

TEST(SecretFromCommand, EndsTheWholeGroupAtTheDeadline) {
    Folder folder;
    folder.write("slow",
                 "#!/bin/sh\nsleep 1000 &\necho $! > " + (folder / "pid") + "\nsleep 1000\n");
    std::filesystem::permissions(folder / "slow", std::filesystem::perms::owner_all);
    const auto secret = secret_from_command(folder / "slow", {}, std::chrono::milliseconds(500));
    ASSERT_FALSE(secret);
    EXPECT_EQ(secret.error().code, ErrorCode::Timeout);
    EXPECT_THAT(secret.error().message, HasSubstr("did not end within 500 ms"));
    int grandchild = 0;
    std::ifstream(folder / "pid") >> grandchild;
    ASSERT_GT(grandchild, 0);
    // Killed with its group: soon gone, or a zombie of whoever adopted it.
    const auto alive = [&] {
        std::ifstream status("/proc/" + std::to_string(grandchild) + "/stat");
        std::string number, name, state = "X";
        status >> number >> name >> state;
        return state != "Z" && state != "X";
    };
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (alive() && std::chrono::steady_clock::now() < deadline) ::sched_yield();
    EXPECT_FALSE(alive());
}

TEST_F(Expand, EveryTextOfAnAuthTable) {
    server_.auth = "main";
    const auto settings =
        expand_auth(server_, {{"id", "${NAME}"}, {"deep", {{"n", 1}, {"list", {"$${x}"}}}}},
                    world_.environment);
    ASSERT_TRUE(settings) << settings.error().message;
    EXPECT_EQ(settings->at("id"), "value");
    EXPECT_EQ(settings->at("deep").at("list").at(0), "${x}");
    const auto missing = expand_auth(server_, {{"secret", "${MISSING}"}}, world_.environment);
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message,
                AllOf(HasSubstr("auth.main.secret"), HasSubstr("MISSING is not set")));
}

}  // namespace
}  // namespace patchbay::config
