// What a loop runs, and when: what is posted, deferred, due, and what ends it.
#include "core/escapes.hpp"
#include "support/turned_loop.hpp"
#include "unit/core/loop_fixture.hpp"

#include <atomic>
#include <optional>
#include <sched.h>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <thread>
#include <utility>
#include <vector>

namespace patchbay::core {
namespace {

TEST_F(LoopTest, ThatMayPollBeforeItSleepsMissesNothing) {
    loop.set_spin(50us);
    int back[2];
    ASSERT_EQ(::pipe(back), 0);
    std::thread peer([&] {  // answers sooner than a core wakes up, so that polling begins
        for (char c = 0; ::read(back[0], &c, 1) == 1 && c != 'q';)
            if (::write(ends[1], &c, 1) != 1) return;
    });
    int answers = 0;
    ASSERT_TRUE(loop.watch(ends[0], Loop::kReadable, [&](unsigned) { take(), ++answers; }));
    for (int i = 1; i <= 2000; ++i) {
        ASSERT_EQ(::write(back[1], "x", 1), 1);
        ASSERT_TRUE(wait([&] { return answers == i; }));
    }
    EXPECT_FALSE(loop.run_until([] { return false; }, Clock::now() + 20ms));
    bool fired = false;
    loop.after(1ms, [&] { fired = true; });
    EXPECT_TRUE(wait([&] { return fired; }));
    EXPECT_EQ(::write(back[1], "q", 1), 1);
    peer.join();
    for (const int end : back) ::close(end);
}

// Counted by the times that it gave its core away.
TEST_F(LoopTest, PollsOnceItsSleepsHaveProvedShortAndNotBefore) {
    cpu_set_t cores;
    ASSERT_EQ(::sched_getaffinity(0, sizeof cores, &cores), 0);
    if (CPU_COUNT(&cores) < 2) GTEST_SKIP() << "with one core it never polls";
    loop.set_spin(10s);
    const int bell = ::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    ASSERT_GE(bell, 0);
    int rings = 0;
    ASSERT_TRUE(loop.watch(bell, Loop::kReadable, [&](unsigned) {
        std::uint64_t times = 0;
        if (::read(bell, &times, sizeof times) == sizeof times) ++rings;
    }));
    const auto sleeps = [] {
        rusage use{};
        ::getrusage(RUSAGE_THREAD, &use);
        return use.ru_nvcsw;
    };
    // How often it slept for so many rings; nothing: one did not come.
    const auto sleeps_of = [&](int waits) -> std::optional<long> {
        const auto before = sleeps();
        for (const int all = rings + waits; rings < all;) {
            const itimerspec soon{{0, 0}, {0, 300'000}};
            if (::timerfd_settime(bell, 0, &soon, nullptr) != 0) return {};
            if (!wait([&, now = rings] { return rings > now; })) return {};
        }
        return sleeps() - before;
    };
    const auto at_first = sleeps_of(40);
    ASSERT_TRUE(at_first && sleeps_of(200));
    const auto in_the_end = sleeps_of(40);
    ASSERT_TRUE(in_the_end);
    EXPECT_GT(*at_first, 20);
    EXPECT_LT(*in_the_end, 20);
    ::close(bell);
}

// By a clock that stands meanwhile: on a busy machine the first might be due before the second is asked for.
TEST(TurnedLoop, TimersFireInTheOrderOfTheirDeadlines) {
    test::TurnedLoop turned;
    std::vector<int> fired;
    turned.after(3ms, [&] { fired.push_back(3); });
    turned.after(1ms, [&] { fired.push_back(1); });
    const auto cancelled = turned.after(2ms, [&] { fired.push_back(2); });
    turned.after(24h * 400, [&] { fired.push_back(9); });
    turned.cancel(cancelled);
    EXPECT_TRUE(turned.run_until([&] { return fired.size() == 2; }));
    EXPECT_THAT(fired, ElementsAre(1, 3));
}

TEST_F(LoopTest, ManyCancelledTimersAreForgotten) {
    for (int i = 0; i < 10'000; ++i) loop.cancel(loop.after(1h, [] {}));
    bool fired = false;
    loop.after(1ms, [&] { fired = true; });
    EXPECT_TRUE(wait([&] { return fired; }));
}

TEST_F(LoopTest, CancelledTimersTakeNoneOfTheLivingWithThem) {
    std::vector<int> fired;
    for (int i = 0; i < 20; ++i) {
        loop.after(std::chrono::microseconds(100 * (i + 1)), [&, i] { fired.push_back(i); });
        for (int n = 0; n < 50; ++n) loop.cancel(loop.after(1h, [] {}));
    }
    EXPECT_TRUE(wait([&] { return fired.size() == 20; }));
    EXPECT_TRUE(std::is_sorted(fired.begin(), fired.end()));
}

TEST_F(LoopTest, ATimerBeyondTheEndOfTimeNeverFires) {
    bool last = false;
    loop.after(std::chrono::nanoseconds::max(), [&] { last = true; });
    bool later = false;
    loop.after(1ms, [&] { later = true; });
    EXPECT_TRUE(wait([&] { return later; }));
    EXPECT_FALSE(last);
}

TEST_F(LoopTest, DeferredWorkOfEachKindOfCallbackIsDoneBeforeTheLoopSleeps) {
    const auto defer_the_end = [&] { loop.defer([&] { loop.stop(); }); };
    bool slept = false;
    const auto guard = loop.after(20s, [&] { slept = true, loop.stop(); });
    ASSERT_TRUE(loop.watch(ends[0], Loop::kReadable, [&](unsigned) { take(), defer_the_end(); }));
    put("a");
    loop.run();
    EXPECT_FALSE(slept) << "of a watch";
    loop.after(0ms, defer_the_end);
    loop.run();
    EXPECT_FALSE(slept) << "of a timer";
    loop.post(defer_the_end);
    loop.run();
    EXPECT_FALSE(slept) << "of what was posted";
    defer_the_end();
    loop.run();
    EXPECT_FALSE(slept) << "of nobody";
    loop.cancel(guard);
}

TEST_F(LoopTest, WhatWasDeferredBeforeItRunsIsDoneFirst) {
    std::vector<int> order;
    loop.post([&] { order.push_back(2); });
    loop.defer([&] { order.push_back(1); });
    EXPECT_TRUE(loop.run_until([&] { return order.size() == 2; }));
    EXPECT_THAT(order, ElementsAre(1, 2));
}

TEST_F(LoopTest, DeferredWorkRunsAfterTheCallbackAndBeforeTheNextPoll) {
    std::vector<std::string> order;
    ASSERT_TRUE(loop.watch(ends[0], Loop::kReadable, [&](unsigned) {
        take();
        loop.defer([&] {
            order.emplace_back("deferred");
            loop.defer([&] { order.emplace_back("deferred again"); });
        });
        order.emplace_back("callback");
    }));
    put("a");
    put("b");
    EXPECT_TRUE(wait([&] { return order.size() == 6; }));
    EXPECT_THAT(order, ElementsAre("callback", "deferred", "deferred again", "callback", "deferred",
                                   "deferred again"));
}

TEST_F(LoopTest, WhatIsForTheEndOfARoundRunsOnceAllThatCameIsTold) {
    int others[2];
    ASSERT_EQ(::pipe(others), 0);
    std::vector<std::string> ran;
    const auto told = [&](int end, const char* name) {
        char c = 0;
        ASSERT_EQ(::read(end, &c, 1), 1);
        ran.emplace_back(name);
        loop.defer([&, name] { ran.push_back(std::string("behind ") + name); });
        loop.defer_to_end_of_round([&, name] { ran.push_back(std::string("ends ") + name); });
    };
    ASSERT_TRUE(loop.watch(ends[0], Loop::kReadable, [&](unsigned) { told(ends[0], "one"); }));
    ASSERT_TRUE(loop.watch(others[0], Loop::kReadable, [&](unsigned) { told(others[0], "two"); }));
    put("x");
    ASSERT_EQ(::write(others[1], "x", 1), 1);
    ASSERT_TRUE(wait([&] { return ran.size() == 6; }));
    EXPECT_THAT(ran, ElementsAre("one", "behind one", "two", "behind two", "ends one", "ends two"));
    // Alone it is told before anybody asks whether there is enough.
    put("x");
    ASSERT_TRUE(wait([&] { return ran.size() > 6; }));
    EXPECT_EQ(ran.size(), 9u);
    for (const int end : others) ::close(end);
}

TEST_F(LoopTest, WhatPutsItselfBehindEachRoundKeepsTheLoopAwakeAndNobodyFromHisTurn) {
    int rounds = 0;
    bool posted = false;
    std::function<void()> again = [&] {
        if (++rounds < 1000) loop.defer_to_end_of_round(again);
    };
    loop.defer_to_end_of_round(again);
    loop.post([&] { posted = true; });
    ASSERT_TRUE(wait([&] { return posted; }));
    EXPECT_LT(rounds, 1000);
    ASSERT_TRUE(wait([&] { return rounds == 1000; }));
}

TEST_F(LoopTest, DeferredWorkOfATimerRunsBeforeTheNextTimer) {
    std::vector<int> order;
    loop.after(0ms, [&] {
        order.push_back(1);
        loop.defer([&] { order.push_back(2); });
    });
    loop.after(0ms, [&] { order.push_back(3); });
    EXPECT_TRUE(wait([&] { return order.size() == 3; }));
    EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

TEST_F(LoopTest, ATimerMayCancelAnotherThatIsDue) {
    bool second = false, third = false;
    Loop::TimerId id = 0;
    loop.after(0ms, [&] { loop.cancel(id); });
    id = loop.after(0ms, [&] { second = true; });
    loop.after(1ms, [&] { third = true; });
    EXPECT_TRUE(wait([&] { return third; }));
    EXPECT_FALSE(second);
}

TEST_F(LoopTest, ItsEndLetsCallbacksComeBackToIt) {
    struct Guest {
        Loop& loop;
        Loop::WatchId watch = 0;
        Loop::TimerId timer = 0;
        int& gone;
        ~Guest() {
            loop.unwatch(watch);
            loop.cancel(timer);
            ++gone;
        }
    };
    int gone = 0;
    {
        Loop own;
        for (int i = 0; i < 3; ++i) {
            auto guest = std::make_shared<Guest>(Guest{own, 0, 0, gone});
            gone = 0;  // the temporary's
            guest->watch = i == 0 ? *own.watch(ends[0], Loop::kReadable, [guest](unsigned) {}) : 0;
            guest->timer = own.after(1h, [guest] {});
            own.defer([guest] {});
            own.post([guest] {});
        }
    }
    EXPECT_EQ(gone, 3);
}

TEST_F(LoopTest, AnotherThreadCanPostAndStop) {
    std::thread::id ran_on;
    std::thread other([&] {
        EXPECT_FALSE(loop.on_loop_thread());
        loop.post([&] {
            ran_on = std::this_thread::get_id();
            loop.stop();
        });
    });
    loop.run();
    other.join();
    EXPECT_EQ(ran_on, std::this_thread::get_id());
}

TEST_F(LoopTest, EveryPostOfManyThreadsWakesItOrIsSeenBeforeItSleeps) {
    constexpr int kThreads = 3, kPosts = 3000;
    int ran = 0;
    std::vector<std::thread> others;
    for (int i = 0; i < kThreads; ++i)
        others.emplace_back([&] {
            for (int n = 0; n < kPosts; ++n) {
                const auto done = std::make_shared<std::atomic<bool>>(false);
                loop.post([&ran, done] { ++ran, *done = true, done->notify_one(); });
                done->wait(false);  // so that the loop has nothing left, and sleeps, time and again
            }
        });
    // As long as some of them come: on a busy machine thousands of wake-ups take their time.
    for (int before = -1; ran != before && ran != kThreads * kPosts;) {
        before = ran;
        static_cast<void>(wait([&] { return ran == kThreads * kPosts; }));
    }
    EXPECT_EQ(ran, kThreads * kPosts);
    for (auto& each : others) each.join();
}

TEST_F(LoopTest, WhatPostsItselfForEverKeepsNobodyElseFromHisTurn) {
    bool over = false;
    std::function<void()> again = [&] {
        if (!over) loop.post(again);
    };
    again();
    bool read = false, fired = false;
    ASSERT_TRUE(loop.watch(ends[0], Loop::kReadable, [&](unsigned) { take(), read = true; }));
    loop.after(1ms, [&] { fired = true; });
    put("a");
    EXPECT_TRUE(wait([&] { return read && fired; }));
    over = true;
    EXPECT_FALSE(loop.run_until([] { return false; }, Clock::now() + 5ms));
}

TEST_F(LoopTest, WorkDeferredByTheQuestionIsNotSleptOver) {
    bool asked = false, worked = false;
    EXPECT_TRUE(wait([&] {
        if (!std::exchange(asked, true)) loop.defer([&] { worked = true; });
        return worked;
    }));
}

TEST_F(LoopTest, ADeadlineEndsAWaitForNothing) {
    EXPECT_FALSE(loop.run_until([] { return false; }, Clock::now() + 5ms));
}

TEST_F(LoopTest, ADeadlineEndsAWaitAmongEventsThatNeverEnd) {
    const auto forever = [] { return false; };
    const auto guard = Clock::now() + 20s;
    ASSERT_TRUE(loop.watch(ends[0], Loop::kReadable, [&](unsigned) {
        if (Clock::now() > guard) take();  // else it leaves it readable
    }));
    put("a");
    EXPECT_FALSE(loop.run_until(forever, Clock::now() + 5ms));
    std::function<void()> again = [&] {
        if (Clock::now() < guard) loop.post(again);
    };
    again();
    EXPECT_FALSE(loop.run_until(forever, Clock::now() + 5ms));
    EXPECT_LT(Clock::now(), guard);
}

TEST_F(LoopTest, AnExceptionEndsTheCallbackItEscapesAndNothingElse) {
    std::vector<std::string> ran;
    const auto trouble = [&](const char* where) {
        ran.emplace_back(where);
        throw std::runtime_error(where);
    };
    int reads = 0;
    ASSERT_TRUE(loop.watch(ends[0], Loop::kReadable, [&](unsigned) {
        take();
        loop.defer([&] { trouble("deferred"); });
        if (++reads == 1) trouble("watch");
    }));
    loop.after(0ms, [&] { trouble("timer"); });
    loop.post([&] { trouble("posted"); });
    bool later = false;
    loop.after(1ms, [&] { later = true; });
    put("a");
    put("b");
    EXPECT_TRUE(wait([&] { return reads == 2 && later && ran.size() == 5; }));
    EXPECT_THAT(
        ran, ::testing::UnorderedElementsAre("watch", "timer", "posted", "deferred", "deferred"));
    EXPECT_EQ(take_escapes(), 5u);
}

TEST_F(LoopTest, IsRunByNoneOfItsOwnCallbacks) {
    std::vector<std::string> refused;
    const auto run_it = [&](const std::function<void()>& run) {
        try {
            run();
        } catch (const std::logic_error& error) {
            refused.emplace_back(error.what());
        }
    };
    const auto at_once = [] { return true; };
    bool fired = false;
    loop.defer([&] { run_it([&] { loop.run_until(at_once); }); });
    loop.post([&] {
        loop.defer([&] { loop.stop(); });
        run_it([&] { loop.run(); });
    });
    loop.after(0ms, [&] {
        run_it([&] { loop.run_until(at_once); });
        fired = true;
    });
    EXPECT_TRUE(wait([&] { return fired && refused.size() == 3; })) << "and it goes on";
    EXPECT_THAT(refused, Each("the loop is run by one of its own callbacks"));
    run_it(
        [&] { loop.run_until([&]() -> bool { throw std::logic_error("the question threw"); }); });
    EXPECT_EQ(refused.back(), "the question threw");
    EXPECT_TRUE(wait(at_once)) << "whoever runs it next may";
}

TEST(LoopWhoseTimeIsTurned, FiresATimerWhenItsTimeHasComeAndNotBefore) {
    test::HandTime time;
    Loop loop(time);
    bool fired = false;
    loop.after(24h, [&] { fired = true; });
    time.turn(24h - 1ns);
    EXPECT_FALSE(loop.run_ready());
    EXPECT_EQ(loop.next_due() - loop.now(), 1ns);
    time.turn(1ns);
    EXPECT_TRUE(loop.run_ready());
    EXPECT_TRUE(fired);
    EXPECT_FALSE(loop.run_ready());
    EXPECT_EQ(loop.next_due(), Clock::time_point::max());
}

TEST(LoopWhoseTimeIsTurned, WhatATimerStartsFiresInALaterRound) {
    test::HandTime time;
    Loop loop(time);
    int fired = 0;
    const std::function<void()> again = [&] {
        if (++fired < 3) loop.after(0ns, again);
    };
    loop.after(0ns, again);
    for (const int round : {1, 2, 3}) {
        EXPECT_TRUE(loop.run_ready());
        EXPECT_EQ(fired, round);
    }
    EXPECT_FALSE(loop.run_ready());
}

TEST(LoopWhoseTimeIsTurned, SaysWhetherItFoundAnythingReadyWhateverThatWas) {
    test::HandTime time;
    Loop loop(time);
    bool ran = false;
    const auto run = [&] { ran = true; };
    loop.defer(run);
    EXPECT_TRUE(loop.run_ready());
    EXPECT_TRUE(std::exchange(ran, false)) << "deferred";
    EXPECT_FALSE(loop.run_ready());

    loop.post(run);
    while (loop.run_ready()) {
    }
    EXPECT_TRUE(std::exchange(ran, false)) << "posted";

    loop.after(1h, [] {});
    time.turn(1h);
    loop.defer(run);
    EXPECT_TRUE(loop.run_ready());
    EXPECT_TRUE(ran);
    EXPECT_EQ(loop.next_due(), loop.now()) << "one thing at a time";
    EXPECT_TRUE(loop.run_ready());
    EXPECT_FALSE(loop.run_ready());
}

}  // namespace
}  // namespace patchbay::core
