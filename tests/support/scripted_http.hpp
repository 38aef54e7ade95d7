// An HTTP server that sends what a script says, byte for byte: for answers that no proper server
// would give.
//
// Threads: one of its own, on which the script runs, until the object ends.
#pragma once

#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
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

class ScriptedHttp {
public:
    struct Request {
        std::string head, body;  // the head with its first line
        int number = 0;          // among all, from 1
        bool is(const std::string& method) const { return head.rfind(method + " ", 0) == 0; }
        bool has(const std::string& text) const { return head.find(text) != std::string::npos; }
    };
    struct Answer {
        std::string bytes;
        enum class Then {
            Keep,
            Close,
            Vanish
        } then = Then::Keep;  // Vanish: nobody listens any more
    };
    using Script = std::function<Answer(const Request&)>;

    explicit ScriptedHttp(Script script) : script_(std::move(script)) {
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
    ~ScriptedHttp() {
        const std::uint64_t one = 1;
        static_cast<void>(!::write(stop_, &one, sizeof one));
        thread_.join();
        vanish();
        ::close(stop_);
    }
    ScriptedHttp(const ScriptedHttp&) = delete;

    std::string origin() const { return "http://127.0.0.1:" + std::to_string(port_); }
    std::string url() const { return origin() + "/mcp"; }
    std::vector<Request> requests() const {
        const std::scoped_lock lock(mutex_);
        return requests_;
    }
    std::size_t count(const std::string& method) const {
        std::size_t found = 0;
        for (const auto& each : requests()) found += each.is(method);
        return found;
    }
    int connections() const { return accepted_; }

    // ---- answers
    static std::string whole(const std::string& status, const std::string& type,
                             const std::string& body, const std::string& more = {}) {
        return "HTTP/1.1 " + status + "\r\nContent-Type: " + type + "\r\n" + more +
               "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    }
    static std::string json(const std::string& body, const std::string& more = {}) {
        return whole("200 OK", "application/json", body, more);
    }
    static std::string empty(const std::string& status, const std::string& more = {}) {
        return "HTTP/1.1 " + status + "\r\n" + more + "Content-Length: 0\r\n\r\n";
    }
    // A stream that ends with its connection: Then::Close.
    static std::string events(const std::string& text, const std::string& more = {}) {
        return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" + more + "\r\n" + text;
    }

private:
    void serve() {
        for (;;) {
            std::vector<pollfd> waits{{stop_, POLLIN, 0}, {listener_, POLLIN, 0}};
            for (const auto& [fd, received] : connections_) waits.push_back({fd, POLLIN, 0});
            ::poll(waits.data(), waits.size(), -1);
            if (waits[0].revents) return;
            for (std::size_t i = 2; i < waits.size(); ++i) {
                const int fd = waits[i].fd;
                if (!waits[i].revents || connections_.count(fd) == 0 || receive(fd)) continue;
                ::close(fd);
                connections_.erase(fd);
            }
            if (!waits[1].revents || listener_ < 0) continue;
            for (int fd; (fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
                ++accepted_;
                connections_[fd];
            }
        }
    }

    bool receive(int fd) {
        char piece[65536];
        const auto got = ::recv(fd, piece, sizeof piece, MSG_DONTWAIT);
        if (got <= 0) return false;
        auto& received = connections_[fd];
        received.append(piece, static_cast<std::size_t>(got));
        for (;;) {
            const auto end = received.find("\r\n\r\n");
            if (end == std::string::npos) return true;
            Request request{received.substr(0, end + 2), {}, 0};
            const auto length = request.head.find("Content-Length: ");
            const auto size = length == std::string::npos
                                  ? std::size_t{0}
                                  : static_cast<std::size_t>(std::atol(&request.head[length + 16]));
            if (received.size() < end + 4 + size) return true;
            request.body = received.substr(end + 4, size);
            received.erase(0, end + 4 + size);
            {
                const std::scoped_lock lock(mutex_);
                request.number = static_cast<int>(requests_.size()) + 1;
                requests_.push_back(request);
            }
            const auto answer = script_(request);
            if (answer.then == Answer::Then::Vanish) {  // before anybody can have read the answer
                ::close(listener_);
                listener_ = -1;
            }
            for (std::string_view left = answer.bytes; !left.empty();) {
                const auto put = ::send(fd, left.data(), left.size(), MSG_NOSIGNAL);
                if (put <= 0) return false;
                left.remove_prefix(static_cast<std::size_t>(put));
            }
            if (answer.then != Answer::Then::Keep) return false;
        }
    }

    void vanish() {
        for (const auto& [fd, received] : connections_) ::close(fd);
        connections_.clear();
        if (listener_ >= 0) ::close(listener_);
        listener_ = -1;
    }

    const Script script_;
    int listener_ = -1, stop_ = ::eventfd(0, EFD_CLOEXEC), port_ = 0;
    std::map<int, std::string> connections_;  // and what came of a request so far
    std::atomic<int> accepted_{0};
    mutable std::mutex mutex_;  // guards requests_
    std::vector<Request> requests_;
    std::thread thread_;
};

}  // namespace patchbay::test
