#include "app/text_difference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(TextDifference, ShowsTheLinesThatDiffer) {
    EXPECT_EQ(difference("a\nb\n", "a\nb\n", "f", {}), "");
    EXPECT_EQ(difference("a\nc\n", "a\nb\nc\n", "f", {}), "--- f\n+++ f\n@@ -1,0 +2,1 @@\n+b\n");
    EXPECT_EQ(difference("a\nb\nc\n", "a\nc\n", "f", {}), "--- f\n+++ f\n@@ -2,1 +1,0 @@\n-b\n");
    EXPECT_EQ(difference("", "a\n", "f", {}), "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n");
}

TEST(TextDifference, ACommaFurtherUpIsAPlaceOfItsOwn) {
    EXPECT_EQ(difference("{\n1\n# x\n# y\n}\n", "{\n1,\n# x\n# y\n2\n}\n", "f", {}),
              "--- f\n+++ f\n@@ -2,1 +2,1 @@\n-1\n+1,\n@@ -4,0 +5,1 @@\n+2\n");
}

TEST(TextDifference, OfALongLineShowsWhatIsAroundTheChange) {
    const std::string long_text(100'000, 'x');
    const auto shown = difference("{" + long_text + "}", "{" + long_text + ",y}", "f", {});
    EXPECT_LT(shown.size(), 500u);
    EXPECT_THAT(shown, HasSubstr("xxx,y}...\n"));
}

TEST(TextDifference, ShowsNoSecretAndNothingThatMovesTheCursor) {
    const auto shown = difference("key abcd1234\n", "\x1b[2Jother\n", "f", {"abcd1234"});
    EXPECT_THAT(shown, HasSubstr("-key ***\n"));
    EXPECT_THAT(shown, Not(HasSubstr("\x1b")));
    // One that lies where a long line is cut is masked whole.
    const std::string secret(40, 's'), front(200, 'f'), back(30, 'b');
    const auto cut = difference(front + secret + back, front + secret + back + "!", "f", {secret});
    EXPECT_THAT(cut, Not(HasSubstr("ss")));
    EXPECT_THAT(cut, HasSubstr("***"));
}

}  // namespace
}  // namespace patchbay::app
