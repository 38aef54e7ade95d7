#include "http/address.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace patchbay::http {

namespace {

constexpr int kBacklog = 1'024;
constexpr std::string_view kUnix = "unix:";

struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t size = 0;

    sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
    template <class As>
    As& as() {
        size = sizeof(As);
        return reinterpret_cast<As&>(storage);
    }
};

// Of one that parse_address() made, so that every number in it is one.
SocketAddress socket_address(const Address& address) {
    SocketAddress made;
    if (!address.path.empty()) {
        auto& local = made.as<sockaddr_un>();
        local.sun_family = AF_UNIX;
        address.path.copy(local.sun_path, sizeof local.sun_path - 1);
    } else if (address.host.find(':') != std::string::npos) {
        auto& six = made.as<sockaddr_in6>();
        six.sin6_family = AF_INET6;
        six.sin6_port = htons(address.port);
        ::inet_pton(AF_INET6, address.host.c_str(), &six.sin6_addr);
    } else {
        auto& four = made.as<sockaddr_in>();
        four.sin_family = AF_INET;
        four.sin_port = htons(address.port);
        ::inet_pton(AF_INET, address.host.c_str(), &four.sin_addr);
    }
    return made;
}

core::Descriptor socket_for(SocketAddress& address, int flags) {
    return core::Descriptor(
        ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
}

// Of a listener that was killed.
bool is_left_over(const Address& address) {
    struct stat status {};
    if (::lstat(address.path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
    auto where = socket_address(address);
    const auto probe = socket_for(where, 0);
    return ::connect(probe.get(), where.get(), where.size) != 0 && errno == ECONNREFUSED;
}

// Port 0 has become another one.
std::uint16_t port_of(int fd) {
    SocketAddress bound;
    bound.size = sizeof bound.storage;
    if (::getsockname(fd, bound.get(), &bound.size) != 0) return 0;
    if (bound.storage.ss_family == AF_INET6)
        return ntohs(reinterpret_cast<sockaddr_in6&>(bound.storage).sin6_port);
    return ntohs(reinterpret_cast<sockaddr_in&>(bound.storage).sin_port);
}

}  // namespace

bool Address::loopback() const {
    return !path.empty() || names_this_machine(host);
}

bool Address::any() const {
    in6_addr number{};
    return (::inet_pton(AF_INET, host.c_str(), &number) == 1 && number.s6_addr32[0] == 0) ||
           (::inet_pton(AF_INET6, host.c_str(), &number) == 1 && IN6_IS_ADDR_UNSPECIFIED(&number));
}

std::string Address::url() const {
    if (!path.empty()) return std::string(kUnix) + path;
    const bool six = host.find(':') != std::string::npos;
    return "http://" + (six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool names_this_machine(std::string_view host) {
    if (host == "localhost" || host == "[::1]") return true;
    in6_addr number{};
    const std::string text(host);
    if (::inet_pton(AF_INET, text.c_str(), &number) == 1) return number.s6_addr[0] == 127;
    return ::inet_pton(AF_INET6, text.c_str(), &number) == 1 && IN6_IS_ADDR_LOOPBACK(&number);
}

Result<Address> parse_address(std::string_view text) {
    Address address;
    if (text.starts_with(kUnix)) {
        address.path = text.substr(kUnix.size());
        if (address.path.empty() || address.path.size() >= sizeof(sockaddr_un::sun_path))
            return Error{ErrorCode::Invalid, "a socket's path has 1 to " +
                                                 std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                                                 " bytes"};
        return address;
    }
    const Error no_address{
        ErrorCode::Invalid,
        "\"" + std::string(text.substr(0, 200)) +
            "\" is no address to listen on; expected ADDRESS:PORT with the number of an address of "
            "this machine, as 127.0.0.1:8808, [::1]:8808, 0.0.0.0:8443 or [2001:db8::7]:8443, or "
            "localhost:PORT or unix:PATH (port 0: any that is free)"};
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return no_address;
    auto host = text.substr(0, colon);
    const auto port = text.substr(colon + 1);
    const auto* const end = port.data() + port.size();
    if (const auto read = std::from_chars(port.data(), end, address.port);
        port.empty() || read.ec != std::errc() || read.ptr != end)
        return no_address;
    const bool six = host.starts_with('[') && host.ends_with(']');
    if (six) host = host.substr(1, host.size() - 2);
    address.host = host == "localhost" ? "127.0.0.1" : std::string(host);
    in6_addr number{};
    if (::inet_pton(six ? AF_INET6 : AF_INET, address.host.c_str(), &number) != 1)
        return no_address;
    return address;
}

namespace {

std::string what_to_do(int number, const Address& address) {
    if (number == EADDRINUSE && address.path.empty())
        return "; another program listens there, perhaps another Patchbay (`ss -ltnp` says which): "
               "end it, or take "
               "another port (0: any that is free)";
    if (number == EADDRINUSE)
        return "; another program listens there: end it, or take another path";
    if (number == EADDRNOTAVAIL)
        return "; it is no address of this machine (`ip address` shows those)";
    if (number == EACCES && address.path.empty() && address.port < 1024)
        return "; ports below 1024 need a privilege: take a higher one";
    return {};
}

}  // namespace

Result<Listener> Listener::open(Address address) {
    auto where = socket_address(address);
    auto socket = socket_for(where, SOCK_NONBLOCK);
    const int on = 1;
    if (address.path.empty())
        ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    else if (is_left_over(address))
        ::unlink(address.path.c_str());
    const auto fail = [&address] {
        const int number = errno;
        return Error{ErrorCode::Io, "cannot listen on " + address.url() + ": " +
                                        std::strerror(number) + what_to_do(number, address)};
    };
    if (socket.get() < 0 || ::bind(socket.get(), where.get(), where.size) != 0) return fail();
    // Nobody can connect before it is listened on.
    if (!address.path.empty() && ::chmod(address.path.c_str(), 0600) != 0) return fail();
    if (::listen(socket.get(), kBacklog) != 0) return fail();
    if (address.path.empty()) address.port = port_of(socket.get());
    return Listener(std::move(socket), std::move(address));
}

Listener::~Listener() {
    if (socket_.get() >= 0 && !address_.path.empty()) ::unlink(address_.path.c_str());
}

}  // namespace patchbay::http
