// The peer of the HTTP rows: an MCP server of the 2025-11-25 revision over HTTP/1.1, one thread,
// one epoll, as little work as there can be. It trusts its clients to send what the host and the
// limit program send: it looks for members by their text, and a connection that does not read
// loses.
//   patchbay-bench-http-server plain     GET: 405
//                              streams   GET: a stream that stays open and silent
//                              stalls    from the first tools/call on nothing is read or answered
//
// Owns:    its connections.
// Threads: one. Ends when its stdin does.
// Errors:  bench::give_up. Prints "port N", then "stream" for each stream that is opened.
// Limits:  kMostRequest bytes of one request, then the connection is closed.
#include "measure.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <unordered_map>

namespace {

constexpr std::size_t kPiece = 64u << 10, kMostRequest = 16u << 20;

constexpr std::string_view kInitialized =
    R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
    R"("serverInfo":{"name":"bench","version":"1"}})";
constexpr std::string_view kTools =
    R"({"tools":[{"name":"echo","description":"Says it again","inputSchema":)"
    R"({"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}}]})";
constexpr std::string_view kStream =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

// What stands between `before` and the next byte of `ends`, from the first `before` on.
std::string_view between(std::string_view text, std::string_view before, std::string_view ends) {
    const auto at = text.find(before);
    if (at == text.npos) return {};
    text.remove_prefix(at + before.size());
    return text.substr(0, text.find_first_of(ends));
}

class Server {
public:
    enum class Mode { Plain, Streams, Stalls };

    explicit Server(Mode mode) : mode_(mode) {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        poll_ = ::epoll_create1(EPOLL_CLOEXEC);
        if (listener_ < 0 || poll_ < 0 || ::bind(listener_, any, size) != 0 ||
            ::listen(listener_, 1024) != 0 || ::getsockname(listener_, any, &size) != 0)
            bench::give_up("cannot listen");
        watch(listener_);
        watch(STDIN_FILENO);
        std::printf("port %d\n", ntohs(address.sin_port));
        std::fflush(stdout);
    }

    void run() {
        std::array<epoll_event, 128> events;
        for (;;) {
            const int count =
                ::epoll_wait(poll_, events.data(), static_cast<int>(events.size()), -1);
            if (count < 0 && errno != EINTR) bench::give_up("epoll_wait");
            for (int i = 0; i < count; ++i) {
                const int fd = events[static_cast<std::size_t>(i)].data.fd;
                if (fd == STDIN_FILENO) return;
                if (fd == listener_)
                    accept_all();
                else if (!read(fd))
                    drop(fd);
                if (stalled_) {
                    std::getchar();  // until stdin ends
                    return;
                }
            }
        }
    }

private:
    void watch(int fd) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = fd;
        if (::epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &event) != 0) bench::give_up("epoll_ctl");
    }

    void accept_all() {
        for (;;) {
            const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
            if (fd < 0) return;
            const int on = 1;
            ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            unread_[fd].clear();
            watch(fd);
        }
    }

    void drop(int fd) {
        unread_.erase(fd);
        ::close(fd);
    }

    // False: the connection is over.
    bool read(int fd) {
        const ssize_t got = ::recv(fd, piece_.data(), piece_.size(), 0);
        if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
        std::string_view text(piece_.data(), static_cast<std::size_t>(got));
        auto& unread = unread_[fd];
        if (!unread.empty()) {
            unread += text;
            text = unread;
        }
        out_.clear();
        std::size_t used = 0;
        while (const auto size = answer(text.substr(used))) used += size;
        if (stalled_) return true;
        if (unread.empty())
            unread = text.substr(used);
        else
            unread.erase(0, used);
        if (unread.size() > kMostRequest) return false;
        return out_.empty() || ::send(fd, out_.data(), out_.size(), MSG_NOSIGNAL) ==
                                   static_cast<ssize_t>(out_.size());
    }

    // The answer to the request at the front goes to out_; its size, 0 when it is not complete.
    std::size_t answer(std::string_view text) {
        const auto end = text.find("\r\n\r\n");
        if (end == text.npos) return 0;
        const auto head = text.substr(0, end + 2);
        std::size_t length = 0;
        const auto digits = between(head, "\r\nContent-Length: ", "\r");
        std::from_chars(digits.data(), digits.data() + digits.size(), length);
        if (text.size() - end - 4 < length) return 0;
        const auto body = text.substr(end + 4, length);
        if (head.front() == 'P')
            post(body);
        else if (head.front() != 'G')
            say("200 OK", "", {});
        else if (mode_ == Mode::Streams)
            open_stream();
        else
            say("405 Method Not Allowed", "", {});
        return end + 4 + length;
    }

    void open_stream() {
        out_ += kStream;
        std::puts("stream");
        std::fflush(stdout);
    }

    void post(std::string_view body) {
        const auto method = between(body, "\"method\":\"", "\"");
        const auto id = between(body, "\"id\":", ",}");
        if (method == "tools/call") {
            stalled_ = mode_ == Mode::Stalls;
            result(id, R"({"content":[{"type":"text","text":")",
                   between(body, "\"message\":\"", "\""), "\"}]}");
        } else if (method == "initialize") {
            result(id, kInitialized, "", "", "MCP-Session-Id: bench\r\n");
        } else if (method == "tools/list") {
            result(id, kTools);
        } else if (method == "ping") {
            result(id, "{}");
        } else if (id.empty()) {
            say("202 Accepted", "", {});
        } else {
            json("", {R"({"jsonrpc":"2.0","id":)", id,
                      R"(,"error":{"code":-32601,"message":"no such method"}})"});
        }
    }

    void result(std::string_view id, std::string_view first, std::string_view second = "",
                std::string_view third = "", std::string_view header = "") {
        json(header, {R"({"jsonrpc":"2.0","id":)", id, ",\"result\":", first, second, third, "}"});
    }

    void json(std::string_view header, std::initializer_list<std::string_view> body) {
        say("200 OK", std::string("Content-Type: application/json\r\n").append(header), body);
    }

    void say(std::string_view status, std::string_view headers,
             std::initializer_list<std::string_view> body) {
        std::size_t size = 0;
        for (const auto part : body) size += part.size();
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, size).ptr;
        out_.append("HTTP/1.1 ").append(status).append("\r\n").append(headers);
        out_.append("Content-Length: ").append(digits, end).append("\r\n\r\n");
        for (const auto part : body) out_ += part;
    }

    const Mode mode_;
    int listener_ = -1, poll_ = -1;
    bool stalled_ = false;
    std::unordered_map<int, std::string> unread_;  // of each connection
    std::string out_;                              // of the one that is being read
    std::array<char, kPiece> piece_;
};

}  // namespace

int main(int argc, char** argv) {
    const std::string_view mode = argc == 2 ? argv[1] : "";
    if (mode != "plain" && mode != "streams" && mode != "stalls") {
        std::fputs("usage: patchbay-bench-http-server plain | streams | stalls\n", stderr);
        return 64;
    }
    const auto server = std::make_unique<Server>(mode == "plain"     ? Server::Mode::Plain
                                                 : mode == "streams" ? Server::Mode::Streams
                                                                     : Server::Mode::Stalls);
    server->run();
    return 0;
}
