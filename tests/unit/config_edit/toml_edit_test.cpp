#include "unit/config_edit/support.hpp"

namespace patchbay::config::edit {
namespace {

constexpr const char* kTable =
    "[mcp_servers.patchbay]\ncommand = \"patchbay\"\nargs = [\"serve\"]\n";

std::string with_entry(std::string_view text) {
    return outcome(set(text, Format::Toml, {"mcp_servers", "patchbay"}, patchbay_entry()));
}
std::string without_entry(std::string_view text) {
    return outcome(remove(text, Format::Toml, {"mcp_servers", "patchbay"}));
}

TEST(TomlEdit, AppendsATable) {
    EXPECT_EQ(with_entry(""), kTable);
    EXPECT_EQ(with_entry("model = \"o3\" # mine\n"),
              std::string("model = \"o3\" # mine\n\n") + kTable);
    EXPECT_EQ(with_entry("a = 1"),
              "a = 1\n\n[mcp_servers.patchbay]\ncommand = \"patchbay\"\n"
              "args = [\"serve\"]");
    EXPECT_EQ(with_entry("a = 1\r\n"),
              "a = 1\r\n\r\n[mcp_servers.patchbay]\r\n"
              "command = \"patchbay\"\r\nargs = [\"serve\"]\r\n");
    EXPECT_EQ(with_entry("[[profiles]]\nx = 1\n"), std::string("[[profiles]]\nx = 1\n\n") + kTable);
}

TEST(TomlEdit, ReplacesThatTableAndWhatIsBelowIt) {
    EXPECT_EQ(
        with_entry("[mcp_servers.files]\ncommand = \"npx\"\n\n"
                   "# the old one\n[mcp_servers.patchbay] # here\ncommand = \"old\" # there\n\n"
                   "[mcp_servers.patchbay.env]\nA = \"1\"\n\n# next\n[tui]\nx = 1\n"),
        "[mcp_servers.files]\ncommand = \"npx\"\n\n"
        "# the old one\n[mcp_servers.patchbay]\ncommand = \"patchbay\"\nargs = [\"serve\"]\n\n"
        "# next\n[tui]\nx = 1\n");
    EXPECT_EQ(
        with_entry(
            "[mcp_servers]\npatchbay.command = \"old\"\npatchbay.args = []\nx.command = \"y\"\n"),
        "[mcp_servers]\npatchbay = { command = \"patchbay\", args = [\"serve\"] }\nx.command = "
        "\"y\"\n");
}

TEST(TomlEdit, GoesIntoAnInlineTable) {
    EXPECT_EQ(with_entry("mcp_servers = { files = { command = \"npx\" } } # all\n"),
              "mcp_servers = { files = { command = \"npx\" }, patchbay = { command = \"patchbay\", "
              "args = [\"serve\"] } } # all\n");
    EXPECT_EQ(with_entry("mcp_servers = {}\n"),
              "mcp_servers = { patchbay = { command = \"patchbay\", args = [\"serve\"] } }\n");
    EXPECT_EQ(without_entry("mcp_servers = { a = {}, patchbay = { command = \"x\" } }\n"),
              "mcp_servers = { a = {} }\n");
}

TEST(TomlEdit, IsNotMisledByTextThatLooksLikeATable) {
    const std::string text =
        "prompt = \"\"\"\n[mcp_servers.patchbay]\n\"\"\"\n"
        "other = '''\n[mcp_servers]\n'''\nlist = [\n  \"]\", # ]\n]\n";
    EXPECT_EQ(with_entry(text), text + "\n" + kTable);
    EXPECT_EQ(without_entry(text + "\n" + kTable), text);
}

TEST(TomlEdit, TakesATableOutWithTheBlankLineAboveIt) {
    EXPECT_EQ(without_entry(std::string("a = 1\n\n") + kTable), "a = 1\n");
    EXPECT_EQ(without_entry(std::string("a = 1\n\n") + kTable + "\n# of the next\n[b]\nc = 1\n"),
              "a = 1\n\n# of the next\n[b]\nc = 1\n");
    EXPECT_EQ(without_entry("[mcp_servers]\npatchbay.command = \"x\"\nb.command = \"y\"\n"),
              "[mcp_servers]\nb.command = \"y\"\n");
}

TEST(TomlEdit, TakesOutWhatIsSaidOfItsLastLine) {
    EXPECT_EQ(
        without_entry("[a]\nx = 1 # a\n\n[mcp_servers.patchbay]\ncommand = \"p\" # its program\n"
                      "\n# of b\n[b]\n"),
        "[a]\nx = 1 # a\n\n# of b\n[b]\n");
    EXPECT_EQ(
        without_entry("[mcp_servers]\npatchbay = { command = \"p\" } # ours\nother = {} # not\n"),
        "[mcp_servers]\nother = {} # not\n");
    EXPECT_EQ(without_entry("[mcp_servers.patchbay]\ncommand = \"p\"\n"
                            "[mcp_servers.patchbay.env]\nA = \"1\"\t# last"),
              "");
}

TEST(TomlEdit, SetsSingleKeys) {
    EXPECT_EQ(outcome(set("# top\n[a]\nb = 1\n", Format::Toml, {"model"}, "x")),
              "model = \"x\"\n\n# top\n[a]\nb = 1\n");
    EXPECT_EQ(outcome(set("[a]\n  b = 1 # one\n\n[c]\n", Format::Toml, {"a", "d"}, 2)),
              "[a]\n  b = 1 # one\n  d = 2\n\n[c]\n");
    EXPECT_EQ(outcome(set("a.b = 1\n", Format::Toml, {"a", "b"}, false)), "a.b = false\n");
    EXPECT_EQ(outcome(set("", Format::Toml, {"a", "b c"}, 1)), "[a]\n\"b c\" = 1\n");
    EXPECT_EQ(outcome(set("x = 1\n[a]\nb = 1\n", Format::Toml, {"a"}, 2)), "x = 1\na = 2\n");
}

TEST(TomlEdit, SaysWhereATextIsBrokenAndWhatItCannotSay) {
    EXPECT_THAT(with_entry("a = 1\nb = \n"), StartsWith("invalid: 2:"));
    EXPECT_EQ(with_entry("mcp_servers = 3\n"),
              "invalid: 1:15: \"mcp_servers\" holds a whole number; expected a table");
    EXPECT_EQ(with_entry("[[mcp_servers]]\nx = 1\n"),
              "invalid: 1:1: \"mcp_servers\" holds a list; expected a table");
    EXPECT_EQ(outcome(set("", Format::Toml, {"a"}, nullptr)),
              "invalid: \"a\" holds null, and TOML has no word for that; leave the key out");
}

}  // namespace
}  // namespace patchbay::config::edit
