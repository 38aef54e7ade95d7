#include "measure.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;  // NOLINT: the name is POSIX's

namespace bench {

namespace {

constexpr std::size_t kReadSize = 256 * 1024;

double status_kb(pid_t pid, const std::string& key) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(file, line);) {
        if (line.rfind(key, 0) == 0) return std::atof(line.c_str() + key.size());
    }
    give_up("no " + key + " of process " + std::to_string(pid));
}

}  // namespace

void give_up(const std::string& why) {
    std::fprintf(stderr, "bench: %s%s%s\n", why.c_str(), errno != 0 ? ": " : "",
                 errno != 0 ? std::strerror(errno) : "");
    std::exit(2);
}

double microseconds(Clock::duration time) {
    return std::chrono::duration<double, std::micro>(time).count();
}

double percentile(std::vector<double>& values, double share) {
    if (values.empty()) give_up("nothing was measured");
    const auto place = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place),
                     values.end());
    return values[place];
}

double milliseconds_since(Clock::time_point start) {
    return microseconds(Clock::now() - start) / 1000;
}

double median(std::vector<double> values) {
    return percentile(values, 0.5);
}

Child::Child(const std::vector<std::string>& command, int third) {
    int input[2], output[2];
    if (::pipe2(input, O_CLOEXEC) != 0 || ::pipe2(output, O_CLOEXEC) != 0) give_up("pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
    if (third >= 0) posix_spawn_file_actions_adddup2(&actions, third, STDERR_FILENO + 1);
    std::vector<char*> arguments;
    for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    const int failed =
        ::posix_spawn(&pid_, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(input[0]);
    ::close(output[1]);
    in_ = input[1];
    out_ = output[0];
    if (failed != 0) {
        errno = failed;
        give_up("cannot start " + command[0]);
    }
}

Child::~Child() {
    if (pid_ > 0) wait();
    ::close(out_);
}

void Child::write(std::string_view text) const {
    while (!text.empty()) {
        const ssize_t wrote = ::write(in_, text.data(), text.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) give_up("write to a child");
        text.remove_prefix(static_cast<std::size_t>(wrote));
    }
}

void Child::fill() {
    if (begin_ == end_) begin_ = end_ = 0;
    if (buffer_.size() - end_ < kReadSize) buffer_.resize(end_ + kReadSize);
    ssize_t got = 0;
    do got = ::read(out_, buffer_.data() + end_, buffer_.size() - end_);
    while (got < 0 && errno == EINTR);
    if (got == 0) errno = 0;
    if (got <= 0) give_up("a child ended before it answered");
    end_ += static_cast<std::size_t>(got);
}

std::string_view Child::read_line() {
    std::size_t scanned = 0;  // from begin_
    for (;;) {
        const char* from = buffer_.data() + begin_;
        if (const void* end = std::memchr(from + scanned, '\n', end_ - begin_ - scanned)) {
            const auto size = static_cast<std::size_t>(static_cast<const char*>(end) - from);
            begin_ += size + 1;
            return {from, size};
        }
        scanned = end_ - begin_;
        fill();
    }
}

bool Child::has_line() const {
    return std::memchr(buffer_.data() + begin_, '\n', end_ - begin_) != nullptr;
}

std::size_t Child::read_lines() {
    begin_ = end_;  // nothing of it is kept for read_line
    fill();
    return static_cast<std::size_t>(
        std::count(buffer_.data() + begin_, buffer_.data() + end_, '\n'));
}

void Child::pass_over() const {
    char bytes[64u << 10];
    ssize_t got = 0;
    do got = ::read(out_, bytes, sizeof bytes);
    while (got > 0 || (got < 0 && errno == EINTR));
    if (got < 0) give_up("read from a child");
}

int Child::wait() {
    ::close(in_);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

double resident_mb(pid_t pid) {
    return status_kb(pid, "VmRSS:") / 1024;
}

double most_resident_mb(pid_t pid) {
    return status_kb(pid, "VmHWM:") / 1024;
}

double cpu_seconds(pid_t pid) {
    double nanoseconds = 0;
    const auto tasks = "/proc/" + std::to_string(pid) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks)) {
        double ran = 0;
        if (std::ifstream(task.path() / "schedstat") >> ran) nanoseconds += ran;
    }
    return nanoseconds / 1e9;
}

double cpu_seconds_of_this_process() {
    timespec used{};
    if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) give_up("clock_gettime");
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

double value_in(std::string_view line, std::string_view key) {
    const auto at = line.find(key);
    if (at == std::string_view::npos)
        give_up("\"" + std::string(line) + "\" has no " + std::string(key));
    return std::atof(std::string(line.substr(at + key.size())).c_str());
}

}  // namespace bench
