#include "core/worker.hpp"

#include "core/escapes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>

namespace patchbay::core {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WorkerTest : public ::testing::Test {
protected:
    bool wait(const std::function<bool()>& done) {
        return loop.run_until(done, Clock::now() + 30s);
    }

    Loop loop;
};

TEST_F(WorkerTest, WorksElsewhereAndTellsOnTheLoopAfterTheCall) {
    Worker worker(loop, 1);
    std::thread::id worked_on, told_on;
    int got = 0;
    worker.run(
        [&](const std::stop_token&) -> Result<int> {
            worked_on = std::this_thread::get_id();
            return 7;
        },
        [&](const Result<int>& outcome) {
            told_on = std::this_thread::get_id();
            got = *outcome;
        });
    EXPECT_EQ(got, 0) << "told from inside the call";
    ASSERT_TRUE(wait([&] { return got != 0; }));
    EXPECT_EQ(got, 7);
    EXPECT_EQ(told_on, std::this_thread::get_id());
    EXPECT_NE(worked_on, told_on);
}

TEST_F(WorkerTest, OneThreadKeepsTheOrder) {
    Worker worker(loop, 1);
    std::vector<int> worked, told;
    for (int i = 0; i < 5; ++i)
        worker.run(
            [&worked, i](const std::stop_token&) -> Result<int> {
                worked.push_back(i);
                return i;
            },
            [&](const Result<int>& outcome) { told.push_back(*outcome); });
    ASSERT_TRUE(wait([&] { return told.size() == 5; }));
    EXPECT_THAT(told, ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(worked, ElementsAre(0, 1, 2, 3, 4));
}

// Each waits for the other: on one thread neither would end.
TEST_F(WorkerTest, SlowWorkDelaysNoOtherWhileThereAreThreads) {
    Worker worker(loop, 2);
    std::promise<void> first, second;
    int told = 0;
    const auto meet = [&](std::promise<void>& mine, std::promise<void>& other) {
        worker.run(
            [&mine, &other](const std::stop_token&) -> Result<bool> {
                mine.set_value();
                return other.get_future().wait_for(30s) == std::future_status::ready;
            },
            [&](const Result<bool>& met) { told += *met ? 1 : 100; });
    };
    meet(first, second);
    meet(second, first);
    ASSERT_TRUE(wait([&] { return told >= 2; }));
    EXPECT_EQ(told, 2);
}

TEST_F(WorkerTest, StartsNoMoreThreadsThanItMay) {
    Worker worker(loop, 3);
    std::atomic<int> running{0}, most{0};
    int told = 0;
    for (int i = 0; i < 60; ++i)
        worker.run(
            [&](const std::stop_token&) -> Result<int> {
                const int now = ++running;
                for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
                }
                std::this_thread::yield();
                --running;
                return 0;
            },
            [&](const Result<int>&) { ++told; });
    ASSERT_TRUE(wait([&] { return told == 60; }));
    EXPECT_LE(most, 3);
}

TEST_F(WorkerTest, WhatEscapesItsWorkIsAnInternalError) {
    Worker worker(loop, 1);
    std::optional<Result<int>> outcome;
    worker.run(
        [](const std::stop_token&) -> Result<int> { throw std::runtime_error("so it ends"); },
        [&](Result<int> told) { outcome = std::move(told); });
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    ASSERT_FALSE(*outcome);
    EXPECT_EQ(outcome->error().code, ErrorCode::Internal);
    EXPECT_THAT(outcome->error().message, HasSubstr("so it ends"));
    EXPECT_EQ(take_escapes(), 1u);
    outcome.reset();
    worker.run([](const std::stop_token&) -> Result<int> { throw 7; },
               [&](Result<int> told) { outcome = std::move(told); });
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    EXPECT_EQ(outcome->error().message, "unexpected: no std::exception");
    EXPECT_EQ(take_escapes(), 1u);
}

TEST_F(WorkerTest, ItsEndStopsWhatRunsDoesWhatWaitsAndTellsNobody) {
    std::promise<void> begun;
    bool stopped = false, did_the_rest = false, told = false;
    {
        Worker worker(loop, 1);
        worker.run(
            [&](const std::stop_token& stop) -> Result<int> {
                begun.set_value();
                while (!stop.stop_requested()) std::this_thread::yield();
                stopped = true;
                return 0;
            },
            [&](const Result<int>&) { told = true; });
        worker.run(
            [&](const std::stop_token&) -> Result<int> {
                did_the_rest = true;
                return 0;
            },
            [&](const Result<int>&) { told = true; });
        ASSERT_EQ(begun.get_future().wait_for(30s), std::future_status::ready);
    }
    EXPECT_TRUE(stopped);
    EXPECT_TRUE(did_the_rest);
    bool turned = false;
    loop.post([&] { turned = true; });
    ASSERT_TRUE(wait([&] { return turned; }));
    EXPECT_FALSE(told);
}

// What a handler captures belongs to the loop: it must not end on a thread of the worker.
TEST_F(WorkerTest, WhatAHandlerHoldsEndsOnTheLoop) {
    Worker worker(loop, 1);
    std::thread::id ended_on;
    bool told = false;
    std::shared_ptr<int> held(new int(1), [&](const int* value) {
        ended_on = std::this_thread::get_id();
        delete value;
    });
    worker.run([](const std::stop_token&) -> Result<int> { return 0; },
               [held = std::move(held), &told](const Result<int>&) { told = true; });
    ASSERT_TRUE(wait([&] { return told; }));
    ASSERT_TRUE(wait([&] { return ended_on != std::thread::id(); }));
    EXPECT_EQ(ended_on, std::this_thread::get_id());
}

}  // namespace
}  // namespace patchbay::core
