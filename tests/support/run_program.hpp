// Runs a program as a person would: argv, environment, input, and a deadline after which it is
// killed.
//
// Owns:    a Program owns its process and pipes; destroying it kills the process and waits for it.
// Threads: one. Errors: what cannot even be started is reported by gtest and shows as exit code
// 127.
//
// The first Program makes this process a child subreaper with SIGCHLD blocked: whatever a program
// leaves behind becomes our child, so that nothing_left() misses no orphan and no zombie.
#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace patchbay::test {

// For one wait of a test. Far above what anything takes, so that a loaded machine and sanitizers
// fit.
inline constexpr std::chrono::seconds kDeadline{60};

struct Command {
    std::vector<std::string> argv;
    std::map<std::string, std::string> environment;  // all of it
    std::string directory;
    std::string input;  // sent by run(); Program takes send()
    std::chrono::milliseconds deadline = kDeadline;
    // Its stderr may tell of an internal error; else that fails the test.
    bool may_break = false;
};

struct Outcome {
    int exit_code = -1;  // 128 + signal when a signal ended it
    bool timed_out = false;
    std::string out, err;
    long peak_rss_kb = 0;
    std::chrono::milliseconds took{};
};

// True once `done` holds, which is asked again and again; false at the deadline.
bool comes_true(const std::function<bool()>& done);

class Program {
public:
    explicit Program(const Command& command);
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    pid_t pid() const { return pid_; }
    const std::string& out() const { return outcome_.out; }
    const std::string& err() const { return outcome_.err; }

    void send(std::string_view text);  // queued; written while we wait for something
    void close_input();                // after what was queued
    void signal(int number);
    // True once `done` holds, whatever it looks at; false when the program ended, or the deadline passed, before.
    bool wait_until(const std::function<bool()>& done);
    bool wait_for_out(std::string_view text);
    // Closes the input and waits for the end; kills at the deadline.
    Outcome finish();

private:
    // One poll, of so many milliseconds at most; false: nothing is open any more, or the deadline passed.
    bool turn(int at_most = std::numeric_limits<int>::max());
    void read_some(int& fd, std::string& into);
    void write_some();
    void reap();
    void judge() const;

    pid_t pid_ = -1;
    int in_ = -1, out_ = -1, err_ = -1;
    std::string input_;
    bool close_input_ = false, may_break_ = false;
    std::chrono::steady_clock::time_point started_, deadline_;
    Outcome outcome_;
};

Outcome run(const Command& command);

// Waits until this process has no child left, dead or alive, and says which there are at the
// deadline.
std::string nothing_left(std::chrono::milliseconds deadline = kDeadline);

}  // namespace patchbay::test
