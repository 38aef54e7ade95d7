// What is told of servers that are down.
#include "app/down_servers.hpp"

#include "support/turned_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace patchbay::app {
namespace {

using connection::State;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct DownServersTest : testing::Test {
    std::vector<std::string> told;
    test::HandTime time;
    DownServers servers{
        time, [this](core::log::Level level, const std::string& text) {
            told.push_back((level == core::log::Level::Warn ? "warn " : "info ") + text);
        }};
    void go(std::initializer_list<State> states) {
        for (const auto state : states) servers.note("x y", state, [] { return "exit code 7"; });
    }
};

TEST_F(DownServersTest, AreToldOfWithWhatIsWrongAndWhereMoreIsSaid) {
    go({State::Connecting, State::Failed});
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0],
              "warn server \"x y\": exit code 7; it has no tools for now (failed); patchbay mcp "
              "status 'x y'");
}

TEST_F(DownServersTest, ThatAreStartedAgainAndAgainAreToldOfTwice) {
    go({State::Ready, State::Reconnecting, State::Connecting, State::Reconnecting,
        State::Connecting, State::Failed, State::Connecting, State::Reconnecting, State::Failed});
    ASSERT_EQ(told.size(), 2u);
    EXPECT_THAT(told[0], HasSubstr("(reconnecting)"));
    EXPECT_THAT(told[1], HasSubstr("(failed)"));
}

TEST_F(DownServersTest, ThatAreBackAreToldOfAndTheNextTroubleIsAnother) {
    go({State::AuthRequired, State::Ready, State::Ready});
    time.turn(DownServers::kPause);
    go({State::AuthRequired});
    ASSERT_EQ(told.size(), 3u);
    EXPECT_THAT(told[1], AllOf(StartsWith("info "), HasSubstr("is ready again")));
    EXPECT_EQ(told[2], told[0]);
}

TEST_F(DownServersTest, ThatDieAndComeBackOnEndAreToldOfOnceAMinute) {
    for (int i = 0; i < 3; ++i) go({State::Reconnecting, State::Connecting, State::Ready});
    ASSERT_EQ(told.size(), 2u) << "down, and back";
    time.turn(DownServers::kPause);
    go({State::Reconnecting});
    ASSERT_EQ(told.size(), 3u);
    EXPECT_THAT(told[2], HasSubstr("(reconnecting), as 2 times before, when it came back; "));
    go({State::Failed});
    EXPECT_EQ(told.size(), 4u) << "at once, as nobody tries any more";
    for (int i = 0; i < 3; ++i) go({State::Ready, State::Failed});
    EXPECT_EQ(told.size(), 5u) << "ready again, and no more of it for a while";
}

TEST_F(DownServersTest, ThatSomebodyHasTurnedOffOrDefinedAnewBeginAgain) {
    go({State::Failed, State::Stopped, State::Connecting, State::Failed});
    EXPECT_EQ(told.size(), 2u);
    servers.forget("x y");
    go({State::Failed});
    EXPECT_EQ(told.size(), 3u);
}

TEST_F(DownServersTest, AreNotThoseThatNobodyWantsUp) {
    go({State::Idle, State::Connecting, State::Ready, State::Stopped, State::Disabled,
        State::Untrusted});
    EXPECT_THAT(told, IsEmpty());
}

}  // namespace
}  // namespace patchbay::app
