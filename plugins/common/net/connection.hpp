// One connection to an HTTP server and one exchange on it at a time. The door to Poco's client.
// Every call may block, but not for ever: limits are set per step, and a Fuse ends it from outside.
//
// Owns:    the socket. Borrows the endpoint.
// Threads: one worker at a time; Fuse::blow() on any.
// Errors:  Trouble.
// Limits:  100 header fields of 8 KiB; a response's header within kHeadLimit of its first byte.
#pragma once

#include "net/endpoint.hpp"
#include "net/trouble.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::net {

using Clock = std::chrono::steady_clock;

// Ends a blocking call from outside: the socket is shut down, which every call on it notices.
class Fuse {
public:
    void arm(int fd);  // throws Trouble(E_CANCELLED) when it has blown
    void disarm();
    void blow();
    bool blown() const { return blown_; }

private:
    std::mutex mutex_;
    int fd_ = -1;
    std::atomic<bool> blown_{false};
};

struct Head {  // of a response
    int status = 0;
    std::string reason;
    std::vector<HeaderList::Field> fields;  // as they came, repeated ones included

    std::string_view value(std::string_view name) const;  // of the first; empty: none
    std::string media_type() const;                       // lower case, without parameters
};

struct Outgoing {  // one request; views are the caller's
    std::string method;
    HeaderList headers;
    std::string_view body;
    bool has_body = false;
};

class Connection {
public:
    static constexpr std::chrono::seconds kHeadLimit{30}, kBodyLimit{30};

    // Resolves, connects (through a proxy), and shakes hands. Arms `fuse` with the socket.
    static std::unique_ptr<Connection> dial(const Endpoint& endpoint, const Url& url, Fuse& fuse);
    ~Connection();

    const std::string& origin() const { return origin_; }
    const std::string& peer() const { return peer_; }  // the address
    int fd() const;
    // Nothing has come since the last exchange, not even the end.
    bool still_fresh();

    void send(const Url& url, const Outgoing& request, const HeaderList& secrets);
    bool wait(std::chrono::milliseconds patience);  // true: bytes are there, or the end
    // More can be read without waiting, for all that is known here.
    bool ready();
    Head receive_head();
    // Appends what comes next of the body to `into`, perhaps nothing; false: that was its end.
    // Waits for kBodyLimit and a second for every 16 KiB since the last call that began anew.
    bool read_body(std::string& into, std::size_t most, bool anew);
    // The body was read to its end and the server keeps the connection.
    bool reusable() const;

    // For a connection that changes its protocol: the socket with what was read beyond the head.
    struct Impl;
    Impl& impl() { return *impl_; }

private:
    explicit Connection(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> impl_;
    std::string origin_, peer_;
};

}  // namespace patchbay::net
