#include "app/in_a_child.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace patchbay::app {
namespace {

using namespace std::chrono_literals;

// Until somebody ends this process, or a test that expected so has long failed.
void stay() {
    ::signal(SIGALRM, [](int) {});
    ::alarm(20);
    ::pause();
}

TEST(InAChild, ItsResultComesBackWhole) {
    const std::string much(kMostReturned, 'x');
    const auto ended = in_a_child([&] { return much; }, 60s);
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(ended->returned, much);
    EXPECT_EQ(ended->signal, 0);
    EXPECT_FALSE(ended->told_too_much);
    EXPECT_EQ(in_a_child([] { return std::string(); }, 60s)->returned, "")
        << "not the same as none";
}

TEST(InAChild, AResultThatIsTooLongIsNone) {
    const auto ended = in_a_child([] { return std::string(kMostReturned + 1, 'x'); }, 60s);
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_TRUE(ended->told_too_much);
    EXPECT_FALSE(ended->returned);
}

TEST(InAChild, OneThatFloodsItsPipeIsEnded) {
    int next[2];  // the numbers that its pipe will have
    ASSERT_EQ(::pipe(next), 0);
    for (const int fd : next) ::close(fd);
    const auto flooded = in_a_child(
        [&]() -> std::string {
            const std::string much(1u << 16, 'x');
            while (::write(next[1], much.data(), much.size()) > 0) continue;
            ::_exit(7);
        },
        60s);
    ASSERT_TRUE(flooded) << flooded.error().message;
    EXPECT_TRUE(flooded->told_too_much);
    EXPECT_EQ(flooded->exit_code, 0);
}

TEST(InAChild, WhatEndsItIsNamed) {
    const auto killed = in_a_child([]() -> std::string { return ::raise(SIGKILL), ""; }, 60s);
    ASSERT_TRUE(killed);
    EXPECT_FALSE(killed->returned);
    EXPECT_EQ(killed->signal, SIGKILL);
    EXPECT_EQ(name_of_signal(killed->signal), "SIGKILL");
    const auto left = in_a_child([]() -> std::string { ::_exit(7); }, 60s);
    ASSERT_TRUE(left);
    EXPECT_FALSE(left->returned);
    EXPECT_EQ(left->signal, 0);
    EXPECT_EQ(left->exit_code, 7);
}

TEST(InAChild, OneThatHangsIsEndedAfterItsLimit) {
    const auto hung = in_a_child(
        []() -> std::string {
            for (;;) ::pause();
        },
        50ms);
    ASSERT_TRUE(hung);
    EXPECT_EQ(hung->signal, SIGALRM);
}

TEST(InAChild, OneThatWillNotEndIsEndedAllTheSame) {
    const std::function<std::string()> stubborn[] = {
        [] { return ::signal(SIGALRM, SIG_IGN), ""; },
        [] { return ::signal(SIGALRM, SIG_IGN), ::close_range(3, ~0u, 0), ""; },
    };
    for (const auto& defies : stubborn) {
        const auto hung = in_a_child(
            [&]() -> std::string {
                defies();
                for (;;) ::pause();
            },
            50ms);
        ASSERT_TRUE(hung);
        EXPECT_FALSE(hung->returned);
        EXPECT_EQ(hung->signal, SIGALRM);
    }
}

// The pipe of the result is open in it as well.
TEST(InAChild, WhatItLeavesBehindIsNotWaitedFor) {
    for (const bool apart : {false, true}) {
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        const auto left = in_a_child(
            [&]() -> std::string {
                const auto stays = ::fork();
                while (stays != 0 && apart && ::getsid(stays) != stays) ::sched_yield();
                if (stays != 0) ::_exit(7);
                if (apart) ::setsid();
                const auto self = ::getpid();
                const bool told = ::write(ends[1], &self, sizeof self) == sizeof self;
                stay();
                ::_exit(told && ::write(ends[1], &self, sizeof self) > 0 ? 0 : 1);
            },
            60s);
        ASSERT_TRUE(left);
        EXPECT_EQ(left->exit_code, 7);
        ::close(ends[1]);
        if (apart) {  // it is its own master; the test ends it
            pid_t daemon = 0;
            ASSERT_EQ(::read(ends[0], &daemon, sizeof daemon), ssize_t{sizeof daemon});
            EXPECT_EQ(::kill(daemon, SIGKILL), 0) << "it is over, so somebody waited for it";
        }
        std::size_t heard = 0;
        for (char byte = 0; ::read(ends[0], &byte, 1) == 1;) ++heard;
        EXPECT_LE(heard, apart ? 0 : sizeof(pid_t)) << "it stayed to its own end";
        ::close(ends[0]);
    }
}

// In a group of its own, neither it nor what it starts hears what a terminal sends to ours.
TEST(InAChild, WhatItStartsEndsWhenWeAreAskedToEnd) {
    for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
        int up[2];
        ASSERT_EQ(::pipe(up), 0);
        const auto we = ::fork();
        ASSERT_GE(we, 0);
        if (we == 0) {
            ::signal(number, SIG_DFL);
            ::prctl(PR_SET_DUMPABLE, 0);  // SIGQUIT leaves no core
            static_cast<void>(in_a_child(
                [&]() -> std::string {
                    ::fork();
                    const bool told = ::write(up[1], "u", 1) == 1;
                    stay();
                    ::_exit(told && ::write(up[1], "late", 4) > 0 ? 0 : 1);
                },
                60s));
            ::_exit(0);
        }
        ::close(up[1]);
        char byte = 0;
        for (int process : {1, 2}) EXPECT_EQ(::read(up[0], &byte, 1), 1) << process;
        EXPECT_EQ(::kill(we, number), 0);
        int status = 0;
        EXPECT_EQ(::waitpid(we, &status, 0), we);
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << status;
        EXPECT_EQ(::read(up[0], &byte, 1), 0) << "it stayed to its own end";
        ::close(up[0]);
    }
}

TEST(InAChild, ItMayBeAskedToEndItself) {
    const auto asked = in_a_child([]() -> std::string { return ::raise(SIGTERM), "held"; }, 60s);
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->signal, SIGTERM);
}

TEST(InAChild, WhatWeIgnoreEndsNothing) {
    const auto before = ::signal(SIGHUP, SIG_IGN);
    const auto hung = in_a_child(
        []() -> std::string {
            ::kill(::getppid(), SIGHUP);
            for (;;) ::pause();
        },
        100ms);
    ::signal(SIGHUP, before);
    ASSERT_TRUE(hung);
    EXPECT_EQ(hung->signal, SIGALRM);
}

TEST(InAChild, ASignalWithoutANameIsANumber) {
    EXPECT_EQ(name_of_signal(4711), "signal 4711");
}

}  // namespace
}  // namespace patchbay::app
