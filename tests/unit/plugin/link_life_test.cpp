// What an event of a plugin means by how far its link has come; no plugin, and nobody who listens.
#include "plugin/links/link_life.hpp"

#include <gtest/gtest.h>

namespace patchbay::plugin {
namespace {

using Verdict = LinkLife::Verdict;

constexpr EventKind kOrdinary[] = {EventKind::Opened,   EventKind::Message,   EventKind::Done,
                                   EventKind::Writable, EventKind::Challenge, EventKind::Output,
                                   EventKind::Fact,     EventKind::Acquired};

LinkLife made() {
    LinkLife life;
    life.begin();
    return life;
}

void expect(LinkLife life, Verdict ordinary, Verdict closed, Verdict fault, Verdict spent) {
    for (const auto kind : kOrdinary) EXPECT_EQ(life.on(kind), ordinary) << static_cast<int>(kind);
    EXPECT_EQ(life.on(EventKind::Fault), fault);
    EXPECT_EQ(life.on(EventKind::Spent), spent);
    EXPECT_EQ(life.on(EventKind::Closed), closed);
}

TEST(LinkLife, EventsCountUntilItHasClosed) {
    auto life = made();
    expect(life, Verdict::Dispatch, Verdict::Closed, Verdict::Fault, Verdict::GiveUp);
    EXPECT_TRUE(life.close());
    EXPECT_FALSE(life.close()) << "once";
    expect(life, Verdict::Dispatch, Verdict::Closed, Verdict::Fault, Verdict::GiveUp);
    EXPECT_EQ(life.on(EventKind::Closed), Verdict::Closed);
    expect(life, Verdict::AfterClosed, Verdict::AfterClosed, Verdict::Fault, Verdict::GiveUp);
}

TEST(LinkLife, OfWhatIsNotBelievedOnlyTheEndCounts) {
    auto life = made();
    EXPECT_TRUE(life.distrust()) << "it is to close";
    EXPECT_FALSE(life.distrust()) << "and was asked to";
    expect(life, Verdict::Ignore, Verdict::Destroy, Verdict::Ignore, Verdict::Ignore);
    EXPECT_TRUE(life.destroy());
    EXPECT_FALSE(life.destroy());
    EXPECT_FALSE(life.usable());
}

TEST(LinkLife, WhatNobodyListensToIsStillHeldToTheContract) {
    auto life = made();
    life.abandon();
    expect(life, Verdict::Ignore, Verdict::Closed, Verdict::Fault, Verdict::GiveUp);
    EXPECT_EQ(life.on(EventKind::Closed), Verdict::Closed);
    EXPECT_EQ(life.on(EventKind::Message), Verdict::AfterClosed);
    EXPECT_FALSE(life.end()) << "there is nobody to tell";
}

TEST(LinkLife, ItsEndIsToldOnceAndThenItIsNotAskedForAnything) {
    auto life = made();
    EXPECT_TRUE(life.usable());
    EXPECT_TRUE(life.end());
    EXPECT_FALSE(life.end());
    EXPECT_FALSE(life.usable());
    EXPECT_FALSE(life.close()) << "nor to close";
    EXPECT_TRUE(life.alive()) << "it is destroyed when it has closed";
    EXPECT_TRUE(life.distrust());
}

TEST(LinkLife, WhatWasNeverMadeIsNeitherClosedNorDestroyed) {
    LinkLife life;
    EXPECT_FALSE(life.usable());
    EXPECT_FALSE(life.close());
    EXPECT_FALSE(life.distrust());
    EXPECT_FALSE(life.destroy());
}

}  // namespace
}  // namespace patchbay::plugin
