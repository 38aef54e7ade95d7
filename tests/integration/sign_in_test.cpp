// Signing in as a person does it: the real program, a real authorization server (npm
// oidc-provider), a scripted browser.
#include "integration/sign_in.hpp"

#include "support/scripted_http.hpp"

#include <csignal>
#include <fstream>
#include <sys/stat.h>

namespace patchbay::test {
namespace {

TEST_F(SignIn, IsMissedByAStatusAsByACall) {
    start();
    for (const auto& words : {Words{"mcp", "status"}, Words{"mcp", "status", "guarded"}}) {
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 5) << done.err;
        EXPECT_THAT(done.out, HasSubstr("auth_required"));
    }
}

TEST_F(SignIn, LastsUntilSomebodySignsOut) {
    start();
    const auto refused = call("who");
    EXPECT_EQ(refused.exit_code, 5);
    EXPECT_THAT(refused.err, HasSubstr("patchbay mcp login guarded")) << "what to do next";

    const auto signed_in = login();
    ASSERT_EQ(signed_in.exit_code, 0) << signed_in.err;
    EXPECT_THAT(signed_in.out, HasSubstr("signed in to \"guarded\" at " + peer->origin()));
    EXPECT_THAT(call("who").out, HasSubstr("who: alice"));
    EXPECT_THAT(call("who").out, HasSubstr("who: alice")) << "in a process of its own";
    EXPECT_EQ(stats().at("unauthorized"), 2)
        << "the token is sent with the first request: only the "
           "refused call and the look before the login met a 401";

    const auto who = home.run({"mcp", "auth"});
    EXPECT_THAT(who.out, AllOf(HasSubstr("guarded"), HasSubstr(peer->origin())));
    const auto& secrets = record();
    for (const char* secret : {"access_token", "refresh_token"}) {
        const std::string value(secrets.at(secret).as_string());
        for (const auto& words : std::vector<Words>{{"mcp", "auth"}, {"mcp", "auth", "--json"}}) {
            const auto told = home.run(words);
            EXPECT_THAT(told.out + told.err, Not(HasSubstr(value)));
        }
        const auto traced = home.run({"call", "mcp__guarded__who", "--log-level", "trace"});
        EXPECT_THAT(traced.out + traced.err, Not(HasSubstr(value)));
    }

    const auto out = home.run({"mcp", "logout", "guarded"});
    EXPECT_EQ(out.exit_code, 0) << out.err;
    EXPECT_EQ(out.out, "signed out of \"guarded\"\n");
    EXPECT_EQ(call("who").exit_code, 5);
    EXPECT_EQ(read_file(store()).find("guarded"), std::string::npos);
    EXPECT_EQ(stats().at("logins"), 1);
}

TEST_F(SignIn, StartsABrowserThatSharesNothingWithIt) {
    start();
    const auto browser = home.write("browser",
                                    "#!/bin/sh\necho noise\necho noise >&2\ncat\n"
                                    "cut -d ' ' -f 1,6 /proc/$$/stat >seen\n"
                                    "grep -E '^Sig(Blk|Ign)' /proc/self/status >>seen\n"
                                    "[ $# = 3 ] && exec " +
                                        home.environment["BROWSER"] + " \"$2\"\n");
    std::filesystem::permissions(browser, std::filesystem::perms::owner_all);
    home.environment["BROWSER"] = browser + "  --new %s --last:other";
    const auto done = login();
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out + done.err, Not(HasSubstr("noise")));
    std::ifstream seen(home.work() / "seen");
    std::string pid, session, word, blocked, ignored;
    seen >> pid >> session >> word >> blocked >> word >> ignored;
    EXPECT_EQ(session, pid) << "Ctrl-C at our terminal is not for it";
    EXPECT_EQ(blocked, std::string(16, '0'));
    EXPECT_EQ(std::stoull(ignored, nullptr, 16) & 1u << (SIGPIPE - 1), 0u) << ignored;
}

TEST_F(SignIn, IsNoneWhenItCannotBeStored) {
    start();
    for (const bool before : {false, true}) {
        SCOPED_TRACE(before ? "an older one stays" : "there is none");
        if (before) {
            ASSERT_EQ(login().exit_code, 0);
        }
        auto command = home.patchbay({"mcp", "login", "guarded"});
        command.argv = {"/bin/sh", "-c",
                        "ulimit -f 0; exec '" + command.argv[0] + "' mcp login guarded"};
        const auto done = run(command);
        EXPECT_EQ(done.exit_code, 1) << done.out;
        EXPECT_THAT(done.err, AllOf(HasSubstr("the login is not kept"),
                                    HasSubstr("the login could not be stored")));
        EXPECT_EQ(done.out, "");
    }
}

TEST_F(SignIn, AgainIsOneTooWhateverTheOlderOneLooksLike) {
    start();
    for (int i = 0; i < 3; ++i) {
        const auto done = login();
        EXPECT_EQ(done.exit_code, 0) << done.err;
    }
    EXPECT_EQ(stats().at("logins"), 3);
}

TEST_F(SignIn, IsRenewedWithoutAPersonWhenTheTokenHasExpired) {
    start();
    ASSERT_EQ(login().exit_code, 0);
    const auto before = record();
    for (int i = 0; i < 3; ++i) {
        expire();
        const auto called = call("who");
        EXPECT_THAT(called.out, HasSubstr("who: alice")) << called.err;
    }
    EXPECT_EQ(stats().at("refreshes"), 3);
    EXPECT_EQ(stats().at("reuses"), 0);
    EXPECT_EQ(stats().at("logins"), 1);
    EXPECT_NE(record().at("refresh_token"), before.at("refresh_token"));
}

TEST_F(SignIn, AsksForMoreWhenAToolNeedsIt) {
    start();
    ASSERT_EQ(login({"--scope", "mcp:read"}).exit_code, 0);
    const auto refused = call("admin");
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_THAT(refused.err,
                AllOf(HasSubstr("mcp:write"), HasSubstr("patchbay mcp login guarded")));
    EXPECT_THAT(call("who").out, HasSubstr("alice")) << "the smaller login is still good";

    const auto batch = home.run({"batch", "--sign-in"},
                                R"({"id":1,"op":"tools/call","name":"mcp__guarded__admin"})");
    EXPECT_THAT(Lines(batch.out).text(1), AllOf(HasSubstr("mcp:read"), HasSubstr("mcp:write")))
        << batch.out << batch.err;
}

TEST_F(SignIn, WorksWithoutABrowserByPastingTheRedirect) {
    start();
    auto command = home.patchbay({"mcp", "login", "guarded", "--no-browser"});
    Program program(command);
    ASSERT_TRUE(program.wait_until([&] {
        return program.err().find("Paste it here:") != std::string::npos;
    })) << program.err();
    const auto from = program.err().find(peer->origin() + "/");
    const auto url = program.err().substr(from, program.err().find('\n', from) - from);
    // As far as a browser elsewhere gets: up to the address that cannot be reached.
    Command elsewhere;
    elsewhere.argv = {kNode, std::string(PATCHBAY_SOURCE_DIR) + "/tests/servers/oidc/browser.mjs",
                      "--stop-at", "/callback", url};
    const auto visited = run(elsewhere);
    ASSERT_THAT(visited.out, HasSubstr("/callback?")) << visited.err;
    program.send(visited.out);
    const auto outcome = program.finish();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(call("who").out, HasSubstr("alice"));
}

TEST_F(SignIn, NeedsAPersonAgainOnlyAfterTheServerHasRevokedIt) {
    start();
    ASSERT_EQ(login().exit_code, 0);
    fetch("/revoke", "POST");
    const auto refused = call("who");
    EXPECT_EQ(refused.exit_code, 5);
    EXPECT_THAT(refused.err, HasSubstr("patchbay mcp login guarded"));
    EXPECT_THAT(home.run({"mcp", "auth"}).out, HasSubstr("ended; patchbay mcp login guarded"));
    ASSERT_EQ(login().exit_code, 0);
    EXPECT_THAT(home.run({"mcp", "auth"}).out, Not(HasSubstr("ended")));
    EXPECT_THAT(call("who").out, HasSubstr("alice"));
}

TEST_F(SignIn, IsRefusedWhereOthersCouldReadIt) {
    start();
    ASSERT_EQ(login().exit_code, 0);
    ::chmod(store().c_str(), 0644);
    const auto told = home.run({"mcp", "auth"});
    EXPECT_NE(told.exit_code, 0);
    EXPECT_THAT(told.err, HasSubstr("chmod 600"));
    ::chmod(store().c_str(), 0600);
    EXPECT_THAT(call("who").out, HasSubstr("alice"));
}

TEST_F(SignIn, SaysWhatIsWrongWithAWrongName) {
    start();
    const auto wrong = home.run({"mcp", "login", "gaurded"});
    EXPECT_EQ(wrong.exit_code, 6);
    EXPECT_THAT(wrong.err, HasSubstr("did you mean \"guarded\""));
}

TEST(SigningIn, IsNotNeededWhereTheServerAnswersWithoutIt) {
    const ScriptedHttp open([](const ScriptedHttp::Request& request) {
        const bool found = request.is("POST") && request.has(" /mcp ");
        return ScriptedHttp::Answer{
            found ? ScriptedHttp::json(R"({"jsonrpc":"2.0","id":1,"result":{}})")
                  : ScriptedHttp::empty("404 Not Found")};
    });
    Home home;
    const auto origin = open.origin();
    home.add("free", {{"url", origin + "/mcp"}});
    home.add("elsewhere", {{"url", origin + "/mpc"}});
    const auto told = home.run({"mcp", "login", "free"});
    EXPECT_EQ(told.exit_code, 0) << told.err;
    EXPECT_EQ(told.out, "server \"free\" answers without a sign-in; there is nothing to do\n");
    EXPECT_EQ(home.run({"mcp", "login", "free", "--json"}).out,
              "{\"server\":\"free\",\"signed_in\":false}\n");
    const auto wrong = home.run({"mcp", "login", "elsewhere"});
    EXPECT_NE(wrong.exit_code, 0);
    EXPECT_THAT(wrong.err, HasSubstr("it answers 404 to an MCP request and offers no sign-in; is "
                                     "this the URL of an MCP server?"));
}

TEST(SigningIn, OfAProgramAdvisesWhatWorks) {
    Home home;
    home.add_example("program");
    EXPECT_THAT(
        home.run({"mcp", "login", "program"}).err,
        HasSubstr("oauth is for servers behind a URL; a program gets its token in a variable "
                  "of its environment: auth = \"NAME\" in the server, and a table "
                  "[auth.NAME] with kind = \"bearer\", token = \"${TOKEN}\" and env = "
                  "\"VARIABLE\""));
    home.add_example("program", {}, {{"auth", "NAME"}});
    home.write(home.user_config() / "config.toml",
               "[auth.NAME]\nkind = \"bearer\"\ntoken = \"${TOKEN}\"\nenv = \"VARIABLE\"\n");
    const auto checked = home.run({"config", "check"});
    EXPECT_EQ(checked.exit_code, 0) << checked.err;
}

TEST(SigningIn, SaysOnceWhichServerThereIsNot) {
    Home home;
    home.add("web", {{"url", "http://127.0.0.1:1/mcp"}});
    home.add("bad", {{"url", "http://127.0.0.1:1/mcp"}, {"headers", 7}});
    for (const char* verb : {"login", "logout"}) {
        const auto none = home.run({"mcp", verb, "wbe"});
        EXPECT_EQ(none.exit_code, 6);
        EXPECT_EQ(none.err,
                  "error: no server \"wbe\" is configured; did you mean \"web\"? Known: bad, "
                  "web\n");
        const auto broken = home.run({"mcp", verb, "bad"});
        EXPECT_EQ(broken.exit_code, 4);
        EXPECT_THAT(broken.err, AllOf(HasSubstr("headers"), Not(HasSubstr("is configured"))));
    }
}

TEST(SigningIn, EndsWith5WhenTheServerIsAway) {
    Home home;
    home.add("web", {{"url", "http://127.0.0.1:1/mcp"}});
    const auto away = home.run({"mcp", "login", "web"});
    EXPECT_EQ(away.exit_code, 5);
    EXPECT_THAT(away.err, AllOf(HasSubstr("server \"web\": "), HasSubstr("Connection refused")));
}

TEST(SigningIn, GoesTheWayOfItsServerUnlessItHasOneOfItsOwn) {
    Home home;
    home.add("web", {{"url", "https://127.0.0.1:1/mcp"}, {"proxy", "http://127.0.0.1:2"}});
    home.add("own", {{"url", "https://127.0.0.1:1/mcp"},
                     {"proxy", "http://127.0.0.1:2"},
                     {"oauth", {{"proxy", "http://127.0.0.1:3"}}}});
    EXPECT_THAT(home.run({"mcp", "login", "web"}).err,
                HasSubstr("cannot connect to the proxy 127.0.0.1 (127.0.0.1:2)"));
    EXPECT_THAT(home.run({"mcp", "login", "own"}).err,
                HasSubstr("cannot connect to the proxy 127.0.0.1 (127.0.0.1:3)"));
}

TEST(SigningIn, SaysThatThereWasNothingToSignOutOf) {
    Home home;
    home.add("web", {{"url", "http://127.0.0.1:1/mcp"}});
    const auto told = home.run({"mcp", "logout", "web"});
    EXPECT_EQ(told.exit_code, 0) << told.err;
    EXPECT_EQ(told.out, "nobody was signed in to \"web\"\n");
    EXPECT_EQ(home.run({"mcp", "logout", "web", "--json"}).out,
              "{\"server\":\"web\",\"signed_in\":false,\"was_signed_in\":false}\n");
}

// As if somebody had signed in to each of these servers.
std::filesystem::path keep_records(Home& home, const Words& servers) {
    json::object records;
    for (const auto& server : servers) records[server] = {{"plugin", "auth_oauth"}};
    const auto file = home.root() / "state/patchbay/mcp-auth.json";
    home.write(file, json::serialize(json::object{{"version", 1}, {"servers", records}}));
    ::chmod(file.c_str(), 0600);
    ::chmod(file.parent_path().c_str(), 0700);
    return file;
}

TEST(SigningIn, SigningOutNeedsNoApproval) {
    Home home;
    const auto kept = keep_records(home, {"theirs"});
    home.write(".mcp.json", R"({"mcpServers": {"theirs": {"url": "http://127.0.0.1:9/mcp"}}})");
    const auto out = home.run({"mcp", "logout", "theirs"});
    EXPECT_EQ(out.exit_code, 0) << out.err;
    EXPECT_EQ(out.out, "signed out of \"theirs\"\n");
    EXPECT_THAT(out.err, HasSubstr("warning: server \"theirs\" was not told: its definition is not "
                                   "approved\n"));
    EXPECT_EQ(read_file(kept).find("theirs"), std::string::npos);
    const auto again = home.run({"mcp", "logout", "theirs"});
    EXPECT_EQ(again.exit_code, 0);
    EXPECT_EQ(again.out, "nobody was signed in to \"theirs\"\n");
    EXPECT_EQ(again.err, "") << "there was nothing to tell it";
}

TEST(SigningIn, QuietlySigningOutWarnsOfNothing) {
    Home home;
    const auto kept = keep_records(home, {"gone", "past"});
    const auto told = home.run({"mcp", "logout", "gone"});
    EXPECT_EQ(told.exit_code, 0);
    EXPECT_THAT(told.err,
                HasSubstr("warning: server \"gone\" was not told: no definition of it is in "
                          "force\n"));
    const auto quiet = home.run({"-q", "mcp", "logout", "past"});
    EXPECT_EQ(quiet.out, "signed out of \"past\"\n");
    EXPECT_EQ(quiet.err, "");
    keep_records(home, {"past"});
    EXPECT_THAT(home.run({"-q", "--log-level", "warn", "mcp", "logout", "past"}).err,
                HasSubstr("was not told"))
        << "what is asked for by name is told";
}

// ---- configured credentials

TEST(ConfiguredCredentials, ReachAProgramInItsEnvironment) {
    Home home;
    home.environment["GIVEN"] = "t0ken-for-a-program";
    home.write(".patchbay/config.toml", R"(
[auth.mine]
kind = "bearer"
token = "${GIVEN}"
env = "API_TOKEN"
[servers.program]
command = "sh"
args = ["-c", "echo given=$GIVEN token=$API_TOKEN >&2; exit 3"]
auth = "mine"
)");
    EXPECT_EQ(home.run({"trust", "auth.mine", "program", "--yes"}).exit_code, 0);
    const auto told = home.run({"mcp", "status", "program", "--log-level", "trace"});
    EXPECT_THAT(told.out + told.err, HasSubstr("given= token=***"));
    EXPECT_THAT(told.out + told.err, Not(HasSubstr("t0ken-for-a-program")));
}

TEST(ConfiguredCredentials, NeedNoSignIn) {
    Home home;
    const auto file = home.write(home.user_config() / "config.toml", R"(
[auth.mine]
kind = "bearer"
token = "x"
[servers.table]
url = "http://127.0.0.1:1/mcp"
auth = "mine"
[servers.variable]
url = "http://127.0.0.1:1/mcp"
bearer_token_env_var = "MY_TOKEN"
[servers.header]
url = "http://127.0.0.1:1/mcp"
headers = { authorization = "Bearer x" }
[servers.none]
url = "http://127.0.0.1:1/mcp"
auth = "none"
[servers.both]
url = "http://127.0.0.1:1/mcp"
auth = "oauth"
bearer_token_env_var = "MY_TOKEN"
)");
    home.environment["MY_TOKEN"] = "x";
    for (const auto& [server, where] : std::map<std::string, std::string>{
             {"table", "its token is set where it has auth \"mine\", a bearer token (user config " +
                           file + ":2:7)"},
             {"variable",
              "its token is the variable MY_TOKEN, by bearer_token_env_var (user "
              "config " +
                  file + ":8:10)"},
             {"header", "its headers say Authorization (user config " + file + ":11:10)"},
             {"none", "auth = \"none\" (user config " + file + ":14:10)"}}) {
        const auto told = home.run({"mcp", "login", server});
        EXPECT_EQ(told.exit_code, 3) << server;
        EXPECT_EQ(told.out, "");
        EXPECT_EQ(told.err, "error: server \"" + server +
                                "\": there is nothing to sign in to: " + where + "\n");
    }
    EXPECT_EQ(home.run({"mcp", "login", "both"}).exit_code, 5) << "it says that it signs in";
}

TEST(ConfiguredCredentials, AreJudgedBeforeAServerIsConnected) {
    Home home;
    home.write(home.user_config() / "config.toml", R"(
[auth.typo]
kind = "baerer"
[auth.wrong]
kind = "bearer"
tokn = "x"
[servers.a]
url = "https://example.com/a"
auth = "typo"
[servers.b]
url = "https://example.com/b"
auth = "wrong"
[servers.c]
url = "https://example.com/c"
auth = "wrnog"
[servers.d]
command = "x"
oauth = { client_id = "y" }
[servers.e]
url = "https://example.com/e"
oauth = { client_idd = "y" }
)");
    const auto told = home.run({"config", "check"});
    EXPECT_THAT(told.err, HasSubstr("server \"a\": auth \"typo\": unknown auth method \"baerer\""));
    EXPECT_THAT(told.err, HasSubstr("did you mean \"bearer\""));
    EXPECT_THAT(told.err, HasSubstr("server \"b\": auth \"wrong\""));
    EXPECT_THAT(told.err, HasSubstr("tokn"));
    EXPECT_THAT(told.err, HasSubstr("did you mean \"wrong\""));
    EXPECT_THAT(told.err, HasSubstr("server \"d\": oauth: oauth is for servers behind a URL"));
    EXPECT_THAT(told.err, HasSubstr("client_idd"));
}

TEST(Secrets, StayOutOfCoreFiles) {
    Home home;
    home.add("program", {{"command", "cat"}, {"args", {"/proc/self/coredump_filter"}}});
    Program batch(home.patchbay({"batch"}));
    batch.send("{\"id\":1,\"op\":\"tools/list\",\"server\":\"program\"}\n");
    ASSERT_TRUE(batch.wait_for_out("\"id\":1"));
    const auto filter = read_file("/proc/" + std::to_string(batch.pid()) + "/coredump_filter");
    EXPECT_EQ(filter, "00000000\n");
    batch.finish();
    EXPECT_THAT(home.run({"mcp", "logs", "program"}).out, HasSubstr("00000033"))
        << "a server's own are its own affair";
}

}  // namespace
}  // namespace patchbay::test
