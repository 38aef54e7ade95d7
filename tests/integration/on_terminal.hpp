// A program at a terminal, as a person sits before it.
//
// Owns:    the terminal, and the program, which is killed with it. Threads: one. Errors: reported by gtest.
#pragma once

#include "integration/home.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace patchbay::test {

// A program whose three streams are one terminal of its own.
class OnTerminal {
public:
    explicit OnTerminal(const Command& command) {
        terminal_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (terminal_ < 0 || ::grantpt(terminal_) != 0 || ::unlockpt(terminal_) != 0) {
            ADD_FAILURE() << "no terminal: " << std::strerror(errno);
            return;
        }
        const std::string name = ::ptsname(terminal_);
        std::vector<std::string> variables;
        for (const auto& [key, value] : command.environment) variables.push_back(key + "=" + value);
        std::vector<char*> words, environment;
        for (const auto& word : command.argv) words.push_back(const_cast<char*>(word.c_str()));
        for (auto& variable : variables) environment.push_back(variable.data());
        words.push_back(nullptr);
        environment.push_back(nullptr);
        int started[2];
        if (::pipe2(started, O_CLOEXEC) != 0) {
            ADD_FAILURE() << "pipe2: " << std::strerror(errno);
            return;
        }
        pid_ = ::fork();
        if (pid_ != 0) {
            // Ends with its exec: what is typed then reaches somebody, Ctrl-C too.
            ::close(started[1]);
            char none;
            EXPECT_EQ(::read(started[0], &none, 1), 0);
            ::close(started[0]);
            return;
        }
        sigset_t none_blocked;
        sigemptyset(&none_blocked);
        ::sigprocmask(SIG_SETMASK, &none_blocked, nullptr);
        for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_DFL);
        ::setsid();
        const int tty = ::open(name.c_str(), O_RDWR);  // the first one opened becomes ours
        for (int fd = 0; fd < 3; ++fd) ::dup2(tty, fd);
        if (tty > 2) ::close(tty);
        if (::chdir(command.directory.c_str()) == 0)
            ::execve(words[0], words.data(), environment.data());
        ::_exit(127);
    }
    ~OnTerminal() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
        }
        ::close(terminal_);
    }
    OnTerminal(const OnTerminal&) = delete;

    void type(std::string_view text) {
        EXPECT_EQ(::write(terminal_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    // From where the last one was found; false when it ended, or the deadline passed, before.
    bool wait_for(std::string_view text) {
        auto at = seen_.find(text, searched_);
        while (at == std::string::npos) {
            if (!read_some()) return false;
            at = seen_.find(text, searched_);
        }
        searched_ = at + text.size();
        return true;
    }
    // Its exit code; -1 when it had to be killed.
    int finish() {
        while (read_some()) {
        }
        int status = 0;
        if (late_ || ::waitpid(pid_, &status, 0) != pid_) return -1;
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    const std::string& seen() const { return seen_; }

private:
    bool read_some() {
        pollfd wanted{terminal_, POLLIN, 0};
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline_ - std::chrono::steady_clock::now());
        if (left.count() <= 0 || ::poll(&wanted, 1, static_cast<int>(left.count())) <= 0) {
            late_ = true;
            return false;
        }
        char text[4096];
        const auto got = ::read(terminal_, text, sizeof text);  // EIO once the last one has left
        if (got > 0) seen_.append(text, static_cast<std::size_t>(got));
        return got > 0;
    }

    int terminal_ = -1;
    pid_t pid_ = -1;
    std::string seen_;
    std::size_t searched_ = 0;
    bool late_ = false;
    const std::chrono::steady_clock::time_point deadline_ =
        std::chrono::steady_clock::now() + kDeadline;
};

}  // namespace patchbay::test
