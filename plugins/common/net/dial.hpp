// Connects to a server, through a proxy and with TLS as the endpoint says. Blocks, but not for
// ever, and a Fuse ends it from outside.
//
// Owns:    what it returns is the caller's. Borrows the endpoint.
// Threads: a worker; Fuse on any.
// Errors:  Trouble, not sent.
// Limits:  connect_timeout_ms for each address, and for the TLS handshake.
#pragma once

#include "net/endpoint.hpp"
#include "net/trouble.hpp"

#include <Poco/Net/StreamSocket.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

namespace Poco {
class Exception;
}

namespace patchbay::net {

// Ends what is done with a socket from outside: it is shut down, which every call on it and every
// watch of it notices.
class Fuse {
public:
    Fuse() = default;
    ~Fuse() { disarm(); }
    Fuse(const Fuse&) = delete;

    // Both: false: it has blown.
    bool arm(int fd);       // which stays open until disarm()
    bool arm_copy(int fd);  // which may be closed before; throws Trouble where none can be made
    void disarm();
    void blow();
    bool blown() const { return blown_; }

private:
    void hold(int fd, bool owned);

    std::mutex mutex_;
    int fd_ = -1;
    bool owned_ = false;
    std::atomic<bool> blown_{false};
};

struct Dialed {
    Poco::Net::StreamSocket plain, socket;  // the same one unless `socket` is TLS
    std::string peer;                       // the address
    std::optional<Proxy> proxy;             // requests name the whole URL then

    int fd() const { return plain.impl()->sockfd(); }
    bool secure() const { return socket.secure(); }
};

// The fuse stays armed with the socket, which the caller closes after disarm().
Dialed dial(const Endpoint& endpoint, const Url& url, Fuse& fuse);

// What the library threw, in words for people.
std::string words_of(const Poco::Exception& error);

}  // namespace patchbay::net
