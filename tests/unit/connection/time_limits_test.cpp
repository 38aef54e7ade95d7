// How long a request may take, and what is said of one that took longer: no clock, no channel.
#include "connection/time_limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::connection {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr auto kNever = core::Clock::time_point::max();
const core::Clock::time_point kNow{1h};

config::Server server_of() {
    config::Server server;
    server.tool_timeout = 60s;
    server.request_timeout = 5s;
    return server;
}

PendingRequest request_of(const std::string& method, milliseconds timeout, CallerNumber caller) {
    PendingRequest entry{{method, {}, timeout, {}}, {}, caller};
    set_limits(entry, server_of(), kNow);
    return entry;
}

TEST(TimeLimits, AreThoseOfItsMethodUnlessTheRequestHasItsOwn) {
    struct Case {
        std::string method;
        milliseconds timeout, wall, idle;
    };
    const Case cases[] = {
        {"tools/call", 0ms, 60s, 0ms}, {"subscriptions/listen", 3s, 3s, 0ms},
        {"tools/list", 0ms, 60s, 5s},  {"tools/call", 3s, 3s, 0ms},
        {"tools/list", 3s, 3s, 0ms},   {"tasks/result", 0ms, 60s, 0ms},
        {"tasks/get", 0ms, 60s, 5s},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.method + " " + std::to_string(c.timeout.count()));
        const auto entry = request_of(c.method, c.timeout, 1);
        EXPECT_EQ(entry.wall, c.wall);
        EXPECT_EQ(entry.idle, c.idle);
        EXPECT_EQ(entry.deadline, kNow + c.wall);
    }
}

TEST(TimeLimits, OfAStreamAreNoneButTheRequestsOwn) {
    const auto entry = request_of("subscriptions/listen", 0ms, 1);
    EXPECT_EQ(entry.deadline, kNever);
    EXPECT_EQ(entry.idle, 0ms);
}

TEST(TimeLimits, RunFromWhenTheCallerBegan) {
    PendingRequest entry{{"tools/call", {}, 3s, {}}, {}, 1};
    entry.request.begun = kNow - 2s;
    set_limits(entry, server_of(), kNow);
    EXPECT_EQ(entry.deadline, kNow + 1s);
}

TEST(TimeLimits, OfMoreThanAYearAreNone) {
    const auto entry = request_of("tools/call", milliseconds::max(), 1);
    EXPECT_EQ(entry.deadline, kNever);
}

TEST(TimeLimits, AreToldByTheNameOfWhoSetThem) {
    struct Case {
        std::string method;
        milliseconds timeout;
        CallerNumber caller;
        Stage stage;
        std::string told;
    };
    const Case cases[] = {
        {"tools/call", 0ms, 1, Stage::Sent,
         "tools/call was not answered within 60 s (tool_timeout_sec); the server is ready"},
        {"tools/call", 0ms, 1, Stage::Waiting,
         "tools/call was not sent within 60 s (tool_timeout_sec); the server is ready"},
        {"tools/list", 0ms, 1, Stage::Sent,
         "tools/list was not answered within 5 s (request_timeout_ms); the server is ready"},
        {"tools/call", 3s, 1, Stage::Sent,
         "tools/call was not answered within 3 s (the time-out given); the server is ready"},
        {"ping", 3s, 0, Stage::Sent,
         "ping was not answered within 3 s (time-out); the server is ready"},
        {"tools/call", 3s, 1, Stage::Asking,
         "tools/call waits for the input that its server wants; 3 s (the time-out given) have "
         "passed"},
        {"tools/call", 0ms, 1, Stage::Asking,
         "tools/call waits for the input that its server wants; nobody gave it within 1800 s"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.told);
        auto entry = request_of(c.method, c.timeout, c.caller);
        entry.stage = c.stage;
        if (entry.idle > 0ms) entry.idle_deadline = kNow + entry.idle;
        const auto error = too_late(entry, server_of(), State::Ready);
        EXPECT_EQ(error.code, ErrorCode::Timeout);
        EXPECT_EQ(error.message, c.told);
    }
}

}  // namespace
}  // namespace patchbay::connection
