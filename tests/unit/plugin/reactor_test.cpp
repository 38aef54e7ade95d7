#include "plugin/services/reactor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <future>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace patchbay;
using namespace patchbay::plugin;
using namespace std::chrono_literals;

namespace {

struct Calls {
    std::atomic<int> ready{0}, fired{0}, posted{0};
    std::atomic<patchbay_status> status{99};
    int fd = -1;
    std::function<void()> during;
};

void on_ready(void* ctx, std::uint32_t) {
    auto& calls = *static_cast<Calls*>(ctx);
    char byte;
    if (calls.fd >= 0) {
        EXPECT_EQ(::read(calls.fd, &byte, 1), 1);
    }
    ++calls.ready;
    if (calls.during) calls.during();
}
void on_fired(void* ctx, patchbay_status status) {
    auto& calls = *static_cast<Calls*>(ctx);
    calls.status = status;
    ++calls.fired;
    if (calls.during) calls.during();
}
void on_posted(void* ctx) {
    ++static_cast<Calls*>(ctx)->posted;
}
void on_throwing(void*, std::uint32_t) {
    throw std::runtime_error("oh");
}

class ReactorTest : public testing::Test {
protected:
    ReactorTest()
        : reactor_("test", [this](std::string what) { misbehaviour_ = std::move(what); }) {
        EXPECT_EQ(::pipe(pipe_), 0);
        reactor_.attach(loop_);
    }
    ~ReactorTest() override {
        reactor_.detach();
        for (const int fd : pipe_)
            if (fd >= 0) ::close(fd);
    }
    bool until(const std::function<bool()>& done) {
        return loop_.run_until(done, core::Clock::now() + 20s);
    }
    void write_byte() { ASSERT_EQ(::write(pipe_[1], "x", 1), 1); }
    patchbay_op watch(Calls& calls, std::uint32_t events = 1) {
        patchbay_op op = 0;
        calls.fd = pipe_[0];
        EXPECT_EQ(reactor_.watch(pipe_[0], events, &calls, on_ready, &op), PATCHBAY_OK);
        EXPECT_NE(op, 0u);
        return op;
    }
    // Turns the loop until everything that was queued before has run.
    void turn() {
        bool turned = false;
        loop_.post([&] { turned = true; });
        ASSERT_TRUE(until([&] { return turned; }));
    }

    core::Loop loop_;
    int pipe_[2];
    std::string misbehaviour_;
    Calls calls_;  // outlives what refers to it
    Reactor reactor_;
};

TEST_F(ReactorTest, CallsAWatchWheneverThereIsSomethingToRead) {
    watch(calls_);
    for (int i = 1; i <= 3; ++i) {
        write_byte();
        EXPECT_TRUE(until([&] { return calls_.ready == i; }));
    }
}

TEST_F(ReactorTest, PausesAndContinuesAWatch) {
    const auto op = watch(calls_, 0);
    write_byte();
    turn();
    EXPECT_EQ(calls_.ready, 0);
    EXPECT_EQ(reactor_.modify(op, 1), PATCHBAY_OK);
    EXPECT_TRUE(until([&] { return calls_.ready == 1; }));
    EXPECT_EQ(reactor_.modify(op + 1, 1), PATCHBAY_E_INVALID);
}

TEST_F(ReactorTest, LetsGoOfTheDescriptorWhenAWatchIsCancelled) {
    Calls calls;
    patchbay_op op = 0;
    ASSERT_EQ(reactor_.watch(pipe_[1], 0, &calls, on_ready, &op), PATCHBAY_OK);
    reactor_.cancel(op);
    ::close(std::exchange(pipe_[1], -1));
    char byte;
    EXPECT_EQ(::read(pipe_[0], &byte, 1), 0) << "the writing end is still open somewhere";
}

TEST_F(ReactorTest, RefusesWhatCannotBeWatched) {
    patchbay_op op = 0;
    EXPECT_EQ(reactor_.watch(-1, 1, nullptr, on_ready, &op), PATCHBAY_E_INVALID);
    EXPECT_EQ(reactor_.watch(9999, 1, nullptr, on_ready, &op), PATCHBAY_E_INVALID);
    EXPECT_EQ(reactor_.watch(pipe_[0], 8, nullptr, on_ready, &op), PATCHBAY_E_INVALID);
    EXPECT_EQ(reactor_.watch(pipe_[0], 1, nullptr, nullptr, &op), PATCHBAY_E_INVALID);
    FILE* file = ::tmpfile();
    EXPECT_EQ(reactor_.watch(::fileno(file), 1, nullptr, on_ready, &op), PATCHBAY_E_UNSUPPORTED);
    ::fclose(file);
}

TEST_F(ReactorTest, FiresATimerOnce) {
    patchbay_op op = 0;
    ASSERT_EQ(reactor_.after(1000, &calls_, on_fired, &op), PATCHBAY_OK);
    EXPECT_TRUE(until([&] { return calls_.fired == 1; }));
    EXPECT_EQ(calls_.status, PATCHBAY_OK);
    reactor_.cancel(op);
    EXPECT_EQ(calls_.fired, 1);
}

TEST_F(ReactorTest, TellsACancelledTimerInsideCancel) {
    patchbay_op op = 0;
    ASSERT_EQ(reactor_.after(UINT64_MAX, &calls_, on_fired, &op), PATCHBAY_OK);
    reactor_.cancel(op);
    EXPECT_EQ(calls_.fired, 1);
    EXPECT_EQ(calls_.status, PATCHBAY_E_CANCELLED);
}

TEST_F(ReactorTest, LetsACallbackCancelItself) {
    patchbay_op op = 0;
    calls_.during = [&] { reactor_.cancel(op); };
    op = watch(calls_);
    write_byte();
    write_byte();
    EXPECT_TRUE(until([&] { return calls_.ready == 1; }));
    turn();
    EXPECT_EQ(calls_.ready, 1);
}

TEST_F(ReactorTest, RunsPostedWorkBeforeItWaitsAgain) {
    patchbay_op op = 0;
    calls_.during = [&] { reactor_.post(&calls_, on_posted); };
    ASSERT_EQ(reactor_.after(0, &calls_, on_fired, &op), PATCHBAY_OK);
    ASSERT_TRUE(until([&] { return calls_.fired == 1; }));
    EXPECT_EQ(calls_.posted, 1);
}

TEST_F(ReactorTest, WorkThatPostsItselfAgainKeepsNobodyElseFromHisTurn) {
    struct Again {
        Reactor& reactor;
        bool others_ran = false;
        int rounds = 0;
        static void run(void* self) {
            auto& again = *static_cast<Again*>(self);
            if (!again.others_ran && ++again.rounds < 1000) again.reactor.post(self, run);
        }
    } again{reactor_};
    loop_.post([&] {
        reactor_.post(&again, Again::run);
        loop_.post([&] { again.others_ran = true; });
    });
    ASSERT_TRUE(until([&] { return again.others_ran; }));
    turn();
    EXPECT_LT(again.rounds, 10);
}

TEST_F(ReactorTest, IsUsableFromOtherThreads) {
    std::thread other([&] {
        patchbay_op timer = 0, watched = 0;
        EXPECT_EQ(reactor_.post(&calls_, on_posted), PATCHBAY_OK);
        EXPECT_EQ(reactor_.after(0, &calls_, on_fired, &timer), PATCHBAY_OK);
        calls_.fd = pipe_[0];
        EXPECT_EQ(reactor_.watch(pipe_[0], 1, &calls_, on_ready, &watched), PATCHBAY_OK);
        EXPECT_EQ(::write(pipe_[1], "x", 1), 1);
    });
    EXPECT_TRUE(
        until([&] { return calls_.posted == 1 && calls_.fired == 1 && calls_.ready == 1; }));
    other.join();
}

// Waits until a thread of this process sleeps in the kernel.
bool sleeps(pid_t thread) {
    const auto path = "/proc/self/task/" + std::to_string(thread) + "/stat";
    for (const auto end = core::Clock::now() + 20s; core::Clock::now() < end;) {
        std::string stat;
        std::getline(std::ifstream(path), stat);
        const auto name_end = stat.rfind(')');
        if (name_end != stat.npos && stat.compare(name_end, 3, ") S") == 0) return true;
        std::this_thread::yield();
    }
    return false;
}

TEST_F(ReactorTest, MakesAnotherThreadsCancelWaitForARunningCallback) {
    std::promise<void> inside, cancelled;
    std::promise<pid_t> cancelling;
    std::atomic<bool> over{false};
    patchbay_op op = 0;
    calls_.during = [&] {
        inside.set_value();
        EXPECT_TRUE(sleeps(cancelling.get_future().get())) << "it waits, and does not spin";
        over = true;
    };
    ASSERT_EQ(reactor_.after(0, &calls_, on_fired, &op), PATCHBAY_OK);
    bool waited = false;
    std::thread other([&] {
        inside.get_future().wait();
        cancelling.set_value(::gettid());
        reactor_.cancel(op);
        waited = over;
        cancelled.set_value();
    });
    EXPECT_TRUE(until([&] { return calls_.fired == 1 && over; }));
    if (cancelled.get_future().wait_for(20s) != std::future_status::ready) {
        other.detach();
        FAIL() << "cancel was never told of the callback's end";
    }
    other.join();
    EXPECT_TRUE(waited);
}

TEST_F(ReactorTest, RacesOfCancelAndCallbackEndInExactlyOneCall) {
    for (int i = 0; i < 2000; ++i) {
        Calls calls;
        patchbay_op op = 0;
        ASSERT_EQ(reactor_.after(0, &calls, on_fired, &op), PATCHBAY_OK);
        std::thread other([&] { reactor_.cancel(op); });
        ASSERT_TRUE(until([&] { return calls.fired >= 1; }));
        other.join();
        ASSERT_EQ(calls.fired, 1);
    }
}

TEST_F(ReactorTest, EndsAWatchWhoseCallbackThrows) {
    patchbay_op op = 0;
    ASSERT_EQ(reactor_.watch(pipe_[1], 2, nullptr, on_throwing, &op), PATCHBAY_OK);
    EXPECT_TRUE(until([&] { return !misbehaviour_.empty(); }));
    EXPECT_EQ(misbehaviour_, "a reactor callback threw: oh");
    EXPECT_EQ(reactor_.detach(), 0u) << "nothing is left of it";
}

TEST_F(ReactorTest, BlamesThePluginForWhateverItsCallbacksThrow) {
    calls_.during = [] { throw std::runtime_error("oh"); };
    patchbay_op op = 0;
    ASSERT_EQ(reactor_.after(0, &calls_, on_fired, &op), PATCHBAY_OK);
    ASSERT_TRUE(until([&] { return !misbehaviour_.empty(); }));
    EXPECT_EQ(std::exchange(misbehaviour_, {}), "a timer callback threw: oh");
    ASSERT_EQ(reactor_.after(60'000'000'000, &calls_, on_fired, &op), PATCHBAY_OK);
    reactor_.cancel(op);
    EXPECT_EQ(std::exchange(misbehaviour_, {}), "a timer callback threw: oh");
    ASSERT_EQ(reactor_.post(nullptr, [](void*) { throw std::runtime_error("oh"); }), PATCHBAY_OK);
    ASSERT_EQ(reactor_.post(&calls_, on_posted), PATCHBAY_OK);
    ASSERT_TRUE(until([&] { return calls_.posted == 1; })) << "others go on";
    EXPECT_EQ(misbehaviour_, "posted work threw: oh");
}

TEST_F(ReactorTest, HoldsAHundredThousandOperationsAndNoMore) {
    constexpr std::uint64_t kNever = ~std::uint64_t{0};
    patchbay_op op = 0, refused = 7;
    for (int i = 0; i < 100'000; ++i)
        ASSERT_EQ(reactor_.after(kNever, &calls_, on_fired, &op), PATCHBAY_OK);
    EXPECT_EQ(reactor_.after(kNever, &calls_, on_fired, &refused), PATCHBAY_E_LIMIT);
    EXPECT_EQ(refused, 0u);
    EXPECT_EQ(reactor_.watch(pipe_[0], 1, &calls_, on_ready, &refused), PATCHBAY_E_LIMIT);
    reactor_.cancel(op);
    EXPECT_EQ(calls_.fired, 1) << "the one that was cancelled";
    EXPECT_EQ(reactor_.watch(pipe_[0], 1, &calls_, on_ready, &op), PATCHBAY_OK);
    turn();
    EXPECT_EQ(reactor_.detach(), 100'000u);
    EXPECT_EQ(calls_.fired, 1);
}

TEST_F(ReactorTest, ForgetsWhatIsOver) {
    patchbay_op op = 0;
    ASSERT_EQ(reactor_.after(0, &calls_, on_fired, &op), PATCHBAY_OK);
    ASSERT_TRUE(until([&] { return calls_.fired == 1; }));
    EXPECT_EQ(calls_.status, PATCHBAY_OK);
    reactor_.cancel(op);
    EXPECT_EQ(calls_.fired, 1);
    EXPECT_EQ(reactor_.modify(op, 1), PATCHBAY_E_INVALID);
    ASSERT_EQ(reactor_.post(&calls_, on_posted), PATCHBAY_OK);
    EXPECT_EQ(reactor_.detach(), 0u);
    turn();
    EXPECT_EQ(calls_.posted, 0) << "what was not yet run";
}

TEST_F(ReactorTest, ChangesOnlyAWatchAndOnlyToWhatItKnows) {
    const auto watched = watch(calls_);
    patchbay_op timer = 0;
    ASSERT_EQ(reactor_.after(60'000'000'000, &calls_, on_fired, &timer), PATCHBAY_OK);
    EXPECT_EQ(reactor_.modify(watched, 3), PATCHBAY_OK);
    EXPECT_EQ(reactor_.modify(watched, 4), PATCHBAY_E_INVALID);
    EXPECT_EQ(reactor_.modify(timer, 1), PATCHBAY_E_INVALID);
    EXPECT_EQ(reactor_.modify(999, 1), PATCHBAY_E_INVALID);
    EXPECT_EQ(reactor_.after(0, &calls_, nullptr, &timer), PATCHBAY_E_INVALID);
    EXPECT_EQ(reactor_.after(0, &calls_, on_fired, nullptr), PATCHBAY_E_INVALID);
}

TEST_F(ReactorTest, HoldsAHundredThousandPostsAndNoMore) {
    for (int i = 0; i < 100'000; ++i) ASSERT_EQ(reactor_.post(&calls_, on_posted), PATCHBAY_OK);
    EXPECT_EQ(reactor_.post(&calls_, on_posted), PATCHBAY_E_LIMIT);
    EXPECT_EQ(reactor_.post(&calls_, nullptr), PATCHBAY_E_INVALID);
    ASSERT_TRUE(until([&] { return calls_.posted == 100'000; }));
    EXPECT_EQ(reactor_.post(&calls_, on_posted), PATCHBAY_OK);
    turn();
    EXPECT_EQ(calls_.posted, 100'001);
}

TEST_F(ReactorTest, RefusesEverythingAfterDetach) {
    watch(calls_);
    write_byte();
    EXPECT_EQ(reactor_.detach(), 1u);
    turn();
    EXPECT_EQ(calls_.ready, 0);
    patchbay_op timer = 7, watch_op = 7;
    EXPECT_EQ(reactor_.after(0, &calls_, on_fired, &timer), PATCHBAY_E_CLOSED);
    EXPECT_EQ(reactor_.post(&calls_, on_posted), PATCHBAY_E_CLOSED);
    EXPECT_EQ(reactor_.watch(pipe_[0], 1, &calls_, on_ready, &watch_op), PATCHBAY_E_CLOSED);
    EXPECT_EQ(timer, 0u) << "nobody must take it for an operation";
    EXPECT_EQ(watch_op, 0u);
}

}  // namespace
