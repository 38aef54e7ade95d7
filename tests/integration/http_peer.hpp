// Somebody who speaks HTTP to `patchbay serve --http`: one request a connection.
//
// Threads: one. Errors: what does not come in time is an empty answer.
#pragma once

#include "support/loopback.hpp"
#include "support/run_program.hpp"

#include <cstdint>
#include <poll.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace patchbay::test {

class HttpPeer {
public:
    using Headers = std::vector<std::pair<std::string, std::string>>;

    // `url` as `patchbay serve` prints it.
    HttpPeer(const std::string& url, const std::string& method, const Headers& headers,
             const std::string& body = {}, std::string path = "/mcp")
        : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        where.sin_port =
            htons(static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
        if (::connect(fd_, reinterpret_cast<sockaddr*>(&where), sizeof where) != 0) return;
        std::string request = method + " " + std::move(path) +
                              " HTTP/1.1\r\nAccept: application/json, text/event-stream\r\n"
                              "Content-Type: application/json\r\nConnection: close\r\n";
        bool named = false;
        for (const auto& [name, value] : headers) {
            request.append(name).append(": ").append(value).append("\r\n");
            named = named || name == "Host";
        }
        if (!named) request += "Host: localhost\r\n";
        request += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
        send_whole(fd_, request);
    }
    ~HttpPeer() { ::close(fd_); }
    HttpPeer(const HttpPeer&) = delete;

    // All that comes until it holds `text`, or until the end.
    const std::string& hear(std::string_view text = {}) {
        const auto deadline = std::chrono::steady_clock::now() + kDeadline;
        while (!ended_ && (text.empty() || got_.find(text) == std::string::npos) &&
               std::chrono::steady_clock::now() < deadline) {
            pollfd ready{fd_, POLLIN, 0};
            if (::poll(&ready, 1, 100) <= 0) continue;
            char block[4096];
            const auto count = ::recv(fd_, block, sizeof block, 0);
            if (count > 0)
                got_.append(block, static_cast<std::size_t>(count));
            else
                ended_ = true;
        }
        return got_;
    }
    bool ended() const { return ended_; }
    // 0: none came.
    int status() {
        hear("\r\n\r\n");
        return got_.starts_with("HTTP/1.1 ") ? std::stoi(got_.substr(9, 3)) : 0;
    }
    std::string header(const std::string& name) {
        hear("\r\n\r\n");
        const auto begin = got_.find("\r\n" + name + ": ");
        if (begin == std::string::npos) return {};
        const auto value = begin + name.size() + 4;
        return got_.substr(value, got_.find("\r\n", value) - value);
    }

private:
    const int fd_;
    std::string got_;
    bool ended_ = false;
};

}  // namespace patchbay::test
