// How the fields of an elicitation form are put to a person, and what their lines mean.
#include "app/form_field.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace patchbay::app {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

json::object form_of(json::object field, bool required = false) {
    json::object form{{"properties", {{"f", std::move(field)}}}};
    if (required) form["required"] = json::array{"f"};
    return form;
}

std::string shown(json::object field, bool required = false) {
    return shown_field(form_of(std::move(field), required), "f");
}

std::string taken(const json::object& field, const std::string& line) {
    const auto value = field_value(form_of(field), "f", line);
    return value ? json::serialize(*value) : value.error().message;
}

TEST(FormField, ShowsWhatTheFormSaysOfIt) {
    EXPECT_EQ(shown({{"type", "string"}}), "  f:");
    EXPECT_EQ(shown({{"type", "string"}, {"title", "Name"}, {"description", "yours"}}, true),
              "  f (Name; yours; required):");
    EXPECT_EQ(shown({{"type", "string"}, {"minLength", 1}, {"maxLength", 9}, {"default", "x"}}),
              "  f (1 to 9 characters) [\"x\"]:");
    EXPECT_EQ(shown({{"type", "integer"}, {"minimum", 1}}), "  f (integer, at least 1):");
    EXPECT_EQ(shown({{"type", "number"}, {"maximum", 2.5}, {"default", 1.5}}),
              "  f (number, at most 2.5) [1.5]:");
    EXPECT_EQ(shown({{"type", "string"}, {"format", "date"}}), "  f (date, e.g. 2026-01-31):");
    EXPECT_EQ(
        shown({{"type", "array"},
               {"minItems", 1},
               {"items", {{"type", "string"}, {"enum", {"red", "green", "blue"}}}}}),
        "  f (a list, e.g. red,green, at least 1 of them) out of [\"red\",\"green\",\"blue\"]:");
    EXPECT_EQ(shown_field({{"properties", {{"f", true}}}, {"required", json::array{"f"}}}, "f"),
              "  f (required):");
}

TEST(FormField, YesAndNoAreAsked) {
    EXPECT_EQ(shown({{"type", "boolean"}}), "  f [y/n]:");
    EXPECT_EQ(shown({{"type", "boolean"}, {"default", true}}), "  f [Y/n]:");
    EXPECT_EQ(shown({{"type", "boolean"}, {"default", false}}), "  f [y/N]:");
    for (const char* word : {"y", "Y", "yes", "true", " Yes "})
        EXPECT_EQ(taken({{"type", "boolean"}}, word), "true") << word;
    for (const char* word : {"n", "N", "no", "false"})
        EXPECT_EQ(taken({{"type", "boolean"}}, word), "false") << word;
    EXPECT_EQ(taken({{"type", "boolean"}}, "perhaps"), "\"perhaps\" is neither y (yes) nor n (no)");
}

TEST(FormField, AListIsJsonOrHasCommas) {
    const json::object words{{"type", "array"}, {"items", {{"type", "string"}}}};
    EXPECT_EQ(taken(words, "a, b"), R"(["a","b"])");
    EXPECT_EQ(taken(words, "a"), R"(["a"])");
    EXPECT_EQ(taken(words, R"(["a,b"])"), R"(["a,b"])");
    const json::object numbers{{"type", "array"}, {"items", {{"type", "integer"}}}};
    EXPECT_EQ(taken(numbers, "1,2"), "[1,2]");
    EXPECT_THAT(taken(numbers, "1,two"), HasSubstr("\"two\" is not an integer"));
}

TEST(FormField, AValueHasTheFormatThatIsAskedFor) {
    struct Case {
        const char* format;
        const char* good;
        const char* bad;
    };
    const Case cases[] = {{"email", "a@b.org", "a.b.org"},
                          {"email", "a+b@c", "a@b@c"},
                          {"uri", "urn:x:y", "example.org/x"},
                          {"uri", "https://a/b", "https://a b"},
                          {"uri", "a:b", "`:b"},
                          {"uri", "z9+-.:b", "{:b"},
                          {"uri", "Z:b", "9:b"},
                          {"uri", "a:b:c", ":b"},
                          {"uri", "a::", "a:"},
                          {"date", "2024-02-29", "2025-02-29"},
                          {"date", "2026-01-31", "31.1.2026"},
                          {"date-time", "2026-01-31T12:00:00Z", "2026-01-31T12:00:00"},
                          {"date-time", "2026-01-31T12:00:00.5+01:00", "2026-01-31T25:00:00Z"}};
    for (const auto& each : cases) {
        SCOPED_TRACE(each.bad);
        const json::object field{{"type", "string"}, {"format", each.format}};
        EXPECT_EQ(taken(field, each.good), "\"" + std::string(each.good) + "\"");
        EXPECT_THAT(taken(field, each.bad), HasSubstr(", which looks like "));
    }
}

TEST(FormField, LimitsOfAPropertyAreToldAlone) {
    EXPECT_EQ(shown_limits({{"type", "integer"}, {"minimum", 1}, {"maximum", 9}}), "1 to 9");
    EXPECT_EQ(shown_limits({{"type", "string"}, {"maxLength", 80}, {"pattern", "^[a-z]+$"}}),
              "at most 80 characters, pattern ^[a-z]+$");
    EXPECT_EQ(shown_limits({{"type", "array"}, {"minItems", 2}}), "at least 2 of them");
    EXPECT_EQ(shown_limits({{"type", "boolean"}, {"description", "d"}}), "");
}

}  // namespace
}  // namespace patchbay::app
