// The list of tools at its seam: pages come when the test says so, and time stands still.
#include "connection/tool_list.hpp"
#include "protocol/handshake.hpp"
#include "support/turned_loop.hpp"
#include "unit/connection/scripted_requests.hpp"

#include <gmock/gmock.h>

#include <optional>

namespace patchbay::connection {
namespace {

class ToolListAlone : public ::testing::Test, public ToolListOwner {
protected:
    ToolListAlone() {
        terms.relist_first = 1ms;
        terms.relist_most = 4ms;
    }
    bool mirrors_arguments() const override { return mirrors; }
    void on_listed(std::shared_ptr<const catalogue::Listing> listing) override {
        EXPECT_EQ(listing->definition, "key of s");
        EXPECT_EQ(&listing->tools, &list.tools());
        published = std::move(listing);
    }
    void on_tools_changed(const Result<void>& outcome) override {
        told.push_back(outcome ? "whole" : outcome.error().message);
    }
    void on_tools_read() override { ++ends; }
    bool on_list_unanswered(const Error&) override {
        if (!gives_up) return false;
        list.end_session();
        return true;
    }
    static std::string page(const std::string& names, const std::string& more = "") {
        std::string text;
        for (const char name : names)
            text += (text.empty() ? "" : ",") + std::string(R"({"name":")") + name +
                    R"(","inputSchema":{"type":"object"}})";
        return "{\"tools\":[" + text + "]" + more + "}";
    }
    std::string names() const {
        std::string all;
        for (const auto& tool : list.tools()) all += tool.name;
        return all;
    }
    std::string cursor_of(std::size_t nth) { return requests.asked.at(nth).request.params.members; }
    void pass(std::chrono::milliseconds time) { loop.pass(time); }
    ToolList::Waiter note_outcome() {
        return [this](const Result<void>& outcome) {
            outcomes.push_back(outcome ? "whole" : outcome.error().message);
        };
    }

    test::TurnedLoop loop;
    Terms terms;
    ServerName name{"s"};
    ScriptedRequests requests;
    bool mirrors = false, gives_up = false;
    std::vector<std::string> told, outcomes;
    int ends = 0;
    std::shared_ptr<const catalogue::Listing> published;
    ToolList list{loop, terms, terms.identity, name, "key of s", requests, *this};
};

TEST_F(ToolListAlone, IsPublishedSortedOnceItsLastPageIsThere) {
    list.begin_session(ToolList::Offered::Tools);
    requests.answer(page("cb", R"(,"nextCursor":"2")"));
    EXPECT_THAT(list.tools(), IsEmpty());
    EXPECT_EQ(cursor_of(1), "\"cursor\":\"2\"");
    requests.answer(page("a"));
    EXPECT_EQ(names(), "abc");
    EXPECT_THAT(told, ElementsAre("whole"));
    EXPECT_EQ(ends, 1);
    EXPECT_TRUE(list.fresh());
    EXPECT_NE(list.find("b"), nullptr);
    EXPECT_EQ(list.find("d"), nullptr);
}

TEST_F(ToolListAlone, SaysWhatWasDeclaredWhenItsSessionBegan) {
    list.begin_session(ToolList::Offered::Tools);
    requests.answer(page("a"));
    EXPECT_EQ(published->declared, "") << "nothing";
    list.end_session();
    terms.identity.capabilities["sampling"].emplace_object();
    list.begin_session(ToolList::Offered::Tools);
    const auto declared = protocol::declared_by(terms.identity);
    terms.identity.capabilities["roots"].emplace_object();  // for sessions to come
    requests.answer(page("ab"));
    EXPECT_NE(published->declared, "");
    EXPECT_EQ(published->declared, declared);
}

TEST_F(ToolListAlone, AnEmptyCursorIsOneAsAny) {
    list.begin_session(ToolList::Offered::Tools);
    requests.answer(page("a", R"(,"nextCursor":"")"));
    EXPECT_EQ(cursor_of(1), R"("cursor":"")");
    requests.answer(page("b"));
    EXPECT_EQ(names(), "ab");
    EXPECT_THAT(told, ElementsAre("whole"));
}

TEST_F(ToolListAlone, WhoWritesAnEmptyCursorForNoneHasEachToolOnce) {
    list.begin_session(ToolList::Offered::Tools);
    requests.answer(page("ab", R"(,"nextCursor":"")"));
    requests.answer(page("ab", R"(,"nextCursor":"")"));
    EXPECT_EQ(names(), "ab");
    EXPECT_THAT(told, ElementsAre("whole"));
    EXPECT_EQ(requests.asked.size(), 2u);
}

TEST_F(ToolListAlone, WhoWritesAnEmptyCursorForNoneAndKnowsItNotHasWhatItListed) {
    list.begin_session(ToolList::Offered::Tools);
    requests.answer(page("ab", R"(,"nextCursor":"")"));
    requests.refuse(R"({"code":-32602,"message":"no such cursor"})");
    EXPECT_EQ(names(), "ab");
    EXPECT_THAT(told, ElementsAre("whole"));
}

// Each is as long as one turn is for.
std::string long_page(const std::string& names) {
    std::string text;
    for (const char name : names)
        text += (text.empty() ? "" : ",") + std::string(R"({"name":")") + name +
                R"(","description":")" + std::string(64u << 10, 'x') + "\"}";
    return "{\"tools\":[" + text + "]}";
}

TEST_F(ToolListAlone, OthersHaveTheirTurnsWhileALongPageIsRead) {
    list.begin_session(ToolList::Offered::Tools);
    list.join(note_outcome());
    requests.answer(long_page("dcba"));
    for (int turns = 0; turns < 3; ++turns) {
        EXPECT_TRUE(list.reading());
        EXPECT_THAT(list.tools(), IsEmpty()) << turns;
        EXPECT_THAT(outcomes, IsEmpty());
        EXPECT_TRUE(loop.run_ready());
    }
    EXPECT_EQ(names(), "abcd");
    EXPECT_THAT(outcomes, ElementsAre("whole"));
    EXPECT_FALSE(list.reading());
}

TEST_F(ToolListAlone, OfAPageWhoseSessionEndsMeanwhileNothingMoreIsRead) {
    for (const bool another : {true, false}) {
        list.begin_session(ToolList::Offered::Tools);
        requests.answer(long_page("abc"));
        if (another)
            list.begin_session(ToolList::Offered::Tools);
        else
            list.end_session();
        while (loop.run_ready()) {
        }
        EXPECT_THAT(list.tools(), IsEmpty());
        EXPECT_EQ(list.reading(), another);
        list.end_session();
    }
}

TEST_F(ToolListAlone, ASessionWithoutToolsAsksForNone) {
    list.begin_session(ToolList::Offered::Nothing);
    EXPECT_THAT(requests.asked, IsEmpty());
    EXPECT_FALSE(list.reading());
}

TEST_F(ToolListAlone, KeepsWhatTheFirstListOfASessionBroughtBeforeItBrokeOff) {
    list.begin_session(ToolList::Offered::Tools);
    requests.answer(page("ab", R"(,"nextCursor":"2")"));
    requests.refuse(R"({"code":-1,"message":"no more"})");
    EXPECT_EQ(names(), "ab");
    ASSERT_TRUE(list.error());
    EXPECT_EQ(list.error()->message, "server \"s\": tools/list failed: no more");
    EXPECT_THAT(list.notes(), ElementsAre(list.error()->message));
    EXPECT_FALSE(list.fresh());
    EXPECT_EQ(ends, 1) << "some tools are better than none";
    EXPECT_FALSE(published->whole);
    list.join({[](const Result<void>&) {}});
    requests.answer(page("abc"));
    EXPECT_TRUE(published->whole);
}

TEST_F(ToolListAlone, ALaterListThatBreaksOffLeavesTheOneBefore) {
    list.begin_session(ToolList::Offered::Tools);
    requests.answer(page("ab"));
    list.join(note_outcome());
    requests.fail(ErrorCode::Timeout, "late");
    EXPECT_EQ(names(), "ab");
    EXPECT_THAT(outcomes, ElementsAre("late"));
    EXPECT_FALSE(list.fresh());
}

TEST_F(ToolListAlone, APageOfAnAbandonedListIsNoPageOfTheNext) {
    list.begin_session(ToolList::Offered::Tools);
    list.begin_session(ToolList::Offered::Tools);
    ASSERT_THAT(requests.asked, SizeIs(2));
    requests.end(1, Error{ErrorCode::Unavailable, "lost"});
    EXPECT_TRUE(list.reading());
    requests.answer(page("a"));
    EXPECT_EQ(names(), "a");
}

TEST_F(ToolListAlone, WhatComesWhenTheSessionIsOverIsNoList) {
    list.begin_session(ToolList::Offered::Tools);
    list.end_session();
    requests.answer(page("a"));
    EXPECT_THAT(list.tools(), IsEmpty());
    EXPECT_THAT(told, IsEmpty());
}

TEST_F(ToolListAlone, AServerThatIsGivenUpForWantOfAListTellsItself) {
    gives_up = true;
    list.begin_session(ToolList::Offered::Tools);
    requests.fail(ErrorCode::Timeout, "late");
    EXPECT_THAT(told, IsEmpty());
    EXPECT_EQ(ends, 0);
}

TEST_F(ToolListAlone, OneListServesEverybodyWhoWaits) {
    list.begin_session(ToolList::Offered::Tools);
    list.join(note_outcome());
    list.join(note_outcome());
    EXPECT_THAT(requests.asked, SizeIs(1));
    requests.answer(page("a"));
    EXPECT_THAT(outcomes, ElementsAre("whole", "whole"));
}

TEST_F(ToolListAlone, WhoNeedsOneThatBeginsNowWaitsForTheNext) {
    list.begin_session(ToolList::Offered::Tools);
    list.read_again(note_outcome());
    requests.answer(page("a"));
    EXPECT_THAT(outcomes, IsEmpty());
    EXPECT_EQ(ends, 0) << "the connection is not ready before its end";
    ASSERT_THAT(requests.asked, SizeIs(2));
    requests.answer(page("ab"));
    EXPECT_THAT(outcomes, ElementsAre("whole"));
    EXPECT_EQ(names(), "ab");
}

TEST_F(ToolListAlone, IsFreshForAsLongAsTheServerSays) {
    list.begin_session(ToolList::Offered::Tools);
    requests.answer(page("a", R"(,"ttlMs":1000)"));
    EXPECT_TRUE(list.fresh());
    loop.turn(999ms);
    EXPECT_TRUE(list.fresh());
    loop.turn(1ms);
    EXPECT_FALSE(list.fresh());
}

TEST_F(ToolListAlone, MayBeKeptForWhatIsLeftOfTheLeastTimeThatAPageSays) {
    using Caching = protocol::Caching;
    constexpr auto kPublic = protocol::CacheScope::Public;
    EXPECT_EQ(list.caching(), Caching());
    list.begin_session(ToolList::Offered::Tools);
    requests.answer(page("a", R"(,"ttlMs":5000,"cacheScope":"public","nextCursor":"n")"));
    EXPECT_EQ(list.caching(), Caching()) << "it is not whole";
    requests.answer(page("b", R"(,"ttlMs":1000,"cacheScope":"public")"));
    EXPECT_EQ(list.caching(), (Caching{1s, kPublic}));
    loop.turn(400ms);
    EXPECT_EQ(list.caching(), (Caching{600ms, kPublic}));
    loop.turn(600ms);
    EXPECT_EQ(list.caching(), (Caching{{}, kPublic}));
}

TEST_F(ToolListAlone, ThePagesOfAListAgeFromWhenEachCame) {
    list.begin_session(ToolList::Offered::Tools);
    requests.answer(page("a", R"(,"ttlMs":1000,"nextCursor":"n")"));
    loop.turn(900ms);
    requests.answer(page("b", R"(,"ttlMs":1000)"));
    EXPECT_EQ(list.caching().ttl, 100ms);
    loop.turn(100ms);
    EXPECT_FALSE(list.fresh());
}

TEST_F(ToolListAlone, IsNotKeptWhereItsServerSaysNothingOrThatItIsAnother) {
    using Caching = protocol::Caching;
    list.begin_session(ToolList::Offered::Tools);
    requests.answer(page("a"));
    EXPECT_EQ(list.caching(), Caching())
        << "how long we keep it ourselves is not the server's word";
    list.read_again(note_outcome());
    requests.answer(page("a", R"(,"ttlMs":1000)"));
    EXPECT_EQ(list.caching(), (Caching{1s, protocol::CacheScope::Private}));
    list.changed();
    EXPECT_EQ(list.caching(), Caching());
}

TEST_F(ToolListAlone, AChangeIsReadAtOnceTheFirstTimeAndNotTwiceWhileItIsRead) {
    list.begin_session(ToolList::Offered::Tools);
    requests.answer(page("a"));
    list.changed();
    EXPECT_FALSE(list.fresh());
    pass(0ms);
    ASSERT_THAT(requests.asked, SizeIs(2));
    list.changed();
    list.changed();
    EXPECT_THAT(requests.asked, SizeIs(2));
    requests.answer(page("ab"));
    EXPECT_FALSE(list.fresh()) << "it changed meanwhile";
    pass(5ms);
    EXPECT_THAT(requests.asked, SizeIs(3)) << "once for both";
}

TEST_F(ToolListAlone, AChangeMeansNothingToACommandThatDoesNotStay) {
    terms.long_lived = false;
    list.begin_session(ToolList::Offered::Tools);
    requests.answer(page("a"));
    list.changed();
    pass(5ms);
    EXPECT_THAT(requests.asked, SizeIs(1));
    EXPECT_FALSE(list.fresh());
}

TEST_F(ToolListAlone, AnEndedSessionReadsNothingOnItsOwn) {
    list.begin_session(ToolList::Offered::Tools);
    requests.answer(page("a"));
    list.changed();
    list.end_session();
    list.changed();
    pass(5ms);
    EXPECT_THAT(requests.asked, SizeIs(1));
    EXPECT_EQ(names(), "a") << "what was listed stays to be seen";
}

TEST_F(ToolListAlone, MarksBecomeHeadersOnlyWhereThereAreHeaders) {
    const std::string marked =
        R"({"tools":[{"name":"a","inputSchema":{"type":"object","properties":)"
        R"({"region":{"type":"string","x-mcp-header":"Region"}}}}]})";
    list.begin_session(ToolList::Offered::Tools);
    requests.answer(marked);
    EXPECT_FALSE(list.mirrors_any());
    mirrors = true;
    list.begin_session(ToolList::Offered::Tools);
    requests.answer(marked);
    EXPECT_TRUE(list.mirrors_any());
    ASSERT_NE(list.marks_of("a"), nullptr);
    EXPECT_EQ(list.marks_of("b"), nullptr);
}

TEST_F(ToolListAlone, ALimitIsNamedAndWhatCameUntilThenIsKept) {
    terms.limits.tools_per_server = 2;
    list.begin_session(ToolList::Offered::Tools);
    requests.answer(page("abc"));
    EXPECT_EQ(names(), "ab");
    ASSERT_TRUE(list.error());
    EXPECT_THAT(list.error()->message, HasSubstr("has more than 2 tools (limit tools_per_server)"));
    EXPECT_TRUE(list.fresh()) << "another list would be as long";
}

}  // namespace
}  // namespace patchbay::connection
