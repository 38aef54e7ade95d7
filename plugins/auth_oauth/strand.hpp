// One thing after the other: what is posted from any thread runs on the reactor's thread, never two
// at once and never from inside a call of the host.
//
// Owns:    what is posted, until it has run; stays alive as long as something is.
// Threads: [any].
// Errors:  a reactor that takes nothing any more: run in place. What throws is told to the host, and
//          the next goes on.
#pragma once

#include <patchbay/services.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace patchbay::oauth {

class Strand : public std::enable_shared_from_this<Strand> {
public:
    explicit Strand(const patchbay_host* host);
    void post(std::function<void()> work);

private:
    void run() noexcept;

    const patchbay_host* host_;
    const patchbay_host_reactor* reactor_;
    std::mutex mutex_;
    std::deque<std::function<void()>> waiting_;
    bool scheduled_ = false;
};

}  // namespace patchbay::oauth
