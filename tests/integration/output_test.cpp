// What becomes of output: printed, saved, as JSON, without secrets, or lost.
#include "integration/home.hpp"

namespace patchbay::test {
namespace {

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

// A log that is full, or a file that may not grow, is no reason to end: beyond RLIMIT_FSIZE the system
// sends a signal that does.
TEST(CommandLine, ALimitOfTheSizeOfFilesIsAnErrorOfWhatIsWrittenAlone) {
    Home home;
    home.add_example("x", {"--stderr-noise"});
    home.write(".mcp.json", R"({"mcpServers": {"p": {"command": "sh"}}})");
    struct Case {
        const char *words, *into;
        int exit_code;
        const char *out, *err;
    };
    const Case cases[] = {
        {"call mcp__x__echo message=hi", "", 0, "hi\n", ""},
        {"batch", "", 0, "\"ok\":true", ""},
        {"trust p --yes", "", 1, "", "File too large"},
        {"config show", "> shown", 1, "", "error: cannot write to stdout: File too large\n"},
    };
    for (const auto& c : cases) {
        auto command = home.patchbay({}, "{\"id\":1,\"op\":\"ping\",\"server\":\"x\"}\n");
        command.argv = {"/bin/sh", "-c",
                        "ulimit -f 0; exec '" + command.argv[0] + "' " + c.words + " " + c.into};
        const auto done = run(command);
        EXPECT_EQ(done.exit_code, c.exit_code) << c.words << ": " << done.err;
        EXPECT_THAT(done.out, HasSubstr(c.out)) << c.words;
        EXPECT_THAT(done.err, HasSubstr(c.err)) << c.words;
    }
    EXPECT_EQ(nothing_left(), "");
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
    EXPECT_EQ(done.err, "code 141\n");
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

TEST(CommandLine, BinaryResourcesAreSavedWhereItIsSaid) {
    Home home;
    home.add_example("x");
    std::filesystem::create_directory(home.work() / "out");
    const auto done = home.run({"resources", "read", "example://blob", "--output", "out"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr("resource saved to out/resource-1."));
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
    home.environment["MY_DB"] = "postgres://app:an-inherited-secret@db/x";
    home.environment["MY_PROXY"] = "http://app:an-inherited-secret@proxy";
    const std::map<std::string, std::string> unnamed = {
        {"DB_PW", "dbpwpw77"},
        {"MYCRED", "credpass77"},
        {"PIN", "998877"},
        {"SMTP_LOGIN", "joe:smtppass77"},
        {"JDBC", "jdbc:oracle:thin:scott/tigerpw99@//h"}};
    for (const auto& [name, value] : unnamed) home.environment[name] = value;
    home.add("talks",
             {{"command", "/bin/sh"},
              {"args", json::array{"-c",
                                   "echo \"key=$MY_API_KEY colour=$MY_COLOUR db=$MY_DB "
                                   "proxy=$MY_PROXY $DB_PW, $MYCRED, $PIN, "
                                   "$${SMTP_LOGIN#joe:}, $${JDBC%@*}\" >&2; exit 3"}},
              {"pass_env", json::array{"MY_API_KEY", "MY_COLOUR", "MY_DB", "MY_PROXY", "DB_PW",
                                       "MYCRED", "PIN", "SMTP_LOGIN", "JDBC", "MY_NOTHING"}}});
    const auto status = home.run({"mcp", "status", "talks"});
    EXPECT_THAT(status.out,
                HasSubstr("key=*** colour=a-shade-of-green db=*** proxy=http://app:***@proxy"));
    const auto told = status.out + status.err + home.run({"mcp", "logs", "talks"}).out;
    EXPECT_THAT(told, HasSubstr("***, ***, ***, ***, jdbc:oracle:thin:scott/***"));
    for (const auto* secret :
         {"an-inherited-secret", "dbpwpw77", "credpass77", "998877", "smtppass77", "tigerpw99"})
        EXPECT_THAT(told, Not(HasSubstr(secret)));
}

}  // namespace
}  // namespace patchbay::test
