// Connects to the host that `patchbay run` started in a Home, as any program may, and the host itself.
//
// Owns:    the socket; a RunningHost its process. Threads: one. Errors: reported by gtest.
#pragma once

#include "integration/home.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace patchbay::test {

// In which folder of a Home the sockets are.
inline std::vector<std::filesystem::path> sockets_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> found;
    std::error_code failed;
    for (const auto& each : std::filesystem::directory_iterator(folder, failed))
        if (each.path().extension() == ".sock") found.push_back(each.path());
    return found;
}

class HostGuest {
public:
    explicit HostGuest(const std::filesystem::path& socket)
        : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const auto path = socket.string();
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        connected_ =
            ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    }
    ~HostGuest() { vanish(); }
    HostGuest(const HostGuest&) = delete;

    bool connected() const { return connected_; }
    // Until the other side takes no more. False: it has gone.
    bool send(std::string_view text) {
        while (!text.empty()) {
            const auto put = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
            if (put <= 0) return false;
            text.remove_prefix(static_cast<std::size_t>(put));
        }
        return true;
    }
    // The same, and false where the other side has not read what it was sent for a second.
    bool send_now(std::string_view text) {
        while (!text.empty()) {
            pollfd ready{fd_, POLLOUT, 0};
            if (::poll(&ready, 1, 1'000) <= 0) return false;
            const auto put = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (put <= 0) return false;
            text.remove_prefix(static_cast<std::size_t>(put));
        }
        return true;
    }
    bool greet(const std::string& as = "batch") {
        return send("{\"patchbay\":{\"protocol\":1,\"as\":\"" + as + "\"}}\n") &&
               line().find("\"pid\"") != std::string::npos;
    }
    // A request of a batch, and its answer; other lines in between are dropped.
    json::object ask(json::object request) {
        const auto id = "ask " + std::to_string(++asked_);
        request["id"] = id;
        send(json::serialize(request) + "\n");
        const auto answer = line_with("{\"id\":\"" + id + "\"");
        EXPECT_NE(answer, "") << "no answer to " << json::serialize(request);
        return answer.empty() ? json::object{{"ok", false}} : json::parse(answer).as_object();
    }
    void end_input() { ::shutdown(fd_, SHUT_WR); }
    void vanish() {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }
    // The next line without its end; empty: there is none any more.
    std::string line() {
        for (;;) {
            if (const auto end = text_.find('\n'); end != std::string::npos) {
                auto one = text_.substr(0, end);
                text_.erase(0, end + 1);
                return one;
            }
            if (!read()) return {};
        }
    }
    // The line that has `part`; empty: none came.
    std::string line_with(std::string_view part) {
        for (auto one = line(); !one.empty(); one = line())
            if (one.find(part) != std::string::npos) return one;
        return {};
    }

private:
    bool read() {
        pollfd ready{fd_, POLLIN, 0};
        if (::poll(&ready, 1, static_cast<int>(std::chrono::milliseconds(kDeadline).count())) <= 0)
            return false;
        char bytes[64u << 10];
        const auto got = ::recv(fd_, bytes, sizeof bytes, 0);
        if (got > 0) text_.append(bytes, static_cast<std::size_t>(got));
        return got > 0;
    }

    int fd_;
    bool connected_ = false;
    int asked_ = 0;
    std::string text_;
};

// Of the process of a server, as `mcp status` tells it; 0: it has none. A server may be ready before its
// supervisor has told which process it is.
inline int pid_of(const Home& home, const std::string& server) {
    int pid = 0;
    EXPECT_TRUE(comes_true([&] {
        const auto status = json::parse(home.run({"mcp", "status", server, "--json"}).out);
        const auto* its = status.as_object().if_contains("pid");
        if (its) pid = its->to_number<int>();
        const auto* state = status.as_object().if_contains("state");
        return its || !state || *state != "ready";
    }));
    return pid;
}

// `patchbay run` in the foreground.
class RunningHost {
public:
    explicit RunningHost(const Home& home, Words more = {},
                         std::chrono::milliseconds deadline = kDeadline)
        : RunningHost([&] {
              more.insert(more.begin(), "run");
              auto command = home.patchbay(std::move(more));
              command.deadline = deadline;
              return command;
          }()) {}
    explicit RunningHost(const Command& command) : program_(command) {
        const std::string sign = ", socket ";
        EXPECT_TRUE(program_.wait_until([&] {
            const auto at = program_.err().find(sign);
            return at != std::string::npos && program_.err().find('\n', at) != std::string::npos;
        })) << program_.err();
        const auto at = program_.err().find(sign);
        if (at == std::string::npos) return;
        const auto begin = at + sign.size();
        socket_ = program_.err().substr(begin, program_.err().find('\n', begin) - begin);
    }
    Program& program() { return program_; }
    const std::string& socket() const { return socket_; }
    Outcome end() {
        program_.signal(SIGTERM);
        return program_.finish();
    }

private:
    Program program_;
    std::string socket_;
};

}  // namespace patchbay::test
