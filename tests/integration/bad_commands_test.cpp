// Programs and addresses that cannot be started or reached: each is named, with what was tried.
#include "integration/home.hpp"

namespace patchbay::test {
namespace {

namespace fs = std::filesystem;

TEST(BadCommands, ACommandThatIsNotThereIsNamedWithWhereWasLooked) {
    Home home;
    home.add("bad", {{"command", "no-such-command"}});
    home.add_example("good");
    const auto done = home.run({"call", "mcp__bad__x"});
    EXPECT_EQ(done.exit_code, 5);
    EXPECT_THAT(
        done.err,
        HasSubstr(
            "server \"bad\": command \"no-such-command\" not found in the 2 folders of PATH"));
    EXPECT_EQ(home.run({"call", "mcp__good__echo", "message=hi"}).out, "hi\n");
}

TEST(BadCommands, SecretsAmongItsArgumentsAreNotTold) {
    Home home;
    home.add("bad", {{"command", "no-such-command --api-key value-of-a-server"}});
    const auto done = home.run({"call", "mcp__bad__x"});
    EXPECT_EQ(done.exit_code, 5);
    EXPECT_THAT(done.err, HasSubstr("command \"no-such-command --api-key ***\" not found"));
}

TEST(BadCommands, SecretsAmongTheArgumentsOfAnAuthTableAreNotTold) {
    Home home;
    home.write(home.user_config() / "config.toml", R"(
[auth.corp]
kind = "bearer"
command = ["sh", "-c", "echo \"was given $1\" >&2; exit 3", "--password", "value-of-a-table"]
[servers.bad]
url = "http://127.0.0.1:1/mcp"
auth = "corp"
)");
    const auto done = home.run({"call", "mcp__bad__x"});
    EXPECT_THAT(done.err, HasSubstr("stderr: was given ***"));
}

TEST(BadCommands, ACommandThatIsNotThereLeadsToTheNextTransportAndEachSaysWhy) {
    Home home;
    home.add("two", {{"command", "no-such-command"},
                     {"url", "http://127.0.0.1:1/mcp"},
                     {"transport", "stdio"},
                     {"fallback", {"http"}}});
    const auto done = home.run({"call", "mcp__two__x"});
    EXPECT_EQ(done.exit_code, 5);
    EXPECT_THAT(done.err, HasSubstr("command \"no-such-command\" not found in the 2 folders"));
    EXPECT_THAT(done.err, HasSubstr("; http: "));
    EXPECT_THAT(done.err, HasSubstr("127.0.0.1:1"));
}

TEST(BadCommands, AFileThatIsNotExecutableIsCalledSo) {
    Home home;
    const auto file = home.write("server.sh", "#!/bin/sh\n");
    home.add("bad", {{"command", file}});
    const auto done = home.run({"call", "mcp__bad__x"});
    EXPECT_EQ(done.exit_code, 5);
    EXPECT_THAT(done.err, HasSubstr("server \"bad\": command \"" + file + "\" is not executable"));
}

TEST(BadCommands, AFileThatTheSystemCannotRunIsCalledSo) {
    Home home;
    const auto file = home.write("server",
                                 "\x7f"
                                 "ELF but not much of it");
    fs::permissions(file, fs::perms::owner_all);
    home.add("bad", {{"command", file}});
    const auto done = home.run({"call", "mcp__bad__x"});
    EXPECT_EQ(done.exit_code, 5);
    EXPECT_THAT(done.err, AllOf(HasSubstr("server \"bad\": "), HasSubstr(file)));
    EXPECT_EQ(nothing_left(), "");
}

TEST(BadCommands, AVariableThatIsNotSetIsNamed) {
    Home home;
    home.add("bad", {{"command", example_server()}, {"env", {{"TOKEN", "${NOT_SET_ANYWHERE}"}}}});
    const auto done = home.run({"call", "mcp__bad__x"});
    EXPECT_EQ(done.exit_code, 5);
    EXPECT_THAT(done.err, AllOf(HasSubstr("server \"bad\": "), HasSubstr("NOT_SET_ANYWHERE")));
}

TEST(BadCommands, APortWhereNobodyListensIsGivenUpInTime) {
    Home home;
    home.add("bad", {{"transport", "tcp"}, {"port", 1}, {"startup_timeout_sec", 1}});
    const auto done = home.run({"call", "mcp__bad__x"});
    EXPECT_EQ(done.exit_code, 5) << done.err;
    EXPECT_THAT(done.err,
                HasSubstr("server \"bad\": not connected within 1 s (startup_timeout_sec): "
                          "cannot connect to 127.0.0.1:1: Connection refused"));
}

TEST(BadCommands, APortWhereNobodyListensIsNamedWhenTheAttemptsAreUsedUp) {
    Home home;
    home.add("bad", {{"transport", "tcp"}, {"port", 1}});
    const auto done = home.run({"call", "mcp__bad__x"});
    EXPECT_EQ(done.exit_code, 5) << done.err;
    EXPECT_THAT(
        done.err,
        HasSubstr(
            "server \"bad\": cannot connect to 127.0.0.1:1 (5 attempts): Connection refused"));
}

}  // namespace
}  // namespace patchbay::test
