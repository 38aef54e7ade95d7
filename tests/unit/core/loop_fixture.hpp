// A loop with a pipe to watch.
#pragma once

#include "core/loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <unistd.h>

namespace patchbay::core {

using namespace std::chrono_literals;
using ::testing::Each;
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
    bool wait(const std::function<bool()>& done) {
        return loop.run_until(done, Clock::now() + 20s);
    }

    Loop loop;
    int ends[2];
};

}  // namespace patchbay::core
