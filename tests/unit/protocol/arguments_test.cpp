#include "protocol/arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::protocol {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Arguments, GetTheTypeThatTheSchemaNames) {
    const auto schema = json::parse(
        R"({"properties":{"n":{"type":"integer"},"x":{"type":"number"},"b":{"type":"boolean"},
        "s":{"type":"string"},"l":{"type":"array"},"o":{"anyOf":[{"type":"integer"},{"type":"null"}]},"any":{}}})");
    EXPECT_EQ(*coerce_argument(schema, "n", "7"), 7);
    EXPECT_EQ(*coerce_argument(schema, "x", "1.5"), 1.5);
    EXPECT_EQ(*coerce_argument(schema, "b", "true"), true);
    EXPECT_EQ(*coerce_argument(schema, "s", "7"), "7") << "a string stays one";
    EXPECT_EQ(*coerce_argument(schema, "l", "[1]"), json::parse("[1]"));
    EXPECT_EQ(*coerce_argument(schema, "o", "null"), nullptr);
    EXPECT_EQ(*coerce_argument(schema, "any", "text"), "text");
    EXPECT_EQ(coerce_argument(schema, "n", "abc").error().message,
              R"(argument "n": "abc" is not an integer)");
}

TEST(Arguments, OfATypeThatThereIsNotAreReadAsOfNone) {
    const auto schema =
        json::parse(R"({"properties":{"x":{"type":"strng"},"n":{"type":["nmber","integer"]}}})");
    EXPECT_EQ(*coerce_argument(schema, "x", "a b"), "a b");
    EXPECT_EQ(*coerce_argument(schema, "x", "1"), 1);
    EXPECT_FALSE(coerce_argument(schema, "n", "a"));
}

TEST(Arguments, FollowChoicesAndReferencesOfTheirSchema) {
    const auto schema = json::parse(
        R"({"$defs":{"level":{"type":"integer"},"loop":{"anyOf":[{"$ref":"#/$defs/loop"},{"$ref":"#/$defs/loop"}]}},
        "properties":{"level":{"allOf":[{"$ref":"#/$defs/level"}]},"loop":{"$ref":"#/$defs/loop"},
        "version":{"enum":["1","2"]},"either":{"type":["string","integer"]},"size":{"type":"integer"}}})");
    EXPECT_EQ(*coerce_argument(schema, "level", "3"), 3);
    EXPECT_FALSE(coerce_argument(schema, "level", "high"));
    EXPECT_EQ(*coerce_argument(schema, "version", "1"), "1");
    EXPECT_EQ(*coerce_argument(schema, "either", "x"), "x");
    EXPECT_EQ(*coerce_argument(schema, "either", "7"), 7);
    EXPECT_EQ(json::serialize(*coerce_argument(schema, "size", "2.0")), "2");
    EXPECT_EQ(*coerce_argument(schema, "loop", "7"), 7) << "ends, though the schema does not";
}

TEST(Arguments, OfEachTypeAreReadAsThatTypeOnly) {
    struct Case {
        const char *type, *text, *read;  // nullptr: refused
    };
    const Case cases[] = {
        {R"("integer")", "18446744073709551615", "18446744073709551615"},
        {R"("integer")", "-2.0", "-2"},
        {R"("integer")", "9007199254740992.0", "9007199254740992"},
        {R"("integer")", "9007199254740994.0", "9.007199254740994E15"},
        {R"("integer")", "2.5", nullptr},
        {R"("integer")", "true", nullptr},
        {R"("number")", "2.0", "2E0"},
        {R"("number")", "7", "7"},
        {R"("number")", "\"7\"", nullptr},
        {R"("boolean")", "false", "false"},
        {R"("boolean")", "1", nullptr},
        {R"("null")", "null", "null"},
        {R"("null")", "0", nullptr},
        {R"("array")", "{}", nullptr},
        {R"("object")", R"({"a":1})", R"({"a":1})"},
        {R"("object")", "[]", nullptr},
        {R"("weird")", "1", "1"},
        {R"(["null","string"])", "null", "null"},
        {R"(["null","string"])", "nul", R"("nul")"},
        {R"(["integer","boolean"])", "true", "true"},
        {R"(["integer","boolean"])", "x", nullptr},
        {R"([7])", "7", "7"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(std::string(c.type) + " " + c.text);
        const auto schema =
            json::parse(std::string(R"({"properties":{"x":{"type":)") + c.type + "}}}");
        const auto value = coerce_argument(schema, "x", c.text);
        EXPECT_EQ(value ? json::serialize(*value) : "refused", c.read ? c.read : "refused");
    }
    const auto message = [](const char* type) {
        return coerce_argument(json::object{{"properties", {{"x", {{"type", json::parse(type)}}}}}},
                               "x", "?")
            .error()
            .message;
    };
    EXPECT_THAT(message(R"("boolean")"), HasSubstr("is not a boolean"));
    EXPECT_THAT(message(R"("array")"), HasSubstr("is not an array"));
    EXPECT_THAT(message(R"(["integer","boolean","integer"])"),
                HasSubstr("is not an integer or boolean"));
}

TEST(Arguments, AreChosenFromWhatTheirSchemaLists) {
    const auto schema = json::parse(
        R"({"properties":{"one":{"const":"5"},"any":{"anyOf":[{"enum":["7"]},{"type":"integer"}]},
        "foreign":{"$ref":"other.json#/x"},"gone":{"$ref":"#/$defs/gone"}}})");
    EXPECT_EQ(*coerce_argument(schema, "one", "5"), "5");
    EXPECT_EQ(*coerce_argument(schema, "one", "6"), 6) << "refused when it is checked";
    EXPECT_EQ(*coerce_argument(schema, "any", "7"), "7");
    EXPECT_EQ(*coerce_argument(schema, "any", "8"), 8);
    EXPECT_EQ(*coerce_argument(schema, "foreign", "9"), 9);
    EXPECT_EQ(*coerce_argument(schema, "gone", "x"), "x");
    EXPECT_EQ(*coerce_argument(schema, "unknown", "[1]"), json::parse("[1]"));
    EXPECT_EQ(*coerce_argument("no schema", "x", "1"), 1);
}

TEST(Arguments, AreReadBySoManyPlacesOfTheirSchemaAndNoMore) {
    const auto integer_at = [](std::size_t place) {  // the property itself is the first
        json::array places(place - 2, json::object());
        places.push_back(json::object{{"type", "integer"}});
        return json::value{{"properties", {{"x", {{"anyOf", std::move(places)}}}}}};
    };
    EXPECT_FALSE(coerce_argument(integer_at(256), "x", "text"));
    EXPECT_EQ(*coerce_argument(integer_at(257), "x", "text"), "text");
}

TEST(Arguments, AreCheckedBeforeTheyAreSent) {
    const auto schema = json::parse(
        R"({"properties":{"path":{"type":"string"},"head":{"type":"number"}},"required":["path"]})");
    EXPECT_TRUE(check_arguments(schema, {{"path", "a"}}).empty());
    EXPECT_THAT(check_arguments(schema, {{"pth", "a"}}),
                ElementsAre(HasSubstr(R"(unknown argument "pth"; did you mean "path"?)"),
                            HasSubstr(R"(missing argument "path")")));
    EXPECT_THAT(check_arguments(schema, {{"path", 1}}),
                ElementsAre(R"(argument "path": expected string, got number)"));
}

TEST(Arguments, MayHaveNamesThatTheSchemaLeavesOpen) {
    const auto open = json::parse(R"({"properties":{"path":{"type":"string"}}})");
    EXPECT_TRUE(check_arguments(open, {{"path", "a"}, {"pth", 1}, {"other", 2}}).empty());
    EXPECT_THAT(check_arguments(open, {{"path", 1}, {"other", 2}}),
                ElementsAre(R"(argument "path": expected string, got number)"));
}

TEST(Arguments, WhatIsNotCheckedIsSaid) {
    EXPECT_TRUE(unchecked_in(json::parse(R"({"properties":{"a":{"pattern":"^a"}}})")).empty());
    EXPECT_THAT(unchecked_in(json::parse(R"({"properties":{"a":{"pattern":"(?=x)y"}}})")),
                ElementsAre(HasSubstr("is not checked")));
    const auto foreign = json::parse(
        R"({"properties":{"a":{"$ref":"https://json-schema.org/draft/2020-12/schema"}}})");
    EXPECT_TRUE(check_arguments(foreign, {{"a", 7}}).empty());
    EXPECT_THAT(unchecked_in(foreign), ElementsAre(HasSubstr("its schema cannot be used")));
}

TEST(Undeclared, ArgumentsAreToldWhereTheSchemaWouldNameThem) {
    const auto told = [](const char* schema) {
        return undeclared_in({{"count", 1}, {"cuont", 3}}, json::parse(schema));
    };
    EXPECT_THAT(told(R"({"properties":{"count":{}}})"),
                ElementsAre("\"cuont\" is sent, though its schema does not name it; did you mean "
                            "\"count\"?"));
    for (const char* open :
         {R"({"properties":{"count":{}},"additionalProperties":true})", R"({"properties":{}})",
          "{}", R"({"properties":{"count":{}},"patternProperties":{"^c":{}}})", "true",
          R"({"properties":{"count":{}},"allOf":[{"properties":{"cuont":{}}}]})"})
        EXPECT_THAT(told(open), testing::IsEmpty()) << open;
    json::object many;
    for (int i = 0; i < 100; ++i) many[std::to_string(i)] = i;
    EXPECT_EQ(undeclared_in(many, json::parse(R"({"properties":{"a":{}}})")).size(), 10u);
}

TEST(Arguments, UnknownNamesAreToldWhereTheSchemaListsTheKnownOnes) {
    const auto told = [](const char* schema) {
        return check_arguments(json::parse(schema), {{"a/b", 1}});
    };
    EXPECT_THAT(told(R"({"type":"object","properties":{},"additionalProperties":false})"),
                ElementsAre(R"(unknown argument "a/b"; it takes none)"));
    EXPECT_THAT(told(R"({"properties":{"x":{}},"additionalProperties":false})"),
                ElementsAre(R"(unknown argument "a/b"; known: x)"));
    EXPECT_THAT(check_arguments(json::parse(R"({"properties":{"x":{}},"required":["y"]})"),
                                {{"a/b", 1}, {"other", 2}}),
                ElementsAre("missing argument \"y\""))
        << "what is allowed is told only when it is near";
    EXPECT_THAT(check_arguments(json::parse(R"({"additionalProperties":false})"), {{"~a/b", 1}}),
                ElementsAre(R"(unknown argument "~a/b"; it takes none)"));
    EXPECT_THAT(told(R"({"properties":{"x":{}},"additionalProperties":false,"allOf":[true]})"),
                ElementsAre(HasSubstr("argument \"a~1b\": is not a known property")))
        << "who knows what the other keywords allow";
    for (const char* open :
         {R"({"type":"object"})", R"({"properties":{"x":{}},"additionalProperties":true})",
          R"({"properties":{"x":{}},"allOf":[{"properties":{"a/b":{}}}]})", "true"}) {
        EXPECT_TRUE(told(open).empty()) << open;
    }
}

TEST(ElicitationDefaults, FillWhatIsRequired) {
    const auto schema = json::parse(
        R"({"properties":{"name":{"type":"string","default":"x"},"age":{"type":"integer","minimum":18},
        "colour":{"type":"string","enum":["red","blue"]},"ok":{"type":"boolean"},"free":{"type":"string"}},
        "required":["name","age","colour","ok"]})");
    EXPECT_EQ(*defaults_for(schema),
              json::parse(R"({"name":"x","age":18,"colour":"red","ok":false})").get_object());
    EXPECT_FALSE(defaults_for(
        json::parse(R"({"properties":{"free":{"type":"string"}},"required":["free"]})")));
}

TEST(ElicitationDefaults, ChooseFromEveryKindOfList) {
    const auto schema = json::parse(R"({"properties":{
        "titled":{"type":"string","oneOf":[{"const":"#f00","title":"Red"},{"const":"#0f0","title":"Green"}]},
        "two":{"type":"array","minItems":2,"items":{"type":"string","enum":["a","b","c"]}},
        "one":{"type":"array","minItems":1,"items":{"anyOf":[{"const":"x","title":"X"},{"const":"y"}]}},
        "any":{"type":"array","items":{"type":"string","enum":["a"]}},
        "above":{"type":"integer","exclusiveMinimum":2.5},
        "debt":{"type":"number","maximum":-3}},
        "required":["titled","two","one","any","above","debt"]})");
    EXPECT_EQ(*defaults_for(schema), json::parse(R"({"titled":"#f00","two":["a","b"],"one":["x"],
        "any":[],"above":3,"debt":-3})")
                                         .get_object());
}

TEST(ElicitationDefaults, AreTheLeastNumberThatFits) {
    const auto first = [](const char* property) {
        const auto answer = defaults_for(json::parse(std::string(R"({"properties":{"n":)") +
                                                     property + R"(},"required":["n"]})"));
        return answer ? json::serialize(answer->at("n")) : answer.error().message;
    };
    EXPECT_EQ(first(R"({"type":"integer"})"), "0");
    EXPECT_EQ(first(R"({"type":"integer","minimum":2.5})"), "3");
    EXPECT_EQ(first(R"({"type":"number","minimum":2.5})"), "2.5E0");
    EXPECT_EQ(first(R"({"type":"integer","exclusiveMinimum":4})"), "5");
    EXPECT_EQ(first(R"({"type":"integer","maximum":9})"), "0");
    EXPECT_EQ(first(R"({"type":"integer","maximum":-2.5})"), "-3");
    EXPECT_EQ(first(R"({"type":"integer","maximum":0})"), "0");
    EXPECT_EQ(first(R"({"type":"string"})"), "\"n\" is required and has no default");
    EXPECT_EQ(first("{}"), "\"n\" is required and has no default");
    EXPECT_EQ(first(R"({"type":"array","items":{"enum":["a"]},"minItems":2})"),
              "the defaults do not fit the form: /n: must have at least 2 items");
    EXPECT_EQ(defaults_for(json::parse(R"({"minProperties":1})")).error().message,
              "the defaults do not fit the form: must have at least 1 properties");
}

TEST(ElicitationDefaults, AreRefusedWhenTheFormWouldRefuseThem) {
    const auto schema = json::parse(R"({"properties":{"n":{"type":"integer","default":"many"}}})");
    EXPECT_EQ(defaults_for(schema).error().message,
              "the defaults do not fit the form: /n: expected integer, got string");
    EXPECT_FALSE(defaults_for(json::parse("[]")));
    EXPECT_EQ(*defaults_for(json::object()), json::object());
}

}  // namespace
}  // namespace patchbay::protocol
