#include "rows.hpp"

#include "measure.hpp"
#include "rig.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>

namespace bench {

namespace {

void measure_latency(const Programs& programs, double effort, bool pin, std::vector<Row>& rows) {
    Pair p50, tail;
    const std::string calls = std::to_string(repeat(pin ? 50'000 : 10'000, effort));
    const auto measure = [&](const std::string& program, std::vector<double>& p50s,
                             std::vector<double>& tails) {
        const Command command{program, programs.server(), "latency", calls};
        const auto line = run(pin ? pinned(command) : command);
        p50s.push_back(value_in(line, "p50_us "));
        tails.push_back(value_in(line, "p99_us ") / p50s.back());
    };
    alternate(
        repeat(5, effort), [&] { measure(programs.limit(), p50.limit, tail.limit); },
        [&] { measure(programs.host(), p50.ours, tail.ours); });
    rows.push_back(
        {pin ? "1" : "-",
         pin ? "stdio call, 1 in flight, p50, pinned" : "stdio call, 1 in flight, p50, spread",
         "us", median(p50.limit), median(p50.ours), pin ? 2.5 : kNone, kNone});
    if (pin)
        rows.push_back({"18", "stdio call, p99/p50, pinned", "x", median(tail.limit),
                        median(tail.ours), kNone, 3});
}

void measure_throughput(const Programs& programs, double effort, bool pin, std::vector<Row>& rows) {
    Pair rate;
    const std::string calls = std::to_string(repeat(200'000, effort));
    const auto measure = [&](const std::string& program, std::vector<double>& rates) {
        const Command command{program, programs.server(), "throughput", calls, "64"};
        rates.push_back(value_in(run(pin ? pinned(command) : command), "calls_per_s ") / 1000);
    };
    alternate(
        repeat(5, effort), [&] { measure(programs.limit(), rate.limit); },
        [&] { measure(programs.host(), rate.ours); });
    rows.push_back({pin ? "-" : "2",
                    pin ? "stdio calls, 64 in flight, pinned" : "stdio calls, 64 in flight, spread",
                    "k/s", median(rate.limit), median(rate.ours), pin ? kNone : 0.4, kNone, true});
}

// Row 1 again, of calls that a rule lets through, to approved tools, each recorded; and what of that costs how much.
void measure_policy(const Programs& programs, double effort, std::vector<Row>& rows) {
    const Home home(programs, 0, "");
    const auto times = std::to_string(repeat(200'000, effort));
    const auto calls = std::to_string(repeat(50'000, effort));
    std::vector<double> deciding, recording;
    Pair p50;
    alternate(
        repeat(5, effort),
        [&] {
            p50.limit.push_back(value_in(
                run(pinned({programs.limit(), programs.server(), "latency", calls})), "p50_us "));
        },
        [&] {
            p50.ours.push_back(value_in(
                run(pinned({programs.host(), programs.server(), "guarded", calls, home.state()})),
                "p50_us "));
            deciding.push_back(
                value_in(run({programs.host(), "decide", times}), "us_per_decision "));
            recording.push_back(
                value_in(run({programs.host(), "audit", times, home.state()}), "us_per_record "));
        });
    rows.push_back({"1", "the same by a rule, pinned tools, audit on", "us", median(p50.limit),
                    median(p50.ours), 2.5, kNone});
    rows.push_back({"27", "a decision, 10,000 rules", "us", kNone, median(deciding), kNone, 2});
    rows.push_back({"28", "a record of the audit, CPU with its writing", "us", kNone,
                    median(recording), kNone, 3});
}

double whole_run_ms(const Command& command) {
    const auto start = Clock::now();
    Child child(command);
    errno = 0;
    if (child.wait() != 0) give_up(command[0] + " failed");
    return milliseconds_since(start);
}

void measure_servers(const Programs& programs, double effort, int servers, std::vector<Row>& rows) {
    const Home home(programs, servers, "command = \"" + programs.server() + "\"\n");
    Pair ready, memory;
    std::vector<double> unsupervised;
    const Command alone{programs.limit(), programs.server(), "servers", std::to_string(servers)};
    auto supervised = alone;
    supervised.push_back(programs.supervisor());
    const auto limit = [&] {
        const auto until_ready = [&](const Command& command, std::vector<double>& times,
                                     const std::function<void(pid_t)>& look) {
            const auto start = Clock::now();
            Child child(command);
            child.read_line();
            times.push_back(milliseconds_since(start));
            look(child.pid());
        };
        until_ready(alone, unsupervised,
                    [&](pid_t pid) { memory.limit.push_back(resident_mb(pid)); });
        until_ready(supervised, ready.limit, [](pid_t) {});
    };
    const auto ours = [&] {
        const auto start = Clock::now();
        Child child(home.command({"batch"}));
        child.write("{\"id\":1,\"op\":\"tools/list\",\"refresh\":true}\n");
        std::string line;
        do line = child.read_line();  // notifications of servers may come first
        while (line.rfind("{\"event\"", 0) == 0);
        ready.ours.push_back(milliseconds_since(start));
        memory.ours.push_back(resident_mb(child.pid()));
        errno = 0;
        if (line.find("mcp__s" + std::to_string(servers) + "__echo") == std::string::npos) {
            give_up("not every server listed its tools: " + line.substr(0, 400));
        }
    };
    alternate(repeat(servers > 1 ? 7 : 21, effort), limit, ours);
    const std::string name =
        std::to_string(servers) + (servers > 1 ? " stdio servers" : " stdio server");
    const bool many = servers > 1;
    rows.push_back({many ? "10" : "11", name + ", exec to last tools/list", "ms",
                    median(ready.limit), median(ready.ours), many ? 1.5 : kNone,
                    many ? kNone : 10});
    rows.push_back({"-", "the same (limit: without supervisors)", "ms", median(unsupervised),
                    median(ready.ours), kNone, kNone});
    rows.push_back({"12", "resident memory of the host, " + name, "MB", median(memory.limit),
                    median(memory.ours), kNone, many ? 18.0 : 14.0});
}

void measure_start(const Programs& programs, double effort, std::vector<Row>& rows) {
    Pair version, once;
    alternate(
        repeat(101, effort), [&] { version.limit.push_back(whole_run_ms({"/bin/true"})); },
        [&] {
            version.ours.push_back(whole_run_ms({programs.patchbay(), "--version"}));
        });
    rows.push_back({"13", "--version (limit: /bin/true)", "ms", median(version.limit),
                    median(version.ours), 2, 4});
    const Home home(programs, 1, "command = \"" + programs.server() + "\"\n");
    alternate(
        repeat(51, effort),
        [&] {
            once.limit.push_back(whole_run_ms({programs.limit(), programs.server(), "once"}));
        },
        [&] {
            once.ours.push_back(
                whole_run_ms(home.command({"call", "mcp__s1__echo", "message=hello"})));
        });
    rows.push_back({"14", "one-shot call, whole process", "ms", median(once.limit),
                    median(once.ours), 3, kNone});
}

}  // namespace

bool Row::met() const {
    if (std::isnan(most_ratio) && std::isnan(most_value)) return true;
    if (!std::isnan(most_value) && ours <= most_value) return true;
    if (std::isnan(most_ratio)) return false;
    return more_is_better ? ratio() >= most_ratio : ratio() <= most_ratio;
}

std::vector<Row> measure_rows(const Programs& programs, double effort, std::string_view only) {
    std::vector<Row> rows;
    const auto measure = [&](std::string_view subject, const auto& measure_it) {
        if (!only.empty() && subject != only) return;
        std::fprintf(stderr, "measuring %s\n", std::string(subject).c_str());
        measure_it();
    };
    measure("latency", [&] {
        measure_latency(programs, effort, true, rows);
        measure_latency(programs, effort, false, rows);
    });
    measure("throughput", [&] {
        measure_throughput(programs, effort, false, rows);
        measure_throughput(programs, effort, true, rows);
    });
    measure("http", [&] { measure_http(programs, effort, rows); });
    measure("gateway", [&] { measure_gateway(programs, effort, rows); });
    measure("servers", [&] {
        measure_servers(programs, effort, 50, rows);
        measure_servers(programs, effort, 1, rows);
    });
    measure("start", [&] { measure_start(programs, effort, rows); });
    measure("config", [&] { measure_config(programs, effort, rows); });
    measure("policy", [&] { measure_policy(programs, effort, rows); });
    measure("run", [&] { measure_running_host(programs, effort, rows); });
    return rows;
}

}  // namespace bench
