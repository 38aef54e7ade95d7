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
              "no server \"gti\" is configured; did you mean \"git\"?; known: git, github");
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
    config.diagnostics = {{config::Severity::Error, place, "no list", "bad"}};
    EXPECT_TRUE(known().misconfigured());
    EXPECT_TRUE(known().misconfigured("bad"));
    EXPECT_FALSE(known().misconfigured("git"));
    EXPECT_EQ(known().no_such_server("bad").code, ErrorCode::Invalid);
    EXPECT_EQ(known().no_such_server("other").code, ErrorCode::NotFound) << "another's error";
    config.diagnostics = {{config::Severity::Error, place, "no TOML", {}}};
    const auto error = known().no_such_server("other");
    EXPECT_EQ(error.code, ErrorCode::Invalid);
    EXPECT_THAT(error.message, HasSubstr("it may be in what the configuration has wrong"));
}

TEST_F(ServiceTest, AFileThatStandsAloneIsNamedWhereNothingIsFound) {
    config.closed_by = "enterprise config e.toml is exclusive";
    EXPECT_THAT(known().no_such_server("nowhere").message,
                HasSubstr("; enterprise config e.toml is exclusive, so no other file counts"));
}

}  // namespace
}  // namespace patchbay::service
