// By which configuration a host runs, and to what it goes back; no file is read and nothing is moved.
#include "app/in_force.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

namespace patchbay::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

InForce::Snapshot snapshot(const std::function<void(config::Config&)>& change = {}) {
    config::Config config;
    if (change) change(config);
    return registry::snapshot_of(std::move(config));
}

InForce::Snapshot with_error(const std::string& message) {
    return snapshot([&](config::Config& config) {
        config.diagnostics.push_back(
            {config::RuleId::InvalidValue, config::Severity::Error, {}, message, {}});
    });
}

class InForceTest : public ::testing::Test {
protected:
    const InForce::Snapshot first_ = snapshot(), second_ = snapshot();
    InForce in_force_{first_, "one"};
};

TEST_F(InForceTest, OnlyWhatIsWrongNowAndWasNotBeforeIsAFault) {
    EXPECT_EQ(in_force_.why_not(*second_), "");
    const auto faulty = with_error("server \"a\" makes no sense");
    EXPECT_THAT(in_force_.why_not(*faulty), HasSubstr("server \"a\" makes no sense"));
    EXPECT_THAT(in_force_.why_not(*faulty), Not(StartsWith("error:"))) << "it stands in a sentence";
    InForce with_fault(faulty, "one");
    EXPECT_EQ(with_fault.why_not(*faulty), "");
    EXPECT_THAT(with_fault.why_not(*with_error("another")), HasSubstr("another"));
}

TEST_F(InForceTest, ABrokenEnterpriseFileDeniesAtOnce) {
    const auto denies = snapshot([](config::Config& config) {
        config.deny_all = true;
        config.stop = "the enterprise config is broken";
    });
    EXPECT_EQ(in_force_.why_not(*denies), "");
}

TEST_F(InForceTest, WhatWasRefusedIsToldUntilSomethingElseCounts) {
    in_force_.refuse("a fault", "two");
    EXPECT_EQ(in_force_.kept(), "a fault");
    EXPECT_TRUE(in_force_.was_kept("two"));
    EXPECT_TRUE(in_force_.is_known("two"));
    EXPECT_TRUE(in_force_.fits("one")) << "it goes on";
    in_force_.move_to(second_, "three");
    EXPECT_EQ(in_force_.kept(), "");
    EXPECT_FALSE(in_force_.is_known("two"));
    EXPECT_TRUE(in_force_.fits("three"));
}

TEST_F(InForceTest, WhatCountsForTheNextStartAloneFitsNoCommandThatReadIt) {
    const auto other = snapshot([](config::Config& config) { config.client.name = "another"; });
    in_force_.move_to(other, "two");
    EXPECT_EQ(in_force_.now().next_start, "client.name");
    EXPECT_FALSE(in_force_.fits("two"));
    EXPECT_TRUE(in_force_.is_known("two")) << "and there is nothing new in it";
    in_force_.move_to(second_, "three");
    EXPECT_EQ(in_force_.now().next_start, "") << "it is again as it was at the start";
    EXPECT_TRUE(in_force_.fits("three"));
}

TEST_F(InForceTest, GoesBackOneByOneToWhereItBegan) {
    EXPECT_EQ(in_force_.before(), nullptr);
    in_force_.move_to(second_, "two");
    in_force_.move_to(snapshot(), "three");
    ASSERT_NE(in_force_.before(), nullptr);
    EXPECT_EQ(in_force_.before()->digest, "two");
    in_force_.go_back("somebody went back");
    EXPECT_EQ(in_force_.now().snapshot, second_);
    EXPECT_TRUE(in_force_.was_kept("three")) << "the files say it still";
    EXPECT_EQ(in_force_.kept(), "somebody went back");
    in_force_.go_back("once more");
    EXPECT_EQ(in_force_.now().snapshot, first_);
    EXPECT_TRUE(in_force_.was_kept("three")) << "what was read last, not what was gone back to";
    EXPECT_EQ(in_force_.before(), nullptr);
}

TEST_F(InForceTest, GoingBackFromFilesThatHaveAFaultStaysWhereItIsOnce) {
    in_force_.move_to(second_, "two");
    in_force_.refuse("a fault", "three");
    EXPECT_EQ(in_force_.before(), &in_force_.now());
    in_force_.go_back("somebody went back");
    EXPECT_EQ(in_force_.now().snapshot, second_);
    EXPECT_TRUE(in_force_.was_kept("three"));
    ASSERT_NE(in_force_.before(), nullptr);
    EXPECT_EQ(in_force_.before()->snapshot, first_);
}

TEST_F(InForceTest, KeepsNoMoreThanItMayGoBackTo) {
    for (std::size_t i = 0; i < InForce::kHistory + 5; ++i)
        in_force_.move_to(snapshot(), std::to_string(i));
    std::size_t back = 0;
    for (; in_force_.before(); ++back) in_force_.go_back("back");
    EXPECT_EQ(back, InForce::kHistory);
}

}  // namespace
}  // namespace patchbay::app
