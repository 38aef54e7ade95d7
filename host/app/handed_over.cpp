#include "app/handed_over.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace patchbay::app {

namespace {

constexpr int kFirst = 3;  // SD_LISTEN_FDS_START
constexpr int kMost = 64;  // ours is one

int number_in(const char* variable) {
    const char* said = std::getenv(variable);
    const std::string_view text = said ? said : "";
    int number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    return failed == std::errc() && end == text.data() + text.size() ? number : 0;
}

std::string path_of(int socket) {
    int type = 0, listens = 0;
    socklen_t size = sizeof type;
    if (::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM)
        return {};
    size = sizeof listens;
    if (::getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0)
        return {};
    sockaddr_un address{};
    socklen_t length = sizeof address;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
        address.sun_family != AF_UNIX || length <= offsetof(sockaddr_un, sun_path))
        return {};
    const std::string_view path(address.sun_path, length - offsetof(sockaddr_un, sun_path));
    return std::string(path.substr(0, path.find('\0')));
}

}  // namespace

std::vector<HandedOver> take_handed_over() {
    const bool ours = number_in("LISTEN_PID") == ::getpid();
    const int count = ours ? std::clamp(number_in("LISTEN_FDS"), 0, kMost) : 0;
    for (const char* variable : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"})
        ::unsetenv(variable);
    std::vector<HandedOver> all;
    for (int fd = kFirst; fd < kFirst + count; ++fd) {
        const int flags = ::fcntl(fd, F_GETFL);
        if (flags < 0) continue;
        ::fcntl(fd, F_SETFD, FD_CLOEXEC);
        ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
        all.push_back({core::Descriptor(fd), path_of(fd)});
    }
    return all;
}

}  // namespace patchbay::app
