// The stream of changes of a modern session, without a server.
#include "connection/listen_stream.hpp"

#include "support/turned_loop.hpp"
#include "unit/connection/scripted_requests.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <optional>

namespace patchbay::connection {
namespace {

class ListenStreamTest : public ::testing::Test {
protected:
    ListenStreamTest() {
        session.era = protocol::Era::Modern;
        session.capabilities = {{"tools", {{"listChanged", true}}}};
        terms.listen_first = 1ms;
        terms.listen_most = 4ms;
        stream.emplace(loop, terms, requests);
    }
    void until_asked(std::size_t times) {
        EXPECT_TRUE(loop.run_until([&] { return requests.asked.size() >= times; }));
    }
    std::string wanted(std::size_t nth) { return requests.asked.at(nth).request.params.members; }

    test::TurnedLoop loop;
    Terms terms;
    ScriptedRequests requests;
    protocol::Session session;
    std::optional<ListenStream> stream;
};

TEST_F(ListenStreamTest, NamesWhatTheServerCanSayAndWhatIsWanted) {
    stream->open(session, {"file:///a", "file:///b"});
    EXPECT_TRUE(stream->is_open());
    EXPECT_EQ(wanted(0),
              "\"notifications\":{\"toolsListChanged\":true,"
              "\"resourceSubscriptions\":[\"file:///a\",\"file:///b\"]}");
    EXPECT_EQ(requests.asked[0].timeout, std::chrono::milliseconds::max()) << "it has no end";
}

TEST_F(ListenStreamTest, IsNotOpenedForNothingNorInTheLegacyEra) {
    session.capabilities = {};
    stream->open(session, {});
    session.era = protocol::Era::Legacy;
    stream->open(session, {"file:///a"});
    EXPECT_THAT(requests.asked, IsEmpty());
    EXPECT_FALSE(stream->is_open());
}

TEST_F(ListenStreamTest, AnotherWishTakesThePlaceOfTheOneBefore) {
    stream->open(session, {});
    stream->open(session, {"file:///a"});
    EXPECT_THAT(requests.cancelled, ElementsAre("subscription changes"));
    ASSERT_THAT(requests.asked, SizeIs(2));
    EXPECT_TRUE(stream->is_open());
}

TEST_F(ListenStreamTest, IsOpenedAgainWhenTheServerEndsIt) {
    stream->open(session, {});
    requests.answer("{}");
    EXPECT_FALSE(stream->is_open());
    until_asked(2);
    EXPECT_EQ(wanted(1), wanted(0));
}

TEST_F(ListenStreamTest, IsOpenedLessAndLessOftenUntilItHasLivedForItsTime) {
    stream->open(session, {});
    const auto ended = [&] {  // and how long it is until it is opened again
        const auto since = loop.now();
        const auto asked = requests.asked.size();
        requests.answer("{}");
        until_asked(asked + 1);
        return loop.now() - since;
    };
    for (const auto pause : {1ms, 2ms, 4ms, 4ms}) EXPECT_EQ(ended(), pause);
    loop.turn(terms.listen_most - 1ns);
    EXPECT_EQ(ended(), 4ms);
    loop.turn(terms.listen_most);
    EXPECT_EQ(ended(), 1ms);
}

TEST_F(ListenStreamTest, IsLeftAloneWhenTheServerAnswersAnError) {
    stream->open(session, {});
    requests.refuse("{\"code\":-32601,\"message\":\"no\"}");
    loop.pass(24h);
    EXPECT_THAT(requests.asked, SizeIs(1));
}

TEST_F(ListenStreamTest, AnEndThatComesWhenItIsGoneMeetsNobody) {
    stream->open(session, {});
    stream.reset();
    requests.fail(ErrorCode::Unavailable, "lost");
    loop.pass(24h);
    EXPECT_THAT(requests.asked, SizeIs(1));
}

}  // namespace
}  // namespace patchbay::connection
