#include "address.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <netdb.h>
#include <new>
#include <sys/eventfd.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace patchbay::tcp {
namespace {

Resolved resolve(const std::string& host, unsigned port, int flags) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV | flags;
    addrinfo* list = nullptr;
    Resolved resolved;
    if (const int failed =
            ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list)) {
        resolved.error = "cannot resolve host \"" + host + "\": " + ::gai_strerror(failed);
        return resolved;
    }
    for (const auto* each = list; each; each = each->ai_next) {
        Address address;
        std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
        address.size = each->ai_addrlen;
        resolved.addresses.push_back(address);
    }
    ::freeaddrinfo(list);
    return resolved;
}

}  // namespace

bool Address::loopback() const {
    if (storage.ss_family == AF_INET) {
        const auto& v4 = reinterpret_cast<const sockaddr_in&>(storage);
        return (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
    }
    if (storage.ss_family != AF_INET6) return false;
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

std::string Address::text() const {
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (::getnameinfo(reinterpret_cast<const sockaddr*>(&storage), size, host, sizeof host, port,
                      sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return "an unknown address";
    const std::string name = storage.ss_family == AF_INET6 ? "[" + std::string(host) + "]" : host;
    return name + ":" + port;
}

Resolved resolve_here(const std::string& host, unsigned port) {
    if (host != "localhost") return resolve(host, port, AI_NUMERICHOST);
    auto resolved = resolve("127.0.0.1", port, AI_NUMERICHOST);
    const auto v6 = resolve("::1", port, AI_NUMERICHOST);
    resolved.addresses.insert(resolved.addresses.end(), v6.addresses.begin(), v6.addresses.end());
    return resolved;
}

struct Lookup::State {
    State() : done_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (done_fd < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    }
    ~State() { ::close(done_fd); }

    const int done_fd;
    Resolved resolved;
    std::atomic<bool> done{false};  // resolved is not touched by the thread any more
};

Lookup::Lookup(const std::string& host, unsigned port) : state_(std::make_shared<State>()) {
    std::thread([state = state_, host, port] {
        try {
            state->resolved = resolve(host, port, 0);
        } catch (const std::bad_alloc&) {
            state->resolved = {{}, "out of memory"};  // which needs none
        }
        state->done.store(true, std::memory_order_release);
        const std::uint64_t one = 1;
        static_cast<void>(!::write(state->done_fd, &one, sizeof one));
    }).detach();
}

int Lookup::done_fd() const {
    return state_->done_fd;
}

const Resolved* Lookup::answer() const {
    return state_->done.load(std::memory_order_acquire) ? &state_->resolved : nullptr;
}

}  // namespace patchbay::tcp
