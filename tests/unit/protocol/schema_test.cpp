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

struct Judged {
    const char* schema;
    std::vector<const char*> good, bad;
};

// Within "not" too, where no errors are kept: there the answer alone counts. A reference would lead
// elsewhere from there.
void expect_judged(const std::vector<Judged>& cases) {
    for (const auto& c : cases) {
        SCOPED_TRACE(c.schema);
        const auto inverted = std::string(R"({"not":)") + c.schema + "}";
        const bool refers = inverted.find('$') != std::string::npos;
        for (const auto* each : c.good) {
            EXPECT_TRUE(accepts(c.schema, each)) << each;
            EXPECT_FALSE(!refers && accepts(inverted.c_str(), each)) << each;
        }
        for (const auto* each : c.bad) {
            EXPECT_FALSE(accepts(c.schema, each)) << each;
            EXPECT_TRUE(refers || accepts(inverted.c_str(), each)) << each;
        }
    }
}

TEST(Schema, BoundsHoldUpToTheirLastValue) {
    expect_judged({
        {R"({"minimum":3})", {"3", "4"}, {"2", "2.9"}},
        {R"({"maximum":3})", {"3", "2"}, {"4", "3.1"}},
        {R"({"exclusiveMinimum":3})", {"3.1", "4"}, {"3", "2"}},
        {R"({"exclusiveMaximum":3})", {"2.9", "2"}, {"3", "4"}},
        {R"({"minLength":2})", {R"("ab")", R"("abc")", "1"}, {R"("a")"}},
        {R"({"maxLength":2})", {R"("ab")", R"("")", "[1,2,3]"}, {R"("abc")"}},
        {R"({"minItems":2})", {"[1,2]", "[1,2,3]", "{}"}, {"[1]"}},
        {R"({"maxItems":2})", {"[1,2]", "[]"}, {"[1,2,3]"}},
        {R"({"minProperties":1})", {R"({"a":1})", "[]"}, {"{}"}},
        {R"({"maxProperties":1})", {R"({"a":1})", "{}"}, {R"({"a":1,"b":2})"}},
        {R"({"contains":{"const":1}})", {"[1]", "[2,1]"}, {"[]", "[2]"}},
        {R"({"contains":{"const":1},"minContains":0})", {"[]", "[2]"}, {}},
        {R"({"contains":{"const":1},"maxContains":1})", {"[1,2]"}, {"[1,1]", "[2]"}},
        {R"({"minLength":1e300})", {}, {R"("a")"}},
        {R"({"maxLength":1e300})", {R"("a")"}, {}},
        {R"({"multipleOf":3})", {"9", "0", "-3", "9.0"}, {"10", "9.5"}},
        {R"({"multipleOf":0.01})", {"4.35", "1"}, {"4.355"}},
        {R"({"multipleOf":1e-8})", {"12391239123"}, {}},
        {R"({"multipleOf":9007199254740993})", {"9007199254740993"}, {"9007199254740992"}},
    });
}

// An unevaluated member or item is one that no keyword beside or below has judged.
TEST(Schema, KnowsWhatIsUnevaluated) {
    expect_judged({
        {R"({"contains":{"const":1},"unevaluatedItems":false})",
         {"[1,1]", R"({"a":1})"},
         {"[1,2]"}},
        {R"({"prefixItems":[true],"unevaluatedItems":{"type":"string"}})",
         {"[1]", R"([1,"a"])"},
         {"[1,2]", R"([1,"a",2])"}},
        {R"({"allOf":[{"unevaluatedItems":{"type":"integer"}}],"unevaluatedItems":false})",
         {"[1,2]"},
         {R"(["a"])"}},
        {R"({"allOf":[{"unevaluatedProperties":{"type":"integer"}}],"unevaluatedProperties":false})",
         {R"({"a":1})"},
         {R"({"a":"x"})"}},
        {R"({"properties":{"b":true},"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false})",
         {R"({"a":1,"b":2})", "[1]"},
         {R"({"a":1,"c":2})"}},
        {R"({"patternProperties":{"^x":true},"unevaluatedProperties":false})",
         {R"({"x1":1})"},
         {R"({"y":1})"}},
        {R"({"properties":{"a":true},"dependentSchemas":{"a":{"properties":{"b":true}}},
             "unevaluatedProperties":false})",
         {R"({"a":1,"b":2})"},
         {R"({"b":2})"}},
        {R"({"if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"properties":{"b":true}},
             "else":{"properties":{"c":true}},"unevaluatedProperties":false})",
         {R"({"a":1,"b":2})", R"({"c":1})"},
         {R"({"a":2})", R"({"a":1,"c":2})", R"({"b":2})"}},
        {R"({"oneOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},
                      {"properties":{"b":true},"required":["b"]}],"unevaluatedProperties":false})",
         {R"({"a":"x"})", R"({"b":1})"},
         {R"({"a":"x","c":1})", R"({"b":1,"a":2})"}},
        {R"({"anyOf":[{"properties":{"a":true}},{"properties":{"b":{"const":1}}}],
             "unevaluatedProperties":false})",
         {R"({"a":1,"b":1})"},
         {R"({"a":1,"b":2})"}},
        {R"({"not":{"not":{"properties":{"a":true}}},"unevaluatedProperties":false})",
         {"{}"},
         {R"({"a":1})"}},
        {R"({"$ref":"#/$defs/x","$defs":{"x":{"properties":{"a":true}}},"unevaluatedProperties":false})",
         {R"({"a":1})"},
         {R"({"b":1})"}},
        {R"({"properties":{"a":{"properties":{"b":true}}},"unevaluatedProperties":false})",
         {R"({"a":{"b":1,"c":2}})"},
         {R"({"b":1})"}},
    });
}

TEST(Schema, EqualIsWhatHasTheSameContent) {
    expect_judged({
        {R"({"uniqueItems":true})",
         {R"([{"a":1,"b":2},{"a":1}])", "[[1],[2]]", R"(["1",1])", "[[],{}]", "[0,false,null]",
          "[true,false]"},
         {R"([{"a":1,"b":2},{"b":2.0,"a":1}])", "[[1,[2]],[1,[2.0]]]", R"(["x","x"])",
          "[true,true]", "[null,1,null]"}},
        {R"({"uniqueItems":false})", {"[1,1]"}, {}},
        {R"({"const":{"a":[1,2]}})",
         {R"({"a":[1.0,2]})"},
         {R"({"a":[1]})", R"({"a":[2,1]})", R"({"a":[1,2],"b":0})", R"({"b":[1,2]})", "{}"}},
        {R"({"enum":["a",null]})", {R"("a")", "null"}, {R"("b")", "false"}},
    });
}

TEST(Schema, ReferencesLeadToAnyPlaceOfTheDocument) {
    expect_judged({
        {R"({"$ref":"#/$defs/a~0b","$defs":{"a~b":{"const":1}}})", {"1"}, {"2"}},
        {R"({"$ref":"#/$defs/a%20b","$defs":{"a b":{"const":1}}})", {"1"}, {"2"}},
        {R"({"$ref":"#/odd/1","odd":[7,{"const":1}]})", {"1"}, {"2"}},
        {R"({"$ref":"#/odd/x/y","odd":{"x":{"y":{"$ref":"#/$defs/z"}}},"$defs":{"z":{"const":1}}})",
         {"1"},
         {"2"}},
        {R"({"$id":"http://h/a/b/c","$ref":"../x/./y","$defs":{"d":{"$id":"http://h/a/x/y","const":1}}})",
         {"1"},
         {"2"}},
        {R"({"$id":"http://h/a","$ref":"?q","$defs":{"d":{"$id":"http://h/a?q","const":1}}})",
         {"1"},
         {"2"}},
        {R"({"$id":"http://h","$ref":"x","$defs":{"d":{"$id":"http://h/x","const":1}}})",
         {"1"},
         {"2"}},
        {R"({"$id":"http://h/a","$ref":"//g/x","$defs":{"d":{"$id":"http://g/x","const":1}}})",
         {"1"},
         {"2"}},
        {R"({"$id":"urn:a","$ref":"urn:b#n","$defs":{"d":{"$id":"urn:b","$defs":{"e":{"$anchor":"n","const":1}}}}})",
         {"1"},
         {"2"}},
        {R"({"$schema":"http://json-schema.org/draft-07/schema","properties":{"a":{"$ref":"#n"}},
             "definitions":{"d":{"$id":"#n","const":1}}})",
         {R"({"a":1})"},
         {R"({"a":2})"}},
        {R"({"$dynamicRef":"#d","$defs":{"d":{"$anchor":"d","const":1}}})", {"1"}, {"2"}},
        {R"({"$ref":"http://h/x/a","$defs":{"a":{"$id":"http://h/x/a","$ref":"b"},
             "b":{"$id":"http://h/x/b","const":1}}})",
         {"1"},
         {"2"}},
        {R"({"$ref":"#/$defs/d","const":1,"$defs":{"d":{"type":"integer"}}})", {"1"}, {"2"}},
        {R"({"$dynamicRef":"#d","$ref":"#/$defs/e","$defs":{"d":{"$anchor":"d","minimum":1},"e":{"maximum":2}}})",
         {"1", "2"},
         {"0", "3"}},
    });
    for (const char* nowhere :
         {R"({"$ref":"#/odd/2","odd":[7,{}]})", R"({"$ref":"#/odd/x","odd":[{}]})",
          R"({"$ref":"#/odd/","odd":[{}]})", R"({"$ref":"#/type/x","type":"object"})",
          R"({"$ref":"#gone"})", R"({"$ref":"#/$defs/a~b","$defs":{"a/b":{}}})"}) {
        const auto compiled = Schema::compile(json::parse(nowhere));
        ASSERT_FALSE(compiled) << nowhere;
        EXPECT_THAT(compiled.error().message, HasSubstr("does not point into this schema"));
    }
}

TEST(Schema, ADynamicReferenceMeansTheOutermostOfItsName) {
    // A list of anything, made a list of strings by whoever refers to it.
    expect_judged({{R"({"$id":"http://h/strings","$ref":"list","$defs":{
        "item":{"$dynamicAnchor":"item","type":"string"},
        "list":{"$id":"list","items":{"$dynamicRef":"#item"},
                "$defs":{"item":{"$dynamicAnchor":"item"}}}}})",
                    {R"(["a"])"},
                    {"[1]"}},
                   {R"({"$id":"http://h/strings","$ref":"list","$defs":{
        "item":{"$anchor":"item","type":"string"},
        "list":{"$id":"list","items":{"$dynamicRef":"#item"},
                "$defs":{"item":{"$dynamicAnchor":"item","type":"integer"}}}}})",
                    {"[1]"},
                    {R"(["a"])"}}});
}

TEST(Schema, EachAssertionSaysWhatItMisses) {
    const auto told = [](const char* schema, const char* instance) {
        std::string all;
        for (const auto& error :
             Schema::compile(json::parse(schema))->validate(json::parse(instance)))
            all += (all.empty() ? "" : "; ") + error.pointer + " " + error.message;
        return all;
    };
    const struct {
        const char *schema, *instance, *told;
    } cases[] = {
        {"false", "1", " nothing is allowed here"},
        {R"({"const":[1]})", "2", " expected [1]"},
        {R"({"enum":[1,"a"]})", "2", " expected one of [1,\"a\"]"},
        {R"({"minimum":3,"maximum":1})", "2", " must be at least 3;  must be at most 1"},
        {R"({"exclusiveMinimum":3,"exclusiveMaximum":1})", "2",
         " must be more than 3;  must be less than 1"},
        {R"({"multipleOf":2})", "3", " must be a multiple of 2"},
        {R"({"minLength":3,"pattern":"^b"})", R"("a")",
         " must have at least 3 characters;  must match ^b"},
        {R"({"maxItems":1,"items":{"type":"string"}})", "[1,2]",
         " must have at most 1 items; /0 expected string, got number; /1 expected string, got "
         "number"},
        {R"({"contains":{"const":1}})", "[2]",
         " must have at least 1 items that \"contains\" describes"},
        {R"({"required":["a","b"]})", "{}", " lacks \"a\";  lacks \"b\""},
        {R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})", " lacks \"b\", which \"a\" needs"},
        {R"({"propertyNames":{"maxLength":1}})", R"({"~/":1})",
         "/~0~1 is no allowed name of a property"},
        {R"({"additionalProperties":{"type":"string"}})", R"({"a":1})",
         "/a expected string, got number"},
        {R"({"oneOf":[{"minimum":1},{"minimum":2},{"maximum":0}]})", "3",
         " fits 2 of 3 alternatives, not exactly one (oneOf)"},
        {R"({"oneOf":[{"minimum":1},{"const":"a"}]})", "0",
         " fits none of 2 alternatives (oneOf): must be at least 1, or expected \"a\""},
        {R"({"anyOf":[{"minimum":1},{"const":"a"}]})", "0",
         " fits none of 2 alternatives (anyOf): must be at least 1, or expected \"a\""},
        {R"({"anyOf":[{"required":["a"]},{"required":["b","c"]},false]})", "{}",
         " fits none of 3 alternatives (anyOf): lacks \"a\", or lacks \"b\", or nothing is allowed "
         "here"},
        {R"({"items":{"oneOf":[{"required":["a"]},{"properties":{"b":{"minimum":1}}}]}})",
         R"([{"b":0}])",
         "/0 fits none of 2 alternatives (oneOf): lacks \"a\", or /b must be at least 1"},
        {R"({"oneOf":[{"properties":{"kind":{"const":"a"}},"required":["x"]},
                      {"properties":{"kind":{"enum":["b","c"]}},"required":["y"]}]})",
         R"({"kind":"c"})", " lacks \"y\""},
        {R"({"oneOf":[{"properties":{"kind":{"const":"a"}},"required":["x"]},
                      {"properties":{"kind":{"const":"b"}},"required":["y"]}]})",
         R"({"kind":"z"})",
         " fits none of 2 alternatives (oneOf): /kind expected \"a\", or /kind expected \"b\""},
        {R"({"anyOf":[{"type":"integer","minimum":1},{"type":"string"}]})", "0",
         " must be at least 1"},
        {R"({"anyOf":[{"type":"string"},{"const":1}]})", "0", " expected 1"},
        {R"({"not":{}})", "1", " is what it must not be (not)"},
        {R"({"type":"string","minimum":5,"allOf":[{"maximum":0}]})", "1",
         " expected string, got number;  must be at least 5;  must be at most 0"},
        {R"({"anyOf":[{"properties":{"a":{"type":"integer"}}}],"unevaluatedProperties":false})",
         R"({"a":"x"})", "/a expected integer, got string"},
        {R"({"type":["integer","number"]})", "null", " expected number, got null"},
        {R"({"if":{"type":"string"},"then":{"minLength":2},"else":{"minimum":2}})", R"("a")",
         " must have at least 2 characters"},
        {R"({"if":{"type":"string"},"then":{"minLength":2},"else":{"minimum":2}})", "1",
         " must be at least 2"},
        {R"({"not":{"properties":{"a":{"const":1}},"required":["a"]}})", R"({"a":2})", ""},
    };
    for (const auto& c : cases) EXPECT_EQ(told(c.schema, c.instance), c.told) << c.schema;
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
    for (const char* known :
         {"https://json-schema.org/draft/2020-12/schema",
          "https://json-schema.org/draft/2020-12/schema#",
          "https://json-schema.org/draft/2019-09/schema", "http://json-schema.org/draft-07/schema#",
          "https://json-schema.org/draft-06/schema"})
        EXPECT_TRUE(Schema::compile(json::object{{"$schema", known}})) << known;
    for (const char* unknown :
         {"", "#", "http://example.invalid/draft-07/schema", "draft-07/schema"})
        EXPECT_FALSE(Schema::compile(json::object{{"$schema", unknown}})) << unknown;
    EXPECT_FALSE(Schema::compile(json::parse(R"({"$schema":7})")));
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
        {R"({"enum":1})", "at #/enum: expected an array, got number"},
        {R"({"minimum":"1"})", "at #/minimum: expected a number, got string"},
        {R"({"uniqueItems":1})", "at #/uniqueItems: expected a boolean, got number"},
        {R"({"maxItems":1.5})", "at #/maxItems: expected a whole number from 0 up, got number"},
        {R"({"multipleOf":-1})", "at #/multipleOf: expected a number above 0"},
        {R"({"required":["a",1]})", "at #/required: expected an array of strings"},
        {R"({"dependentRequired":{"a":1}})", "at #/dependentRequired: expected an array of"},
        {R"({"$defs":{"a/~":1}})", "at #/$defs/a~1~0: a schema is an object or a boolean"},
        {R"({"allOf":[true,1]})", "at #/allOf/1: a schema is an object or a boolean, not number"},
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

TEST(Schema, KnowsTheEscapesOfEcma) {
    expect_judged({
        {R"({"pattern":"^\\u{1f600}$"})", {"\"\U0001f600\""}, {"\"u\""}},
        {R"({"pattern":"^\\u00e9\\d$"})", {"\"\u00e91\""}, {"\"e1\""}},
        {R"({"pattern":"^\\cJ$"})", {R"("\n")"}, {R"("J")", R"("c")"}},
        {R"({"pattern":"^\\ud7ff$"})", {"\"\ud7ff\""}, {"\"d\""}},
        {R"({"pattern":"^\\\\u0041$"})", {R"("\\u0041")"}, {R"("A")"}},
        {R"({"pattern":"a\\.b"})", {R"("xa.b")"}, {R"("aXb")"}},
    });
    for (const char* unchecked : {R"({"pattern":"\\ud800"})", R"({"pattern":"(?<=a)b"})",
                                  R"({"pattern":"(?<!a)b"})", R"({"pattern":"\\u{zz}"})"}) {
        const auto schema = Schema::compile(json::parse(unchecked));
        ASSERT_TRUE(schema);
        EXPECT_EQ(schema->notes().size(), 1u) << unchecked;
    }
}

TEST(Schema, WhatAdditionalPropertiesHasSeenIsNotUnevaluated) {
    const char* schema =
        R"({"properties":{"a":{}},"additionalProperties":{"type":"integer"},"unevaluatedProperties":false})";
    EXPECT_TRUE(accepts(schema, R"({"a":"x","b":2})"));
    EXPECT_FALSE(accepts(schema, R"({"b":"x"})"));
}

}  // namespace
}  // namespace patchbay::protocol
