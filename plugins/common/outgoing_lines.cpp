#include "outgoing_lines.hpp"

#include <cerrno>
#include <sys/socket.h>
#include <sys/uio.h>
#include <utility>

namespace patchbay::transport {
namespace {

OutgoingLines& outgoing_of(void* self) {
    return *static_cast<OutgoingLines*>(self);
}

}  // namespace

void OutgoingLines::start(SharedDescriptor to) {
    to_ = std::move(to);
}

patchbay_status OutgoingLines::send(std::uint64_t exchange, sdk::Body body) {
    if (!to_.open()) return PATCHBAY_E_CLOSED;
    if (!flush_posted_ && !blocked_) {
        flush_posted_ = core_.post(this, on_flush);
        if (!flush_posted_) return PATCHBAY_E_CLOSED;
    }
    return queue_.push(exchange, std::move(body)) ? PATCHBAY_PAUSE : PATCHBAY_OK;
}

void OutgoingLines::cancel(std::uint64_t exchange) {
    if (!queue_.cancel(exchange)) return;
    core_.sink().done(exchange, PATCHBAY_E_CANCELLED, "cancelled before it was sent",
                      PATCHBAY_ERR_NOT_SENT);
    if (queue_.take_relief()) core_.sink().writable();
}

void OutgoingLines::on_flush(void* self) noexcept {
    auto& lines = outgoing_of(self);
    lines.core_.enter("writing lines", [&lines] {
        lines.core_.arrived();
        lines.flush_posted_ = false;
        if (!lines.blocked_) lines.flush();
    });
}

void OutgoingLines::on_writable(void* self, std::uint32_t) noexcept {
    auto& lines = outgoing_of(self);
    lines.core_.enter("writing lines", [&lines] {
        if (lines.watch_) lines.flush();
    });
}

// True: the queue is empty or the kernel takes no more for now. False: writing is over.
bool OutgoingLines::write_some() {
    blocked_ = false;
    while (!queue_.empty()) {
        iovec vectors[WriteQueue::kMostVectors];
        msghdr message{};
        message.msg_iov = vectors;
        message.msg_iovlen = static_cast<std::size_t>(queue_.vectors(vectors));
        // A pipe has no MSG_NOSIGNAL; the process service ignores SIGPIPE for it.
        const ssize_t put =
            to_.is_socket() ? ::sendmsg(to_.get(), &message, MSG_NOSIGNAL)
                            : ::writev(to_.get(), vectors, static_cast<int>(message.msg_iovlen));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return blocked_ = errno == EAGAIN;
        queue_.written(static_cast<std::size_t>(put),
                       [this](std::uint64_t exchange) { core_.sink().done(exchange); });
    }
    return true;
}

void OutgoingLines::flush() {
    if (!to_.open()) return;
    if (!write_some()) {
        const int error = errno;
        end();
        return listener_.output_broken(error);
    }
    if (blocked_)
        await_writable();
    else if (watch_)
        core_.modify(watch_, ChannelCore::kNone);
    if (queue_.take_relief()) core_.sink().writable();
}

void OutgoingLines::await_writable() {
    if (watch_) return core_.modify(watch_, ChannelCore::kWritable);
    if (core_.watch(to_.get(), ChannelCore::kWritable, this, on_writable, watch_)) return;
    end();
    listener_.output_broken(ENOMEM);
}

void OutgoingLines::end() {
    if (!to_.open()) return;
    if (!blocked_) static_cast<void>(write_some());
    core_.end(watch_);
    to_.end_writing();
    queue_.clear([this](std::uint64_t exchange, bool begun) {
        core_.sink().done(exchange, PATCHBAY_E_CLOSED,
                          begun ? "the connection closed while the message was being sent"
                                : "the connection closed before the message was sent",
                          begun ? 0 : PATCHBAY_ERR_NOT_SENT);
    });
}

}  // namespace patchbay::transport
