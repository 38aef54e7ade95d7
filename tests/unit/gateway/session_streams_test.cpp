// Streams of changes that a client of 2026-07-28 has asked for: what they hear of, and how they end.
#include "session_fixture.hpp"

#include <memory>
#include <utility>

namespace patchbay::gateway {
namespace {

TEST_F(SessionTest, WhoseTheResourcesOfAStreamAreIsAskedForAllOfThemAtOnce) {
    offer("git", "resources/list",
          {{"resources", {{{"uri", "a:1"}, {"name", "n"}}, {{"uri", "a:2"}, {"name", "n"}}}}});
    say_modern(
        "s", "subscriptions/listen",
        {{"notifications", {{"resourceSubscriptions", {"a:1", "a:2", "no:1", "no:2", "no:3"}}}}});
    ASSERT_TRUE(wait([&] { return !told("notifications/subscriptions/acknowledged").empty(); }));
    EXPECT_EQ(at(told("notifications/subscriptions/acknowledged")[0],
                 "/params/notifications/resourceSubscriptions"),
              (json::array{"a:1", "a:2"}));
    EXPECT_LE(servers.at("git").requests("resources/list").size(), 2u);
    EXPECT_LE(servers.at("git").requests("resources/templates/list").size(), 2u);
    offer("git", "resources/list", {{"resources", {{{"uri", "no:1"}, {"name", "n"}}}}});
    offer("git", "resources/read", {{"contents", json::array()}});
    EXPECT_TRUE(ask_modern(2, "resources/read", {{"uri", "no:1"}}).contains("result"))
        << "a later turn asks anew";
}

TEST_F(SessionTest, AStreamHearsOfItsResourcesAloneAndEndsWithThem) {
    offer("git", "resources/list", {{"resources", {{{"uri", "a:1"}, {"name", "n"}}}}});
    say_modern("s", "subscriptions/listen",
               {{"notifications", {{"resourceSubscriptions", {"a:1", "no:such"}}}}});
    ASSERT_TRUE(wait([&] { return !told("notifications/subscriptions/acknowledged").empty(); }));
    const auto agreed = told("notifications/subscriptions/acknowledged").front();
    EXPECT_EQ(at(agreed, "/params/notifications/resourceSubscriptions"), (json::array{"a:1"}))
        << "and not what nobody has";
    EXPECT_THAT(json::serialize(at(agreed, "/params/_meta/dev.patchbay~1leftOut/no:such")),
                HasSubstr("no server that is ready has the resource"));
    EXPECT_EQ(servers.at("git").requests("resources/subscribe").size(), 1u);
    for (const char* uri : {"a:2", "a:1"})
        servers.at("git").say(R"({"jsonrpc":"2.0","method":"notifications/resources/updated",)"
                              R"("params":{"uri":")" +
                              std::string(uri) + R"("}})");
    ASSERT_TRUE(wait([&] { return !told("notifications/resources/updated").empty(); }));
    const auto updates = told("notifications/resources/updated");
    ASSERT_EQ(updates.size(), 1u);
    EXPECT_EQ(at(updates[0], "/params/uri"), "a:1");
    EXPECT_EQ(at(updates[0], "/params/_meta/io.modelcontextprotocol~1subscriptionId"), "s");
    session().take(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}})");
    EXPECT_TRUE(wait([&] { return !servers.at("git").requests("resources/unsubscribe").empty(); }));
}

TEST_F(SessionTest, WhatAServerRefusesToTellOfIsNotAgreedOn) {
    offer("git", "resources/list", {{"resources", {{{"uri", "a:1"}, {"name", "n"}}}}});
    servers.at("git").results.erase("resources/subscribe");
    servers.at("git").errors["resources/subscribe"] = {-32603, "no"};
    say_modern(
        "s", "subscriptions/listen",
        {{"notifications", {{"resourceSubscriptions", {"a:1"}}, {"promptsListChanged", true}}}});
    ASSERT_TRUE(wait([&] { return !told("notifications/subscriptions/acknowledged").empty(); }));
    EXPECT_EQ(at(told("notifications/subscriptions/acknowledged")[0], "/params/notifications"),
              (json::object{{"promptsListChanged", true}}));
    EXPECT_EQ(at(told("notifications/subscriptions/acknowledged")[0],
                 "/params/_meta/dev.patchbay~1leftOut/a:1"),
              "server \"git\" refuses: no");
}

// MCP 2026-07-28 basic/patterns/cancellation; the schema's CancelledNotification: on stdio alone.
TEST_F(SessionTest, AStreamThatSharesItsWayIsCancelledOnceItIsAnswered) {
    say_modern("stream", "subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}});
    ASSERT_TRUE(wait([&] { return !told("notifications/subscriptions/acknowledged").empty(); }));
    session().end_streams();
    const auto cancelled = told("notifications/cancelled");
    ASSERT_EQ(cancelled.size(), 1u);
    EXPECT_EQ(at(cancelled[0], "/params/requestId"), "stream");
    EXPECT_EQ(at(cancelled[0], "/params/reason"), "the gateway is closing");
    EXPECT_EQ(at(cancelled[0], "/params/_meta/io.modelcontextprotocol~1subscriptionId"), "stream");
    EXPECT_EQ(at(sent.back(), "/method"), "notifications/cancelled") << "before its answer";
    session().end_streams();
    EXPECT_EQ(told("notifications/cancelled").size(), 1u) << "it has ended before";
}

TEST_F(SessionTest, AStreamThatHasNotBegunEndsWithAnError) {
    servers.at("git").results.erase("resources/list");
    say_modern("stream", "subscriptions/listen",
               {{"notifications", {{"resourceSubscriptions", {"file:///a"}}}}});
    session().end_streams();
    EXPECT_EQ(at(answer_to("stream"), "/error/code"), -32603);
    EXPECT_TRUE(told("notifications/cancelled").empty());
}

}  // namespace
}  // namespace patchbay::gateway
