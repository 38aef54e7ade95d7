// A WebSocket server that plays what it is given: the fields of its handshake, then frames, byte
// for byte. One connection.
//
// Threads: one of its own, until the object ends.
#pragma once

#include "support/loopback.hpp"
#include "support/ws_handshake.hpp"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace patchbay::test {

class WsServer {
public:
    struct Play {
        // Of the handshake; "ACCEPT" stands for the right answer.
        std::string fields = kFine;
        std::string status = "101 Switching";
        std::string frames;  // behind it
        bool reads = true;   // at once; otherwise from read_on() on
        bool echoes = false;
        bool leaves = false;  // behind the frames
        std::string piece;    // so many times, behind the frames
        std::size_t times = 0;
    };
    static constexpr const char* kFine =
        "Sec-WebSocket-Accept: ACCEPT\r\nSec-WebSocket-Protocol: mcp\r\n";

    explicit WsServer(Play play) : play_(std::move(play)), reads_(play_.reads) {
        listener_ = listen_on_loopback(port_);
        const int small = 64 << 10;
        ::setsockopt(listener_, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
        thread_ = std::thread([this] { serve(); });
    }
    ~WsServer() {
        stopping_ = true;
        thread_.join();
        ::close(listener_);
    }
    WsServer(const WsServer&) = delete;

    std::string url() const { return "ws://127.0.0.1:" + std::to_string(port_) + "/mcp"; }
    void read_on() { reads_ = true; }
    // More frames, when the client is there and the server itself has no more to say.
    void say(std::string_view frames) const { send_whole(client_, frames); }
    // The client has said something that is not read yet.
    bool waited_for() const {
        pollfd wait{client_, POLLIN, 0};
        return ::poll(&wait, 1, 0) > 0;
    }
    bool ended() const { return ended_; }
    // Of the handshake.
    std::string head() const {
        const std::scoped_lock lock(mutex_);
        return head_;
    }
    // Payloads of the client's frames, each behind its opcode: "1{}", "8" and the close code.
    std::vector<std::string> frames() const {
        const std::scoped_lock lock(mutex_);
        return taken_;
    }

    // A text frame as a server sends it; `last`: of its message, `first` likewise.
    static std::string text(std::string_view payload, bool first = true, bool last = true) {
        std::string frame(1, static_cast<char>((first ? 1 : 0) | (last ? 0x80 : 0)));
        const std::size_t more = payload.size() < 126 ? 0 : payload.size() < 65'536 ? 2 : 8;
        frame += static_cast<char>(more == 0 ? payload.size() : more == 2 ? 126 : 127);
        for (std::size_t i = more; i-- > 0;)
            frame += static_cast<char>(static_cast<std::uint64_t>(payload.size()) >> (8 * i));
        return frame.append(payload);
    }

private:
    // False: stopped.
    bool readable(int fd) const {
        for (pollfd wait{fd, POLLIN, 0}; !stopping_; wait.revents = 0)
            if (::poll(&wait, 1, 10) > 0) return true;
        return false;
    }
    // What is whole of what came.
    void take(int fd) {
        const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(received_[i]); };
        while (received_.size() >= 6) {
            std::size_t size = byte(1) & 0x7f, at = 2;
            if (const std::size_t more = size == 126 ? 2 : size == 127 ? 8 : 0) {
                if (received_.size() < at + more) return;
                for (size = 0; at < 2 + more; ++at) size = size << 8 | byte(at);
            }
            if (received_.size() < at + 4 + size) return;
            std::string frame = std::to_string(byte(0) & 15);
            const char* const mask = received_.data() + at;
            const char* const masked = mask + 4;
            const auto before = frame.size();
            frame.resize(before + size);
            for (std::size_t i = 0; i < size; ++i)
                frame[before + i] = static_cast<char>(masked[i] ^ mask[i & 3]);
            if (play_.echoes && (byte(0) & 15) == 1)
                send_whole(fd, text(std::string_view(frame).substr(1)));
            received_.erase(0, at + 4 + size);
            const std::scoped_lock lock(mutex_);
            taken_.push_back(std::move(frame));
        }
    }
    void serve() {
        if (!readable(listener_)) return;
        const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        client_ = fd;
        converse(fd);
        ::close(fd);
        ended_ = true;
    }
    void converse(int fd) {
        std::string head;
        for (char byte; head.find("\r\n\r\n") == head.npos && readable(fd);) {
            if (::recv(fd, &byte, 1, 0) != 1) break;
            head += byte;
        }
        {
            const std::scoped_lock lock(mutex_);
            head_ = head;
        }
        const auto answer = ws_answer(head, play_.fields, play_.status);
        bool taken = send_whole(fd, answer + play_.frames);
        for (std::size_t i = 0; i < play_.times && taken; ++i) taken = send_whole(fd, play_.piece);
        while (!stopping_ && taken && !play_.leaves) {
            if (!reads_) {
                ::poll(nullptr, 0, 5);
                continue;
            }
            if (!readable(fd)) break;
            char piece[65536];
            const auto got = ::recv(fd, piece, sizeof piece, 0);
            if (got <= 0) break;
            received_.append(piece, static_cast<std::size_t>(got));
            take(fd);
        }
    }
    const Play play_;
    std::atomic<bool> reads_, stopping_{false}, ended_{false};
    std::atomic<int> client_{-1};
    int listener_ = -1, port_ = 0;
    std::string received_;
    mutable std::mutex mutex_;  // guards what follows
    std::string head_;
    std::vector<std::string> taken_;
    std::thread thread_;
};

}  // namespace patchbay::test
