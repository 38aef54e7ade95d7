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

// As a client that keeps a history in one line has them: 4 MiB, and a key in each row.
TEST(TextDifference, OfALongLineWithManySecretsLooksAtWhatMayBeShown) {
    std::string before = "{\"rows\": [";
    std::vector<std::string> secrets;
    for (int i = 0; i < 10'000; ++i) {
        secrets.push_back("key-" + std::to_string(10'000'000 + i));
        before +=
            "{\"key\": \"" + secrets.back() + "\", \"text\": \"" + std::string(400, 'x') + "\"}, ";
    }
    const auto shown = difference(before + "]}", before + "], \"a\": 1}", "f", secrets);
    EXPECT_LT(shown.size(), 500u);
    EXPECT_THAT(shown, HasSubstr("], \"a\": 1}"));
    EXPECT_THAT(shown, Not(HasSubstr("key-1")));
}

TEST(TextDifference, ShowsNoSecretHoweverTheFormatWritesIt) {
    const std::string secret = "s3/et \"quoted\" one";
    for (const auto* written :
         {R"("k": "s3\/et \"quoted\" one")", R"("k": "s3/et \u0022quoted\u0022 one")"}) {
        EXPECT_EQ(difference("a\n", "a\n" + std::string(written) + "\n", "f", {secret}),
                  "--- f\n+++ f\n@@ -1,0 +2,1 @@\n+\"k\": \"***\"\n");
    }
    const auto lines = difference("", "key: |\n  first half of it\n  second half of it\n", "f",
                                  {"first half of it\nsecond half of it\n"});
    EXPECT_THAT(lines, Not(HasSubstr("half")));
    // A remark is no value, and its name tells all the same.
    EXPECT_THAT(difference("# api_token = \"abcd-efgh\"\n", "", "f", {}), Not(HasSubstr("abcd")));
    std::vector<std::string> many;
    for (int i = 0; i < 2'000; ++i) many.push_back("secret number " + std::to_string(10'000 + i));
    EXPECT_THAT(difference("", "a secret\\u0020number 10007\n", "f", many),
                Not(HasSubstr("10007")));
}

}  // namespace
}  // namespace patchbay::app
