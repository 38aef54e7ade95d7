#include "core/standard_error.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <fcntl.h>
#include <limits.h>
#include <mutex>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::core::standard_error {

namespace {

enum class Way { Waits, Pipe, Socket, Polled };

struct State {
    std::mutex mutex;
    Way way = Way::Waits;
    int fd = STDERR_FILENO;
    std::size_t lost = 0;
    bool is_cut = false;  // the last line that was written is not whole
};

State& state() {
    static State it;
    return it;
}

bool is_full() {
    return errno == EAGAIN || errno == EWOULDBLOCK;
}

// How much of it was taken; all of it where it cannot be written at all.
std::size_t taken(const State& to, std::string_view text) {
    if (to.way == Way::Polled) {
        pollfd ready{to.fd, POLLOUT, 0};
        if (::poll(&ready, 1, 0) == 0) return 0;
        text = text.substr(0, PIPE_BUF);  // so much there is room for
    }
    for (;;) {
        const auto count = to.way == Way::Socket ? ::send(to.fd, text.data(), text.size(),
                                                          MSG_DONTWAIT | MSG_NOSIGNAL)
                                                 : ::write(to.fd, text.data(), text.size());
        if (count >= 0) return static_cast<std::size_t>(count);
        if (errno != EINTR) return is_full() ? 0 : text.size();
    }
}

}  // namespace

void write(std::string_view lines) {
    auto& to = state();
    const std::lock_guard guard(to.mutex);
    if (to.way == Way::Waits) {
        std::fwrite(lines.data(), 1, lines.size(), stderr);
        return;
    }
    std::string text(to.is_cut ? "\n" : "");
    if (to.lost > 0)
        text += "warning: " + std::to_string(to.lost) + " lines were lost, as nobody read stderr\n";
    text += lines;
    const auto count = taken(to, text);
    if (count == 0) {
        ++to.lost;
        return;
    }
    to.lost = 0;
    to.is_cut = count < text.size();
}

// A pipe or a terminal is opened anew: its flags may be shared with other programs.
void do_not_wait() {
    struct stat info {};
    if (::fstat(STDERR_FILENO, &info) != 0) return;
    auto& to = state();
    const std::lock_guard guard(to.mutex);
    if (to.fd != STDERR_FILENO) ::close(to.fd);  // of what it was before
    to.fd = STDERR_FILENO;
    to.way = Way::Waits;
    if (S_ISSOCK(info.st_mode)) to.way = Way::Socket;
    if (!S_ISFIFO(info.st_mode) && !S_ISCHR(info.st_mode)) return;
    const int own = ::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own >= 0) to.fd = own;
    // One that another user has made cannot be opened: what is told of its room is believed then.
    to.way = own >= 0 ? Way::Pipe : Way::Polled;
}

}  // namespace patchbay::core::standard_error
