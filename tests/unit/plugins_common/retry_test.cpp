#include "retry.hpp"

#include <gtest/gtest.h>

using patchbay::transport::Retry;
using namespace std::chrono_literals;

namespace {

TEST(Retry, WaitsTwiceAsLongEachTimeAndNoLongerThanTheMost) {
    Retry retry(100ms, 500ms);
    for (const auto expected : {100ms, 200ms, 400ms, 500ms, 500ms}) {
        EXPECT_EQ(retry.failed(), expected);
    }
    EXPECT_EQ(retry.failures(), 5u);
}

TEST(Retry, EndsWithTheLastAttempt) {
    Retry retry(100ms, 10s, 3);
    EXPECT_EQ(retry.failed(), 100ms);
    EXPECT_EQ(retry.failed(), 200ms);
    EXPECT_FALSE(retry.failed());
    EXPECT_EQ(retry.failures(), 3u);
}

TEST(Retry, BeginsAnewAfterASuccess) {
    Retry retry(100ms, 10s, 3);
    EXPECT_TRUE(retry.failed() && retry.failed());
    retry.succeeded();
    EXPECT_EQ(retry.failures(), 0u);
    EXPECT_EQ(retry.failed(), 100ms);
    EXPECT_EQ(retry.failed(), 200ms);
    EXPECT_FALSE(retry.failed());
}

}  // namespace
