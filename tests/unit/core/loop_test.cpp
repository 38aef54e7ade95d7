#include "core/loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <unistd.h>

namespace patchbay::core {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class LoopTest : public ::testing::Test {
protected:
    LoopTest() { EXPECT_EQ(::pipe(ends), 0); }
    ~LoopTest() override {
        ::close(ends[0]);
        ::close(ends[1]);
    }
    void put(const char* text) { ASSERT_EQ(::write(ends[1], text, 1), 1); }
    char take() {
        char c = 0;
        EXPECT_EQ(::read(ends[0], &c, 1), 1);
        return c;
    }
    bool wait(const std::function<bool()>& done) { return loop.run_until(done, Clock::now() + 5s); }

    Loop loop;
    int ends[2];
};

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

TEST_F(LoopTest, TimersFireInTheOrderOfTheirDeadlines) {
    std::vector<int> fired;
    loop.after(3ms, [&] { fired.push_back(3); });
    loop.after(1ms, [&] { fired.push_back(1); });
    const auto cancelled = loop.after(2ms, [&] { fired.push_back(2); });
    loop.after(24h * 400, [&] { fired.push_back(9); });
    loop.cancel(cancelled);
    EXPECT_TRUE(wait([&] { return fired.size() == 2; }));
    EXPECT_THAT(fired, ElementsAre(1, 3));
}

TEST_F(LoopTest, ManyCancelledTimersAreForgotten) {
    for (int i = 0; i < 10'000; ++i) loop.cancel(loop.after(1h, [] {}));
    bool fired = false;
    loop.after(1ms, [&] { fired = true; });
    EXPECT_TRUE(wait([&] { return fired; }));
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

TEST_F(LoopTest, ADeadlineEndsAWaitForNothing) {
    EXPECT_FALSE(loop.run_until([] { return false; }, Clock::now() + 5ms));
}

}  // namespace
}  // namespace patchbay::core
