#include "unit/config_edit/support.hpp"

namespace patchbay::config::edit {
namespace {

const json::value kEntry = json::object{{"type", "stdio"}, {"args", json::array{"serve"}}};

std::string with_entry(std::string_view text) {
    return outcome(set(text, Format::Yaml, {"extensions", "patchbay"}, kEntry));
}
std::string without(std::string_view text, const Path& path) {
    return outcome(remove(text, Format::Yaml, path));
}

TEST(YamlEdit, AddsAKeyBehindTheOthersOfItsTable) {
    EXPECT_EQ(
        with_entry("# goose\nextensions:\n    developer:\n        enabled: true # always\n"
                   "        # of developer\n\n# of the mode\nMODE: auto\n"),
        "# goose\nextensions:\n    developer:\n        enabled: true # always\n"
        "        # of developer\n    patchbay:\n        type: stdio\n        args: [\"serve\"]\n\n"
        "# of the mode\nMODE: auto\n");
}

TEST(YamlEdit, MakesTheTableThatIsMissing) {
    const std::string block = "extensions:\n  patchbay:\n    type: stdio\n    args: [\"serve\"]\n";
    EXPECT_EQ(with_entry(""), block);
    EXPECT_EQ(with_entry("# only a remark\n"), "# only a remark\n" + block);
    EXPECT_EQ(with_entry("---\n"), "---\n" + block);
    EXPECT_EQ(with_entry("MODE: auto\n"), "MODE: auto\n" + block);
    EXPECT_EQ(with_entry("MODE: auto"),
              "MODE: auto\nextensions:\n  patchbay:\n    type: stdio\n    args: [\"serve\"]");
    EXPECT_EQ(with_entry("a: 1\r\n"),
              "a: 1\r\nextensions:\r\n  patchbay:\r\n    type: stdio\r\n"
              "    args: [\"serve\"]\r\n");
    EXPECT_EQ(with_entry("extensions: # none so far\nMODE: auto\n"),
              "extensions: # none so far\n  patchbay:\n    type: stdio\n    args: [\"serve\"]\n"
              "MODE: auto\n");
}

TEST(YamlEdit, GoesBetweenBraces) {
    EXPECT_EQ(with_entry("extensions: {}\n"),
              "extensions: {\"patchbay\": {\"type\": \"stdio\", \"args\": [\"serve\"]}}\n");
    EXPECT_EQ(with_entry("extensions: {a: {b: 'it''s, }'}} # x\n"),
              "extensions: {a: {b: 'it''s, }'}, \"patchbay\": {\"type\": \"stdio\", \"args\": "
              "[\"serve\"]}} # x\n");
    EXPECT_EQ(
        without("extensions: {a: 1, patchbay: {b: [1, 2]}, c: 3}\n", {"extensions", "patchbay"}),
        "extensions: {a: 1, c: 3}\n");
}

TEST(YamlEdit, BlockTextKeepsItsLines) {
    const std::string text = "extensions:\n  a:\n    note: |+\n      # no remark\n\n      b\n\n\n";
    const auto changed = with_entry(text);
    EXPECT_THAT(changed, StartsWith(text));
    EXPECT_EQ(without(changed, {"extensions", "patchbay"}), text);
}

TEST(YamlEdit, ReplacesAndRemoves) {
    EXPECT_EQ(with_entry("extensions:\n  patchbay:\n    type: sse\n    uri: x\n  b: {}\n"),
              "extensions:\n  patchbay:\n    type: stdio\n    args: [\"serve\"]\n  b: {}\n");
    EXPECT_EQ(outcome(set("a: 'x' # why\nb: 2\n", Format::Yaml, {"a"}, "yes")),
              "a: \"yes\" # why\nb: 2\n");
    EXPECT_EQ(
        without("extensions:\n  patchbay:\n    a: 1\nMODE: auto\n", {"extensions", "patchbay"}),
        "extensions:\nMODE: auto\n");
}

TEST(YamlEdit, RefusesWhatItCannotChangeAlone) {
    EXPECT_EQ(
        with_entry("base: &b\n  x: {}\nextensions: *b\n"),
        "unsupported: \"extensions.patchbay\" cannot be changed there without touching anything "
        "else");
    EXPECT_EQ(
        with_entry("base: &b\n  x: {}\nextensions: &e\n  y: {}\nother: *e\n"),
        "unsupported: \"extensions.patchbay\" cannot be changed there without touching anything "
        "else");
    EXPECT_THAT(with_entry("a: [1\n"), StartsWith("invalid: "));
    EXPECT_THAT(with_entry("a: 1\n\tb: 2\n"), StartsWith("invalid: 2:1: not YAML: a tab"));
    EXPECT_EQ(with_entry("extensions: none\n"),
              "invalid: 1:13: \"extensions\" holds text; expected a table");
}

}  // namespace
}  // namespace patchbay::config::edit
