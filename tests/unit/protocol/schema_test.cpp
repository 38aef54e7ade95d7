#include "protocol/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::protocol {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

bool accepts(const char* schema, const char* instance) {
    const auto compiled = Schema::compile(json::parse(schema));
    EXPECT_TRUE(compiled) << compiled.error().message;
    return compiled && compiled->validate(json::parse(instance)).empty();
}

TEST(Schema, AcceptsAndRefusesAsTheDraftSays) {
    struct Case {
        const char *schema, *good, *bad;
    };
    const Case cases[] = {
        {R"({"type":"integer"})", "1.0", "1.5"},
        {R"({"type":["string","null"]})", "null", "1"},
        {R"({"enum":[1,"a",{"b":[1]}]})", R"({"b":[1.0]})", R"({"b":[2]})"},
        {R"({"const":0})", "0.0", "false"},
        {R"({"minimum":3,"exclusiveMaximum":5})", "3", "5"},
        {R"({"multipleOf":0.1})", "0.3", "0.35"},
        {R"({"minLength":2,"maxLength":2})", R"("üü")", R"("ü")"},
        {R"({"pattern":"^a+$"})", R"("aa")", R"("ab")"},
        {R"({"prefixItems":[{"type":"string"}],"items":{"type":"integer"}})", R"(["a",1])",
         R"(["a","b"])"},
        {R"({"items":[{"type":"string"}],"additionalItems":false})", R"(["a"])", R"(["a",1])"},
        {R"({"contains":{"const":1},"minContains":2})", "[1,1]", "[1,2]"},
        {R"({"uniqueItems":true})", "[1,true]", "[1,1.0]"},
        {R"({"required":["a"]})", R"({"a":1})", R"({"b":1})"},
        {R"({"properties":{"a":{"type":"string"}},"additionalProperties":false})", R"({"a":"x"})",
         R"({"b":"x"})"},
        {R"({"patternProperties":{"^x":{"type":"integer"}},"additionalProperties":false})",
         R"({"xa":1})", R"({"xa":"1"})"},
        {R"({"propertyNames":{"maxLength":1}})", R"({"a":1})", R"({"ab":1})"},
        {R"({"dependentRequired":{"a":["b"]}})", R"({"a":1,"b":2})", R"({"a":1})"},
        {R"({"dependentSchemas":{"a":{"required":["c"]}}})", R"({"a":1,"c":2})", R"({"a":1})"},
        {R"({"allOf":[{"minimum":1},{"maximum":2}]})", "2", "3"},
        {R"({"anyOf":[{"type":"string"},{"minimum":5}]})", "5", "4"},
        {R"({"oneOf":[{"minimum":1},{"minimum":5}]})", "2", "6"},
        {R"({"not":{"type":"string"}})", "1", R"("a")"},
        {R"({"if":{"type":"integer"},"then":{"minimum":5},"else":{"type":"string"}})", "7", "3"},
        {R"({"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"string"}}})", R"("x")", "1"},
        {R"({"$ref":"#here","$defs":{"x":{"$anchor":"here","type":"string"}}})", R"("x")", "1"},
        {R"({"properties":{"child":{"$ref":"#"}},"additionalProperties":false})",
         R"({"child":{"child":{}}})", R"({"child":{"chld":1}})"},
        {R"({"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","minimum":5,
             "definitions":{"a":{"type":"integer"}}})",
         "1", "1.5"},
        {R"({"dependencies":{"a":["b"],"c":{"required":["d"]}}})", R"({"a":1,"b":1})",
         R"({"c":1})"},
        {R"({"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false})", R"({"a":1})",
         R"({"b":1})"},
        {R"({"anyOf":[{"prefixItems":[{"const":1}]},{"prefixItems":[true,{"const":2}]}],
             "unevaluatedItems":false})",
         "[1,2]", "[1,3]"},
        {R"({"$id":"tree","$dynamicAnchor":"node","properties":{"kids":{"items":{"$dynamicRef":"#node"}}},
             "required":["v"]})",
         R"({"v":1,"kids":[{"v":2}]})", R"({"v":1,"kids":[{}]})"},
        {R"({"$id":"http://a/b/c","$ref":"../d#x","$defs":{"d":{"$id":"/d","$anchor":"x","type":"null"}}})",
         "null", "1"},
        {R"({"$ref":"#/odd/0","odd":[{"type":"null"}]})", "null", "1"},
        {R"({"minimum":9007199254740993})", "9007199254740993", "9007199254740992"},
        {R"({"maximum":18446744073709551615})", "18446744073709551615", "1e20"},
        {R"({"pattern":"^\\u0041(?<more>\\d)$"})", R"("A1")", R"("B1")"},
        {R"(true)", "1", nullptr},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.schema);
        EXPECT_TRUE(accepts(c.schema, c.good)) << c.good;
        if (c.bad) {
            EXPECT_FALSE(accepts(c.schema, c.bad)) << c.bad;
        }
    }
    EXPECT_FALSE(accepts("false", "1"));
}

TEST(Schema, SaysWhereAndWhat) {
    const auto schema =
        Schema::compile(json::parse(R"({"properties":{"a/b":{"items":{"type":"integer"}}}})"));
    const auto errors = schema->validate(json::parse(R"({"a/b":[1,"x"]})"));
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].pointer, "/a~1b/1");
    EXPECT_EQ(errors[0].message, "expected integer, got string");
}

TEST(Schema, FetchesNothingAndKnowsItsDialects) {
    EXPECT_THAT(Schema::compile(json::parse(R"({"$ref":"https://example.invalid/x.json"})"))
                    .error()
                    .message,
                HasSubstr("never fetched"));
    EXPECT_THAT(
        Schema::compile(json::parse(R"({"$schema":"http://json-schema.org/draft-04/schema#"})"))
            .error()
            .message,
        HasSubstr("not supported"));
    EXPECT_FALSE(Schema::compile(json::parse(R"({"properties":{"a":1}})")));
    EXPECT_FALSE(Schema::compile(json::parse("[]")));
}

TEST(Schema, SaysWhichAlternativeWasMeant) {
    const auto told = [](const char* schema, const char* instance) {
        const auto errors = Schema::compile(json::parse(schema))->validate(json::parse(instance));
        return errors.empty() ? "" : errors.front().pointer + " " + errors.front().message;
    };
    EXPECT_EQ(told(R"({"anyOf":[{"type":"string"},{"type":"null"}]})", "1"),
              " expected null or string, got number");
    EXPECT_EQ(told(R"({"anyOf":[{"type":"object","required":["a"]},{"type":"null"}]})", "{}"),
              " lacks \"a\"");
    EXPECT_EQ(told(R"({"properties":{"path":{}},"unevaluatedProperties":false})", R"({"pth":1})"),
              "/pth is not a known property; did you mean \"path\"?");
}

TEST(Schema, RefusesKeywordsThatMakeNoSense) {
    const std::pair<const char*, const char*> cases[] = {
        {R"({"type":"strng"})", R"(at #/type: unknown type "strng"; did you mean "string"?)"},
        {R"({"properties":{"a":{"minLength":-1}}})",
         "at #/properties/a/minLength: expected a whole number from 0 up, got number"},
        {R"({"required":"a"})", "at #/required: expected an array of strings"},
        {R"({"properties":[]})", "at #/properties: expected an object, got array"},
        {R"({"allOf":{}})", "at #/allOf: expected an array of schemas, got object"},
        {R"({"multipleOf":0})", "at #/multipleOf: expected a number above 0"},
        {R"({"pattern":1})", "at #/pattern: expected a string, got number"},
        {R"({"dependencies":{"a":{"$ref":"#/gone"}}})",
         "at #/dependencies/a/$ref: \"#/gone\" does not"},
        {R"({"$ref":"#/enum/0","enum":[7]})",
         "at #/enum/0: a schema is an object or a boolean, not number"},
    };
    for (const auto& [schema, message] : cases) {
        SCOPED_TRACE(schema);
        const auto compiled = Schema::compile(json::parse(schema));
        ASSERT_FALSE(compiled);
        EXPECT_THAT(compiled.error().message, HasSubstr(message));
    }
}

TEST(Schema, APatternItCannotCheckIsNamedAndNotHeldAgainstAnybody) {
    const auto schema = Schema::compile(json::parse(R"({"pattern":"(?=x)y"})"));
    ASSERT_TRUE(schema);
    EXPECT_EQ(schema->notes().size(), 1u);
    EXPECT_TRUE(schema->validate("anything").empty());
}

TEST(Schema, KnowsUnicodePropertiesByTheNamesOfEcma) {
    struct Case {
        const char *pattern, *good, *bad;
    };
    const Case cases[] = {
        {R"(^\\p{Letter}+$)", "\"a\u00e9\"", "\"a1\""},
        {R"(^\\p{General_Category=Uppercase_Letter}$)", "\"A\"", "\"a\""},
        {R"(^[\\p{gc=Nd}_]+$)", "\"1_\"", "\"a\""},
        {R"(^\\P{Letter}$)", "\"1\"", "\"a\""},
        {R"(^\\p{Script=Greek}\\p{sc=Latin}$)", "\"\u03b1a\"", "\"aa\""},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.pattern);
        const auto text = std::string(R"({"pattern":")") + c.pattern + "\"}";
        const auto schema = Schema::compile(json::parse(text));
        ASSERT_TRUE(schema);
        EXPECT_TRUE(schema->notes().empty());
        EXPECT_TRUE(schema->validate(json::parse(c.good)).empty());
        EXPECT_FALSE(schema->validate(json::parse(c.bad)).empty());
    }
    const auto unknown = Schema::compile(json::parse(R"({"pattern":"\\p{Nonsense}"})"));
    ASSERT_TRUE(unknown);
    EXPECT_EQ(unknown->notes().size(), 1u);
}

TEST(Schema, WhatAdditionalPropertiesHasSeenIsNotUnevaluated) {
    const char* schema =
        R"({"properties":{"a":{}},"additionalProperties":{"type":"integer"},"unevaluatedProperties":false})";
    EXPECT_TRUE(accepts(schema, R"({"a":"x","b":2})"));
    EXPECT_FALSE(accepts(schema, R"({"b":"x"})"));
}

TEST(Schema, EndsInBoundedTimeWhateverTheSchema) {
    EXPECT_FALSE(accepts(R"({"$ref":"#"})", "1"));
    std::string doubling = R"({"$defs":{"a0":{"not":{}})";
    for (int i = 1; i < 60; ++i) {
        const auto below = std::to_string(i - 1);
        doubling += ",\"a" + std::to_string(i) + R"(":{"anyOf":[{"$ref":"#/$defs/a)" + below +
                    R"("},{"$ref":"#/$defs/a)" + below + "\"}]}";
    }
    doubling += R"(},"$ref":"#/$defs/a59"})";
    EXPECT_FALSE(accepts(doubling.c_str(), "1"));
}

TEST(Schema, BoundsItsOwnSize) {
    json::value nested = json::object();
    for (int i = 0; i < 200; ++i) nested = json::object{{"not", std::move(nested)}};
    EXPECT_EQ(Schema::compile(nested).error().code, ErrorCode::Limit);
    EXPECT_EQ(
        Schema::compile(json::object{{"allOf", json::array(30'000, json::object())}}).error().code,
        ErrorCode::Limit);
}

TEST(Schema, ChecksLargeListsForDuplicatesInLinearTime) {
    const auto schema = *Schema::compile(json::parse(R"({"uniqueItems":true})"));
    json::array many;
    for (int i = 0; i < 100'000; ++i) many.emplace_back(i);
    EXPECT_TRUE(schema.validate(many).empty());
    many.emplace_back(7.0);
    EXPECT_EQ(schema.validate(many).front().message, "items 7 and 100000 are the same");
}

TEST(Schema, TellsSoMuchAndNoMore) {
    const auto schema = *Schema::compile(json::parse(R"({"items":false})"));
    EXPECT_EQ(schema.validate(json::array(1000, 1)).size(), Schema::kErrors);
}

}  // namespace
}  // namespace patchbay::protocol
