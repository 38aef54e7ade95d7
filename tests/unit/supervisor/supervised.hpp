// One program under patchbay-supervisor, and the host's end of everything between the two.
#pragma once

#include "supervisor/wire.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace patchbay::test {

class Supervised {
public:
    // `arguments`: mode, path, argv0, ...
    // `before`: runs in the supervisor's process before it becomes that.
    explicit Supervised(
        std::vector<std::string> arguments, void (*before)() = [] {}) {
        int input[2], output[2], errors[2], sockets[2];
        EXPECT_EQ(::pipe2(input, O_CLOEXEC), 0);
        EXPECT_EQ(::pipe2(output, O_CLOEXEC), 0);
        EXPECT_EQ(::pipe2(errors, O_CLOEXEC), 0);
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
        const char* other = std::getenv("PATCHBAY_SUPERVISOR");
        arguments.insert(arguments.begin(), other ? other
                                                  : PATCHBAY_BUILD_DIR
                                                "/libexec/patchbay/patchbay-supervisor");
        std::vector<char*> argv;
        for (auto& argument : arguments) argv.push_back(argument.data());
        argv.push_back(nullptr);
        pid_ = ::fork();
        if (pid_ == 0) {
            // Above all that it is to have, so that no number is overwritten before it is read.
            const int given[] = {::fcntl(input[0], F_DUPFD, 20), ::fcntl(output[1], F_DUPFD, 20),
                                 ::fcntl(errors[1], F_DUPFD, 20), ::fcntl(sockets[1], F_DUPFD, 20)};
            for (int fd = 0; fd < 4; ++fd) ::dup2(given[fd], fd);  // 20 and above leak, as planned
            before();
            ::execv(argv[0], argv.data());
            ::_exit(99);
        }
        for (const int fd : {input[0], output[1], errors[1], sockets[1]}) ::close(fd);
        in_ = input[1];
        out_ = output[0];
        errors_ = errors[0];
        control_ = sockets[0];
    }
    ~Supervised() {
        leave();
        for (const int fd : {in_, out_, errors_}) ::close(fd);
        if (!reaped_) ::waitpid(pid_, nullptr, 0);
    }
    Supervised(const Supervised&) = delete;

    pid_t pid() const { return pid_; }
    void leave() {
        if (control_ >= 0) ::close(std::exchange(control_, -1));
    }
    void send(const void* data, std::size_t size) const {
        EXPECT_EQ(::send(control_, data, size, MSG_NOSIGNAL), static_cast<ssize_t>(size));
    }
    void send(int kind, int value) const {
        const patchbay_supervisor_packet packet{kind, value};
        send(&packet, sizeof packet);
    }
    void stop(std::chrono::milliseconds grace) const {
        send(PATCHBAY_SUPERVISOR_STOP, static_cast<int>(grace.count()));
    }
    void say(const std::string& text) const {
        EXPECT_EQ(::write(in_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    // The next word of that kind; none: the supervisor has gone, or said something else.
    std::optional<int> told(int kind) const {
        const auto word = next();
        if (!word || word->kind != kind) return std::nullopt;
        return word->value;
    }
    std::optional<patchbay_supervisor_packet> next() const {
        patchbay_supervisor_packet packet{};
        if (!readable(control_)) return std::nullopt;
        auto got = ::recv(control_, &packet, sizeof packet, 0);
        // Told once, ahead of its last word: it left without reading all of ours.
        if (got < 0 && errno == ECONNRESET) got = ::recv(control_, &packet, sizeof packet, 0);
        if (got != static_cast<ssize_t>(sizeof packet)) return std::nullopt;
        return packet;
    }
    std::optional<int> started() const { return told(PATCHBAY_SUPERVISOR_STARTED); }
    // With what is told ahead of it, which is in the members below.
    std::optional<int> exited() {
        for (;;) {
            const auto word = next();
            if (!word) return std::nullopt;
            if (word->kind == PATCHBAY_SUPERVISOR_EXITED) return word->value;
            if (word->kind == PATCHBAY_SUPERVISOR_LIMITED)
                limited = word->value;
            else if (word->kind == PATCHBAY_SUPERVISOR_CPU)
                cpu_ms = word->value;
            else if (word->kind == PATCHBAY_SUPERVISOR_MEMORY)
                memory_kib = word->value;
            else
                return std::nullopt;
        }
    }
    std::optional<int> limited, cpu_ms, memory_kib;
    // Up to the end of a line, or of the output.
    std::string line() const { return read(out_, '\n'); }
    std::string output() const { return read(out_, '\0'); }
    std::string errors() const { return read(errors_, '\0'); }
    // How the supervisor itself ended.
    int end() {
        int status = -1;
        ::waitpid(pid_, &status, 0);
        reaped_ = true;
        return status;
    }

private:
    static bool readable(int fd) {
        pollfd waits{fd, POLLIN, 0};
        const int ready = ::poll(&waits, 1, 60'000);
        EXPECT_EQ(ready, 1) << "nothing came";
        return ready == 1;
    }
    static std::string read(int fd, char last) {
        std::string text;
        char byte = 0;
        while (readable(fd) && ::read(fd, &byte, 1) == 1) {
            if (byte == last) break;
            text += byte;
        }
        return text;
    }

    pid_t pid_ = 0;
    int in_ = -1, out_ = -1, errors_ = -1, control_ = -1;
    bool reaped_ = false;
};

}  // namespace patchbay::test
