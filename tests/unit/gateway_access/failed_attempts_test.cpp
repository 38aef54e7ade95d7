#include "gateway/access/failed_attempts.hpp"

#include "support/turned_loop.hpp"

#include <gtest/gtest.h>

namespace patchbay::gateway {
namespace {

using namespace std::chrono_literals;

class Attempts : public ::testing::Test {
protected:
    void fail(const std::string& peer, unsigned times) {
        for (unsigned i = 0; i < times; ++i) attempts.note(peer);
    }
    test::HandTime time;
    FailedAttempts attempts{time};
};

TEST_F(Attempts, AFewAreFreeThenOneForEachPause) {
    fail("127.0.0.1", FailedAttempts::kBurst - 1);
    EXPECT_FALSE(attempts.too_many("127.0.0.1"));
    EXPECT_TRUE(attempts.note("127.0.0.1")) << "the last one is worth a word";
    EXPECT_TRUE(attempts.too_many("127.0.0.1"));
    EXPECT_FALSE(attempts.note("127.0.0.1")) << "one word";
    time.turn(FailedAttempts::kPause);
    EXPECT_FALSE(attempts.too_many("127.0.0.1"));
    EXPECT_FALSE(attempts.note("127.0.0.1")) << "nor another while it goes on";
    EXPECT_TRUE(attempts.too_many("127.0.0.1"));
    time.turn(FailedAttempts::kBurst * FailedAttempts::kPause);
    fail("127.0.0.1", FailedAttempts::kBurst - 1);
    EXPECT_TRUE(attempts.note("127.0.0.1")) << "it had been quiet";
}

TEST_F(Attempts, HoweverManyAreForgottenAfterAMinute) {
    fail("127.0.0.1", 100'000);
    time.turn(FailedAttempts::kBurst * FailedAttempts::kPause);
    fail("127.0.0.1", FailedAttempts::kBurst - 1);
    EXPECT_FALSE(attempts.too_many("127.0.0.1"));
}

TEST_F(Attempts, OnePeersAreNotAnothers) {
    fail("127.0.0.1", 100);
    EXPECT_FALSE(attempts.too_many("127.0.0.2"));
    EXPECT_FALSE(attempts.too_many(""));
    fail("2001:db8::1", 100);
    EXPECT_TRUE(attempts.too_many("2001:db8::ffff:2")) << "one network, one peer";
    EXPECT_FALSE(attempts.too_many("2001:db8:0:1::1"));
    fail("::ffff:192.0.2.1", 100);
    EXPECT_FALSE(attempts.too_many("::ffff:192.0.2.2"));
}

TEST_F(Attempts, OfMorePeersThanAreKnownTheQuietestIsForgotten) {
    fail("first", 100);
    fail("second", 100);
    for (std::size_t i = 0; i + 2 < FailedAttempts::kMostPeers; ++i)
        attempts.note(std::to_string(i));
    fail("first", 1);
    attempts.note("one more");
    EXPECT_TRUE(attempts.too_many("first"));
    EXPECT_FALSE(attempts.too_many("second"));
}

}  // namespace
}  // namespace patchbay::gateway
