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
    std::vector<core::Clock::duration> looks;
    test::HandTime time;
    DownServers servers{
        time,
        {[this](core::log::Level level, const std::string& text) {
             told.push_back((level == core::log::Level::Warn ? "warn " : "info ") + text);
         },
         [this](const std::string&, core::Clock::duration delay) { looks.push_back(delay); }}};
    void go(std::initializer_list<State> states) {
        for (const auto state : states) servers.note("x y", state, [] { return "exit code 7"; });
    }
};

TEST_F(DownServersTest, AreToldOfWithWhatIsWrongAndWhereMoreIsSaid) {
    go({State::Connecting, State::Failed});
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0],
              "warn server \"x y\": exit code 7; it cannot be asked for now (failed); patchbay mcp "
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

TEST_F(DownServersTest, ThatGoDownAndComeBackOnEndAreToldOfOnceAMinute) {
    for (int i = 0; i < 4; ++i)
        go({State::Reconnecting, State::Connecting, State::Failed, State::Ready});
    ASSERT_EQ(told.size(), 3u) << "down, given up, and back";
    EXPECT_EQ(looks.size(), 3u);
    time.turn(DownServers::kPause);
    go({State::Ready, State::Reconnecting});
    ASSERT_EQ(told.size(), 4u);
    EXPECT_THAT(told[3], HasSubstr("(reconnecting), the last of 4 times since"));
    go({State::Failed});
    EXPECT_EQ(told.size(), 5u) << "at once, as nobody tries any more";
}

// The last word is never that one is ready which is not.
TEST_F(DownServersTest, ThatStayDownAreToldOfWhenThePauseIsOver) {
    go({State::Failed, State::Ready});
    time.turn(std::chrono::seconds(15));
    go({State::Reconnecting, State::Failed});
    ASSERT_EQ(told.size(), 2u);
    ASSERT_EQ(looks.size(), 1u);
    EXPECT_EQ(looks[0], DownServers::kPause - std::chrono::seconds(15));
    time.turn(looks[0]);
    go({State::Failed});
    ASSERT_EQ(told.size(), 3u);
    EXPECT_EQ(told[2], told[0]);
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
