// Who reads on and when, and what becomes of a body a piece at a time: no connection, no reactor.
#include "net/turns.hpp"

#include "net/answer_body.hpp"
#include "net/body_decoder.hpp"
#include "net/task.hpp"
#include "unit/plugins_common/scripted_host.hpp"

#include <Poco/DeflatingStream.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace patchbay::net {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using transport::ChannelCore;
using Read = AnswerBody::Read;

struct Quiet final : Task {
    Quiet() : Task(Url::parse("http://127.0.0.1/")) {}
    Take head(const Head&) override { return Take::Stream; }
    std::size_t body_limit() const override { return limit; }
    bool body_may_be_cut() const override { return may_be_cut; }
    bool data(std::string_view& bytes) override {
        if (takes == 0) return bytes.remove_prefix(std::min<std::size_t>(bytes.size(), 1)), true;
        taken += bytes;
        return bytes = {}, --takes > 0;
    }
    void end(const Trouble*) override {}

    std::size_t limit = 64u << 10;
    bool may_be_cut = false;
    int takes = 1'000'000;  // then no more
    std::string taken;
};

class TurnsTest : public ::testing::Test, public TurnsOwner {
protected:
    void take_turn(const std::shared_ptr<Task>& task) override {
        for (std::size_t i = 0; i < tasks.size(); ++i)
            if (tasks[i] == task) turns_taken.push_back(i);
        turns.spend(each);
        if (again) turns.queue(task);
    }
    void queue(std::size_t nth) {
        const ChannelCore::Turn turn(core);
        turns.queue(tasks[nth]);
    }
    // One round of the reactor: what is posted meanwhile is the next one's.
    void round() {
        for (auto count = host.posted.size(); count > 0; --count) {
            const auto next = host.posted.front();
            host.posted.pop_front();
            next.fn(next.ctx);
        }
    }

    test::ScriptedHost host;
    ChannelCore core{host.params()};
    Turns turns{core, *this};
    std::vector<std::shared_ptr<Quiet>> tasks{std::make_shared<Quiet>(), std::make_shared<Quiet>(),
                                              std::make_shared<Quiet>()};
    std::vector<std::size_t> turns_taken;
    std::size_t each = 0;
    bool again = false;
};

TEST_F(TurnsTest, ComeInOrderInTheRoundAfterAndOnceForEach) {
    queue(1);
    queue(0);
    queue(1);
    round();
    EXPECT_THAT(turns_taken, IsEmpty()) << "this round has had its bytes";
    round();
    EXPECT_THAT(turns_taken, ElementsAre(1, 0));
    round();
    EXPECT_THAT(host.posted, IsEmpty());
}

TEST_F(TurnsTest, OfARoundAreOverWhenItsBytesAreSpentAndGoOnWhereTheyStopped) {
    each = Turns::kBytesATurn / 2;
    for (const std::size_t nth : {0, 1, 2}) queue(nth);
    round();
    round();
    EXPECT_THAT(turns_taken, ElementsAre(0, 1));
    EXPECT_TRUE(turns.spent());
    round();
    EXPECT_THAT(turns_taken, ElementsAre(0, 1, 2));
}

TEST_F(TurnsTest, WhoAlwaysHasMoreComesBehindTheOthers) {
    again = true;
    each = Turns::kBytesATurn;
    for (const std::size_t nth : {0, 1}) queue(nth);
    for (int i = 0; i < 5; ++i) round();
    EXPECT_THAT(turns_taken, ElementsAre(0, 1, 0, 1));
}

TEST_F(TurnsTest, WhatIsSpentOutsideOfThemCountsUntilTheNextRound) {
    {
        const ChannelCore::Turn turn(core);
        turns.spend(Turns::kBytesATurn);
    }
    EXPECT_TRUE(turns.spent());
    round();
    round();
    EXPECT_FALSE(turns.spent());
}

TEST_F(TurnsTest, WhileTheHostWantsNoMoreWhoHasSomethingIsHeld) {
    const ChannelCore::Turn turn(core);
    EXPECT_THAT(turns.resume(), IsEmpty()) << "nobody had paused";
    turns.pause();
    turns.hold(tasks[0]);
    turns.hold(tasks[0]);
    turns.hold(tasks[2]);
    EXPECT_THAT(turns.resume(), ElementsAre(tasks[0], tasks[2]));
    EXPECT_FALSE(turns.paused());
    turns.queue(tasks[0]);
    EXPECT_THAT(host.posted, SizeIs(1)) << "it is held no more";
}

TEST_F(TurnsTest, ThatWereStoppedAreNobodys) {
    queue(0);
    {
        const ChannelCore::Turn turn(core);
        turns.stop();
    }
    round();
    round();
    EXPECT_THAT(turns_taken, IsEmpty());
}

// ---- the body of one answer

class AnswerBodyTest : public TurnsTest {
protected:
    static Head plain(std::size_t length) {
        return {200, "OK", {{"Content-Length", std::to_string(length)}}};
    }
    Quiet& task = *tasks[0];
};

TEST_F(AnswerBodyTest, AsItComesIsHandedOnAndOverWithItsLastByte) {
    AnswerBody body(task, Take::Stream, turns);
    BodyDecoder decoder(plain(6));
    EXPECT_EQ(body.read(decoder, "abc"), Read::Waits);
    EXPECT_EQ(task.taken, "abc");
    EXPECT_EQ(body.read(decoder, "def"), Read::Over);
    EXPECT_EQ(task.taken, "abcdef");
}

TEST_F(AnswerBodyTest, AsItComesIsOverWhenItsTaskHasEnough) {
    task.takes = 1;
    AnswerBody body(task, Take::Stream, turns);
    BodyDecoder decoder(plain(6));
    EXPECT_EQ(body.read(decoder, "abc"), Read::Over);
}

TEST_F(AnswerBodyTest, WhatItsTaskLeavesWhileTheHostIsFullIsKeptInOrder) {
    task.takes = 0;
    turns.pause();
    AnswerBody body(task, Take::Stream, turns);
    BodyDecoder decoder(plain(6));
    EXPECT_EQ(body.read(decoder, "abc"), Read::Waits);
    EXPECT_TRUE(body.has_rest());
    static_cast<void>(turns.resume());
    task.takes = 100;
    EXPECT_EQ(body.read_rest(decoder), Read::Waits);
    EXPECT_EQ(body.read(decoder, "def"), Read::Over);
    EXPECT_EQ(task.taken, "bcdef");
}

TEST_F(AnswerBodyTest, MoreThanAStepUnpacksToWaitsForTheNextTurn) {
    const std::string much(1u << 20, 'x');
    std::ostringstream packed;
    Poco::DeflatingOutputStream stream(packed, Poco::DeflatingStreamBuf::STREAM_GZIP);
    stream << much;
    stream.close();
    AnswerBody body(task, Take::Stream, turns);
    BodyDecoder decoder({200, "OK", {{"Content-Encoding", "gzip"}}});
    const auto bytes = packed.str();
    ASSERT_EQ(body.read(decoder, bytes), Read::GoesOn);
    EXPECT_LT(task.taken.size(), much.size());
    int more = 0;
    while (body.has_rest() && ++more < 100) {
        round();
        round();
        body.read_rest(decoder);
    }
    EXPECT_GT(more, 1);
    EXPECT_EQ(task.taken.size(), much.size());
    EXPECT_EQ(body.read(decoder, {}), Read::Over);
}

TEST_F(AnswerBodyTest, WholeIsOverAtItsEndAndReleasedAtOnce) {
    AnswerBody body(task, Take::Whole, turns);
    BodyDecoder decoder(plain(6));
    EXPECT_FALSE(body.must_end()) << "its first byte may take its time";
    EXPECT_EQ(body.read(decoder, "abc"), Read::Waits);
    EXPECT_TRUE(body.must_end());
    EXPECT_EQ(body.read(decoder, "def"), Read::Over);
    EXPECT_EQ(body.release(), "abcdef");
    EXPECT_FALSE(body.was_cut());
}

TEST_F(AnswerBodyTest, ThatMayBeCutIsCutAtTheLimitAndWhereItBreaksOff) {
    task.may_be_cut = true;
    task.limit = 4;
    AnswerBody body(task, Take::Whole, turns);
    BodyDecoder decoder(plain(100));
    EXPECT_TRUE(body.must_end());
    EXPECT_EQ(body.read(decoder, "abcdef"), Read::Over);
    EXPECT_TRUE(body.was_cut());
    EXPECT_EQ(body.release(), "abcd");
    AnswerBody other(task, Take::Whole, turns);
    EXPECT_TRUE(other.break_off());
    EXPECT_TRUE(other.was_cut());
}

TEST_F(AnswerBodyTest, ThatMayNotBeCutHasBrokenOff) {
    for (const auto take : {Take::Whole, Take::Stream, Take::Nothing}) {
        AnswerBody body(task, take, turns);
        EXPECT_FALSE(body.break_off());
        EXPECT_FALSE(body.was_cut());
    }
}

TEST_F(AnswerBodyTest, ThatNobodyWantsIsReadForItsConnectionsSakeButNotForLong) {
    const std::string much((64u << 10) + 1, 'x');
    AnswerBody body(task, Take::Nothing, turns);
    BodyDecoder decoder(plain(much.size() + 1));
    EXPECT_TRUE(body.must_end());
    EXPECT_EQ(body.read(decoder, std::string_view(much).substr(1)), Read::Waits);
    EXPECT_EQ(body.read(decoder, "x"), Read::Over);
    EXPECT_FALSE(decoder.over());
}

}  // namespace
}  // namespace patchbay::net
