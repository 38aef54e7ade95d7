// What is told about a configuration: where it is wrong, to whom, and when.
#include "integration/home.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace json = boost::json;

TEST(AuthTables, RefusedSettingsAreAnErrorOfTheirFile) {
    Home home;
    const auto file = home.write(home.user_config() / "config.toml",
                                 "[servers.web]\nurl = \"http://127.0.0.1:9/mcp\"\nauth = "
                                 "\"corp\"\n[auth.corp]\nkind = \"bearer\"\nscheme = \"Token\"\n");
    const auto why = file +
                     ":4:7: server \"web\": auth \"corp\": auth method \"bearer\" refuses "
                     "its settings: fits none of 4 alternatives (anyOf): lacks \"token\", or "
                     "lacks \"bearer_token_env_var\", or lacks \"headers\", or lacks "
                     "\"command\"";
    const auto checked = home.run({"config", "check"});
    EXPECT_EQ(checked.exit_code, 4);
    EXPECT_EQ(checked.err, "error: user config " + why + "\n");
    EXPECT_EQ(home.run({"config", "check", file}).exit_code, 4) << "alone as well";
    const auto called = home.run({"call", "mcp__web__any"});
    EXPECT_EQ(called.exit_code, 4);
    EXPECT_THAT(called.err, HasSubstr(why));
}

TEST(AuthTables, ThatNoServerUsesAreJudgedAsWell) {
    Home home;
    const auto file =
        home.write(home.user_config() / "config.toml",
                   "[auth.corp]\nkind = \"bearer\"\n[auth.good]\nkind = \"bearer\"\ntoken = "
                   "\"${env:T}\"\n[auth.nameless]\n");
    const auto checked = home.run({"config", "check"});
    EXPECT_EQ(checked.exit_code, 0);
    EXPECT_THAT(
        checked.err,
        AllOf(HasSubstr("warning: user config " + file + ":1:7: auth.corp: auth method "),
              HasSubstr("lacks \"token\""), HasSubstr("; no server uses it\n"),
              HasSubstr(":6:7: auth.nameless: \"kind\" is missing"), Not(HasSubstr("good"))));
}

TEST(Trust, SaysWhatWouldNotWorkWithoutCallingItAnErrorOfToday) {
    Home home;
    home.write(".mcp.json", R"({"mcpServers": {"a": {"url": "ftp://h/"}, "b": {"type": "no"},
        "c": {"url": "http://h/", "oauth": {"client_idd": "x"}}}})");
    const auto listed = json::parse(home.run({"trust", "--json"}).out).as_array();
    ASSERT_EQ(listed.size(), 3u);
    for (const auto& proposal : listed) {
        ASSERT_EQ(proposal.at("faults").as_array().size(), 1u) << json::serialize(proposal);
        EXPECT_TRUE(proposal.at("faults").at(0).as_string().starts_with("project config "))
            << json::serialize(proposal);
    }
}

}  // namespace
}  // namespace patchbay::test
