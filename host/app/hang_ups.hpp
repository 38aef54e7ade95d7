// Tells of sockets whose other side has gone for good, whether or not anything is read from them meanwhile. One that
// only sends nothing more has not gone.
//
// Owns:    its descriptor. Borrows the loop and the sockets, which are removed before they are closed.
// Threads: [loop].
// Errors:  Io: the system's reason.
#pragma once

#include "core/descriptor.hpp"
#include "core/loop.hpp"
#include "core/result.hpp"
#include "core/watch.hpp"

#include <cstdint>
#include <functional>
#include <map>

namespace patchbay::app {

class HangUps {
public:
    explicit HangUps(core::Loop& loop);
    HangUps(const HangUps&) = delete;

    // `gone` once; it may remove any.
    Result<void> add(int socket, std::function<void()> gone);
    void remove(int socket);

private:
    void look();

    core::Loop& loop_;
    core::Descriptor epoll_;
    core::Watch watch_{loop_};
    std::map<int, std::function<void()>> gone_;
};

}  // namespace patchbay::app
