// What the benchmark programs share: children on pipes, clocks, percentiles.
//
// Threads: one. Errors: a benchmark that cannot measure says why and ends with code 2; a number
// that is wrong is worse than none.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace bench {

using Clock = std::chrono::steady_clock;

[[noreturn]] void give_up(const std::string& why);  // with errno's text when it is set

double microseconds(Clock::duration time);
double milliseconds_since(Clock::time_point start);
double median(std::vector<double> values);
// `share` of 0.99: 99 of 100 values are not above it.
double percentile(std::vector<double>& values, double share);

// A program with its stdin and stdout on pipes of ours, all blocking; stderr is ours.
class Child {
public:
    // `third`: what it gets as its descriptor 3; -1: nothing.
    explicit Child(const std::vector<std::string>& command, int third = -1);
    ~Child();  // closes its stdin and waits for it
    Child(const Child&) = delete;

    int out() const { return out_; }
    pid_t pid() const { return pid_; }
    void write(std::string_view text) const;
    // The next line without its newline; the view is good until the next call.
    std::string_view read_line();
    bool has_line() const;  // read_line() has one without reading
    // At least one byte, as many as there are; the number of newlines among them.
    std::size_t read_lines();
    void pass_over() const;  // all that it prints, to its end
    int wait();              // closes its stdin; its exit code

private:
    void fill();

    pid_t pid_ = -1;
    int in_ = -1, out_ = -1;
    std::vector<char> buffer_;  // [begin_, end_) is unread; never zeroed but when it grows
    std::size_t begin_ = 0, end_ = 0;
};

// Resident memory of a process in MB: now (VmRSS), and the most there ever was (VmHWM).
double resident_mb(pid_t pid);
double most_resident_mb(pid_t pid);

// What all threads of a process have run so far.
double cpu_seconds(pid_t pid);
double cpu_seconds_of_this_process();  // threads that have ended included

// A number after `key` in a line of "key value key value", as the programs print their results.
double value_in(std::string_view line, std::string_view key);

}  // namespace bench
