// The rows about `patchbay serve`: the limit's own client before it, and the same client before the
// server itself. Two hops cost twice what one does.
#include "measure.hpp"
#include "rig.hpp"

#include <filesystem>
#include <fstream>

namespace bench {

namespace {

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

}  // namespace

void measure_gateway(const Programs& programs, double effort, std::vector<Row>& rows) {
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

}  // namespace bench
