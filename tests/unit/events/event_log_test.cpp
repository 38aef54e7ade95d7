// What a host that runs tells of what happens in it.
#include "events/event_log.hpp"

#include "core/secrets.hpp"
#include "support/result_schema.hpp"
#include "support/turned_loop.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace patchbay::events {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Events : public ::testing::Test {
protected:
    Events() {
        followed = log.follow([this](const Event& event) {
            told.push_back(json::parse(event.text).as_object());
            EXPECT_TRUE(test::is_a("event", told.back()));
        });
    }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const auto& each : told) all.emplace_back(each.at("event").as_string());
        return all;
    }
    void begin(std::uint64_t number, const std::string& server = "git") {
        log.on_call_begun({number, person, "mcp__git__log", server, "log"});
    }
    void end(std::uint64_t number, std::string_view outcome, std::string_view trouble = {}) {
        log.on_request_ended({{"tools/call", "git", "log", "mcp__git__log", {}, number},
                              outcome,
                              1500ms,
                              20,
                              30,
                              trouble});
    }

    void state_of(std::uint64_t connection, std::string_view state, std::string_view trouble = {}) {
        log.on_server_state({"git", connection, state, trouble});
    }
    // "1 starting": of each start its status.
    std::vector<std::string> starts() const {
        std::vector<std::string> all;
        for (const auto& each : told)
            if (each.at("event") == "mcp_startup_update")
                all.push_back(std::to_string(each.at("start_number").to_number<int>()) + " " +
                              std::string(each.at("status").as_string()));
        return all;
    }

    const core::Principal person;
    test::TurnedLoop loop;
    EventLog log{loop};
    std::vector<json::object> told;
    std::shared_ptr<void> followed;
};

TEST_F(Events, ACallIsToldOfAsItBeginsAndAsItEndsAndOfWhatItCarriesOnlyItsLength) {
    begin(7);
    end(7, "is_error");
    ASSERT_THAT(names(), ElementsAre("mcp_tool_call_begin", "mcp_tool_call_end"));
    EXPECT_EQ(told[0].at("number"), 1);
    EXPECT_EQ(told[1].at("number"), 2);
    EXPECT_EQ(told[1].at("call"), told[0].at("call"));
    EXPECT_EQ(told[1].at("is_error"), true);
    EXPECT_EQ(told[1].at("result"), (json::object{{"bytes", 30}}));
    EXPECT_EQ(told[1].at("duration_ms"), 1500);
}

TEST_F(Events, WhatFailedSaysWhyWithoutAnySecret) {
    core::Secrets secrets;
    secrets.add("hunter2-token");
    begin(1);
    end(1, "auth_required", "bad token hunter2-token\nsecond line");
    EXPECT_EQ(told.at(1).at("error").at("kind"), "auth_required");
    const std::string why(told.at(1).at("error").at("message").as_string());
    EXPECT_THAT(why, HasSubstr("bad token"));
    EXPECT_THAT(why, Not(HasSubstr("hunter2-token")));
    EXPECT_THAT(why, Not(HasSubstr("\n")));
}

TEST_F(Events, WhatAServerSaysInItsErrorIsAnAnswerAndNotTold) {
    begin(1);
    end(1, "server_error", "there is no user called Jane Doe");
    EXPECT_EQ(told.at(1).at("error"),
              (json::object{{"kind", "server"}, {"message", "the server answered an error"}}));
}

TEST_F(Events, TheEndOfACallIsOfTheServerOfItsBeginning) {
    begin(1);
    log.on_request_ended(
        {{"tools/call", {}, {}, "mcp__git__none", {}, 1}, "not_found", 1ms, 1, 2, "no"});
    EXPECT_EQ(told.at(1).at("server"), "git");
}

TEST_F(Events, AStartOfThousandsIsAsLongAsOneOfAHundred) {
    const std::string id(63, 'x');
    log.tell_startup(std::vector<std::string>(20'000, id),
                     std::vector<EventLog::Failed>(20'000, {id, std::string(10'000, 'y')}));
    EXPECT_EQ(told.at(0).at("ready").as_array().size(), EventLog::kNames);
    EXPECT_EQ(told.at(0).at("failed").as_array().size(), EventLog::kNames);
    EXPECT_EQ(told.at(0).at("failed_more"), 20'000 - EventLog::kNames);
    EXPECT_EQ(log.kept().size(), 1u);
}

TEST_F(Events, ARequestThatIsNoCallIsNotToldOf) {
    log.on_request_ended({{"ping", "git", {}, {}, {}, 3}, "ok", 1ms, 1, 2});
    EXPECT_TRUE(told.empty());
}

TEST_F(Events, ACallThatLastsIsToldOfEachHalfMinute) {
    begin(1);
    loop.pass(95s);
    EXPECT_THAT(names(), ElementsAre("mcp_tool_call_begin", "mcp_tool_call_progress",
                                     "mcp_tool_call_progress", "mcp_tool_call_progress"));
    EXPECT_EQ(told.back().at("elapsed_ms"), 90'000);
    end(1, "ok");
    told.clear();
    loop.pass(95s);
    EXPECT_TRUE(told.empty());
}

TEST_F(Events, AStartLastsUntilItsConnectionIsReadyOrGivenUp) {
    for (const char* state : {"connecting", "reconnecting", "ready", "reconnecting", "ready"})
        state_of(1, state);
    std::vector<std::string> statuses;
    for (const auto& each : told)
        if (each.at("event") == "mcp_startup_update")
            statuses.emplace_back(each.at("status").as_string());
    EXPECT_THAT(statuses, ElementsAre("starting", "starting", "ready"));
    told.clear();
    state_of(1, "connecting");
    state_of(1, "failed", "no such file");
    EXPECT_EQ(told.back().at("status"), "failed");
    EXPECT_EQ(told.back().at("error"), "no such file");
}

// As a server is restarted: its old program may take its time to leave.
TEST_F(Events, TheEndOfAConnectionIsNotThatOfTheStartThatTakesItsPlace) {
    state_of(1, "connecting");
    state_of(1, "ready");
    log.on_connection_closing("git", 1);
    state_of(2, "connecting");
    state_of(1, "stopped");
    state_of(2, "ready");
    EXPECT_THAT(starts(), ElementsAre("1 starting", "1 ready", "2 starting", "2 ready"));
    EXPECT_EQ(told.at(told.size() - 2).at("connection"), 2) << "of the state";
}

TEST_F(Events, AStartThatIsGivenUpIsToldSoBeforeTheNextOneBegins) {
    state_of(1, "connecting");
    log.on_connection_closing("git", 1);
    state_of(2, "connecting");
    state_of(2, "ready");
    state_of(1, "stopped");
    EXPECT_THAT(starts(), ElementsAre("1 starting", "1 cancelled", "2 starting", "2 ready"));
}

TEST_F(Events, EachKindHasItsShape) {
    log.tell_startup({"git"}, {{"bad", "no such file"}});
    log.on_server_restart("git");
    log.on_approval({4, "git", "tools/call", "mcp__git__push", "asked"});
    log.on_list_changed({"git", "tools", 3, {"a"}, {"b"}, {"c"}});
    log.on_configuration({2, "files", {}, {"a"}, {}, {"git"}, {}, 1, 0});
    log.on_configuration({2, "files", "line 3: bad", {}, {}, {}, {}, 0, 0});
    EXPECT_THAT(names(), ElementsAre("mcp_startup_complete", "server_restart", "approval",
                                     "catalogue", "configuration", "configuration_refused"));
}

TEST_F(Events, OfAListThatIsLongTheRestIsCounted) {
    log.on_list_changed({"git", "tools", 100'000, std::vector<std::string>(100'000, "x"), {}, {}});
    EXPECT_EQ(told.at(0).at("added").as_array().size(), EventLog::kNames);
    EXPECT_EQ(told.at(0).at("added_more"), 100'000 - EventLog::kNames);
}

TEST_F(Events, TheLastOnesAreKeptWithinBounds) {
    followed.reset();
    for (int i = 0; i < 20'000; ++i) state_of(1, "ready", std::string(10'000, 'x'));
    std::size_t bytes = 0;
    for (const auto& each : log.kept()) bytes += each.text.size();
    EXPECT_LE(bytes, EventLog::kBytes);
    EXPECT_LE(log.kept().size(), EventLog::kEvents);
    EXPECT_EQ(log.kept().back().number, 20'000u);
    EXPECT_EQ(log.last(), 20'000u);
}

TEST_F(Events, WhoFollowsNoLongerIsNotTold) {
    followed.reset();
    log.on_server_restart("git");
    EXPECT_TRUE(told.empty());
}

}  // namespace
}  // namespace patchbay::events
