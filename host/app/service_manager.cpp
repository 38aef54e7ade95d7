#include "app/service_manager.hpp"

#include "core/descriptor.hpp"

#include <cstddef>
#include <cstdlib>
#include <sys/socket.h>
#include <sys/un.h>

namespace patchbay::app {

void tell_service_manager(std::string_view state) {
    const char* named = std::getenv("NOTIFY_SOCKET");
    const std::string_view name = named ? named : "";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const bool known = name.starts_with('/') || name.starts_with('@');
    if (!known || name.size() >= sizeof address.sun_path) return;
    name.copy(address.sun_path, name.size());
    if (name.front() == '@') address.sun_path[0] = 0;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    const core::Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    static_cast<void>(::sendto(socket.get(), state.data(), state.size(),
                               MSG_NOSIGNAL | MSG_DONTWAIT,
                               reinterpret_cast<const sockaddr*>(&address), size));
}

}  // namespace patchbay::app
