// An HTTP server that sends what a script says, byte for byte: also answers that no proper server
// would give.
//
// Threads: one of its own, on which the script runs, until the object ends; hear() and what has
// been counted are for others.
#pragma once

#include "support/loopback.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <string_view>
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
            Deafen,  // nothing is read any more until hear()
            Vanish   // nobody listens any more
        } then = Then::Keep;
        std::vector<std::string> later = {};  // on the same connection, a piece a round
        std::string piece = {};               // so many times, behind `bytes`
        std::size_t times = 0;
        std::string on_stream = {};  // goes out first, on the connection of the last GET
    };
    using Script = std::function<Answer(const Request&)>;

    explicit ScriptedHttp(Script script) : script_(std::move(script)) {
        listener_ = listen_on_loopback(port_, SOCK_NONBLOCK);
        thread_ = std::thread([this] { serve(); });
    }
    ~ScriptedHttp() {
        stopping_ = true;
        wake();
        thread_.join();
        vanish();
        ::close(wake_);
    }
    ScriptedHttp(const ScriptedHttp&) = delete;

    std::string origin() const { return "http://127.0.0.1:" + std::to_string(port_); }
    std::string url() const { return origin() + "/mcp"; }
    std::vector<Request> requests() const {
        const std::scoped_lock lock(mutex_);
        return requests_;
    }
    // Of one method: a stream may be asked for again at any time.
    Request last(const std::string& method) const {
        Request found;
        for (auto& each : requests())
            if (each.is(method)) found = std::move(each);
        return found;
    }
    std::size_t count(const std::string& method) const {
        std::size_t found = 0;
        for (const auto& each : requests()) found += each.is(method);
        return found;
    }
    int connections() const { return accepted_; }  // so far
    int closed() const { return closed_; }         // of them, by the server or behind the client
    // Otherwise what comes stays in the sockets.
    void hear(bool hears) {
        hears_ = hears;
        wake();
    }

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
    // One that ends by itself; without its last chunk it is cut off.
    static std::string stream(const std::string& text, const char* last_chunk = "0\r\n\r\n") {
        char size[24];
        std::snprintf(size, sizeof size, "%zx\r\n", text.size());
        return events(size + text + "\r\n" + last_chunk, "Transfer-Encoding: chunked\r\n");
    }

private:
    struct Connection {
        std::string received;            // of a request so far
        std::vector<std::string> later;  // of its answer
    };

    void wake() {
        const std::uint64_t one = 1;
        static_cast<void>(!::write(wake_, &one, sizeof one));
    }

    void serve() {
        while (!stopping_) {
            bool hurry = false;
            std::vector<pollfd> waits{{wake_, POLLIN, 0}};
            if (hears_) {
                waits.push_back({listener_, POLLIN, 0});
                for (const auto& [fd, connection] : connections_) {
                    waits.push_back({fd, POLLIN, 0});
                    hurry = hurry || !connection.later.empty();
                }
            }
            ::poll(waits.data(), waits.size(), hurry ? 1 : -1);
            if (std::uint64_t times = 0; waits[0].revents)
                static_cast<void>(!::read(wake_, &times, sizeof times));
            if (!hears_) continue;
            for (std::size_t i = 2; i < waits.size() && hears_; ++i) {
                const int fd = waits[i].fd;
                const auto found = connections_.find(fd);
                if (found == connections_.end()) continue;
                if (auto& later = found->second.later; !later.empty()) {
                    send_whole(fd, later.front());
                    later.erase(later.begin());
                }
                if (!waits[i].revents || receive(fd)) continue;
                ::close(fd);
                connections_.erase(fd);
                ++closed_;
            }
            if (waits.size() < 2 || !waits[1].revents || listener_ < 0 || !hears_) continue;
            for (int fd; (fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
                ++accepted_;
                connections_[fd];
            }
        }
    }

    // False: the connection is over.
    bool receive(int fd) {
        char bytes[65536];
        const auto got = ::recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (got <= 0) return false;
        auto& received = connections_[fd].received;
        received.append(bytes, static_cast<std::size_t>(got));
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
            if (request.is("GET")) stream_ = fd;
            if (!answer(fd, script_(request))) return false;
        }
    }

    bool answer(int fd, const Answer& answer) {
        if (answer.then == Answer::Then::Vanish) {  // before anybody can have read the answer
            ::close(listener_);
            listener_ = -1;
        }
        if (answer.then == Answer::Then::Deafen) hears_ = false;
        if (!answer.on_stream.empty() && connections_.count(stream_) > 0)
            send_whole(stream_, answer.on_stream);
        connections_[fd].later = answer.later;
        bool taken = send_whole(fd, answer.bytes);
        for (std::size_t i = 0; i < answer.times && taken; ++i)
            taken = send_whole(fd, answer.piece);
        return taken && (answer.then == Answer::Then::Keep || answer.then == Answer::Then::Deafen);
    }

    void vanish() {
        for (const auto& [fd, connection] : connections_) ::close(fd);
        connections_.clear();
        if (listener_ >= 0) ::close(listener_);
        listener_ = -1;
    }

    const Script script_;
    int listener_ = -1, wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), port_ = 0;
    std::map<int, Connection> connections_;
    int stream_ = -1;  // the connection of the last GET
    std::atomic<bool> stopping_{false}, hears_{true};
    std::atomic<int> accepted_{0}, closed_{0};
    mutable std::mutex mutex_;  // guards requests_
    std::vector<Request> requests_;
    std::thread thread_;
};

}  // namespace patchbay::test
