// The tools of the host itself: which a client is shown, and what they do for it.
#include "protocol/schema.hpp"
#include "session_fixture.hpp"

namespace patchbay::gateway {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

class HostToolsTest : public SessionTest {
protected:
    HostToolsTest() {
        config.gateway.host_tools = true;
        offer("git", "resources/list",
              {{"resources",
                {{{"uri", "git:1"}, {"name", "one"}},
                 {{"uri", "git:2"}, {"name", "two"}},
                 {{"uri", "git:3"}, {"name", "three"}}}}});
        offer("github", "resources/list", {{"resources", {{{"uri", "hub:1"}, {"name", "n"}}}}});
        offer("git", "resources/read",
              {{"contents",
                {{{"uri", "git:1"}, {"text", "read it"}}, {{"uri", "git:1"}, {"blob", "AAE="}}}}});
    }
    json::array listed(json::object params = {}) {
        return at(ask(++last_, "tools/list", std::move(params)), "/result/tools").as_array();
    }
    std::vector<std::string> names(const json::array& tools) {
        std::vector<std::string> names;
        for (const auto& tool : tools) names.emplace_back(tool.at("name").as_string());
        return names;
    }
    // What came of it; a result that its own schema does not allow is told.
    json::object use(const std::string& tool, json::object arguments = {}) {
        const auto name = "patchbay__" + tool;
        const auto answer =
            ask(++last_, "tools/call", {{"name", name}, {"arguments", std::move(arguments)}});
        EXPECT_TRUE(answer.contains("result")) << answer;
        if (!answer.contains("result")) return {};
        const auto result = answer.at("result").as_object();
        if (result.contains("isError")) return result;
        for (const auto& each : listed()) {
            if (each.at("name") != json::value(name)) continue;
            const auto schema = protocol::Schema::compile(each.at("outputSchema"));
            EXPECT_TRUE(schema) << name;
            if (schema)
                EXPECT_THAT(schema->validate(result.at("structuredContent")), IsEmpty()) << result;
        }
        return result;
    }
    json::value structured(const std::string& tool, json::object arguments = {}) {
        const auto result = use(tool, std::move(arguments));
        const auto* found = result.if_contains("structuredContent");
        return found ? *found : json::value(result);
    }
    std::string refused(const std::string& tool, json::object arguments = {}) {
        const auto result = use(tool, std::move(arguments));
        EXPECT_TRUE(result.contains("isError")) << result;
        return json::serialize(result);
    }
    std::size_t greeted(const char* id) { return servers.at(id).requests("initialize").size(); }
    int last_ = 10;
};

TEST_F(HostToolsTest, TheyStandBehindAllOthersAndSayWhatTheyTakeAndGive) {
    greet();
    const auto tools = listed();
    EXPECT_THAT(names(tools),
                ElementsAre("mcp__git__log", "mcp__github__log", "patchbay__mcp_resource_read",
                            "patchbay__mcp_resources_list", "patchbay__search_tools",
                            "patchbay__server_restart", "patchbay__server_status"));
    EXPECT_THAT(names(tools), Each(MatchesRegex("[a-zA-Z0-9_-]{1,64}")));
    EXPECT_THAT(names(listed({{"cursor", "mcp__github__log"}})), SizeIs(5)) << "the last page";
    for (const auto& tool : tools) {
        if (!std::string_view(tool.at("name").as_string()).starts_with("patchbay__")) continue;
        EXPECT_TRUE(protocol::Schema::compile(tool.at("inputSchema"))) << tool;
        EXPECT_TRUE(tool.at("annotations").at("readOnlyHint").is_bool()) << tool;
    }
}

TEST_F(HostToolsTest, WhereNobodyHasTurnedThemOnThereAreNone) {
    config.gateway.host_tools = false;
    greet();
    EXPECT_THAT(names(listed()), ElementsAre("mcp__git__log", "mcp__github__log"));
    EXPECT_THAT(json::serialize(ask(2, "tools/call", {{"name", "patchbay__server_status"}})),
                HasSubstr("no tool"));
}

TEST_F(HostToolsTest, AServerUnderItsOwnNamesHasNoneBesideIt) {
    view.only = "git";
    greet();
    EXPECT_THAT(names(listed()), ElementsAre("log"));
    EXPECT_THAT(json::serialize(ask(2, "tools/call", {{"name", "patchbay__server_status"}})),
                AllOf(HasSubstr("no tool"), Not(HasSubstr("structuredContent"))));
}

TEST_F(HostToolsTest, AStatusSaysHowEachServerInViewIsAndWhy) {
    servers.at("github").refuse_open = true;
    greet();
    const auto all = structured("server_status").at("servers").as_array();
    ASSERT_THAT(all, SizeIs(2));
    EXPECT_EQ(all[0].at("server"), "git");
    EXPECT_EQ(all[0].at("state"), "ready");
    EXPECT_EQ(all[0].at("tools"), 1);
    EXPECT_EQ(all[0].at("protocol"), "2025-11-25");
    EXPECT_THAT(json::serialize(all[1]),
                AllOf(HasSubstr("no such program"), Not(HasSubstr("ready"))));
    EXPECT_THAT(structured("server_status", {{"server", "git"}}).at("servers").as_array(),
                SizeIs(1));
    EXPECT_THAT(refused("server_status", {{"server", "gti"}}), HasSubstr("did you mean"));
}

TEST_F(HostToolsTest, WhatTheClientIsNotShownIsNotThereForThemEither) {
    view.picked = View::Ids{"git"};
    greet();
    EXPECT_THAT(json::serialize(structured("server_status")), Not(HasSubstr("github")));
    EXPECT_THAT(json::serialize(structured("search_tools", {{"query", "log"}})),
                AllOf(HasSubstr("mcp__git__log"), Not(HasSubstr("github"))));
    EXPECT_THAT(json::serialize(structured("mcp_resources_list")), Not(HasSubstr("hub:1")));
    EXPECT_THAT(refused("server_restart", {{"server", "github"}}), HasSubstr("is here"));
    refused("mcp_resources_list", {{"server", "github"}});
    refused("mcp_resource_read", {{"uri", "hub:1"}});
    refused("mcp_resource_read", {{"uri", "patchbay+github:hub:1"}});
    EXPECT_THAT(servers.at("github").bodies, IsEmpty());
}

TEST_F(HostToolsTest, WrongArgumentsAreToldToTheModelWithWhatIsRight) {
    greet();
    EXPECT_THAT(refused("search_tools"), AllOf(HasSubstr("query"), HasSubstr("it takes")));
    EXPECT_THAT(refused("search_tools", {{"query", 7}}), HasSubstr("/query"));
    EXPECT_THAT(refused("search_tools", {{"query", "x"}, {"limit", 51}}), HasSubstr("/limit"));
    EXPECT_THAT(refused("server_status", {{"servr", "git"}}), HasSubstr("it takes server"));
    EXPECT_THAT(refused("server_restart"), HasSubstr("server"));
    EXPECT_THAT(refused("mcp_resource_read", {{"uri", std::string(9'000, 'u')}}),
                HasSubstr("/uri"));
    EXPECT_THAT(refused("mcp_resources_list", {{"cursor", "nowhere:1"}}), HasSubstr("cursor"));
    EXPECT_THAT(json::serialize(ask(2, "tools/call", {{"name", "patchbay__nothing"}})),
                HasSubstr("no tool"));
}

TEST_F(HostToolsTest, TheyRunAsNoTasks) {
    greet();
    const auto answer = ask(2, "tools/call",
                            {{"name", "patchbay__server_status"},
                             {"arguments", json::object()},
                             {"task", json::object()}});
    EXPECT_EQ(at(answer, "/error/code"), -32601);
    EXPECT_THAT(json::serialize(answer), HasSubstr("call it without"));
}

TEST_F(HostToolsTest, ARestartEndsWhatHangsAndSaysHowTheServerCameBack) {
    greet();
    ask(2, "tools/list");
    servers.at("git").results.erase("tools/call");
    say(3, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return servers.at("git").requests("tools/call").size() == 1; }));
    const auto restarted = structured("server_restart", {{"server", "git"}});
    EXPECT_EQ(restarted.at("state"), "ready");
    EXPECT_EQ(greeted("git"), 2u);
    EXPECT_EQ(greeted("github"), 1u);
    EXPECT_THAT(json::serialize(answer_to(3)), HasSubstr("\"isError\":true"));
    EXPECT_THAT(refused("server_restart", {{"server", "git"}}), HasSubstr("a moment ago"));
    EXPECT_EQ(greeted("git"), 2u);
    loop.pass(connection::ServerConnections::kRestartPause);
    servers.at("git").refuse_open = true;
    EXPECT_THAT(json::serialize(structured("server_restart", {{"server", "git"}})),
                HasSubstr("no such program"));
}

TEST_F(HostToolsTest, ARestartThatTakesLongIsToldAsFarAsItHasCome) {
    greet();
    ask(2, "tools/list");
    servers.at("git").results.erase("initialize");
    say(3, "tools/call",
        {{"name", "patchbay__server_restart"}, {"arguments", {{"server", "git"}}}});
    ASSERT_TRUE(wait([&] { return greeted("git") == 2; }));
    loop.pass(HostTools::kRestartWait);
    EXPECT_EQ(at(answer_to(3), "/result/structuredContent/state"), "connecting");
}

TEST_F(HostToolsTest, ARestartIsJudgedAsARequestToThatServer) {
    permissions.deny = {"mcp__git__*"};
    greet();
    EXPECT_THAT(refused("server_restart", {{"server", "git"}}), HasSubstr("[permissions] deny"));
    EXPECT_EQ(greeted("git"), 1u);
}

TEST_F(HostToolsTest, WhoIsShownSomeToolsOfAServerMayNotRestartIt) {
    view.tools = {{"mcp__git__log"}};
    greet();
    EXPECT_THAT(refused("server_restart", {{"server", "git"}}),
                HasSubstr("but for some of its tools"));
    EXPECT_EQ(greeted("git"), 1u);
}

TEST_F(HostToolsTest, ToolsAreFoundByWordsTheBestFirst) {
    offer("git", "tools/list",
          {{"tools",
            {{{"name", "blame"},
              {"description", "Who wrote it: a log."},
              {"inputSchema", {{"type", "object"}}}},
             {{"name", "log"}, {"inputSchema", {{"type", "object"}}}},
             {{"name", "push"}, {"inputSchema", {{"type", "object"}}}}}}});
    greet();
    const auto found = [&](json::object arguments) {
        return names(structured("search_tools", std::move(arguments)).at("tools").as_array());
    };
    EXPECT_THAT(found({{"query", "Log"}}),
                ElementsAre("mcp__git__log", "mcp__github__log", "mcp__git__blame"));
    EXPECT_THAT(found({{"query", "log"}, {"limit", 1}}), ElementsAre("mcp__git__log"));
    EXPECT_THAT(found({{"query", "?! --"}}), IsEmpty());
}

TEST_F(HostToolsTest, ResourcesAreListedByPagesAndByServer) {
    greet();
    const auto uris = [](const json::value& page) {
        std::vector<std::string> uris;
        for (const auto& each : page.at("resources").as_array())
            uris.emplace_back(each.at("uri").as_string());
        return uris;
    };
    EXPECT_THAT(uris(structured("mcp_resources_list")),
                ElementsAre("git:1", "git:2", "git:3", "hub:1"));
    EXPECT_THAT(uris(structured("mcp_resources_list", {{"server", "github"}})),
                ElementsAre("hub:1"));
    const auto first = structured("mcp_resources_list", {{"limit", 3}});
    EXPECT_THAT(uris(first), SizeIs(3));
    const auto last =
        structured("mcp_resources_list", {{"limit", 3}, {"cursor", first.at("nextCursor")}});
    EXPECT_THAT(uris(last), ElementsAre("hub:1"));
    EXPECT_FALSE(last.as_object().contains("nextCursor"));
}

TEST_F(HostToolsTest, AResourceIsReadAsTextWhereItIsSome) {
    greet();
    const auto read = use("mcp_resource_read", {{"uri", "git:1"}});
    EXPECT_EQ(at(read, "/content/0/text"), "read it");
    EXPECT_EQ(at(read, "/content/1/resource/blob"), "AAE=");
    EXPECT_EQ(at(read, "/structuredContent/contents/0/uri"), "git:1");
    EXPECT_THAT(refused("mcp_resource_read", {{"uri", "git:9"}}), HasSubstr("no server that is"));
    servers.at("git").errors["resources/read"] = {-32002, "it is gone"};
    servers.at("git").results.erase("resources/read");
    EXPECT_THAT(refused("mcp_resource_read", {{"uri", "git:2"}}), HasSubstr("it is gone"));
}

TEST_F(HostToolsTest, RulesHoldForWhatIsReadThroughThem) {
    permissions.deny = {"mcp__git__*"};
    greet();
    EXPECT_THAT(refused("mcp_resource_read", {{"uri", "patchbay+git:git:1"}}),
                HasSubstr("[permissions] deny"));
    EXPECT_THAT(servers.at("git").requests("resources/read"), IsEmpty());
}

TEST_F(HostToolsTest, AClientOfTheModernEraHasThemToo) {
    const auto answer = ask_modern(
        1, "tools/call", {{"name", "patchbay__server_status"}, {"arguments", json::object()}});
    EXPECT_EQ(at(answer, "/result/resultType"), "complete");
    EXPECT_EQ(at(answer, "/result/structuredContent/servers/0/state"), "ready");
}

TEST_F(HostToolsTest, WhoGoesInTheMiddleIsMissedByNobody) {
    greet();
    ask(2, "tools/list");
    servers.at("git").results.erase("initialize");
    servers.at("git").results.erase("resources/read");
    say(3, "tools/call",
        {{"name", "patchbay__mcp_resource_read"}, {"arguments", {{"uri", "git:1"}}}});
    ASSERT_TRUE(wait([&] { return servers.at("git").requests("resources/read").size() == 1; }));
    say(4, "tools/call",
        {{"name", "patchbay__server_restart"}, {"arguments", {{"server", "git"}}}});
    ASSERT_TRUE(wait([&] { return greeted("git") == 2; }));
    session_.reset();
    loop.pass(HostTools::kRestartWait);
}

}  // namespace
}  // namespace patchbay::gateway
