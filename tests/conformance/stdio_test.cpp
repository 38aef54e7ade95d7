// What the stdio transport does beyond the suite: programs that cannot be started, what a child is
// given, how it is ended.
#include "conformance/peers.hpp"
#include "support/plugin_host.hpp"
#include "support/scratch_folder.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sys/stat.h>

namespace {

using namespace patchbay;
using namespace patchbay::test;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class Stdio : public testing::Test {
protected:
    void TearDown() override { EXPECT_THAT(channel_.faults, IsEmpty()); }
    bool open(std::vector<std::string> mode, const std::string& more = {}) {
        return channel_.open(peer_settings("stdio", std::move(mode), more)) == PATCHBAY_OK;
    }
    bool over() {
        return channel_.until([&] { return channel_.closed(); });
    }
    std::string write(const std::string& name, const std::string& text, mode_t mode) {
        const auto path = folder_ / name;
        std::ofstream(path) << text;
        ::chmod(path.c_str(), mode);
        return path;
    }
    std::vector<std::string> self(const char* key) {
        const auto value = boost::json::parse(channel_.messages.at(0)).at(key);
        std::vector<std::string> texts;
        for (const auto& each : value.as_array())
            texts.push_back(each.is_string() ? std::string(each.get_string())
                                             : boost::json::serialize(each));
        return texts;
    }

    const ScratchFolder folder_;
    core::Loop loop_;
    PluginHost host_{loop_, "stdio"};
    PluginChannel channel_{loop_, host_};
};

TEST_F(Stdio, SaysWhereItLookedForACommandThatIsNotThere) {
    EXPECT_EQ(channel_.open(
                  command_settings({"no-such-server"}, R"(,"env":{"PATH":"/usr/bin:/opt/none"})")),
              PATCHBAY_E_UNSUPPORTED);
    EXPECT_EQ(channel_.refusal,
              "command \"no-such-server\" not found in the 2 folders of PATH; install it or "
              "give its full path");
    EXPECT_EQ(channel_.open(command_settings({"/opt/none/server"})), PATCHBAY_E_UNSUPPORTED);
    EXPECT_EQ(channel_.refusal, "command \"/opt/none/server\": No such file or directory");
}

TEST_F(Stdio, RefusesWhatIsNotExecutable) {
    const auto path = write("server", "#!/bin/sh\n", 0644);
    EXPECT_EQ(channel_.open(command_settings({path})), PATCHBAY_E_UNSUPPORTED);
    EXPECT_EQ(channel_.refusal, "command \"" + path + "\" is not executable (chmod +x?)");
    EXPECT_EQ(channel_.open(
                  command_settings({"server"}, ",\"env\":{\"PATH\":\"" + folder_.path() + "\"}")),
              PATCHBAY_E_UNSUPPORTED);
    EXPECT_THAT(channel_.refusal, HasSubstr(path + " is not executable"));
    EXPECT_EQ(channel_.open(command_settings({folder_.path()})), PATCHBAY_E_UNSUPPORTED);
    EXPECT_THAT(channel_.refusal, HasSubstr("is a directory"));
}

TEST_F(Stdio, RefusesAWorkingDirectoryThatIsNone) {
    EXPECT_FALSE(open({"echo"}, ",\"cwd\":\"/opt/none\""));
    EXPECT_EQ(channel_.refusal, "working directory (cwd) \"/opt/none\": No such file or directory");
    EXPECT_FALSE(open({"echo"}, ",\"cwd\":\"/etc/passwd\""));
    EXPECT_THAT(channel_.refusal, HasSubstr("is not a directory"));
}

TEST_F(Stdio, TellsWhatOnlyExecCanTell) {
    const auto no_interpreter = write("a", "#!/opt/none/python\n", 0755);
    ASSERT_EQ(channel_.open(command_settings({no_interpreter})), PATCHBAY_OK);
    ASSERT_TRUE(over());
    EXPECT_EQ(channel_.end.text, "server process exited with code 127");
    EXPECT_THAT(channel_.errors, ElementsAre(AllOf(StartsWith("cannot run " + no_interpreter),
                                                   HasSubstr("its interpreter is not"))));
}

TEST_F(Stdio, NeverAsksAShell) {
    const auto no_program = write("b", "echo pwned\n", 0755);
    ASSERT_EQ(channel_.open(command_settings({no_program})), PATCHBAY_OK);
    ASSERT_TRUE(over());
    EXPECT_THAT(channel_.errors, ElementsAre(HasSubstr("Exec format error")));
    EXPECT_THAT(channel_.stray, IsEmpty());
}

TEST_F(Stdio, FindsACommandRelativeToItsWorkingDirectory) {
    std::filesystem::create_symlink(peer_program(), folder_ / "link");
    ASSERT_EQ(
        channel_.open(command_settings({"./link", "self"}, ",\"cwd\":\"" + folder_.path() + "\"")),
        PATCHBAY_OK);
    ASSERT_TRUE(channel_.until([&] { return !channel_.messages.empty(); }));
    EXPECT_THAT(channel_.messages[0], HasSubstr("\"cwd\":\"" + folder_.path() + "\""));
}

TEST_F(Stdio, GivesAChildTheShortListAndWhatIsConfiguredAndNothingElse) {
    ::setenv("PATCHBAY_TEST_LEAK", "1", 1);
    ::setenv("TZ", "Europe/Berlin", 1);
    std::vector<patchbay_kv> credentials(2);
    credentials[0] = {plugin::str("API_TOKEN"), plugin::str("s3cret"),
                      PATCHBAY_KV_SECRET | PATCHBAY_KV_ENV, 0};
    credentials[1] = {plugin::str("Authorization"), plugin::str("Bearer x"), PATCHBAY_KV_SECRET, 0};
    const auto settings =
        peer_settings("stdio", {"self"}, R"(,"env":{"HOME":"/nowhere","LEVEL":"info"})");
    ASSERT_EQ(channel_.open(settings, credentials), PATCHBAY_OK);
    ASSERT_TRUE(channel_.until([&] { return !channel_.messages.empty(); }));
    const auto env = self("env");
    EXPECT_THAT(env, testing::IsSupersetOf(
                         {"HOME=/nowhere", "LEVEL=info", "TZ=Europe/Berlin", "API_TOKEN=s3cret"}));
    EXPECT_THAT(env, Contains(StartsWith("PATH=")));
    EXPECT_THAT(env, Not(Contains(StartsWith("PATCHBAY_TEST_LEAK"))));
    EXPECT_THAT(env, Not(Contains(StartsWith("Authorization"))));
    ::unsetenv("TZ");
}

// Set while it lives.
struct Variable {
    Variable(const char* its_name, const char* value) : name(its_name) {
        if (const char* now = std::getenv(name)) was = now;
        ::setenv(name, value, 1);
    }
    ~Variable() {
        if (was)
            ::setenv(name, was->c_str(), 1);
        else
            ::unsetenv(name);
    }
    Variable(const Variable&) = delete;
    const char* const name;
    std::optional<std::string> was;
};

TEST_F(Stdio, GivesAChildWhatReachesTheNetworkButNoCredential) {
    const Variable given[] = {{"NODE_EXTRA_CA_CERTS", "/etc/ca.pem"},
                              {"https_proxy", "http://proxy:3128"},
                              {"HTTPS_PROXY", "http://me:s3cret@proxy:3128/"},
                              {"NO_PROXY", "localhost,.example"},
                              {"npm_config_registry", "https://me:s3cret@npm.example/"},
                              {"NPM_CONFIG_CACHE", "/cache"},
                              {"npm_config_userconfig", "/home/me/.npmrc"},
                              {"npm_config__authToken", "s3cret"},
                              {"npm_config_//npm.example/:_password", "s3cret"},
                              {"XDG_CACHE_HOME", "/xdg"},
                              {"LC_MESSAGES", "de_DE"},
                              {"GITHUB_TOKEN", "s3cret"},
                              {"AWS_PROFILE", "work"}};
    ASSERT_TRUE(open({"self"}));
    ASSERT_TRUE(channel_.until([&] { return !channel_.messages.empty(); }));
    const auto env = self("env");
    EXPECT_THAT(env, testing::IsSupersetOf(
                         {"NODE_EXTRA_CA_CERTS=/etc/ca.pem", "https_proxy=http://proxy:3128",
                          "HTTPS_PROXY=http://proxy:3128/", "NO_PROXY=localhost,.example",
                          "npm_config_registry=https://npm.example/", "NPM_CONFIG_CACHE=/cache",
                          "npm_config_userconfig=/home/me/.npmrc", "XDG_CACHE_HOME=/xdg",
                          "LC_MESSAGES=de_DE"}));
    EXPECT_THAT(channel_.messages[0], Not(HasSubstr("s3cret")));
    EXPECT_THAT(env, Not(Contains(StartsWith("AWS_PROFILE"))));
}

TEST_F(Stdio, GivesAChildWhoTheUserIsAndWhomToBelieveButNothingThatIsNamedLikeThem) {
    const Variable given[] = {{"SSL_CERT_FILE", "/etc/ca.pem"},
                              {"SSL_CERT_DIR", "/etc/ca"},
                              {"CURL_CA_BUNDLE", "/etc/curl.pem"},
                              {"REQUESTS_CA_BUNDLE", "/etc/requests.pem"},
                              {"TMPDIR", "/var/tmp"},
                              {"TERM", "vt100"},
                              {"USER", "me"},
                              {"LOGNAME", "myself"},
                              {"SHELL", "/bin/dash"},
                              {"LANGUAGE", "de:en"},
                              {"SSL_CERT_FILE_TOKEN", "s3cret"},
                              {"CURL_TOKEN", "s3cret"},
                              {"TERM_SESSION_TOKEN", "s3cret"},
                              {"USER_TOKEN", "s3cret"},
                              {"SHELL_PASSWORD", "s3cret"},
                              {"MY_USER", "s3cret"},
                              {"user", "s3cret"}};
    ASSERT_TRUE(open({"self"}));
    ASSERT_TRUE(channel_.until([&] { return !channel_.messages.empty(); }));
    EXPECT_THAT(
        self("env"),
        testing::IsSupersetOf(
            {"SSL_CERT_FILE=/etc/ca.pem", "SSL_CERT_DIR=/etc/ca", "CURL_CA_BUNDLE=/etc/curl.pem",
             "REQUESTS_CA_BUNDLE=/etc/requests.pem", "TMPDIR=/var/tmp", "TERM=vt100", "USER=me",
             "LOGNAME=myself", "SHELL=/bin/dash", "LANGUAGE=de:en"}));
    EXPECT_THAT(channel_.messages[0], Not(HasSubstr("s3cret")));
}

TEST_F(Stdio, GivesAChildTheVariablesThatAreNamed) {
    const Variable given[] = {{"GITHUB_TOKEN", "s3cret"},
                              {"HTTPS_PROXY", "http://me:s3cret@proxy:3128/"},
                              {"LEVEL", "debug"}};
    ASSERT_TRUE(open({"self"}, R"(,"pass_env":["GITHUB_TOKEN","HTTPS_PROXY","LEVEL","NOT_THERE"],
                                   "env":{"LEVEL":"info"})"));
    ASSERT_TRUE(channel_.until([&] { return !channel_.messages.empty(); }));
    const auto env = self("env");
    EXPECT_THAT(env, testing::IsSupersetOf({"GITHUB_TOKEN=s3cret", "LEVEL=info",
                                            "HTTPS_PROXY=http://me:s3cret@proxy:3128/"}));
    EXPECT_THAT(env, Not(Contains(StartsWith("NOT_THERE"))));
}

class StdioPids : public Stdio, public testing::WithParamInterface<const char*> {};

TEST_P(StdioPids, GivesAChildASessionAndThreeDescriptors) {
    const int leaked = ::dup(2);  // not close-on-exec
    ASSERT_TRUE(open({"self"}, GetParam()));
    ASSERT_TRUE(channel_.until([&] { return !channel_.messages.empty(); }));
    ::close(leaked);
    EXPECT_THAT(self("fds"), testing::UnorderedElementsAre("0", "1", "2"));
    EXPECT_THAT(channel_.messages[0], HasSubstr("\"session\":true"));
    // Many servers take a parent 1 for the sign that their host has died.
    EXPECT_THAT(channel_.messages[0], Not(HasSubstr("\"parent\":1,")));
    EXPECT_THAT(channel_.messages[0], HasSubstr("\"exe\":\"" + peer_program())) << "/proc works";
    ASSERT_TRUE(channel_.until([&] { return !channel_.fact("pid").empty(); }));
    EXPECT_TRUE(std::filesystem::exists("/proc/" + channel_.fact("pid")))
        << "the host's number, not the child's";
}

TEST_P(StdioPids, NamesTheSignalThatKilledAChild) {
    ASSERT_TRUE(open({"signal", "9"}, GetParam()));
    ASSERT_TRUE(over());
    EXPECT_EQ(channel_.end.text, "server process was killed by signal 9 (SIGKILL)");
}

TEST_P(StdioPids, EndsAChildThatIgnoresEverything) {
    const auto token = unique_token();
    ASSERT_EQ(channel_.open(command_settings({hostile_program(), token, "setsid", "ignore"},
                                             std::string(",\"stop_grace_ms\":50") + GetParam())),
              PATCHBAY_OK);
    ASSERT_TRUE(channel_.until([&] { return !channel_.messages.empty(); }));
    channel_.close();
    ASSERT_TRUE(over());
    EXPECT_EQ(channel_.end.status, PATCHBAY_OK);
    EXPECT_THAT(processes_with(token), IsEmpty());
}
TEST_P(StdioPids, AsksAChildToLeaveBeforeItIsKilled) {
    const auto asked = folder_ / "asked";
    const auto script = write("server",
                              "#!/bin/sh\ntrap 'echo TERM > \"$1\"; exit 0' TERM\necho '{}'\n"
                              "while :; do sleep 60 & wait $!; done\n",
                              0755);
    ASSERT_EQ(channel_.open(command_settings({script, asked},
                                             std::string(",\"stop_grace_ms\":3000") + GetParam())),
              PATCHBAY_OK);
    ASSERT_TRUE(channel_.until([&] { return !channel_.messages.empty(); }));
    channel_.close();
    ASSERT_TRUE(over());
    std::string told;
    std::ifstream(asked) >> told;
    EXPECT_EQ(told, "TERM");
}
INSTANTIATE_TEST_SUITE_P(All, StdioPids, testing::Values("", ",\"pid_namespace\":false"),
                         [](const auto& named) {
                             return std::string(*named.param ? "Shared" : "OwnNamespace");
                         });

TEST_F(Stdio, LetsAChildLeaveByItselfWhenItsInputEnds) {
    ASSERT_TRUE(open({"silent"}, ",\"stop_grace_ms\":60000"));
    channel_.close();
    ASSERT_TRUE(over());
}

TEST_F(Stdio, EndsAChildThatClosesItsOutput) {
    ASSERT_TRUE(open({"stdout"}, ",\"stop_grace_ms\":50"));
    ASSERT_TRUE(over());
    EXPECT_EQ(channel_.end.text, "server closed its stdout");
}

TEST_F(Stdio, EndsAChildThatClosesItsInputWhenThereIsSomethingToSay) {
    ASSERT_TRUE(open({"stdin"}, ",\"stop_grace_ms\":50"));
    ASSERT_TRUE(channel_.until([&] { return !channel_.messages.empty(); }));
    // Its supervisor may hold the pipe for a moment more, so that a first message still goes in.
    ASSERT_TRUE(channel_.until([&] {
        if (!channel_.closed() && channel_.running() == 0) static_cast<void>(channel_.send("{}"));
        return channel_.closed();
    }));
    EXPECT_EQ(channel_.end.text, "server closed its stdin: Broken pipe");
    EXPECT_EQ(channel_.done.back().status, PATCHBAY_E_CLOSED);
}

TEST_F(Stdio, CutsLongLinesOfStderr) {
    ASSERT_TRUE(open({"noise"}));
    ASSERT_TRUE(channel_.until([&] { return channel_.errors.size() == 2; }));
    EXPECT_EQ(channel_.errors[0], std::string(8u << 10, '0'));
    EXPECT_EQ(channel_.errors[1], "short");
}

TEST_F(Stdio, LeavesNoDescriptorBehind) {
    const auto open_descriptors = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    };
    const auto before = open_descriptors();
    for (int i = 0; i < 5; ++i) {
        PluginChannel channel(loop_, host_);
        ASSERT_EQ(channel.open(peer_settings("stdio", {"echo"})), PATCHBAY_OK);
        ASSERT_GE(channel.send("{}"), 0);
        ASSERT_TRUE(channel.until([&] { return !channel.messages.empty(); }));
        channel.close();
        ASSERT_TRUE(channel.until([&] { return channel.closed(); }));
        channel.destroy();
    }
    loop_.run_until([] { return false; }, core::Clock::now() + std::chrono::milliseconds(1));
    EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
