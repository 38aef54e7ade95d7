// What the benchmark's own programs are when they are spoken to over HTTP/1.1: one thread, one epoll,
// as little work as there can be. It trusts its clients to read what they asked for.
//
// Owns:    its connections. Borrows what else is watched.
// Threads: one. Ends when its stdin does.
// Errors:  give_up. Prints "port N" once it listens.
// Limits:  kMostRequest bytes of one request, then the connection is closed.
#pragma once

#include "http_frame.hpp"

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>

namespace bench {

class HttpLoop {
public:
    static constexpr std::size_t kMostRequest = 16u << 20;

    HttpLoop();
    virtual ~HttpLoop() = default;
    HttpLoop(const HttpLoop&) = delete;

    void run();

protected:
    // A whole request; what answer() makes of it before this returns goes out in one write.
    virtual void on_request(int client, const HttpFrame& request) = 0;
    // Something that was given to watch().
    virtual void on_readable(int) {}

    void watch(int fd);
    void answer(int client, std::string_view status, std::string_view headers,
                std::initializer_list<std::string_view> body);
    void say(int client, std::string_view bytes);
    // Nothing is read or answered from now on.
    void stall() { stalled_ = true; }

private:
    void accept_all();
    bool read(int fd);
    void drop(int fd);

    int listener_ = -1, poll_ = -1;
    bool stalled_ = false;
    std::unordered_map<int, std::string> unread_;  // of each connection
    int speaking_ = -1;                            // to whom out_ goes
    std::string out_;
    std::array<char, 64u << 10> piece_;
};

// All of it, however long who reads takes.
void send_all(int fd, std::string_view bytes);

}  // namespace bench
