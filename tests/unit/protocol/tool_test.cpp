#include "protocol/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::protocol {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const json::value kAnything = {{"type", "object"}, {"additionalProperties", true}};

ToolPage page_of(json::array tools, const core::Limits& limits = {}) {
    const auto page =
        parse_tool_page(json::serialize(json::object{{"tools", std::move(tools)}}), limits);
    EXPECT_TRUE(page) << page.error().message;
    return page ? *page : ToolPage();
}

json::value nested(int levels) {
    json::value value = 1;
    for (int i = 0; i < levels; ++i) value = json::object{{"p", std::move(value)}};
    return value;
}

TEST(ToolPage, AToolWhoseInputSchemaCannotBeUsedStaysAndTakesAnyArguments) {
    core::Limits limits;
    limits.schema_bytes = 100;
    limits.schema_depth = 5;
    const std::pair<json::object, const char*> cases[] = {
        {{{"name", "t"}}, "inputSchema is missing"},
        {{{"name", "t"}, {"inputSchema", nullptr}}, "inputSchema is no object"},
        {{{"name", "t"}, {"inputSchema", true}}, "inputSchema is no object"},
        {{{"name", "t"}, {"inputSchema", json::array()}}, "inputSchema is no object"},
        {{{"name", "t"}, {"inputSchema", {{"type", "array"}}}},
         "inputSchema is of type \"array\", not \"object\""},
        {{{"name", "t"}, {"inputSchema", {{"d", std::string(100, 'x')}}}}, "(limit schema_bytes)"},
        {{{"name", "t"}, {"inputSchema", nested(6)}}, "(limit schema_depth)"},
    };
    for (const auto& [tool, told] : cases) {
        SCOPED_TRACE(told);
        const auto page = page_of({tool, {{"name", "other"}, {"inputSchema", nested(5)}}}, limits);
        ASSERT_EQ(page.tools.size(), 2u) << "nor does it hide its siblings";
        EXPECT_EQ(page.tools[0].input_schema(), kAnything);
        EXPECT_EQ(page.tools[1].input_schema(), nested(5));
        EXPECT_THAT(page.notes, ElementsAre(HasSubstr(told)));
        EXPECT_THAT(page.notes, ElementsAre(HasSubstr("tool \"t\": its inputSchema")));
        EXPECT_THAT("inputSchema " + page.tools[0].schema_fault, HasSubstr(told));
        EXPECT_EQ(page.tools[1].schema_fault, "");
    }
}

TEST(ToolPage, ASchemaThatOthersWouldFetchOrRefuseIsReplacedAndNoOther) {
    const auto schema_of = [](const char* schema) {
        const auto page = page_of({{{"name", "t"}, {"inputSchema", json::parse(schema)}}});
        EXPECT_EQ(page.tools.size(), 1u) << schema;
        return std::pair(page.tools.at(0).input_schema(), page.tools.at(0).schema_fault);
    };
    for (const char* bad :
         {R"({"type":"object","properties":{"a":{"$ref":"https://example.com/a.json"}}})",
          R"({"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}})",
          R"({"type":"object","properties":[]})"}) {
        const auto [schema, why] = schema_of(bad);
        EXPECT_EQ(schema, kAnything) << bad;
        EXPECT_THAT(why, HasSubstr("cannot be used: at #/properties")) << bad;
    }
    for (
        const char* good :
        {R"({"type":"object","$defs":{"d":{}},"properties":{"a":{"$ref":"#/$defs/d"}}})",
         R"({"type":"object","properties":{"$ref":{"type":"string"}}})",
         R"({"type":"object","properties":{"a":{"const":{"$ref":"x"}}}})",
         R"({"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":[]})",
         R"({"type":"object","properties":{"a":{"type":"string","required":true}}})"}) {
        const auto [schema, why] = schema_of(good);
        EXPECT_EQ(schema, json::parse(good));
        EXPECT_EQ(why, "") << good;
    }
}

TEST(ToolPage, AnOutputSchemaThatCannotBeUsedIsLeftOut) {
    const auto page = page_of(
        {{{"name", "t"}, {"inputSchema", nested(1)}, {"outputSchema", 3}},
         {{"name", "u"}, {"inputSchema", nested(1)}, {"outputSchema", {{"type", "object"}}}}});
    ASSERT_EQ(page.tools.size(), 2u);
    EXPECT_TRUE(page.tools[0].output_schema().is_null());
    EXPECT_TRUE(page.tools[1].output_schema().is_object());
    EXPECT_THAT(page.notes, ElementsAre(HasSubstr("its outputSchema is no object")));
}

TEST(ResultOfATool, IsJudgedByWhatTheToolPromises) {
    const Tool plain{"t", {}, {}};
    const Tool promising{"t",
                         R"("outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},)"
                         R"("required":["n"]})",
                         {}};
    const Tool unusable{"t", R"("outputSchema":{"type":7})", {}};
    const struct {
        const Tool& tool;
        const char* result;
        const char* fault;
    } cases[] = {
        {plain, R"({"content": [{"type": "text", "text": ""}]})", ""},
        {plain, R"({"content": [], "structuredContent": {}})", ""},
        {plain, R"({"content": []})", "it has no content"},
        {plain, "{}", "it has no content"},
        {plain, R"({"content": "x"})", "it has no content"},
        {promising, R"({"structuredContent": {"n": 1}})", ""},
        {promising, R"({"content": [], "structuredContent": {"n": 1, "m": 2}})", ""},
        {promising, R"({"content": [{"type": "text", "text": "{}"}]})",
         "it lacks the structuredContent that the tool's outputSchema promises"},
        {promising, R"({"structuredContent": {"n": "1"}})",
         "its structuredContent breaks the tool's outputSchema: /n: "},
        {promising, R"({"structuredContent": []})",
         "its structuredContent breaks the tool's outputSchema: "},
        {unusable, R"({"structuredContent": {"n": "1"}})", ""},
    };
    for (const auto& c : cases) {
        const auto fault = fault_of_result(c.tool, json::parse(c.result).as_object());
        EXPECT_THAT(fault, testing::StartsWith(c.fault)) << c.result;
        EXPECT_EQ(fault.empty(), !*c.fault) << c.result;
    }
}

TEST(ToolPage, AToolWithoutANameIsLeftOut) {
    const auto page = page_of({json::object(), {{"name", ""}}, 7, {{"name", 7}}});
    EXPECT_THAT(page.tools, IsEmpty());
    EXPECT_EQ(page.left_out.size(), 4u);
}

TEST(ToolPage, KeepsWhatAToolSaysOfItselfAsText) {
    const auto page = parse_tool_page(
        R"({"tools": [{"x": [[], {"y": " \" "}, 1e999], "description": "old", "name": "t",
                       "title": 7, "inputSchema": {"type": "object"}, "description": "n\u0065w",
                       "annotations": {"readOnlyHint": false, "read\u004fnlyHint": true,
                                       "idempotentHint": "true"}}]})",
        core::Limits());
    ASSERT_TRUE(page);
    ASSERT_EQ(page->tools.size(), 1u);
    const auto& tool = page->tools[0];
    EXPECT_EQ(tool.others, R"("x":[[],{"y":" \" "},1e999])") << "as it was, but for white space";
    EXPECT_EQ(tool.text("description"), "new") << "the last of equal keys counts";
    EXPECT_EQ(tool.text("title"), "") << "it is none";
    EXPECT_EQ(tool.text("more"), "");
    EXPECT_TRUE(tool.hint("readOnlyHint"));
    EXPECT_FALSE(tool.hint("idempotentHint"));
    EXPECT_FALSE(tool.hint("destructiveHint")) << "nothing is said of it";
    EXPECT_THAT(page->notes, IsEmpty());
}

TEST(ToolPage, TakesNoMoreRoomThanItsText) {
    const auto listed = [](const std::string& member) {
        std::string nothings = "[]";
        while (nothings.size() < 50'000) nothings += ",[]";
        return R"({"tools":[{"name":"t","inputSchema":{"type":"object","z":[)" +
               (member == "inputSchema" ? nothings : "") + R"(]},")" + member + R"(x":[)" +
               nothings + "]}]}";
    };
    for (const auto* member : {"inputSchema", "x"}) {
        const auto text = listed(member);
        const auto page = parse_tool_page(text, core::Limits());
        ASSERT_TRUE(page);
        ASSERT_EQ(page->tools.size(), 1u);
        const auto& tool = page->tools[0];
        EXPECT_LE(tool.known.capacity() + tool.others.capacity(), text.size());
        EXPECT_GE(tool.known.size() + tool.others.size(), 50'000u) << "and nothing is lost";
    }
}

TEST(ToolPage, IsReadNoFurtherThanItsLimits) {
    core::Limits limits;
    limits.tools_per_server = 2;
    std::string tools, members, nameless = "1";
    for (int i = 0; i < 5; ++i)
        tools += (i ? "," : "") + ("{\"name\":\"" + std::to_string(i) + "\"}");
    for (int i = 0; i < 1'001; ++i) members += ",\"" + std::to_string(i) + "\":0";
    for (int i = 0; i < 1'000; ++i) nameless += ",1";
    const auto read = [&](const std::string& items) {
        const auto page = parse_tool_page("{\"tools\":[" + items + "]}", limits);
        return page ? *page : ToolPage();
    };
    EXPECT_EQ(read(tools).tools.size(), 3u) << "one more, which says that there are more";
    EXPECT_EQ(read(nameless).left_out.size(), 3u);
    limits.tools_per_server = 10'000;
    EXPECT_EQ(read(nameless).left_out.size(), kMostToolNotes);
    EXPECT_EQ(read(nameless).listed, 1'001u);
    const auto large = read("{\"name\":\"t\"" + members + "}");
    EXPECT_THAT(large.tools, IsEmpty());
    EXPECT_THAT(large.left_out,
                ElementsAre("tool \"t\": it has more than 1000 members and was left out"));
}

TEST(ToolPage, IsReadAsFarAsThereIsTimeForAndThenOn) {
    const std::string tool = R"({"name":"t"})";
    const std::string text = R"({"tools":[)" + tool + " , " + tool + "," + tool + "]}";
    auto page = *parse_tool_page(text, core::Limits(), tool.size() + 1);
    EXPECT_EQ(page.tools.size(), 2u) << "begun within the bytes";
    EXPECT_EQ(page.unread, tool);
    read_more(page, core::Limits(), 1);
    EXPECT_EQ(page.tools.size(), 3u);
    EXPECT_EQ(page.unread, "");
    EXPECT_EQ(page.listed, 3u);
}

TEST(ToolPage, AToolWhoseNameIsEndlessIsLeftOut) {
    const auto page = page_of({{{"name", std::string(kMostToolName + 1, 'n')}},
                               {{"name", std::string(kMostToolName, 'n')}}});
    EXPECT_EQ(page.tools.size(), 1u);
    EXPECT_THAT(page.left_out, ElementsAre(HasSubstr("its name has more than 4096 bytes")));
}

TEST(ToolPage, ANumberThatNobodyCanReadIsTheTroubleOfItsSchemaAlone) {
    const auto page = parse_tool_page(
        R"({"tools":[{"name":"t","inputSchema":{"maximum":1e999}},{"name":"u","inputSchema":{}}]})",
        core::Limits());
    ASSERT_TRUE(page);
    ASSERT_EQ(page->tools.size(), 2u);
    EXPECT_EQ(page->tools[0].input_schema(), kAnything);
    EXPECT_THAT(page->notes, ElementsAre(HasSubstr("its inputSchema has a number beyond")));
}

TEST(ToolPage, SaysWhatFollowsAndHowLongItHolds) {
    const auto page =
        parse_tool_page(R"({"tools":[],"nextCursor":"n","ttlMs":-5})", core::Limits());
    ASSERT_TRUE(page);
    EXPECT_EQ(page->next_cursor, "n");
    EXPECT_EQ(page->caching.ttl, std::chrono::milliseconds(0));
    EXPECT_EQ(page_of({}).caching, Caching());
    for (const auto* none : {R"({"tools":[],"nextCursor":1})", R"({"tools":"none"})", "{}", "7"})
        EXPECT_FALSE(parse_tool_page(none, core::Limits())) << none;
}

}  // namespace
}  // namespace patchbay::protocol
