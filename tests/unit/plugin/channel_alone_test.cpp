// What the host hands through the C ABI, and what it says of a transport that answers otherwise.
#include "unit/plugin/channel_alone.hpp"

#include "core/escapes.hpp"
#include "plugin/signer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace patchbay;
using namespace patchbay::plugin;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

TEST_F(ChannelAlone, IsOpenedWithAllThatIsConfigured) {
    ChannelOptions options;
    options.settings["url"] = "there";
    options.credentials = {{"Authorization", "Bearer 1", true, false}, {"PORT", "2", false, true}};
    options.message_bytes = 4711;
    auto opened = try_open(std::move(options));
    ASSERT_TRUE(opened);
    channel_ = std::move(*opened);
    EXPECT_THAT(transport_.calls,
                ElementsAre("open demo {\"url\":\"there\"} Authorization:Bearer 1/1 PORT:2/2 "));
    EXPECT_EQ(transport_.message_bytes, 4711u);
    EXPECT_EQ(services_.channels, 1u);
}

TEST_F(ChannelAlone, HandsEveryPartOfAMessageOver) {
    open();
    const std::vector<Header> headers = {{"Mcp-Name", "search", false, false}};
    OutgoingMessage message;
    message.kind = MessageKind::Notification;
    message.exchange = 3;
    message.body = core::Buffer::from(std::string("{\"a\":1}"));
    message.method = "tools/call";
    message.protocol = "2025-06-18";
    message.headers = &headers;
    message.deadline = core::Clock::time_point(12'345ns);
    EXPECT_EQ(*channel_->send(std::move(message)), Flow::Ready);
    EXPECT_EQ(transport_.deadline_ns, 12'345u);
    transport_.send_status = PATCHBAY_PAUSE;
    EXPECT_EQ(*send(4), Flow::Paused);
    EXPECT_EQ(transport_.deadline_ns, 0u) << "no deadline";
    EXPECT_THAT(transport_.calls,
                ElementsAre("send 2 3 {\"a\":1} tools/call 2025-06-18 Mcp-Name:search/0 ",
                            "send 1 4 {}   "));
    transport_.sink->done(transport_.link, 3, PATCHBAY_OK, nullptr);
    transport_.sink->done(transport_.link, 4, PATCHBAY_OK, nullptr);
    turn();
    EXPECT_EQ(services_.misbehaviour(), "");
}

TEST_F(ChannelAlone, SettlesWhatRunsWithATransportThatCanResume) {
    transport_.table.caps = PATCHBAY_CAP_RESUME;
    transport_.table.settle = Transport::on_settle;
    open();
    ASSERT_TRUE(send(5));
    transport_.calls.clear();
    channel_->settle(4);
    EXPECT_THAT(transport_.calls, IsEmpty()) << "no such exchange";
    channel_->settle(5);
    EXPECT_THAT(transport_.calls, ElementsAre("settle 5"));
    transport_.sink->done(transport_.link, 5, PATCHBAY_OK, nullptr);
    turn();
    channel_->settle(5);
    EXPECT_EQ(transport_.calls.size(), 1u) << "it has ended";
}

TEST_F(ChannelAlone, DoesNotCallASlotOfACapabilityThatIsNotThere) {
    open();  // settle and set_credentials are null
    ASSERT_TRUE(send(5));
    transport_.calls.clear();
    channel_->settle(5);
    channel_->set_credentials({{"Authorization", "Bearer 2", true, false}});
    EXPECT_THAT(transport_.calls, IsEmpty());
    EXPECT_FALSE(channel_->request_scoped());
    EXPECT_FALSE(channel_->takes_headers());
    transport_.table.caps = PATCHBAY_CAP_EXCHANGE | PATCHBAY_CAP_HEADERS;
    EXPECT_TRUE(channel_->request_scoped());
    EXPECT_TRUE(channel_->takes_headers());
    transport_.sink->done(transport_.link, 5, PATCHBAY_OK, nullptr);
}

TEST_F(ChannelAlone, HandsNewCredentialsOnAsLongAsItIsOpen) {
    transport_.table.caps = PATCHBAY_CAP_CREDENTIALS;
    transport_.table.set_credentials = Transport::on_set_credentials;
    open();
    channel_->set_credentials({{"Authorization", "Bearer 2", true, false}});
    EXPECT_THAT(transport_.calls, ElementsAre("set_credentials Authorization:Bearer 2/1 "));
    transport_.sink->closed(transport_.link, nullptr);
    ASSERT_TRUE(until([&] { return events_.closed; }));
    transport_.calls.clear();
    channel_->set_credentials({});
    channel_->cancel(1);
    channel_->settle(1);
    channel_->resume();
    channel_->close();
    EXPECT_FALSE(send(1));
    EXPECT_THAT(transport_.calls, IsEmpty()) << "the plugin has freed the channel";
    channel_.reset();
}

TEST_F(ChannelAlone, NamesAnAnswerToSendThatMeansNothing) {
    open();
    transport_.send_status = 2;
    EXPECT_TRUE(send(1));
    ASSERT_TRUE(until([&] { return events_.closed; }));
    EXPECT_THAT(services_.misbehaviour(), HasSubstr("send returned 2"));
}

TEST_F(ChannelAlone, IsClosedOnceWhoeverThrowsWhenTheEndIsTold) {
    open();
    events_.at_the_end = [] { throw std::runtime_error("not now"); };
    transport_.sink->challenge(transport_.link, nullptr);
    ASSERT_TRUE(until([&] { return events_.closed; }));
    turn();
    EXPECT_THAT(transport_.calls, ElementsAre("close"));
    EXPECT_THAT(events_.lines, ElementsAre("closed"));
    EXPECT_EQ(core::take_escapes(), 1u);
}

TEST_F(ChannelAlone, IsEndedByAListenerThatThrowsAnything) {
    open();
    events_.during_message = [] { throw 7; };
    say(0, "{}");
    ASSERT_TRUE(until([&] { return events_.closed; }));
    ASSERT_EQ(events_.problems.size(), 1u);
    EXPECT_EQ(events_.problems[0].error.message,
              "server \"demo\": internal error at message: no std::exception");
    EXPECT_THAT(transport_.calls, ElementsAre("close"));
    EXPECT_EQ(core::take_escapes(), 1u);
}

TEST_F(ChannelAlone, IsDestroyedWhenItHasClosedThoughNobodyListensAnyMore) {
    open();
    ASSERT_TRUE(send(1));
    channel_->close();
    transport_.sink->done(transport_.link, 1, PATCHBAY_OK, nullptr);
    transport_.sink->closed(transport_.link, nullptr);
    channel_.reset();
    turn();
    EXPECT_THAT(transport_.calls.back(), "destroy");
    EXPECT_EQ(services_.channels, 0u);
    EXPECT_THAT(events_.lines, IsEmpty());
    EXPECT_EQ(services_.misbehaviour(), "") << "what nobody heard is no broken contract";
}

TEST_F(ChannelAlone, NamesTheSlotThatThrows) {
    open();
    ASSERT_TRUE(send(1));
    transport_.throws_in = "cancel";
    channel_->cancel(1);
    ASSERT_TRUE(until([&] { return events_.closed; }));
    EXPECT_THAT(services_.misbehaviour(), HasSubstr("server \"demo\": cancel threw: no cancel"));
}

TEST_F(ChannelAlone, ThatIsRefusedIsToldWithTheReason) {
    transport_.open_status = PATCHBAY_E_DENIED;
    const auto refused = try_open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Denied);
    EXPECT_EQ(refused.error().message, "server \"demo\": not today");
    EXPECT_EQ(services_.misbehaviour(), "");
    EXPECT_EQ(services_.channels, 0u);
}

TEST_F(ChannelAlone, ThatIsOpenedWithANumberThatMeansNothingBreaksTheContract) {
    transport_.open_status = PATCHBAY_PAUSE;
    const auto refused = try_open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Internal);
    EXPECT_THAT(services_.misbehaviour(), HasSubstr("open returned 1"));
    EXPECT_EQ(services_.channels, 0u);
}

TEST_F(ChannelAlone, ThatThrowsWhenItIsOpenedBreaksTheContract) {
    transport_.throws_in = "open";
    transport_.during_open = [&] { transport_.sink->opened(transport_.link); };
    const auto refused = try_open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Internal);
    EXPECT_THAT(services_.misbehaviour(), HasSubstr("open threw: no open"));
    turn();
    EXPECT_THAT(events_.lines, IsEmpty()) << "nobody has a channel that this could belong to";
}

TEST_F(ChannelAlone, ASignatureNeedsALinkASignerAndSomebodyToTell) {
    const auto header = [](void*, patchbay_str, patchbay_str) {};
    open();
    const auto sign = [&](patchbay_link* link, Signer::Header to) {
        return sign_table()->sign(services_.host(), link, str("POST"), str("https://a/"), nullptr,
                                  to);
    };
    EXPECT_EQ(sign(nullptr, header), PATCHBAY_E_INVALID);
    EXPECT_EQ(sign(transport_.link, nullptr), PATCHBAY_E_INVALID);
    EXPECT_EQ(sign(transport_.link, header), PATCHBAY_E_AUTH) << "it was opened without a signer";
}

}  // namespace
