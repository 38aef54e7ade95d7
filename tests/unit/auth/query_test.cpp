// Queries of redirects, as far as the host reads them.
#include "auth/query.hpp"

#include "auth/consent.hpp"

#include <gtest/gtest.h>

namespace patchbay::auth {
namespace {

TEST(Query, HasAValueForANameThatIsThereOnce) {
    EXPECT_EQ(query_value("a=1&state=s&b=2", "state"), "s");
    EXPECT_EQ(query_value("state=s", "state"), "s");
    EXPECT_EQ(query_value("state=", "state"), "");
    EXPECT_EQ(query_value("state", "state"), "");
    EXPECT_EQ(query_value("state=a=b", "state"), "a=b");
    EXPECT_EQ(query_value("&&state=s&", "state"), "s");
    EXPECT_FALSE(query_value("states=s&tate=s", "state"));
    EXPECT_FALSE(query_value("state=s&state=s", "state"));
    EXPECT_FALSE(query_value("", "state"));
}

TEST(Query, IsWhatStandsBehindTheQuestionMarkAndBeforeTheFragment) {
    EXPECT_EQ(query_value("https://as.example/a?state=s&b=1", "state"), "s");
    EXPECT_EQ(query_value("https://as.example/a?state=s?t", "state"), "s?t");
    EXPECT_EQ(query_value("state=s#state=t", "state"), "s");
    EXPECT_FALSE(query_value("https://as.example/a?b=1#state=s", "state"));
}

TEST(Query, DecodesEscapesAndLeavesBrokenOnes) {
    EXPECT_EQ(query_value("x=%09%0f%99%Aa%Ff%fa", "x"), "\x09\x0F\x99\xAA\xFF\xFA");
    EXPECT_EQ(query_value("x=a+b%20c%2B", "x"), "a b c+");
    EXPECT_EQ(query_value("%78=1", "x"), "1");
    for (const char* broken : {"%", "%4", "%4g", "%g4", "%/0", "%0:", "%`0", "%0@", "%G0", "%%"})
        EXPECT_EQ(query_value(std::string("x=") + broken, "x"), broken);
}

TEST(Query, OfAPastedRedirectIsTakenFromThatAddressAlone) {
    const auto taken = [](const char* pasted) {
        return query_of_redirect(pasted, "http://127.0.0.1:1/callback");
    };
    EXPECT_EQ(taken("http://127.0.0.1:1/callback?a=b"), "a=b");
    EXPECT_EQ(taken(" \t\r\nhttp://127.0.0.1:1/callback?a=b \n"), "a=b");
    EXPECT_EQ(taken("http://127.0.0.1:1/callback?a=b#c?d"), "a=b");
    EXPECT_EQ(taken("http://127.0.0.1:1/callback?"), "");
    for (const char* other :
         {"", " ", "a=b", "http://127.0.0.1:1/callback", "http://127.0.0.1:1/callbacks?a=b",
          "http://127.0.0.1:2/callback?a=b", "xhttp://127.0.0.1:1/callback?a=b"})
        EXPECT_FALSE(taken(other)) << other;
}

}  // namespace
}  // namespace patchbay::auth
