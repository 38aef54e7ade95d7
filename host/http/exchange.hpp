// One HTTP request, the way to what it holds, and the way to answer it.
//
// Threads: [loop].
// Source:  RFC 9110, RFC 9112.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::http {

// Names of a request's are in lower case.
using Headers = std::vector<std::pair<std::string, std::string>>;

struct Request {
    std::string method, target;  // "POST", "/mcp?x=1": always a path
    Headers headers;
    std::string body;       // once it was read
    std::string peer = {};  // the number of its address; empty: it came by a Unix socket

    // The first of that name; null: there is none.
    const std::string* header(std::string_view name) const {
        for (const auto& [key, value] : headers)
            if (key == name) return &value;
        return nullptr;
    }
    std::size_t count(std::string_view name) const {
        std::size_t count = 0;
        for (const auto& each : headers) count += each.first == name;
        return count;
    }
};

// Answered once: whole by answer(), or by begin(), any number of write() and end(). What is said of
// one whose connection has gone is dropped.
//
// A body is read when it is wanted, and not before: whom the head shows to have no business here fills no room
// that others need. Who is answered without it may not send the rest.
class Exchange {
public:
    virtual ~Exchange() = default;
    // `then` gets all of the body, once, from within or later: "" where there is none. Not at all where it does not
    // come, is too much or makes no sense: then the request has been answered.
    virtual void read_body(std::function<void(std::string body)> then) = 0;
    virtual void answer(unsigned status, const Headers& headers, std::string body) = 0;
    virtual void begin(const Headers& headers) = 0;  // 200, of unknown length
    virtual void write(std::string_view bytes) = 0;
    virtual void end() = 0;
    // Bytes that the client has not taken yet.
    virtual std::size_t waiting() const = 0;
    // Called once when the connection ends before the answer does; in a later turn where it has already.
    virtual void when_gone(std::function<void()> gone) = 0;
};

class Handler {
public:
    // The head of the request has been read.
    virtual void on_request(std::shared_ptr<Exchange> exchange, Request request) = 0;

protected:
    ~Handler() = default;
};

}  // namespace patchbay::http
