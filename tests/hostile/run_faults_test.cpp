// A host that stays, with servers that are wrong each in a way of its own: each is found and told, no
// other server hears of it, the host stays as small as it was, and nothing is left behind.
#include "integration/host_guest.hpp"
#include "support/process_size.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>

namespace patchbay::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

#if defined(PATCHBAY_SANITIZED)
constexpr std::size_t kMostMemoryMiB = 1'000;
constexpr std::uintmax_t kCrashes = 100;
constexpr int kCalls = 5;
constexpr const char* kChanges = "10";
#else
constexpr std::size_t kMostMemoryMiB = 250;
constexpr std::uintmax_t kCrashes = 1'000;
constexpr int kCalls = 20;               // of each of those that are wrong while they answer
constexpr const char* kChanges = "100";  // of its tools that the storm tells in 10 ms
#endif
constexpr int kServers = 50;
constexpr std::size_t kMostThreads = 8;
// A server's log: what it may grow to, twice as one is kept of before, and a chunk more.
constexpr std::uintmax_t kMostLogBytes = 2 * (1u << 20) + (256u << 10);

class Faults : public ::testing::Test {
protected:
    ~Faults() override { EXPECT_EQ(nothing_left(), ""); }

    void add_faulty(const std::string& fault, json::object more = {}) {
        more["command"] = built("tests/peers/faulty_server");
        more["args"] = json::array{fault};
        more["env"] = {{"FAULTY_LISTS", lists_of(fault).string()},
                       {"FAULTY_CHANGES", kChanges},
                       {"FAULTY_CALLS", (home.root() / (fault + ".calls")).string()}};
        home.add(fault, std::move(more));
    }
    fs::path lists_of(const std::string& fault) const { return home.root() / (fault + ".lists"); }

    void start(const Words& settings) {
        Words more;
        for (const auto& each : settings) more.insert(more.end(), {"--set", each});
        host_.emplace(home, more);
        guest_.emplace(host_->socket());
        ASSERT_TRUE(guest_->greet());
    }
    json::object ask(json::object request) { return guest_->ask(std::move(request)); }
    json::object call(const std::string& server, const std::string& tool = "do",
                      json::object more = {}) {
        more["op"] = "tools/call";
        more["name"] = "mcp__" + server + "__" + tool;
        return ask(std::move(more));
    }
    void expect_good() {
        const auto answer = call("good", "echo", {{"arguments", {{"message", "hi"}}}});
        EXPECT_EQ(answer.at("ok"), true) << json::serialize(answer);
    }
    json::object status_of(const std::string& server) {
        const auto answer = ask({{"op", "status"}});
        for (const auto& each : answer.at("result").at("servers").as_array())
            if (each.at("id").as_string() == server) return each.as_object();
        ADD_FAILURE() << server << " has no status";
        return {};
    }
    // The good server is called until `holds` does.
    void until(const std::string& server, const std::function<bool(const json::object&)>& holds) {
        const auto end = Clock::now() + kDeadline;
        json::object status;
        while (!holds(status = status_of(server)) && Clock::now() < end)
            EXPECT_EQ(call("good", "sleep", {{"arguments", {{"ms", 20}}}}).at("ok"), true);
        EXPECT_TRUE(holds(status)) << json::serialize(status);
    }

    Home home;
    std::optional<RunningHost> host_;
    std::optional<HostGuest> guest_;
};

std::string message_of(const json::object& answer) {
    const auto* error = answer.if_contains("error");
    return error ? json::value_to<std::string>(error->at("message")) : "";
}

TEST_F(Faults, OneServersAreNoOtherServers) {
    home.add_example("good");
    for (const char* fault : {"exits", "mute", "dead", "noisy", "storm", "many", "others"})
        add_faulty(fault);
    home.add_example("stays", {"--stubborn", "--spawn-daemon"});
    start({"health.ping_interval_sec=1", "health.ping_timeout_sec=1", "health.misses=2",
           "health.reconnect_first_ms=1"});
    const auto began = Clock::now();

    std::set<std::string> ends;
    for (int i = 0; i < 27; ++i) {
        ends.insert(message_of(call("exits")));
        expect_good();
    }
    EXPECT_THAT(ends, ::testing::Contains(HasSubstr("exited with code 3")));
    EXPECT_THAT(ends, ::testing::Contains(HasSubstr("signal 9")));
    EXPECT_THAT(ends, ::testing::Contains("")) << "it answers between its ends";

    const auto mute = call("mute", "do", {{"timeout_ms", 300}});
    EXPECT_EQ(mute.at("error").at("kind").as_string(), "timeout");
    EXPECT_THAT(message_of(mute), HasSubstr("mute"));
    EXPECT_EQ(status_of("mute").at("state"), "ready") << "it answers pings";

    // What answers nothing is cut off, called or not.
    const auto dead = call("dead");
    EXPECT_EQ(dead.at("ok"), false);
    EXPECT_THAT(message_of(dead), HasSubstr("dead"));
    until("dead", [](const json::object& status) {
        const auto* error = status.if_contains("last_error");
        return error && json::serialize(*error).find("health checks") != std::string::npos;
    });

    for (const char* fault : {"noisy", "storm", "others"}) {
        for (int i = 0; i < kCalls; ++i) {
            const auto answer = call(fault);
            EXPECT_EQ(answer.at("ok"), true) << fault << ": " << json::serialize(answer);
            expect_good();
        }
    }
    const auto many = call("many");
    if (many.at("ok") != true) {
        EXPECT_THAT(message_of(many), HasSubstr("many"));
    }
    EXPECT_EQ(call("stays", "echo", {{"arguments", {{"message", "hi"}}}}).at("ok"), true);
    expect_good();

    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - began);
    // One when it connects and one at once, and those that its calls wait for.
    EXPECT_LE(fs::file_size(lists_of("storm")),
              static_cast<std::uintmax_t>(seconds.count() + 3 + kCalls))
        << "one a second of thousands";
    for (const auto& each : fs::recursive_directory_iterator(home.root() / "state"))
        if (each.path().extension() == ".log") {
            EXPECT_LE(fs::file_size(each), kMostLogBytes) << each;
        }
    const auto after = size_of_process(host_->program().pid());
    EXPECT_LE(after.most_resident_kib / 1024, kMostMemoryMiB);
    EXPECT_LE(after.threads, kMostThreads);
    EXPECT_EQ(host_->end().exit_code, 0);
}

TEST_F(Faults, AHostThatIsKilledWithFiftyServersLeavesNone) {
    for (int i = 0; i < kServers; ++i) home.add_example("s" + std::to_string(i));
    start({});
    for (int i = 0; i < kServers; ++i) {
        const auto server = "s" + std::to_string(i);
        EXPECT_EQ(call(server, "echo", {{"arguments", {{"message", "hi"}}}}).at("ok"), true);
    }
    host_->program().signal(SIGKILL);
    host_->program().finish();
}

TEST_F(Faults, AServerThatCrashesAThousandTimesCostsNothing) {
    home.add_example("good");
    add_faulty("exits", {{"mode", "per_session"}});
    home.measure_memory();
    start({"health.reconnect_first_ms=1"});
    const auto calls = home.root() / "exits.calls";
    // It ends at each third. A call that finds it ending is answered with an error and reaches none.
    std::uintmax_t asked = 0;
    const auto crash_until = [&](std::uintmax_t crashes) {
        for (; !fs::exists(calls) || fs::file_size(calls) < 3 * crashes; ++asked) {
            const auto answer = call("exits");
            if (answer.at("ok") != true) {
                ASSERT_THAT(message_of(answer), HasSubstr("exits")) << json::serialize(answer);
            }
            ASSERT_LE(asked, 6 * kCrashes) << "it is not started any more";
        }
    };
    crash_until(kCrashes / 10);  // until all that is kept of it is there
    expect_good();
    const auto before = size_of_process(host_->program().pid());
    crash_until(kCrashes);
    expect_good();
    const auto after = size_of_process(host_->program().pid());
    // One that is just being started holds both sides of its pipes and of its socket.
    EXPECT_LE(after.descriptors, before.descriptors + 4 + 8);
    EXPECT_LE(after.threads, kMostThreads);
    EXPECT_LE(after.resident_kib, before.resident_kib + before.resident_kib / 20 + 2048);
    EXPECT_EQ(host_->end().exit_code, 0);
}

TEST_F(Faults, AMachineThatSleptFindsItsServersAsTheyWere) {
    home.add_example("good");
    start({"health.ping_interval_sec=1", "health.ping_timeout_sec=1", "health.misses=1"});
    expect_good();
    const auto before = status_of("good");
    host_->program().signal(SIGSTOP);
    // Three intervals pass in which it could neither ask nor hear.
    ::poll(nullptr, 0, 3'000);
    host_->program().signal(SIGCONT);
    for (int i = 0; i < 20; ++i)
        EXPECT_EQ(call("good", "sleep", {{"arguments", {{"ms", 100}}}}).at("ok"), true);
    EXPECT_EQ(status_of("good").at("pid"), before.at("pid"));
    EXPECT_EQ(host_->end().exit_code, 0);
}

}  // namespace
}  // namespace patchbay::test
