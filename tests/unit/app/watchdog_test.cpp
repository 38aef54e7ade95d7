// Each in a process of its own: a watchdog that gives up ends it.
#include "app/watchdog.hpp"

#include "app/verbs.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

namespace patchbay::app {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using ::testing::ExitedWithCode;

constexpr int kLeftInPeace = 77;

template <class Work>
[[noreturn]] void alone(Work work) {
    ::alarm(20);
    work();
    ::_exit(kLeftInPeace);
}

// What a loop does that comes round.
void answer_for(Watchdog& watchdog, std::chrono::milliseconds time) {
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
        pollfd asked{watchdog.fd(), POLLIN, 0};
        if (::poll(&asked, 1, 50) > 0) watchdog.take();
    }
}

TEST(Watchdog, LeavesALoopThatComesRoundItsTimeAfterASignal) {
    EXPECT_EXIT(alone([] {
                    Watchdog watchdog(300ms);
                    ::kill(::getpid(), SIGTERM);
                    answer_for(watchdog, 1s);
                }),
                ExitedWithCode(kLeftInPeace), "");
}

TEST(Watchdog, LeavesItAllTheTimeItTakesWhenItIsDue) {
    EXPECT_EXIT(alone([] {
                    Watchdog watchdog(300ms);
                    watchdog.set_due(Clock::now());
                    answer_for(watchdog, 1s);
                }),
                ExitedWithCode(kLeftInPeace), "");
}

TEST(Watchdog, HearsOfItsEndThoughOtherNewsCameWithIt) {
    EXPECT_EXIT(alone([] {
                    for (int i = 0; i < 3000; ++i) {
                        Watchdog watchdog(300ms);
                        watchdog.set_due(Clock::now() + 1h);
                    }
                }),
                ExitedWithCode(kLeftInPeace), "");
}

TEST(Watchdog, EndsALoopThatDoesNotComeRoundAfterASignal) {
    EXPECT_EXIT(alone([] {
                    const Watchdog watchdog(100ms);
                    ::kill(::getpid(), SIGTERM);
                    ::pause();
                }),
                ExitedWithCode(kInterrupted), "the host hangs in .*; it ends without waiting");
}

TEST(Watchdog, EndsALoopThatDoesNotComeRoundWhenItIsDue) {
    EXPECT_EXIT(alone([] {
                    Watchdog watchdog(100ms);
                    watchdog.set_due(Clock::now() + 10ms);
                    ::pause();
                }),
                ExitedWithCode(kTimedOut), "its time is over, it ends without waiting");
}

// poll(2) takes no more descriptors than a process may have.
TEST(Watchdog, ThatCannotWatchAnyLongerEnds) {
#ifdef PATCHBAY_SANITIZED
    GTEST_SKIP() << "a sanitizer needs descriptors of its own";
#endif
    EXPECT_EXIT(alone([] {
                    Watchdog watchdog(300ms);
                    rlimit few{};
                    ::getrlimit(RLIMIT_NOFILE, &few);
                    few.rlim_cur = 1;
                    ::setrlimit(RLIMIT_NOFILE, &few);
                    watchdog.set_due(Clock::now());
                    pollfd asked{watchdog.fd(), POLLIN, 0};
                    if (::poll(&asked, 1, -1) != 1) ::_exit(kFailure);
                }),
                ExitedWithCode(kLeftInPeace), "");
}

}  // namespace
}  // namespace patchbay::app
