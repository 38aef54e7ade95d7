// What leaves and what waits, without a transport.
#include "connection/outbox.hpp"

#include "support/silent_channel.hpp"
#include "support/turned_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::connection {
namespace {

using plugin::Flow;
using plugin::MessageKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OutboxTest : public ::testing::Test, public OutboxOwner {
protected:
    // Takes what `answers` says, one after the other; then everything.
    struct Taker final : test::SilentChannel {
        explicit Taker(OutboxTest& of) : test(of) {}
        Result<Flow> send(plugin::OutgoingMessage message) override {
            if (!test.answers.empty()) {
                auto answer = test.answers.front();
                test.answers.erase(test.answers.begin());
                if (!answer) return answer;
                test.taken.emplace_back(message.body.view());
                return answer;
            }
            test.taken.emplace_back(message.body.view());
            return Flow::Ready;
        }
        OutboxTest& test;
    };

    OutboxTest() { link.channel = std::make_unique<Taker>(*this); }
    void on_queued(RequestId exchange, std::uint64_t place) override { places[exchange] = place; }
    void on_leaving(RequestId exchange) override { left.push_back(exchange); }
    void on_not_taken(MessageKind, RequestId exchange, Error error) override {
        refused.push_back(std::to_string(exchange) + ": " + error.message);
    }
    void on_overflow(Error error) override { overflows.push_back(error.message); }
    void send(RequestId exchange, const std::string& body,
              MessageKind kind = MessageKind::Request) {
        outbox.send({kind, exchange, body, "m"});
    }
    void run_deferred() {
        bool ran = false;
        loop.defer([&] { ran = true; });
        loop.run_until([&] { return ran; });
    }

    test::TurnedLoop loop;
    core::Limits limits;
    Link link;
    std::vector<Result<Flow>> answers;
    std::vector<std::string> taken, refused, overflows;
    std::vector<RequestId> left;
    std::map<RequestId, std::uint64_t> places;
    Outbox outbox{loop, limits, link, *this};
};

TEST_F(OutboxTest, PassesOnAtOnceWhatTheTransportTakes) {
    send(1, "a");
    send(2, "b", MessageKind::Notification);
    EXPECT_THAT(taken, ElementsAre("a", "b"));
    EXPECT_THAT(left, ElementsAre(1)) << "only requests are told of";
    EXPECT_THAT(places, IsEmpty());
}

TEST_F(OutboxTest, KeepsTheOrderOfWhatWaitsForAFullTransport) {
    answers = {Flow::Paused};
    send(1, "a");
    send(2, "b");
    send(3, "c");
    EXPECT_THAT(taken, ElementsAre("a"));
    outbox.writable();
    EXPECT_THAT(taken, ElementsAre("a", "b", "c"));
    EXPECT_THAT(left, ElementsAre(1, 2, 3));
}

TEST_F(OutboxTest, StopsAgainWhenTheTransportIsFullAgain) {
    answers = {Flow::Paused, Flow::Paused};
    send(1, "a");
    send(2, "b");
    send(3, "c");
    outbox.writable();
    EXPECT_THAT(taken, ElementsAre("a", "b"));
}

TEST_F(OutboxTest, WhatIsTakenBackNeverLeaves) {
    answers = {Flow::Paused};
    send(1, "a");
    send(2, "b");
    send(3, "c");
    outbox.take_back(places.at(2));
    outbox.writable();
    EXPECT_THAT(taken, ElementsAre("a", "c"));
}

TEST_F(OutboxTest, WhatIsNotTakenIsSaid) {
    answers = {Error{ErrorCode::Io, "no"}};
    send(1, "a");
    link.channel.reset();
    send(2, "b");
    EXPECT_THAT(refused, ElementsAre("1: no", "2: there is no channel"));
}

TEST_F(OutboxTest, AServerThatReadsNothingIsGivenUpAfterWhoeverSends) {
    limits.queue_messages = 1;
    limits.server_requests = 1;
    answers = {Flow::Paused};
    for (RequestId id = 1; id <= 4; ++id) send(id, "a");
    EXPECT_THAT(overflows, IsEmpty());
    run_deferred();
    ASSERT_THAT(overflows, ::testing::SizeIs(1));
    EXPECT_THAT(overflows[0], HasSubstr("2 messages wait (limit queue_messages)"));
}

TEST_F(OutboxTest, AServerThatReadsAfterAllOrHasGoneIsNotGivenUp) {
    limits.queue_messages = 1;
    limits.server_requests = 1;
    for (const bool gone : {false, true}) {
        answers = {Flow::Paused};
        for (RequestId id = 1; id <= 4; ++id) send(id, "a");
        if (gone)
            link.channel.reset();
        else
            outbox.writable();
        run_deferred();
        EXPECT_THAT(overflows, IsEmpty()) << gone;
    }
}

TEST_F(OutboxTest, TheNextChannelBeginsEmptyAndReady) {
    answers = {Flow::Paused};
    send(1, "a");
    send(2, "b");
    outbox.clear();
    send(3, "c");
    EXPECT_THAT(taken, ElementsAre("a", "c"));
}

TEST_F(OutboxTest, AMessageIsOneLineWhateverItsCallerWrote) {
    send(1, "{\n}");
    EXPECT_THAT(taken, ElementsAre("{ }"));
}

}  // namespace
}  // namespace patchbay::connection
