#include "gateway/http/event_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> behind(MemoryEvents& events, Route stream, std::uint64_t number) {
    std::vector<std::string> found;
    events.each_behind(stream, number, [&](std::uint64_t at, const std::string& message) {
        found.push_back(std::to_string(at) + message);
    });
    return found;
}

TEST(MemoryEvents, HasTheRestOfEachStreamAndOfNoOther) {
    MemoryEvents events;
    EXPECT_EQ(events.append(1, "a"), 1u);
    EXPECT_EQ(events.append(2, "x"), 1u);
    EXPECT_EQ(events.append(1, "b"), 2u);
    EXPECT_THAT(behind(events, 1, 0), ElementsAre("1a", "2b"));
    EXPECT_THAT(behind(events, 1, 1), ElementsAre("2b"));
    EXPECT_THAT(behind(events, 2, 1), IsEmpty());
    EXPECT_TRUE(events.knows(2));
    EXPECT_FALSE(events.knows(3));
}

TEST(MemoryEvents, ForgetsTheOldestOfMany) {
    MemoryEvents events;
    events.append(7, "first");
    for (std::size_t i = 0; i < MemoryEvents::kMostEvents; ++i) events.append(0, "");
    EXPECT_FALSE(events.knows(7));
    EXPECT_EQ(behind(events, 0, 0).size(), MemoryEvents::kMostEvents);
    // The client's own stream counts on.
    for (std::size_t i = 0; i < MemoryEvents::kMostEvents; ++i) events.append(9, "");
    EXPECT_EQ(events.append(0, "x"), MemoryEvents::kMostEvents + 1);
}

TEST(MemoryEvents, ForgetsTheOldestOfLongOnesAndKeepsTheNewest) {
    MemoryEvents events;
    const std::string longest(MemoryEvents::kMostBytes - 2, 'x');
    events.append(1, "ab");
    events.append(2, longest);
    EXPECT_TRUE(events.knows(1));
    events.append(3, "c");
    EXPECT_FALSE(events.knows(1));
    EXPECT_TRUE(events.knows(2));
    events.append(4, longest + longest);
    EXPECT_FALSE(events.knows(3));
    EXPECT_EQ(behind(events, 4, 0).size(), 1u);
}

}  // namespace
}  // namespace patchbay::gateway
