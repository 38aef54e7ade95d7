#include "unit/config_edit/support.hpp"

namespace patchbay::config::edit {
namespace {

std::string with_entry(std::string_view text) {
    return outcome(set(text, Format::Json, {"mcpServers", "patchbay"}, patchbay_entry()));
}
std::string without(std::string_view text, const Path& path) {
    return outcome(remove(text, Format::Json, path));
}

TEST(JsonEdit, AddsAMemberBehindTheOthersAsTheyAreLaidOut) {
    EXPECT_EQ(with_entry("{\n"
                         "    // mine\n"
                         "    \"mcpServers\": {\n"
                         "        \"files\": {\"command\": \"npx\"} // the old one\n"
                         "        /* nothing here */\n"
                         "    },\n"
                         "    \"theme\": \"dark\"\n"
                         "}\n"),
              "{\n"
              "    // mine\n"
              "    \"mcpServers\": {\n"
              "        \"files\": {\"command\": \"npx\"}, // the old one\n"
              "        /* nothing here */\n"
              "        \"patchbay\": {\n"
              "            \"command\": \"patchbay\",\n"
              "            \"args\": [\"serve\"]\n"
              "        }\n"
              "    },\n"
              "    \"theme\": \"dark\"\n"
              "}\n");
}

TEST(JsonEdit, KeepsTabsReturnsAMarkAndAMissingLastNewline) {
    EXPECT_EQ(
        with_entry("\xef\xbb\xbf{\r\n\t\"a\": 1\r\n}"),
        "\xef\xbb\xbf{\r\n\t\"a\": 1,\r\n\t\"mcpServers\": {\r\n\t\t\"patchbay\": {\r\n"
        "\t\t\t\"command\": \"patchbay\",\r\n\t\t\t\"args\": [\"serve\"]\r\n\t\t}\r\n\t}\r\n}");
}

TEST(JsonEdit, StaysOnOneLineWhereAllIsAsTightOrLooseAsItWas) {
    EXPECT_EQ(
        with_entry(R"({"a":1,"mcpServers":{"x":{}}})"),
        R"({"a":1,"mcpServers":{"x":{},"patchbay":{"command":"patchbay","args":["serve"]}}})");
    EXPECT_EQ(with_entry(R"({"mcpServers": {}})"),
              R"({"mcpServers": {"patchbay": {"command": "patchbay", "args": ["serve"]}}})");
}

TEST(JsonEdit, FillsWhatIsEmpty) {
    const std::string whole =
        "{\n  \"mcpServers\": {\n    \"patchbay\": {\n      \"command\": \"patchbay\",\n"
        "      \"args\": [\"serve\"]\n    }\n  }\n}";
    EXPECT_EQ(with_entry(""), whole + "\n");
    EXPECT_EQ(with_entry("{}\n"), whole + "\n");
    EXPECT_EQ(with_entry("{\n}"), whole);
    EXPECT_EQ(with_entry("// later\n"), "// later\n" + whole + "\n");
    EXPECT_EQ(with_entry("{\n  \"mcpServers\": null\n}"), whole);
}

TEST(JsonEdit, ATrailingCommaStaysTheLast) {
    EXPECT_EQ(outcome(set("{\n  \"a\": 1, // one\n}\n", Format::Json, {"b"}, 2)),
              "{\n  \"a\": 1, // one\n  \"b\": 2,\n}\n");
    EXPECT_EQ(without("{\n  \"a\": 1,\n  \"b\": 2,\n}\n", {"b"}), "{\n  \"a\": 1,\n}\n");
}

TEST(JsonEdit, ReplacesAValueAndNothingBesideIt) {
    EXPECT_EQ(
        outcome(set("{ \"a\" : /* was */ [1, 2] /* too */ , \"b\": 1}", Format::Json, {"a"}, "x")),
        "{ \"a\" : /* was */ \"x\" /* too */ , \"b\": 1}");
}

TEST(JsonEdit, TakesAMemberOutWithTheCommaThatItNeeded) {
    const std::string text = "{\n  \"a\": 1,\n  \"b\": 2, // two\n  \"c\": 3 // three\n}\n";
    EXPECT_EQ(without(text, {"a"}), "{\n  \"b\": 2, // two\n  \"c\": 3 // three\n}\n");
    EXPECT_EQ(without(text, {"b"}), "{\n  \"a\": 1,\n  \"c\": 3 // three\n}\n")
        << "what is said of it too";
    EXPECT_EQ(without(text, {"c"}), "{\n  \"a\": 1,\n  \"b\": 2 // two\n}\n");
    EXPECT_EQ(without("{\n  \"a\": 1 // one\n  , \"b\": 2\n}\n", {"a"}), "{\n   \"b\": 2\n}\n");
    EXPECT_EQ(without("{\n  \"a\": 1, \"b\": 2 // both\n}\n", {"b"}), "{\n  \"a\": 1 // both\n}\n");
    EXPECT_EQ(without(R"({"a": 1, "b": 2})", {"a"}), R"({"b": 2})");
    EXPECT_EQ(without(R"({"a": 1, "b": 2})", {"b"}), R"({"a": 1})");
    EXPECT_EQ(without(R"({"a": 1})", {"a"}), "{}");
}

TEST(JsonEdit, KnowsAKeyHoweverItIsWritten) {
    EXPECT_EQ(outcome(set(R"({"mcp\u0053ervers": {"x{}\"": 1}})", Format::Json,
                          {"mcpServers", "x{}\""}, 2)),
              R"({"mcp\u0053ervers": {"x{}\"": 2}})");
}

TEST(JsonEdit, SaysWhereATextIsBroken) {
    EXPECT_EQ(with_entry("{\n  \"a\": 1\n  \"b\": 2\n}"),
              "invalid: 3:3: not JSON: expected \",\" or \"}\"");
    EXPECT_EQ(with_entry("{\"a\": 1, \"a\": 2}"),
              "invalid: 1:10: the key \"a\" was already given at line 1, column 2");
    EXPECT_EQ(with_entry("{\n  \"mcpServers\": [1]\n}"),
              "invalid: 2:17: \"mcpServers\" holds a list; expected a table");
    EXPECT_EQ(with_entry("[]"),
              "invalid: 1:1: the file holds a list; expected a table of settings");
    EXPECT_EQ(without("{\"a\": {}}", {"a", "b"}), "not_found: there is no \"a.b\"");
    EXPECT_EQ(without("{}", {"a", "b"}), "not_found: there is no \"a.b\"");
}

TEST(JsonEdit, TakesTheLargeFilesOfOtherPrograms) {
    std::string text = "{\n  \"history\": [\n";
    for (int i = 0; i < 40'000; ++i)
        text += "    {\"display\": \"a question that somebody asked a while ago\", \"n\": 1},\n";
    text += "    {}\n  ]\n}\n";
    ASSERT_GT(text.size(), 2 * kFileBytes);
    EXPECT_THAT(with_entry(text), HasSubstr("\n  ],\n  \"mcpServers\": {\n    \"patchbay\": {\n"));
}

}  // namespace
}  // namespace patchbay::config::edit
