// An HTTP/1.1 server on the host's loop: its connections, and what they may cost.
//
// Owns:    the listener and its connections. Borrows the loop, the handler and the observer.
// Threads: [loop].
// Errors:  what is no HTTP is answered with a 4xx or 5xx, and the connection closed.
// Limits:  Limits; a client that takes nothing of its answer for `write` is cut off.
// Source:  RFC 9112.
#pragma once

#include "core/lifetime.hpp"
#include "core/loop.hpp"
#include "core/observer.hpp"
#include "core/timer.hpp"
#include "core/watch.hpp"
#include "http/address.hpp"
#include "http/exchange.hpp"

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>

namespace patchbay::http {

class Connection;
class Streams;

struct Limits {
    std::size_t connections = 11'000;
    std::size_t head_bytes = 16u << 10;
    std::size_t body_bytes = 16u << 20;
    std::size_t all_body_bytes = 256u << 20;  // of all requests that are being read
    std::size_t own_bytes = 16u << 10;        // of one, whatever the others take
    std::chrono::seconds head{10}, body{60}, idle{75}, write{60};
};

class Server {
public:
    // `streams`: what its connections speak over; null: plain TCP. `observer`: null where nobody counts.
    Server(core::Loop& loop, Listener listener, Handler& handler, Limits limits = {},
           Streams* streams = nullptr, core::Observer* observer = nullptr);
    ~Server();  // connections are cut off
    Server(const Server&) = delete;

    const Address& address() const { return listener_.address(); }
    // No new connections, and no new requests on those that there are.
    void stop();
    // Every answer that has ended has been taken.
    bool written() const;

private:
    friend class Connection;
    void accept();
    void drop(Connection& connection);

    core::Loop& loop_;
    Listener listener_;
    Handler& handler_;
    const Limits limits_;
    Streams* const streams_;
    core::Observer* const observer_;
    core::Watch watch_{loop_};
    core::Timer pause_;  // of accepting, where there are no descriptors left
    std::list<std::unique_ptr<Connection>> connections_;
    std::size_t reading_ = 0;  // bytes of bodies that are being read
    bool stopped_ = false;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::http
