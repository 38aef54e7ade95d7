// The ids of diagnostics are a promise: to scripts, and to whoever looks one up.
#include "config/rule_ids.hpp"

#include "config/templates.hpp"
#include "support.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace patchbay::config {
namespace {

using testing::Contains;
using testing::UnorderedElementsAreArray;

std::string slurp(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(std::string(PATCHBAY_SOURCE_DIR) + "/config/" + name).rdbuf();
    return text.str();
}

std::vector<std::string> ids_of(const std::vector<Diagnostic>& diagnostics) {
    std::vector<std::string> ids;
    for (const auto& each : diagnostics) ids.emplace_back(name_of(each.rule));
    return ids;
}

TEST(RuleIds, AreDescribedInTheReadmeEachByTheSameWords) {
    std::istringstream readme(slurp("README.md"));
    std::vector<std::string> described, known;
    bool there = false;
    for (std::string line; std::getline(readme, line);) {
        if (line.starts_with("## ")) there = line == "## What `config check` tells";
        if (there && line.starts_with("| `")) described.push_back(line);
    }
    for (const auto& rule : rule_infos())
        known.push_back("| `" + std::string(rule.name) + "` | " + std::string(rule.meaning) + " |");
    EXPECT_EQ(described, known);
}

TEST(RuleIds, AreThoseOfTheJsonSchema) {
    const auto schema = boost::json::parse(slurp("schema/api/results.schema.json"));
    std::vector<std::string> listed, known;
    for (const auto& each : schema.at("$defs").at("rule_id").at("enum").as_array())
        listed.emplace_back(each.as_string());
    for (const auto& rule : rule_infos()) known.emplace_back(rule.name);
    EXPECT_EQ(listed, known);
}

TEST(RuleIds, AreWordsWithDashesAndOneOfEach) {
    std::set<std::string_view> names;
    for (const auto& rule : rule_infos()) {
        EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
        EXPECT_EQ(rule.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), rule.name.npos);
        EXPECT_TRUE(rule.meaning.ends_with('.')) << rule.name;
    }
}

TEST(RuleIds, SayWhatIsWrongWithAFile) {
    struct Case {
        std::string text, id;
        Format format = Format::Toml;
    };
    const std::string command = "[servers.a]\ncommand = \"x\"\n";
    const Case cases[] = {
        {"a = = 1", "syntax-error"},
        {"a: [", "syntax-error", Format::Yaml},
        {"{\"a\" 1}", "syntax-error", Format::Json},
        {"a = 1\na = 2\n", "duplicate-key"},
        {"[servers.a]\ncommand = \"x\"\n[servers.a]\ncommand = \"y\"\n", "duplicate-key"},
        {"a: 1\na: 2\n", "duplicate-key", Format::Yaml},
        {"{\"a\": 1, \"a\": 2}", "duplicate-key", Format::Json},
        {"{\"a\": " + std::string(kFileDepth, '[') + std::string(kFileDepth, ']') + "}",
         "too-large", Format::Json},
        {std::string(kFileBytes + 1, '#'), "too-large"},
        {"[1]", "invalid-value", Format::Json},
        {"[nonsense]\nx = 1\n", "unknown-table"},
        {"[permission]\ndeny = []\n", "unread-rule"},
        {"[health]\nmises = 3\n", "unknown-key"},
        {"[health]\nmisses = \"three\"\n", "invalid-value"},
        {"[bundles.x]\n", "empty-list"},
        {"exclusive = true\n", "not-allowed-here"},
        {command + "enabled = \"no\"\n", "invalid-value"},
        {command + "args = 3\n", "invalid-value"},
        {command + "mode = \"never\"\n", "unread-rule"},
        {command + "tool_timeout_sec = 1\ntool_timeout_ms = 2\n", "conflicting-keys"},
        {command + "url = \"http://x\"\n", "missing-connection"},
        {"[servers.a]\ntransport = \"stdio\"\n", "missing-connection"},
        {"[servers.a]\nmode = \"shared\"\n", "unknown-server"},
        {"[servers.a]\ntemplate = \"none\"\n", "invalid-template"},
        {"[permissions]\nallow = []\n", "empty-list"},
        {"[agents.a]\nservers = [\"agents.b\"]\n", "unusable-pick"},
        {"{\"mcpServers\": {\"a\": {\"command\": \"x\", \"envFile\": \"f\"}}}", "foreign-key",
         Format::Json},
        {"{\"servers\": [{\"command\": \"x\"}]}", "invalid-name", Format::Json},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.text.substr(0, 80));
        std::vector<Fragment> one;
        one.push_back(read_fragment(c.text, c.format, {Scope::User, 0, "file"}));
        resolve_templates(one);
        EXPECT_THAT(ids_of(merge(std::move(one)).diagnostics), Contains(c.id));
    }
}

TEST(RuleIds, SayWhatAFileOfACheckoutMayNot) {
    std::vector<Fragment> files;
    files.push_back(toml(Scope::User, "[servers.a]\ncommand = \"x\"\nenabled = false\n"));
    files.push_back(toml(Scope::Project,
                         "[servers.a]\nenabled = true\nargs = [\"y\"]\n[limits]\n"
                         "message_bytes = 1\n"));
    const auto ids = ids_of(merge(std::move(files)).diagnostics);
    EXPECT_THAT(ids, Contains("overlay-key"));
    EXPECT_THAT(ids, Contains("not-allowed-here"));
}

TEST(RuleIds, SayWhyASourceIsNotRead) {
    World world;
    world.environment.config_files = {"missing.toml"};
    world.folder.write("home/user/src/project/.patchbay.local.toml", "");
    world.folder.write("home/user/.config/patchbay/config.toml/is_a_folder", "");
    world.folder.write("etc/enterprise.conf", "");
    auto ids = ids_of(load(world.environment).config.diagnostics);
    EXPECT_THAT(ids, Contains("misnamed-file"));
    EXPECT_THAT(ids, Contains("ignored-source")) << "closed by the enterprise folder";
    std::filesystem::remove(world.folder / "etc/enterprise.conf");
    ids = ids_of(load(world.environment).config.diagnostics);
    EXPECT_THAT(ids, Contains("missing-file"));
    EXPECT_THAT(ids, Contains("unreadable-file"));
    EXPECT_THAT(ids, Contains("ignored-source")) << "a local file without a project's";
}

}  // namespace
}  // namespace patchbay::config
