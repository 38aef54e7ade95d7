// What two processes of one version tell each other arrives whole.
#include "app/status_text.hpp"

#include "service/statuses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace patchbay::app {
namespace {

connection::Status full_status() {
    connection::Status status;
    status.id = "git";
    status.transport = "http";
    status.fallback_from = "ws";
    status.place = {config::Scope::Project, "/srv/app/.mcp.json", 3, 7};
    status.enabled = true;
    status.state = connection::State::Reconnecting;
    status.last_error = "gone";
    status.last_connected = std::chrono::system_clock::from_time_t(1'795'642'682);
    status.protocol = "2025-11-25";
    status.server_name = "s";
    status.server_version = "2";
    status.instructions = "use it";
    status.capabilities = {"tools", "logging"};
    status.tools = 4;
    status.tools_error = "one is missing";
    status.restarts = 5;
    status.pending = 6;
    status.facts = {{"peer", "127.0.0.1"}};
    status.stray_lines = 7;
    status.malformed = 8;
    status.late_answers = 9;
    status.notes = {"a note"};
    catalogue::Drift drift;
    drift.server = "git";
    drift.list = catalogue::List::Prompts;
    drift.added = {"a"};
    drift.removed = {"b"};
    drift.changed = {{"c", {"description"}}};
    drift.more_added = 10;
    drift.before = std::chrono::system_clock::from_time_t(1'795'000'000);
    drift.now = std::chrono::system_clock::from_time_t(1'795'000'001);
    drift.of_earlier_host = drift.instructions = true;
    status.drifts = {drift};
    status.starting = connection::Starting{std::chrono::milliseconds(1500),
                                           std::chrono::milliseconds(60'000), "added 42 packages"};
    status.last_exit =
        connection::Exit{{}, 9, "memory", std::chrono::system_clock::from_time_t(1'795'642'600)};
    status.cost = {1, 2, 3, std::chrono::milliseconds(4), 5, {6, 7}};
    status.connections = {{"own", connection::State::Ready, "", {{"pid", "1"}}},
                          {"spare", connection::State::Failed, "why", {}}};
    return status;
}

boost::json::value sent(const boost::json::object& object) {
    return boost::json::parse(boost::json::serialize(object));
}

TEST(StatusText, ArrivesWhole) {
    const auto status = full_status();
    const auto arrived = parse_status(sent(status_text(status)));
    ASSERT_TRUE(arrived);
    EXPECT_EQ(service::to_json(*arrived), service::to_json(status));
    EXPECT_EQ(status_text(*arrived), status_text(status));
    EXPECT_EQ(arrived->place, status.place);
    EXPECT_EQ(arrived->instructions, status.instructions);
    EXPECT_EQ(arrived->tools_error, status.tools_error);
    EXPECT_EQ(arrived->last_connected, status.last_connected);
    EXPECT_EQ(arrived->tools, status.tools);
}

TEST(StatusText, OfAStateThatThereIsNotIsNone) {
    auto text = status_text(full_status());
    text["state"] = "asleep";
    EXPECT_FALSE(parse_status(text));
    EXPECT_FALSE(parse_status(7));
}

TEST(ToolText, ArrivesAsTheServerWroteIt) {
    const protocol::Tool tool{"push",
                              R"("description":"d","inputSchema":{"maximum":9007199254740993})",
                              R"("x-own":[1])", "is mended"};
    service::ToolList list;
    list.tools = {{"mcp__git__push", "git", &tool, config::Level::RequireApproval}};
    list.errors = {{"y", {ErrorCode::AuthRequired, "sign in"}}};
    list.answered = true;
    list.heard = {{"git", {std::chrono::system_clock::from_time_t(1'795'000'000), true}}};
    ToolDefinitions definitions;
    const auto arrived = parse_tools(sent(tools_text(list)), definitions);
    ASSERT_TRUE(arrived);
    ASSERT_EQ(arrived->tools.size(), 1u);
    EXPECT_EQ(*arrived->tools[0].tool, tool);
    ASSERT_EQ(arrived->heard.size(), 1u);
    EXPECT_EQ(arrived->heard[0].standing.listed, list.heard[0].standing.listed);
    EXPECT_TRUE(arrived->heard[0].standing.recalled);
    EXPECT_EQ(arrived->tools[0].public_name, "mcp__git__push");
    EXPECT_EQ(arrived->tools[0].level, config::Level::RequireApproval);
    ASSERT_EQ(arrived->errors.size(), 1u);
    EXPECT_EQ(arrived->errors[0].error.code, ErrorCode::AuthRequired);
    EXPECT_TRUE(arrived->answered);
}

TEST(ToolText, ThatIsNoJsonInsideIsNone) {
    const protocol::Tool tool{"push", R"("description":)", "", ""};
    ToolDefinitions definitions;
    EXPECT_FALSE(
        parse_tool(tool_text({"mcp__git__push", "git", &tool, config::Level::Deny}), definitions));
    EXPECT_TRUE(definitions.empty());
}

}  // namespace
}  // namespace patchbay::app
