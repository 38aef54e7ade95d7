// Who hears of the states of a connection, and who waits for them, without a channel.
#include "connection/course.hpp"

#include "support/fake_sources.hpp"
#include "support/turned_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::connection {
namespace {

using namespace std::chrono_literals;
using Retry = Supervisor::Retry;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CourseTest : public ::testing::Test, protected test::PoolParts {
protected:
    CourseTest() { server.restart = config::Restart::OnFailure; }
    static Terms terms() {
        Terms terms;
        terms.health.reconnect_attempts = 1;
        terms.health.reconnect_first = 1s;
        terms.health.reconnect_most = 3s;
        return terms;
    }
    void on_state(const std::string& id, State state) override {
        told.push_back(id + " " + name_of(state));
    }
    // Calls that the loop brings, so far.
    std::vector<std::string> brought() {
        loop.run_ready();
        return std::exchange(calls, {});
    }
    std::function<void()> noted(const std::string& what) {
        return [this, what] { calls.push_back(what); };
    }
    void begin() {
        ASSERT_TRUE(course.want({}));
        course.pass(&Supervisor::attempt);
    }
    void fail(Retry retry = Retry::Worthwhile) {
        const Error why{ErrorCode::Unavailable, "gone"};
        course.fail(name.named(why), [&](Supervisor& supervisor) { supervisor.fail(why, retry); });
    }

    test::TurnedLoop loop;
    test::FakeTransports transports{
        [](const auto&, auto&) -> Result<std::unique_ptr<plugin::Channel>> {
            return Error{ErrorCode::Internal, "not here"};
        }};
    Context parts{context(loop, transports, terms())};
    config::Server server;
    const ServerName name{"s"};
    const std::shared_ptr<Starts> starts = std::make_shared<Starts>();
    Course course{parts, server, name, starts};
    std::vector<std::string> told, calls;
};

TEST_F(CourseTest, TellsOfAStateOnlyWhereItIsAnother) {
    begin();
    course.pass(&Supervisor::move_on);
    course.pass(&Supervisor::attempt);
    course.ready();
    EXPECT_THAT(told, ElementsAre("s connecting", "s ready"));
}

TEST_F(CourseTest, OneThatIsAbandonedTellsNothingAndIsClosing) {
    begin();
    told.clear();
    course.abandon();
    EXPECT_THAT(told, IsEmpty());
    EXPECT_TRUE(course.supervisor().is_closing());
}

TEST_F(CourseTest, WhoWaitsIsSettledOnceAndFromTheLoop) {
    EXPECT_TRUE(course.want(noted("first")));
    course.pass(&Supervisor::attempt);
    EXPECT_FALSE(course.want(noted("second"))) << "one attempt serves both";
    EXPECT_THAT(brought(), IsEmpty());
    course.settle();
    EXPECT_THAT(calls, IsEmpty()) << "called from inside settle()";
    EXPECT_THAT(brought(), ElementsAre("first", "second"));
    course.settle();
    EXPECT_THAT(brought(), IsEmpty());
}

TEST_F(CourseTest, WhoWantsOneThatIsReadyOrClosingIsSettledAtOnce) {
    begin();
    course.ready();
    EXPECT_FALSE(course.want(noted("ready")));
    EXPECT_THAT(brought(), ElementsAre("ready"));
    course.pass(&Supervisor::stop);
    EXPECT_FALSE(course.want(noted("closing")));
    EXPECT_THAT(brought(), ElementsAre("closing"));
}

TEST_F(CourseTest, WhoWaitsForItsCloseIsNotSettledByAnAttempt) {
    course.await_close(noted("closed"));
    begin();
    course.settle();
    EXPECT_THAT(brought(), IsEmpty());
    course.closed();
    EXPECT_THAT(brought(), ElementsAre("closed"));
}

TEST_F(CourseTest, AFailureBeforeReadyIsAFailedStartOfItsDefinition) {
    begin();
    fail(Retry::Useless);
    EXPECT_EQ(starts->failed, 1u);
    EXPECT_EQ(starts->last.why.message, "server \"s\": gone");
    EXPECT_EQ(starts->last.retry, Retry::Useless);
    EXPECT_EQ(course.shown().last_error, "server \"s\": gone");
}

TEST_F(CourseTest, WhateverBrokeOnTheWayIsAServerThatIsNotThere) {
    begin();
    const Error broken{ErrorCode::Io, "connection refused"};
    const auto told = course.fail(
        broken, [&](Supervisor& supervisor) { supervisor.fail(broken, Retry::Worthwhile); });
    EXPECT_EQ(told.code, ErrorCode::Unavailable);
}

TEST_F(CourseTest, ALossOfOneThatWasReadyIsNone) {
    begin();
    course.ready();
    course.was_ready();
    fail();
    EXPECT_EQ(starts->failed, 0u);
    EXPECT_EQ(course.shown().restarts, 1u);
}

TEST_F(CourseTest, PausesOnlyWhereAnotherAttemptFollowsByItself) {
    EXPECT_EQ(course.pause(), std::nullopt);
    begin();
    fail();
    EXPECT_EQ(course.pause(), std::optional<std::chrono::milliseconds>(1s));
    begin();
    fail();
    EXPECT_EQ(course.supervisor().shown(), State::Failed) << "it had one more attempt";
    EXPECT_EQ(course.pause(), std::nullopt);
}

TEST_F(CourseTest, ANewRequestIsPutOffByAFailureOfItsOwnOrOfItsDefinitionForAWhile) {
    EXPECT_EQ(course.why_put_off(), std::nullopt);
    starts->fail({{ErrorCode::Unavailable, "another's"}, Retry::Worthwhile, loop.now()});
    ASSERT_TRUE(course.why_put_off());
    EXPECT_EQ(course.why_put_off()->message, "another's");
    loop.turn(3s);
    EXPECT_EQ(course.why_put_off(), std::nullopt);
    begin();
    fail(Retry::Useless);
    ASSERT_TRUE(course.why_put_off());
    EXPECT_EQ(course.why_put_off()->message, "server \"s\" is error: gone");
    loop.turn(3s);
    EXPECT_EQ(course.why_put_off(), std::nullopt);
}

}  // namespace
}  // namespace patchbay::connection
