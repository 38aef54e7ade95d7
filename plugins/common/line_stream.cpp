#include "line_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

namespace patchbay::transport {
namespace {

constexpr std::size_t kLinesPerRound = 64;
constexpr std::size_t kBytesPerRound = 256u << 10;
constexpr std::size_t kStrayBytes = 8u << 10;       // of a line that is shown to people
constexpr std::size_t kUsualPipeBytes = 64u << 10;  // what one holds (pipe(7))
constexpr std::size_t kWidePipeBytes = 256u << 10;  // as much as one read takes
constexpr std::size_t kMostDrained = 4u << 20;  // more than a pipe holds: somebody goes on writing

LineStream& stream_of(void* self) {
    return *static_cast<LineStream*>(self);
}

}  // namespace

LineStream::~LineStream() {
    if (writing_ >= 0 && writing_ != reading_) ::close(writing_);
    if (reading_ >= 0) ::close(reading_);
}

bool LineStream::start(int reading, int writing) {
    reading_ = reading;
    writing_ = writing;
    socket_ = reading == writing;
    return core_.watch(reading_, ChannelCore::kReadable, this, on_readable, read_watch_);
}

// ---- reading

void LineStream::on_readable(void* self, std::uint32_t) noexcept {
    auto& stream = stream_of(self);
    stream.core_.enter("reading lines", [&stream] {
        if (!stream.read_watch_ || stream.paused_) return;
        // Else a peer that says short lines faster than they are taken is kept in memory without end.
        if (stream.reader_.has_line())
            stream.deliver();
        else
            stream.take_input();
    });
}

void LineStream::take_input() {
    try {
        switch (read_once()) {
            case Input::Nothing:
                return;
            case Input::Ended:
                ended_ = true;
                core_.end(read_watch_);
                break;
            case Input::Got:
                break;
        }
        deliver();
    } catch (const std::bad_alloc&) {
        fail(PATCHBAY_E_LIMIT, "sent a message that does not fit into memory");
    }
}

LineStream::Input LineStream::read_once() {
    const auto room = reader_.room();
    const ssize_t got = ::read(reading_, room.data, room.size);
    if (got > 0) {
        reader_.filled(static_cast<std::size_t>(got));
        widen(static_cast<std::size_t>(got));
        listener_.input_read(static_cast<std::size_t>(got));
        if (draining_) drained_ += static_cast<std::size_t>(got);
        return draining_ && drained_ > kMostDrained ? Input::Ended : Input::Got;
    }
    const bool would_wait = got < 0 && (errno == EAGAIN || errno == EINTR);
    return would_wait && !draining_ ? Input::Nothing : Input::Ended;  // a reset is an end as well
}

// A pipe that is full holds its writer up: each long line would take both of us another turn. Short ones
// would only wait longer. Where the kernel gives no more (limits of pipe(7)) it stays as it is.
void LineStream::widen(std::size_t got) {
    if (socket_ || widened_ || got < kUsualPipeBytes || reader_.has_line()) return;
    widened_ = true;
    static_cast<void>(::fcntl(reading_, F_SETPIPE_SZ, static_cast<int>(kWidePipeBytes)));
}

// Hands on whole lines until there is none, the host pauses us, or the round is used up.
void LineStream::deliver() {
    std::size_t lines = 0, bytes = 0;
    std::string_view line;
    while (reading_ >= 0 && !paused_) {
        if (lines >= kLinesPerRound || bytes >= kBytesPerRound) {
            if (!reader_.has_line()) break;
            if (!next_round()) fail(PATCHBAY_E_INTERNAL, "cannot be read: the host takes no timer");
            return;
        }
        if (!reader_.next(line)) break;
        ++lines;
        bytes += line.size();
        hand_on(line);
    }
    if (reading_ < 0 || paused_) return;
    if (reader_.too_long())
        return fail(PATCHBAY_E_LIMIT, "sent more than " + std::to_string(core_.message_bytes()) +
                                          " bytes without a newline (limit message_bytes)");
    if (!ended_) return;
    const std::string rest(reader_.rest().substr(0, kStrayBytes));
    end_reading();
    listener_.input_ended(rest);
}

void LineStream::hand_on(std::string_view line) {
    if (line.empty()) return;
    if (line.front() != '{' && line.front() != '[')
        return core_.sink().output(PATCHBAY_OUTPUT_STRAY, line.substr(0, kStrayBytes));
    if (discarding_) return;
    if (line.size() > core_.message_bytes())
        return fail(PATCHBAY_E_LIMIT,
                    "sent a message of " + std::to_string(line.size()) + " bytes, more than " +
                        std::to_string(core_.message_bytes()) + " (limit message_bytes)");
    if (core_.sink().message(0, reader_.slice(line)) != PATCHBAY_PAUSE) return;
    paused_ = true;
    if (read_watch_) core_.modify(read_watch_, ChannelCore::kNone);
}

// Lines are left in memory, so the descriptor may stay silent: come back without it.
bool LineStream::next_round() {
    return round_timer_.running() || round_timer_.start({});
}

void LineStream::go_on() {
    if (reading_ >= 0 && !paused_) deliver();
    while (draining_ && reading_ >= 0 && !paused_ && !round_timer_.running() && !ended_)
        take_input();
}

void LineStream::resume() {
    if (!std::exchange(paused_, false) || reading_ < 0) return;
    if (read_watch_) core_.modify(read_watch_, ChannelCore::kReadable);
    static_cast<void>(next_round());  // refused only by a host that is closing
}

void LineStream::discard() {
    discarding_ = true;
    resume();
}

void LineStream::drain() {
    draining_ = true;
    if (!round_timer_.running()) go_on();
}

void LineStream::end_reading() {
    core_.end(read_watch_);
    round_timer_.stop();
    if (reading_ >= 0 && reading_ != writing_) ::close(reading_);
    reading_ = -1;
}

void LineStream::fail(patchbay_status code, const std::string& text) {
    end_reading();
    listener_.input_broken(code, text);
}

// ---- writing

patchbay_status LineStream::send(std::uint64_t exchange, sdk::Body body) {
    if (writing_ < 0) return PATCHBAY_E_CLOSED;
    if (!flush_posted_ && !blocked_) {
        flush_posted_ = core_.post(this, on_flush);
        if (!flush_posted_) return PATCHBAY_E_CLOSED;
    }
    return queue_.push(exchange, std::move(body)) ? PATCHBAY_PAUSE : PATCHBAY_OK;
}

void LineStream::cancel(std::uint64_t exchange) {
    if (!queue_.cancel(exchange)) return;
    core_.sink().done(exchange, PATCHBAY_E_CANCELLED, "cancelled before it was sent",
                      PATCHBAY_ERR_NOT_SENT);
    if (queue_.take_relief()) core_.sink().writable();
}

void LineStream::on_flush(void* self) noexcept {
    auto& stream = stream_of(self);
    stream.core_.enter("writing lines", [&stream] {
        stream.core_.arrived();
        stream.flush_posted_ = false;
        if (!stream.blocked_) stream.flush();
    });
}

void LineStream::on_writable(void* self, std::uint32_t) noexcept {
    auto& stream = stream_of(self);
    stream.core_.enter("writing lines", [&stream] {
        if (stream.write_watch_) stream.flush();
    });
}

// True: the queue is empty or the kernel takes no more for now. False: writing is over.
bool LineStream::write_some() {
    blocked_ = false;
    while (!queue_.empty()) {
        iovec vectors[WriteQueue::kMostVectors];
        msghdr message{};
        message.msg_iov = vectors;
        message.msg_iovlen = static_cast<std::size_t>(queue_.vectors(vectors));
        // A pipe has no MSG_NOSIGNAL; the process service ignores SIGPIPE for it.
        const ssize_t put = socket_
                                ? ::sendmsg(writing_, &message, MSG_NOSIGNAL)
                                : ::writev(writing_, vectors, static_cast<int>(message.msg_iovlen));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return blocked_ = errno == EAGAIN;
        queue_.written(static_cast<std::size_t>(put),
                       [this](std::uint64_t exchange) { core_.sink().done(exchange); });
    }
    return true;
}

void LineStream::flush() {
    if (writing_ < 0) return;
    if (!write_some()) {
        const int error = errno;
        end_writing();
        return listener_.output_broken(error);
    }
    if (blocked_)
        await_writable();
    else if (write_watch_)
        core_.modify(write_watch_, ChannelCore::kNone);
    if (queue_.take_relief()) core_.sink().writable();
}

void LineStream::await_writable() {
    if (write_watch_) return core_.modify(write_watch_, ChannelCore::kWritable);
    if (core_.watch(writing_, ChannelCore::kWritable, this, on_writable, write_watch_)) return;
    end_writing();
    listener_.output_broken(ENOMEM);
}

void LineStream::end_writing() {
    if (writing_ < 0) return;
    if (!blocked_) static_cast<void>(write_some());
    core_.end(write_watch_);
    if (writing_ == reading_)
        ::shutdown(writing_, SHUT_WR);  // the rest when reading ends
    else
        ::close(writing_);
    writing_ = -1;
    queue_.clear([this](std::uint64_t exchange, bool begun) {
        core_.sink().done(exchange, PATCHBAY_E_CLOSED,
                          begun ? "the connection closed while the message was being sent"
                                : "the connection closed before the message was sent",
                          begun ? 0 : PATCHBAY_ERR_NOT_SENT);
    });
}

}  // namespace patchbay::transport
