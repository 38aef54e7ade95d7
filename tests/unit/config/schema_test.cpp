// config/ is data: its schema, defaults and examples say what the reader does, and nothing else.
#include "protocol/schema.hpp"

#include "config/compile.hpp"
#include "config/keys.hpp"
#include "config/show.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace patchbay::config {
namespace {

namespace fs = std::filesystem;

std::string slurp(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}
fs::path data(const std::string& name) {
    return fs::path(PATCHBAY_SOURCE_DIR) / "config" / name;
}

std::set<std::string> names(const boost::json::value& properties) {
    std::set<std::string> out;
    for (const auto& property : properties.as_object()) out.emplace(property.key());
    return out;
}

// A value that the schema allows for a key; none where it says no type.
std::optional<Node> sample(const boost::json::value& key) {
    Node node;
    const auto* type = key.as_object().if_contains("type");
    if (const auto* words = key.as_object().if_contains("enum"))
        return Node::of_text(std::string(words->at(0).as_string()), {});
    if (!type || !type->is_string()) return {};
    if (*type == "string") return Node::of_text("text", {});
    if (*type == "boolean") return Node::of_flag(true, {});
    if (*type == "array") return Node::of_list({});
    if (*type == "object") return Node::of_map({});
    node.kind = Node::Kind::Integer;
    const auto* most = key.as_object().if_contains("maximum");
    node.integer = std::min<std::int64_t>(5, most ? most->to_number<std::int64_t>() : 5);
    return node;
}

// What `key` takes of `value` and tells again, in JSON; empty: it does not take it.
template <class Target, class Key>
std::string told_after(const Key& key, const Node& value) {
    Target target;
    if (!key.take(target, value).empty()) return {};
    return boost::json::serialize(key.tell(target));
}

class Schema : public ::testing::Test {
protected:
    boost::json::value schema_ = boost::json::parse(slurp(data("schema/patchbay.schema.json")));
    const boost::json::object& properties_ = schema_.at("properties").as_object();
};

TEST_F(Schema, HasExactlyTheTopLevelKeysOfTheReader) {
    const auto& keys = top_level_keys();
    EXPECT_EQ(names(properties_), std::set<std::string>(keys.begin(), keys.end()));
    std::set<std::string> ours;
    for (const auto& name : schema_.at("anyOf").at(0).at("propertyNames").at("enum").as_array())
        ours.emplace(name.as_string());
    EXPECT_EQ(ours, names(properties_));
}

TEST_F(Schema, TakesEveryExampleAndNoStrangerInAFileOfOurs) {
    const auto schema = protocol::Schema::compile(schema_);
    ASSERT_TRUE(schema) << schema.error().message;
    for (const auto& entry : fs::directory_iterator(data("examples"))) {
        const auto parsed = parse(slurp(entry.path()), *format_of(entry.path().string()));
        ASSERT_FALSE(parsed.problem) << entry.path();
        const auto wrong = schema->validate(to_json(parsed.root));
        EXPECT_TRUE(wrong.empty()) << entry.path() << wrong.front().message;
    }
    EXPECT_FALSE(schema->validate({{"servers", boost::json::object()}, {"model", "x"}}).empty());
}

TEST_F(Schema, HasExactlyTheServerKeysOfTheReader) {
    const auto& keys = names_in_a_server();
    EXPECT_EQ(names(schema_.at("$defs").at("server").at("properties")),
              std::set<std::string>(keys.begin(), keys.end()));
}

TEST_F(Schema, HasExactlyTheTableKeysOfTheReader) {
    std::map<std::string, std::set<std::string>> tables;
    for (const auto& key : table_keys()) tables[std::string(key.table)].emplace(key.name);
    for (const auto& [table, keys] : tables) {
        EXPECT_EQ(names(properties_.at(table).at("properties")), keys) << table;
        EXPECT_EQ(properties_.at(table).at("additionalProperties"), false) << table;
    }
}

// A value the schema allows must be taken, and one of another type refused.
TEST_F(Schema, AgreesWithTheReaderOnTypes) {
    const Node nothing;
    const auto& servers = schema_.at("$defs").at("server").at("properties").as_object();
    for (const auto& key : server_keys()) {
        Server server;
        const auto value = sample(servers.at(key.name));
        ASSERT_TRUE(value) << key.name;
        EXPECT_EQ(key.take(server, *value), "") << key.name;
        EXPECT_NE(key.take(server, nothing), "") << key.name;
    }
    for (const auto& key : table_keys()) {
        Config config;
        const auto value = sample(properties_.at(key.table).at("properties").at(key.name));
        ASSERT_TRUE(value) << key.name;
        EXPECT_EQ(key.take(config, *value), "") << key.table << "." << key.name;
        EXPECT_NE(key.take(config, nothing), "") << key.table << "." << key.name;
    }
}

// What `config show` prints can be copied into a file, and means there what it meant.
TEST_F(Schema, EveryKeyTellsWhatItTakes) {
    const auto comes_back = [](const std::string& told, const auto& again) {
        if (told == "null") return true;  // the default, or the other unit says it
        const auto parsed = parse("{\"it\": " + told + "}", Format::Json);
        return !parsed.problem && again(*parsed.root.find("it")) == told;
    };
    const auto& servers = schema_.at("$defs").at("server").at("properties").as_object();
    for (const auto& key : server_keys()) {
        const auto told = told_after<Server>(key, *sample(servers.at(key.name)));
        EXPECT_TRUE(
            comes_back(told, [&](const Node& node) { return told_after<Server>(key, node); }))
            << key.name << ": " << told;
    }
    for (const auto& key : table_keys()) {
        const auto told = told_after<Config>(
            key, *sample(properties_.at(key.table).at("properties").at(key.name)));
        EXPECT_NE(told, "null") << key.table << "." << key.name;
        EXPECT_TRUE(
            comes_back(told, [&](const Node& node) { return told_after<Config>(key, node); }))
            << key.table << "." << key.name << ": " << told;
    }
}

TEST_F(Schema, ATimeLimitMayBeWrittenInTwoUnitsAndIsToldInOne) {
    for (const auto& limit : kTimeLimits) {
        Server server;
        const auto value = sample({{"type", "number"}});
        for (const auto unit : {Unit::Seconds, Unit::Milliseconds}) {
            const auto* key = find_server_key(limit.key(unit));
            ASSERT_TRUE(key) << limit.name;
            EXPECT_EQ(key->effect, Effect::Adjust);
            EXPECT_EQ(key->take(server, *value), "");
            EXPECT_STREQ(server.*limit.from, limit.key(unit));
            EXPECT_EQ(server.*limit.time,
                      std::chrono::milliseconds(unit == Unit::Seconds ? 5000 : 5));
            EXPECT_EQ(key->tell(server).is_null(), unit != limit.told_in) << key->name;
        }
    }
}

TEST(Defaults, AreWhatIsBuiltIn) {
    auto config = check_file(data("defaults/defaults.toml"), Scope::User, World().environment);
    EXPECT_EQ(all(config.diagnostics), "");
    EXPECT_EQ(to_json(config, false), to_json(Config{}, false));
    std::size_t given = config.origins.size();
    EXPECT_EQ(given, table_keys().size() - 1);  // all but permissions.allow
}

class Examples : public ::testing::TestWithParam<std::string> {};

TEST_P(Examples, LoadWithoutADiagnostic) {
    const auto enterprise = GetParam().starts_with("enterprise");
    const auto config =
        check_file(data("examples/" + GetParam()), enterprise ? Scope::Enterprise : Scope::User,
                   World().environment);
    EXPECT_EQ(all(config.diagnostics), "");
    EXPECT_FALSE(config.servers.empty());
}

std::vector<std::string> all_examples() {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(data("examples")))
        files.push_back(entry.path().filename());
    std::sort(files.begin(), files.end());
    return files;
}

INSTANTIATE_TEST_SUITE_P(Files, Examples, ::testing::ValuesIn(all_examples()),
                         [](const auto& test) {
                             auto name = test.param;
                             std::replace_if(
                                 name.begin(), name.end(),
                                 [](char c) { return c == '.' || c == '-'; }, '_');
                             return name;
                         });

}  // namespace
}  // namespace patchbay::config
