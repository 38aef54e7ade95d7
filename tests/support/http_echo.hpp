// An HTTP server that answers a POST with its own body: at once ("kind":"json"), as an event stream
// ("stream"), a little later in pieces ("late"), or not at all ("never"); "hangup": at once, and
// the connection ends without a word. A POST of "initialize" begins a session; the first GET gets a
// stream of one event that ends, the next 429, and all others 404. A GET of /sse gets the stream of
// the older transport, whose messages go to /mcp; whatever goes to /to/WHERE is redirected to
// WHERE. As a proxy it makes no tunnels.
//
// Threads: one of its own, until the object ends.
#pragma once

#include <arpa/inet.h>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace patchbay::test {

class HttpEcho {
public:
    HttpEcho() {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        if (::bind(listener_, any, size) != 0 || ::listen(listener_, 1024) != 0 ||
            ::getsockname(listener_, any, &size) != 0)
            std::abort();
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~HttpEcho() {
        const std::uint64_t one = 1;
        static_cast<void>(!::write(stop_, &one, sizeof one));
        thread_.join();
        for (const auto& [fd, connection] : connections_) ::close(fd);
        ::close(listener_);
        ::close(stop_);
    }
    HttpEcho(const HttpEcho&) = delete;

    std::string origin() const { return "http://127.0.0.1:" + std::to_string(port_); }
    std::string url() const { return origin() + "/mcp"; }
    int waiting() const { return waiting_; }       // for an answer that never comes
    int connections() const { return accepted_; }  // so far
    int gets() const { return gets_; }
    // Of every request so far: its first line and headers.
    std::vector<std::string> heads() const {
        const std::scoped_lock lock(mutex_);
        return heads_;
    }

private:
    struct Connection {
        std::string received;
        std::vector<std::string> later;  // pieces of an answer, one a round
    };

    void serve() {
        for (;;) {
            bool hurry = false;
            std::vector<pollfd> waits{{stop_, POLLIN, 0}, {listener_, POLLIN, 0}};
            for (const auto& [fd, connection] : connections_) {
                waits.push_back({fd, POLLIN, 0});
                hurry = hurry || !connection.later.empty();
            }
            ::poll(waits.data(), waits.size(), hurry ? 1 : -1);
            if (waits[0].revents) return;
            for (std::size_t i = 2; i < waits.size(); ++i) {
                const int fd = waits[i].fd;
                auto& connection = connections_[fd];
                if (!connection.later.empty()) {
                    send(fd, connection.later.front());
                    connection.later.erase(connection.later.begin());
                }
                if (waits[i].revents && !receive(fd, connection)) {
                    ::close(fd);
                    connections_.erase(fd);
                }
            }
            if (!waits[1].revents) continue;
            for (int fd; (fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
                ++accepted_;
                connections_[fd];
            }
        }
    }

    bool receive(int fd, Connection& connection) {
        char piece[4096];
        const auto got = ::recv(fd, piece, sizeof piece, MSG_DONTWAIT);
        if (got <= 0) return false;
        connection.received.append(piece, static_cast<std::size_t>(got));
        const auto end = connection.received.find("\r\n\r\n");
        if (end == std::string::npos) return true;
        const auto head = connection.received.substr(0, end + 2);
        if (connection.received.rfind("GET ", 0) == 0) {
            note(head);
            connection.received.erase(0, end + 4);
            if (const auto to = head.find(" /to/"); to < head.find('\r'))
                return redirect(fd, where(head, to)), true;
            return answer_get(fd, head), true;
        }
        if (connection.received.rfind("DELETE ", 0) == 0) {
            note(head);
            connection.received.erase(0, end + 4);
            return send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), true;
        }
        if (connection.received.rfind("CONNECT ", 0) == 0) {
            note(head);
            send(fd, "HTTP/1.1 502 No Tunnel\r\nContent-Length: 0\r\n\r\n");
            return false;
        }
        const auto length = connection.received.find("Content-Length: ");
        if (length == std::string::npos) return true;
        const auto size = static_cast<std::size_t>(std::atol(&connection.received[length + 16]));
        if (connection.received.size() < end + 4 + size) return true;
        const auto body = connection.received.substr(end + 4, size);
        connection.received.erase(0, end + 4 + size);
        note(head);
        if (const auto to = head.find(" /to/"); to < head.find('\r'))
            return redirect(fd, where(head, to)), true;
        answer(fd, connection, body);
        return body.find("\"hangup\"") == std::string::npos;
    }

    void note(const std::string& head) {
        const std::scoped_lock lock(mutex_);
        heads_.push_back(head);
    }

    static std::string where(const std::string& head, std::size_t to) {
        return head.substr(to + 5, head.find(' ', to + 5) - to - 5);
    }

    static void redirect(int fd, const std::string& where) {
        send(fd, "HTTP/1.1 307 Elsewhere\r\nLocation: " + where + "\r\nContent-Length: 0\r\n\r\n");
    }

    void answer_get(int fd, const std::string& head) {
        if (head.rfind("GET /sse ", 0) == 0)
            return send(fd,
                        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                        "event: endpoint\ndata: /mcp\n\n");
        static constexpr const char* kRefusals[] = {
            "HTTP/1.1 429 Later\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"};
        const int before = gets_++;
        if (before > 0) return send(fd, kRefusals[before > 1]);
        send_stream(fd, "retry: 1\ndata: {\"hello\":1}\n\n");
    }

    void answer(int fd, Connection& connection, const std::string& body) {
        if (body.find("\"never\"") != std::string::npos) {
            ++waiting_;
            return;
        }
        if (body.find("\"stream\"") != std::string::npos)
            return send_stream(fd, "data: " + body + "\n\n");
        const bool begins = body.find("\"initialize\"") != std::string::npos;
        const auto whole = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                           std::to_string(body.size()) + (begins ? "\r\nMcp-Session-Id: one" : "") +
                           "\r\n\r\n" + body;
        if (body.find("\"late\"") == std::string::npos) return send(fd, whole);
        const auto middle = whole.size() / 2;
        connection.later = {"", "", "", "", whole.substr(0, middle), "", whole.substr(middle)};
    }

    static void send_stream(int fd, const std::string& events) {
        char size[16];
        std::snprintf(size, sizeof size, "%zx", events.size());
        send(fd,
             "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
             "Transfer-Encoding: chunked\r\n\r\n" +
                 std::string(size) + "\r\n" + events + "\r\n0\r\n\r\n");
    }

    static void send(int fd, const std::string& bytes) {
        static_cast<void>(!::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    }

    int listener_ = -1, stop_ = ::eventfd(0, EFD_CLOEXEC), port_ = 0;
    std::map<int, Connection> connections_;
    std::atomic<int> waiting_{0}, accepted_{0}, gets_{0};
    mutable std::mutex mutex_;  // guards heads_
    std::vector<std::string> heads_;
    std::thread thread_;
};

}  // namespace patchbay::test
