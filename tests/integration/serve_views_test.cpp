// What `patchbay serve` shows: servers, tools and agents that were picked, over stdio and HTTP.
#include "integration/mcp_client.hpp"

#include <csignal>

namespace patchbay::test {
namespace {

class ServeViews : public ::testing::Test {
protected:
    ServeViews() {
        recorded_ = home.add_recorded("hidden");
        home.add_example("x");
    }
    std::string tools(const Words& flags) {
        McpClient mcp(home, false, "{}", flags);
        mcp.greet();
        return json::serialize(mcp.ask("tools/list"));
    }
    bool hidden_was_started() const { return std::filesystem::exists(recorded_); }
    void write_agents() {
        home.write("../config/patchbay/config.toml",
                   "[agents.reviewer]\nservers = ['x']\ntools = ['mcp__x__echo', 'mcp__x__a*']\n"
                   "description = 'You review.'\n"
                   "[agents.off]\nenabled = false\n"
                   "[agents.odd]\ntool = ['mcp__x__echo']\n");
    }
    Home home;
    std::string recorded_;
};

TEST_F(ServeViews, ServersThatWereNotPickedAreNeitherShownNorStarted) {
    EXPECT_THAT(tools({"--servers", "x"}),
                AllOf(HasSubstr("mcp__x__echo"), Not(HasSubstr("mcp__hidden__"))));
    EXPECT_FALSE(hidden_was_started());
    EXPECT_THAT(tools({"--servers", "x,hidden"}), HasSubstr("mcp__hidden__echo"));
    EXPECT_TRUE(hidden_was_started());
}

TEST_F(ServeViews, ToolsThatWereNotPickedCannotBeCalled) {
    const Words flags{"--tools", "mcp__x__echo", "--tools", "mcp__x__a*"};
    EXPECT_THAT(tools(flags), AllOf(HasSubstr("mcp__x__echo"), HasSubstr("mcp__x__add"),
                                    Not(HasSubstr("mcp__x__sleep"))));
    McpClient mcp(home, true, "{}", flags);
    EXPECT_EQ(text_in(mcp.call("mcp__x__echo", R"({"message":"hi"})")), "hi");
    EXPECT_THAT(json::serialize(mcp.call("mcp__x__sleep", R"({"ms":1})")),
                AllOf(HasSubstr("\"error\""), HasSubstr("no tool")));
    EXPECT_THAT(json::serialize(mcp.call("mcp__hidden__echo", R"({"message":"hi"})")),
                HasSubstr("no tool"));
    EXPECT_FALSE(hidden_was_started());
}

TEST_F(ServeViews, AnAgentIsShownWhatItsTableSays) {
    write_agents();
    McpClient mcp(home, false, "{}", {"--agent", "reviewer"});
    EXPECT_THAT(json::serialize(mcp.greet()), HasSubstr("You review."));
    EXPECT_THAT(json::serialize(mcp.ask("tools/list")),
                AllOf(HasSubstr("mcp__x__echo"), Not(HasSubstr("mcp__x__sleep")),
                      Not(HasSubstr("mcp__hidden__"))));
    EXPECT_THAT(json::serialize(mcp.ask("resources/list")), HasSubstr("\"resources\":[]"));
    EXPECT_FALSE(hidden_was_started());
}

TEST_F(ServeViews, ABundleShowsWhatItAllowsAndCallsNothingElse) {
    home.write("../config/patchbay/config.toml",
               "[bundles.few]\nservers = ['x']\nallow = ['mcp__x__e*', 'mcp__x__a*']\ndeny = "
               "['mcp__x__add']\n"
               "[agents.limited]\nservers = ['x', 'hidden']\nbundle = 'few'\n"
               "[bundles.broken]\nservers = ['x']\nallow = []\n");
    for (const Words& flags : {Words{"--bundle", "few"}, Words{"--agent", "limited"}}) {
        EXPECT_THAT(tools(flags),
                    AllOf(HasSubstr("mcp__x__echo"), Not(HasSubstr("mcp__x__add")),
                          Not(HasSubstr("mcp__x__sleep")), Not(HasSubstr("mcp__hidden__"))));
        McpClient mcp(home, true, "{}", flags);
        EXPECT_EQ(text_in(mcp.call("mcp__x__echo", R"({"message":"hi"})")), "hi");
        EXPECT_THAT(json::serialize(mcp.call("mcp__x__add", R"({"a":1,"b":2})")),
                    HasSubstr("no tool"));
    }
    EXPECT_FALSE(hidden_was_started());
    const auto why = home.run({"why", "mcp__x__add", "--bundle", "few"});
    EXPECT_THAT(why.out, HasSubstr("is not in bundle \"few\" (user config "));
    EXPECT_NE(why.exit_code, 0);
    ASSERT_EQ(home.run({"tools", "--server", "x"}).exit_code, 0);
    const auto allowed = home.run({"why", "mcp__x__echo", "--bundle", "few"});
    EXPECT_EQ(allowed.exit_code, 0) << allowed.out << allowed.err;
    const auto broken = home.run({"serve", "--bundle", "broken"});
    EXPECT_NE(broken.exit_code, 0);
    EXPECT_THAT(broken.err, HasSubstr("an empty list allows nothing"));
    const auto misspelt = home.run({"serve", "--bundle", "fwe"});
    EXPECT_THAT(misspelt.err, HasSubstr("did you mean \"few\""));
}

TEST_F(ServeViews, AMetaBundleListsNoToolAndCallsThoseThatAreFound) {
    home.write("../config/patchbay/config.toml",
               "[permissions]\ndeny = ['mcp__x__env']\n"
               "[bundles.all]\nservers = ['x']\nmode = 'meta'\n");
    McpClient mcp(home, false, "{}", {"--bundle", "all"});
    mcp.greet();
    const auto listed = json::serialize(mcp.ask("tools/list"));
    EXPECT_THAT(listed,
                AllOf(HasSubstr("patchbay__search_tools"), HasSubstr("patchbay__call_tool"),
                      Not(HasSubstr("mcp__x__")), Not(HasSubstr("patchbay__server_restart"))));
    EXPECT_THAT(json::serialize(mcp.call("patchbay__search_tools", R"({"query":"echo"})")),
                AllOf(HasSubstr("mcp__x__echo"), HasSubstr("inputSchema")));
    EXPECT_EQ(text_in(mcp.call("patchbay__call_tool",
                               R"({"name":"mcp__x__echo","arguments":{"message":"hi"}})")),
              "hi");
    EXPECT_THAT(json::serialize(
                    mcp.call("patchbay__call_tool", R"({"name":"mcp__x__env","arguments":{}})")),
                HasSubstr("is denied by [permissions] deny"));
    EXPECT_THAT(json::serialize(mcp.call("patchbay__call_tool", R"({"name":"mcp__hidden__echo"})")),
                HasSubstr("no tool"));
    EXPECT_THAT(
        json::serialize(mcp.call("patchbay__call_tool", R"({"name":"patchbay__call_tool"})")),
        HasSubstr("is no tool of a server"));
    EXPECT_THAT(json::serialize(mcp.call("patchbay__call_tool", R"({"nom":"x"})")),
                HasSubstr("it takes name"));
}

TEST_F(ServeViews, ArgumentsThatDoNotFitAreAnErrorOfTheTool) {
    McpClient mcp(home, false, "{}", {"--servers", "x"});
    mcp.greet();
    const auto told = json::serialize(mcp.call("mcp__x__echo", R"({"message":{"a":1}})"));
    EXPECT_THAT(told, AllOf(HasSubstr("\"isError\":true"), HasSubstr("message"),
                            HasSubstr("expected string")));
}

TEST_F(ServeViews, AServerOfAnAgentsOwnIsShownToItAndToWhoPicksIt) {
    home.write("../config/patchbay/config.toml",
               "[agents.owner.servers.own]\ncommand = '" + example_server() +
                   "'\n[agents.other]\n[agents.friend]\nservers = ['agents.owner']\n");
    const auto shown = HasSubstr("mcp__own__echo");
    EXPECT_THAT(tools({}), AllOf(HasSubstr("mcp__x__echo"), Not(shown)));
    EXPECT_THAT(tools({"--agent", "other"}), AllOf(HasSubstr("mcp__x__echo"), Not(shown)));
    EXPECT_THAT(tools({"--agent", "owner"}), AllOf(shown, Not(HasSubstr("mcp__x__echo"))));
    EXPECT_THAT(tools({"--agent", "friend"}), AllOf(shown, Not(HasSubstr("mcp__x__echo"))));
    EXPECT_THAT(tools({"--servers", "own"}), shown) << "which is to pick it";
}

TEST_F(ServeViews, WhatCannotBeShownIsSaidAtOnceWithTheNearest) {
    write_agents();
    const auto refused = [&](Words flags) {
        flags.insert(flags.begin(), "serve");
        const auto done = home.run(flags);
        EXPECT_NE(done.exit_code, 0);
        EXPECT_EQ(done.out, "");
        return done.err;
    };
    EXPECT_THAT(refused({"--servers", "x,hiden"}), HasSubstr("did you mean \"hidden\"?"));
    EXPECT_THAT(refused({"--tools", "mcp__*__x"}), HasSubstr("--tools: expected names"));
    EXPECT_THAT(refused({"--agent", "reviewr"}), HasSubstr("did you mean \"reviewer\"?"));
    EXPECT_THAT(refused({"--agent", "off"}), HasSubstr("is disabled (user config"));
    EXPECT_THAT(refused({"--agent", "odd"}), HasSubstr("did you mean \"tools\"?"));
    EXPECT_THAT(refused({"--only", "x", "--servers", "x"}), HasSubstr("excludes"));
    EXPECT_FALSE(hidden_was_started());
}

TEST_F(ServeViews, TheHostsOwnToolsAreThereInBothErasWhereTheyAreTurnedOn) {
    EXPECT_THAT(tools({"--servers", "x"}), Not(HasSubstr("patchbay__")));
    home.write("../config/patchbay/config.toml", "[gateway]\nhost_tools = true\n");
    EXPECT_THAT(tools({"--only", "x"}), Not(HasSubstr("patchbay__")));
    for (const bool modern : {false, true}) {
        SCOPED_TRACE(modern);
        McpClient mcp(home, modern, "{}", {"--servers", "x"});
        mcp.greet();
        EXPECT_THAT(json::serialize(mcp.ask("tools/list")),
                    AllOf(HasSubstr("mcp__x__echo"), HasSubstr("patchbay__server_restart"),
                          Not(HasSubstr("patchbay__reply"))));
        EXPECT_THAT(text_in(mcp.call("patchbay__server_status")),
                    AllOf(HasSubstr("\"ready\""), Not(HasSubstr("hidden"))));
        EXPECT_THAT(text_in(mcp.call("patchbay__search_tools", R"({"query":"echo"})")),
                    HasSubstr("mcp__x__echo"));
        EXPECT_THAT(text_in(mcp.call("patchbay__server_restart", R"({"server":"x"})")),
                    HasSubstr("\"ready\""));
        EXPECT_EQ(text_in(mcp.call("mcp__x__echo", R"({"message":"two"})")), "two");
        EXPECT_THAT(json::serialize(mcp.call("patchbay__server_restart", R"({"server":"hidden"})")),
                    AllOf(HasSubstr("isError"), HasSubstr("no server")));
        const auto resources = text_in(mcp.call("patchbay__mcp_resources_list"));
        const auto listed = json::parse(resources).at("resources").as_array();
        ASSERT_FALSE(listed.empty()) << resources;
        const std::string uri(listed[0].at("uri").as_string());
        const auto read =
            mcp.call("patchbay__mcp_resource_read", json::serialize(json::object{{"uri", uri}}));
        EXPECT_THAT(json::serialize(read), HasSubstr("\"structuredContent\":{\"contents\":[{"));
    }
    EXPECT_FALSE(hidden_was_started());
}

// Plain HTTP, as any client of the library would: the status line and the body.
std::string posted(const Home& home, const std::string& url, const std::string& path,
                   const Words& headers, const std::string& body) {
    auto command = home.patchbay({});
    command.argv = {"/usr/bin/curl",
                    "-s",
                    "-i",
                    "--max-time",
                    "60",
                    "-H",
                    "Content-Type: application/json",
                    "-H",
                    "Accept: application/json, text/event-stream"};
    for (const auto& header : headers) command.argv.insert(command.argv.end(), {"-H", header});
    command.argv.insert(command.argv.end(), {"-d", body, url.substr(0, url.rfind("/mcp")) + path});
    return run(command).out;
}

TEST_F(ServeViews, OverHttpEachAgentHasItsOwnEndpoint) {
    if (!std::filesystem::exists("/usr/bin/curl")) GTEST_SKIP() << "no curl";
    write_agents();
    Program gateway(home.patchbay({"serve", "--http", "127.0.0.1:0"}));
    ASSERT_TRUE(gateway.wait_for_out("/mcp\n")) << gateway.err();
    const auto url = gateway.out().substr(0, gateway.out().find('\n'));
    const std::string initialize =
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
        R"("capabilities":{},"clientInfo":{"name":"t","version":"1"}}})";
    const auto first = posted(home, url, "/mcp/reviewer", {}, initialize);
    const auto at = first.find("MCP-Session-Id: ");
    ASSERT_NE(at, std::string::npos) << first;
    const auto session = first.substr(at, first.find("\r\n", at) - at);
    const std::string list = R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})";
    EXPECT_THAT(posted(home, url, "/mcp/reviewer", {session}, list),
                AllOf(HasSubstr("mcp__x__echo"), Not(HasSubstr("mcp__hidden__"))));
    EXPECT_THAT(posted(home, url, "/mcp", {session}, list), HasSubstr(" 404 "))
        << "a session is of the view that it began with";
    EXPECT_FALSE(hidden_was_started());
    EXPECT_THAT(posted(home, url, "/mcp/reviewr", {}, initialize),
                AllOf(HasSubstr(" 404 "), HasSubstr("did you mean")));
    EXPECT_THAT(posted(home, url, "/mcp/off", {}, initialize), HasSubstr("is disabled"));
    gateway.signal(SIGTERM);
    EXPECT_EQ(gateway.finish().exit_code, 0);
}

TEST_F(ServeViews, OverHttpAnAgentIsShownWhatIsItsOwn) {
    if (!std::filesystem::exists("/usr/bin/curl")) GTEST_SKIP() << "no curl";
    home.write(home.user_config() / "config.toml", "[agents.owner.servers.own]\ncommand = '" +
                                                       example_server() + "'\n[agents.other]\n");
    Program gateway(home.patchbay({"serve", "--http", "127.0.0.1:0"}));
    ASSERT_TRUE(gateway.wait_for_out("/mcp\n")) << gateway.err();
    const auto url = gateway.out().substr(0, gateway.out().find('\n'));
    const auto called = [&](const std::string& path) {
        return posted(
            home, url, path,
            {"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call",
             "Mcp-Name: mcp__own__echo"},
            R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp__own__echo",)"
            R"("arguments":{"message":"it is mine"},"_meta":{"io.modelcontextprotocol/protocolVersion":)"
            R"("2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})");
    };
    EXPECT_THAT(called("/mcp/owner"), HasSubstr("it is mine"));
    EXPECT_THAT(called("/mcp/other"), Not(HasSubstr("it is mine")));
    EXPECT_THAT(called("/mcp"), Not(HasSubstr("it is mine")));
    gateway.signal(SIGTERM);
    EXPECT_EQ(gateway.finish().exit_code, 0);
}

TEST_F(ServeViews, AViewOfNothingIsTold) {
    home.write("../config/patchbay/config.toml",
               "[bundles.none]\nservers = ['elsewhere']\n"
               "[bundles.odd]\nservers = ['x']\nallow = ['mcp__hidden__*']\n"
               "deny = ['mcp__gone__*']\n");
    const auto none = home.run({"serve", "--bundle", "none"});
    EXPECT_EQ(none.exit_code, 0);
    EXPECT_THAT(none.err, AllOf(HasSubstr("bundles.none: no server \"elsewhere\" is configured"),
                                HasSubstr("warning: a client is shown nothing")));
    const auto odd = home.run({"serve", "--bundle", "odd"});
    EXPECT_THAT(odd.err, AllOf(HasSubstr("bundles.odd.allow: \"mcp__hidden__*\" shows nothing"),
                               HasSubstr("bundles.odd.deny: \"mcp__gone__*\" hides nothing"),
                               HasSubstr("warning: a client is shown nothing")));
    const auto checked = home.run({"config", "check"});
    EXPECT_EQ(checked.exit_code, 0) << "warnings";
    EXPECT_THAT(checked.err,
                AllOf(HasSubstr("config.toml:1:10: bundles.none: it shows nothing"),
                      HasSubstr("config.toml:2:12: bundles.none: no server \"elsewhere\""),
                      HasSubstr("config.toml:5:10: bundles.odd.allow: \"mcp__hidden__*\"")));
    EXPECT_THAT(home.run({"serve", "--servers", "x"}).err, Not(HasSubstr("is shown nothing")));
}

TEST_F(ServeViews, AToolThatAViewNamesAndNoServerHasIsToldWithTheNearest) {
    home.write("../config/patchbay/config.toml",
               "[bundles.b]\nservers = ['x']\nallow = ['mcp__x__ehco', 'mcp__x__add']\n"
               "[agents.a]\ntools = ['mcp__x__slepe']\n");
    const auto before = home.run({"config", "check"});
    EXPECT_EQ(before.err, "") << "nobody knows yet what x has";
    ASSERT_EQ(home.run({"tools", "--server", "x"}).exit_code, 0);
    const auto checked = home.run({"config", "check"});
    EXPECT_EQ(checked.exit_code, 0) << "warnings";
    EXPECT_THAT(
        checked.err,
        AllOf(HasSubstr("config.toml:3:10: bundles.b.allow: \"mcp__x__ehco\" shows nothing: "
                        "it matches no tool of server \"x\"; did you mean "
                        "\"mcp__x__echo\"?"),
              HasSubstr("agents.a.tools: \"mcp__x__slepe\" shows nothing"),
              Not(HasSubstr("mcp__x__add"))));
}

}  // namespace
}  // namespace patchbay::test
