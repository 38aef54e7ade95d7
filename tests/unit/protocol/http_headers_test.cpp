#include "protocol/http_headers.hpp"

#include "protocol/envelope.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::protocol {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

MessageHeader header(const char* name, const std::string& value) {
    return {name, value};
}

std::string trouble(const char* schema) {
    const auto marks = header_parameters(json::parse(schema));
    return marks ? "" : marks.error().message;
}

Result<std::vector<MessageHeader>> mirrored(const char* schema, const char* arguments) {
    return mirrored_arguments(header_parameters(json::parse(schema)).value(), arguments);
}

constexpr const char* kSql = R"({"type":"object","properties":{
    "region":{"type":"string","x-mcp-header":"Region"},
    "query":{"type":"string"},
    "limit":{"type":"integer","x-mcp-header":"Limit"},
    "dry":{"type":["boolean","null"],"x-mcp-header":"Dry-Run"},
    "where":{"type":"object","properties":{"zone":{"type":"string","x-mcp-header":"Zone"}}}}})";

TEST(HttpHeaders, ValuesThatAHeaderCarriesStayAsTheyAre) {
    EXPECT_EQ(header_text("us-west1"), "us-west1");
    EXPECT_EQ(header_text("two words"), "two words");
    EXPECT_EQ(header_text(""), "");
    EXPECT_EQ(header_text("=?base64?open end"), "=?base64?open end");
    EXPECT_EQ(header_text("=?BASE64?x?="), "=?BASE64?x?=") << "the marker is case-sensitive";
}

TEST(HttpHeaders, OthersGoAsBase64) {
    EXPECT_EQ(header_text("Hello, \xe4\xb8\x96\xe7\x95\x8c"), "=?base64?SGVsbG8sIOS4lueVjA==?=");
    EXPECT_EQ(header_text(" padded "), "=?base64?IHBhZGRlZCA=?=");
    EXPECT_EQ(header_text("line1\nline2"), "=?base64?bGluZTEKbGluZTI=?=");
    EXPECT_EQ(header_text("=?base64?literal?="), "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
    EXPECT_EQ(header_text("x\r\nAuthorization: y"), "=?base64?eA0KQXV0aG9yaXphdGlvbjogeQ==?=");
    EXPECT_EQ(header_text(std::string_view("\0", 1)), "=?base64?AA==?=");
    EXPECT_EQ(header_text("\x7f"), "=?base64?fw==?=");
    EXPECT_EQ(header_text("a\tb"), "=?base64?YQli?=");
    EXPECT_EQ(header_text("\xff\xfe\xfd\xfb\xef\xbe"), "=?base64?//79++++?=");
    EXPECT_EQ(header_text(" "), "=?base64?IA==?=");
    EXPECT_EQ(header_text("a "), "=?base64?YSA=?=");
}

TEST(HttpHeaders, EveryMessageNamesItsMethod) {
    EXPECT_THAT(standard_headers("tools/list", R"("cursor":"name")"),
                ElementsAre(header("Mcp-Method", "tools/list")));
    EXPECT_THAT(standard_headers("tools/call", R"("name":"execute_sql","arguments":{"name":"x"})"),
                ElementsAre(header("Mcp-Method", "tools/call"), header("Mcp-Name", "execute_sql")));
    EXPECT_THAT(standard_headers("prompts/get", R"("arguments":{"a":"},\"name"}, "name" : "p")"),
                ElementsAre(header("Mcp-Method", "prompts/get"), header("Mcp-Name", "p")));
    EXPECT_THAT(standard_headers("tools/call", R"("name":7)"),
                ElementsAre(header("Mcp-Method", "tools/call")));
    EXPECT_THAT(standard_headers("resources/read", ""),
                ElementsAre(header("Mcp-Method", "resources/read")));
    EXPECT_THAT(standard_headers("resources/read", R"("uri":"file:///a\u00e9")"),
                ElementsAre(header("Mcp-Method", "resources/read"),
                            header("Mcp-Name", "=?base64?ZmlsZTovLy9hw6k=?=")));
}

TEST(HttpHeaders, ArgumentsGoWhereTheSchemaSaysAtAnyDepth) {
    EXPECT_THAT(mirrored(kSql, R"({"query":"q","region":"us-west1","limit":-7,"dry":false,
                                   "where":{"zone":" z"}})")
                    .value(),
                ElementsAre(header("Mcp-Param-Region", "us-west1"), header("Mcp-Param-Limit", "-7"),
                            header("Mcp-Param-Dry-Run", "false"),
                            header("Mcp-Param-Zone", "=?base64?IHo=?=")));
}

TEST(HttpHeaders, NullAndAbsentArgumentsHaveNoHeader) {
    EXPECT_THAT(mirrored(kSql, R"({"region":null,"where":{}})").value(), IsEmpty());
    EXPECT_THAT(mirrored(kSql, R"({"where":"zone"})").value(), IsEmpty());
    EXPECT_THAT(mirrored(kSql, "").value(), IsEmpty());
    EXPECT_THAT(mirrored(kSql, R"({"region":""})").value(),
                ElementsAre(header("Mcp-Param-Region", "")));
}

TEST(HttpHeaders, IntegersAreDecimalAndStayWithinWhatADoubleHolds) {
    const auto limit = [](const char* value) {
        return mirrored(kSql, (std::string(R"({"limit":)") + value + "}").c_str());
    };
    EXPECT_EQ(limit("42.0").value().at(0).value, "42");
    EXPECT_EQ(limit("9007199254740991").value().at(0).value, "9007199254740991");
    EXPECT_EQ(limit("-9007199254740991").value().at(0).value, "-9007199254740991");
    EXPECT_THAT(limit("9007199254740992").error().message, HasSubstr("beyond 2^53-1"));
    EXPECT_THAT(limit("18446744073709551615").error().message, HasSubstr("Mcp-Param-Limit"));
    EXPECT_THAT(limit("1.5").error().message, HasSubstr("not an integer"));
    EXPECT_THAT(limit("[1]").error().message, HasSubstr("\"limit\""));
}

TEST(HttpHeaders, AMarkThatBreaksARuleIsNamed) {
    const auto property = [](const char* schema) {
        return trouble(
            (std::string(R"({"type":"object","properties":{"p":)") + schema + "}}").c_str());
    };
    EXPECT_THAT(property(R"({"type":"string","x-mcp-header":""})"), HasSubstr("at p is empty"));
    EXPECT_THAT(property(R"({"type":"string","x-mcp-header":7})"), HasSubstr("not a string"));
    EXPECT_THAT(property(R"({"type":"string","x-mcp-header":"a b"})"),
                HasSubstr("\"a b\", which is no header name"));
    EXPECT_THAT(property(R"({"type":"string","x-mcp-header":"a\r\nb"})"), HasSubstr("no header"));
    EXPECT_THAT(property(R"({"type":"string","x-mcp-header":"a:b"})"), HasSubstr("no header"));
    EXPECT_THAT(property(R"({"type":"string","x-mcp-header":"\u00e9"})"), HasSubstr("no header"));
    for (const char* type : {"\"number\"", "\"object\"", "\"array\"", "\"null\"", "[\"null\"]",
                             "[\"string\",\"number\"]"}) {
        EXPECT_THAT(property((std::string(R"({"x-mcp-header":"A","type":)") + type + "}").c_str()),
                    HasSubstr("a type other than"))
            << type;
    }
    EXPECT_THAT(property(R"({"x-mcp-header":"A"})"), HasSubstr("a type other than"));
    EXPECT_THAT(trouble(R"({"properties":{"a":{"type":"string","x-mcp-header":"Region"},
                                          "b":{"type":"string","x-mcp-header":"REGION"}}})"),
                HasSubstr("at b repeats the name \"REGION\""));
}

TEST(HttpHeaders, AMarkOffThePropertiesChainIsNamed) {
    const char* const schemas[] = {
        R"({"x-mcp-header":"A","type":"object"})",
        R"({"properties":{"l":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}})",
        R"({"oneOf":[{"properties":{"p":{"type":"string","x-mcp-header":"A"}}}]})",
        R"({"allOf":[{"properties":{"p":{"type":"string","x-mcp-header":"A"}}}]})",
        R"({"not":{"properties":{"p":{"type":"string","x-mcp-header":"A"}}}})",
        R"({"if":{"properties":{"p":{"type":"string","x-mcp-header":"A"}}}})",
        R"({"$defs":{"d":{"type":"string","x-mcp-header":"A"}}})",
        R"({"properties":{"p":{"patternProperties":{"x":{"type":"string","x-mcp-header":"A"}}}}})",
        R"({"additionalProperties":{"type":"string","x-mcp-header":"A"}})"};
    for (const auto* schema : schemas)
        EXPECT_THAT(trouble(schema), HasSubstr("`properties` keys alone")) << schema;
}

TEST(HttpHeaders, WhatOnlyLooksLikeAMarkIsNone) {
    EXPECT_EQ(trouble(R"({"properties":{"x-mcp-header":{"type":"number"}},
                          "default":{"x-mcp-header":""}, "examples":[{"x-mcp-header":1}]})"),
              "");
    EXPECT_EQ(trouble("true"), "");
    for (const char* data : {"default", "const", "enum", "example", "examples"})
        EXPECT_EQ(trouble((std::string(R"({"properties":{"p":{")") + data +
                           R"(":{"a":{"x-mcp-header":""}}}}})")
                              .c_str()),
                  "")
            << data;
    for (const char* named : {"properties", "patternProperties", "$defs", "definitions",
                              "dependentSchemas", "dependencies"})
        EXPECT_EQ(
            trouble(
                (std::string("{\"") + named + R"(":{"x-mcp-header":{"type":"null"}}})").c_str()),
            "")
            << named;
}

TEST(RawMember, FindsTopLevelMembersOnly) {
    constexpr std::string_view members =
        R"("a":{"b":[1,"]}"]},"c\"d":"x\\","e" : [ {"f":2} ] ,"g":-1)";
    EXPECT_EQ(raw_member(members, "a"), R"({"b":[1,"]}"]})");
    EXPECT_EQ(raw_member(members, "e"), R"([ {"f":2} ])");
    EXPECT_EQ(raw_member(members, "g"), "-1");
    EXPECT_EQ(raw_member(members, "b"), "");
    EXPECT_EQ(raw_member(members, "f"), "");
    EXPECT_EQ(raw_member("", "a"), "");
    EXPECT_EQ(raw_member("\"a", "a"), "");
    EXPECT_EQ(raw_member("\"a\":\"x\\", "a"), "\"x\\");
}

}  // namespace
}  // namespace patchbay::protocol
