#include "limit_http.hpp"

#include "measure.hpp"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace bench {

namespace {

class Peer {
public:
    explicit Peer(const std::string& url) {
        // http://127.0.0.1:PORT/mcp: the benchmark's own server, nothing else.
        const auto colon = url.rfind(':');
        authority_ = url.substr(7, url.find('/', 7) - 7);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
        address.sin_port = ::htons(static_cast<std::uint16_t>(std::atoi(url.c_str() + colon + 1)));
        fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const int on = 1;
        if (fd_ < 0 || ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
            ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
            give_up("cannot connect to " + url);
    }
    ~Peer() { ::close(fd_); }
    Peer(const Peer&) = delete;

    int fd() const { return fd_; }

    void call(std::size_t id) {
        const auto number = std::to_string(id);
        request_ = "POST /mcp HTTP/1.1\r\nHost: ";
        request_ += authority_;
        request_ += authority_;
        request_ +=
            "\r\nContent-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\nAccept-Encoding: gzip\r\n"
            "MCP-Session-Id: bench\r\nMCP-Protocol-Version: 2025-11-25\r\nContent-Length: ";
        request_ += std::to_string(kBefore.size() + number.size() + kAfter.size());
        request_ += "\r\n\r\n";
        request_ += kBefore;
        request_ += number;
        request_ += kAfter;
        if (::send(fd_, request_.data(), request_.size(), MSG_NOSIGNAL) !=
            static_cast<ssize_t>(request_.size()))
            give_up("send");
    }

    // Answers are small and come alone: one read has all of it.
    void answer() {
        const ssize_t got = ::recv(fd_, piece_.data(), piece_.size(), 0);
        if (got <= 0) give_up("the server is gone");
        const std::string_view text(piece_.data(), static_cast<std::size_t>(got));
        errno = 0;
        if (text.find("hello, world") == text.npos)
            give_up("unexpected answer: " + std::string(text));
    }

private:
    static constexpr std::string_view kBefore = R"({"jsonrpc":"2.0","id":)";
    static constexpr std::string_view kAfter = R"(,"method":"tools/call","params":{"name":"echo",)"
                                               R"("arguments":{"message":"hello, world"}}})";

    int fd_ = -1;
    std::string authority_, request_;
    std::array<char, 16u << 10> piece_;
};

}  // namespace

void http_latency(const std::string& url, std::size_t calls) {
    Peer peer(url);
    std::vector<double> times;
    times.reserve(calls);
    for (std::size_t i = 0; i < calls + calls / 10; ++i) {
        const auto start = Clock::now();
        peer.call(i + 3);
        peer.answer();
        const auto took = Clock::now() - start;
        if (i >= calls / 10) times.push_back(microseconds(took));
    }
    const double p50 = percentile(times, 0.5);
    std::printf("p50_us %.3f p99_us %.3f\n", p50, percentile(times, 0.99));
}

void http_throughput(const std::string& url, std::size_t calls, std::size_t flight) {
    std::vector<std::unique_ptr<Peer>> peers;
    const int poll = ::epoll_create1(EPOLL_CLOEXEC);
    for (std::size_t i = 0; i < flight; ++i) {
        peers.push_back(std::make_unique<Peer>(url));
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.ptr = peers.back().get();
        if (::epoll_ctl(poll, EPOLL_CTL_ADD, peers.back()->fd(), &event) != 0) give_up("epoll_ctl");
    }
    const auto start = Clock::now();
    std::size_t sent = 0, answered = 0;
    for (; sent < flight && sent < calls; ++sent) peers[sent]->call(sent + 3);
    std::vector<epoll_event> events(flight);
    while (answered < calls) {
        const int count = ::epoll_wait(poll, events.data(), static_cast<int>(flight), -1);
        if (count < 0 && errno != EINTR) give_up("epoll_wait");
        for (int i = 0; i < count; ++i) {
            auto& peer = *static_cast<Peer*>(events[static_cast<std::size_t>(i)].data.ptr);
            peer.answer();
            ++answered;
            if (sent < calls) peer.call(++sent + 2);
        }
    }
    const double seconds = microseconds(Clock::now() - start) / 1e6;
    ::close(poll);
    std::printf("calls_per_s %.0f\n", static_cast<double>(calls) / seconds);
}

}  // namespace bench
