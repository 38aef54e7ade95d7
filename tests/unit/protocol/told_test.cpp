// What others wrote is told in messages, and only so much of it: whoever answers with a megabyte
// fills no terminal and no log.
#include "protocol/arguments.hpp"
#include "protocol/handshake.hpp"
#include "protocol/http_headers.hpp"
#include "protocol/schema.hpp"
#include "protocol/tool.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace patchbay::protocol {
namespace {

namespace json = boost::json;

const std::string kLong(1'000, 'Q');

// Of a message about kLong: so much of it is told.
auto told(const std::string& message) {
    return std::count(message.begin(), message.end(), 'Q');
}
auto told(const Handshake::Step& step) {
    return told(std::get<Error>(step).message);
}
// In place of "Q", kLong.
json::value with_long(const char* text) {
    std::string out(text);
    for (auto at = out.find('Q'); at != out.npos; at = out.find('Q', at + kLong.size()))
        out.replace(at, 1, kLong);
    return json::parse(out);
}

TEST(WhatIsTold, OfArgumentsEndsAtItsLimit) {
    const auto integer = json::parse(R"({"properties":{"x":{"type":"integer"}}})");
    EXPECT_EQ(told(coerce_argument(integer, "x", kLong).error().message), 80);
    const auto first = [](const char* schema) {
        return told(check_arguments(json::parse(schema), {{kLong, 1}}).at(0));
    };
    EXPECT_EQ(first(R"({"additionalProperties":false})"), 80);
    EXPECT_EQ(first(R"({"additionalProperties":{"type":"string"}})"), 200);
    const auto defaults = [](const char* schema) {
        return told(defaults_for(with_long(schema)).error().message);
    };
    EXPECT_EQ(defaults(R"({"properties":{"Q":{}},"required":["Q"]})"), 80);
    EXPECT_EQ(defaults(R"({"properties":{"Q":{"type":"integer","default":"x"}}})"), 199);
}

TEST(WhatIsTold, OfAServersAnswerToTheHandshakeEndsAtItsLimit) {
    const auto pinned = [](const char* version) {
        Handshake handshake({{{"name", "p"}}, {}}, version);
        (void)handshake.start();
        return handshake;
    };
    EXPECT_EQ(told(pinned("2025-11-25").on_error("initialize", {-1, kLong, ""})), 400);
    EXPECT_EQ(told(pinned("2026-07-28").on_unreadable("server/discover", kLong)), 400);
    EXPECT_EQ(told(pinned("2025-11-25").on_result("initialize", {{"protocolVersion", kLong}})),
              200);
}

TEST(WhatIsTold, OfHeaderMarksEndsAtItsLimit) {
    const auto trouble = [](const char* schema) {
        return told(header_parameters(with_long(schema)).error().message);
    };
    EXPECT_EQ(trouble(R"({"properties":{"Q":{"x-mcp-header":""}}})"), 200);
    EXPECT_EQ(trouble(R"({"properties":{"p":{"x-mcp-header":"Q "}}})"), 64);
    EXPECT_EQ(trouble(R"({"properties":{"a":{"type":"string","x-mcp-header":"Q"},
                                        "b":{"type":"string","x-mcp-header":"Q"}}})"),
              64);
    const auto marked = header_parameters(
        with_long(R"({"properties":{"Q":{"type":"string","x-mcp-header":"A"}}})"));
    EXPECT_EQ(told(mirrored_arguments(*marked, R"({")" + kLong + R"(":[]})").error().message), 200);
}

TEST(WhatIsTold, OfASchemaThatIsRefusedEndsAtItsLimit) {
    const auto trouble = [](const char* schema) {
        return told(Schema::compile(with_long(schema)).error().message);
    };
    EXPECT_EQ(trouble(R"({"$defs":{"Q":1}})"), 192) << "200 with what leads there";
    EXPECT_EQ(trouble(R"({"type":"Q"})"), 80);
    EXPECT_EQ(trouble(R"({"$ref":"Q"})"), 100);
    EXPECT_EQ(trouble(R"({"$schema":"Q"})"), 100);
    const auto note = [](const char* schema) {
        return told(Schema::compile(with_long(schema))->notes().at(0));
    };
    EXPECT_EQ(note(R"({"pattern":"(?=Q"})"), 77);
    EXPECT_EQ(note(R"({"pattern":"[Q"})"), 79 + 108) << "RE2 tells it once more";
}

TEST(WhatIsTold, OfWhatASchemaMissesEndsAtItsLimit) {
    const auto missed = [](const char* schema, const json::value& instance) {
        return told(Schema::compile(with_long(schema))->validate(instance).at(0).message);
    };
    EXPECT_EQ(missed(R"({"required":["Q"]})", json::object()), 80);
    EXPECT_EQ(missed(R"({"const":"Q"})", 1), 79);
    EXPECT_EQ(missed(R"({"enum":["Q"]})", 1), 198);
    EXPECT_EQ(missed(R"({"pattern":"Q"})", "x"), 80);
}

TEST(WhatIsTold, OfAToolEndsAtItsLimit) {
    const auto page = parse_tool_page(json::serialize(json::object{{"tools", {{{"name", kLong}}}}}),
                                      core::Limits());
    EXPECT_EQ(told(page->notes.at(0)), 128);
}

}  // namespace
}  // namespace patchbay::protocol
