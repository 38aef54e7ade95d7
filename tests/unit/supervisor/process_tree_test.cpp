// All descendants of a process, found by either of the two ways that kernels offer.
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include "supervisor/process_tree.h"
int signal_descendants_by_parent(int signal);
void end_descendants_by_parent(int limit_ms, int signals);
}

namespace {

struct Way {
    const char* name;
    int (*signal)(int);
    void (*end)(int, int);
};

void PrintTo(const Way& way, std::ostream* out) {
    *out << way.name;
}

class Descendants : public testing::TestWithParam<Way> {
protected:
    // Runs `body` in a process of its own that orphans come to; its result is the exit code.
    static int of_a_process(const std::function<int()>& body) {
        const pid_t pid = ::fork();
        if (pid == 0) {
            ::alarm(60);  // nothing of a test that fails stays for ever
            ::prctl(PR_SET_CHILD_SUBREAPER, 1);
            ::_exit(body());
        }
        int status = 0;
        ::waitpid(pid, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
    }
    // A child, a grandchild in a session of its own and a great-grandchild below that, and an
    // orphan: four, of whom none leaves by itself. Returns when all are there.
    static void make_tree() {
        int up[2];
        if (::pipe2(up, O_CLOEXEC) != 0) ::_exit(101);
        const auto be_there = [&] {
            ::alarm(60);
            ::signal(SIGTERM, SIG_IGN);
            if (::write(up[1], "x", 1) != 1) ::_exit(102);
        };
        const auto stay = [] {
            for (;;) ::pause();
        };
        if (::fork() == 0) {
            be_there();
            if (::fork() == 0) {
                ::setsid();
                be_there();
                if (::fork() == 0) be_there();
            }
            stay();
        }
        const pid_t middle = ::fork();
        if (middle == 0) {
            if (::fork() != 0) ::_exit(0);
            be_there();
            stay();
        }
        ::waitpid(middle, nullptr, 0);
        char byte;
        for (int i = 0; i < 4; ++i)
            if (::read(up[0], &byte, 1) != 1) ::_exit(103);
    }
    static bool none() { return ::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD; }
};

TEST_P(Descendants, AreAllFoundAndNobodyElse) {
    const auto way = GetParam();
    const pid_t bystander = ::fork();
    if (bystander == 0) {
        ::alarm(60);
        for (;;) ::pause();
    }
    EXPECT_EQ(of_a_process([&] {
                  if (way.signal(0) != 0) return 100;
                  make_tree();
                  const int first = way.signal(0), second = way.signal(SIGTERM);
                  way.end(20'000, -1);
                  return first == second ? first : 99;
              }),
              4);
    EXPECT_EQ(::waitpid(bystander, nullptr, WNOHANG), 0) << "is nobody's descendant there";
    ::kill(bystander, SIGKILL);
    ::waitpid(bystander, nullptr, 0);
}

TEST_P(Descendants, AreAllEndedAndReaped) {
    const auto way = GetParam();
    EXPECT_EQ(of_a_process([&] {
                  make_tree();
                  way.end(20'000, -1);
                  return none() ? way.signal(0) : 99;
              }),
              0);
}

TEST_P(Descendants, GetTheSignal) {
    const auto way = GetParam();
    EXPECT_EQ(of_a_process([&] {
                  const pid_t child = ::fork();
                  if (child == 0) {
                      ::alarm(60);
                      for (;;) ::pause();
                  }
                  way.signal(SIGUSR2);
                  int status = 0;
                  ::waitpid(child, &status, 0);
                  return WIFSIGNALED(status) ? WTERMSIG(status) : 99;
              }),
              SIGUSR2);
}

TEST_P(Descendants, AreGivenUpWhenTheTimeIsOver) {
    const auto way = GetParam();
    EXPECT_EQ(of_a_process([&] {
                  make_tree();
                  way.end(0, -1);
                  const int left = way.signal(0);
                  way.end(20'000, -1);
                  return left;
              }),
              4);
}

// Where it is of no use to look again before a child has ended, nobody sleeps for a while instead.
TEST(AwaitChild, EndsWithTheChildAndNotWithItsTime) {
    sigset_t child, before;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child, &before);
    const int signals = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    for (const int round : {0, 1}) {
        const pid_t pid = ::fork();
        if (pid == 0) ::_exit(0);
        const long begun = now_ms();
        await_child(signals, 60'000);
        EXPECT_LT(now_ms() - begun, 30'000) << round;
        EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
    }
    await_child(signals, 0);
    await_child(-1, 1);  // knows of no child, and comes back all the same
    ::close(signals);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

INSTANTIATE_TEST_SUITE_P(All, Descendants,
                         testing::Values(Way{"ByChildren", signal_descendants, end_descendants},
                                         Way{"ByParent", signal_descendants_by_parent,
                                             end_descendants_by_parent}),
                         [](const auto& named) { return std::string(named.param.name); });

}  // namespace
