#include "service/configuration.hpp"

#include "config/show.hpp"
#include "support/result_schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::service {
namespace {

using Found = config::Candidate::Found;
using config::Scope;

TEST(ConfigurationPath, HasItsShapeWhateverWasFoundThere) {
    for (const auto found :
         {Found::Absent, Found::Read, Found::Unreadable, Found::Broken, Found::Ignored}) {
        const auto told = to_json(config::Candidate{Scope::User, "/c.toml", found, "why"});
        EXPECT_TRUE(test::is_a("config_path", told)) << told;
        EXPECT_EQ(told.at("found"), word_of(found));
    }
}

TEST(ScopeOfAFile, IsTheOneItIsReadInOrElseWhatItsNameSays) {
    const std::vector<config::Candidate> candidates{
        {Scope::Enterprise, "/etc/patchbay/config.toml", Found::Absent, {}}};
    EXPECT_EQ(scope_of("/etc/patchbay/../patchbay/config.toml", candidates), Scope::Enterprise);
    EXPECT_EQ(scope_of("/x/.patchbay.local.toml", candidates), Scope::Local);
    EXPECT_EQ(scope_of("/x/.mcp.json", candidates), Scope::Project);
    EXPECT_EQ(scope_of("/x/.patchbay/config.yaml", candidates), Scope::Project);
    EXPECT_EQ(scope_of("/x/other.toml", candidates), Scope::User);
}

TEST(DiagnosticsOfAConfiguration, TellOfRulesThatMatchNoToolToo) {
    config::Config config;
    config.diagnostics = {{config::RuleId::InvalidValue,
                           config::Severity::Error,
                           {Scope::User, "f", 9, 1},
                           "no list",
                           "bad"}};
    config.permissions.deny = {"nowhere_*"};
    const auto all = diagnostics_of(config);
    ASSERT_EQ(all.size(), 2u);
    for (const auto& each : all) EXPECT_TRUE(test::is_a("diagnostic", config::to_json(each)));
    EXPECT_THAT(all[1].message, ::testing::HasSubstr("\"nowhere_*\" can match no tool"));
}

}  // namespace
}  // namespace patchbay::service
