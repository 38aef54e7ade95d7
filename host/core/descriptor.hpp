// A file descriptor that is closed with its owner.
//
// Threads: [value].
#pragma once

#include <unistd.h>
#include <utility>

namespace patchbay::core {

class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor() { close(); }

    int get() const { return fd_; }  // -1: none
    int release() { return std::exchange(fd_, -1); }
    void close() {
        if (fd_ >= 0) ::close(release());
    }

private:
    int fd_ = -1;
};

}  // namespace patchbay::core
