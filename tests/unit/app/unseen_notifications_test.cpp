#include "app/unseen_notifications.hpp"

#include <gtest/gtest.h>

namespace patchbay::app {
namespace {

TEST(UnseenNotifications, EachIsTakenOnce) {
    UnseenNotifications unseen;
    unseen.keep("a", "x");
    unseen.keep("a", "x");
    unseen.keep("b", "y");
    EXPECT_FALSE(unseen.take("b", "x"));
    EXPECT_TRUE(unseen.take("a", "x"));
    EXPECT_TRUE(unseen.take("", "x")) << "of any server";
    EXPECT_FALSE(unseen.take("", "x"));
    EXPECT_TRUE(unseen.take("", "y"));
}

TEST(UnseenNotifications, AServerOfManyKindsTakesNoRoomFromAnother) {
    UnseenNotifications unseen;
    for (std::size_t i = 0; i <= UnseenNotifications::kKinds; ++i)
        unseen.keep("bad", std::to_string(i));
    unseen.keep("good", "x");
    EXPECT_TRUE(unseen.take("good", "x"));
    const auto last = std::to_string(UnseenNotifications::kKinds);
    EXPECT_FALSE(unseen.take("bad", last)) << "one too many";
    unseen.keep("bad", "0");
    EXPECT_TRUE(unseen.take("bad", "0"));
    EXPECT_TRUE(unseen.take("bad", "0")) << "a known kind is counted on";
    unseen.keep("bad", last);
    EXPECT_TRUE(unseen.take("bad", last)) << "what was taken makes room";
}

TEST(UnseenNotifications, ALongMethodIsNotKept) {
    UnseenNotifications unseen;
    const std::string longest(UnseenNotifications::kMethodBytes, 'x');
    unseen.keep("a", longest);
    unseen.keep("a", longest + "x");
    EXPECT_TRUE(unseen.take("a", longest));
    EXPECT_FALSE(unseen.take("a", longest + "x"));
}

}  // namespace
}  // namespace patchbay::app
