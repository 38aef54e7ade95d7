// What a person at a terminal and a script around it rely on: words, options, output, interrupts.
#include "integration/home.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

namespace patchbay::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
namespace json = boost::json;

// A program whose three streams are one terminal of its own.
class OnTerminal {
public:
    explicit OnTerminal(const Command& command) {
        terminal_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (terminal_ < 0 || ::grantpt(terminal_) != 0 || ::unlockpt(terminal_) != 0) {
            ADD_FAILURE() << "no terminal: " << std::strerror(errno);
            return;
        }
        const std::string name = ::ptsname(terminal_);
        std::vector<std::string> variables;
        for (const auto& [key, value] : command.environment) variables.push_back(key + "=" + value);
        std::vector<char*> words, environment;
        for (const auto& word : command.argv) words.push_back(const_cast<char*>(word.c_str()));
        for (auto& variable : variables) environment.push_back(variable.data());
        words.push_back(nullptr);
        environment.push_back(nullptr);
        int started[2];
        if (::pipe2(started, O_CLOEXEC) != 0) {
            ADD_FAILURE() << "pipe2: " << std::strerror(errno);
            return;
        }
        pid_ = ::fork();
        if (pid_ != 0) {
            // Ends with its exec: what is typed then reaches somebody, Ctrl-C too.
            ::close(started[1]);
            char none;
            EXPECT_EQ(::read(started[0], &none, 1), 0);
            ::close(started[0]);
            return;
        }
        sigset_t none_blocked;
        sigemptyset(&none_blocked);
        ::sigprocmask(SIG_SETMASK, &none_blocked, nullptr);
        for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_DFL);
        ::setsid();
        const int tty = ::open(name.c_str(), O_RDWR);  // the first one opened becomes ours
        for (int fd = 0; fd < 3; ++fd) ::dup2(tty, fd);
        if (tty > 2) ::close(tty);
        if (::chdir(command.directory.c_str()) == 0)
            ::execve(words[0], words.data(), environment.data());
        ::_exit(127);
    }
    ~OnTerminal() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
        }
        ::close(terminal_);
    }
    OnTerminal(const OnTerminal&) = delete;

    void type(std::string_view text) {
        EXPECT_EQ(::write(terminal_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    // From where the last one was found; false when it ended, or the deadline passed, before.
    bool wait_for(std::string_view text) {
        auto at = seen_.find(text, searched_);
        while (at == std::string::npos) {
            if (!read_some()) return false;
            at = seen_.find(text, searched_);
        }
        searched_ = at + text.size();
        return true;
    }
    // Its exit code; -1 when it had to be killed.
    int finish() {
        while (read_some()) {
        }
        int status = 0;
        if (late_ || ::waitpid(pid_, &status, 0) != pid_) return -1;
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    const std::string& seen() const { return seen_; }

private:
    bool read_some() {
        pollfd wanted{terminal_, POLLIN, 0};
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline_ - std::chrono::steady_clock::now());
        if (left.count() <= 0 || ::poll(&wanted, 1, static_cast<int>(left.count())) <= 0) {
            late_ = true;
            return false;
        }
        char text[4096];
        const auto got = ::read(terminal_, text, sizeof text);  // EIO once the last one has left
        if (got > 0) seen_.append(text, static_cast<std::size_t>(got));
        return got > 0;
    }

    int terminal_ = -1;
    pid_t pid_ = -1;
    std::string seen_;
    std::size_t searched_ = 0;
    bool late_ = false;
    const std::chrono::steady_clock::time_point deadline_ =
        std::chrono::steady_clock::now() + kDeadline;
};

TEST(CommandLine, NamesTheNearestVerbOfOneThatIsNotThere) {
    const Home home;
    const auto verb = home.run({"cal", "x"});
    EXPECT_EQ(verb.exit_code, 3);
    EXPECT_THAT(verb.err,
                HasSubstr("patchbay has no \"cal\"; did you mean \"call\"?; known: mcp, "));
    const auto deeper = home.run({"mcp", "stauts"});
    EXPECT_EQ(deeper.exit_code, 3);
    EXPECT_THAT(deeper.err, HasSubstr("patchbay mcp has no \"stauts\"; did you mean \"status\"?"));
}

TEST(CommandLine, WithoutAVerbShowsTheHelpOnStderr) {
    const auto done = Home().run({});
    EXPECT_EQ(done.exit_code, 3);
    EXPECT_EQ(done.out, "");
    EXPECT_THAT(done.err, AllOf(HasSubstr("Examples:"), HasSubstr("Exit codes:")));
}

TEST(CommandLine, NamesAnOptionThatIsNotThere) {
    const auto done = Home().run({"tools", "--jsn"});
    EXPECT_EQ(done.exit_code, 3);
    EXPECT_THAT(done.err, AllOf(HasSubstr("--jsn"), HasSubstr("`patchbay tools --help`")));
}

TEST(CommandLine, HelpSaysWhatEveryOptionTakes) {
    const std::pair<Words, Words> cases[] = {
        {{},
         {"--config FILE ", "--set KEY=VALUE ", "--plugin-dir DIR ", "--log-level LEVEL ",
          "-q,--quiet ", "patchbay batch < requests.jsonl", "Exit codes: 0 ok", "--version "}},
        {{"mcp", "logs"}, {"ID TEXT REQUIRED", "-n,--lines UINT=100 ", "mcp logs files -n 20"}},
        {{"mcp", "login"}, {"ID TEXT REQUIRED", "--scope SCOPES ", "--no-browser "}},
        {{"mcp", "logout"}, {"ID TEXT REQUIRED"}},
        {{"mcp", "status"}, {"ID TEXT  "}},
        {{"tools"}, {"PATTERN TEXT  ", "--server ID ", "--schema ", "marked (denied)"}},
        {{"call"},
         {"NAME TEXT REQUIRED", "KEY=VALUE TEXT ...", "--args JSON|@FILE|- ", "--timeout SECONDS ",
          "--output DIR=. ", "--raw "}},
        {{"resources", "list"}, {"--server ID "}},
        {{"resources", "templates"}, {"--server ID "}},
        {{"resources", "read"}, {"URI TEXT REQUIRED", "--server ID ", "--output DIR=. "}},
        {{"prompts", "list"}, {"--server ID "}},
        {{"prompts", "get"},
         {"NAME TEXT REQUIRED", "KEY=VALUE TEXT ...", "--server ID ", "--output DIR=. "}},
        {{"complete"},
         {"KEY=VALUE TEXT REQUIRED", "--prompt TEXT Excludes: --resource",
          "--resource TEXT Excludes: --prompt", "--server ID ", "--context KEY=VALUE "}},
        {{"batch"}, {"FILE TEXT  ", "--sign-in ", "/share/doc/patchbay/BATCH.md."}},
        {{"config", "show"}, {"--origin "}},
        {{"config", "check"}, {"FILE TEXT  "}},
        {{"trust"}, {"ID TEXT ...", "-y,--yes Excludes: --revoke", "--revoke Excludes: --yes"}},
        {{"plugin", "info"}, {"NAME TEXT REQUIRED"}},
        {{"plugin", "doctor"}, {"--load "}},
    };
    for (auto [words, parts] : cases) {
        const bool of_a_verb = !words.empty();
        words.push_back("--help");
        const auto done = Home().run(words);
        EXPECT_EQ(done.exit_code, 0);
        EXPECT_EQ(done.err, "");
        for (const auto& part : parts)
            EXPECT_THAT(done.out, HasSubstr(part)) << ::testing::PrintToString(words);
        if (of_a_verb) {
            EXPECT_THAT(done.out,
                        AllOf(HasSubstr("Examples:\n  "), HasSubstr("Options of every verb")));
        }
    }
}

TEST(CommandLine, OptionsThatMayBeRepeatedTakeOneValueEach) {
    Home home;
    home.add_example("x");
    const auto one = home.write("one.toml", "[servers.y]\ncommand = \"a\"\n");
    const auto two = home.write("two.toml", "[servers.z]\ncommand = \"a\"\n");
    const auto done =
        home.run({"--config", one, "--config", two, "--set", "servers.x.enabled=false", "--set",
                  "servers.y.enabled=false", "--plugin-dir", ".", "--plugin-dir", "..", "mcp",
                  "list", "--json"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    std::map<std::string, std::string> states;
    const auto listed = json::parse(done.out);
    for (const auto& status : listed.as_array())
        states[json::value_to<std::string>(status.at("id"))] =
            json::value_to<std::string>(status.at("state"));
    EXPECT_EQ(states, (std::map<std::string, std::string>{
                          {"x", "disabled"}, {"y", "disabled"}, {"z", "idle"}}));
    EXPECT_THAT(home.run({"complete", "--prompt", "greet", "style=f", "--context", "who=Ada",
                          "--context", "who=Alan"})
                    .err,
                HasSubstr("argument \"who\" is given twice"));
}

TEST(CommandLine, ShowsALongNameToItsLimit) {
    Home home;
    home.add_example("x");
    const std::string name(300, 'n');
    struct Case {
        Words words;
        std::size_t shown;
    };
    const Case cases[] = {{{"resources", "read", name}, 200},
                          {{"prompts", "get", name}, 200},
                          {{"complete", "--prompt", name, "a=b"}, 200},
                          {{"call", name}, 80},
                          {{"tools", "--server", name}, 64},
                          {{"mcp", "login", name}, 64}};
    for (const auto& [words, shown] : cases) {
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 6) << done.err;
        EXPECT_THAT(done.err, HasSubstr("\"" + std::string(shown, 'n')));
        EXPECT_THAT(done.err, Not(HasSubstr(std::string(shown + 1, 'n'))));
    }
}

TEST(CommandLine, RefusesATimeOutThatIsNone) {
    for (const char* text : {"-1", "0", "soon", "1e300", "nan"}) {
        const auto done = Home().run({"call", "mcp__x__echo", "--timeout", text});
        EXPECT_EQ(done.exit_code, 3) << text;
        EXPECT_THAT(done.err, HasSubstr("is no number of seconds from 0.001 to 31622400")) << text;
    }
}

TEST(CommandLine, TakesGlobalOptionsBeforeAndAfterTheVerb) {
    Home home;
    home.add_example("x");
    const auto before = home.run({"--json", "--set", "servers.x.enabled=false", "mcp", "list"});
    const auto after = home.run({"mcp", "list", "--json", "--set", "servers.x.enabled=false"});
    EXPECT_EQ(before.exit_code, 0) << before.err;
    EXPECT_EQ(before.out, after.out);
    EXPECT_THAT(before.out, HasSubstr("\"state\":\"disabled\""));
}

TEST(CommandLine, SaysOnceThatItsOutputDidNotArrive) {
    Home home;
    home.add_example("x");
    for (const char* words :
         {"--version", "--help", "call --help", "mcp list", "mcp status", "mcp auth --json",
          "mcp logs x --json", "tools", "tools --schema", "call mcp__x__echo message=hi",
          "resources list", "prompts get greet who=Ada", "batch", "config show", "config paths",
          "config check", "plugin list", "trust", "--json nope"}) {
        auto command = home.patchbay({}, "{\"id\":1,\"op\":\"status\"}\n");
        command.argv = {"/bin/sh", "-c",
                        "exec '" + command.argv[0] + "' " + words + " > /dev/full"};
        const auto done = run(command);
        EXPECT_NE(done.exit_code, 0) << words;
        const std::string told = "error: cannot write to stdout: No space left on device\n";
        const auto at = done.err.find(told);
        ASSERT_NE(at, std::string::npos) << words << ": " << done.err;
        EXPECT_EQ(done.err.find("cannot write", at + told.size()), std::string::npos) << words;
    }
}

TEST(CommandLine, PrintsIntoNothingElseWhenItsOutputIsClosed) {
    Home home;
    home.add_example("x");
    for (const char* words : {"--version", "call mcp__x__echo message=hi", "batch"}) {
        auto command = home.patchbay({}, "{\"id\":1,\"op\":\"status\"}\n");
        command.argv = {"/bin/sh", "-c", "exec '" + command.argv[0] + "' " + words + " >&-"};
        const auto done = run(command);
        EXPECT_EQ(done.exit_code, 1) << words;
        EXPECT_EQ(done.err, "error: cannot write to stdout: Bad file descriptor\n") << words;
    }
}

TEST(CommandLine, SaysWhyMuchOutputDidNotArrive) {
    Home home;
    home.add_example("x");
    const std::string text(1 << 20, 'x');
    const auto file = home.write("arguments.json", "{\"message\":\"" + text + "\"}");
    auto command = home.patchbay({});
    const std::string program = command.argv[0];
    command.argv = {"/bin/sh", "-c",
                    "exec '" + program + "' call mcp__x__echo --args '@" + file + "' > /dev/full"};
    const auto done = run(command);
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_THAT(done.err, HasSubstr("cannot write to stdout: No space left on device"));
}

TEST(CommandLine, FailsWhenWhatCameCannotBeSaved) {
    Home home;
    home.add_example("x");
    const auto done = home.run({"call", "mcp__x__image", "--output", "/proc"});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_THAT(done.err, HasSubstr("cannot save image: /proc/image-1.png"));
}

TEST(CommandLine, CallsNothingWhenThereIsNoFolderToSaveIn) {
    Home home;
    const auto input = home.add_recorded("x");
    const auto file = home.write("file", "");
    for (const auto& [folder, why] : {std::pair<std::string, const char*>("out", "No such file"),
                                      std::pair<std::string, const char*>(file, "Not a dir")}) {
        for (const Words& words :
             {Words{"call", "mcp__x__image", "--output", folder},
              Words{"resources", "read", "example://blob", "--output", folder},
              Words{"prompts", "get", "greet", "who=Ada", "--output", folder}}) {
            const auto done = home.run(words);
            EXPECT_EQ(done.exit_code, 3);
            EXPECT_THAT(done.err,
                        HasSubstr("--output: nothing can be saved in \"" + folder + "\": " + why));
        }
    }
    EXPECT_FALSE(std::filesystem::exists(input));
    for (const char* rule : {"permissions.deny=['mcp__x__*']", "servers.x.tools={add='deny'}",
                             "servers.x.disabled_tools=['add']"}) {
        const auto denied = home.run({"call", "mcp__x__add", "--args", "{", "--set", rule});
        EXPECT_EQ(denied.exit_code, 7) << rule << ": whatever the arguments are";
        EXPECT_THAT(denied.err, HasSubstr("mcp__x__add is "));
    }
    for (const char* rule : {"servers.x.enabled_tools=['a.dd']", "servers.x.trust='untrusted'"}) {
        const auto unclear = home.run({"call", "mcp__x__a_dd_0123", "--args", "{", "--set", rule});
        EXPECT_EQ(unclear.exit_code, 3) << "it may be the one that is allowed";
    }
    EXPECT_FALSE(std::filesystem::exists(input));
}

TEST(CommandLine, WhatIsNotFoundBesideABrokenFileIsAMatterOfTheConfiguration) {
    Home home;
    home.write(home.user_config() / "config.toml", "[servers.b");
    for (const Words& list :
         {Words{"tools"}, Words{"resources", "list"}, Words{"prompts", "list", "--json"}})
        EXPECT_EQ(home.run(list).exit_code, 4) << testing::PrintToString(list);
    for (const Words& words : {Words{"call", "mcp__b__x"}, Words{"tools", "--server", "b"}}) {
        for (const bool others : {false, true}) {
            if (others) home.add_example("a");
            auto all = words;
            all.push_back("--json");
            const auto done = home.run(all);
            EXPECT_EQ(done.exit_code, 4) << testing::PrintToString(words) << done.err;
            EXPECT_THAT(done.err, HasSubstr("it may be in what the configuration has wrong"));
            EXPECT_EQ(json::parse(done.out).at_pointer("/error/kind"), "invalid");
        }
    }
}

TEST(CommandLine, AMisspeltRuleIsToldBesideTheToolThatItHides) {
    Home home;
    home.add_example("x", {}, {{"enabled_tools", {"ecko"}}});
    const auto done = home.run({"call", "mcp__x__echo", "message=hi"});
    EXPECT_NE(done.exit_code, 0);
    EXPECT_THAT(done.err, HasSubstr("enabled_tools names \"ecko\", and the server has no such "
                                    "tool; did you mean \"echo\"?"));
}

TEST(CommandLine, AServerWithoutToolsIsNoneItself) {
    Home home;
    home.add_example("x", {}, {{"enabled_tools", {"nothing"}}});
    const auto done = home.run({"call", "mcp__x__tool"});
    EXPECT_EQ(done.exit_code, 6);
    EXPECT_THAT(done.err, Not(HasSubstr("did you mean")));
}

TEST(CommandLine, ToolsAreCountedAsTheyAreListed) {
    Home home;
    home.add_example("x", {}, {{"enabled_tools", {"echo", "add"}}});
    EXPECT_EQ(json::parse(home.run({"mcp", "status", "x", "--json"}).out).at("tools"), 2);
    EXPECT_EQ(json::parse(home.run({"mcp", "status", "--json"}).out).at(0).at("tools"), 2);
}

TEST(CommandLine, APromptIsNotAskedForWithoutWhatItRequires) {
    Home home;
    home.add_example("x");
    const auto done = home.run({"prompts", "get", "greet", "style=formal"});
    EXPECT_EQ(done.exit_code, 3);
    EXPECT_EQ(done.err, "error: prompt \"greet\": required and not given: \"who\"\n");
}

TEST(CommandLine, ListsThatAreForbiddenAreDenied) {
    Home home;
    home.add_example("x");
    home.add_example("y");
    for (const char* list : {"resources", "prompts"}) {
        for (const Words& more : {Words{}, Words{"--server", "x"}}) {
            Words words{list, "list", "--set", "permissions.deny=['mcp__*']"};
            words.insert(words.end(), more.begin(), more.end());
            const auto done = home.run(words);
            EXPECT_EQ(done.exit_code, 7) << testing::PrintToString(words);
            EXPECT_THAT(done.err, HasSubstr("is denied by [permissions]"));
        }
        const auto one = home.run({list, "list", "--set", "permissions.deny=['mcp__y__*']"});
        EXPECT_EQ(one.exit_code, 0) << "the other one is not";
        EXPECT_THAT(one.err, HasSubstr("is denied by [permissions]"));
    }
}

TEST(CommandLine, SaysWhatANumberOfLinesIs) {
    Home home;
    home.add_example("x");
    for (const char* text : {"0", "-1", "x", "1.5", "99999999999999999999", ""}) {
        const auto done = home.run({"mcp", "logs", "x", "-n", text});
        EXPECT_EQ(done.exit_code, 3) << text;
        EXPECT_THAT(done.err, HasSubstr("\"" + std::string(text) +
                                        "\" is no number of lines from 1 to 1000000"));
    }
    EXPECT_EQ(home.run({"mcp", "logs", "x", "-n", "1"}).exit_code, 0);
}

TEST(CommandLine, SaysInOneLineThatAnOptionLacksItsValue) {
    for (const Words& words : {Words{"--config"}, Words{"tools", "--server"}, Words{"--set"}}) {
        const auto done = Home().run(words);
        EXPECT_EQ(done.exit_code, 3);
        EXPECT_EQ(done.out, "");
        EXPECT_THAT(done.err, StartsWith("error: " + words.back() + ": 1 required "));
        EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
    }
}

TEST(CommandLine, UsageErrorsAreJsonToo) {
    for (const Words& words :
         {Words{"--json"}, Words{"--json", "nope"}, Words{"mcp", "--json"}, Words{"--json", ""},
          Words{"tools", "--json", "--nosuch"}, Words{"call", "--json"},
          Words{"call", "mcp__x__echo", "--timeout", "x", "--json"}, Words{"--json", "--config"},
          Words{"call", "mcp__x__echo", "message=\xff", "--json"},
          Words{"mcp", "logs", "x", "-n", "0", "--json"}, Words{"batch", "nofile", "--json"},
          Words{"prompts", "get", "greet", "who", "--json"}, Words{"complete", "who=A", "--json"},
          Words{"trust", "--yes", "--json"}}) {
        const auto done = Home().run(words);
        SCOPED_TRACE(::testing::PrintToString(words));
        EXPECT_EQ(done.exit_code, 3);
        json::error_code failed;
        const auto told = json::parse(done.out, failed);
        ASSERT_FALSE(failed) << done.out;
        EXPECT_EQ(told.at_pointer("/error/kind"), "invalid");
        EXPECT_EQ(
            done.err,
            "error: " + json::value_to<std::string>(told.at_pointer("/error/message")) + "\n");
    }
}

TEST(CommandLine, SaysHowAToolIsCalled) {
    Home home;
    home.add_example("everything");
    for (const char* name : {"everything.echo", "everything/echo", "everything__echo"}) {
        const auto done = home.run({"call", name});
        EXPECT_EQ(done.exit_code, 6);
        EXPECT_THAT(done.err, HasSubstr("did you mean \"mcp__everything__echo\"?")) << name;
    }
    const auto bare = home.run({"call", "echo"});
    EXPECT_EQ(bare.exit_code, 6);
    EXPECT_THAT(bare.err, HasSubstr("tools are called mcp__SERVER__TOOL; find it with: patchbay "
                                    "tools 'echo'"));
}

TEST(CommandLine, NamesTheServersThatThereAre) {
    Home home;
    home.add_example("files");
    home.add_example("off", {}, {{"disabled", true}});
    for (const Words& words :
         {Words{"mcp", "logs", "nope"}, Words{"mcp", "status", "nope"},
          Words{"tools", "--server", "nope"}, Words{"resources", "list", "--server", "nope"}}) {
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 6);
        EXPECT_THAT(done.err, HasSubstr("no server \"nope\" is configured; known: files, off"));
    }
    EXPECT_THAT(home.run({"tools", "--server", "off"}).err, HasSubstr("\"off\" is disabled"));
}

TEST(CommandLine, HintsAtWhatAnOptionMayHaveMeant) {
    const Home home;
    const auto verbose = home.run({"-v", "tools"});
    EXPECT_EQ(verbose.exit_code, 3);
    EXPECT_THAT(verbose.err, HasSubstr("--log-level debug tells more"));
    EXPECT_THAT(home.run({"tools", "--jsno"}).err, HasSubstr("did you mean \"--json\"?"));
    EXPECT_THAT(home.run({"tools", "--scema"}).err, HasSubstr("did you mean \"--schema\"?"));
}

TEST(CommandLine, ListsWhatIsThereThoughAnotherServerIsNot) {
    Home home;
    home.add_example("good");
    home.add("dead", {{"command", "/bin/false"}});
    const auto tools = home.run({"tools"});
    EXPECT_EQ(tools.exit_code, 0);
    EXPECT_THAT(tools.out, HasSubstr("mcp__good__echo"));
    EXPECT_THAT(tools.err, HasSubstr("error: server \"dead\": "));
    const auto resources = home.run({"resources", "list"});
    EXPECT_EQ(resources.exit_code, 0);
    EXPECT_THAT(resources.err, HasSubstr("error: server \"dead\": "));
    EXPECT_EQ(home.run({"tools", "--server", "dead"}).exit_code, 5);
    EXPECT_EQ(home.run({"prompts", "list", "--server", "dead"}).exit_code, 5);
}

TEST(CommandLine, APatternIsAboutTheServersThatItNames) {
    Home home;
    home.add_example("good");
    home.add("dead", {{"command", "/bin/false"}});
    home.add_example("off", {}, {{"disabled", true}});
    const auto dead = home.run({"tools", "mcp__dead__*"});
    EXPECT_EQ(dead.exit_code, 5);
    EXPECT_THAT(dead.err, StartsWith("error: server \"dead\": "));
    const auto as_json = home.run({"tools", "mcp__dead__*", "--json"});
    EXPECT_EQ(as_json.exit_code, 5);
    EXPECT_EQ(json::parse(as_json.out).at_pointer("/error/kind"), "unavailable");
    const auto word = home.run({"tools", "nosuchthing"});
    EXPECT_EQ(word.exit_code, 0) << "of two servers one answered";
    EXPECT_THAT(word.err, AllOf(HasSubstr("error: server \"dead\": "),
                                HasSubstr("no tool matches nosuchthing")));
    const auto good = home.run({"tools", "mcp__good__e*"});
    EXPECT_EQ(good.exit_code, 0);
    EXPECT_THAT(good.out, HasSubstr("mcp__good__echo"));
    EXPECT_EQ(good.err, "") << "the dead one is not asked";
    const auto none = home.run({"tools", "mcp__good__nosuch*"});
    EXPECT_EQ(none.exit_code, 0);
    EXPECT_EQ(none.err, "no tool matches mcp__good__nosuch*\n");
    const auto off = home.run({"tools", "mcp__off__*"});
    EXPECT_EQ(off.exit_code, 6);
    EXPECT_THAT(off.err, HasSubstr("server \"off\" is disabled"));
    EXPECT_EQ(home.run({"tools", "mcp__nosuch__*"}).exit_code, 6);
    const auto lists = home.run({"prompts", "list", "--server", "dead", "--json"});
    EXPECT_EQ(lists.exit_code, 5);
    EXPECT_EQ(json::parse(lists.out).at_pointer("/error/kind"), "unavailable");
}

TEST(CommandLine, MarksToolsThatAreDenied) {
    Home home;
    home.add_example("x", {}, {{"tools", {{"echo", "deny"}, {"fail", "disable"}}}});
    const auto shown = home.run({"tools"});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_THAT(shown.out, AllOf(HasSubstr("(denied) [x] "), Not(HasSubstr("mcp__x__fail"))));
    EXPECT_EQ(shown.out.find("(denied)"), shown.out.rfind("(denied)"));
    const auto batch = home.run({"batch"}, "{\"id\":1,\"op\":\"tools/list\",\"server\":\"x\"}\n");
    const json::value listed = Lines(batch.out).answer(1);
    for (const auto& tool : listed.at_pointer("/result/tools").as_array())
        EXPECT_EQ(tool.at("level") == "deny", tool.at("tool") == "echo") << tool;
}

TEST(CommandLine, CountsNoToolsThatWereNotListed) {
    Home home;
    home.add_example("x");
    home.add("dead", {{"command", "/bin/false"}});
    const auto list = home.run({"mcp", "list"});
    EXPECT_THAT(list.out, AllOf(HasSubstr("idle   -\n"), Not(HasSubstr("0"))));
    const auto listed = json::parse(home.run({"mcp", "list", "--json"}).out);
    for (const auto& server : listed.as_array())
        EXPECT_TRUE(server.at("tools").is_null()) << server;
    const auto statuses = json::parse(home.run({"mcp", "status", "--json"}).out);
    EXPECT_TRUE(statuses.at_pointer("/0/tools").is_null()) << statuses;
    EXPECT_TRUE(statuses.at_pointer("/1/tools").is_int64()) << statuses;
    const auto batch = home.run({"batch"}, "{\"id\":1,\"op\":\"status\"}\n");
    const json::value told = Lines(batch.out).answer(1);
    EXPECT_TRUE(told.at_pointer("/result/servers/0/tools").is_null()) << batch.out;
}

TEST(CommandLine, NamesTheArgumentsOfAPromptThatThereAre) {
    Home home;
    home.add_example("x");
    for (const Words& words :
         {Words{"prompts", "get", "greet", "who=Ada", "stile=formal"},
          Words{"complete", "--prompt", "greet", "stile=f"},
          Words{"complete", "--prompt", "greet", "who=A", "--context", "stile=f"}}) {
        for (const Words& more : {Words{}, Words{"--server", "x"}}) {
            auto all = words;
            all.insert(all.end(), more.begin(), more.end());
            const auto done = home.run(all);
            EXPECT_EQ(done.exit_code, 3) << done.out;
            EXPECT_EQ(done.err,
                      "error: prompt \"greet\": unknown argument \"stile\"; did you mean "
                      "\"style\"?; known: who, style\n");
        }
    }
    EXPECT_THAT(home.run({"prompts", "get", "simple", "a=b"}).err, HasSubstr("it takes none"));
    EXPECT_THAT(home.run({"complete", "--resource", "example://item/{n}", "amount=1"}).err,
                HasSubstr("unknown argument \"amount\"; known: n"));
    EXPECT_EQ(home.run({"complete", "--resource", "example://item/{n}", "n=1"}).exit_code, 0);
    EXPECT_THAT(home.run({"prompts", "get", "greet", "--server", "nowhere"}).err,
                HasSubstr("no server \"nowhere\" is configured; known: x"));
    EXPECT_THAT(home.run({"prompts", "get", "unlisted", "a=b", "--server", "x"}).err,
                HasSubstr("Unknown prompt: unlisted"))
        << "what is not listed is asked for as it is";
}

TEST(CommandLine, KnowsTheTemplateThatAUriMayHaveComeOf) {
    Home home;
    home.add_example("x");
    const auto made = home.run({"resources", "read", "example://item/3"});
    EXPECT_EQ(made.exit_code, 6);
    EXPECT_THAT(made.err, HasSubstr("it fits the template \"example://item/{n}\" of server \"x\"; "
                                    "to read it, add --server x"));
    EXPECT_EQ(home.run({"resources", "read", "example://item/3", "--server", "x"}).exit_code, 0);
    const auto itself = home.run({"resources", "read", "example://item/{n}"});
    EXPECT_EQ(itself.exit_code, 3);
    EXPECT_THAT(itself.err, HasSubstr("write a value in place of n"));
}

TEST(CommandLine, TellsOfABrokenEntryWhereItConcernsSomebody) {
    Home home;
    home.add_example("good");
    home.add("bad", {{"command", "/bin/true"}, {"args", "no list"}});
    const auto call = home.run({"call", "mcp__good__echo", "message=hi"});
    EXPECT_EQ(call.exit_code, 0);
    EXPECT_EQ(call.err, "");
    EXPECT_EQ(home.run({"tools", "--server", "good"}).err, "");
    EXPECT_THAT(home.run({"tools"}).err, HasSubstr("\"bad\""));
    EXPECT_THAT(home.run({"tools", "-q"}).err, HasSubstr("\"bad\"")) << "an error is no warning";
    EXPECT_THAT(home.run({"mcp", "status"}).err, HasSubstr("\"bad\""));
    EXPECT_THAT(home.run({"config", "check"}).err, HasSubstr("\"bad\""));
    const auto broken = home.run({"call", "mcp__bad__x", "-q"});
    EXPECT_EQ(broken.exit_code, 4);
    EXPECT_THAT(broken.err, AllOf(HasSubstr("\"bad\""), HasSubstr("args")));
}

TEST(CommandLine, DoesNotSayThatNothingIsConfiguredWhenAnEntryIsBroken) {
    Home home;
    home.add("bad", {{"command", "/bin/true"}, {"args", "no list"}});
    for (const Words& words : {Words{"call", "mcp__other__x"}, Words{"mcp", "logs", "other"}})
        EXPECT_THAT(home.run(words).err, Not(HasSubstr("servers are configured")));
}

TEST(CommandLine, ShowsNoSecretThatAServerPrints) {
    Home home;
    home.add("talks", {{"command", "/bin/sh"},
                       {"args", json::array{"-c", "echo \"key=$API_KEY\" >&2; exit 3"}},
                       {"env", {{"API_KEY", "a-secret-value"}}}});
    const auto status = home.run({"mcp", "status", "talks"});
    const auto tools = home.run({"tools"});
    const auto logs = home.run({"mcp", "logs", "talks"});
    for (const auto* done : {&status, &tools, &logs}) {
        EXPECT_THAT(done->out + done->err, HasSubstr("key=***"));
        EXPECT_THAT(done->out + done->err, Not(HasSubstr("a-secret-value")));
    }
}

TEST(CommandLine, ShowsNoSecretThatAServerInherits) {
    Home home;
    home.environment["MY_API_KEY"] = "an-inherited-secret";
    home.environment["MY_COLOUR"] = "a-shade-of-green";
    home.add("talks",
             {{"command", "/bin/sh"},
              {"args", json::array{"-c", "echo \"key=$MY_API_KEY colour=$MY_COLOUR\" >&2; exit 3"}},
              {"pass_env", json::array{"MY_API_KEY", "MY_COLOUR", "MY_NOTHING"}}});
    const auto status = home.run({"mcp", "status", "talks"});
    EXPECT_THAT(status.out, HasSubstr("key=*** colour=a-shade-of-green"));
    EXPECT_THAT(status.out + status.err + home.run({"mcp", "logs", "talks"}).out,
                Not(HasSubstr("an-inherited-secret")));
}

TEST(CommandLine, EndsQuietlyWhenNobodyReadsItsOutput) {
    Home home;
    home.add_example("x");
    auto command = home.patchbay({});
    const std::string program = command.argv[0];
    // More than a pipe holds; the reader is gone after the first byte.
    command.argv = {
        "/bin/sh", "-c",
        "{ '" + program + "' call mcp__x__big bytes=1000000; echo code $? >&2; } | head -c 1"};
    const auto done = run(command);
    EXPECT_EQ(done.err, "code 1\n");
}

TEST(CommandLine, ToolsAreFoundByTheirDescriptionToo) {
    Home home;
    home.add_example("x");
    const auto done = home.run({"tools", "ADDS two"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, StartsWith("mcp__x__add  [x] Adds two numbers."));
    EXPECT_THAT(done.out, Not(HasSubstr("mcp__x__echo")));
}

TEST(CommandLine, BadArgumentsAreRefusedBeforeAnythingIsStarted) {
    Home home;
    const auto input = home.add_recorded("x");
    const auto done = home.run({"call", "mcp__x__add", "--args", "{\"a\":1,\"a\":2,\"b\":3}"});
    EXPECT_EQ(done.exit_code, 3);
    EXPECT_THAT(done.err, HasSubstr("--args has the key \"a\" twice in one object"));
    EXPECT_FALSE(std::filesystem::exists(input));
}

TEST(CommandLine, ErrorsAreJsonOnStdoutWhenAskedFor) {
    Home home;
    home.add_example("x");
    const auto ours = home.run({"call", "mcp__x__ecko", "--json"});
    EXPECT_EQ(ours.exit_code, 6);
    EXPECT_EQ(json::parse(ours.out).at_pointer("/error/kind"), "not_found");
    const auto theirs =
        home.run({"call", "mcp__x__rpc_error", "message=no such thing", "code=-32050", "--json"});
    EXPECT_EQ(theirs.exit_code, 1);
    EXPECT_EQ(json::parse(theirs.out).at_pointer("/error/kind"), "server");
    EXPECT_EQ(json::parse(theirs.out).at_pointer("/error/rpc/code"), -32050);
}

TEST(CommandLine, BinaryResourcesAreSavedWhereItIsSaid) {
    Home home;
    home.add_example("x");
    std::filesystem::create_directory(home.work() / "out");
    const auto done = home.run({"resources", "read", "example://blob", "--output", "out"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr("resource saved to out/resource-1."));
}

TEST(CommandLine, AThingThatIsNotListedNamesTheServersThatDidNotAnswerToo) {
    Home home;
    home.add_example("x");
    home.add("gone", {{"command", "/nonexistent/server"}});
    const auto done = home.run({"resources", "read", "example://txet"});
    EXPECT_EQ(done.exit_code, 6);
    EXPECT_THAT(done.err, AllOf(HasSubstr("did you mean \"example://text\""),
                                HasSubstr("server \"gone\": command")));
}

class Completing : public ::testing::TestWithParam<const char*> {};

TEST_P(Completing, AsksTheServerThatListsThePrompt) {
    Home home;
    home.add_example("x", {"--era", GetParam()});
    const auto done = home.run({"complete", "--prompt", "greet", "who=A"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(done.out, "Ada\nAlan\n");
    EXPECT_EQ(home.run({"complete", "who=A"}).exit_code, 3);
    EXPECT_EQ(home.run({"complete", "--prompt", "greet", "who"}).exit_code, 3);
    EXPECT_EQ(home.run({"complete", "--prompt", "great", "who=A"}).exit_code, 6);
}

INSTANTIATE_TEST_SUITE_P(, Completing, ::testing::Values("legacy", "modern"),
                         [](const auto& era) { return std::string(era.param); });

TEST(Terminal, ShowsProgressAndTakesItBackBeforeTheResult) {
    Home home;
    home.add_example("x");
    OnTerminal call(home.patchbay({"call", "mcp__x__progress", "steps=3"}));
    EXPECT_EQ(call.finish(), 0) << call.seen();
    EXPECT_THAT(call.seen(),
                AllOf(HasSubstr("\r\x1b[K3 / 3  step 3"), HasSubstr("\r\x1b[K3 steps done\r\n")));
}

TEST(Terminal, ColoursStatesUnlessAskedNotTo) {
    Home home;
    home.add_example("x");
    OnTerminal coloured(home.patchbay({"mcp", "status"}));
    EXPECT_EQ(coloured.finish(), 0);
    EXPECT_THAT(coloured.seen(), HasSubstr("\x1b[32mready\x1b[0m"));
    home.environment["NO_COLOR"] = "1";
    OnTerminal plain(home.patchbay({"mcp", "status"}));
    EXPECT_EQ(plain.finish(), 0);
    EXPECT_THAT(plain.seen(), AllOf(HasSubstr("ready"), Not(HasSubstr("\x1b[32m"))));
}

TEST(Terminal, IsNotMovedByWhatAToolSays) {
    Home home;
    home.add_example("x");
    OnTerminal call(
        home.patchbay({"call", "mcp__x__echo", "--args", R"({"message":"a\u001b[2Jb"})"}));
    EXPECT_EQ(call.finish(), 0);
    EXPECT_THAT(call.seen(), AllOf(HasSubstr("a\xef\xbf\xbd[2Jb"), Not(HasSubstr("\x1b[2J"))));
    const auto piped = home.run({"call", "mcp__x__echo", "--args", R"({"message":"a\u001b[2Jb"})"});
    EXPECT_EQ(piped.out, "a\x1b[2Jb\n");
}

TEST(Terminal, IsNotMovedByJsonThatStillSaysTheSame) {
    Home home;
    home.add_example("x");
    const Words words{"call", "mcp__x__echo", "--json", "--args",
                      R"({"message":"a\u009b2J\u202eb\udb40\udc41"})"};
    OnTerminal call(home.patchbay(words));
    EXPECT_EQ(call.finish(), 0);
    EXPECT_THAT(call.seen(), AllOf(HasSubstr(R"(a\u009b2J\u202eb\udb40\udc41)"),
                                   Not(HasSubstr("\u009b")), Not(HasSubstr("\u202e"))));
    EXPECT_THAT(home.run(words).out, HasSubstr("a\u009b2J\u202eb\U000e0041")) << "into a pipe";
}

TEST(Terminal, InterruptEndsTheReadingOfArguments) {
    Home home;
    home.add_example("x");
    OnTerminal call(home.patchbay({"call", "mcp__x__echo", "--args", "-"}));
    call.type("\x03");
    EXPECT_EQ(call.finish(), 130) << call.seen();
}

class Asked : public ::testing::TestWithParam<const char*> {
protected:
    Asked() { home.add_example("x", {"--era", GetParam()}); }
    Command ask() const {
        return home.patchbay({"--set", "client.elicitation=ask", "call", "mcp__x__ask"});
    }
    Home home;
};

TEST_P(Asked, APersonAnswersTheQuestionOfAServer) {
    OnTerminal call(ask());
    ASSERT_TRUE(call.wait_for("name [\"nobody\"]:")) << call.seen();
    call.type("Ada\n");
    ASSERT_TRUE(call.wait_for("age [30]:")) << call.seen();
    call.type("old\n");
    ASSERT_TRUE(call.wait_for("\"old\" is not an integer")) << call.seen();
    call.type("36\n");
    EXPECT_EQ(call.finish(), 0) << call.seen();
    EXPECT_THAT(call.seen(), HasSubstr(R"({"action":"accept","content":{"name":"Ada","age":36}})"));
}

TEST_P(Asked, AnEmptyLineTakesTheDefault) {
    OnTerminal call(ask());
    ASSERT_TRUE(call.wait_for("name [\"nobody\"]:")) << call.seen();
    call.type("\n\n");
    EXPECT_EQ(call.finish(), 0) << call.seen();
    EXPECT_THAT(call.seen(), HasSubstr(R"("content":{"name":"nobody","age":30})"));
}

TEST_P(Asked, CtrlDDeclinesAndCtrlCCancels) {
    OnTerminal declined(ask());
    ASSERT_TRUE(declined.wait_for("name [\"nobody\"]:")) << declined.seen();
    declined.type("\x04");
    EXPECT_EQ(declined.finish(), 0) << declined.seen();
    EXPECT_THAT(declined.seen(), HasSubstr(R"({"action":"decline"})"));
    OnTerminal cancelled(ask());
    ASSERT_TRUE(cancelled.wait_for("name [\"nobody\"]:")) << cancelled.seen();
    cancelled.type("\x03");
    EXPECT_EQ(cancelled.finish(), 130) << cancelled.seen();
}

TEST_P(Asked, WithoutATerminalTheQuestionIsDeclined) {
    auto command = ask();
    command.argv.insert(command.argv.begin(), {"/usr/bin/setsid", "--wait"});
    const auto done = run(command);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr(R"({"action":"decline"})"));
}

INSTANTIATE_TEST_SUITE_P(, Asked, ::testing::Values("legacy", "modern"),
                         [](const auto& era) { return std::string(era.param); });

// Whatever is in flight then has somebody to tell; sanitizers see when it has not.
class InterruptedWhileConnecting : public ::testing::TestWithParam<Words> {};

TEST_P(InterruptedWhileConnecting, EndsWith130AndLeavesNothing) {
    Home home;
    const auto input = home.add_recorded("x", {"--era", "legacy", "--slow-start", "3600000"});
    Program program(home.patchbay(GetParam()));
    ASSERT_TRUE(wait_for_file(input, "server/discover")) << program.err();
    program.signal(SIGINT);
    const auto done = program.finish();
    EXPECT_EQ(done.exit_code, 130) << done.err;
    EXPECT_THAT(done.err, Not(HasSubstr("Sanitizer")));
    EXPECT_EQ(nothing_left(), "");
}

INSTANTIATE_TEST_SUITE_P(, InterruptedWhileConnecting,
                         ::testing::Values(Words{"mcp", "status"}, Words{"mcp", "status", "x"},
                                           Words{"tools"},
                                           Words{"call", "mcp__x__echo", "message=hi"},
                                           Words{"resources", "list"},
                                           Words{"resources", "read", "a://b"},
                                           Words{"resources", "read", "a://b", "--server", "x"},
                                           Words{"prompts", "get", "greet"},
                                           Words{"complete", "--prompt", "greet", "who=A"}),
                         [](const auto& words) {
                             std::string name = std::to_string(words.index);
                             for (const auto& word : words.param) {
                                 name += '_';
                                 for (const char c : word)
                                     if (std::isalnum(static_cast<unsigned char>(c))) name += c;
                             }
                             return name;
                         });

}  // namespace
}  // namespace patchbay::test
