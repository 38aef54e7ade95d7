// The engine by itself: what its tasks throw, and what never ends.
#include "net/engine.hpp"

#include "core/escapes.hpp"
#include "engine_fixture.hpp"
#include "net/sse_parser.hpp"

#include <Poco/DeflatingStream.h>

#include <sstream>

namespace patchbay::net {
namespace {

using ::testing::HasSubstr;

TEST_F(EngineTest, WhatATaskThrowsIsItsOwnTroubleAndTheOthersGoOn) {
    ScriptedHttp server(
        [](const auto&) -> ScriptedHttp::Answer { return {ScriptedHttp::json("{}")}; });
    for (const char* place : {"prepare", "head", "whole", "data"}) {
        const auto bad = start(server.url()), good = start(server.url());
        bad->throws_in = place;
        bad->take = place == std::string("data") ? Task::Take::Stream : Task::Take::Whole;
        begin(bad);
        begin(good);
        ASSERT_TRUE(until([&] { return bad->ended == 1 && good->ended == 1; })) << place;
        ASSERT_TRUE(bad->trouble) << place;
        EXPECT_EQ(bad->trouble->code, PATCHBAY_E_INTERNAL);
        EXPECT_THAT(bad->trouble->text, HasSubstr(place));
        EXPECT_FALSE(good->trouble);
        EXPECT_EQ(failed_, "");
    }
}

TEST_F(EngineTest, WhatTheEndOfATaskThrowsEndsTheChannel) {
    ScriptedHttp server(
        [](const auto&) -> ScriptedHttp::Answer { return {ScriptedHttp::json("{}")}; });
    const auto task = start(server.url());
    task->throws_in = "end";
    begin(task);
    ASSERT_TRUE(until([&] { return !failed_.empty(); }));
    EXPECT_EQ(failed_, "internal error: an exchange threw: thrown in end");
    EXPECT_EQ(task->ended, 1);
    EXPECT_EQ(core::take_escapes(), 1u);
}

TEST_F(EngineTest, EveryAnswerThatStallsIsEndedNotOnlyTheFirst) {
    let_waiting_take(10ms);
    ScriptedHttp server([](const auto&) -> ScriptedHttp::Answer {
        return {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome"};
    });
    for (int round = 0; round < 3; ++round) {
        const auto task = start(server.url());
        begin(task);
        ASSERT_TRUE(until([&] { return task->ended == 1; })) << round;
        EXPECT_THAT(task->trouble->text, HasSubstr("no answer in time"));
    }
}

TEST_F(EngineTest, AStreamThatUnpacksToManyEventsIsHandedOnAsFastAsItIsTaken) {
    std::ostringstream packed;
    Poco::DeflatingOutputStream stream(packed, Poco::DeflatingStreamBuf::STREAM_GZIP);
    for (int i = 0; i < 200'000; ++i) stream << "data: {}\n\n";
    stream.close();
    ASSERT_LT(packed.str().size(), 16'000u) << "one piece";
    ScriptedHttp server([&](const auto&) -> ScriptedHttp::Answer {
        return {ScriptedHttp::events(packed.str(), "Content-Encoding: gzip\r\n"),
                ScriptedHttp::Answer::Then::Close};
    });
    const auto task = start(server.url());
    SseParser parser(1000);
    std::size_t events = 0, most = 0;
    task->take = Task::Take::Stream;
    task->on_data = [&](std::string_view& bytes) {
        most = std::max(most, bytes.size());
        return parser.feed_some(bytes, [&](SseParser::Event&&) {
            if (++events % 50'000 == 0) engine_->pause();
            return !engine_->paused();
        });
    };
    begin(task);
    for (std::size_t wanted = 50'000; wanted <= 200'000; wanted += 50'000) {
        ASSERT_TRUE(until([&] { return events >= wanted; })) << wanted;
        EXPECT_EQ(events, wanted) << "nothing comes during a pause";
        const Turn turn(*core_);
        engine_->resume();
    }
    ASSERT_TRUE(until([&] { return task->ended == 1; }));
    EXPECT_FALSE(task->trouble);
    EXPECT_LE(most, 2u << 20);
}

TEST_F(EngineTest, OthersHaveTheirTurnsWhileAFewBytesUnpackToMany) {
    std::ostringstream packed;
    Poco::DeflatingOutputStream stream(packed, Poco::DeflatingStreamBuf::STREAM_GZIP);
    const std::size_t all = 8u << 20;
    stream << std::string(all, '\n');
    stream.close();
    ASSERT_LT(packed.str().size(), 16'000u) << "one piece";
    ScriptedHttp server([&](const auto&) -> ScriptedHttp::Answer {
        return {ScriptedHttp::events(packed.str(), "Content-Encoding: gzip\r\n"),
                ScriptedHttp::Answer::Then::Close};
    });
    for (const auto take : {Task::Take::Stream, Task::Take::Whole}) {
        const auto task = start(server.url());
        std::size_t taken = 0, before = 0, most = 0, turns = 0;
        task->take = take;
        task->limit = all;
        task->on_data = [&](std::string_view& bytes) {
            taken += std::exchange(bytes, {}).size();
            return true;
        };
        begin(task);
        // One callback a time: what happened in it was one turn's.
        while (task->ended == 0 && turns < 100'000) {
            ++turns;
            bool other = false;
            loop_.post([&] { other = true; });
            ASSERT_TRUE(until([&] { return other; }));
            most = std::max(most, taken - std::exchange(before, taken));
        }
        ASSERT_EQ(task->ended, 1);
        EXPECT_FALSE(task->trouble);
        EXPECT_LE(most, 2u << 20);
        EXPECT_EQ(taken + task->body.size(), all);
    }
}

TEST_F(EngineTest, ManyThatUnpackToMuchShareOneTurnAndAllGetOn) {
    std::ostringstream packed;
    Poco::DeflatingOutputStream stream(packed, Poco::DeflatingStreamBuf::STREAM_GZIP);
    const std::size_t all = 2u << 20, many = 32;
    stream << std::string(all, '\n');
    stream.close();
    ScriptedHttp server([&](const auto&) -> ScriptedHttp::Answer {
        return {ScriptedHttp::events(packed.str(), "Content-Encoding: gzip\r\n"),
                ScriptedHttp::Answer::Then::Close};
    });
    // Nothing is read before all of them are asked for.
    {
        const Turn turn(*core_);
        engine_->pause();
    }
    std::vector<std::size_t> taken(many);
    std::size_t sum = 0, before = 0, most = 0, behind = all;
    for (auto& mine : taken) {
        const auto task = start(server.url());
        task->take = Task::Take::Stream;
        task->on_data = [&](std::string_view& bytes) {
            const auto size = std::exchange(bytes, {}).size();
            sum += size;
            mine += size;
            if (mine == all && behind == all)
                behind = *std::min_element(taken.begin(), taken.end());
            return true;
        };
        begin(task);
    }
    ASSERT_TRUE(until([&] { return server.count("GET") == many; }));
    {
        const Turn turn(*core_);
        engine_->resume();
    }
    for (int turns = 0; !all_ended() && turns < 100'000; ++turns) {
        bool other = false;
        loop_.post([&] { other = true; });
        ASSERT_TRUE(until([&] { return other; }));
        most = std::max(most, sum - std::exchange(before, sum));
    }
    EXPECT_EQ(sum, many * all);
    EXPECT_LE(most, 2u << 20) << "as many as one alone";
    EXPECT_GE(behind, all / 2) << "the last, when the first is done";
}

TEST_F(EngineTest, WhatEndsInTimeOrNeverBeginsIsNotLate) {
    ScriptedHttp server([](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        if (request.has("/silent ")) return {};
        return {ScriptedHttp::events("data: {}\n\n")};
    });
    const auto quiet = start(server.url()), silent = start(server.origin() + "/silent");
    quiet->take = Task::Take::Stream;
    begin(quiet);
    begin(silent);
    let_time_pass();
    EXPECT_EQ(quiet->ended, 0);
    EXPECT_EQ(silent->ended, 0);
}

TEST_F(EngineTest, WhatComesGivesMoreTime) {
    ScriptedHttp server([](const auto&) -> ScriptedHttp::Answer {
        return {"HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n" + std::string(40'000, 'x')};
    });
    const auto task = start(server.url());
    begin(task);
    ASSERT_TRUE(until([&] { return task->status == 200; }));
    let_time_pass();
    EXPECT_EQ(task->ended, 0) << "16 KiB are worth a second";
}

TEST_F(EngineTest, TheTimeOfAPauseIsNotTheServers) {
    ScriptedHttp server([](const auto&) -> ScriptedHttp::Answer {
        return {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome"};
    });
    const auto task = start(server.url());
    begin(task);
    {
        const Turn turn(*core_);
        engine_->pause();
    }
    let_time_pass();
    EXPECT_EQ(task->ended, 0);
    EXPECT_EQ(task->status, 0) << "nothing is read";
    {
        const Turn turn(*core_);
        engine_->resume();
        EXPECT_FALSE(engine_->paused());
    }
    let_waiting_take(10ms);
    ASSERT_TRUE(until([&] { return task->ended == 1; }));
    EXPECT_THAT(task->trouble->text, HasSubstr("no answer in time"));
}

TEST_F(EngineTest, WhatWasReadBeforeAPauseIsHandedOnBehindItThoughNothingMoreComes) {
    ScriptedHttp server([](const auto&) -> ScriptedHttp::Answer {
        return {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"};
    });
    const auto task = start(server.url());
    std::string taken;
    task->take = Task::Take::Stream;
    task->on_data = [&](std::string_view& bytes) {
        taken += bytes.front();
        bytes.remove_prefix(1);
        engine_->pause();
        return true;
    };
    begin(task);
    for (const char* so_far : {"a", "ab", "abc"}) {
        ASSERT_TRUE(until([&] { return taken == so_far; })) << taken;
        const Turn turn(*core_);
        engine_->resume();
    }
}

TEST_F(EngineTest, AStreamThatIsThereToItsEndEndsThoughItsLastEventPauses) {
    ScriptedHttp server(
        [](const auto&) -> ScriptedHttp::Answer { return {ScriptedHttp::stream("data: {}\n\n")}; });
    const auto task = ran(server.url(), [this](Told& told) {
        told.take = Task::Take::Stream;
        told.on_data = [this](std::string_view& bytes) {
            bytes = {};
            engine_->pause();
            return true;
        };
    });
    EXPECT_FALSE(task->trouble);
}

TEST_F(EngineTest, AHeadThatStallsIsEndedAndARefusalThatStallsIsCut) {
    let_waiting_take(10ms);
    ScriptedHttp server([](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        if (request.has("/head ")) return {"HTTP/1.1 200 OK\r\n"};
        return {"HTTP/1.1 404 No\r\nContent-Length: 100\r\n\r\nsome"};
    });
    const auto head = ran(server.origin() + "/head");
    ASSERT_TRUE(head->trouble);
    EXPECT_EQ(head->trouble->text, "no answer in time");
    EXPECT_EQ(head->trouble->code, PATCHBAY_E_CLOSED);
    EXPECT_TRUE(head->trouble->sent);
    const auto refused = ran(server.url(), [](Told& task) { task.may_be_cut = true; });
    EXPECT_FALSE(refused->trouble);
    EXPECT_EQ(refused->body, "some");
    EXPECT_TRUE(refused->cut);
}

TEST_F(EngineTest, ABodyMayBeAsLongAsItsLimitAndARefusalIsCutThere) {
    ScriptedHttp server([](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        const std::size_t more = request.has("/more ") ? 1 : 0;
        return {ScriptedHttp::whole("200 OK", "text/plain", std::string((64u << 10) + more, 'x'))};
    });
    EXPECT_FALSE(ran(server.url())->trouble);
    const auto large = ran(server.origin() + "/more");
    ASSERT_TRUE(large->trouble);
    EXPECT_EQ(large->trouble->code, PATCHBAY_E_LIMIT);
    const auto cut = ran(server.origin() + "/more", [](Told& task) { task.may_be_cut = true; });
    EXPECT_FALSE(cut->trouble);
    EXPECT_TRUE(cut->cut);
    EXPECT_EQ(cut->body.size(), 64u << 10);
    EXPECT_FALSE(ran(server.url(), [](Told& task) { task.may_be_cut = false; })->cut);
}

TEST_F(EngineTest, ARefusalIsCutAtItsLimitWithoutWaitingForTheRest) {
    patience(1h);
    ScriptedHttp server([](const auto&) -> ScriptedHttp::Answer {
        return {"HTTP/1.1 404 No\r\nContent-Length: 1000\r\n\r\n" + std::string(100, 'x')};
    });
    const auto refused = ran(server.url(), [](Told& task) {
        task.may_be_cut = true;
        task.limit = 100;
    });
    EXPECT_FALSE(refused->trouble);
    EXPECT_TRUE(refused->cut);
    EXPECT_EQ(refused->body.size(), 100u);
}

TEST_F(EngineTest, OfABodyThatNobodyWants64KilobytesAreReadAndThenItIsLeft) {
    ScriptedHttp server([](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        const std::size_t more = request.has("/more ") ? 1 : 0;
        return {"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" +
                std::string((64u << 10) + more, 'x')};
    });
    const auto nothing = [](Told& task) { task.take = Task::Take::Nothing; };
    EXPECT_FALSE(ran(server.origin() + "/more", nothing)->trouble);
    const auto task = start(server.url());
    nothing(*task);
    begin(task);
    ASSERT_TRUE(until([&] { return task->status == 200; }));
    let_time_pass();
    EXPECT_EQ(task->ended, 0) << "the rest may still come";
}

// ---- many, and the end

TEST_F(EngineTest, SixtyFourAreUnderWayAndTheNextWhenOneOfThemEnds) {
    ScriptedHttp server([](const auto&) -> ScriptedHttp::Answer { return {}; });
    for (std::size_t i = 0; i < Admission::kConnections + 2; ++i) begin(start(server.url()));
    ASSERT_TRUE(until([&] { return server.count("GET") == Admission::kConnections; }));
    tasks_[0]->blow();
    ASSERT_TRUE(until([&] { return server.count("GET") == Admission::kConnections + 1; }));
    EXPECT_EQ(tasks_[0]->ended, 1);
    EXPECT_EQ(tasks_[0]->trouble->code, PATCHBAY_E_CANCELLED);
    EXPECT_EQ(server.connections(), 65);
    EXPECT_FALSE(tasks_.back()->sent());
}

TEST_F(EngineTest, SaysThatAThousandWaitAndWhenHalfOfThemAreGone) {
    ScriptedHttp server([](const auto&) -> ScriptedHttp::Answer { return {}; });
    const Turn turn(*core_);
    const auto more = [&] { engine_->start(start(server.url())); };
    for (std::size_t i = 0; i < Admission::kConnections + Admission::kQueued; ++i) more();
    EXPECT_FALSE(engine_->crowded());
    more();
    EXPECT_TRUE(engine_->crowded());
    auto next = Admission::kConnections;
    const auto blow = [&](std::size_t count) {
        for (; count > 0; --count) tasks_[next++]->blow();
    };
    blow(501);
    more();  // whoever comes looks at those before it: 501 wait
    EXPECT_EQ(rooms_, 0);
    EXPECT_TRUE(engine_->crowded()) << "until it is said";
    blow(2);
    more();
    EXPECT_EQ(rooms_, 1);
    EXPECT_FALSE(engine_->crowded());
    blow(2);
    more();
    EXPECT_EQ(rooms_, 1) << "once";
}

TEST_F(EngineTest, SaysThatTooManyBytesWaitAndWhenHalfOfThemAreGone) {
    ScriptedHttp server([](const auto&) -> ScriptedHttp::Answer { return {}; });
    const std::string half(Admission::kQueuedBytes / 2, 'x');
    const Turn turn(*core_);
    const auto more = [&](std::string_view body) {
        const auto task = start(server.url());
        task->request.body = body;
        engine_->start(task);
    };
    for (std::size_t i = 0; i < Admission::kConnections; ++i) more({});
    more(half);
    more("x");
    more(std::string_view(half).substr(1));
    EXPECT_FALSE(engine_->crowded());
    more("x");
    EXPECT_TRUE(engine_->crowded());
    tasks_[Admission::kConnections]->blow();
    more({});
    EXPECT_EQ(rooms_, 0) << "one byte more than half of them";
    tasks_[Admission::kConnections + 1]->blow();
    more({});
    EXPECT_EQ(rooms_, 1);
    EXPECT_FALSE(engine_->crowded());
}

TEST_F(EngineTest, WhatIsToBeginLaterEndsWithTheEngineAndWhatBeginsAfterItAtOnce) {
    const auto later = start("http://127.0.0.1:1/"), never = start("http://127.0.0.1:1/");
    {
        const Turn turn(*core_);
        engine_->start_after(1h, later);
        EXPECT_TRUE(later->waits());
        engine_->stop();
        EXPECT_FALSE(later->waits());
        engine_->start_after(1h, never);
    }
    for (const auto& task : tasks_) {
        ASSERT_EQ(task->ended, 1);
        EXPECT_EQ(task->trouble->code, PATCHBAY_E_CANCELLED);
        EXPECT_FALSE(task->trouble->sent);
    }
}

}  // namespace
}  // namespace patchbay::net
