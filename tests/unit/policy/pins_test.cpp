// What it means for a tool that it is not what somebody approved.
#include "policy/policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::policy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class PolicyPins : public ::testing::Test {
protected:
    PolicyPins() {
        server.id = "x";
        server.place = {config::Scope::User, "config.toml", 3, 1};
    }
    Question question(bool mismatched = true) {
        Question asked{core::Trust::Approves, "x", "echo", "mcp__x__echo"};
        if (mismatched) asked.mismatch = &mismatch;
        return asked;
    }
    Pinning pinning() { return Policy(permissions, {server}).pinning(question()); }

    config::Server server;
    config::Permissions permissions;
    PinMismatch mismatch{PinMismatch::Kind::Changed, false, "is not what it was"};
};

TEST_F(PolicyPins, WhatNobodyStandsBehindIsTold) {
    EXPECT_EQ(pinning(), Pinning::Warn);
    server.tools["other"] = config::Level::AllowAlways;
    permissions.allow = {{"mcp__x__*"}};
    EXPECT_EQ(pinning(), Pinning::Warn) << "that names no tool";
}

TEST_F(PolicyPins, WhatSomebodyApprovedOrNamedIsBlocked) {
    mismatch.approved = true;
    EXPECT_EQ(pinning(), Pinning::Block);
    mismatch.approved = false;
    server.tools["echo"] = config::Level::RequireApproval;
    EXPECT_EQ(pinning(), Pinning::Block);
    server.tools.clear();
    server.enabled_tools = {{"echo"}};
    EXPECT_EQ(pinning(), Pinning::Block);
    server.enabled_tools.reset();
    permissions.allow = {{"mcp__x__*", "mcp__x__echo"}};
    EXPECT_EQ(pinning(), Pinning::Block);
}

TEST_F(PolicyPins, OfACheckoutAllIsBlocked) {
    for (const auto scope : {config::Scope::Project, config::Scope::Local}) {
        server.place.scope = scope;
        EXPECT_EQ(pinning(), Pinning::Block);
    }
}

TEST_F(PolicyPins, AFilesWordCounts) {
    mismatch.approved = true;
    for (const auto each : {Pinning::Block, Pinning::Warn, Pinning::Off}) {
        server.pins = name_of(each);
        EXPECT_EQ(pinning(), each);
        const Policy policy(permissions, {server});
        EXPECT_EQ(policy.judge(question()).decision,
                  each == Pinning::Block ? Decision::Deny : Decision::Allow);
        EXPECT_EQ(policy.judge(question(false)).decision, Decision::Allow)
            << "it is what was approved";
    }
}

TEST_F(PolicyPins, ABlockedToolIsListedAndRefusedWithWhatToDo) {
    server.pins = "block";
    server.rules["pins"] = {config::Scope::User, "config.toml", 7, 1};
    const Policy policy(permissions, {server});
    const auto asked = question();
    const auto verdict = policy.judge(asked);
    EXPECT_TRUE(verdict.listed());
    EXPECT_TRUE(verdict.is_pinned());
    EXPECT_THAT(policy.reason(asked, verdict),
                AllOf(HasSubstr("mcp__x__echo is blocked (user config config.toml:7:1): it is not "
                                "what it was"),
                      HasSubstr("patchbay mcp diff x shows what differs"),
                      HasSubstr("patchbay trust x --tools approves it")));
}

TEST_F(PolicyPins, WhatIsUnknownIsBlockedWithItsOwnAdvice) {
    server.pins = "block";
    mismatch = {PinMismatch::Kind::Unknown, false,
                "cannot be compared with what was approved: /state/pins/1.json is damaged"};
    const Policy policy(permissions, {server});
    const auto asked = question();
    EXPECT_THAT(policy.reason(asked, policy.judge(asked)),
                AllOf(HasSubstr("/state/pins/1.json is damaged"), Not(HasSubstr("mcp diff"))));
}

TEST_F(PolicyPins, AllowNothingThatARuleForbids) {
    server.pins = "off";
    server.tools["echo"] = config::Level::Deny;
    EXPECT_EQ(Policy(permissions, {server}).judge(question()).decision, Decision::Deny);
    server.tools["echo"] = config::Level::Disable;
    EXPECT_FALSE(Policy(permissions, {server}).judge(question()).listed());
    server.tools["echo"] = config::Level::AllowAlways;
    server.pins = "block";
    EXPECT_TRUE(Policy(permissions, {server}).judge(question()).is_pinned())
        << "and no level lifts them";
}

}  // namespace
}  // namespace patchbay::policy
