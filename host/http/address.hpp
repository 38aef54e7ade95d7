// Where a server listens: `127.0.0.1:8080`, `[::1]:0`, `localhost:8080`, `unix:/run/user/1000/p.sock`.
// No name but localhost is looked up.
//
// Owns:    Listener: the socket, and the file of one that has a path, which goes with it.
// Threads: [loop].
// Errors:  Invalid: it is no address. Io: it cannot be listened on, with the system's reason.
#pragma once

#include "core/descriptor.hpp"
#include "core/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace patchbay::http {

struct Address {
    std::string host;  // a number: "127.0.0.1", "::1"; empty: a path
    std::uint16_t port = 0;
    std::string path;

    bool loopback() const;  // nobody but this machine reaches it
    bool any() const;       // of all that this machine has: 0.0.0.0, ::
    // http://127.0.0.1:8080, or unix:PATH
    std::string url() const;
};

Result<Address> parse_address(std::string_view text);

// Whether a URL's host is nobody but this machine: a number of 127.0.0.0/8, ::1, [::1] or localhost. A
// name that only begins so is anybody's.
bool names_this_machine(std::string_view host);

class Listener {
public:
    // A file that nobody listens on any more is replaced; one that is no socket is not touched.
    static Result<Listener> open(Address address);
    ~Listener();
    Listener(Listener&&) noexcept = default;
    Listener& operator=(Listener&&) = delete;

    int fd() const { return socket_.get(); }
    const Address& address() const { return address_; }  // with the port that was got

private:
    Listener(core::Descriptor socket, Address address)
        : socket_(std::move(socket)), address_(std::move(address)) {}

    core::Descriptor socket_;
    Address address_;
};

}  // namespace patchbay::http
