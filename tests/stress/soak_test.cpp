// A host that stays through what a day brings: calls, large results, calls given up, commands that come and go, servers that end, are
// killed and are turned, and files that change. It stays as large as it was. Prints what it took.
//   PATCHBAY_SOAK_CALLS=864000 build/release/tests/stress/stress_soak_test      a day of ten calls a second
#include "integration/host_guest.hpp"
#include "support/process_size.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>

namespace patchbay::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kServers = 10;
#if defined(PATCHBAY_SANITIZED)  // sanitizers keep what was freed for a while
constexpr std::size_t kMoreMemoryKib = 1u << 20;
#else
constexpr std::size_t kMoreMemoryKib = 2048;  // and a tenth
#endif
constexpr std::size_t kMoreDescriptors = 8;
constexpr std::chrono::milliseconds kMostOfATurn{20};  // on average, where much else goes on

int calls_wanted() {
    const char* wanted = std::getenv("PATCHBAY_SOAK_CALLS");
    return wanted ? std::atoi(wanted) : 2'000;
}

class Soak : public ::testing::Test {
protected:
    Soak() {
        for (int i = 0; i < kServers; ++i) home.add_example(server(i));
        home.add("crashes", {{"command", built("tests/peers/faulty_server")},
                             {"args", json::array{"exits"}},
                             {"env", {{"FAULTY_CALLS", (home.root() / "calls").string()}}}});
        home.measure_memory();
        host.emplace(home, Words{"--set", "health.reconnect_first_ms=1"},
                     kDeadline + kMostOfATurn * calls_wanted());
        guest.emplace(host->socket());
        EXPECT_TRUE(guest->greet());
    }
    ~Soak() override {
        EXPECT_EQ(nothing_left(), "");
        if (HasFailure()) std::printf("the host said: %s\n", host->program().err().c_str());
    }

    static std::string server(int i) { return "s" + std::to_string(i % kServers); }
    static json::object call(const std::string& server, const std::string& tool,
                             json::object arguments) {
        return {{"op", "tools/call"},
                {"name", "mcp__" + server + "__" + tool},
                {"arguments", std::move(arguments)}};
    }
    void expect_answered(HostGuest& by, json::object request) {
        const auto answer = by.ask(std::move(request));
        if (answer.at("ok") != true) ADD_FAILURE() << json::serialize(answer).substr(0, 500);
    }
    void give_up_a_call(int i) {
        auto request = call(server(i), "sleep", {{"ms", 3'600'000}});
        request["timeout_ms"] = 1;
        EXPECT_EQ(guest->ask(request).at("error").at("kind").as_string(), "timeout");
    }
    void come_and_go(int i) {
        HostGuest other(host->socket());
        EXPECT_TRUE(other.greet());
        expect_answered(other, call(server(i), "echo", {{"message", "from another one"}}));
    }
    // A caller's next call finds its server again, whoever killed it.
    void kill_a_server(int i) {
        const auto told = guest->ask(call(server(i), "pid", {}));
        const auto text = json::parse(
            json::value_to<std::string>(told.at("result").at("content").at(0).at("text")));
        ::kill(text.at("pid").to_number<pid_t>(), SIGKILL);
        for (int tries = 0;
             guest->ask(call(server(i), "echo", {{"message", "again"}})).at("ok") != true;)
            ASSERT_LT(++tries, 1'000) << server(i) << " does not come back";
    }
    void change_the_files(int i) {
        home.add("of_file", {{"command", example_server()},
                             {"args", json::array{"--tools", std::to_string(i % 7)}},
                             {"lazy", true}});
        host->program().signal(SIGHUP);
    }
    void one_turn(int i) {
        expect_answered(*guest, call(server(i), "echo", {{"message", "hello"}}));
        if (i % 20 == 1)
            expect_answered(*guest,
                            call(server(i), "echo", {{"message", std::string(64u << 10, 'x')}}));
        if (i % 50 == 2) guest->ask({{"op", "status"}});
        if (i % 50 == 3) guest->ask(call("crashes", "do", {}));
        if (i % 100 == 4) give_up_a_call(i);
        if (i % 100 == 5) come_and_go(i);
        if (i % 500 == 6) kill_a_server(i);
        if (i % 500 == 7) change_the_files(i);
    }
    ProcessSize size() { return size_of_process(host->program().pid()); }

    Home home;
    std::optional<RunningHost> host;
    std::optional<HostGuest> guest;
};

void print(const char* when, const ProcessSize& size) {
    std::printf("%s: %zu KiB resident (%zu at most), %zu descriptors, %zu threads\n", when,
                size.resident_kib, size.most_resident_kib, size.descriptors, size.threads);
}

TEST_F(Soak, AHostThatStaysDoesNotGrow) {
    const auto began = Clock::now();
    const int calls = calls_wanted();
    int done = 0;
    // By then everything has happened that happens.
    while (done < calls / 4) one_turn(done++);
    const auto before = size();
    print("after a quarter", before);
    while (done < calls) one_turn(done++);
    const auto after = size();
    print("at the end", after);
    std::printf("%d turns in %.1f s\n", calls,
                std::chrono::duration<double>(Clock::now() - began).count());
    EXPECT_LE(after.resident_kib, before.resident_kib + before.resident_kib / 10 + kMoreMemoryKib);
    EXPECT_LE(after.descriptors, before.descriptors + kMoreDescriptors);
    EXPECT_LE(after.threads, before.threads + 2);
    EXPECT_EQ(host->end().exit_code, 0);
}

}  // namespace
}  // namespace patchbay::test
