#include "service/trust.hpp"
#include "unit/service/fixture.hpp"

namespace patchbay::service {
namespace {

using connection::State;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> ids(const std::vector<connection::Status>& statuses) {
    std::vector<std::string> found;
    for (const auto& status : statuses) found.push_back(status.id);
    return found;
}

TEST_F(ServiceTest, ServersThatConfigurationKeepsOutHaveAStatus) {
    configure_disabled("aside");
    connect();
    const auto statuses = known().statuses();
    ASSERT_THAT(ids(statuses), ElementsAre("aside", "git", "github"));
    EXPECT_EQ(statuses[0].state, State::Disabled);
    EXPECT_EQ(statuses[1].state, State::Ready);
    EXPECT_EQ(statuses[1].tools, 2u);
}

TEST_F(ServiceTest, TheEmptyNameStandsForAllServers) {
    EXPECT_TRUE(known().has(""));
    EXPECT_TRUE(known().has("git"));
    EXPECT_FALSE(known().has("gti"));
}

TEST_F(ServiceTest, AServerThatIsNotThereNamesTheNearest) {
    const auto error = known().no_such_server("gti");
    EXPECT_EQ(error.code, ErrorCode::NotFound);
    EXPECT_EQ(error.message,
              "no server \"gti\" is configured; did you mean \"git\"? Known: git, github");
}

TEST_F(ServiceTest, ADisabledServerSaysWhereItIsTurnedOff) {
    configure_disabled("aside");
    const auto error = known().no_such_server("aside");
    EXPECT_EQ(error.code, ErrorCode::NotFound);
    EXPECT_THAT(error.message, HasSubstr("is disabled (user config mcp.json:7:1); set enabled"));
}

TEST_F(ServiceTest, WhatIsMissingMayBeInWhatTheConfigurationHasWrong) {
    const config::Place place{config::Scope::User, "f", 9, 1};
    EXPECT_FALSE(known().misconfigured());
    config.diagnostics = {
        {config::RuleId::InvalidValue, config::Severity::Error, place, "no list", "bad"}};
    EXPECT_TRUE(known().misconfigured());
    EXPECT_TRUE(known().misconfigured("bad"));
    EXPECT_FALSE(known().misconfigured("git"));
    EXPECT_EQ(known().no_such_server("bad").code, ErrorCode::Invalid);
    EXPECT_EQ(known().no_such_server("other").code, ErrorCode::NotFound) << "another's error";
    config.diagnostics = {
        {config::RuleId::InvalidValue, config::Severity::Error, place, "no TOML", {}}};
    const auto error = known().no_such_server("other");
    EXPECT_EQ(error.code, ErrorCode::Invalid);
    EXPECT_THAT(error.message, HasSubstr("it may be in what the configuration has wrong"));
}

TEST_F(ServiceTest, AFileThatStandsAloneIsNamedWhereNothingIsFound) {
    config.closed_by = "enterprise config e.toml is exclusive";
    EXPECT_THAT(known().no_such_server("nowhere").message,
                HasSubstr("; enterprise config e.toml is exclusive, so no other file counts"));
}

TEST_F(ServiceTest, AFileThatWasNotReadIsNamedWhereNothingIsFound) {
    config.passed_over = {"/p/.mcp.json: not read, since others may write it"};
    const auto end = ::testing::EndsWith("; /p/.mcp.json: not read, since others may write it");
    EXPECT_THAT(known().no_such_server("nowhere").message, end);
    const std::vector<std::string> one{"nowhere"};
    EXPECT_THAT(chosen(one, config).error().message, end);
    config.servers.clear();
    EXPECT_THAT(known().no_such_server("nowhere").message, end);
}

TEST_F(ServiceTest, TheNameThatAFileHasLeadsToTheIdWhateverBecameOfTheServer) {
    config.names["My Server"] = {"My-Server", {config::Scope::Project, ".mcp.json", 3, 5}};
    const std::string told =
        "server \"My Server\" (project config .mcp.json:3:5) is called My-Server here; use that "
        "name";
    EXPECT_EQ(known().no_such_server("My Server").message, told);
    EXPECT_EQ(chosen({"My Server"}, config).error().message, told);
    EXPECT_THAT(known().no_such_server("").message, HasSubstr("no server \"\" is configured"));
}

}  // namespace
}  // namespace patchbay::service
