#include "app/hang_ups.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <sys/epoll.h>
#include <utility>

namespace patchbay::app {

HangUps::HangUps(core::Loop& loop) : loop_(loop), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    if (epoll_.get() < 0) return;
    static_cast<void>(
        watch_.start(epoll_.get(), core::Loop::kReadable, [this](unsigned) { look(); }));
}

// Nothing is asked for: an end is told of all the same (epoll_ctl(2)).
Result<void> HangUps::add(int socket, std::function<void()> gone) {
    epoll_event nothing{};
    nothing.data.fd = socket;
    if (!watch_.running() || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket, &nothing) != 0)
        return Error{ErrorCode::Io, std::string("cannot watch a socket: ") + std::strerror(errno)};
    gone_[socket] = std::move(gone);
    return {};
}

void HangUps::remove(int socket) {
    if (gone_.erase(socket) > 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket, nullptr);
}

void HangUps::look() {
    std::array<epoll_event, 64> events{};
    const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), 0);
    for (int i = 0; i < count; ++i) {
        const auto found = gone_.find(events[static_cast<std::size_t>(i)].data.fd);
        if (found == gone_.end()) continue;
        const auto tell = std::move(found->second);
        remove(found->first);
        tell();
    }
}

}  // namespace patchbay::app
