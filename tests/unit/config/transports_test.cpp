#include "config/merge.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::config {
namespace {

using ::testing::HasSubstr;

Config of(const std::string& text) {
    std::vector<Fragment> one;
    one.push_back(read_fragment(text, Format::Toml, {Scope::Project, 0, ".mcp.toml"}));
    return merge(std::move(one));
}

std::vector<KnownTransport> known() {
    return {
        {"stdio",
         boost::json::parse(
             R"({"properties": {"command": {}, "args": {}, "env": {}}, "additionalProperties": false})")},
        {"http", nullptr},
        {"sse",
         boost::json::parse(R"({"properties": {"url": {}}, "additionalProperties": true})")}};
}

TEST(CheckTransports, NamesTheLoadedOnesAndTheNearest) {
    auto config =
        of("[servers.github]\ntransport = 'htpp'\nurl = 'https://x'\n[servers.ok]\nurl = "
           "'https://x'\n");
    check_transports(config, known());
    ASSERT_EQ(config.servers.size(), 1u);
    EXPECT_EQ(config.servers[0].id, "ok");
    EXPECT_EQ(
        all(config.diagnostics),
        "error: project config .mcp.toml:1:10: server \"github\": unknown transport \"htpp\"; "
        "loaded transports: http, sse, stdio; did you mean \"http\"?\n");
}

TEST(CheckTransports, NamesThePluginThatWouldProvideAMissingOne) {
    auto plugins = known();
    plugins.push_back({"tcp", nullptr, "plugin \"x.tcp\" would provide it, but is refused: torn"});
    auto config =
        of("[servers.a]\ntransport = 'tcp'\nport = 1\n"
           "[servers.b]\nurl = 'https://x'\nfallback = ['tcp', 'sse']\n");
    check_transports(config, plugins);
    ASSERT_EQ(config.servers.size(), 1u);
    EXPECT_EQ(config.servers[0].fallback, std::vector<std::string>{"sse"});
    EXPECT_THAT(all(config.diagnostics),
                HasSubstr("server \"a\": transport \"tcp\" is not there: plugin \"x.tcp\" would "
                          "provide it, but is refused: torn; loaded transports: http, sse, stdio"));
    EXPECT_THAT(all(config.diagnostics),
                HasSubstr("in fallback is passed over: plugin \"x.tcp\" would provide it"));
}

TEST(CheckTransports, SaysSoWhenNothingIsLoaded) {
    auto config = of("[servers.a]\ncommand = 'x'\n");
    check_transports(config, {});
    EXPECT_THAT(all(config.diagnostics), HasSubstr("loaded transports: none"));
    EXPECT_TRUE(config.servers.empty());
}

TEST(CheckTransports, DropsUnknownSettingsWithAHint) {
    auto config = of("[servers.a]\ncommand = 'x'\nlasy = true\nargz = []\n");
    check_transports(config, known());
    ASSERT_EQ(config.servers.size(), 1u);
    EXPECT_EQ(serialize(config.servers[0].settings), R"({"command":"x"})");
    EXPECT_THAT(all(config.diagnostics),
                HasSubstr("warning: project config .mcp.toml:3:1: server \"a\": unknown key "
                          "\"lasy\" for transport \"stdio\"; did you mean \"lazy\"?"));
    EXPECT_THAT(all(config.diagnostics),
                HasSubstr(".mcp.toml:4:1: server \"a\": unknown key \"argz\" for transport "
                          "\"stdio\"; did you mean \"args\"?"));
}

TEST(CheckTransports, LeavesOpenSchemasAlone) {
    auto config =
        of("[servers.a]\nurl = 'https://x'\nown = 1\n[servers.b]\ntransport = 'sse'\nurl = "
           "'https://x'\nown = 1\n");
    check_transports(config, known());
    EXPECT_EQ(config.servers.size(), 2u);
    EXPECT_TRUE(config.diagnostics.empty());
}

TEST(CheckTransports, PassesOverUnknownFallbacks) {
    auto config = of("[servers.a]\nurl = 'https://x'\nfallback = ['ssee', 'sse']\n");
    check_transports(config, known());
    ASSERT_EQ(config.servers.size(), 1u);
    EXPECT_EQ(config.servers[0].fallback, std::vector<std::string>{"sse"});
    EXPECT_THAT(all(config.diagnostics),
                HasSubstr(".mcp.toml:3:1: server \"a\": unknown transport \"ssee\" in fallback"));
}

TEST(CheckTransports, AServerThatTheSchemaRefusesLeaves) {
    auto config = of("[servers.a]\ncommand = 'x'\n[servers.b]\ncommand = 'y'\n");
    check_transports(config, known(), [](const auto&, const auto& settings) {
        return settings.at("command").as_string() == "x"
                   ? std::vector<std::string>{"command: too short"}
                   : std::vector<std::string>{};
    });
    ASSERT_EQ(config.servers.size(), 1u);
    EXPECT_EQ(config.servers[0].id, "b");
    EXPECT_THAT(
        all(config.diagnostics),
        HasSubstr("server \"a\": transport \"stdio\" refuses its settings: command: too short"));
}

TEST(CheckTransports, WaitsWhereTheValueIsNotKnownYet) {
    const auto asked = [](const std::string& text) {
        auto config = of(text);
        bool called = false;
        const std::vector<KnownTransport> one = {{"tcp", boost::json::parse("{}")}};
        check_transports(config, one, [&](const auto&, const auto&) {
            called = true;
            return std::vector<std::string>{};
        });
        return called;
    };
    EXPECT_FALSE(asked("[servers.a]\ntransport = 'tcp'\nport = '${PORT}'\n"));
    EXPECT_TRUE(asked("[servers.a]\ntransport = 'tcp'\nport = 5\nenv = { A = '${A}' }\n"));
    EXPECT_TRUE(asked("[servers.a]\ntransport = 'tcp'\nport = '${PORT}'\nexpand = false\n"));
}

}  // namespace
}  // namespace patchbay::config
