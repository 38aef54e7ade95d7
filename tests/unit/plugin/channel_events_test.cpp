// What the host makes of every event that a transport tells, and of too many.
#include "core/secrets.hpp"
#include "unit/plugin/channel_alone.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace patchbay;
using namespace patchbay::plugin;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

TEST_F(ChannelAlone, TellsEveryEventOnceAndInOrder) {
    open();
    const auto* const sink = transport_.sink;
    auto* const link = transport_.link;
    sink->opened(link);
    sink->output(link, PATCHBAY_OUTPUT_STDERR, str("warming up"));
    sink->fact(link, str("pid"), str("7"));
    EXPECT_EQ(say(0, "{\"a\":1}"), PATCHBAY_OK);
    sink->writable(link);
    const auto session = problem(PATCHBAY_E_SESSION, "lost");
    const auto other = problem(PATCHBAY_E_IO, "who are you");
    sink->challenge(link, &session);
    sink->challenge(link, &other);
    EXPECT_THAT(events_.lines, IsEmpty()) << "told from inside the plugin's call";
    turn();
    EXPECT_THAT(events_.lines,
                ElementsAre("opened", "output 1 warming up", "pid=7", "message 0 {\"a\":1}",
                            "writable", "challenge", "challenge"));
    ASSERT_EQ(events_.problems.size(), 2u);
    EXPECT_EQ(events_.problems[0].error.code, ErrorCode::SessionLost);
    EXPECT_EQ(events_.problems[1].error.code, ErrorCode::AuthRequired)
        << "a background stream is refused for that, whatever the number";
    EXPECT_EQ(events_.problems[1].error.message, "who are you");
}

TEST_F(ChannelAlone, CutsWhatIsForPeople) {
    open();
    const std::string exact(8192, 'x'), value(1024, 'v'), name(64, 'n');
    transport_.sink->output(transport_.link, 2, str(exact));
    transport_.sink->output(transport_.link, 2, str(exact + "y"));
    transport_.sink->fact(transport_.link, str(name), str(value));
    turn();
    EXPECT_THAT(events_.lines,
                ElementsAre("output 2 " + exact, "output 2 " + exact, name + "=" + value));
    transport_.sink->fact(transport_.link, str(name + "n"), str(value + "w"));
    turn();
    EXPECT_LT(events_.lines.at(3).size(), name.size() + value.size() + 32);
    EXPECT_NE(events_.lines.at(3), name + "n=" + value + "w");
}

TEST_F(ChannelAlone, ShowsNoBeginningOfASecretThatWasCut) {
    core::Secrets secrets;
    secrets.add("k9ZqA7Lw2pXv4Tn8");
    open();
    const std::string half = "k9ZqA7Lw2pXv4Tn", line = std::string(8192 - half.size(), 'x');
    transport_.sink->output(transport_.link, 2, str(line + half));  // cut by the plugin
    transport_.sink->output(transport_.link, 2, str(line + half + "8, cut by the host"));
    turn();
    EXPECT_THAT(events_.lines, ElementsAre("output 2 " + line + "***", "output 2 " + line + "***"));
    for (const std::size_t missing : {0u, 3u}) {
        const std::string said(495 - missing - half.size(), 'x');
        const auto reason = problem(PATCHBAY_E_PROTOCOL, (said + half).c_str());
        transport_.sink->challenge(transport_.link, &reason);
        turn();
        EXPECT_EQ(events_.problems.back().error.message, said + "***");
    }
}

TEST_F(ChannelAlone, EndsWithTheReasonThatIsGiven) {
    open();
    const auto reason = problem(PATCHBAY_E_PROTOCOL, "no JSON");
    transport_.sink->closed(transport_.link, &reason);
    ASSERT_TRUE(until([&] { return events_.closed; }));
    ASSERT_EQ(events_.problems.size(), 1u);
    EXPECT_EQ(events_.problems[0].error.code, ErrorCode::Protocol);
    EXPECT_EQ(events_.problems[0].error.message, "no JSON");
    EXPECT_THAT(transport_.calls, ElementsAre("destroy"));
    EXPECT_EQ(services_.channels, 0u);
    channel_.reset();
    EXPECT_EQ(transport_.calls.size(), 1u) << "destroyed once";
}

TEST_F(ChannelAlone, EndsWithAnIoErrorWhenTheReasonHasNoCode) {
    open();
    const auto reason = problem(PATCHBAY_OK, "somehow");
    transport_.sink->closed(transport_.link, &reason);
    ASSERT_TRUE(until([&] { return events_.closed; }));
    ASSERT_EQ(events_.problems.size(), 1u);
    EXPECT_EQ(events_.problems[0].error.code, ErrorCode::Io);
    channel_.reset();
}

TEST_F(ChannelAlone, IsNotResumedBeforeItsMessagesAreDelivered) {
    open();
    channel_->pause();
    EXPECT_EQ(say(0, "{}"), PATCHBAY_PAUSE);
    turn();
    EXPECT_THAT(transport_.calls, IsEmpty()) << "the host has paused it";
    channel_->resume();
    EXPECT_THAT(transport_.calls, ElementsAre("resume"));
    channel_->resume();
    EXPECT_EQ(transport_.calls.size(), 1u) << "a PAUSE that was not answered is not ended";
}

// The limits in bytes and events, exactly at and over.
TEST_F(ChannelAlone, AsksForAPauseWhenMoreThanAMegabyteOrAThousandEventsWait) {
    open();
    EXPECT_EQ(say(0, std::string(1u << 20, 'x')), PATCHBAY_OK);
    EXPECT_EQ(say(0, "x"), PATCHBAY_PAUSE);
    hear(2);
    EXPECT_THAT(transport_.calls, ElementsAre("resume"));
    transport_.calls.clear();
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(say(0, "x"), PATCHBAY_OK) << i;
    EXPECT_EQ(say(0, "x"), PATCHBAY_PAUSE);
    hear(1003);
    EXPECT_THAT(transport_.calls, ElementsAre("resume"));
    EXPECT_EQ(events_.lines.size(), 1003u);
}

TEST_F(ChannelAlone, DropsLinesForPeopleBeyondTenThousandAndNothingElse) {
    open();
    for (int i = 0; i < 10'001; ++i)
        transport_.sink->output(transport_.link, PATCHBAY_OUTPUT_STRAY, str("line"));
    say(0, "{}");
    hear(10'001);
    EXPECT_EQ(events_.lines.size(), 10'001u);
    EXPECT_EQ(events_.lines.back(), "message 0 {}");
    EXPECT_THAT(events_.problems, IsEmpty());
}

TEST_F(ChannelAlone, TakesAHundredThousandEventsAndEndsWithOneMore) {
    open();
    const auto wait = [&](int count) {
        for (int i = 0; i < count; ++i) transport_.sink->writable(transport_.link);
        hear(events_.lines.size() + 100'000);
    };
    wait(100'000);
    EXPECT_THAT(events_.problems, IsEmpty());
    EXPECT_EQ(events_.lines.size(), 100'000u);
    wait(100'001);
    EXPECT_TRUE(events_.closed);
    ASSERT_EQ(events_.problems.size(), 1u);
    EXPECT_EQ(events_.problems[0].error.code, ErrorCode::Limit);
    EXPECT_THAT(events_.problems[0].error.message, HasSubstr("limit channel_events"));
    EXPECT_THAT(transport_.calls, ElementsAre("close"));
    EXPECT_EQ(services_.misbehaviour(), "") << "the peer has done it, not the plugin";
}

// A turn of the loop: what was posted meanwhile comes between two rounds.
TEST_F(ChannelAlone, ALongQueueIsDeliveredInRoundsAndOthersHaveTheirTurn) {
    open();
    for (int i = 0; i < 130; ++i) transport_.sink->writable(transport_.link);
    std::vector<std::size_t> heard;
    for (int i = 0; i < 3; ++i)
        loop_.post([&] {
            heard.push_back(events_.lines.size());
            loop_.post([&] { heard.push_back(events_.lines.size()); });
        });
    hear(130);
    EXPECT_THAT(heard, ElementsAre(64, 64, 64, 128, 128, 128));
    EXPECT_THAT(transport_.calls, IsEmpty());
}

TEST_F(ChannelAlone, ARoundEndsAfterAQuarterOfAMegabyteToo) {
    open();
    for (int i = 0; i < 4; ++i) say(0, std::string(128u << 10, 'x'));
    turn();
    EXPECT_EQ(events_.lines.size(), 2u);
    say(0, "late");
    hear(5);
    EXPECT_EQ(events_.lines.back(), "message 0 late");
}

TEST_F(ChannelAlone, IsNotResumedWhileARoundIsLeft) {
    open();
    for (int i = 0; i < 1001; ++i) say(0, "x");
    turn();
    EXPECT_EQ(events_.lines.size(), 64u);
    EXPECT_THAT(transport_.calls, IsEmpty());
    EXPECT_EQ(say(0, "x"), PATCHBAY_OK) << "of the thousand some are delivered";
    hear(1002);
    EXPECT_THAT(transport_.calls, ElementsAre("resume"));
}

TEST_F(ChannelAlone, WhatWasInAMessageComesBeforeTheNextAndInRounds) {
    open();
    ASSERT_TRUE(send(1));
    bool first = true;
    events_.during_message = [&] {
        if (!std::exchange(first, false)) return;
        std::vector<core::Buffer> parts;
        for (int i = 0; i < 100; ++i) parts.push_back(core::Buffer::from(std::to_string(i)));
        channel_->unfold(std::move(parts));
    };
    say(1, "[]");
    transport_.sink->done(transport_.link, 1, PATCHBAY_OK, nullptr);
    turn();
    EXPECT_EQ(events_.lines.size(), 64u);
    hear(102);
    EXPECT_EQ(events_.lines[0], "message 1 []");
    EXPECT_EQ(events_.lines[1], "message 0 0");
    EXPECT_EQ(events_.lines[100], "message 0 99");
    EXPECT_EQ(events_.lines[101], "done 1");
}

TEST_F(ChannelAlone, AFullQueueStillTakesTheEnd) {
    open();
    for (int i = 0; i < 100'000; ++i) transport_.sink->writable(transport_.link);
    transport_.sink->closed(transport_.link, nullptr);
    ASSERT_TRUE(until([&] { return events_.closed; }));
    EXPECT_THAT(events_.problems, IsEmpty());
    EXPECT_THAT(transport_.calls, ElementsAre("destroy"));
    channel_.reset();
}

struct BadEvent {
    const char *name, *what;
    void (*tell)(const patchbay_sink&, patchbay_link*);
};
class BadEvents : public ChannelAlone, public testing::WithParamInterface<BadEvent> {};

TEST_P(BadEvents, BreakTheContract) {
    open();
    GetParam().tell(*transport_.sink, transport_.link);
    ASSERT_TRUE(until([&] { return events_.closed; }));
    EXPECT_THAT(services_.misbehaviour(), HasSubstr(GetParam().what));
    ASSERT_EQ(events_.problems.size(), 1u);
    EXPECT_EQ(events_.problems[0].error.code, ErrorCode::Internal);
    EXPECT_THAT(transport_.calls, ElementsAre("close"));
    transport_.sink->writable(transport_.link);
    transport_.sink->closed(transport_.link, nullptr);
    turn();
    EXPECT_THAT(events_.lines, ElementsAre("closed")) << "nothing of it is heard any more";
    EXPECT_THAT(transport_.calls, ElementsAre("close", "destroy"));
    channel_.reset();
}

constexpr patchbay_problem small_problem() {
    patchbay_problem made{};
    made.struct_size = 4;
    return made;
}
constexpr BadEvent kBadEvents[] = {
    {"MessageWithoutABuffer", "message without a body",
     [](const patchbay_sink& sink, patchbay_link* link) { sink.message(link, 0, nullptr); }},
    {"MessageWithoutBytes", "message without a body",
     [](const patchbay_sink& sink, patchbay_link* link) {
         const patchbay_buf none{nullptr, 1, 1, nullptr, nullptr};
         sink.message(link, 0, &none);
     }},
    {"MessageOfNoExchange", "a message for exchange 9, which is not open",
     [](const patchbay_sink& sink, patchbay_link* link) {
         const patchbay_buf empty{nullptr, 0, 0, [](void*) {}, nullptr};
         sink.message(link, 9, &empty);
     }},
    {"ChallengeWithoutAProblem", "challenge without a problem",
     [](const patchbay_sink& sink, patchbay_link* link) { sink.challenge(link, nullptr); }},
    {"ChallengeWithASmallProblem", "challenge without a problem",
     [](const patchbay_sink& sink, patchbay_link* link) {
         const auto small = small_problem();
         sink.challenge(link, &small);
     }},
    {"ClosedWithASmallProblem", "closed with a problem of an unknown size",
     [](const patchbay_sink& sink, patchbay_link* link) {
         const auto small = small_problem();
         sink.closed(link, &small);
     }},
};
INSTANTIATE_TEST_SUITE_P(All, BadEvents, testing::ValuesIn(kBadEvents),
                         [](const auto& named) { return std::string(named.param.name); });

}  // namespace
