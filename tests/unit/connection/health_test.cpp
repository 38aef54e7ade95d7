// Health checks of a server that is ready, without one.
#include "connection/health.hpp"

#include "support/turned_loop.hpp"
#include "unit/connection/scripted_requests.hpp"

#include <functional>
#include <optional>

namespace patchbay::connection {
namespace {

class HealthTest : public ::testing::Test, public Loss {
protected:
    HealthTest() {
        terms.health.ping_interval = 1ms;
        terms.health.ping_timeout = 7ms;
        terms.health.misses = 2;
    }
    void lose(Error error) override {
        why.push_back(error.message);
        health.reset();  // as a connection that is given up does
    }
    void begin() { health.emplace(loop, terms, link, requests, *this); }
    void until_asked(std::size_t times) {
        EXPECT_TRUE(loop.run_until([&] { return requests.asked.size() >= times; }));
    }

    test::TurnedLoop loop;
    Terms terms;
    Link link;
    ScriptedRequests requests;
    std::optional<Health> health;
    std::vector<std::string> why;
};

TEST_F(HealthTest, AsksWhenNothingWasHeardForAnInterval) {
    begin();
    until_asked(1);
    EXPECT_EQ(requests.asked[0].request.method, "ping");
    EXPECT_EQ(requests.asked[0].timeout, 7ms);
}

TEST_F(HealthTest, AsksInTheWordsOfTheEra) {
    link.session.emplace().era = protocol::Era::Modern;
    begin();
    until_asked(1);
    EXPECT_EQ(requests.asked[0].request.method, "server/discover");
}

TEST_F(HealthTest, AsksNobodyWhoTalks) {
    begin();
    const auto end = loop.now() + 10ms;
    bool silent = false;
    std::function<void()> talk = [&] {
        health->heard();
        silent = loop.now() >= end;
        if (!silent) loop.after(500us, talk);
    };
    talk();
    EXPECT_TRUE(loop.run_until([&] { return silent; }));
    EXPECT_TRUE(requests.asked.empty());
}

TEST_F(HealthTest, GivesUpAfterSomeMissesInARow) {
    begin();
    until_asked(1);
    requests.end(1, Error{ErrorCode::Timeout, "late"});
    until_asked(2);
    EXPECT_TRUE(why.empty());
    requests.end(2, Error{ErrorCode::Timeout, "late"});
    ASSERT_EQ(why.size(), 1u);
    EXPECT_EQ(why[0], "no answer to 2 health checks in a row (health.misses)");
}

TEST_F(HealthTest, WhoLooksMoreOftenMakesNobodyMissMore) {
    terms.health.ping_interval = 1h;
    begin();
    std::size_t told = 0;
    for (std::size_t i = 1; i <= 5; ++i) {
        health->check([&] { ++told; });
        requests.end(i, Error{ErrorCode::Timeout, "late"});
    }
    EXPECT_EQ(told, 5u);
    EXPECT_TRUE(why.empty());
}

TEST_F(HealthTest, ForgetsAMissOnceTheServerIsHeardOf) {
    terms.health.misses = 1'000;
    begin();
    until_asked(1);
    requests.end(1, Error{ErrorCode::Timeout, "late"});
    terms.health.misses = 2;
    health->heard();
    const auto before = requests.asked.size();
    until_asked(before + 1);
    requests.end(before + 1, Error{ErrorCode::Timeout, "late"});
    EXPECT_TRUE(why.empty()) << "the first of a new row";
}

TEST_F(HealthTest, TakesOnlySilenceForAMiss) {
    terms.health.misses = 1;
    begin();
    until_asked(1);
    requests.end(1, Error{ErrorCode::Protocol, "nonsense"});
    until_asked(2);
    requests.end(2, Error{ErrorCode::Unavailable, "lost"});
    EXPECT_TRUE(why.empty());
}

TEST_F(HealthTest, AnAnswerThatComesWhenItIsGoneMeetsNobody) {
    terms.health.misses = 1;
    begin();
    until_asked(1);
    health.reset();
    requests.end(1, Error{ErrorCode::Timeout, "late"});
    EXPECT_TRUE(why.empty());
}

}  // namespace
}  // namespace patchbay::connection
