// How the list of a server's tools is read: what bounds it, what its failure is called, and when it
// is read again.
#include "unit/connection/fixture.hpp"

namespace patchbay::connection {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ToolList : public ConnectionTest {
protected:
    static constexpr const char* kChanged =
        R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})";

    // `count` pages of one tool each, which say that there is one more when `endless`.
    void be_paged(int count, bool endless = false) {
        server.be_legacy({});
        server.results["tools/list"] = [count, endless](const json::object& params) -> json::value {
            const auto* cursor = params.if_contains("cursor");
            const int page = cursor ? std::stoi(std::string(cursor->as_string())) : 0;
            json::object result{{"tools", {tool_named(("t" + std::to_string(page)).c_str())}}};
            if (endless || page + 1 < count) result["nextCursor"] = std::to_string(page + 1);
            return result;
        };
    }
    // Says with each list that it changed.
    void never_stops_changing() {
        server.be_legacy({});
        server.results["tools/list"] = [this](const auto&) -> json::value {
            listed.push_back(loop.now());
            server.say(kChanged);
            return {{"tools", {tool_named("a")}}};
        };
    }
    Result<void> refresh() {
        std::optional<Result<void>> outcome;
        connection().refresh_tools([&](Result<void> fresh) { outcome.emplace(std::move(fresh)); });
        EXPECT_TRUE(wait([&] { return outcome.has_value(); }));
        return outcome.value_or(Error{ErrorCode::Internal, "never"});
    }
    std::size_t lists() const { return server.requests("tools/list").size(); }

    std::vector<core::Clock::time_point> listed;  // when it was asked for the list
};

// ---- a list that does not come

TEST_F(ToolList, AServerThatDoesNotAnswerItIsNotReadyAndTheErrorNamesRequestAndKey) {
    server.be_legacy({});
    server.results.erase("tools/list");
    spec.config.request_timeout = 20ms;
    EXPECT_NE(connect(), State::Ready);
    EXPECT_THAT(connection().status().last_error,
                AllOf(HasSubstr("server \"s\": tools/list was not answered within 20 ms"),
                      HasSubstr("(request_timeout_ms)")));
    ASSERT_TRUE(wait([&] { return connection().state() == State::Failed; }));
    const auto reply = ask(call("a"));
    ASSERT_FALSE(reply);
    EXPECT_THAT(reply.error().message, HasSubstr("tools/list was not answered within 20 ms"));
    EXPECT_TRUE(server.requests("tools/call").empty());
}

TEST_F(ToolList, TheStartingLimitNamesTheListThatItEnds) {
    server.be_legacy({});
    server.results.erase("tools/list");
    spec.config.startup_timeout = 20ms;
    EXPECT_NE(connect(), State::Ready);
    EXPECT_THAT(connection().status().last_error,
                AllOf(HasSubstr("tools/list was not answered to its end within 20 ms"),
                      HasSubstr("startup_timeout_sec")));
}

TEST_F(ToolList, AServerThatAnswersItAtASecondStartIsReady) {
    long_lived = true;
    server.be_legacy({tool_named("a")});
    const auto answer = std::exchange(server.results["tools/list"], {});
    server.results.erase("tools/list");
    spec.config.request_timeout = 20ms;
    connect();
    server.results["tools/list"] = answer;
    EXPECT_TRUE(wait([&] { return connection().state() == State::Ready; }));
    EXPECT_EQ(connection().tools().size(), 1u);
}

class ToolListOverHttp : public HttpConnectionTest {};

TEST_F(ToolListOverHttp, WhateverKeepsItFromComingIsTheServersError) {
    using Ending = FakeServer::Ending;
    const std::pair<Ending, const char*> cases[] = {
        {std::nullopt, "tools/list failed: the stream ended without an answer"},
        {FakeServer::problem(ErrorCode::Io, "connection reset"),
         "tools/list failed: connection reset"},
        {FakeServer::problem(ErrorCode::Protocol, "HTTP 204 without a body", 204),
         "tools/list failed: HTTP 204"},
        {FakeServer::problem(ErrorCode::Limit, "the body is over message_bytes"),
         "tools/list failed: the body is over message_bytes"},
    };
    for (const auto& [ending, told] : cases) {
        SCOPED_TRACE(told);
        connection_.reset();
        server.received.clear();
        server.be_legacy({tool_named("a")});
        server.endings["tools/list"] = {ending};
        EXPECT_NE(connect(), State::Ready);
        EXPECT_THAT(connection().status().last_error, HasSubstr(told));
        EXPECT_THAT(connection().status().last_error,
                    Not(HasSubstr("tools/list failed: server \"s\"")));
    }
}

// ---- a list that is refused, or broken

TEST_F(ToolList, ARefusedListLeavesTheServerReadyAndKeepsTheCause) {
    server.be_legacy({tool_named("a")});
    server.errors["tools/list"] = {-32603, "the database is down"};
    ASSERT_EQ(connect(), State::Ready);
    ASSERT_NE(connection().tools_error(), nullptr);
    EXPECT_EQ(connection().tools_error()->message,
              "server \"s\": tools/list failed: the database is down");
    EXPECT_EQ(connection().status().tools_error, connection().tools_error()->message);
    EXPECT_EQ(connection().status().tools, std::nullopt) << "not known, rather than none";
    server.errors.erase("tools/list");
    EXPECT_TRUE(refresh()) << "it is asked again as soon as somebody needs it";
    EXPECT_EQ(connection().tools().size(), 1u);
    EXPECT_EQ(connection().tools_error(), nullptr);
    EXPECT_EQ(connection().status().tools_error, "");
}

TEST_F(ToolList, AServerThatDoesNotKnowTheMethodHasNoTools) {
    server.be_legacy({});
    server.errors["tools/list"] = {-32601, "Method not found"};
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_EQ(connection().tools_error(), nullptr);
    EXPECT_THAT(connection().status().notes.at(0), HasSubstr("does not know tools/list"));
}

TEST_F(ToolList, AResultThatIsNoListIsSaidToBeNone) {
    for (const json::value& result : {json::value(json::object()), json::value({{"tools", 3}})}) {
        connection_.reset();
        server.be_legacy({});
        server.results["tools/list"] = [result](const auto&) { return result; };
        ASSERT_EQ(connect(), State::Ready);
        EXPECT_FALSE(refresh());
        EXPECT_THAT(connection().status().tools_error, HasSubstr("tools/list result has no"));
    }
}

TEST_F(ToolList, ALaterListThatFailsLeavesTheToolsThatAreKnown) {
    server.be_legacy({tool_named("a")});
    health.tool_cache = 0ms;
    ASSERT_EQ(connect(), State::Ready);
    server.errors["tools/list"] = {-32603, "busy"};
    const auto fresh = refresh();
    ASSERT_FALSE(fresh);
    EXPECT_THAT(fresh.error().message, HasSubstr("busy"));
    EXPECT_EQ(connection().state(), State::Ready);
    EXPECT_EQ(connection().tools().size(), 1u);
}

// ---- bounds

TEST_F(ToolList, IsBoundedInPagesToolsAndBytesAndTheErrorNamesTheLimit) {
    struct Case {
        const char* limit;
        std::function<void(core::Limits&)> set;
        std::size_t lists;
    };
    const Case cases[] = {
        {"pages_per_list", [](auto& of) { of.pages_per_list = 3; }, 3},
        {"tools_per_server", [](auto& of) { of.tools_per_server = 2; }, 3},
        {"list_bytes", [](auto& of) { of.list_bytes = 200; }, 3},
    };
    for (const auto& each : cases) {
        SCOPED_TRACE(each.limit);
        connection_.reset();
        server.received.clear();
        limits = {};
        each.set(limits);
        be_paged(0, true);
        ASSERT_EQ(connect(), State::Ready) << "some tools are better than none";
        EXPECT_EQ(lists(), each.lists);
        ASSERT_NE(connection().tools_error(), nullptr);
        EXPECT_EQ(connection().tools_error()->code, ErrorCode::Limit);
        EXPECT_THAT(connection().tools_error()->message, HasSubstr(each.limit));
        EXPECT_GE(connection().tools().size(), 2u);
        EXPECT_FALSE(refresh());
        EXPECT_EQ(lists(), each.lists) << "what is too long is not read for every caller";
    }
}

TEST_F(ToolList, AListJustWithinItsBoundsIsWhole) {
    limits.pages_per_list = 3;
    limits.tools_per_server = 3;
    be_paged(3);
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_EQ(connection().tools().size(), 3u);
    EXPECT_EQ(connection().tools_error(), nullptr);
}

TEST_F(ToolList, OneToolWithADeepSchemaTakesNobodyElseDown) {
    auto deep = tool_named("deep");
    json::object nested;
    for (int i = 0; i < 50; ++i) nested = {{"p", std::move(nested)}};
    deep["inputSchema"] = std::move(nested);
    server.be_legacy({tool_named("a"), deep});
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_EQ(connection().tools().size(), 2u);
    EXPECT_EQ(connection().tools_error(), nullptr);
}

// ---- when it is read again

TEST_F(ToolList, APagedListCanBeReadAgain) {
    long_lived = true;
    be_paged(2);
    ASSERT_EQ(connect(), State::Ready);
    server.say(kChanged);
    ASSERT_TRUE(wait([&] { return lists() == 4 && events.tool_changes == 2; }));
    EXPECT_EQ(connection().tools().size(), 2u);
    EXPECT_EQ(connection().tools_error(), nullptr) << "its cursors are new ones";
}

TEST_F(ToolList, OneThatBrokeOffWithItsServerIsReadFromTheBeginning) {
    long_lived = true;
    be_paged(2, true);
    auto endless = server.results["tools/list"];
    be_paged(2);
    auto whole = server.results["tools/list"];
    bool dying = false, gone = false;
    server.results["tools/list"] = [&, endless, whole](const json::object& params) {
        if (gone) return whole(params);
        if (params.contains("cursor") && !std::exchange(dying, true)) {
            loop.defer([&] {
                gone = true;
                server.crash("gone");
            });
        }
        return endless(params);
    };
    connect();
    ASSERT_TRUE(wait([&] { return gone && connection().state() == State::Ready; }));
    EXPECT_LT(lists(), 10u);
    EXPECT_EQ(connection().tools().size(), 2u);
    EXPECT_EQ(connection().tools_error(), nullptr) << "its cursors are new ones";
}

TEST_F(ToolList, AServerWhoseEveryListSaysThatItChangedIsReadyAndLeftAlone) {
    long_lived = true;
    relist_first = relist_most = 1h;
    never_stops_changing();
    server.results["tools/call"] = [](const auto&) -> json::value { return json::object(); };
    ASSERT_EQ(connect(), State::Ready);
    ASSERT_TRUE(wait([&] { return events.tool_changes == 2; })) << "the first time at once";
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(ask(call("a")));
    EXPECT_EQ(lists(), 2u);
    EXPECT_TRUE(refresh());
    EXPECT_EQ(lists(), 3u) << "who needs it does not wait for the pause";
}

TEST_F(ToolList, OfManyChangesInARowOneListEachSecondIsRead) {
    long_lived = true;
    relist_first = core::kRelistFirst;
    relist_most = core::kRelistMost;
    never_stops_changing();
    ASSERT_EQ(connect(), State::Ready);
    ASSERT_TRUE(wait([&] { return listed.size() == 6; }));
    for (std::size_t i = 2; i < listed.size(); ++i) EXPECT_EQ(listed[i] - listed[i - 1], 1s) << i;
}

TEST_F(ToolList, AListThatTakesLongIsReadForAFifthOfTheTime) {
    long_lived = true;
    relist_first = 1s;
    relist_most = 1h;
    never_stops_changing();
    const auto answer = server.results.at("tools/list");
    server.results["tools/list"] = [&, answer](const json::object& params) {
        if (!listed.empty()) loop.turn(10s);
        return answer(params);
    };
    ASSERT_EQ(connect(), State::Ready);
    ASSERT_TRUE(wait([&] { return listed.size() == 4; }));
    EXPECT_EQ(listed[3] - listed[2], 50s) << "from the end of one to that of the next";
}

TEST_F(ToolList, OfTwoToolsWithOneNameTheFirstCounts) {
    auto first = tool_named("a"), second = tool_named("a");
    first["title"] = "first";
    second["title"] = "second";
    server.be_legacy({tool_named("b"), first, second});
    health.tool_cache = 0ms;
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_TRUE(refresh());
    ASSERT_EQ(connection().tools().size(), 2u);
    EXPECT_EQ(connection().tools()[0].name, "a");
    EXPECT_EQ(connection().tools()[0].text("title"), "first");
    ASSERT_EQ(connection().status().notes.size(), 1u) << "said once, of the list that counts";
    EXPECT_THAT(connection().status().notes[0], HasSubstr("twice under one name"));
}

TEST_F(ToolList, IsFreshForAsLongAsItsPagesSay) {
    health.tool_cache = 1h;
    std::vector<int> ttls{60'000, 0};
    server.be_legacy({});
    server.results["tools/list"] = [&](const json::object& params) -> json::value {
        json::object result{{"tools", json::array()}};
        const std::size_t page = params.contains("cursor") ? 1 : 0;
        if (page < ttls.size()) result["ttlMs"] = ttls[page];
        if (page + 1 < ttls.size()) result["nextCursor"] = "more";
        return result;
    };
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_EQ(lists(), 2u);
    ttls.clear();
    EXPECT_TRUE(refresh());
    EXPECT_EQ(lists(), 3u) << "the shortest of them counts";
    EXPECT_TRUE(refresh());
    EXPECT_EQ(lists(), 3u) << "this one says nothing, and no page of another list counts";
}

TEST_F(ToolList, IsFreshToItsLastMillisecondAndForADayAtMost) {
    for (const auto& [ttl_ms, fresh] :
         {std::pair<std::int64_t, core::Clock::duration>{60'000, 60s}, {100'000'000'000, 24h}}) {
        connection_.reset();
        server.received.clear();
        server.be_legacy({});
        server.results["tools/list"] = [ttl = ttl_ms](const auto&) -> json::value {
            return {{"tools", json::array()}, {"ttlMs", ttl}};
        };
        ASSERT_EQ(connect(), State::Ready);
        loop.turn(fresh - 1ms);
        EXPECT_TRUE(refresh());
        EXPECT_EQ(lists(), 1u);
        loop.turn(1ms);
        EXPECT_TRUE(refresh());
        EXPECT_EQ(lists(), 2u);
    }
}

TEST_F(ToolList, AServerThatWasQuietForTheLongestPauseIsReadAtOnce) {
    long_lived = true;
    relist_first = relist_most = 1h;
    for (const std::chrono::milliseconds quiet : {1h - 1ms, 1h + 0ms}) {
        connection_.reset();
        server.received.clear();
        server.be_legacy({});
        ASSERT_EQ(connect(), State::Ready);
        server.say(kChanged);
        ASSERT_TRUE(wait([&] { return lists() == 2; }));
        pass(0ms);
        loop.turn(quiet);
        server.say(kChanged);
        pass(20ms);
        EXPECT_EQ(lists(), quiet < 1h ? 2u : 3u);
    }
}

TEST_F(ToolList, AServerThatComesBackWithoutToolsHasNoErrorOfThem) {
    long_lived = true;
    server.be_legacy({});
    server.errors["tools/list"] = {-32603, "busy"};
    ASSERT_EQ(connect(), State::Ready);
    ASSERT_NE(connection().tools_error(), nullptr);
    server.results["initialize"] = [](const auto&) -> json::value {
        return {{"protocolVersion", "2025-11-25"}, {"capabilities", json::object()}};
    };
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return server.opened == 2 && connection().state() == State::Ready; }));
    EXPECT_EQ(connection().tools_error(), nullptr);
}

TEST_F(ToolList, AOneShotHostReadsItOnceAndAgainOnlyForWhoAsks) {
    never_stops_changing();
    ASSERT_EQ(connect(), State::Ready);
    ASSERT_TRUE(wait([&] { return !caller.methods().empty(); }));
    EXPECT_EQ(lists(), 1u);
    EXPECT_TRUE(refresh());
    EXPECT_EQ(lists(), 2u);
}

TEST_F(ToolList, NothingIsReadOfAServerThatWasLostMeanwhile) {
    long_lived = true;
    relist_first = relist_most = 20ms;
    never_stops_changing();
    ASSERT_EQ(connect(), State::Ready);
    ASSERT_TRUE(wait([&] { return lists() == 2 && caller.methods().size() == 2; }));
    server.refuse_open = true;
    server.crash("gone");
    ASSERT_TRUE(wait([&] { return connection().state() == State::Error; }));
    bool pause_over = false;
    loop.after(40ms, [&] { pause_over = true; });
    EXPECT_TRUE(wait([&] { return pause_over; }));
    EXPECT_EQ(lists(), 2u);
}

TEST_F(ConnectionTest, ACursorThatRepeatsIsNotFollowedForEver) {
    server.be_legacy({});
    server.results["tools/list"] = [](const auto&) -> json::value {
        return {{"tools", {tool_named("a")}}, {"nextCursor", "again"}};
    };
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_EQ(server.requests("tools/list").size(), 2u);
    EXPECT_THAT(connection().status().last_error, HasSubstr("repeats the cursor \"again\""));
    EXPECT_EQ(connection().tools().size(), 1u) << "what was listed is kept";
}

TEST_F(ConnectionTest, ListsToolsAgainWhenTheyChanged) {
    long_lived = true;
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    server.be_legacy({tool_named("a"), tool_named("b")});
    server.say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    EXPECT_TRUE(wait([&] { return connection().tools().size() == 2; }));
    EXPECT_EQ(caller.methods().at(0), "notifications/tools/list_changed");
}

TEST_F(ToolList, WhoeverListensToAConnectionDoesNotKeepItFromGoing) {
    server.be_modern({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    Outcome outcome;
    Request listen;
    listen.method = "subscriptions/listen";
    listen.params.members = R"("notifications":{"taskIds":["t"]})";
    begin(std::move(listen), outcome);
    ASSERT_TRUE(wait([&] { return server.requests("subscriptions/listen").size() == 1; }));
    bool closed = false;
    connection().close_when_idle([&] { closed = true; });
    ASSERT_TRUE(wait([&] { return closed && outcome.has_value(); }));
    EXPECT_EQ(outcome->error().code, ErrorCode::Cancelled);
}

TEST_F(ToolList, OfAConnectionThatOnlyWaitsForItsLastCallIsPublishedNoMore) {
    long_lived = true;
    server.be_legacy({tool_named("a")});
    server.results.erase("tools/call");
    connection();
    catalogue::Catalogue catalogue;
    context->catalogue = &catalogue;
    ASSERT_EQ(connect(), State::Ready);
    Outcome outcome;
    begin(call("a"), outcome);
    ASSERT_TRUE(wait([&] { return server.requests("tools/call").size() == 1; }));
    const auto version = catalogue.version();
    bool closed = false;
    connection().close_when_idle([&] { closed = true; });
    server.be_legacy({tool_named("a"), tool_named("b")});
    server.say(kChanged);
    ASSERT_TRUE(wait([&] { return connection().tools().size() == 2; }));
    EXPECT_EQ(catalogue.version(), version);
    EXPECT_FALSE(closed) << "the call goes on";
    server.answer(server.requests("tools/call").back().at("id").as_int64(), "{}");
    ASSERT_TRUE(wait([&] { return closed; }));
    EXPECT_TRUE(outcome && *outcome) << "and ends with its answer";
}

}  // namespace
}  // namespace patchbay::connection
