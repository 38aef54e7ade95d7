// The rows about `patchbay serve`: the limit's own client before it, and the same client before the
// servers themselves. Two hops cost what each of them does.
#include "measure.hpp"
#include "rig.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>

namespace bench {

namespace {

constexpr const char* kModern = "modern";
constexpr int kStreams = 10'000;
constexpr int kLongBytes = 64 << 10;
constexpr int kLongestBytes =
    16'000'000;                    // and what stands around it: the longest message there may be
constexpr int kLongestCalls = 68;  // 1 GiB in all

// A program without arguments that is the gateway, as the limit's client starts its server.
std::string gateway(const Home& home) {
    const auto script = home.config() + ".serve";
    std::ofstream file(script);
    file << "#!/bin/sh\nexec";
    for (const auto& word : home.command({"serve", "--only", "s1"})) file << " '" << word << "'";
    file << '\n';
    if (!file.flush()) give_up("cannot write " + script);
    file.close();
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    return script;
}

// `patchbay serve --http`, while it lives: until a signal comes.
class HttpGateway {
public:
    HttpGateway(const Home& home, bool pin)
        : child_(command(home, pin)), url_(child_.read_line()) {}
    ~HttpGateway() { ::kill(child_.pid(), SIGTERM); }

    pid_t pid() const { return child_.pid(); }
    const std::string& url() const { return url_; }

private:
    static Command command(const Home& home, bool pin) {
        auto serve = home.command({"serve", "--http", "127.0.0.1:0"});
        return pin ? pinned(std::move(serve)) : serve;
    }

    Child child_;
    const std::string url_;
};

// The benchmark's own server or relay, while it lives.
class Peer {
public:
    explicit Peer(Command command)
        : child_(std::move(command)),
          url_("http://127.0.0.1:" +
               std::to_string(static_cast<int>(value_in(child_.read_line(), "port "))) + "/mcp") {}

    pid_t pid() const { return child_.pid(); }
    const std::string& url() const { return url_; }

private:
    Child child_;
    const std::string url_;
};

std::string echo() {
    return "tool=mcp__s1__echo";
}

Command words(Command command, std::initializer_list<std::string> more) {
    command.insert(command.end(), more);
    return command;
}

void measure_stdio(const Programs& programs, double effort, std::vector<Row>& rows) {
    const Home home(programs, 1, "command = \"" + programs.server() + "\"\n");
    const auto serve = gateway(home);
    const auto p50 = [&](const std::string& server) {
        const auto calls = std::to_string(repeat(50'000, effort));
        return value_in(run(pinned({programs.limit(), server, "latency", calls})), "p50_us ");
    };
    const auto rate = [&](const std::string& server) {
        const auto calls = std::to_string(repeat(200'000, effort));
        return value_in(run({programs.limit(), server, "throughput", calls, "64"}),
                        "calls_per_s ") /
               1000;
    };
    Pair latency, throughput;
    alternate(
        repeat(5, effort),
        [&] {
            latency.limit.push_back(2 * p50(programs.server()));
            throughput.limit.push_back(rate(programs.server()) / 2);
        },
        [&] {
            latency.ours.push_back(p50(serve));
            throughput.ours.push_back(rate(serve));
        });
    rows.push_back({"9", "stdio gateway, 1 in flight, p50, pinned (limit: two hops)", "us",
                    median(latency.limit), median(latency.ours), 2, kNone});
    rows.push_back({"-", "stdio gateway, 64 in flight, spread (limit: two hops)", "k/s",
                    median(throughput.limit), median(throughput.ours), kNone, kNone, true});
}

void measure_latency(const Programs& programs, const Home& home, double effort,
                     std::vector<Row>& rows) {
    const Peer peer(pinned({programs.http_server(), "plain"}));
    const Peer relay(pinned({programs.relay(), programs.server()}));
    const HttpGateway gateway(home, true);
    const auto p50 = [&](const std::string& server, int calls,
                         std::initializer_list<std::string> more) {
        const auto times = std::to_string(repeat(calls, effort));
        return value_in(run(pinned(words({programs.limit(), server, "latency", times}, more))),
                        "p50_us ");
    };
    const auto bytes = "bytes=" + std::to_string(kLongBytes);
    Pair legacy, modern, relayed, lengthy;
    alternate(
        repeat(5, effort),
        [&] {
            const auto stdio = p50(programs.server(), 30'000, {});
            legacy.limit.push_back(p50(peer.url(), 30'000, {}) + stdio);
            modern.limit.push_back(p50(peer.url(), 30'000, {kModern}) + stdio);
            relayed.limit.push_back(p50(relay.url(), 30'000, {}));
            lengthy.limit.push_back(p50(relay.url(), 3'000, {"tool=big", bytes}));
        },
        [&] {
            legacy.ours.push_back(p50(gateway.url(), 30'000, {echo()}));
            modern.ours.push_back(p50(gateway.url(), 30'000, {echo(), kModern}));
            lengthy.ours.push_back(p50(gateway.url(), 3'000, {"tool=mcp__s1__big", bytes}));
        });
    rows.push_back({"5", "HTTP -> stdio, 1 in flight, p50, pinned (limit: two hops)", "us",
                    median(legacy.limit), median(legacy.ours), 2, kNone});
    rows.push_back(
        {"5", "the same of 2026-07-28", "us", median(modern.limit), median(modern.ours), 2, kNone});
    rows.push_back({"-", "the same before a plain relay (limit)", "us", median(relayed.limit),
                    median(legacy.ours), kNone, kNone});
    rows.push_back({"8", "HTTP -> stdio, result of 64 KiB (limit: plain relay)", "us",
                    median(lengthy.limit), median(lengthy.ours), 1.5, kNone});
}

void measure_throughput(const Programs& programs, const Home& home, double effort,
                        std::vector<Row>& rows) {
    const Peer peer({programs.http_server(), "plain"});
    const Peer relay({programs.relay(), programs.server()});
    const HttpGateway gateway(home, false);
    const int calls = repeat(100'000, effort);
    const auto rate = [&](const std::string& url, std::initializer_list<std::string> more) {
        return value_in(
                   run(words({programs.limit(), url, "throughput", std::to_string(calls), "64"},
                             more)),
                   "calls_per_s ") /
               1000;
    };
    // Of that process, with `measured` between.
    const auto cpu_us = [&](pid_t pid, auto measured) {
        const auto before = cpu_seconds(pid);
        measured();
        return (cpu_seconds(pid) - before) * 1e6 / calls;
    };
    Pair legacy, modern, cpu, modern_cpu;
    alternate(
        repeat(5, effort),
        [&] {
            legacy.limit.push_back(rate(peer.url(), {}));
            modern.limit.push_back(rate(peer.url(), {kModern}));
            cpu.limit.push_back(cpu_us(relay.pid(), [&] { rate(relay.url(), {}); }));
        },
        [&] {
            cpu.ours.push_back(cpu_us(
                gateway.pid(), [&] { legacy.ours.push_back(rate(gateway.url(), {echo()})); }));
            modern_cpu.ours.push_back(cpu_us(gateway.pid(), [&] {
                modern.ours.push_back(rate(gateway.url(), {echo(), kModern}));
            }));
        });
    rows.push_back({"6", "HTTP -> stdio, 64 in flight, spread (limit: HTTP)", "k/s",
                    median(legacy.limit), median(legacy.ours), 0.4, kNone, true});
    rows.push_back({"6", "the same of 2026-07-28", "k/s", median(modern.limit), median(modern.ours),
                    0.4, kNone, true});
    rows.push_back({"7", "its CPU per call (limit: plain relay)", "us", median(cpu.limit),
                    median(cpu.ours), 4, 10});
    rows.push_back(
        {"7", "the same of 2026-07-28", "us", median(cpu.limit), median(modern_cpu.ours), 4, 10});
}

// Memory of `pid` for each of so many streams that `limit` has opened there, and what `beside` is
// while they are open.
template <class Beside>
double kb_each(const Programs& programs, pid_t pid, const std::string& url, int streams,
               std::initializer_list<std::string> more, std::vector<double>& open_ms,
               Beside beside) {
    const auto before = resident_mb(pid);
    Child child(words({programs.limit(), url, "streams", std::to_string(streams)}, more));
    open_ms.push_back(value_in(child.read_line(), "open_ms "));
    const auto grown = resident_mb(pid) - before;
    beside();
    return grown * 1024 / streams;
}

void measure_idle(const Programs& programs, const Home& home, double effort,
                  std::vector<Row>& rows) {
    Pair memory, open, rate;
    const auto calls = std::to_string(repeat(50'000, effort));
    const auto call = [&](const std::string& url, std::vector<double>& rates) {
        const auto line = run({programs.limit(), url, "throughput", calls, "64", echo(), kModern});
        rates.push_back(value_in(line, "calls_per_s ") / 1000);
    };
    // A process that has had its streams keeps what they were in: each time another one.
    alternate(
        repeat(3, effort),
        [&] {
            const Peer peer({programs.http_server(), "silent"});
            memory.limit.push_back(
                kb_each(programs, peer.pid(), peer.url(), kStreams, {}, open.limit, [] {}));
        },
        [&] {
            const HttpGateway gateway(home, false);
            call(gateway.url(), rate.limit);
            call(gateway.url(), rate.limit);
            memory.ours.push_back(kb_each(programs, gateway.pid(), gateway.url(), kStreams,
                                          {kModern}, open.ours, [&] {
                                              call(gateway.url(), rate.ours);
                                              call(gateway.url(), rate.ours);
                                          }));
        });
    rows.push_back({"15", "memory of each of 10,000 idle streams", "KB", median(memory.limit),
                    median(memory.ours), kNone, 8});
    rows.push_back(
        {"-", "time to open them", "ms", median(open.limit), median(open.ours), kNone, kNone});
    rows.push_back({"16", "64 in flight beside them (limit: without them)", "k/s",
                    median(rate.limit), median(rate.ours), 0.9, kNone, true});
}

// The most that long results ever add to what the gateway takes beside them.
void measure_longest(const Programs& programs, const Home& home, double effort,
                     std::vector<Row>& rows) {
    const auto bytes = "bytes=" + std::to_string(kLongestBytes);
    const auto calls = std::to_string(repeat(kLongestCalls, effort));
    const auto seconds = [&](const std::string& url, const std::string& tool) {
        const auto line =
            run({programs.limit(), url, "throughput", calls, "1", "tool=" + tool, bytes});
        return 1'000 / value_in(line, "calls_per_s ");
    };
    Pair time, memory;
    alternate(
        1,
        [&] {
            const Peer relay({programs.relay(), programs.server()});
            const auto before = resident_mb(relay.pid());
            time.limit.push_back(seconds(relay.url(), "big"));
            memory.limit.push_back(most_resident_mb(relay.pid()) - before);
        },
        [&] {
            const HttpGateway gateway(home, false);
            run({programs.limit(), gateway.url(), "latency", "10", echo()});
            const auto before = resident_mb(gateway.pid());
            time.ours.push_back(seconds(gateway.url(), "mcp__s1__big"));
            memory.ours.push_back(most_resident_mb(gateway.pid()) - before);
        });
    rows.push_back({"-", "1 GiB in results of 16 MB, each (limit: plain relay)", "ms",
                    median(time.limit), median(time.ours), kNone, kNone});
    rows.push_back({"-", "the memory that they take at most", "MB", median(memory.limit),
                    median(memory.ours), kNone, 64});
}

}  // namespace

void measure_gateway(const Programs& programs, double effort, std::vector<Row>& rows) {
    measure_stdio(programs, effort, rows);
    // By a rule, to approved tools of which a changed one is blocked, each call recorded.
    const Home home(programs, 1,
                    "command = \"" + programs.server() +
                        "\"\npins = \"block\"\ntools.\"*\" = \"allow-always\"\n");
    run(home.command({"trust", "s1", "--tools", "--yes", "--json"}));
    measure_latency(programs, home, effort, rows);
    measure_throughput(programs, home, effort, rows);
    measure_idle(programs, home, effort, rows);
    measure_longest(programs, home, effort, rows);
}

}  // namespace bench
