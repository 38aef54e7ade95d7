// Many sessions before one `patchbay serve --http`: none hears what is another's, and none is lost when
// the gateway is killed with calls in flight. Prints what a session costs and how long a restart takes.
//   PATCHBAY_SESSIONS=1000 build/release/tests/stress/stress_sessions_test
#include "integration/http_gateway.hpp"
#include "support/process_size.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sys/resource.h>

namespace patchbay::test {
namespace {

using Time = std::chrono::steady_clock;
constexpr std::size_t kNetworkServers = 12, kSharedServers = 7;  // and one for each session
constexpr std::size_t kOwnServers = 64;                          // as connections_per_server says

std::size_t sessions_wanted() {
    const char* given = std::getenv("PATCHBAY_SESSIONS");
    return given ? static_cast<std::size_t>(std::atoll(given)) : 500;
}

double ms_since(Time::time_point begin) {
    return std::chrono::duration<double, std::milli>(Time::now() - begin).count();
}

class StressSessions : public ::testing::Test {
protected:
    StressSessions() {
        rlimit limit{};
        ::getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 8'192);
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
    // Of either era, one after the other.
    void add_network_servers(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const bool modern = i % 2 == 0;
            network_.push_back(
                std::make_unique<TcpServer>(home_, Words{"--era", modern ? "modern" : "legacy"}));
            home_.add("net" + std::to_string(i),
                      {{"transport", "tcp"}, {"port", network_.back()->port()}});
        }
    }
    void open_sessions(const HttpGatewayProgram& gateway, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            sessions_.emplace_back(gateway.port());
            sessions_.back().greet({{"elicitation", json::object()}});
        }
    }
    // Ends with what no other mark goes on with.
    static std::string mark(std::size_t session) { return "mark-" + std::to_string(session) + "."; }
    // What came to that session holds its own marks alone.
    static void expect_own(std::size_t session, const std::string& got, std::size_t at_least) {
        std::size_t own = 0;
        for (auto at = got.find("mark-"); at != std::string::npos; at = got.find("mark-", at + 1)) {
            ASSERT_EQ(got.compare(at, mark(session).size(), mark(session)), 0)
                << "session " << session << " got " << got.substr(at, 20);
            ++own;
        }
        EXPECT_GE(own, at_least) << "session " << session << ": " << got;
    }
    // The same call of each at once; each one's marks come to it alone.
    void call_at_once(const std::function<json::object(std::size_t)>& call, std::size_t at_least) {
        std::vector<PlainHttp> calls;
        for (std::size_t i = 0; i < sessions_.size(); ++i)
            calls.push_back(sessions_[i].begin(request_text(++last_id_, "tools/call", call(i))));
        for (std::size_t i = 0; i < calls.size(); ++i) {
            ASSERT_TRUE(calls[i].wait_for_answer()) << calls[i].got();
            ASSERT_THAT(calls[i].got(), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("result")));
            ASSERT_NO_FATAL_FAILURE(expect_own(i, calls[i].got(), at_least));
        }
    }

    Home home_;
    std::vector<std::unique_ptr<TcpServer>> network_;
    std::vector<HttpSession> sessions_;
    int last_id_ = 100;
};

TEST_F(StressSessions, NoneHearsWhatIsAnothers) {
    add_network_servers(kNetworkServers);
    for (std::size_t i = 0; i < kSharedServers; ++i)
        home_.add_example("shared" + std::to_string(i), {"--era", "modern"}, {{"mode", "shared"}});
    home_.add_example("own", {"--era", "legacy"});
    HttpGatewayProgram gateway(home_, {"--set", "host.stdio_sharing=true"});
    const auto before = size_of_process(gateway.program().pid()).resident_kib;
    const auto begin = Time::now();
    const auto count = sessions_wanted();
    open_sessions(gateway, count);
    std::printf("%zu sessions open in %.0f ms\n", count, ms_since(begin));
    std::vector<PlainHttp> streams;
    for (const auto& each : sessions_) streams.push_back(each.listen());

    const auto server_of = [](std::size_t session) {
        const auto number = session % (kNetworkServers + kSharedServers);
        return number < kNetworkServers ? "net" + std::to_string(number)
                                        : "shared" + std::to_string(number - kNetworkServers);
    };
    const auto tool = [&](std::size_t session, const char* name) {
        return "mcp__" + server_of(session) + "__" + name;
    };
    // Progress goes by the token, whoever else has the same one.
    ASSERT_NO_FATAL_FAILURE(call_at_once(
        [&](std::size_t i) -> json::object {
            return {{"name", tool(i, "progress")},
                    {"arguments", {{"steps", 3}, {"message", mark(i)}}},
                    {"_meta", {{"progressToken", "same"}}}};
        },
        3));
    ASSERT_NO_FATAL_FAILURE(call_at_once(
        [&](std::size_t i) -> json::object {
            return {{"name", tool(i, "echo")}, {"arguments", {{"message", mark(i)}}}};
        },
        1));
    // Each subscribes to a resource of its own, of a server that many share.
    for (std::size_t i = 0; i < count; ++i) {
        const auto uri = "patchbay+" + server_of(i) + ":example://item/" + mark(i);
        ASSERT_THAT(sessions_[i].ask("resources/subscribe", {{"uri", uri}}), HasSubstr("result"));
    }
    ASSERT_NO_FATAL_FAILURE(call_at_once(
        [&](std::size_t i) -> json::object {
            return {{"name", tool(i, "touch")},
                    {"arguments", {{"uri", "example://item/" + mark(i)}}}};
        },
        0));
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_TRUE(streams[i].wait_for("resources/updated")) << i << streams[i].got();
        ASSERT_NO_FATAL_FAILURE(expect_own(i, streams[i].got(), 1));
    }
    // Where a server says whom it asks; the question comes by the call, its answer by another way.
    std::vector<PlainHttp> calls;
    std::vector<std::size_t> asked;
    for (std::size_t i = 0; i < count; ++i) {
        const auto number = i % (kNetworkServers + kSharedServers);
        if (number < kNetworkServers && number % 2 == 1) continue;  // legacy ones cannot say it
        asked.push_back(i);
        calls.push_back(sessions_[i].begin(
            request_text(++last_id_, "tools/call",
                         {{"name", tool(i, "ask")}, {"arguments", {{"question", mark(i)}}}})));
    }
    for (std::size_t i = 0; i < asked.size(); ++i) {
        ASSERT_TRUE(calls[i].wait_for("elicitation/create")) << calls[i].got();
        auto answer = sessions_[asked[i]].begin(
            R"({"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"name":")" +
            mark(asked[i]) + R"("}}})");
        ASSERT_TRUE(answer.wait_for_answer());
        ASSERT_TRUE(calls[i].wait_for_answer()) << calls[i].got();
        ASSERT_NO_FATAL_FAILURE(expect_own(asked[i], calls[i].got(), 2));
    }
    // One process for each session, as many as there may be; what they log is their session's.
    std::size_t own = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const auto got =
            sessions_[i].call("mcp__own__log", {{"level", "error"}, {"message", mark(i)}});
        ASSERT_NO_FATAL_FAILURE(expect_own(i, got, 0));
        own += got.find("logged") != std::string::npos;
    }
    EXPECT_EQ(own, std::min(count, kOwnServers));
    std::printf(
        "%.1f KB for each session, %.0f ms in all\n",
        double(size_of_process(gateway.program().pid()).resident_kib - before) / double(count),
        ms_since(begin));
    gateway.program().signal(SIGTERM);
    EXPECT_EQ(gateway.program().finish().exit_code, 0);
    network_.clear();
    EXPECT_EQ(nothing_left(), "");
}

TEST_F(StressSessions, NoneIsLostWhenTheGatewayIsKilledWithCallsInFlight) {
    add_network_servers(4);
    const auto count = 2 * sessions_wanted();
    std::optional<HttpGatewayProgram> gateway(std::in_place, home_);
    const auto before = size_of_process(gateway->program().pid()).resident_kib;
    open_sessions(*gateway, count);
    std::printf(
        "%.1f KB for each of %zu sessions\n",
        double(size_of_process(gateway->program().pid()).resident_kib - before) / double(count),
        count);
    for (std::size_t i = 0; i < count; i += 10)
        ASSERT_THAT(sessions_[i].ask("logging/setLevel", {{"level", "debug"}}),
                    HasSubstr("result"));
    const auto address = "127.0.0.1:" + std::to_string(gateway->port());
    for (const int signal : {SIGKILL, SIGTERM}) {
        std::vector<PlainHttp> calls;
        for (std::size_t i = 0; i < count; i += 4)
            calls.push_back(sessions_[i].begin(
                request_text(++last_id_, "tools/call",
                             {{"name", "mcp__net" + std::to_string(i / 4 % 4) + "__sleep"},
                              {"arguments", {{"ms", 3'600'000}}}})));
        // The last one has been taken, and so have those before it.
        ASSERT_THAT(sessions_[0].ask("ping"), HasSubstr("result"));
        const auto begin = Time::now();
        gateway->program().signal(signal);
        gateway->program().finish();
        for (auto& each : calls) {
            ASSERT_TRUE(each.wait_for_end()) << "it hangs: " << each.got();
            EXPECT_THAT(each.got(), Not(HasSubstr("\"result\"")));
        }
        gateway.emplace(home_, Words(), address);
        const auto there = ms_since(begin);
        std::vector<PlainHttp> again;
        for (std::size_t i = 0; i < count; ++i)
            again.push_back(sessions_[i].begin(
                request_text(++last_id_, "tools/call",
                             {{"name", "mcp__net" + std::to_string(i % 4) + "__echo"},
                              {"arguments", {{"message", mark(i)}}}})));
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_TRUE(again[i].wait_for_answer()) << again[i].got();
            ASSERT_THAT(again[i].got(),
                        AllOf(StartsWith("HTTP/1.1 200"), HasSubstr(sessions_[i].id())));
            ASSERT_NO_FATAL_FAILURE(expect_own(i, again[i].got(), 1));
        }
        std::printf("%s: there again after %.0f ms, all %zu sessions answered after %.0f ms\n",
                    signal == SIGKILL ? "killed" : "ended", there, count, ms_since(begin));
    }
    gateway->program().signal(SIGTERM);
    gateway->program().finish();
    network_.clear();
    EXPECT_EQ(nothing_left(), "");
}

}  // namespace
}  // namespace patchbay::test
