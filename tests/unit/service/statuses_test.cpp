#include "service/statuses.hpp"

#include "core/secrets.hpp"
#include "support/result_schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::service {
namespace {

using connection::State;
using connection::Status;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Status connected(const std::string& id, State state) {
    Status status;
    status.id = id;
    status.enabled = true;
    status.state = state;
    return status;
}
config::Server server(const std::string& id, bool enabled = true) {
    config::Server made;
    made.id = id;
    made.transport = "stdio";
    made.enabled = enabled;
    made.place.line = 7;
    return made;
}
config::Proposal proposal(const std::string& id) {
    config::Proposal made{};
    made.id = id;
    made.place.line = 8;
    return made;
}
std::vector<std::string> ids(const std::vector<Status>& statuses) {
    std::vector<std::string> found;
    for (const auto& status : statuses) found.push_back(status.id);
    return found;
}

TEST(StatusesOfAll, CountTheToolsThatAreShownOfServersThatAreReady) {
    config::Config config;
    std::vector<Status> all{connected("a", State::Ready), connected("b", State::Failed),
                            connected("c", State::Ready), connected("d", State::Ready)};
    all[0].tools = 9;
    all[1].tools = 9;
    all[3].tools = 9;
    all = statuses_of_all(all, {{"a", 2}, {"b", 2}, {"c", 2}}, config);
    EXPECT_EQ(all[0].tools, std::optional<std::size_t>(2));
    EXPECT_EQ(all[1].tools, std::optional<std::size_t>(9)) << "as it was when it was there";
    EXPECT_EQ(all[2].tools, std::nullopt) << "it has not listed them";
    EXPECT_EQ(all[3].tools, std::optional<std::size_t>(0)) << "all are hidden";
}

TEST(StatusesOfAll, ShowNoSecretOfWhatConfigurationSays) {
    core::Secrets secrets;
    secrets.add("s3cret-value");
    config::Config config;
    config::Diagnostic diagnostic{};
    diagnostic.message = "no program s3cret-value";
    diagnostic.server = "a";
    config.diagnostics = {diagnostic};
    const auto all = statuses_of_all({}, {}, config);
    ASSERT_THAT(ids(all), ElementsAre("a"));
    EXPECT_EQ(all[0].last_error, "no program ***");
}

TEST(StatusesOfAll, TellOfServersThatAreDisabled) {
    config::Config config;
    config.servers = {server("b"), server("a", false)};
    auto all = statuses_of_all({connected("b", State::Ready)}, {}, config);
    ASSERT_THAT(ids(all), ElementsAre("a", "b"));
    EXPECT_EQ(all[0].state, State::Disabled);
    EXPECT_FALSE(all[0].enabled);
    EXPECT_EQ(all[0].transport, "stdio");
    EXPECT_EQ(all[0].place.line, 7u);
    EXPECT_EQ(all[1].state, State::Ready);
    config.deny_all = true;
    all = statuses_of_all({}, {}, config);
    ASSERT_THAT(ids(all), ElementsAre("a", "b"));
    EXPECT_EQ(all[1].state, State::Disabled);
}

TEST(StatusesOfAll, TellTheNameThatAServerHasInTheConfiguration) {
    config::Config config;
    config.servers = {server("My-Server"), server("off", false), server("x")};
    config.servers[0].written = "My Server\x1b";
    config.servers[1].written = "o f f";
    const auto all = statuses_of_all(
        {connected("My-Server", State::Idle), connected("x", State::Idle)}, {}, config);
    ASSERT_THAT(ids(all), ElementsAre("My-Server", "off", "x"));
    EXPECT_THAT(all[0].notes, ElementsAre("its name in the configuration is \"My Server\xef\xbf"
                                          "\xbd\""));
    EXPECT_THAT(all[1].notes, ElementsAre(config::why_disabled(config.servers[1]),
                                          "its name in the configuration is \"o f f\""));
    EXPECT_THAT(all[2].notes, IsEmpty());
}

TEST(StatusesOfAll, TellOfServersThatWaitForAnApproval) {
    config::Config config;
    config.servers = {server("weaker")};
    config.untrusted = {proposal("z"), proposal("auth.table"), proposal("weaker")};
    const auto all = statuses_of_all({connected("weaker", State::Idle)}, {}, config);
    ASSERT_THAT(ids(all), ElementsAre("weaker", "z")) << "a table is none";
    EXPECT_EQ(all[0].state, State::Idle) << "another definition is in force";
    EXPECT_EQ(all[1].state, State::Untrusted);
    EXPECT_FALSE(all[1].enabled);
    EXPECT_EQ(all[1].place.line, 8u);
    EXPECT_NE(all[1].last_error, "");
}

TEST(StatusesOfAll, TellOfServersThatConfigurationTookOut) {
    config::Config config;
    const config::Place place{config::Scope::User, "f", 9, 1};
    config.diagnostics = {
        {config::RuleId::InvalidValue, config::Severity::Error, place, "general", {}},
        {config::RuleId::InvalidValue, config::Severity::Warning, place, "harmless", "fine"},
        {config::RuleId::InvalidValue, config::Severity::Error, place, "first", "bad"},
        {config::RuleId::InvalidValue, config::Severity::Error, place, "second", "bad"},
        {config::RuleId::InvalidValue, config::Severity::Error, place, "of an overlay", "there"}};
    const auto all = statuses_of_all({connected("there", State::Idle)}, {}, config);
    ASSERT_THAT(ids(all), ElementsAre("bad", "there"));
    EXPECT_EQ(all[0].state, State::Error);
    EXPECT_EQ(all[0].place.line, 9u);
    EXPECT_EQ(all[0].last_error, "first");
    EXPECT_EQ(all[1].state, State::Idle);
}

TEST(StatusAsJson, HasItsShapeInEveryState) {
    for (const auto state :
         {State::Disabled, State::Idle, State::Connecting, State::AuthRequired, State::Ready,
          State::Error, State::Reconnecting, State::Stopped, State::Failed, State::Untrusted}) {
        EXPECT_TRUE(test::is_a("status", to_json(connected("a", state))));
        EXPECT_TRUE(test::is_a("status", to_json(connected("a", state), Wait::CutShort)));
    }
    auto all = connected("a", State::Ready);
    all.fallback_from = "http";
    all.last_error = "gone";
    all.last_connected = std::chrono::system_clock::time_point{} + std::chrono::hours(24);
    all.protocol = "2026-07-28";
    all.server_name = "n";
    all.capabilities = {"tools"};
    all.tools = 3;
    all.facts = {{"pid", "17"}, {"peer", "127.0.0.1:80"}};
    all.notes = {"a tool was left out"};
    const auto told = to_json(all);
    EXPECT_TRUE(test::is_a("status", told));
    EXPECT_EQ(told.at("pid"), 17);
    EXPECT_EQ(told.at("last_connected_at"), "1970-01-02T00:00:00Z");
    EXPECT_EQ(told.size(), 20u) << "the schema names each of them";
    EXPECT_FALSE(test::is_a("status", {{"id", "a"}, {"state", "ready"}}));
}

TEST(StatusAsJson, ListsTheConnectionsOfAServerThatHasSeveral) {
    auto status = connected("a", State::Ready);
    EXPECT_FALSE(to_json(status).contains("connections"));
    status.connections = {{"own", State::Ready, "", {{"pid", "7"}}},
                          {"spare", State::Failed, "it ended", {}}};
    const auto told = to_json(status);
    EXPECT_TRUE(test::is_a("status", told));
    EXPECT_EQ(boost::json::serialize(told.at("connections")),
              R"([{"use":"own","state":"ready","pid":7},)"
              R"({"use":"spare","state":"failed","last_error":"it ended"}])");
}

TEST(StatusAsJson, OfAServerThatIsWaitedForNoLongerSaysThat) {
    EXPECT_EQ(to_json(connected("a", State::Connecting), Wait::CutShort).at("state"),
              "interrupted");
    EXPECT_EQ(to_json(connected("a", State::Failed), Wait::CutShort).at("state"), "failed");
    EXPECT_EQ(to_json(connected("a", State::Connecting)).at("state"), "connecting");
}

}  // namespace
}  // namespace patchbay::service
