// Ending early: at every wait there is, and by closing.
#include "fake_host.hpp"

#include <gmock/gmock.h>

namespace patchbay::oauth::test {
namespace {

struct Cancel : ::testing::Test {
    FakeHost host;
    Cancel() { serve_usual(host); }
};

// Stops at the n-th call of the host, and cancels there. False: there is no n-th.
bool cancelled_at(int n, const std::string& before, std::uint32_t interactive) {
    FakeHost host;
    serve_usual(host);
    if (!before.empty()) host.store["docs"] = before;
    host.stall = n;
    Method method(host);
    method.begin(interactive);
    host.run();
    if (!host.stalled()) return false;
    EXPECT_EQ(method.outcome.ends, 0);
    method.cancel();
    host.run();
    host.release();  // a get or a put ends by itself
    host.run();
    EXPECT_EQ(method.outcome.ends, 1) << n;
    EXPECT_EQ(host.locks, 0) << n;
    const auto status = method.outcome.status;
    EXPECT_TRUE(status == PATCHBAY_OK || status == PATCHBAY_E_CANCELLED)
        << n << method.outcome.error;
    EXPECT_EQ(method.acquire(interactive).status, PATCHBAY_OK) << "after " << n;
    return true;
}

TEST_F(Cancel, ends_a_sign_in_wherever_it_waits) {
    int waits = 0;
    while (cancelled_at(waits + 1, "", PATCHBAY_AUTH_MAY_ASK)) ++waits;
    EXPECT_GE(waits, 9) << "get, probe, two documents, register, person, token, lock, put";
}

TEST_F(Cancel, ends_a_refresh_wherever_it_waits) {
    int waits = 0;
    const auto before = record(R"("expires_at":1799999999)");
    while (cancelled_at(waits + 1, before, PATCHBAY_AUTH_QUIET)) ++waits;
    EXPECT_GE(waits, 5) << "get, lock, get, token, put";
}

TEST_F(Cancel, leaves_the_record_as_it_was) {
    host.store["docs"] = record("");
    const auto before = host.store["docs"];
    host.stall = 6;  // in the browser, or near it
    Method method(host);
    method.begin(PATCHBAY_AUTH_SIGN_IN);
    host.run();
    method.cancel();
    host.run();
    EXPECT_EQ(method.outcome.status, PATCHBAY_E_CANCELLED);
    EXPECT_EQ(host.store["docs"], before);
}

TEST_F(Cancel, of_something_that_has_ended_does_nothing) {
    Method method(host);
    EXPECT_EQ(method.acquire(PATCHBAY_AUTH_MAY_ASK).status, PATCHBAY_OK);
    method.cancel();
    host.run();
    EXPECT_EQ(method.outcome.ends, 1);
    EXPECT_EQ(method.acquire(PATCHBAY_AUTH_QUIET).status, PATCHBAY_OK);
}

TEST_F(Cancel, comes_with_closing_and_before_the_last_event) {
    for (int n = 1; n < 10; ++n) {
        FakeHost world;
        serve_usual(world);
        world.stall = n;
        Method method(world);
        method.begin(PATCHBAY_AUTH_MAY_ASK);
        world.run();
        if (!world.stalled()) break;
        method.close();
        world.run();
        world.release();
        world.run();
        EXPECT_EQ(method.outcome.ends, 1) << n;
        EXPECT_EQ(method.closed, 1) << n;
    }
}

TEST_F(Cancel, does_not_cut_a_sign_out_short_when_closing) {
    host.store["docs"] = record("");
    host.stall = 2;  // the revocation
    Method method(host);
    method.forget();
    method.close();
    host.run();
    ASSERT_TRUE(host.stalled());
    EXPECT_EQ(method.closed, 0);
    host.release();
    host.run();
    EXPECT_EQ(method.closed, 1);
    EXPECT_EQ(host.store["docs"], "");
}

TEST_F(Cancel, closes_at_once_when_nothing_is_under_way) {
    Method method(host);
    method.close();
    host.run();
    EXPECT_EQ(method.closed, 1);
}

TEST_F(Cancel, of_what_waits_behind_another_ends_it_alone) {
    host.stall = 1;
    Method method(host);
    method.begin(PATCHBAY_AUTH_MAY_ASK);
    method.begin(PATCHBAY_AUTH_QUIET);
    method.cancel();
    host.run();
    EXPECT_EQ(method.outcome.ends, 0);
    host.release();
    host.run();
    EXPECT_EQ(method.outcome.ends, 2);
    EXPECT_EQ(method.outcome.status, PATCHBAY_E_CANCELLED);
    EXPECT_EQ(stored(host).needed_text("access_token"), "access-1") << "the first went its way";
}

TEST_F(Cancel, comes_with_closing_to_all_that_waits) {
    host.stall = 1;
    Method method(host);
    method.begin(PATCHBAY_AUTH_MAY_ASK);
    method.forget();
    method.begin(PATCHBAY_AUTH_MAY_ASK);
    method.close();
    host.run();
    host.release();
    host.run();
    EXPECT_EQ(method.outcome.ends, 2);
    EXPECT_EQ(method.outcome.status, PATCHBAY_E_CANCELLED);
    EXPECT_EQ(method.closed, 1);
    EXPECT_TRUE(host.browsed.empty());
}

// The n-th call is refused before it begins. False: there is no n-th.
bool refused_at(int n, const std::string& before, std::uint32_t interactive) {
    FakeHost host;
    serve_usual(host);
    host.store["docs"] = before;
    host.refuse = n;
    Method method(host);
    const auto outcome = method.acquire(interactive);
    if (host.calls < n) return false;
    EXPECT_EQ(outcome.ends, 1) << n;
    EXPECT_TRUE(outcome.status == PATCHBAY_OK || outcome.status == PATCHBAY_E_CLOSED)
        << n << outcome.error;
    if (outcome.status != PATCHBAY_OK) {
        EXPECT_NE(outcome.error.find("the host ended it with status -"), std::string::npos) << n;
    }
    EXPECT_EQ(host.locks, 0) << n;
    EXPECT_EQ(method.acquire(interactive).status, PATCHBAY_OK) << "after " << n;
    return true;
}

TEST_F(Cancel, is_no_different_when_the_host_begins_nothing) {
    int waits = 0;
    while (refused_at(waits + 1, "", PATCHBAY_AUTH_MAY_ASK)) ++waits;
    EXPECT_GE(waits, 9);
    waits = 0;
    const auto before = record(R"("expires_at":1799999999)");
    while (refused_at(waits + 1, before, PATCHBAY_AUTH_QUIET)) ++waits;
    EXPECT_GE(waits, 5);
}

}  // namespace
}  // namespace patchbay::oauth::test
