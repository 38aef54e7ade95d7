// Who comes in by `patchbay serve --http`, and who does not.
#include "integration/door_fixture.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>

namespace patchbay::test {
namespace {

class ServeDoor : public DoorTest {};

TEST_F(ServeDoor, OnLoopbackNobodyIsAskedUnlessThatIsWanted) {
    serve({});
    EXPECT_EQ(status({}), 200);
    EXPECT_EQ(status({{"Authorization", "Bearer whatever"}}), 200);
    EXPECT_EQ(status({{"Host", "evil.example"}}), 403);
    EXPECT_THAT(HttpPeer(url, "POST", {{"Host", "evil.example"}}, kInitialize, "/mcp").hear(),
                HasSubstr("--allow-host"));
    end();
}

TEST_F(ServeDoor, AtDebugTheLogHasALineForEachRequestAndNothingOfWhatWasSaid) {
    const auto token = give_token("laptop");
    run({"--log-level", "debug", "serve", "--http", "127.0.0.1:0", "--auth", "token"});
    EXPECT_EQ(status(with(token), "/mcp?access_token=hidden"), 400);
    EXPECT_EQ(status({}, "/mcp?key=hidden"), 401);
    EXPECT_EQ(status({{"Host", "evil.example"}}), 403);
    EXPECT_EQ(HttpPeer(url, "PUT", with(token), kInitialize, "/mcp").status(), 405);
    HttpPeer opened(url, "POST", with(token), kInitialize, "/mcp");
    ASSERT_EQ(opened.status(), 200);
    auto headers = with(token);
    headers.emplace_back("MCP-Session-Id", opened.header("MCP-Session-Id"));
    EXPECT_EQ(HttpPeer(url, "POST", headers,
                       R"({"jsonrpc":"2.0","method":"notifications/initialized"})", "/mcp")
                  .status(),
              202);
    const auto told = end();
    for (const auto* line : {"http: 127.0.0.1: POST /mcp: 400", "http: 127.0.0.1: POST /mcp: 401",
                             "http: 127.0.0.1: POST /mcp: 403", "http: 127.0.0.1: PUT /mcp: 405",
                             ": initialize: ok at once, ", ": notifications/initialized: taken"})
        EXPECT_THAT(told, HasSubstr(line));
    EXPECT_THAT(told, AllOf(Not(HasSubstr("hidden")), Not(HasSubstr("evil.example"))));
}

TEST_F(ServeDoor, WithTokensOnlyWhoHasOneComesIn) {
    const auto token = give_token("laptop");
    serve({"--auth", "token"});
    HttpPeer stranger(url, "POST", {}, kInitialize);
    EXPECT_EQ(stranger.status(), 401);
    EXPECT_EQ(stranger.header("WWW-Authenticate"), "Bearer realm=\"patchbay\"");
    EXPECT_EQ(status(with(token)), 200);
    EXPECT_EQ(status({{"Authorization", "bearer " + token}}), 200);
    const std::pair<HttpPeer::Headers, int> wrong[] = {
        {with(token + "0"), 401},
        {with(token.substr(0, token.size() - 1)), 401},
        {with("patchbay_" + std::string(64, '0')), 401},
        {with("eyJhbGciOiJub25lIn0.e30."), 401},
        {{{"Authorization", "Basic " + token}}, 401},
        {{{"Authorization", token}}, 401},
        {{{"Authorization", "Bearer"}}, 400},
        {{{"Authorization", "Bearer " + token}, {"Authorization", "Bearer " + token}}, 400},
        {with(std::string(9'000, 'a')), 401},
        {with(std::string(20'000, 'a')), 431},
    };
    for (const auto& [headers, expected] : wrong)
        EXPECT_EQ(status(headers), expected) << headers[0].second.substr(0, 100);
    EXPECT_EQ(status({}, "/mcp?access_token=" + token), 400);
    EXPECT_EQ(status(with(token), "/mcp?access_token=" + token), 400);
    EXPECT_EQ(status({}, "/elsewhere"), 401);
    EXPECT_THAT(end(), Not(HasSubstr(token.substr(0, token.size() - 1))));
    EXPECT_THAT(read_file(home.root() / "state/patchbay/gateway-tokens.json"),
                Not(HasSubstr(token)));
}

TEST_F(ServeDoor, TokensComeAndGoWhileItRuns) {
    serve({"--auth", "token"});
    EXPECT_THAT(program_->err(), HasSubstr("patchbay token add NAME"));
    const auto token = give_token("laptop"), other = give_token("other");
    HttpPeer opened(url, "POST", with(token), kInitialize);
    ASSERT_EQ(opened.status(), 200);
    auto of_session = with(token);
    of_session.emplace_back("MCP-Session-Id", opened.header("MCP-Session-Id"));
    HttpPeer stream(url, "GET", of_session);
    EXPECT_EQ(stream.status(), 200);
    // A session is of who opened it.
    auto of_another = with(other);
    of_another.push_back(of_session.back());
    EXPECT_EQ(status(of_another), 404);
    EXPECT_EQ(home.run({"token", "rm", "laptop"}).exit_code, 0);
    stream.hear();
    EXPECT_TRUE(stream.ended());
    EXPECT_EQ(status(of_session), 401);
    EXPECT_EQ(status(with(other)), 200);
    end();
}

TEST_F(ServeDoor, ATokenShowsWhatItIsGoodForAlone) {
    home.add_example("x");
    home.add_example("y");
    const auto all = give_token("all"),
               some = give_token("some", {"--servers", "x", "--tools", "mcp__x__echo,mcp__y__*"});
    serve({"--auth", "token"});
    const auto ask = [&](const std::string& token, const std::string& method,
                         const std::string& params, HttpPeer::Headers more) {
        auto headers = with(token);
        headers.emplace_back("MCP-Protocol-Version", "2026-07-28");
        headers.emplace_back("Mcp-Method", method);
        headers.insert(headers.end(), more.begin(), more.end());
        HttpPeer peer(url, "POST", headers,
                      R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{)" +
                          params +
                          R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                          R"("io.modelcontextprotocol/clientCapabilities":{}}}})");
        return peer.hear();
    };
    // The first list does not wait for servers that take their time.
    const auto list_with = [&](const std::string& token, const Words& wanted) {
        std::string listed;
        const auto deadline = std::chrono::steady_clock::now() + kDeadline;
        while (std::chrono::steady_clock::now() < deadline) {
            listed = ask(token, "tools/list", "", {});
            if (std::all_of(wanted.begin(), wanted.end(), [&](const auto& each) {
                    return listed.find(each) != std::string::npos;
                }))
                break;
        }
        return listed;
    };
    EXPECT_THAT(list_with(all, {"mcp__x__add", "mcp__y__echo"}),
                AllOf(HasSubstr("mcp__x__add"), HasSubstr("mcp__y__echo")));
    const auto listed = list_with(some, {"mcp__x__echo"});
    EXPECT_THAT(listed, AllOf(HasSubstr("mcp__x__echo"), Not(HasSubstr("mcp__x__add")),
                              Not(HasSubstr("mcp__y__"))));
    const auto call = [&](const std::string& tool) {
        return ask(some, "tools/call",
                   R"("name":")" + tool + R"(","arguments":{"message":"good day"},)",
                   {{"Mcp-Name", tool}});
    };
    EXPECT_THAT(call("mcp__x__echo"), HasSubstr("good day"));
    EXPECT_THAT(call("mcp__y__echo"), Not(HasSubstr("good day")));
    const auto told = home.run({"token", "list"}).out;
    EXPECT_THAT(told, AllOf(HasSubstr("mcp__x__echo,mcp__y__*"), HasSubstr("all")));
    EXPECT_THAT(home.run({"token", "add", "z", "--tools", "echo"}).err, HasSubstr("no pattern"));
    const auto strange = home.run({"token", "add", "later", "--servers", "x,elsewhere"});
    EXPECT_EQ(strange.exit_code, 0);
    EXPECT_THAT(strange.err,
                AllOf(HasSubstr("warning: --servers: no server \"elsewhere\" is configured"),
                      Not(HasSubstr("no server \"x\""))));
    end();
}

TEST_F(ServeDoor, WrongTokensAreSoonToldToWaitAndRightOnesAreNot) {
    const auto token = give_token("laptop");
    serve({"--auth", "token"});
    int last = 0;
    for (int i = 0; i < 40 && last != 429; ++i)
        last = status(with("patchbay_" + std::to_string(i)));
    EXPECT_EQ(last, 429);
    EXPECT_EQ(status(with(token)), 200);
    EXPECT_THAT(end(), HasSubstr("too many wrong tokens come from 127.0.0.1"));
}

TEST_F(ServeDoor, ARecordThatIsDamagedIsSaidBeforeAnybodyComes) {
    give_token("laptop");
    const auto file = home.root() / "state/patchbay/gateway-tokens.json";
    std::filesystem::resize_file(file, 10);
    const auto done = home.run({"serve", "--http", "127.0.0.1:0", "--auth", "token"});
    EXPECT_NE(done.exit_code, 0);
    EXPECT_EQ(done.out, "");
    EXPECT_THAT(done.err, HasSubstr("gateway-tokens.json is damaged"));
    EXPECT_THAT(home.run({"token", "add", "more"}).err, HasSubstr("is damaged"));
    EXPECT_EQ(std::filesystem::file_size(file), 10u) << "it is not written over";
}

// No socket is opened there: what is asked for is judged before.
TEST_F(ServeDoor, ElsewhereThanOnLoopbackItSaysWhatIsMissing) {
    const std::pair<Words, const char*> cases[] = {
        {{"0.0.0.0:0", "--auth", "none"}, "from other machines: each that comes has to be asked"},
        {{"192.0.2.1:0"}, "--allow-plain"},
        {{"[2001:db8::1]:0", "--auth", "token"}, "--allow-plain"},
        {{"0.0.0.0:0", "--allow-plain"}, "say what clients call it, by --public-url "},
        {{"[::]:0", "--allow-plain"}, "--allow-host"},
        {{"127.0.0.1:0", "--public-url", "mcp.example"}, "--public-url: \"mcp.example\" is no URL"},
        {{"127.0.0.1:0", "--allow-host", "http://a"}, "--allow-host: \"http://a\" is no host"},
        {{"127.0.0.1:0", "--auth", "maybe"}, "--auth"},
        {{"8808"}, "expected ADDRESS:PORT with the number of an address of this machine"},
        {{"127.0.0.1:0", "--tls-cert", "none.pem"}, "requires --tls-key"},
        {{"127.0.0.1:0", "--tls-cert", "none.pem", "--tls-key", "none.pem"},
         "TLS: the certificate \"none.pem\" cannot be read: No such file or directory"},
        {{"unix:x.sock", "--tls-cert", "none.pem", "--tls-key", "none.pem"}, "has no TLS"},
    };
    for (auto [words, told] : cases) {
        words.insert(words.begin(), {"serve", "--http"});
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 3) << told;
        EXPECT_THAT(done.err, HasSubstr(told));
        EXPECT_EQ(done.out, "");
    }
}

// Somebody who wrote one of these believes that strangers are asked.
TEST_F(ServeDoor, WhatIsAboutHttpAloneIsRefusedOverStdio) {
    const Words cases[] = {
        {"--auth", "token"}, {"--public-url", "https://a/mcp"}, {"--allow-host", "a"},
        {"--allow-plain"},   {"--oauth-issuer", "https://a"},   {"--oauth-scope", "a"}};
    for (auto words : cases) {
        const auto told = words.front() + ": it requires --http";
        words.insert(words.begin(), "serve");
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 3);
        EXPECT_THAT(done.err, HasSubstr(told));
    }
}

TEST_F(ServeDoor, IsOpenToPagesOfTheOriginsThatWereSaid) {
    serve({"--allow-origin", "https://app.example", "--allow-origin", "https://two.example:8443"});
    EXPECT_EQ(status({{"Origin", "https://app.example"}}), 200);
    EXPECT_EQ(status({{"Origin", "https://two.example:8443"}}), 200);
    EXPECT_EQ(status({{"Origin", "https://two.example"}}), 403);
    end();
    const auto wrong = home.run({"serve", "--http", "127.0.0.1:0", "--allow-origin", "*"});
    EXPECT_EQ(wrong.exit_code, 3);
    EXPECT_THAT(wrong.err, HasSubstr("--allow-origin: \"*\" is no origin of pages"));
}

TEST_F(ServeDoor, IsReachedByTheNamesThatWereSaid) {
    serve({"--public-url", "https://mcp.example/mcp", "--allow-host", "other.example"});
    EXPECT_EQ(status({{"Host", "mcp.example"}}), 200);
    EXPECT_EQ(status({{"Host", "Other.Example:443"}}), 200);
    EXPECT_EQ(status({{"Host", "localhost"}}), 200);
    EXPECT_EQ(status({{"Host", "evil.example"}}), 403);
    EXPECT_EQ(status({{"Host", "mcp.example"}, {"Origin", "https://evil.example"}}), 403);
    end();
}

TEST_F(ServeDoor, ATokenThatWouldShowNothingIsWarnedOf) {
    home.add_example("x");
    home.add_example("y");
    const auto narrow = home.run({"token", "add", "a", "--servers", "x", "--tools", "mcp__y__*"});
    EXPECT_EQ(narrow.exit_code, 0);
    EXPECT_THAT(narrow.err,
                HasSubstr("warning: --tools: \"mcp__y__*\" fits no tool of --servers x"));
    const auto fine =
        home.run({"token", "add", "b", "--servers", "x,y", "--tools", "mcp__y__*,mcp__*"});
    EXPECT_THAT(fine.err, Not(HasSubstr("warning")));
    const auto of_nobody = home.run({"token", "add", "c", "--tools", "mcp__z__*"});
    EXPECT_THAT(of_nobody.err, HasSubstr("\"mcp__z__*\" fits no tool of any server, and shows"));
    EXPECT_THAT(home.run({"token", "add", "d", "--tools", "mcp__x__ehco"}).err,
                Not(HasSubstr("warning")))
        << "nobody has asked yet which tools it has";
    home.write("broken.toml", "[servers.x]\ncommand = [\n");
    const auto unread =
        home.run({"--config", "broken.toml", "token", "add", "f", "--tools", "mcp__q__*"});
    EXPECT_THAT(unread.err, AllOf(HasSubstr("broken.toml:"), Not(HasSubstr("fits no tool"))));
    home.run({"tools"});
    EXPECT_THAT(home.run({"token", "add", "e", "--tools", "mcp__x__ehco,mcp__x__echo"}).err,
                AllOf(HasSubstr("\"mcp__x__ehco\" fits no tool of any server as they were listed"),
                      HasSubstr("did you mean \"mcp__x__echo\""), Not(HasSubstr("echo\" fits"))));
}

TEST_F(ServeDoor, ATokenOfABundleShowsThatAloneAndNothingOnceTheBundleIsGone) {
    home.add_example("x");
    home.add_example("y");
    const auto config = [&](const std::string& text) {
        home.write("../config/patchbay/config.toml", text);
    };
    config("[bundles.few]\nservers = ['x']\nallow = ['mcp__x__e*']\n");
    const auto unknown = home.run({"token", "add", "ci", "--bundle", "fwe"});
    EXPECT_EQ(unknown.exit_code, 6) << unknown.err;
    EXPECT_THAT(unknown.err, HasSubstr("did you mean \"few\""));
    EXPECT_THAT(home.run({"token", "list"}).err, HasSubstr("no token")) << "none was given out";
    config("[bundles.few]\nservers = ['x']\nx = [");
    const auto unread = home.run({"token", "add", "ci", "--bundle", "few"});
    EXPECT_EQ(unread.exit_code, 4) << "it may be in the file that cannot be read";
    EXPECT_THAT(unread.err, HasSubstr("config.toml:3"));
    config("[bundles.few]\nservers = ['x']\nallow = ['mcp__x__e*']\n");
    const auto token = give_token("ci", {"--bundle", "few"});
    const auto nothing = home.run({"token", "add", "z", "--bundle", "few", "--servers", "y"});
    EXPECT_THAT(nothing.err, HasSubstr("bundle \"few\" holds none of y"));
    const auto no_tool = home.run(
        {"token", "add", "w", "--bundle", "few", "--tools", "mcp__y__*", "--tools", "mcp__x__*"});
    EXPECT_THAT(no_tool.err, AllOf(HasSubstr("\"mcp__y__*\" fits no tool of bundle \"few\""),
                                   Not(HasSubstr("\"mcp__x__*\" fits"))));
    EXPECT_THAT(home.run({"token", "list"}).out, HasSubstr("few"));
    EXPECT_THAT(home.run({"token", "list", "--json"}).out, HasSubstr("\"bundle\":\"few\""));

    const auto ask = [&](const std::string& method, const std::string& params,
                         const std::string& path = "/mcp") {
        auto headers = with(token);
        headers.emplace_back("MCP-Protocol-Version", "2026-07-28");
        headers.emplace_back("Mcp-Method", method);
        if (method == "tools/call") headers.emplace_back("Mcp-Name", "mcp__x__add");
        HttpPeer peer(url, "POST", headers,
                      R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{)" +
                          params +
                          R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                          R"("io.modelcontextprotocol/clientCapabilities":{}}}})",
                      path);
        return peer.hear();
    };
    serve({"--auth", "token"});
    std::string listed;
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (listed.find("mcp__x__echo") == std::string::npos &&
           std::chrono::steady_clock::now() < deadline)
        listed = ask("tools/list", "");
    EXPECT_THAT(listed, AllOf(HasSubstr("mcp__x__echo"), Not(HasSubstr("mcp__x__add")),
                              Not(HasSubstr("mcp__y__"))));
    EXPECT_THAT(ask("tools/call", R"("name":"mcp__x__add","arguments":{"a":1,"b":2},)"),
                HasSubstr("no tool"));
    EXPECT_EQ(status(with(token)), 200) << "in the other era too";
    end();

    config(
        "[bundles.few]\nservers = ['x']\nallow = []\n[bundles.secret-project]\nservers = ['y']\n");
    serve({"--auth", "token"});
    EXPECT_THAT(program_->err(), HasSubstr("warning: token \"ci\" shows nothing: "));
    EXPECT_EQ(status(with(token)), 403) << "a bundle that cannot be used holds nothing";
    EXPECT_THAT(home.run({"token", "list"}).err, HasSubstr("token \"ci\" shows nothing: "));
    end();

    config("[bundles.secret-project]\nservers = ['y']\n");
    serve({"--auth", "token"});
    EXPECT_EQ(status(with(token)), 403);
    EXPECT_EQ(status(with(token), "/mcp/bundles/secret-project"), 403);
    EXPECT_THAT(ask("tools/list", ""), AllOf(HasSubstr("this token is for bundle"),
                                             HasSubstr("few"), Not(HasSubstr("secret-project"))));
    end();
}

TEST_F(ServeDoor, TokensAreListedWithoutWhatTheyAre) {
    const auto token = give_token("ci", {"--expires", "2h"});
    give_token("laptop");
    const auto listed = home.run({"token", "list"});
    EXPECT_THAT(listed.out, AllOf(HasSubstr("ci"), HasSubstr("laptop"), HasSubstr("never"),
                                  Not(HasSubstr(token.substr(0, 20)))));
    const auto json = json::parse(home.run({"token", "list", "--json"}).out);
    EXPECT_THAT(json::value_to<std::string>(json.at(0).at("created_at")),
                ::testing::MatchesRegex("20[0-9-]+T[0-9:]+Z"));
    EXPECT_GT(json::value_to<std::string>(json.at(0).at("expires_at")),
              json::value_to<std::string>(json.at(0).at("created_at")));
    EXPECT_THAT(home.run({"token", "add", "ci"}).err, HasSubstr("already"));
    EXPECT_THAT(home.run({"token", "add", "a b"}).err, HasSubstr("no name of a token"));
    EXPECT_THAT(home.run({"token", "add", "x", "--expires", "soon"}).err, HasSubstr("--expires"));
    const auto gone = home.run({"token", "rm", "labtop"});
    EXPECT_EQ(gone.exit_code, 6);
    EXPECT_THAT(gone.err, HasSubstr("did you mean \"laptop\"?"));
}

}  // namespace
}  // namespace patchbay::test
