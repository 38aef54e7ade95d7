// An HTTP client of tests: each of these is one connection to 127.0.0.1, which asks and reads.
//
// Threads: one. Errors: what does not come within kMostWait is reported by gtest, and is empty.
#pragma once

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <chrono>
#include <cstdlib>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace patchbay::test {

class PlainHttp {
public:
    static constexpr std::chrono::seconds kMostWait{60};
    using Headers = std::vector<std::pair<std::string, std::string>>;

    explicit PlainHttp(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_port = htons(static_cast<std::uint16_t>(port));
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0;
    }
    ~PlainHttp() { close(); }
    PlainHttp(PlainHttp&& other) noexcept
        : fd_(std::exchange(other.fd_, -1)),
          connected_(other.connected_),
          ended_(other.ended_),
          got_(std::move(other.got_)) {}
    PlainHttp& operator=(PlainHttp&&) = delete;

    bool connected() const { return connected_; }
    void close() {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }
    // No answer is expected where the peer is gone.
    void send(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
    }
    void ask(const std::string& method, const std::string& target, const Headers& headers = {},
             const std::string& body = {}) {
        std::string text = method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n";
        for (const auto& [name, value] : headers)
            text.append(name).append(": ").append(value).append("\r\n");
        if (method == "POST") text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
        send(text + "\r\n" + body);
    }
    const std::string& got() const { return got_; }
    unsigned status() const {
        return got_.size() < 12 ? 0 : static_cast<unsigned>(std::atoi(got_.c_str() + 9));
    }
    std::string header(const std::string& name) const {
        const auto at = got_.find("\r\n" + name + ": ");
        if (at == std::string::npos) return {};
        const auto begin = at + name.size() + 4;
        return got_.substr(begin, got_.find("\r\n", begin) - begin);
    }
    // Reads on until that has come; false: the connection ended, or the time is over.
    bool wait_for(std::string_view text) {
        return wait([&] { return got_.find(text) != std::string::npos; });
    }
    // The answer is whole, as its Content-Length or its last chunk says.
    bool wait_for_answer() {
        return wait([&] {
            const auto head = got_.find("\r\n\r\n");
            if (head == std::string::npos) return false;
            if (const auto length = header("Content-Length"); !length.empty())
                return got_.size() >= head + 4 + std::strtoul(length.c_str(), nullptr, 10);
            return status() == 204 || got_.ends_with("0\r\n\r\n");
        });
    }
    bool wait_for_end() {
        return wait([&] { return ended_; }), ended_;
    }
    template <class Done>
    bool wait(const Done& done) {
        const auto deadline = std::chrono::steady_clock::now() + kMostWait;
        while (!done()) {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                deadline - std::chrono::steady_clock::now());
            pollfd ready{fd_, POLLIN, 0};
            if (ended_ || left.count() <= 0 ||
                ::poll(&ready, 1, static_cast<int>(left.count())) <= 0)
                return false;
            char block[64 << 10];
            const auto count = ::recv(fd_, block, sizeof block, 0);
            if (count <= 0)
                ended_ = true;
            else
                got_.append(block, static_cast<std::size_t>(count));
        }
        return true;
    }

private:
    int fd_ = -1;
    bool connected_ = false, ended_ = false;
    std::string got_;
};

}  // namespace patchbay::test
