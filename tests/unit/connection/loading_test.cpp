// A server whose plugin is not loaded yet.
#include "unit/connection/fixture.hpp"

namespace patchbay::connection {
namespace {

using ::testing::HasSubstr;

class LoadingPlugin : public ConnectionTest {
protected:
    // Each waits in `held` until the test calls it.
    Connection& slow() {
        auto& made = connection();
        prepare = [this](const std::string& transport, Prepared ready) {
            wanted.push_back(transport);
            held.push_back(std::move(ready));
        };
        return made;
    }
    std::vector<std::string> wanted;
    std::vector<Prepared> held;
    Outcome outcome;
};

TEST_F(LoadingPlugin, HoldsItsCallsUntilItIsThere) {
    server.be_legacy({tool_named("a")});
    server.results["tools/call"] = [](const json::object&) -> json::value { return {{"got", 1}}; };
    slow();
    begin(call("a"), outcome);
    ASSERT_TRUE(wait([&] { return !held.empty(); }));
    EXPECT_EQ(server.opened, 0);
    EXPECT_EQ(connection().state(), State::Connecting);
    connection().connect({});
    EXPECT_EQ(held.size(), 1u) << "asked for twice";
    held.at(0)({});
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    EXPECT_TRUE(*outcome) << outcome->error().message;
    EXPECT_EQ(wanted, std::vector<std::string>{"fake"});
}

TEST_F(LoadingPlugin, ThatIsRefusedIsSaidToWhoeverWaits) {
    slow();
    begin(call("a"), outcome);
    ASSERT_TRUE(wait([&] { return !held.empty(); }));
    held.at(0)(Error{ErrorCode::Denied, "plugin \"fake\": another file"});
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    EXPECT_THAT(outcome->error().message, HasSubstr("server \"s\": plugin \"fake\": another file"));
    EXPECT_EQ(connection().state(), State::Error);
    EXPECT_EQ(server.opened, 0);
}

TEST_F(LoadingPlugin, ThatTakesTooLongEndsTheStartAndIsNotOpenedLater) {
    spec.config.startup_timeout = 5ms;
    slow();
    begin(call("a"), outcome);
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    EXPECT_EQ(outcome->error().code, ErrorCode::Timeout);
    EXPECT_THAT(outcome->error().message,
                HasSubstr("the plugin was not loaded within 5 ms (startup_timeout_sec)"));
    held.at(0)({});
    EXPECT_EQ(server.opened, 0);
}

TEST_F(LoadingPlugin, IsNotOpenedWhenTheConnectionHasClosedMeanwhile) {
    slow();
    begin(call("a"), outcome);
    ASSERT_TRUE(wait([&] { return !held.empty(); }));
    bool closed = false;
    connection().close([&] { closed = true; });
    ASSERT_TRUE(wait([&] { return closed && outcome.has_value(); }));
    held.at(0)({});
    EXPECT_EQ(server.opened, 0);
    EXPECT_EQ(connection().state(), State::Stopped);
    connection_.reset();
    held.at(0)({});  // nor is it looked for
}

TEST_F(LoadingPlugin, IsAskedForOnceByAServerThatComesBack) {
    long_lived = true;
    server.be_legacy({});
    slow();
    connection().connect({});
    ASSERT_TRUE(wait([&] { return !held.empty(); }));
    held.at(0)({});
    ASSERT_TRUE(wait([&] { return connection().state() == State::Ready; }));
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return held.size() == 2; }));
    connection().connect({});
    EXPECT_EQ(held.size(), 2u);
    held.at(1)({});
    EXPECT_TRUE(wait([&] { return connection().state() == State::Ready; }));
    EXPECT_EQ(server.opened, 2);
}

}  // namespace
}  // namespace patchbay::connection
