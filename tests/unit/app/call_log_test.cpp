#include "app/call_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::app {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;

json::object event(const char* name, const char* second, const char* server, int call = 0) {
    json::object object{{"event", name},
                        {"at", "2026-07-28T09:00:" + std::string(second) + ".500Z"}};
    if (*server) object["server"] = server;
    if (call > 0) object["call"] = call;
    return object;
}

std::vector<std::string> texts(const CallLog& log) {
    std::vector<std::string> all;
    for (const auto& each : log.entries) all.push_back(text_of_entry(each).substr(17));
    return all;
}

const std::vector<json::object> kEvents{
    event("mcp_tool_call_begin", "01", "a", 1), event("mcp_tool_call_begin", "02", "", 2),
    event("server_state", "02", "a"),           event("server_state", "02", "b"),
    event("mcp_tool_call_begin", "03", "b", 3), event("mcp_tool_call_end", "03", "a", 1),
    event("mcp_tool_call_end", "05", "a", 2),   event("server_state", "05", "a"),
    event("mcp_tool_call_end", "06", "b", 3)};
const std::vector<std::string> kLines{
    "2026-07-28T09:00:01Z stderr before", "2026-07-28T09:00:02Z stderr begins",
    "2026-07-28T09:00:04Z stdout meanwhile", "2026-07-28T09:00:05Z stderr ends",
    "2026-07-28T09:00:06Z stderr behind"};

TEST(CallLog, HasItsEventsWhatBecameOfItsServerAndWhatThatWrote) {
    auto log = log_of_call(kEvents, 2);
    ASSERT_TRUE(log);
    EXPECT_EQ(log->server, "a") << "known by its end";
    EXPECT_EQ(log->beside, 1u) << "the first had not ended; the third is another server's";
    add_lines(*log, kLines);
    EXPECT_THAT(texts(*log), ElementsAre("02.500Z mcp_tool_call_begin", "02.500Z server_state",
                                         "02Z stderr begins", "04Z stdout meanwhile",
                                         "05Z stderr ends", "05.500Z mcp_tool_call_end"));
}

TEST(CallLog, OfOneThatLastsGoesOn) {
    const std::vector<json::object> begun(kEvents.begin(), kEvents.begin() + 3);
    auto log = log_of_call(begun, 1);
    ASSERT_TRUE(log);
    EXPECT_FALSE(log->ended);
    add_lines(*log, kLines);
    EXPECT_THAT(texts(*log),
                ElementsAre("01.500Z mcp_tool_call_begin", "01Z stderr before",
                            "02.500Z server_state", "02Z stderr begins", "04Z stdout meanwhile",
                            "05Z stderr ends", "06Z stderr behind"));
}

TEST(CallLog, OfOneThatNobodyHasToldOfIsNone) {
    EXPECT_FALSE(log_of_call(kEvents, 9));
    EXPECT_FALSE(log_of_call({}, 1));
}

TEST(CallLog, SaysEachMemberInALineForPeople) {
    auto end = event("mcp_tool_call_end", "01", "a", 1);
    end["outcome"] = "error";
    end["error"] = {{"kind", "timeout"}, {"message", "too late"}};
    EXPECT_EQ(text_of_entry(end),
              "2026-07-28T09:00:01.500Z mcp_tool_call_end outcome=error "
              R"(error={"kind":"timeout","message":"too late"})");
}

}  // namespace
}  // namespace patchbay::app
