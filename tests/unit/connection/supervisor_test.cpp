// The transition table of a connection, without one.
#include "connection/supervisor.hpp"

#include <gtest/gtest.h>

namespace patchbay::connection {
namespace {

using namespace std::chrono_literals;
using Phase = Supervisor::Phase;
using Retry = Supervisor::Retry;

class SupervisorTest : public ::testing::Test {
protected:
    SupervisorTest() {
        terms.now = [this] { return now; };
        terms.health.reconnect_attempts = 3;
        terms.health.reconnect_first = 1s;
        terms.health.reconnect_most = 3s;
        server.restart = true;
    }
    void expect(Phase phase, State shown) {
        EXPECT_EQ(static_cast<int>(one.phase()), static_cast<int>(phase));
        EXPECT_STREQ(name_of(one.shown()), name_of(shown));
    }
    void be_ready() {
        ASSERT_TRUE(one.want());
        one.attempt();
        one.ready();
    }
    const Error lost{ErrorCode::Unavailable, "gone"}, refused{ErrorCode::AuthRequired, "401"};

    core::Clock::time_point now = core::Clock::now();
    Terms terms;
    config::Server server;
    Supervisor one{terms, server};
};

TEST_F(SupervisorTest, ComesToLifeByWayOfAPlaceAndAnAttempt) {
    expect(Phase::Idle, State::Idle);
    EXPECT_TRUE(one.wakes());
    EXPECT_TRUE(one.want());
    one.queue();
    expect(Phase::Waiting, State::Connecting);
    one.attempt();
    expect(Phase::Attempting, State::Connecting);
    one.ready();
    expect(Phase::Ready, State::Ready);
}

TEST_F(SupervisorTest, BeginsNoSecondAttemptBesideTheFirst) {
    one.queue();
    EXPECT_FALSE(one.want());
    one.attempt();
    EXPECT_FALSE(one.want());
    EXPECT_FALSE(one.wakes());
    one.move_on();
    EXPECT_FALSE(one.want());
    one.attempt();
    one.lose(lost);
    EXPECT_FALSE(one.want()) << "the channel is still there";
    one.fail(lost, Retry::Worthwhile);
    EXPECT_TRUE(one.want()) << "who asks does not wait for the pause";
}

TEST_F(SupervisorTest, SaysAtOnceWhatALossWillComeToAndStaysWithIt) {
    be_ready();
    one.lose(lost);
    expect(Phase::Leaving, State::Reconnecting);
    one.fail(lost, Retry::Worthwhile);
    expect(Phase::BackingOff, State::Reconnecting);
    EXPECT_FALSE(one.wakes()) << "a request waits for the pause to end";
}

TEST_F(SupervisorTest, PausesLongerEachTimeAndThenComesBackNoMore) {
    for (const auto pause : {1s, 2s, 3s}) {
        one.attempt();
        one.fail(lost, Retry::Worthwhile);
        ASSERT_EQ(static_cast<int>(one.phase()), static_cast<int>(Phase::BackingOff));
        EXPECT_EQ(one.pause(), pause);
    }
    one.attempt();
    expect(Phase::Attempting, State::Reconnecting);
    one.fail(lost, Retry::Worthwhile);
    expect(Phase::Failed, State::Failed);
    EXPECT_TRUE(one.want());
    one.attempt();
    expect(Phase::Attempting, State::Connecting);
}

TEST_F(SupervisorTest, WaitsAsLongAsTheServerAsksForWithinReason) {
    one.attempt();
    one.server_asks_for(20s);
    one.fail(lost, Retry::Worthwhile);
    EXPECT_EQ(one.pause(), 20s);
    one.attempt();
    one.server_asks_for(24h);
    one.fail(lost, Retry::Worthwhile);
    EXPECT_EQ(one.pause(), 300s);
    one.attempt();
    one.fail(lost, Retry::Worthwhile);
    EXPECT_EQ(one.pause(), 3s) << "it was asked of one attempt";
}

TEST_F(SupervisorTest, ForgivesPastFailuresOnceItWasReadyForAWhile) {
    for (const auto lived : {29s, 31s}) {
        one.attempt();
        one.fail(lost, Retry::Worthwhile);
        one.pause();
        one.attempt();
        one.ready();
        now += lived;
        one.lose(lost);
        one.fail(lost, Retry::Worthwhile);
        EXPECT_EQ(one.pause(), lived == 31s ? 1s : 2s);
    }
}

TEST_F(SupervisorTest, DoesNotComeBackWhereNothingWouldBeBetter) {
    one.attempt();
    one.fail(lost, Retry::Useless);
    expect(Phase::Failed, State::Error);
    one.attempt();
    one.fail(refused, Retry::Worthwhile);
    expect(Phase::AuthRequired, State::AuthRequired);
    server.restart = false;
    one.attempt();
    one.fail(lost, Retry::Worthwhile);
    expect(Phase::Failed, State::Failed);
    server.restart = true;
    terms.long_lived = false;
    one.attempt();
    one.fail(lost, Retry::Worthwhile);
    expect(Phase::Failed, State::Failed);
}

TEST_F(SupervisorTest, RefusesRequestsForAMomentAfterAFailure) {
    EXPECT_FALSE(one.refuses());
    one.attempt();
    one.fail(lost, Retry::Useless);
    EXPECT_TRUE(one.refuses());
    now += 3s;
    EXPECT_FALSE(one.refuses());
    EXPECT_TRUE(one.wakes());
}

TEST_F(SupervisorTest, ASessionThatIsRenewedIsAnAttemptOnTheWayBack) {
    be_ready();
    one.renew();
    expect(Phase::Attempting, State::Reconnecting);
    one.ready();
    expect(Phase::Ready, State::Ready);
}

TEST_F(SupervisorTest, AnAttemptThatAsksForCredentialsIsStillTheFirst) {
    one.attempt();
    one.renew();
    expect(Phase::Attempting, State::Connecting);
}

TEST_F(SupervisorTest, ATransportThatDoesNotLetGoIsAnErrorUntilItDoes) {
    one.attempt();
    one.move_on();
    one.give_up();
    expect(Phase::Leaving, State::Error);
    EXPECT_FALSE(one.want());
}

TEST_F(SupervisorTest, OnceStoppedNothingBringsItBack) {
    be_ready();
    one.stop();
    expect(Phase::Stopping, State::Ready);
    EXPECT_TRUE(one.is_closing());
    EXPECT_FALSE(one.want());
    one.lose(lost);
    expect(Phase::Stopping, State::Failed);
    one.stopped();
    expect(Phase::Stopped, State::Stopped);
    EXPECT_FALSE(one.want());
    EXPECT_FALSE(one.wakes());
}

}  // namespace
}  // namespace patchbay::connection
