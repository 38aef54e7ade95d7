// The transition table of a connection, without one.
#include "connection/supervisor.hpp"

#include "support/turned_loop.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace patchbay::connection {
namespace {

using namespace std::chrono_literals;
using Phase = Supervisor::Phase;
using Retry = Supervisor::Retry;

class SupervisorTest : public ::testing::Test {
protected:
    SupervisorTest() {
        terms.health.reconnect_attempts = 3;
        terms.health.reconnect_first = 1s;
        terms.health.reconnect_most = 3s;
        server.restart = config::Restart::OnFailure;
    }
    struct Seen {
        Phase phase;
        State shown;
        bool operator==(const Seen&) const = default;
        friend void PrintTo(const Seen& seen, std::ostream* out) {
            *out << "phase " << static_cast<int>(seen.phase) << ", shown as "
                 << name_of(seen.shown);
        }
    };
    Seen seen() const { return {one.phase(), one.shown()}; }
    void be_ready() {
        ASSERT_TRUE(one.want());
        one.attempt();
        one.ready();
    }
    const Error lost{ErrorCode::Unavailable, "gone"}, refused{ErrorCode::AuthRequired, "401"};

    test::HandTime time;
    Terms terms;
    config::Server server;
    Supervisor one{time, terms, server};
};

TEST_F(SupervisorTest, ComesToLifeByWayOfAPlaceAndAnAttempt) {
    EXPECT_EQ(seen(), (Seen{Phase::Idle, State::Idle}));
    EXPECT_TRUE(one.wakes());
    EXPECT_TRUE(one.want());
    one.queue();
    EXPECT_EQ(seen(), (Seen{Phase::Waiting, State::Connecting}));
    one.attempt();
    EXPECT_EQ(seen(), (Seen{Phase::Attempting, State::Connecting}));
    one.ready();
    EXPECT_EQ(seen(), (Seen{Phase::Ready, State::Ready}));
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
    EXPECT_EQ(seen(), (Seen{Phase::Leaving, State::Reconnecting}));
    one.fail(lost, Retry::Worthwhile);
    EXPECT_EQ(seen(), (Seen{Phase::BackingOff, State::Reconnecting}));
    EXPECT_FALSE(one.wakes()) << "a request waits for the pause to end";
}

TEST_F(SupervisorTest, PausesLongerEachTimeAndThenComesBackNoMore) {
    for (const auto pause : {1s, 2s, 3s}) {
        one.attempt();
        one.fail(lost, Retry::Worthwhile);
        ASSERT_EQ(seen(), (Seen{Phase::BackingOff, State::Reconnecting}));
        EXPECT_EQ(one.pause(), pause);
    }
    one.attempt();
    EXPECT_EQ(seen(), (Seen{Phase::Attempting, State::Reconnecting}));
    one.fail(lost, Retry::Worthwhile);
    EXPECT_EQ(seen(), (Seen{Phase::Failed, State::Failed}));
    EXPECT_TRUE(one.want());
    one.attempt();
    EXPECT_EQ(seen(), (Seen{Phase::Attempting, State::Connecting}));
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
    for (const auto lived : {299s, 301s}) {
        one.attempt();
        one.fail(lost, Retry::Worthwhile);
        one.pause();
        one.attempt();
        one.ready();
        time.turn(lived);
        one.lose(lost);
        one.fail(lost, Retry::Worthwhile);
        EXPECT_EQ(one.pause(), lived == 301s ? 1s : 2s);
    }
}

TEST_F(SupervisorTest, DoesNotComeBackWhereNothingWouldBeBetter) {
    one.attempt();
    one.fail(lost, Retry::Useless);
    EXPECT_EQ(seen(), (Seen{Phase::Failed, State::Error}));
    one.attempt();
    one.fail(refused, Retry::Worthwhile);
    EXPECT_EQ(seen(), (Seen{Phase::AuthRequired, State::AuthRequired}));
    server.restart = config::Restart::Never;
    one.attempt();
    one.fail(lost, Retry::Worthwhile);
    EXPECT_EQ(seen(), (Seen{Phase::Failed, State::Failed}));
    server.restart = config::Restart::OnFailure;
    terms.long_lived = false;
    one.attempt();
    one.fail(lost, Retry::Worthwhile);
    EXPECT_EQ(seen(), (Seen{Phase::Failed, State::Failed}));
}

TEST_F(SupervisorTest, ARequestNeedNotWaitOutTheFirstPauseOfAServerThatServed) {
    be_ready();
    one.lose(lost);
    one.fail(lost, Retry::Worthwhile);
    EXPECT_EQ(one.pause(), 1s) << "unless somebody asks";
    EXPECT_TRUE(one.wakes());
    one.attempt();
    one.ready();
    one.lose(lost);
    one.fail(lost, Retry::Worthwhile);
    EXPECT_EQ(one.pause(), 2s);
    EXPECT_FALSE(one.wakes()) << "it falls over again and again";
}

TEST_F(SupervisorTest, RestsWhereItHasEndedWellAndIsOnlyRestartedOnFailure) {
    for (const auto& [restart, rests] : {std::pair{config::Restart::OnFailure, true},
                                         {config::Restart::Always, false},
                                         {config::Restart::Never, false}}) {
        server.restart = restart;
        EXPECT_EQ(one.rests(), rests) << config::name_of(restart);
    }
    server.restart = config::Restart::OnFailure;
    be_ready();
    one.rest();
    EXPECT_EQ(seen(), (Seen{Phase::Idle, State::Idle}));
    EXPECT_TRUE(one.wakes());
    EXPECT_FALSE(one.refuses()) << "it has not failed";
    terms.long_lived = false;
    EXPECT_FALSE(one.rests());
}

TEST_F(SupervisorTest, KnowsHowLongItHasBeenOnItsWayOverAllThatIsTried) {
    EXPECT_FALSE(one.on_its_way());
    one.queue();
    time.turn(1h);
    EXPECT_EQ(one.on_its_way(), 0s) << "it waits for others";
    EXPECT_EQ(to_string(*one.starting({})), "waiting for other servers to start first");
    one.attempt();
    time.turn(2s);
    EXPECT_FALSE(one.starting({})->queued);
    one.move_on();
    one.attempt();
    time.turn(1s);
    EXPECT_EQ(one.on_its_way(), 3s);
    one.ready();
    EXPECT_FALSE(one.on_its_way());
    one.renew();
    time.turn(1s);
    EXPECT_EQ(one.on_its_way(), 1s) << "a way of its own";
}

TEST_F(SupervisorTest, RefusesRequestsForAMomentAfterAFailure) {
    EXPECT_FALSE(one.refuses());
    one.attempt();
    one.fail(lost, Retry::Useless);
    EXPECT_TRUE(one.refuses());
    time.turn(3s);
    EXPECT_FALSE(one.refuses());
    EXPECT_TRUE(one.wakes());
}

TEST_F(SupervisorTest, OneThatMustNotBeRestartedStaysDown) {
    for (const bool restart : {true, false}) {
        server.restart = restart ? config::Restart::OnFailure : config::Restart::Never;
        one.attempt();
        one.ready();
        EXPECT_FALSE(one.stays_down());
        one.lose(lost);
        EXPECT_FALSE(one.stays_down()) << "it is on its way there";
        one.fail(lost, Retry::Worthwhile);
        EXPECT_EQ(one.stays_down(), !restart);
        time.turn(24h);
        EXPECT_EQ(one.stays_down(), !restart);
        if (!restart) EXPECT_FALSE(one.wakes()) << "for a request";
    }
    one.attempt();
    one.fail(refused, Retry::Worthwhile);
    EXPECT_FALSE(one.stays_down()) << "somebody may have signed in";
}

TEST_F(SupervisorTest, ASessionThatIsRenewedIsAnAttemptOnTheWayBack) {
    be_ready();
    one.renew();
    EXPECT_EQ(seen(), (Seen{Phase::Attempting, State::Reconnecting}));
    one.ready();
    EXPECT_EQ(seen(), (Seen{Phase::Ready, State::Ready}));
}

TEST_F(SupervisorTest, AnAttemptThatAsksForCredentialsIsStillTheFirst) {
    one.attempt();
    one.renew();
    EXPECT_EQ(seen(), (Seen{Phase::Attempting, State::Connecting}));
}

TEST_F(SupervisorTest, ATransportThatDoesNotLetGoIsAnErrorUntilItDoes) {
    one.attempt();
    one.move_on();
    one.give_up();
    EXPECT_EQ(seen(), (Seen{Phase::Leaving, State::Error}));
    EXPECT_FALSE(one.want());
}

TEST_F(SupervisorTest, OnceStoppedNothingBringsItBack) {
    be_ready();
    one.stop();
    EXPECT_EQ(seen(), (Seen{Phase::Stopping, State::Ready}));
    EXPECT_TRUE(one.is_closing());
    EXPECT_FALSE(one.want());
    one.lose(lost);
    EXPECT_EQ(seen(), (Seen{Phase::Stopping, State::Failed}));
    one.stopped();
    EXPECT_EQ(seen(), (Seen{Phase::Stopped, State::Stopped}));
    EXPECT_FALSE(one.want());
    EXPECT_FALSE(one.wakes());
}

}  // namespace
}  // namespace patchbay::connection
