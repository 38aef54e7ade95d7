// Where the servers of tests listen: this machine, at a port that nobody chose; and how they answer.
#pragma once

#include <arpa/inet.h>
#include <cstdlib>
#include <netinet/in.h>
#include <string_view>
#include <sys/socket.h>

namespace patchbay::test {

// A listening socket, which the caller closes, and its port. `flags` are socket()'s, beside
// SOCK_CLOEXEC. Ends the program where there is none to be had.
inline int listen_on_loopback(int& port, int flags = 0) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (fd < 0 || ::bind(fd, any, size) != 0 || ::listen(fd, 1024) != 0 ||
        ::getsockname(fd, any, &size) != 0)
        std::abort();
    port = ntohs(address.sin_port);
    return fd;
}

// False: the other side is gone.
inline bool send_whole(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

}  // namespace patchbay::test
