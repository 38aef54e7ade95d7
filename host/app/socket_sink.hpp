// A socket as the place where lines go.
//
// Borrows the socket. Threads: [loop].
#pragma once

#include "app/line_output.hpp"

#include <cerrno>
#include <string_view>
#include <sys/socket.h>

namespace patchbay::app {

class SocketSink final : public LineSink {
public:
    explicit SocketSink(int fd) : fd_(fd) {}

    int fd() const override { return fd_; }
    bool write(std::string_view& text) override {
        while (!text.empty() && !failed_) {
            const auto put = ::send(fd_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
            if (put >= 0)
                text.remove_prefix(static_cast<std::size_t>(put));
            else if (errno == EAGAIN)
                return true;
            else if (errno != EINTR)
                failed_ = true;
        }
        return !failed_;
    }

private:
    const int fd_;
    bool failed_ = false;
};

}  // namespace patchbay::app
