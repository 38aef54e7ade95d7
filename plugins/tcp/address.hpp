// Where a server may be: names resolved to socket addresses, off the loop when that can block.
//
// Threads: resolve() is [any]; a Lookup belongs to the reactor's thread.
// Errors:  text for people.
#pragma once

#include <atomic>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <vector>

namespace patchbay::tcp {

struct Address {
    sockaddr_storage storage{};
    socklen_t size = 0;

    bool loopback() const;
    std::string text() const;  // "127.0.0.1:7000", "[::1]:7000"
};

struct Resolved {
    std::vector<Address> addresses;
    std::string error;  // when there are none
};

// The answer without asking anybody: `host` is numeric or "localhost". Else empty.
Resolved resolve_here(const std::string& host, unsigned port);

// A question to the system's resolver, which blocks: asked on a thread of its own, which never
// enters the host. It says through a descriptor that it is done; nobody need listen.
class Lookup {
public:
    // Throws std::system_error when there is no thread or descriptor to be had.
    Lookup(const std::string& host, unsigned port);

    int done_fd() const;  // readable when there is an answer
    // Null: not yet.
    const Resolved* answer() const;

private:
    struct State;
    std::shared_ptr<State> state_;  // shared with the thread
};

}  // namespace patchbay::tcp
