// One of the two directions of a connection. A socket is one descriptor for both of them and closes with the last; a pipe
// has one for each.
//
// Threads: inside a turn of the core.
#pragma once

#include <memory>
#include <sys/socket.h>
#include <unistd.h>

namespace patchbay::transport {

class SharedDescriptor {
public:
    SharedDescriptor() = default;
    explicit SharedDescriptor(int fd) {
        if (fd >= 0) held_ = std::make_shared<Held>(fd);
    }
    // The other direction of a socket.
    SharedDescriptor other() const {
        auto both = *this;
        if (held_) held_->is_socket = true;
        return both;
    }

    bool open() const { return held_ != nullptr; }
    int get() const { return held_ ? held_->fd : -1; }
    bool is_socket() const { return held_ && held_->is_socket; }
    // Nothing more is said that way: the peer sees the end of it, whatever becomes of the other one.
    void end_writing() {
        if (is_socket()) ::shutdown(held_->fd, SHUT_WR);
        close();
    }
    void close() { held_.reset(); }

private:
    struct Held {
        explicit Held(int its_fd) : fd(its_fd) {}
        ~Held() { ::close(fd); }
        Held(const Held&) = delete;
        const int fd;
        bool is_socket = false;
    };

    std::shared_ptr<Held> held_;
};

}  // namespace patchbay::transport
