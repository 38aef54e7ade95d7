// The host's side of the same: a whole app::Host, configuration, policy and supervisor included,
// and calls through Router::call as the command line makes them. SERVER is a program or an URL.
//   patchbay-bench-host SERVER latency CALLS | throughput CALLS FLIGHT | beside URL CALLS PILE
//   patchbay-bench-host SERVER guarded CALLS STATE
//   patchbay-bench-host decide TIMES | audit RECORDS STATE
#include "app/host.hpp"

#include "app/local_caller.hpp"
#include "app/server_pins.hpp"
#include "audit/audit_log.hpp"
#include "measure.hpp"
#include "policy/policy.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using namespace patchbay;

std::vector<std::string> settings_of(const std::string& id, const std::string& server) {
    const std::string prefix = "servers." + id + ".";
    if (server.find("://") == server.npos) return {prefix + "command=" + server};
    return {prefix + "url=" + server, prefix + "protocol=2025-11-25"};
}

// Only what is said here: nothing of the machine's own configuration may change the numbers.
app::HostOptions options_for(const std::string& server, const std::string& other) {
    app::HostOptions options;
    options.environment = config::Environment::of_this_process();
    options.environment.working_directory = options.environment.home = "/";
    options.environment.config_home = options.environment.enterprise_directory = "/nonexistent";
    options.environment.variable = [](const std::string& name) -> std::optional<std::string> {
        if (name == "PATH") return "/usr/bin:/bin";
        return std::nullopt;
    };
    options.environment.sets = settings_of("peer", server);
    if (!other.empty())
        for (auto& setting : settings_of("stalled", other))
            options.environment.sets.push_back(std::move(setting));
    return options;
}

void check(const Result<connection::Reply>& reply) {
    errno = 0;
    if (!reply) bench::give_up(reply.error().message);
    if (reply->result.find("hello, world") == std::string_view::npos) {
        bench::give_up("unexpected answer: " + std::string(reply->result) +
                       std::string(reply->error));
    }
}

router::Call echo() {
    router::Call call;
    call.name = "mcp__peer__echo";
    call.arguments = R"({"message":"hello, world"})";
    return call;
}

// Nothing is let through but by a rule, a changed tool is blocked, and each call is recorded: all of that in `state`.
void guard(app::HostOptions& options, const std::string& state) {
    options.state_directory = state;
    for (const char* setting : {"servers.peer.pins=block", "servers.peer.tools.echo=allow-always"})
        options.environment.sets.emplace_back(setting);
}

void approve_all(app::Host& host) {
    auto& pins = host.pins()->pins();
    const auto public_name = [](const std::string& tool) { return "mcp__peer__" + tool; };
    bool done = false;
    pins.approve("peer", pins.listed("peer", public_name), 1, [&done](const Result<void>& kept) {
        errno = 0;
        if (!kept) bench::give_up(kept.error().message);
        done = true;
    });
    host.run_until([&done] { return done; });
    if (!pins.any("peer")) bench::give_up("nothing was approved");
}

void call_once(app::Host& host, connection::Caller& caller) {
    bool done = false;
    host.router().call(caller, echo(), [&done](Result<connection::Reply> reply) {
        check(reply);
        done = true;
    });
    host.run_until([&done] { return done; });
}

// One call after the other, the first tenth for warming up; `before` each one has a turn that is
// not measured.
void latency(app::Host& host, connection::Caller& caller, std::size_t calls,
             const std::function<void(std::size_t)>& before) {
    std::vector<double> times;
    times.reserve(calls);
    const std::size_t all = calls + calls / 10;
    for (std::size_t i = 0; i < all; ++i) {
        before(i);
        const auto start = bench::Clock::now();
        call_once(host, caller);
        if (i >= calls / 10) times.push_back(bench::microseconds(bench::Clock::now() - start));
    }
    const double p50 = bench::percentile(times, 0.5);
    std::printf("p50_us %.3f p99_us %.3f", p50, bench::percentile(times, 0.99));
}

// The same while `pile` calls go to a server that never reads: one to connect to it, half of them
// while warming up, when the connections to it are made, the others evenly over the time. The work
// of making such a call is done before the next one is measured: what counts is what it leaves
// behind. They end with the host.
void beside_stalled(app::Host& host, connection::Caller& caller, std::size_t calls,
                    std::size_t pile) {
    std::size_t piled = 0;
    const auto ended = std::make_shared<std::size_t>(0);
    router::Call call = echo();
    call.name = "mcp__stalled__echo";
    const auto heap_one = [&] {
        ++piled;
        host.router().call(caller, call, [ended](const Result<connection::Reply>&) { ++*ended; });
        call_once(host, caller);
    };
    const std::size_t first = calls / 10;
    heap_one();
    latency(host, caller, calls, [&](std::size_t i) {
        const std::size_t due = i < first ? pile / 2 * (i + 1) / first
                                          : pile / 2 + (pile - pile / 2) * (i - first) / calls;
        while (piled < due) heap_one();
    });
    errno = 0;
    if (*ended > 0) bench::give_up("the stalled server's calls came to an end");
    std::printf(" piled %zu resident_mb %.3f\n", piled, bench::resident_mb(::getpid()));
}

void throughput(app::Host& host, connection::Caller& caller, std::size_t calls,
                std::size_t flight) {
    call_once(host, caller);
    std::size_t sent = 0, answered = 0;
    connection::ReplyHandler next;
    const auto start = bench::Clock::now();
    const auto send = [&] {
        ++sent;
        host.router().call(caller, echo(), next);
    };
    next = [&](Result<connection::Reply> reply) {
        check(reply);
        ++answered;
        if (sent < calls) send();
    };
    while (sent < flight && sent < calls) send();
    host.run_until([&] { return answered == calls; });
    const double seconds = bench::microseconds(bench::Clock::now() - start) / 1e6;
    std::printf("calls_per_s %.0f\n", static_cast<double>(calls) / seconds);
}

// What a decision takes with ten thousand rules of all kinds, half of them beginnings of names.
void decide(std::size_t times) {
    constexpr int kOfEach = 2'500;
    config::Server server;
    server.id = "s";
    config::Permissions permissions;
    permissions.allow = {"mcp__s__*"};
    for (int i = 0; i < kOfEach; ++i) {
        const auto number = std::to_string(i);
        server.tools["tool_" + number] = config::Level::AllowAlways;
        server.tools["some_" + number + "_*"] = config::Level::AllowAlways;
        permissions.deny.push_back("mcp__s__denied_" + number + "_*");
        permissions.ask.push_back("mcp__s__asked_" + number);
    }
    const policy::Policy policy(permissions, {server});
    std::size_t allowed = 0;
    const auto start = bench::Clock::now();
    for (std::size_t i = 0; i < times; ++i) {
        const auto tool = "some_" + std::to_string(i % kOfEach) + "_thing";
        const auto name = "mcp__s__" + tool;
        const policy::Question question{core::Trust::NeedsApproval, "s", tool, name};
        allowed += policy.judge(question).decision == policy::Decision::Allow;
    }
    const auto took = bench::microseconds(bench::Clock::now() - start);
    if (allowed != times) bench::give_up("a rule was not found");
    std::printf("us_per_decision %.3f\n", took / static_cast<double>(times));
}

// What a record takes of the processor, its part of the writing behind included.
void record(std::size_t records, const std::string& state) {
    constexpr std::size_t kRound = 64;
    core::Loop loop;
    const config::AuditSettings settings;
    const core::Principal caller{core::Principal::Kind::Client, "1", "bench",
                                 core::Trust::NeedsApproval};
    core::AskedRequest asked{.method = "tools/call",
                             .server = "peer",
                             .tool = "echo",
                             .name = "mcp__peer__echo",
                             .caller = &caller,
                             .decision = "allow",
                             .level = "allow-always",
                             .rule = "servers.peer.tools.echo = \"allow-always\"",
                             .place = "/home/user/.config/patchbay/config.toml:12",
                             .digest = "sha256:0123456789abcdef0123456789abcdef",
                             .arguments_bytes = 26};
    const auto before = bench::cpu_seconds_of_this_process();
    {
        audit::AuditLog log(loop, state, settings);
        for (std::size_t i = 0; i < records; ++i) {
            asked.number = i + 1;
            static_cast<void>(log.on_request_sent({asked}));
            log.on_request_ended({asked, "ok", std::chrono::microseconds(40), 64, 64, {}, {}});
            // A host's loop has a turn between calls.
            if (i % kRound == 0) loop.run_until([] { return true; });
        }
    }
    const auto took = (bench::cpu_seconds_of_this_process() - before) * 1e6;
    std::printf("us_per_record %.3f\n", took / static_cast<double>(records));
}

}  // namespace

int main(int argc, char** argv) {
    const auto is = [&](const char* mode, int arguments) {
        return argc == 3 + arguments && std::strcmp(argv[2], mode) == 0;
    };
    const auto number = [&](int index) {
        return static_cast<std::size_t>(std::atoll(argv[index]));
    };
    if (argc == 3 && std::strcmp(argv[1], "decide") == 0) return decide(number(2)), 0;
    if (argc == 4 && std::strcmp(argv[1], "audit") == 0) return record(number(2), argv[3]), 0;
    if (!is("latency", 1) && !is("throughput", 2) && !is("beside", 3) && !is("guarded", 2)) {
        std::fputs(
            "usage: patchbay-bench-host SERVER latency CALLS | throughput CALLS FLIGHT | "
            "beside URL CALLS PILE | guarded CALLS STATE\n"
            "       patchbay-bench-host decide TIMES | audit RECORDS STATE\n",
            stderr);
        return 64;
    }
    auto options = options_for(argv[1], is("beside", 3) ? argv[3] : "");
    if (is("guarded", 2)) guard(options, argv[4]);
    app::Host host(std::move(options));
    for (const auto& diagnostic : host.config().diagnostics) {
        std::fprintf(stderr, "%s\n", config::to_string(diagnostic).c_str());
    }
    app::LocalCaller caller(host.callers(),
                            {core::Principal::Kind::Embedder, "1", "bench",
                             is("guarded", 2) ? core::Trust::NeedsApproval : core::Trust::Approves},
                            {host.config().client, {}});
    call_once(host, caller);
    if (is("guarded", 2)) approve_all(host);
    if (is("latency", 1) || is("guarded", 2)) {
        latency(host, caller, number(3), [](std::size_t) {});
        std::puts("");
    } else if (is("beside", 3)) {
        beside_stalled(host, caller, number(4), number(5));
    } else {
        throughput(host, caller, number(3), number(4));
    }
}
