// How much callers of one connection want logged, and who hears of what is.
#include "unit/connection/two_callers.hpp"

namespace patchbay::connection {
namespace {

TEST_F(OnOneStream, ALogMessageIsForThoseWhoseLevelAdmitsIt) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    server.say(logged("debug"));
    ASSERT_TRUE(wait([&] { return !other.heard.empty(); }));
    EXPECT_EQ(caller.heard.size(), 1u) << "nobody has said how much is wanted";
    set_level(caller, "warning");
    set_level(other, "info");
    server.say(logged("info"));
    server.say(logged("debug"));
    server.say(logged("error"));
    ASSERT_TRUE(wait([&] { return other.heard.size() == 3; }));
    EXPECT_EQ(caller.heard.size(), 2u);
    EXPECT_THAT(caller.heard.back().params, HasSubstr("error"));
}

TEST_F(OnOneStream, ALegacyServerIsToldOfTheLevelThatTellsMost) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    auto third = std::make_unique<test::FakeCaller>(callers);
    set_level(caller, "error");
    set_level(*third, "info");
    set_level(other, "alert");
    const auto levels = [&] {
        std::vector<std::string> told;
        for (const auto& each : server.requests("logging/setLevel"))
            told.emplace_back(each.at("params").at("level").as_string());
        return told;
    };
    EXPECT_THAT(levels(), ElementsAre("error", "info", "info"));
    third.reset();
    turn();
    EXPECT_THAT(levels(), ElementsAre("error", "info", "info", "error"));
}

TEST_F(OnOneStream, AModernRequestSaysTheLevelOfItsOwnCaller) {
    server.be_modern({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    set_level(caller, "error");
    test::FakeCaller third(callers);
    set_level(third, "debug");
    const auto level_in = [&](Caller& asker) {
        call_by(asker);
        return json::serialize(server.requests("tools/call").back().at("params").at("_meta"));
    };
    EXPECT_THAT(level_in(caller), HasSubstr(R"(logLevel":"error")"));
    EXPECT_THAT(level_in(third), HasSubstr(R"(logLevel":"debug")"));
    EXPECT_THAT(level_in(other), ::testing::Not(HasSubstr("logLevel")));
}

TEST_F(BehindHttp, WhatComesForAnExchangeIsItsCallersWhateverTheLevel) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    const auto first = call_by(caller), second = call_by(other);
    server.say_for(second, logged("debug"));
    server.say_for(second, notification("notifications/x", "{}"));
    server.say_for(first, logged("error"));
    ASSERT_TRUE(wait([&] { return !caller.heard.empty(); }));
    EXPECT_THAT(other.methods(), ElementsAre(kMessage, "notifications/x"));
    EXPECT_THAT(caller.methods(), ElementsAre(kMessage));
    close();
}

TEST_F(OnOneStream, AModernRequestSaysItsOwnLevelBeforeThatOfItsCaller) {
    server.be_modern({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    set_level(caller, "error");
    const auto meta_of_call = [&](const std::string& level) {
        call_by(caller, nullptr, level);
        return json::serialize(server.requests("tools/call").back().at("params").at("_meta"));
    };
    const auto meta = meta_of_call("debug");
    EXPECT_THAT(meta, HasSubstr(R"(logLevel":"debug")"));
    EXPECT_EQ(meta.find("logLevel"), meta.rfind("logLevel")) << "said once: " << meta;
    EXPECT_THAT(meta_of_call(""), HasSubstr(R"(logLevel":"error")"));
    EXPECT_THAT(server.requests("logging/setLevel"), IsEmpty());
}

TEST_F(OnOneStream, WhatIsLoggedForAModernRequestReachesItsCallerAtItsLevelAndNoOther) {
    server.be_modern({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    const auto of_caller = call_by(caller, nullptr, "error");
    call_by(other, nullptr, "debug");
    server.say(logged("info"));
    ASSERT_TRUE(wait([&] { return other.heard.size() == 1; }));
    EXPECT_THAT(caller.heard, IsEmpty());
    server.say(logged("error"));  // it may be for either of them
    turn();
    EXPECT_EQ(caller.heard.size() + other.heard.size(), 1u);
    server.say(R"({"jsonrpc":"2.0","id":)" + std::to_string(of_caller) + R"(,"result":{}})");
    server.say(logged("error"));
    ASSERT_TRUE(wait([&] { return other.heard.size() == 2; }));
    EXPECT_THAT(caller.heard, IsEmpty());
}

TEST_F(OnOneStream, WhoWantsToHearOfAllThatIsLoggedHearsNothingThatMayBeForAModernRequest) {
    server.be_modern({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    set_level(caller, "info");
    call_by(other, nullptr, "debug");
    server.say(logged("error"));
    ASSERT_TRUE(wait([&] { return other.heard.size() == 1; }));
    EXPECT_THAT(caller.heard, IsEmpty()) << "the one request that asks for it is another's";
    const auto of_caller = call_by(caller);
    server.say(logged("error"));
    server.say(R"({"jsonrpc":"2.0","id":)" + std::to_string(of_caller) + R"(,"result":{}})");
    server.say(logged("debug"));
    ASSERT_TRUE(wait([&] { return other.heard.size() == 2; }));
    EXPECT_THAT(caller.heard, IsEmpty());
}

TEST_F(OnOneStream, ALegacyServerIsToldOfTheLevelsOfRequestsUntilTheirCallersGo) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    const auto levels = [&] {
        std::vector<std::string> told;
        for (const auto& each : server.requests("logging/setLevel"))
            told.emplace_back(each.at("params").at("level").as_string());
        return told;
    };
    auto third = std::make_unique<test::FakeCaller>(callers);
    set_level(caller, "error");
    call_by(*third, nullptr, "info");
    call_by(*third, nullptr, "warning");
    call_by(*third, nullptr, "info");
    EXPECT_THAT(levels(), ElementsAre("error", "info"));
    const auto meta = server.requests("tools/call").back().at("params").as_object();
    EXPECT_FALSE(meta.contains("_meta")) << "a legacy request has no level";
    server.say(logged("info"));
    ASSERT_TRUE(wait([&] { return third->heard.size() == 1; }));
    EXPECT_THAT(caller.heard, IsEmpty());
    third.reset();
    turn();
    EXPECT_THAT(levels(), ElementsAre("error", "info", "error"));
}

TEST_F(BehindHttp, OnTheStreamOfItsRequestACallerIsSparedWhatAnotherWantsLogged) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    set_level(caller, "error");
    const auto first = call_by(caller);
    const auto second = call_by(other, nullptr, "debug");
    server.say_for(first, logged("debug"));
    server.say_for(second, logged("debug"));
    server.say_for(first, logged("error"));
    ASSERT_TRUE(wait([&] { return !caller.heard.empty() && !other.heard.empty(); }));
    ASSERT_EQ(caller.heard.size(), 1u);
    EXPECT_THAT(caller.heard[0].params, HasSubstr("error"));
    EXPECT_EQ(other.heard.size(), 1u);
    close();
}

}  // namespace
}  // namespace patchbay::connection
