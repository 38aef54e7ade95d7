// `patchbay serve` as [gateway] of the configuration says it: where it listens, who may come in, and who
// may say so.
#include "integration/door_fixture.hpp"
#include "integration/mcp_client.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace patchbay::test {
namespace {

class ServeConfig : public DoorTest {
protected:
    std::string say(const std::string& keys) {
        const auto file = home.user_config() / "config.toml";
        std::filesystem::create_directories(home.user_config());
        std::ofstream(file) << "[gateway]\n" << keys;
        return file.string();
    }
};

TEST_F(ServeConfig, ItListensWhereTheFileSaysAndAsksWhoComes) {
    const auto token = give_token("laptop");
    const auto file = say("http = '127.0.0.1:0'\nauth = 'token'\nallow_host = ['mcp.example']\n");
    run({"serve"});
    EXPECT_EQ(status({}), 401);
    auto named = with(token);
    EXPECT_EQ(status(named), 200);
    named.emplace_back("Host", "mcp.example");
    EXPECT_EQ(status(named), 200);
    EXPECT_THAT(end(), AllOf(HasSubstr("over HTTP, as user config " + file + ":2:1 says"),
                             HasSubstr("patchbay serve --stdio")));
}

TEST_F(ServeConfig, WhoEditsAFileIsToldThatItCountsLater) {
    say("http = '127.0.0.1:0'\n");
    run({"serve", "--public-url", "https://mcp.example/mcp"});
    EXPECT_EQ(status({{"Origin", "https://app.example"}}), 403);
    say("http = '127.0.0.1:0'\nallow_origin = ['https://app.example']\n");
    EXPECT_TRUE(program_->wait_until([&] {
        return program_->err().find("it counts when this is started anew") != std::string::npos;
    })) << program_->err();
    EXPECT_EQ(status({{"Origin", "https://app.example"}}), 403);
    EXPECT_THAT(end(), HasSubstr("clients outside know it as https://mcp.example/mcp\n"));
}

// Claude Code writes its file all the time, and seldom for a server.
TEST_F(ServeConfig, OfAFollowedFileOnlyWhatComesOfItIsAChange) {
    say("http = '127.0.0.1:0'\n[import]\nfollow = ['claude']\n");
    const auto theirs = home.root() / ".claude.json";
    const auto write = [&](const std::string& starts, const std::string& servers) {
        const auto fresh = theirs.string() + ".new";
        std::ofstream(fresh) << "{\n" << starts << "\"mcpServers\": {" << servers << "}}\n";
        std::filesystem::rename(fresh, theirs);
    };
    write("\"numStartups\": 1,\n", "\"a\": {\"command\": \"cat\"}");
    run({"serve"});
    write("\"numStartups\": 2,\n\"tips\": [],\n", "\"a\": {\"command\": \"cat\"}");
    EXPECT_EQ(status({}), 200);
    write("\"numStartups\": 3,\n", "\"a\": {\"command\": \"cat\"}, \"b\": {\"command\": \"cat\"}");
    EXPECT_TRUE(program_->wait_until([&] {
        return program_->err().find("has changed (start b); it counts when") != std::string::npos;
    })) << program_->err();
    end();
}

TEST_F(ServeConfig, AnOptionCountsBeforeTheFile) {
    say("http = '127.0.0.1:1'\nauth = 'token'\nsse = true\nmetrics = '127.0.0.1:0'\n");
    run({"serve", "--http", "127.0.0.1:0", "--auth", "none"});
    EXPECT_EQ(status({}), 200);
    EXPECT_THAT(end(), AllOf(HasSubstr("/sse\n"), HasSubstr("metrics: http://127.0.0.1:")));
}

TEST_F(ServeConfig, AClientThatStartsItIsServedOverStdioAllTheSame) {
    home.add_example("x");
    say("http = '127.0.0.1:1'\nauth = 'token'\nmetrics = '127.0.0.1:1'\n");
    McpClient mcp(home, false, "{}", {"--stdio"});
    mcp.greet();
    EXPECT_TRUE(mcp.call("mcp__x__echo", R"({"text":"hi"})").contains("result"));
    EXPECT_EQ(mcp.finish().exit_code, 0);
}

TEST_F(ServeConfig, WithoutAnAddressThatCanBeUsedItSaysThatItServesOverStdio) {
    say("auth = 'token'\n");
    EXPECT_THAT(home.run({"serve"}).err, HasSubstr("warning: this serves over stdio"));
    EXPECT_THAT(home.run({"serve", "--stdio"}).err, Not(HasSubstr("over stdio")));
    say("approvals = 'asks'\n");
    const auto of_all = home.run({"serve"});
    EXPECT_EQ(of_all.exit_code, 0);
    EXPECT_THAT(of_all.err, Not(HasSubstr("over stdio"))) << "it says nothing of where to listen";
    say("host_tools = true\n");
    EXPECT_THAT(home.run({"serve"}).err, Not(HasSubstr("over stdio")));
    home.write(".mcp.toml", "[gateway]\nhttp = '127.0.0.1:0'\n");
    EXPECT_THAT(home.run({"serve"}).err, HasSubstr("warning: this serves over stdio"))
        << "in a file of a project it does not count";
}

TEST_F(ServeConfig, WhoMeansToListenIsNotServedOverStdioForAFault) {
    for (const char* keys : {"htp = '127.0.0.1:0'\n", "htpp = '127.0.0.1:0'\n", "http = 8808\n",
                             "approvals = 'asks'\nhttp = 8808\n"}) {
        const auto file = say(keys);
        const auto done = home.run({"serve"});
        EXPECT_EQ(done.exit_code, 4) << keys;
        EXPECT_THAT(done.err, AllOf(HasSubstr(file), HasSubstr("say --http or --stdio"))) << keys;
        EXPECT_EQ(home.run({"serve", "--stdio"}).exit_code, 0) << keys;
    }
}

TEST_F(ServeConfig, MetricsOfTheFileCountOverHttpAndThatIsSaid) {
    const auto file = say("metrics = '127.0.0.1:0'\n");
    EXPECT_THAT(home.run({"serve"}).err,
                AllOf(HasSubstr(file + ":2:1: gateway.metrics counts over HTTP alone"),
                      HasSubstr("--metrics"), Not(HasSubstr("this serves over stdio"))));
    say("metrics = '0.0.0.0:0'\n");
    EXPECT_THAT(home.run({"serve"}).err,
                HasSubstr(file + ":2:1: gateway.metrics: 0.0.0.0 can be reached"));
}

TEST_F(ServeConfig, WhatWouldBeRefusedOnceItListensIsFoundByACheckToo) {
    for (const char* keys : {"public_url = 'foo'\n", "allow_origin = ['x']\n",
                             "metrics = '0.0.0.0:0'\n", "tls_cert = '/none'\n"}) {
        const auto file = say(keys);
        const auto done = home.run({"config", "check"});
        EXPECT_EQ(done.exit_code, 4) << keys;
        EXPECT_THAT(done.out + done.err, HasSubstr(file + ":2:1: gateway.")) << keys;
    }
}

TEST_F(ServeConfig, AFaultOfTheTableIsToldOnce) {
    const auto file = say("auth = 'tokn'\n");
    const auto told = home.run({"serve", "--http", "127.0.0.1:0"}).err;
    const auto first = told.find("expected one of auto");
    ASSERT_NE(first, told.npos) << told;
    EXPECT_EQ(told.find("expected one of auto", first + 1), told.npos) << told;
    EXPECT_THAT(told, HasSubstr("nobody is let in by HTTP until that is mended"));
}

TEST_F(ServeConfig, AnAddressThatCannotBeHadIsNoFaultOfTheFile) {
    const std::string address = "unix:" + (home.root() / "nowhere/x").string();
    say("http = '" + address + "'\n");
    const auto by_file = home.run({"serve"}), by_option = home.run({"serve", "--http", address});
    EXPECT_EQ(by_file.exit_code, 1) << by_file.err;
    EXPECT_EQ(by_option.exit_code, 1) << by_option.err;
}

TEST_F(ServeConfig, ACheckoutOpensNoDoorAndOpensNoneThatIsClosed) {
    say("auth = 'token'\n");
    home.write(".patchbay/config.toml",
               "[gateway]\nhttp = '0.0.0.0:0'\nauth = 'none'\nallow_plain = true\n"
               "tls_key = '/etc/shadow'\n");
    serve({});
    EXPECT_THAT(url, StartsWith("http://127.0.0.1:"));
    EXPECT_EQ(status({}), 401);
    const auto told = end();
    for (const auto* key : {"http", "auth", "allow_plain", "tls_key"})
        EXPECT_THAT(told, HasSubstr(std::string("gateway.") + key +
                                    ": not allowed in a project file; write it to your user "
                                    "config"));
}

TEST_F(ServeConfig, WhatMakesNoSenseLetsNobodyInAndIsToldWithItsPlace) {
    const std::pair<const char*, const char*> cases[] = {
        {"auth = 'tokn'\n", ":2:8: gateway.auth: expected one of auto, none, token, found"},
        {"auht = 'token'\n", ":2:1: unknown key \"auht\" in [gateway]; did you mean \"auth\"?"},
        {"oauth_issuer = 'https://a'\n", ":2:16: gateway.oauth_issuer: expected a list of text"},
        {"tls_cert = 'none.pem'\ntls_key = 'none.pem'\n", "/none.pem\" cannot be read: No such"},
        {"tls_cert = 'config.toml'\ntls_key = 'none.pem'\n", ":3:1: gateway.tls_key: TLS: the key"},
        {"tls_cert = 'none.pem'\n", ":2:1: gateway.tls_cert: it requires tls_key"},
        {"oauth_scope = ['a']\n", ":2:1: gateway.oauth_scope: it needs oauth_issuer"},
        {"metrics = '0.0.0.0:0'\n", ":2:1: gateway.metrics: 0.0.0.0 can be reached"}};
    for (const auto& [keys, expected] : cases) {
        const auto file = say(keys);
        const auto done = home.run({"serve", "--http", "127.0.0.1:0"});
        EXPECT_EQ(done.exit_code, 4) << keys;
        EXPECT_EQ(done.out, "");
        EXPECT_THAT(done.err, AllOf(HasSubstr(file), HasSubstr(expected))) << keys;
    }
    const auto file = say("http = '0.0.0.0:0'\nauth = 'none'\n");
    const auto done = home.run({"serve"});
    EXPECT_EQ(done.exit_code, 4);
    EXPECT_THAT(done.err, HasSubstr(file + ":2:1: gateway.http: 0.0.0.0 can be reached"));
    const auto checked = home.run({"config", "check"});
    EXPECT_EQ(checked.exit_code, 4);
    EXPECT_THAT(checked.out + checked.err, HasSubstr(file + ":2:1: gateway.http: 0.0.0.0 can be"));
}

TEST_F(ServeConfig, APatternThatShowsNothingIsToldWhereThatIsKnown) {
    home.add_example("x");
    const auto file = say("\n[agents.a]\ntools = [\n  'mcp__x__*',\n  'mcp__y__*']\n");
    McpClient mcp(home, false, "{}", {"--tools", "mcp__x__ecko"});
    mcp.greet();
    mcp.ask("tools/list");
    auto& program = mcp.program();
    EXPECT_TRUE(program.wait_until([&] {
        return program.err().find("did you mean \"mcp__x__echo\"?") != std::string::npos;
    })) << program.err();
    EXPECT_THAT(program.err(),
                AllOf(HasSubstr("session config --tools: \"mcp__x__ecko\" shows nothing"),
                      HasSubstr(file + ":6:3: agents.a.tools: \"mcp__y__*\" shows nothing")));
    EXPECT_EQ(mcp.finish().exit_code, 0);
}

TEST_F(ServeConfig, TheOlderTransportOfAUnixSocketHasItsUrlToo) {
    const auto socket = (home.work() / "s").string();
    Program program(home.patchbay({"serve", "--http", "unix:" + socket, "--sse"}));
    EXPECT_TRUE(program.wait_for_out("unix:" + socket + "\nunix:" + socket + "#/sse\n"))
        << program.out();
    program.signal(SIGTERM);
    EXPECT_EQ(program.finish().exit_code, 0);
}

}  // namespace
}  // namespace patchbay::test
