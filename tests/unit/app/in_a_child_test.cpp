#include "app/in_a_child.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <unistd.h>

namespace patchbay::app {
namespace {

using namespace std::chrono_literals;

TEST(InAChild, ItsResultComesBackWhole) {
    const std::string much(1u << 20, 'x');
    const auto ended = in_a_child([&] { return much; }, 60s);
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(ended->returned, much);
    EXPECT_EQ(ended->signal, 0);
    EXPECT_EQ(in_a_child([] { return std::string(); }, 60s)->returned, "")
        << "not the same as none";
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

TEST(InAChild, ASignalWithoutANameIsANumber) {
    EXPECT_EQ(name_of_signal(4711), "signal 4711");
}

}  // namespace
}  // namespace patchbay::app
