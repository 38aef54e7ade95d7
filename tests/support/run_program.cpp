#include "support/run_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <poll.h>
#include <spawn.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace patchbay::test {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

namespace {

void become_reaper() {
    static std::once_flag once;
    std::call_once(once, [] {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
        std::signal(SIGPIPE, SIG_IGN);
        sigset_t child;
        sigemptyset(&child);
        sigaddset(&child, SIGCHLD);
        ::sigprocmask(SIG_BLOCK, &child, nullptr);
    });
}

void close_fd(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
}

// What somebody waits for may be seen elsewhere than in what a program writes.
constexpr int kTick = 20;

int remaining_ms(Clock::time_point deadline) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    return left < 0 ? 0 : static_cast<int>(left) + 1;
}

std::string read_proc(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    std::string all = std::move(text).str();
    for (char& c : all) {
        if (c == '\0' || c == '\n') c = ' ';
    }
    return all;
}

// "pid (command line) state" of each child of this process.
std::string children() {
    std::string found;
    std::istringstream pids(
        read_proc("/proc/self/task/" + std::to_string(::getpid()) + "/children"));
    for (std::string pid; pids >> pid;) {
        const std::string stat = read_proc("/proc/" + pid + "/stat");
        const auto name_end = stat.rfind(')');
        found += pid + " (" + read_proc("/proc/" + pid + "/cmdline") + ")" +
                 (name_end == std::string::npos ? "" : stat.substr(name_end + 1, 2)) + "; ";
    }
    return found.empty() ? "an unlisted child" : found;
}

}  // namespace

Program::Program(const Command& command)
    : input_(command.input),
      may_break_(command.may_break),
      started_(Clock::now()),
      deadline_(started_ + command.deadline) {
    become_reaper();
    int in[2], out[2], err[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0 ||
        ::pipe2(err, O_CLOEXEC) != 0) {
        ADD_FAILURE() << "pipe2: " << std::strerror(errno);
        return;
    }
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    ::posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    ::posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    if (!command.directory.empty())
        ::posix_spawn_file_actions_addchdir_np(&actions, command.directory.c_str());

    // What become_reaper() changed, and what a test runner may have, is not for the program.
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    for (const int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) sigaddset(&usual, number);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &usual);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    std::vector<char*> argv, environment;
    for (const auto& argument : command.argv) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    std::vector<std::string> pairs;
    for (const auto& [name, value] : command.environment) pairs.push_back(name + "=" + value);
    for (auto& pair : pairs) environment.push_back(pair.data());
    environment.push_back(nullptr);

    const int failed =
        ::posix_spawn(&pid_, argv[0], &actions, &attributes, argv.data(), environment.data());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    close_fd(in[0]);
    close_fd(out[1]);
    close_fd(err[1]);
    in_ = in[1];
    out_ = out[0];
    err_ = err[0];
    for (const int fd : {in_, out_, err_}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
    if (failed != 0) {
        ADD_FAILURE() << command.argv[0] << ": " << std::strerror(failed);
        pid_ = -1;
        outcome_.exit_code = 127;
    }
}

Program::~Program() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        reap();
    }
    close_fd(in_);
    close_fd(out_);
    close_fd(err_);
    judge();
}

// What escaped to an edge inside the program, where no counter of ours can see it.
void Program::judge() const {
    if (!may_break_ && outcome_.err.find("internal error") != std::string::npos)
        ADD_FAILURE() << "an internal error was told: " << outcome_.err;
}

void Program::send(std::string_view text) {
    input_ += text;
    write_some();
}

void Program::close_input() {
    close_input_ = true;
    write_some();
}

void Program::signal(int number) {
    if (pid_ > 0) ::kill(pid_, number);
}

bool Program::wait_until(const std::function<bool()>& done) {
    while (!done()) {
        if (!turn(kTick)) return done();
    }
    return true;
}

bool comes_true(const std::function<bool()>& done) {
    const auto end = Clock::now() + kDeadline;
    while (!done())
        if (Clock::now() >= end) return done();
    return true;
}

bool Program::wait_for_out(std::string_view text) {
    return wait_until([&] { return outcome_.out.find(text) != std::string::npos; });
}

Outcome Program::finish() {
    close_input();
    while (turn()) {
    }
    if (out_ >= 0 || err_ >= 0) {
        outcome_.timed_out = true;
        ADD_FAILURE() << "killed at its deadline; stderr: " << outcome_.err;
        signal(SIGKILL);
    }
    reap();
    return outcome_;
}

bool Program::turn(int at_most) {
    if (out_ < 0 && err_ < 0) return false;
    pollfd fds[3] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}, {input_.empty() ? -1 : in_, POLLOUT, 0}};
    const int left = remaining_ms(deadline_);
    const int ready = ::poll(fds, 3, std::min(left, at_most));
    if (ready == 0) return left > at_most;
    if (ready < 0) return errno == EINTR;
    if (fds[0].revents != 0) read_some(out_, outcome_.out);
    if (fds[1].revents != 0) read_some(err_, outcome_.err);
    if (fds[2].revents != 0) write_some();
    return true;
}

void Program::read_some(int& fd, std::string& into) {
    char block[65536];
    const ssize_t got = ::read(fd, block, sizeof block);
    if (got > 0)
        into.append(block, static_cast<std::size_t>(got));
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        close_fd(fd);
}

void Program::write_some() {
    if (in_ < 0) return;
    while (!input_.empty()) {
        const ssize_t wrote = ::write(in_, input_.data(), input_.size());
        if (wrote < 0) {
            if (errno == EINTR) continue;
            if (errno == EAGAIN) return;
            input_.clear();  // it reads no more; its end is what the test sees
            break;
        }
        input_.erase(0, static_cast<std::size_t>(wrote));
    }
    if (close_input_) close_fd(in_);
}

void Program::reap() {
    if (pid_ <= 0) return;
    int status = 0;
    rusage usage{};
    while (::wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    outcome_.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    outcome_.peak_rss_kb = usage.ru_maxrss;
    outcome_.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - started_);
}

Outcome run(const Command& command) {
    Program program(command);
    return program.finish();
}

std::string nothing_left(std::chrono::milliseconds deadline) {
    become_reaper();
    const auto end = Clock::now() + deadline;
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (;;) {
        const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
        if (pid < 0 && errno == ECHILD) return {};
        if (pid > 0) continue;
        const int left = remaining_ms(end);
        if (left == 0) return children();
        const timespec wait{left / 1000, left % 1000 * 1000000L};
        ::sigtimedwait(&child, nullptr, &wait);
    }
}

}  // namespace patchbay::test
