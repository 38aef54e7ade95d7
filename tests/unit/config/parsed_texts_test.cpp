// What is read again is what was read, and TOML without its comments is the same TOML.
#include "config/parsed_texts.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace patchbay::config {
namespace {

using testing::HasSubstr;

// Values, and where each stands.
std::string shape_of(const Node& node) {
    auto text = std::to_string(node.mark.line) + ":" + std::to_string(node.mark.column);
    for (const auto& item : node.items) text += " [" + shape_of(item) + "]";
    for (const auto& member : node.members)
        text += " " + member.key + "@" + std::to_string(member.mark.line) + ":" +
                std::to_string(member.mark.column) + "=" + shape_of(member.value);
    if (node.items.empty() && node.members.empty()) text += boost::json::serialize(to_json(node));
    return text;
}

std::string told(const Parsed& parsed) {
    if (!parsed.problem) return shape_of(parsed.root);
    return std::to_string(parsed.problem->mark.line) + ":" +
           std::to_string(parsed.problem->mark.column) + " " + parsed.problem->message;
}

TEST(ParsedTexts, SayTheSameAgainAndAsTheReader) {
    ParsedTexts texts;
    const std::pair<std::string, Format> cases[] = {
        {"a = 1\n[b]\nc = [1, 2]\n", Format::Toml},
        {"a = \n", Format::Toml},
        {"{\"a\": {\"b\": null}}", Format::Json},
        {"a: [1, {b: c}]\n", Format::Yaml},
        {"a: 1\na: 2\n", Format::Yaml},
        {"", Format::Json},
    };
    for (int again = 0; again < 3; ++again)
        for (const auto& [text, format] : cases)
            EXPECT_EQ(told(texts.parse(text, format)), told(parse(text, format))) << text;
    // By its format too: the same bytes are another file.
    EXPECT_EQ(told(texts.parse("{}", Format::Json)), told(parse("{}", Format::Json)));
    EXPECT_EQ(told(texts.parse("{}", Format::Toml)), told(parse("{}", Format::Toml)));
}

TEST(ParsedTexts, WhatIsHandedOutIsTheReadersOwn) {
    ParsedTexts texts;
    auto first = texts.parse("a = 1\n", Format::Toml);
    first.root.members.clear();
    EXPECT_EQ(told(texts.parse("a = 1\n", Format::Toml)), told(parse("a = 1\n", Format::Toml)));
}

TEST(ParsedTexts, KeepToTheBoundsOfWhoeverAsks) {
    ParsedTexts texts;
    const auto large = "{\"a\": \"" + std::string(kFileBytes, 'x') + "\"}";
    const Bounds wide{4 * kFileBytes, 2 * kFileNodes};
    for (int again = 0; again < 2; ++again) {
        EXPECT_FALSE(texts.parse(large, Format::Json, wide).problem);
        const auto refused = texts.parse(large, Format::Json);
        ASSERT_TRUE(refused.problem);
        EXPECT_EQ(refused.problem->rule, RuleId::TooLarge);
    }
    std::string many = "{\"a\": [0";
    for (std::size_t i = 0; i < kFileNodes; ++i) many += ",0";
    many += "]}";
    EXPECT_FALSE(texts.parse(many, Format::Json, wide).problem);
    EXPECT_TRUE(texts.parse(many, Format::Json).problem);
    EXPECT_FALSE(texts.parse(many, Format::Json, wide).problem);
}

TEST(ParsedTexts, GoOnBehindWhatTheyCanKeep) {
    ParsedTexts texts;
    const auto text = [](char letter) {
        return "{\"a\": \"" + std::string(kFileBytes - 100, letter) + "\"}";
    };
    for (int again = 0; again < 2; ++again)
        for (char letter = 'a'; letter < 'a' + 6; ++letter)
            EXPECT_EQ(texts.parse(text(letter), Format::Json).root.members.at(0).value.text[0],
                      letter);
}

TEST(TomlReader, CommentsMoveNothing) {
    const std::string with =
        "# one\n"
        "a = 1 # two \xe2\x82\xac\n"
        "\t# three\r\n"
        "b = '# none' # but this\r\n"
        "c = \"\\\" # none\" # is # one\n"
        "d = [ # of a list\n  1, # its first\n  2 ]\n"
        "e = '''\n# text\n''' # behind it\n"
        "f = { g = \"\"\"#\"\"\" } # last";
    const auto parsed = parse(with, Format::Toml);
    ASSERT_FALSE(parsed.problem) << told(parsed);
    EXPECT_EQ(boost::json::serialize(to_json(parsed.root)),
              R"({"a":1,"b":"# none","c":"\" # none","d":[1,2],"e":"# text\n","f":{"g":"#"}})");
    const auto line_of = [&](const char* key) { return parsed.root.find(key)->mark.line; };
    EXPECT_EQ(line_of("a"), 2u);
    EXPECT_EQ(line_of("c"), 5u);
    EXPECT_EQ(parsed.root.find("d")->items.at(1).mark.line, 8u);
    EXPECT_EQ(line_of("f"), 12u);
}

TEST(TomlReader, ACommentWithAControlCharacterIsNoToml) {
    for (const char* text : {"a = 1 # bell \x07\n", "# delete \x7f\nb = 2\n", "# lone \r here\n"})
        EXPECT_THAT(told(parse(text, Format::Toml)), HasSubstr("not TOML")) << text;
}

TEST(TomlReader, WhatIsWrongBehindACommentIsToldAtItsPlace) {
    const auto wrong = told(parse("# a\nb = 1 # c\nd = node # e\n", Format::Toml));
    EXPECT_THAT(wrong, testing::MatchesRegex("3:[56] not TOML: text needs quotes around it"));
    EXPECT_EQ(wrong, told(parse("\nb = 1 \nd = node \n", Format::Toml)));
    EXPECT_THAT(told(parse("a = 'open # no end\nb = 1 # x\n", Format::Toml)),
                testing::StartsWith("1:"));
}

}  // namespace
}  // namespace patchbay::config
