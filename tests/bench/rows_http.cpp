#include "measure.hpp"
#include "rig.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <poll.h>

namespace bench {

namespace {

constexpr int kPile = 2'000;
constexpr std::chrono::milliseconds kRest{2'000};
constexpr std::chrono::milliseconds kSettle{3'000};  // until the threads that connected have left

// The benchmark's HTTP server, while it lives.
class Remote {
public:
    Remote(const Programs& programs, const char* mode, bool pin)
        : child_(pin ? pinned({programs.http_server(), mode})
                     : Command{programs.http_server(), mode}) {
        const auto port = static_cast<int>(value_in(child_.read_line(), "port "));
        url_ = "http://127.0.0.1:" + std::to_string(port) + "/mcp";
    }
    const std::string& url() const { return url_; }
    void wait_for_stream() { child_.read_line(); }

private:
    Child child_;
    std::string url_;
};

void measure_latency(const Programs& programs, double effort, std::vector<Row>& rows) {
    Pair p50;
    const Remote remote(programs, "plain", true);
    const std::string calls = std::to_string(repeat(30'000, effort));
    const auto measure = [&](const std::string& program) {
        return value_in(run(pinned({program, remote.url(), "latency", calls})), "p50_us ");
    };
    alternate(
        repeat(5, effort), [&] { p50.limit.push_back(measure(programs.limit())); },
        [&] { p50.ours.push_back(measure(programs.host())); });
    rows.push_back({"3", "HTTP call, 1 in flight, p50, pinned", "us", median(p50.limit),
                    median(p50.ours), 2.5, kNone});
}

void measure_throughput(const Programs& programs, double effort, bool pin, std::vector<Row>& rows) {
    Pair rate;
    const Remote remote(programs, "plain", pin);
    const std::string calls = std::to_string(repeat(100'000, effort));
    const auto measure = [&](const std::string& program) {
        const Command command{program, remote.url(), "throughput", calls, "64"};
        return value_in(run(pin ? pinned(command) : command), "calls_per_s ") / 1000;
    };
    alternate(
        repeat(5, effort), [&] { rate.limit.push_back(measure(programs.limit())); },
        [&] { rate.ours.push_back(measure(programs.host())); });
    rows.push_back({pin ? "-" : "4",
                    pin ? "HTTP calls, 64 in flight, pinned" : "HTTP calls, 64 in flight, spread",
                    "k/s", median(rate.limit), median(rate.ours), pin ? kNone : 0.25, kNone, true});
}

// The p99 of a healthy server's calls, and the host's memory, without (the limit) and with calls
// that pile up at another server, which never reads.
void measure_stalled(const Programs& programs, double effort, bool http, std::vector<Row>& rows) {
    Pair p99, resident;
    const Remote healthy(programs, "plain", true);
    const auto server = http ? healthy.url() : programs.server();
    const std::string calls = std::to_string(repeat(20'000, effort));
    const auto measure = [&](int pile, std::vector<double>& tails, std::vector<double>& memory) {
        const Remote stalled(programs, "stalls", true);
        const auto line = run(pinned(
            {programs.host(), server, "beside", stalled.url(), calls, std::to_string(pile)}));
        tails.push_back(value_in(line, "p99_us "));
        memory.push_back(value_in(line, "resident_mb "));
    };
    alternate(
        repeat(5, effort), [&] { measure(1, p99.limit, resident.limit); },
        [&] { measure(repeat(kPile, effort), p99.ours, resident.ours); });
    const std::string name = http ? "HTTP" : "stdio";
    rows.push_back({"17", name + " call, p99 beside a stalled server", "us", median(p99.limit),
                    median(p99.ours), 1.5, kNone});
    rows.push_back(
        {"-", "resident memory, " + std::to_string(repeat(kPile, effort)) + " calls piled up there",
         "MB", median(resident.limit), median(resident.ours), kNone, kNone});
}

// How often each thread of a process has begun to wait.
std::map<std::string, double> waits_of(pid_t pid) {
    std::map<std::string, double> waits;
    const auto tasks = "/proc/" + std::to_string(pid) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks)) {
        std::ifstream file(task.path() / "status");
        for (std::string line; std::getline(file, line);)
            if (line.rfind("voluntary_ctxt_switches:", 0) == 0)
                waits[task.path().filename()] = std::atof(line.c_str() + 24);
    }
    return waits;
}

struct Idle {
    double resident_mb, wakeups;
};

// For so long, whatever it says meanwhile.
void listen_for(Child& child, std::chrono::milliseconds time) {
    const auto until = std::chrono::steady_clock::now() + time;
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            until - std::chrono::steady_clock::now());
        pollfd wanted{child.out(), POLLIN, 0};
        if (left.count() <= 0 || ::poll(&wanted, 1, static_cast<int>(left.count())) == 0) return;
        child.read_lines();
    }
}

// A host at rest for `time`, with the streams of so many remote servers open.
Idle idle_with(const Programs& programs, int servers, std::chrono::milliseconds time) {
    Remote remote(programs, "streams", false);
    const Home home(programs, servers,
                    "url = \"" + remote.url() + "\"\nprotocol = \"2025-11-25\"\n");
    Child child(home.command({"batch"}));
    child.write("{\"id\":1,\"op\":\"tools/list\",\"refresh\":true}\n");
    while (child.read_line().rfind("{\"event\"", 0) == 0) {
    }
    for (int i = 0; i < servers; ++i) remote.wait_for_stream();
    listen_for(child, kSettle);
    const auto before = waits_of(child.pid());
    listen_for(child, time);
    const auto after = waits_of(child.pid());
    Idle idle{resident_mb(child.pid()), 0};
    for (const auto& [thread, waits] : before) {
        const auto later = after.find(thread);
        idle.wakeups += later == after.end() ? 1 : later->second - waits;
    }
    errno = 0;
    if (child.wait() != 0) give_up("patchbay batch failed");
    return idle;
}

void measure_idle(const Programs& programs, double effort, std::vector<Row>& rows) {
    Pair memory, wakeups;
    const auto measure = [&](int servers, std::vector<double>& resident,
                             std::vector<double>& woken) {
        const auto idle = idle_with(programs, servers, kRest);
        resident.push_back(idle.resident_mb);
        woken.push_back(idle.wakeups);
    };
    alternate(
        repeat(3, effort), [&] { measure(1, memory.limit, wakeups.limit); },
        [&] { measure(50, memory.ours, wakeups.ours); });
    rows.push_back({"-", "resident memory, 50 idle HTTP streams", "MB", median(memory.limit),
                    median(memory.ours), kNone, median(memory.limit) + 3});
    rows.push_back({"-", "its wake-ups in 2 s", "", median(wakeups.limit), median(wakeups.ours),
                    kNone, kNone});
}

}  // namespace

void measure_http(const Programs& programs, double effort, std::vector<Row>& rows) {
    measure_latency(programs, effort, rows);
    measure_throughput(programs, effort, false, rows);
    measure_throughput(programs, effort, true, rows);
    measure_stalled(programs, effort, true, rows);
    measure_stalled(programs, effort, false, rows);
    measure_idle(programs, effort, rows);
}

}  // namespace bench
