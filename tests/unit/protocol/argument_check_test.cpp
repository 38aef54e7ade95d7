// Arguments are judged by what their tool says that it takes, within bounds, whatever that is.
#include "protocol/argument_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace patchbay::protocol {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Tool tool_of(const std::string& schema) {
    Tool tool;
    tool.name = "t";
    tool.known = "\"inputSchema\":" + schema;
    return tool;
}
std::string fault(const std::string& schema, const std::string& arguments) {
    const auto tool = tool_of(schema);
    return ArgumentCheck(tool).fault(tool, arguments);
}
std::string repeated(const std::string& text, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
}

TEST(ArgumentCheck, SaysWhatIsWrongWhereAndWhatWasExpected) {
    const std::string schema = R"({"type":"object","properties":{"path":{"type":"string"},
        "filter":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"}}}}},
        "required":["path"],"additionalProperties":false})";
    EXPECT_EQ(fault(schema, R"({"path":"a"})"), "");
    EXPECT_THAT(fault(schema, R"({"path":7})"),
                HasSubstr("argument \"path\": expected string, got"));
    EXPECT_THAT(fault(schema, R"({"path":"a","filter":[{},{"name":1}]})"),
                HasSubstr("argument \"filter/1/name\": expected string, got"));
    EXPECT_THAT(fault(schema, "{}"), HasSubstr("missing argument \"path\""));
    EXPECT_THAT(fault(schema, ""), HasSubstr("missing argument \"path\""));
    EXPECT_THAT(fault(schema, R"({"pth":"a"})"),
                AllOf(HasSubstr("unknown argument \"pth\""), HasSubstr("did you mean \"path\"")));
}

TEST(ArgumentCheck, LooksAtTheRestOfWhatHasANumberThatNoDoubleHolds) {
    const std::string schema =
        R"({"type":"object","properties":{"n":{"type":"integer","maximum":10}}})";
    EXPECT_THAT(fault(schema, R"({"n":100,"z":1e999})"), HasSubstr("argument \"n\""));
    EXPECT_EQ(fault(schema, R"({"n":1,"z":1e999})"), "");
}

TEST(ArgumentCheck, TakesANullForWhatIsLeftOut) {
    const std::string schema =
        R"({"properties":{"v":{"type":"boolean"},"w":{"type":"string"}},"required":["w"]})";
    EXPECT_EQ(fault(schema, R"({"v":null,"w":"x"})"), "");
    EXPECT_THAT(fault(schema, R"({"v":true,"w":null})"), HasSubstr("argument \"w\""));
    EXPECT_EQ(fault(R"({"properties":{"v":{"const":null}}})", R"({"v":null})"), "");
}

TEST(ArgumentCheck, TellsSomeFaultsAndCountsTheRest) {
    const auto told = fault(R"({"additionalProperties":{"type":"string"}})",
                            R"({"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1})");
    EXPECT_THAT(told, HasSubstr("and 2 more"));
}

TEST(ArgumentCheck, LeavesWhatItCannotJudgeToTheServer) {
    for (const char* schema :
         {R"({"type":"object","properties":[]})",
          R"({"$schema":"http://json-schema.org/draft-04/schema#","required":["a"]})",
          R"({"$ref":"https://example.com/s.json"})", R"({"$ref":"#/$defs/none"})",
          R"({"type":"objet"})", R"({"properties":{"a":{"type":"string","required":true}}})"}) {
        const auto tool = tool_of(schema);
        const ArgumentCheck check(tool);
        EXPECT_NE(check.unusable(), "") << schema;
        EXPECT_EQ(check.fault(tool, R"({"a":1})"), "") << schema;
    }
    EXPECT_EQ(fault(R"x({"properties":{"a":{"pattern":"(?=b)"}}})x", R"({"a":"c"})"), "")
        << "a pattern that RE2 has not";
    EXPECT_EQ(fault(R"({"required":["a"]})", "not json"), "") << "others say that";
    EXPECT_EQ(fault(R"({"required":["a"]})", "{\"b\":\"" + std::string(2u << 20, 'x') + "\"}"), "")
        << "of arguments of megabytes nobody waits for a check";
}

TEST(ArgumentCheck, NeedsNothingWhereAnythingIsFine) {
    for (
        const char* schema :
        {R"({"type":"object"})", R"({"type":"object","properties":{}})",
         R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":true})"}) {
        const ArgumentCheck check(tool_of(schema));
        EXPECT_EQ(check.subschemas(), 0u) << schema;
        EXPECT_EQ(check.unusable(), "");
    }
    EXPECT_NE(fault(R"({"type":"object","additionalProperties":false})", R"({"a":1})"), "");
}

// No hostile schema takes longer than a moment, to be compiled or to judge by.
TEST(ArgumentCheck, EndsSoonWhateverTheSchemaIs) {
    const struct {
        const char* what;
        std::string schema, arguments;
    } cases[] = {
        {"one that refers to itself", R"({"$ref":"#"})", "{}"},
        {"a circle of references",
         R"({"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}})",
         "{}"},
        {"a reference that branches",
         R"({"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"}]},
            "b":{"properties":{"x":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}}}}})",
         repeated("{\"x\":", 60) + "{}" + repeated("}", 60)},
        {"allOf that explodes",
         [] {
             std::string defs = "\"d0\":{\"type\":\"object\"}";
             for (int i = 1; i <= 40; ++i) {
                 const auto below = "{\"$ref\":\"#/$defs/d" + std::to_string(i - 1) + "\"}";
                 defs +=
                     ",\"d" + std::to_string(i) + "\":{\"allOf\":[" + below + "," + below + "]}";
             }
             return "{\"$ref\":\"#/$defs/d40\",\"$defs\":{" + defs + "}}";
         }(),
         "{}"},
        {"anyOf of nothing that fits",
         "{\"properties\":{\"a\":{\"anyOf\":[" + repeated("{\"const\":1},", 3'000) +
             "{\"const\":2}]}}}",
         R"({"a":3})"},
        {"depth", repeated("{\"properties\":{\"a\":", 50) + "{}" + repeated("}}", 50),
         repeated("{\"a\":", 50) + "{}" + repeated("}", 50)},
        {"more subschemas than are looked at", "{\"allOf\":[" + repeated("{},", 10'000) + "{}]}",
         "{}"},
        {"a pattern that explodes elsewhere",
         R"({"properties":{"a":{"pattern":"^(a+)+$"},"b":{"pattern":"(x+x+)+y"}}})",
         "{\"a\":\"" + std::string(100'000, 'a') + "!\",\"b\":\"" + std::string(100'000, 'x') +
             "\"}"},
        {"patterns that are large",
         "{\"patternProperties\":{" +
             [] {
                 std::string all;
                 for (int i = 0; i < 500; ++i)
                     all += "\"(([a-z]{" + std::to_string(i % 100 + 1) + "," +
                            std::to_string(300 + i) + "}))x\":{},";
                 return all + "\"z\":{}}}";
             }(),
         R"({"abc":1,"def":2})"},
        {"an enum of many",
         "{\"properties\":{\"a\":{\"enum\":[" + repeated("[1,2,3],", 5'000) + "0]}}}",
         "{\"a\":[" + repeated("1,", 10'000) + "1]}"},
        {"items that all differ", R"({"properties":{"a":{"uniqueItems":true}}})",
         "{\"a\":[" + repeated("[1],", 20'000) + "[2]]}"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.what);
        const auto begun = std::chrono::steady_clock::now();
        const auto tool = tool_of(c.schema);
        const ArgumentCheck check(tool);
        (void)check.fault(tool, c.arguments);
        (void)check.fault(tool, c.arguments);
        EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(60));
        EXPECT_LE(check.subschemas(), ArgumentCheck::kMostSubschemas);
    }
}

}  // namespace
}  // namespace patchbay::protocol
