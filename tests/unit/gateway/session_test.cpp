#include "core/log.hpp"
#include "session_fixture.hpp"

#include <memory>
#include <utility>

namespace patchbay::gateway {
namespace {

TEST_F(SessionTest, AUriThatTwoServersListIsToldApartAndLeadsToEach) {
    for (const char* id : {"git", "github"}) {
        offer(id, "resources/list",
              {{"resources",
                {{{"uri", "a:1"}, {"name", "n"}},
                 {{"uri", std::string("b:") + id}, {"name", "n"}}}}});
        offer(id, "resources/read", {{"contents", {{{"uri", "a:1"}, {"text", id}}}}});
    }
    greet();
    std::vector<std::string> uris;
    const auto list = at(ask(2, "resources/list"), "/result/resources");
    for (const auto& each : list.as_array()) uris.emplace_back(each.at("uri").as_string());
    EXPECT_THAT(uris, ElementsAre("patchbay+git:a:1", "b:git", "patchbay+github:a:1", "b:github"));
    const auto read = ask(3, "resources/read", {{"uri", "patchbay+github:a:1"}});
    EXPECT_EQ(at(read, "/result/contents/0/text"), "github");
    EXPECT_EQ(servers.at("github").requests("resources/read").at(0).at("params").at("uri"), "a:1");
    EXPECT_THAT(servers.at("git").requests("resources/read"), IsEmpty());
    EXPECT_EQ(at(ask(4, "resources/read", {{"uri", "patchbay+none:a:1"}}), "/error/code"), -32002);
    // A result of a tool may hold the URI as its server has it. It is nobody's by itself, in either era.
    for (const auto& refused : {ask(5, "resources/read", {{"uri", "a:1"}}),
                                ask_modern("m", "resources/read", {{"uri", "a:1"}})}) {
        EXPECT_EQ(at(refused, "/error/code"), -32602);
        EXPECT_EQ(at(refused, "/error/message"),
                  "git, github have \"a:1\"; say which: \"patchbay+git:a:1\" or "
                  "\"patchbay+github:a:1\"");
    }
}

TEST_F(SessionTest, AUriThatLooksLikeAnotherServersLeadsToItsOwn) {
    offer("git", "resources/list",
          {{"resources", {{{"uri", "patchbay+github:a:1"}, {"name", "n"}}}}});
    offer("github", "resources/list", {{"resources", {{{"uri", "a:1"}, {"name", "n"}}}}});
    for (const char* id : {"git", "github"})
        offer(id, "resources/read", {{"contents", {{{"uri", "a:1"}, {"text", id}}}}});
    greet();
    const auto list = json::serialize(ask(2, "resources/list"));
    EXPECT_THAT(list, HasSubstr(R"("patchbay+git:patchbay+github:a:1")"));
    const auto text = [&](int id, const char* uri) {
        return at(ask(id, "resources/read", {{"uri", uri}}), "/result/contents/0/text");
    };
    EXPECT_EQ(text(3, "patchbay+github:a:1"), "github");
    EXPECT_EQ(text(4, "patchbay+git:patchbay+github:a:1"), "git");
}

TEST_F(SessionTest, WhatAServerListsTwiceIsToldOnce) {
    offer("git", "prompts/list", {{"prompts", {{{"name", "p"}}, {{"name", "p"}}, {{"name", ""}}}}});
    greet();
    const auto prompts = at(ask(2, "prompts/list"), "/result/prompts");
    ASSERT_EQ(prompts.as_array().size(), 1u) << prompts;
    EXPECT_EQ(prompts.at(0).at("name"), "mcp__git__p");
    EXPECT_EQ(prompts.at(0).at("description"), "[git]");
}

TEST_F(SessionTest, AServerSaysNothingInTheNameOfAClientOrOfNobody) {
    greet();
    ask(2, "tools/list");
    for (const char* method : {"notifications/initialized", "notifications/roots/list_changed",
                               "odd", "notifications/x"})
        servers.at("git").say(R"({"jsonrpc":"2.0","method":")" + std::string(method) +
                              R"(","params":{"_meta":{"k":1},"a":2}})");
    ASSERT_TRUE(wait([&] { return !told("notifications/x").empty(); }));
    EXPECT_EQ(at(told("notifications/x")[0], "/params/_meta/k"), 1);
    EXPECT_EQ(at(told("notifications/x")[0], "/params/a"), 2);
    std::size_t unasked = 0;
    for (const auto& message : sent) unasked += message.contains("method");
    EXPECT_EQ(unasked, 1u);
}

TEST_F(SessionTest, AUriThatNamesItsServerNeedsNoList) {
    offer("github", "resources/read", {{"contents", json::array()}});
    greet();
    EXPECT_TRUE(ask(2, "resources/read", {{"uri", "patchbay+github:x:9"}}).contains("result"));
    EXPECT_EQ(servers.at("github").requests("resources/read").at(0).at("params").at("uri"), "x:9");
    const auto refused = ask(3, "resources/read", {{"uri", "patchbay+nobody:x:9"}});
    EXPECT_THAT(std::string(at(refused, "/error/message").as_string()),
                HasSubstr("no server that is ready has the resource"));
}

TEST_F(SessionTest, AChangeOfAResourceIsToldByTheUriThatTheClientKnows) {
    for (const char* id : {"git", "github"})
        offer(id, "resources/list", {{"resources", {{{"uri", "a:1"}, {"name", "n"}}}}});
    greet();
    ask(2, "resources/list");
    servers.at("git").say(
        R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:1","x":1}})");
    ASSERT_TRUE(wait([&] { return !told("notifications/resources/updated").empty(); }));
    const auto update = told("notifications/resources/updated")[0];
    EXPECT_EQ(at(update, "/params"), (json::object{{"uri", "patchbay+git:a:1"}, {"x", 1}}));
}

TEST_F(SessionTest, OfResourcesWhoIsShownToolsAloneIsToldNothing) {
    view.tools = {{"mcp__git__*", "mcp__github__log"}};
    greet();
    const std::string update =
        R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:)";
    servers.at("github").say(update + R"(hidden"}})");
    servers.at("git").say(update + R"(shown"}})");
    ASSERT_TRUE(wait([&] { return !told("notifications/resources/updated").empty(); }));
    const auto updates = told("notifications/resources/updated");
    ASSERT_EQ(updates.size(), 1u);
    EXPECT_THAT(json::serialize(updates.at(0)), HasSubstr("shown"));
}

TEST_F(SessionTest, ACallReachesItsServerAsItWasWrittenButForItsName) {
    greet();
    session().take(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":)"
                   R"("mcp__git__log","arguments":{"b":1.50,"a":[]},"extra":1E400}})");
    answer_to(2);
    EXPECT_THAT(
        servers.at("git").bodies.back(),
        HasSubstr(R"("params":{"name":"log","arguments":{"b":1.50,"a":[]},"extra":1E400})"));
}

// Whatever the era of the client, and whoever of the two begins.
TEST_F(SessionTest, ATraceContextPassesBothWaysAsItIs) {
    const json::object trace{
        {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"},
        {"tracestate", "rojo=1"},
        {"baggage", "user=1"}};
    offer("git", "tools/call", {{"content", json::array()}, {"_meta", trace}});
    greet({{"elicitation", json::object()}});
    auto params = kCall;
    params["_meta"] = trace;
    const auto at_server = [&] {
        return servers.at("git").requests("tools/call").back().at("params").at("_meta");
    };
    EXPECT_EQ(at(ask(2, "tools/call", params), "/result/_meta"), json::value(trace));
    EXPECT_EQ(at_server(), json::value(trace));
    say_modern("m", "tools/call", kCall, trace);
    auto meta = at(answer_to("m"), "/result/_meta").as_object();
    EXPECT_TRUE(meta.contains("io.modelcontextprotocol/serverInfo")) << "which is ours";
    meta.erase("io.modelcontextprotocol/serverInfo");
    EXPECT_EQ(json::value(meta), json::value(trace));
    EXPECT_EQ(at_server(), json::value(trace));

    const auto raw = json::serialize(trace);
    servers.at("git").results.erase("tools/call");
    servers.at("git").on_request = [this, raw](const std::string& method) {
        if (method == "tools/call")
            servers.at("git").say(
                R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?",)"
                R"("requestedSchema":{"type":"object"},"_meta":)" +
                raw + "}}");
    };
    say(3, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return !told("elicitation/create").empty(); }));
    EXPECT_EQ(at(told("elicitation/create").front(), "/params/_meta"), json::value(trace));
}

TEST_F(SessionTest, ALineOfTheLogIsForWhatTheGatewayAnswersItselfToo) {
    greet();
    core::log::set_level(core::log::Level::Debug);
    ::testing::internal::CaptureStderr();
    ask(2, "tools/list");
    ask(3, "logging/setLevel", {{"level", "sesame"}});
    ask(4, "tools/call", kCall);
    const auto log = ::testing::internal::GetCapturedStderr();
    core::log::set_level(core::log::Level::Warn);
    EXPECT_THAT(log, HasSubstr("client (test): tools/list: ok after "));
    EXPECT_THAT(log, HasSubstr("client (test): logging/setLevel: error after "));
    EXPECT_THAT(log, HasSubstr("client (test): tools/call mcp__git__log at server \"git\": ok"));
    EXPECT_THAT(log, Not(HasSubstr("tools/call: "))) << "each once";
    EXPECT_THAT(log, Not(HasSubstr("sesame")));
}

TEST_F(SessionTest, BatchesAreOfOneRevisionAlone) {
    greet();
    session().take(R"([{"jsonrpc":"2.0","id":2,"method":"ping"}])");
    EXPECT_EQ(at(answer_to(json::value()), "/error/code"), -32600);
}

TEST_F(SessionTest, AUriThatNobodyListsGoesWhereATemplateFitsAndNowhereWhereTwoDo) {
    const auto fits = [&](const char* id) {
        offer(id, "resources/templates/list",
              {{"resourceTemplates", {{{"uriTemplate", "t:{x}"}, {"name", "n"}}}}});
        offer(id, "resources/read", {{"contents", json::array()}});
    };
    fits("git");
    greet();
    EXPECT_TRUE(ask(2, "resources/read", {{"uri", "t:1"}}).contains("result"));
    EXPECT_EQ(servers.at("git").requests("resources/read").size(), 1u);
    fits("github");
    const auto refused = ask(3, "resources/read", {{"uri", "t:2"}});
    EXPECT_THAT(std::string(at(refused, "/error/message").as_string()),
                HasSubstr("patchbay+git:t:2"));
}

TEST_F(SessionTest, AListWaitsASecondForAServerAndNoLonger) {
    servers.at("github").results.erase("initialize");
    greet();
    say(2, "tools/list");
    loop.pass(900ms);
    EXPECT_EQ(sent.size(), 1u) << "github may still come";
    loop.pass(200ms);
    const auto list = answer_to(2);
    EXPECT_THAT(json::serialize(list), HasSubstr("mcp__git__log"));
    EXPECT_THAT(json::serialize(list), Not(HasSubstr("github")));
    EXPECT_TRUE(ask(3, "tools/list").contains("result")) << "at once from then on";
}

TEST_F(SessionTest, PromptsThatAreKnownAreListedBeforeTheirServersAreThere) {
    known();
    const auto begin = servers.at("git").results.at("initialize");
    for (const auto& [id, prompt] : {std::pair{"git", "p"}, std::pair{"github", "q"}}) {
        const auto& spec = connections->find(id)->get().spec();
        catalogue->publish(
            id, catalogue::List::Prompts,
            std::make_shared<const catalogue::Items>(catalogue::Items{
                known().origin_of(spec), {json::serialize(json::object{{"name", prompt}})}}));
        servers.at(id).results.erase("initialize");
    }
    offer("git", "prompts/list", {{"prompts", {{{"name", "p"}}}}});
    offer("github", "prompts/list", {{"prompts", {{{"name", "other"}}}}});
    greet();
    const auto list = json::serialize(ask(2, "prompts/list"));
    EXPECT_THAT(list, HasSubstr("mcp__git__p"));
    EXPECT_THAT(list, HasSubstr("mcp__github__q"));
    for (auto& [id, server] : servers)
        server.answer(server.requests("initialize").back().at("id").to_number<int>(),
                      json::serialize(begin({})));
    ASSERT_TRUE(wait([&] { return !told("notifications/prompts/list_changed").empty(); }));
    const auto now = json::serialize(ask(3, "prompts/list"));
    EXPECT_THAT(now, HasSubstr("mcp__github__other"));
    EXPECT_EQ(told("notifications/prompts/list_changed").size(), 1u)
        << "of the one that lists something else";
}

TEST_F(SessionTest, AListThatIsLongHasPagesAndEachToolOnce) {
    json::array many;
    std::vector<std::string> names;
    for (int i = 100; i < 120; ++i) {
        auto tool = test::tool_named(("t" + std::to_string(i)).c_str());
        tool["annotations"] = {{"x", std::string(300'000, 'x')}};
        many.push_back(tool);
        names.push_back("mcp__git__t" + std::to_string(i));
    }
    names.push_back("mcp__github__log");
    offer("git", "tools/list", {{"tools", many}});
    greet();
    std::vector<std::string> seen;
    json::object params;
    for (int id = 2; id < 10; ++id) {
        const auto page = ask(id, "tools/list", params);
        const auto tools = at(page, "/result/tools");
        for (const auto& tool : tools.as_array()) seen.emplace_back(tool.at("name").as_string());
        const auto& result = page.at("result").as_object();
        if (!result.contains("nextCursor")) break;
        EXPECT_LT(id, 4) << "of 4 MiB each";
        params["cursor"] = result.at("nextCursor");
    }
    EXPECT_EQ(seen, names);
    EXPECT_EQ(at(ask(10, "tools/list", {{"cursor", "x"}}), "/error/code"), -32602);
    EXPECT_EQ(at(ask(11, "prompts/list", {{"cursor", "mcp__x"}}), "/error/code"), -32602);
    EXPECT_EQ(at(ask(12, "tools/list", {{"cursor", 5}}), "/error/code"), -32602);
    EXPECT_EQ(at(ask(13, "resources/list", {{"cursor", json::object()}}), "/error/code"), -32602);
    EXPECT_TRUE(ask(14, "prompts/list", {{"cursor", nullptr}}).contains("result"));
}

TEST_F(SessionTest, ALevelReachesTheServersThatLogAndWhoeverJoins) {
    greet();
    ask(2, "tools/list");
    EXPECT_TRUE(ask(3, "logging/setLevel", {{"level", "error"}}).contains("result"));
    for (const char* id : {"git", "github"})
        EXPECT_TRUE(wait([&] { return !servers.at(id).requests("logging/setLevel").empty(); }))
            << id;
    EXPECT_EQ(at(ask(4, "logging/setLevel", {{"level", "loud"}}), "/error/code"), -32602);
}

TEST_F(SessionTest, HoweverManyAreLookedForAtOnceTheirServersAreAskedTwice) {
    greet();
    ask(2, "resources/list");
    const auto asked = [&] { return servers.at("git").requests("resources/list").size(); };
    const auto before = asked();
    for (int id = 10; id < 110; ++id)
        say(id, "resources/read", {{"uri", "file:///" + std::to_string(id)}});
    offer("git", "resources/list",
          {{"resources", json::array{{{"uri", "file:///109"}, {"name", "new"}}}}});
    servers.at("git").results["resources/read"] = [](const json::object& params) -> json::value {
        return {{"contents", json::array{{{"uri", params.at("uri")}, {"text", "x"}}}}};
    };
    for (int id = 10; id < 109; ++id) EXPECT_EQ(at(answer_to(id), "/error/code"), -32002) << id;
    EXPECT_EQ(at(answer_to(109), "/result/contents/0/text"), "x");
    EXPECT_LE(asked() - before, 2u);
    EXPECT_LE(servers.at("git").requests("resources/templates/list").size(), 2u);
}

TEST_F(SessionTest, WhatNobodyLooksForAnyMoreIsAskedOfNobody) {
    servers.at("git").results.erase("resources/list");
    greet();
    for (const int id : {2, 3}) say(id, "resources/read", {{"uri", "file:///a"}});
    const auto heard = [&](const char* method) {
        return servers.at("git").requests(method).size();
    };
    ASSERT_TRUE(wait([&] { return heard("resources/list") == 1; }));
    const auto cancel = [&](int id) {
        session().take(
            R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
            std::to_string(id) + "}}");
    };
    cancel(2);
    loop.pass(1s);
    EXPECT_EQ(heard("notifications/cancelled"), heard("resources/list") - 1);
    cancel(3);
    EXPECT_TRUE(wait([&] { return heard("notifications/cancelled") == heard("resources/list"); }));
}

TEST_F(SessionTest, WhatAClientMayLeaveBehindIsBounded) {
    json::array uris;
    for (std::size_t i = 0; i <= Listeners::kMostUris; ++i)
        uris.emplace_back("a:" + std::to_string(i));
    say_modern("s", "subscriptions/listen",
               {{"notifications", {{"resourceSubscriptions", std::move(uris)}}}});
    EXPECT_THAT(at(answer_to("s"), "/error/message").as_string().c_str(),
                HasSubstr("at most 1000"));
    EXPECT_THAT(servers.at("git").requests("resources/list"), IsEmpty());
    ask(1, "initialize",
        {{"protocolVersion", "2025-11-25"},
         {"capabilities", {{"x", std::string(kMostCapabilityBytes, 'x')}}}});
    EXPECT_EQ(at(answer_to(1), "/error/code"), -32602);
    EXPECT_EQ(session().handshake().revision(), "");
}

TEST_F(SessionTest, AModernClientHearsALogOnlyWhileItHasAskedForThatLevel) {
    servers.at("git").results.erase("tools/call");
    const auto log = [&](const char* level) {
        servers.at("git").say(
            R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":")" +
            std::string(level) + R"(","data":"x"}})");
        loop.pass(1ms);
    };
    say_modern(1, "tools/call", kCall, {{"io.modelcontextprotocol/logLevel", "warning"}});
    ASSERT_TRUE(wait([&] { return !servers.at("git").requests("tools/call").empty(); }));
    log("info");
    EXPECT_THAT(told("notifications/message"), IsEmpty());
    log("error");
    EXPECT_EQ(told("notifications/message").size(), 1u);
    servers.at("git").answer(
        servers.at("git").requests("tools/call").back().at("id").to_number<int>(),
        R"({"content":[]})");
    answer_to(1);
    log("error");
    EXPECT_EQ(told("notifications/message").size(), 1u);
}

TEST_F(SessionTest, MoreRequestsThanMayBeInFlightAreRefusedAndTheOthersGoOn) {
    servers.at("git").results.erase("tools/call");
    greet();
    for (std::size_t i = 0; i <= ClientRequests::kMost; ++i)
        say(static_cast<std::int64_t>(i + 100), "tools/call", kCall);
    const auto last = static_cast<std::int64_t>(ClientRequests::kMost + 100);
    EXPECT_THAT(std::string(at(answer_to(last), "/error/message").as_string()),
                HasSubstr("256 requests are in flight"));
    session().take(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":100}})");
    EXPECT_EQ(at(ask(5, "nope"), "/error/code"), -32601) << "there is room again";
}

TEST_F(SessionTest, WhoGoesTakesAlongWhatItAsked) {
    servers.at("git").results.erase("tools/call");
    greet();
    say(2, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return !servers.at("git").requests("tools/call").empty(); }));
    session_.reset();
    EXPECT_TRUE(
        wait([&] { return !servers.at("git").requests("notifications/cancelled").empty(); }));
}

TEST_F(SessionTest, EachAnswerToAModernClientSaysWhoGaveIt) {
    const std::string who = "/result/_meta/io.modelcontextprotocol~1serverInfo/name";
    for (const auto* method : {"server/discover", "tools/list", "prompts/list"})
        EXPECT_EQ(at(ask_modern(method, method), who), "patchbay") << method;
    EXPECT_EQ(at(ask_modern("call", "tools/call", kCall), who), "patchbay");
    say_modern("stream", "subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}});
    ASSERT_TRUE(wait([&] { return !told("notifications/subscriptions/acknowledged").empty(); }));
    session().end_streams();
    const auto ended = answer_to("stream");
    EXPECT_EQ(at(ended, who), "patchbay") << ended;
    EXPECT_EQ(at(ended, "/result/_meta/io.modelcontextprotocol~1subscriptionId"), "stream");
    EXPECT_EQ(at(ended, "/result/resultType"), "complete");
}

TEST_F(SessionTest, AllRevisionsAreToldWhereOneIsUnknown) {
    const auto all =
        json::array{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
    EXPECT_EQ(at(ask_modern("who", "server/discover"), "/result/supportedVersions"), all);
    const auto in_revision = [](const char* version) {
        return json::object{{"io.modelcontextprotocol/protocolVersion", version},
                            {"io.modelcontextprotocol/clientCapabilities", json::object()}};
    };
    const auto refused = ask("unknown", "tools/list", {{"_meta", in_revision("2099-01-01")}});
    EXPECT_EQ(at(refused, "/error/code"), -32022);
    EXPECT_EQ(at(refused, "/error/data/requested"), "2099-01-01");
    EXPECT_EQ(at(refused, "/error/data/supported"), all);
    // That one begins with initialize: who is told to name it again would come again without end.
    const auto older = ask("older", "tools/list", {{"_meta", in_revision("2025-11-25")}});
    EXPECT_EQ(at(older, "/error/code"), -32022);
    EXPECT_EQ(at(older, "/error/data/supported"), json::array{"2026-07-28"});
    EXPECT_THAT(json::serialize(at(older, "/error/message")), HasSubstr("initialize"));
}

}  // namespace
}  // namespace patchbay::gateway
