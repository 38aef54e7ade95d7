// What the rows have in common: programs run in turn, pinned or not, from a home of their own.
//
// Threads: one. Errors: bench::give_up.
#pragma once

#include "rows.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace bench {

using Command = std::vector<std::string>;
constexpr double kNone = NAN;

// On CPU 0, with what the program starts.
Command pinned(Command command);

// The first line that it prints; its end is awaited.
std::string run(const Command& command);

int repeat(int times, double effort);

struct Pair {
    std::vector<double> limit, ours;
};

// Limit and ours in turn, so that what else the machine does falls on both.
void alternate(int rounds, const std::function<void()>& limit, const std::function<void()>& ours);

// A home of its own, so that nothing of the machine's configuration counts: this process' working
// directory and HOME, which what it starts inherits. No wrapper program: its start would be
// measured.
class Home {
public:
    // Servers s1, s2, .. that all have these settings, lines of TOML.
    Home(const Programs& programs, int servers, const std::string& settings);
    ~Home();
    Home(const Home&) = delete;
    std::string config() const { return folder_ + "/bench.toml"; }
    std::string state() const { return folder_ + "/state"; }  // for a program that is told where
    Command command(Command arguments) const;

private:
    const Programs& programs_;
    std::string folder_;
};

// The rows about remote servers.
void measure_http(const Programs& programs, double effort, std::vector<Row>& rows);

// The rows about a host that stays.
void measure_running_host(const Programs& programs, double effort, std::vector<Row>& rows);

// The rows about files of configuration.
void measure_config(const Programs& programs, double effort, std::vector<Row>& rows);

// The rows about one server in front of others.
void measure_gateway(const Programs& programs, double effort, std::vector<Row>& rows);

}  // namespace bench
