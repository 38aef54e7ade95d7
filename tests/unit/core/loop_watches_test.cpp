// What a loop hears of the descriptors that it watches.
#include "core/escapes.hpp"
#include "unit/core/loop_fixture.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <vector>

namespace patchbay::core {
namespace {

TEST_F(LoopTest, CallsAWatchAgainWhileItsDescriptorStaysReady) {
    std::string got;
    ASSERT_TRUE(loop.watch(ends[0], Loop::kReadable, [&](unsigned) { got += take(); }));
    put("a");
    put("b");
    EXPECT_TRUE(wait([&] { return got == "ab"; }));
}

TEST_F(LoopTest, APausedWatchIsSilentUntilItIsModified) {
    int calls = 0;
    const auto id = loop.watch(ends[0], Loop::kReadable, [&](unsigned) { take(), ++calls; });
    loop.modify(*id, 0);
    put("a");
    bool later = false;
    loop.after(10ms, [&] { later = true; });
    EXPECT_TRUE(wait([&] { return later; }));
    EXPECT_EQ(calls, 0);
    loop.modify(*id, Loop::kReadable);
    EXPECT_TRUE(wait([&] { return calls == 1; }));
}

TEST_F(LoopTest, AWatchThatIsPausedForAMomentOnlyMissesNothing) {
    int calls = 0;
    const auto id = loop.watch(ends[0], Loop::kReadable, [&](unsigned) { take(), ++calls; });
    const auto nothing = [] {};
    const auto a_round = [&] { loop.run_until([] { return false; }, Clock::now() + 5ms); };
    const auto a_byte_that_another_takes = [&] {
        put("b");
        a_round();
        EXPECT_EQ(take(), 'b');
    };
    for (const auto& meanwhile :
         std::vector<std::function<void()>>{nothing, a_round, a_byte_that_another_takes}) {
        calls = 0;
        loop.modify(*id, 0);
        meanwhile();
        EXPECT_EQ(calls, 0);
        loop.modify(*id, Loop::kReadable);
        put("a");
        EXPECT_TRUE(wait([&] { return calls > 0; }));
    }
}

TEST_F(LoopTest, AWatchIsToldAllThatItsDescriptorIsReadyForAtOnce) {
    int both[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, both), 0);
    ASSERT_EQ(::write(both[1], "a", 1), 1);
    std::vector<unsigned> told;
    const auto id = loop.watch(both[0], Loop::kReadable | Loop::kWritable,
                               [&](unsigned events) { told.push_back(events); });
    EXPECT_TRUE(wait([&] { return told.size() == 1; }));
    loop.modify(*id, Loop::kReadable);
    EXPECT_TRUE(wait([&] { return told.size() == 2; }));
    loop.modify(*id, Loop::kWritable);
    EXPECT_TRUE(wait([&] { return told.size() == 3; }));
    EXPECT_THAT(told,
                ElementsAre(Loop::kReadable | Loop::kWritable, Loop::kReadable, Loop::kWritable));
    loop.unwatch(*id);
    for (const int end : both) ::close(end);
}

TEST_F(LoopTest, WhatHasEndedIsToldAndDoesNotKeepTheLoopFromSleepWhenItsWatchIsPaused) {
    int calls = 0;
    const auto id = loop.watch(ends[0], Loop::kReadable, [&](unsigned) { ++calls; });
    ::close(ends[1]);
    EXPECT_TRUE(wait([&] { return calls > 0; }));
    loop.modify(*id, 0);
    calls = 0;
    int rounds = 0;
    EXPECT_FALSE(loop.run_until([&] { return ++rounds, false; }, Clock::now() + 30ms));
    EXPECT_LT(rounds, 10);
    EXPECT_EQ(calls, 0);
    loop.modify(*id, Loop::kReadable);
    EXPECT_TRUE(wait([&] { return calls > 0; }));
    ends[1] = ::dup(ends[0]);
}

TEST_F(LoopTest, LetsGoOfWhatAWatchHeldOnceItIsUnwatched) {
    auto held = std::make_shared<int>();
    const auto id = loop.watch(ends[0], Loop::kReadable, [held](unsigned) {});
    ASSERT_TRUE(id);
    loop.unwatch(*id);
    EXPECT_TRUE(wait([&] { return held.use_count() == 1; }));
    loop.unwatch(*id);
    loop.modify(*id, Loop::kReadable);
    put("a");
    EXPECT_EQ(take(), 'a') << "nobody else has read it";
}

TEST_F(LoopTest, AWatchOfANumberThatWasClosedTooSoonLeavesItsNextOwnerAlone) {
    const int early = ::dup(ends[0]);
    ASSERT_GE(early, 0);
    const auto stale = loop.watch(early, Loop::kReadable, [](unsigned) {});
    ASSERT_TRUE(stale);
    ::close(early);
    const int pipe_end = ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    ASSERT_EQ(pipe_end, early) << "the number is given out again";
    bool heard = false;
    const auto owner = loop.watch(pipe_end, Loop::kReadable, [&](unsigned) { heard = true; });
    ASSERT_TRUE(owner);
    loop.modify(*stale, 0);
    loop.unwatch(*stale);
    EXPECT_TRUE(wait([&] { return heard; }));
    loop.unwatch(*owner);
    ::close(pipe_end);
}

TEST_F(LoopTest, AWatchMayEndItselfInsideItsCallback) {
    int calls = 0;
    Loop::WatchId id = 0;
    id = *loop.watch(ends[0], Loop::kReadable, [&](unsigned) {
        ++calls;
        loop.unwatch(id);
    });
    put("a");
    bool later = false;
    loop.after(10ms, [&] { later = true; });
    EXPECT_TRUE(wait([&] { return later; }));
    EXPECT_EQ(calls, 1);
}

TEST_F(LoopTest, AWatchIsToldTheEventItWaitedFor) {
    std::vector<unsigned> told;
    Loop::WatchId id = 0;
    id = *loop.watch(ends[1], Loop::kWritable, [&](unsigned events) {
        told.push_back(events);
        loop.modify(id, 0);
    });
    ASSERT_TRUE(loop.watch(ends[0], Loop::kReadable, [&](unsigned events) {
        take();
        told.push_back(events);
    }));
    EXPECT_TRUE(wait([&] { return told.size() == 1; }));
    put("a");
    EXPECT_TRUE(wait([&] { return told.size() == 2; }));
    EXPECT_THAT(told, ElementsAre(Loop::kWritable, Loop::kReadable));
}

TEST_F(LoopTest, AWatchMayEndAnotherInItsCallback) {
    int other_ends[2];
    ASSERT_EQ(::pipe(other_ends), 0);
    int calls = 0;
    Loop::WatchId first = 0, second = 0;
    first = *loop.watch(ends[0], Loop::kReadable,
                        [&](unsigned) { ++calls, loop.unwatch(second), loop.unwatch(first); });
    second = *loop.watch(other_ends[0], Loop::kReadable,
                         [&](unsigned) { ++calls, loop.unwatch(first), loop.unwatch(second); });
    put("a");
    ASSERT_EQ(::write(other_ends[1], "b", 1), 1);
    bool later = false;
    loop.after(10ms, [&] { later = true; });
    EXPECT_TRUE(wait([&] { return later; }));
    EXPECT_EQ(calls, 1);
    ::close(other_ends[0]);
    ::close(other_ends[1]);
}

TEST_F(LoopTest, ADescriptorThatIsNoneIsAnError) {
    const auto watched = loop.watch(-1, Loop::kReadable, [](unsigned) {});
    ASSERT_FALSE(watched);
    EXPECT_EQ(watched.error().code, ErrorCode::Io);
}

TEST_F(LoopTest, AFileCannotBeWatchedWhichIsAnError) {
    const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const auto watched = loop.watch(file, Loop::kReadable, [](unsigned) {});
    ASSERT_FALSE(watched);
    EXPECT_THAT(watched.error().message, ::testing::HasSubstr("Operation not permitted"));
    ::close(file);
}

TEST_F(LoopTest, AWatchThatThrowsForEverIsSilencedAtLast) {
    int calls = 0;
    ASSERT_TRUE(loop.watch(ends[0], Loop::kReadable, [&](unsigned) {
        ++calls;
        throw 1;  // and leaves the descriptor readable
    }));
    put("a");
    EXPECT_TRUE(wait([&] { return calls == 100; }));
    bool later = false;
    loop.after(5ms, [&] { later = true; });
    EXPECT_TRUE(wait([&] { return later; }));
    EXPECT_EQ(calls, 100);
    EXPECT_EQ(take_escapes(), 100u);
}

}  // namespace
}  // namespace patchbay::core
