#include "protocol/raw_json.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace patchbay::protocol {
namespace {

TEST(RawJson, AStringEndsAtTheFirstQuoteThatNothingEscapes) {
    for (const std::string text : {R"("")", R"("a")", R"("a\"b")", R"("a\\")", R"("\\\"\\")"})
        EXPECT_EQ(past_string(text + R"(,"x")", 0), text.size()) << text;
    for (const std::string open : {R"(")", R"("a)", R"("a\")", R"("\\\")"})
        EXPECT_GT(past_string(open, 0), open.size()) << open;
}

TEST(RawJson, ATextIsWhatItSays) {
    EXPECT_EQ(text_of_raw(R"("mcp__a__b")"), "mcp__a__b");
    EXPECT_EQ(text_of_raw(R"("a\u0062\"")"), "ab\"");
    EXPECT_EQ(text_of_raw(R"("")"), "");
    for (const auto* other : {"", "\"", "7", "null", "{}", "[\"a\"]", R"("\x")"})
        EXPECT_FALSE(text_of_raw(other)) << other;
}

TEST(RawJson, MembersComeInTheirOrderUntilTheyAreNotWanted) {
    std::vector<std::string> seen;
    const auto note = [&](std::string_view key, std::string_view value) {
        seen.push_back(std::string(key) + "=" + std::string(value));
        return key != "last";
    };
    each_of(R"("a" : {"x":[1,"]},"]} , "\u0062":"\\" ,"c":[ ],"last":1,"more":2)", note);
    EXPECT_EQ(seen,
              (std::vector<std::string>{R"(a={"x":[1,"]},"]})", R"(b="\\")", "c=[ ]", "last=1"}));
    seen.clear();
    for (const auto* none : {"", " ", "7", "{}", "\"a\"", "a:1"}) each_of(none, note);
    EXPECT_TRUE(seen.empty());
}

}  // namespace
}  // namespace patchbay::protocol
