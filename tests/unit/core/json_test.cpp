// The door for JSON text: its bounds, its words, and getters that take any shape.
#include "core/json_beside.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace patchbay::core {
namespace {

namespace json = boost::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string nested(std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
}

std::string object_of(std::size_t members) {
    std::string text = "{";
    for (std::size_t i = 0; i < members; ++i)
        text += (i ? ",\"k" : "\"k") + std::to_string(i) + "\":0";
    return text + "}";
}

Error error_of(const Result<json::value>& result) {
    return result ? Error{ErrorCode::Internal, "none"} : result.error();
}

TEST(JsonText, IsReadAsDeepAsAMessageMayBe) {
    EXPECT_TRUE(parse_json(nested(128)));
    const auto deep = error_of(parse_json(nested(129)));
    EXPECT_EQ(deep.code, ErrorCode::Limit);
    EXPECT_EQ(deep.message, "is nested deeper than 128 levels (limit json_depth)");
    EXPECT_FALSE(parse_json(nested(5), {.depth = 4}));
    EXPECT_TRUE(parse_json(nested(4), {.depth = 4}));
}

TEST(JsonText, IsOneValueAndNothingElse) {
    struct Case {
        const char *text, *message;
    };
    const Case cases[] = {{"", "is not valid JSON at byte 1: "},
                          {"{\"a\":", "is not valid JSON at byte 6: "},
                          {"{\"a\":1} x", "is not valid JSON at byte 9: more than one value"},
                          {"\"\xff\"", "is not valid UTF-8 at byte 2"},
                          {"[\"\u00e4\", \"\xc3\"]", "is not valid UTF-8 at byte 9"},
                          {"[} \xff", "is not valid JSON at byte 2: "},
                          {"// no comments\n1", "is not valid JSON at byte"}};
    for (const auto& c : cases) {
        const auto error = error_of(parse_json(c.text));
        EXPECT_THAT(error.message, HasSubstr(c.message)) << c.text;
        EXPECT_EQ(error.code, ErrorCode::Protocol) << c.text;
    }
    EXPECT_FALSE(parse_json({}));
    EXPECT_EQ(json::serialize(*parse_json(" {\"a\":[1,-2.5,true,null,\"\\u00e9\"]} \n")),
              "{\"a\":[1,-2.5E0,true,null,\"\u00e9\"]}");
}

TEST(JsonText, KeepsTheLastOfEqualKeysUnlessTheyAreRefused) {
    EXPECT_EQ(*parse_json("{\"a\":1,\"a\":2}"), json::value({{"a", 2}}));
    for (const char* text : {"{\"a\":1,\"a\":2}", "[{\"b\":{\"a\":{},\"\\u0061\":1}}]"}) {
        const auto error = error_of(parse_json(text, {.unique_keys = true}));
        EXPECT_EQ(error.message, "has the key \"a\" twice in one object");
        EXPECT_EQ(error.code, ErrorCode::Invalid);
    }
    EXPECT_EQ(error_of(parse_json("{\"\":1,\"\":2}", {.unique_keys = true})).code,
              ErrorCode::Invalid);
    EXPECT_TRUE(
        parse_json("{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":1}]}", {.unique_keys = true}));
}

TEST(JsonText, BoundsTheWorkThatMembersMayCause) {
    EXPECT_TRUE(parse_json(object_of(8'192)));
    const auto crowded = error_of(parse_json(object_of(8'193)));
    EXPECT_EQ(crowded.code, ErrorCode::Limit);
    EXPECT_THAT(crowded.message, AllOf(HasSubstr("one object may have 8192"),
                                       HasSubstr("no setting changes that, its sender must say it "
                                                 "in smaller parts"),
                                       Not(HasSubstr("limit "))));
    // Many objects of a few members are no crowd; many large ones are, one by one below the bound.
    std::string small = "[0", large = "[0";
    for (int i = 0; i < 20'000; ++i) small += ",{\"a\":0,\"b\":0,\"c\":0}";
    for (int i = 0; i < 5; ++i) large += "," + object_of(4'096);
    EXPECT_TRUE(parse_json(small + "]"));
    EXPECT_EQ(error_of(parse_json(large + "]")).code, ErrorCode::Limit);
    EXPECT_TRUE(parse_json(object_of(100), {.crowding = 10'000}));
    EXPECT_FALSE(parse_json(object_of(101), {.crowding = 10'000}));
    EXPECT_TRUE(parse_json(object_of(18), {.crowding = 1})) << "these are searched one by one";
    EXPECT_FALSE(parse_json(object_of(19), {.crowding = 1}));
}

TEST(JsonText, BoundsHowManyValuesThereMayBe) {
    EXPECT_TRUE(
        parse_json(R"({"a":[1,-2,1.5,18446744073709551615,"x",true,null]})", {.values = 9}));
    for (const char* text : {"[1,1]", "[-2,1]", "[1.5,1]", R"(["x",1])", "[true,1]", "[null,1]",
                             "[[],1]", "[{},1]", "[18446744073709551615,1]"}) {
        EXPECT_TRUE(parse_json(text, {.values = 3})) << text;
        const auto refused = parse_json(text, {.values = 2});
        ASSERT_FALSE(refused) << text;
        EXPECT_EQ(refused.error().code, ErrorCode::Limit);
        EXPECT_THAT(refused.error().message, HasSubstr("has more than 2 values"));
    }
    std::string many = "[";
    for (int i = 0; i < 1'000'000; ++i) many += "0,";
    many.back() = ']';
    EXPECT_FALSE(parse_json(many)) << "a server's, of which a tree takes thirty times the room";
    EXPECT_TRUE(parse_json(many, {.values = kAnyNumberOfValues}));
}

TEST(JsonText, WhoKeepsTheTextReadsOnBesideANumberThatNoTypeHolds) {
    const auto read = read_json_object(R"({"a":1E400,"b":[-1e999],"c":"text"})");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(text_in(&*read, "c"), "text");
    EXPECT_EQ(number_in(&*read, "a"), std::numeric_limits<double>::max());
    EXPECT_FALSE(read_json_object("[1E400]"));
    EXPECT_FALSE(read_json_object(R"({"a":1E)"));
}

TEST(JsonText, HoldsOnlyNumbersThatCanBeWrittenAgain) {
    for (const char* text : {"1e999", "[-1e400]", R"({"a":{"b":1e309}})"}) {
        const auto parsed = parse_json(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().code, ErrorCode::Limit);
        EXPECT_THAT(parsed.error().message, HasSubstr("beyond 1.8e308"));
    }
    for (const char* text : {"1e308", "-1.7976931348623157e308", "1e-999"}) {
        const auto parsed = parse_json(text);
        ASSERT_TRUE(parsed) << text;
        EXPECT_TRUE(parse_json(boost::json::serialize(*parsed))) << text;
    }
    for (const char* zero : {"0e320", "-0e999", "0.0e400"}) {
        const auto parsed = parse_json(zero);
        ASSERT_TRUE(parsed) << zero;
        EXPECT_EQ(*parsed, 0.0) << zero;
    }
}

TEST(JsonGetters, TakeAnyShape) {
    const auto object = parse_json_object(
        R"({"text":"a","one":1.0,"half":1.5,"big":9223372036854775808,"huge":1e308,"low":-1e308,)"
        R"("edge":-9223372036854775808,"flag":false,"list":[],"object":{}})");
    ASSERT_TRUE(object);
    const auto* o = &*object;
    EXPECT_EQ(text_in(o, "text"), "a");
    EXPECT_EQ(text_in(o, "one"), std::nullopt);
    EXPECT_EQ(text_in(o, "none"), std::nullopt);
    EXPECT_EQ(text_in(nullptr, "text"), std::nullopt);
    EXPECT_EQ(flag_in(o, "flag"), false);
    EXPECT_EQ(flag_in(o, "text"), std::nullopt);
    EXPECT_EQ(integer_in(o, "one"), 1);
    EXPECT_EQ(integer_in(o, "edge"), std::numeric_limits<std::int64_t>::min());
    for (const char* key : {"half", "big", "huge", "low", "text", "none"})
        EXPECT_EQ(integer_in(o, key), std::nullopt) << key;
    EXPECT_EQ(number_in(o, "half"), 1.5);
    EXPECT_EQ(number_in(o, "big"), 9223372036854775808.0);
    EXPECT_EQ(number_in(o, "list"), std::nullopt);
    EXPECT_TRUE(array_in(o, "list"));
    EXPECT_FALSE(array_in(o, "object"));
    EXPECT_TRUE(object_in(o, "object"));
    EXPECT_FALSE(object_in(o, "list"));
    EXPECT_FALSE(object_in(nullptr, "object"));
    EXPECT_FALSE(parse_json_object("[]"));
}

TEST(JsonCost, IsThatOfTheValuesOrOfTheTextWhicheverIsMore) {
    const std::pair<const char*, std::size_t> texts[] = {
        {"", 1},
        {"1", 1},
        {"[]", 2},
        {"[1,2]", 3},
        {R"({"a":{},"b":[]})", 5},
        {R"(["a",1,["b"]])", 5},
        {R"(["[,{","abc",1])", 4},
        {R"(["\"[[[","\\",1])", 4},
    };
    for (const auto& [text, values] : texts)
        EXPECT_EQ(json_cost(text), values * kValueBytes) << text;
    EXPECT_EQ(json_cost(std::string(1000, ' ') + "[1]"), 1003u);
}

TEST(JsonPointer, ATokenOfAKeyLeadsBackToIt) {
    EXPECT_EQ(pointer_token("a/b~c"), "/a~1b~0c");
    EXPECT_EQ(pointer_token(""), "/");
    for (const std::string key : {"", "plain", "a/b", "~", "~1", "~01", "/~/"})
        EXPECT_EQ(key_of_pointer_token(pointer_token(key).substr(1)), key);
    EXPECT_EQ(key_of_pointer_token("~2~"), "~2~") << "no escape, and kept as it is";
}

TEST(Json, IsCheckedAsItIsParsed) {
    const std::string texts[] = {
        R"({"a": [1, {"b": "\u00e9"}, null]})",
        "{}",
        "[]",
        "",
        "{\"a\": 1e999}",
        "{\"a\": \"\xff\"}",
        "{\"a\": 1} 2",
        "{\"a\":" + std::string(1'000, '[') + std::string(1'000, ']') + "}",
        "{\"a\": \"" + std::string(100'000, 'x') + "\"}"};
    for (const auto& text : texts) {
        SCOPED_TRACE(text.substr(0, 40));
        const auto parsed = parse_json_object(text);
        const auto checked = check_json_object(text);
        ASSERT_EQ(checked.has_value(), parsed.has_value());
        if (!parsed) EXPECT_EQ(checked.error().message, parsed.error().message);
    }
}

}  // namespace
}  // namespace patchbay::core
