#include "incoming_lines.hpp"

#include <cerrno>
#include <fcntl.h>
#include <new>
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

IncomingLines& incoming_of(void* self) {
    return *static_cast<IncomingLines*>(self);
}

}  // namespace

bool IncomingLines::start(SharedDescriptor from) {
    from_ = std::move(from);
    return core_.watch(from_.get(), ChannelCore::kReadable, this, on_readable, watch_);
}

void IncomingLines::on_readable(void* self, std::uint32_t) noexcept {
    auto& lines = incoming_of(self);
    lines.core_.enter("reading lines", [&lines] {
        if (!lines.watch_ || lines.paused_) return;
        // Else a peer that says short lines faster than they are taken is kept in memory without end.
        if (lines.reader_.has_line())
            lines.deliver();
        else
            lines.take_input();
    });
}

void IncomingLines::take_input() {
    try {
        switch (read_once()) {
            case Input::Nothing:
                return;
            case Input::Ended:
                ended_ = true;
                core_.end(watch_);
                break;
            case Input::Got:
                break;
        }
        deliver();
    } catch (const std::bad_alloc&) {
        fail(PATCHBAY_E_LIMIT, "sent a message that does not fit into memory");
    }
}

IncomingLines::Input IncomingLines::read_once() {
    const auto room = reader_.room();
    const ssize_t got = ::read(from_.get(), room.data, room.size);
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
void IncomingLines::widen(std::size_t got) {
    if (from_.is_socket() || widened_ || got < kUsualPipeBytes || reader_.has_line()) return;
    widened_ = true;
    static_cast<void>(::fcntl(from_.get(), F_SETPIPE_SZ, static_cast<int>(kWidePipeBytes)));
}

// Hands on whole lines until there is none, the host pauses us, or the round is used up.
void IncomingLines::deliver() {
    std::size_t lines = 0, bytes = 0;
    std::string_view line;
    while (from_.open() && !paused_) {
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
    if (!from_.open() || paused_) return;
    if (reader_.too_long())
        return fail(PATCHBAY_E_LIMIT, "sent more than " + std::to_string(core_.message_bytes()) +
                                          " bytes without a newline (limit message_bytes)");
    if (!ended_) return;
    const std::string rest(reader_.rest().substr(0, kStrayBytes));
    end();
    listener_.input_ended(rest);
}

void IncomingLines::hand_on(std::string_view line) {
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
    if (watch_) core_.modify(watch_, ChannelCore::kNone);
}

// Lines are left in memory, so the descriptor may stay silent: come back without it.
bool IncomingLines::next_round() {
    return round_timer_.running() || round_timer_.start({});
}

void IncomingLines::go_on() {
    if (from_.open() && !paused_) deliver();
    while (draining_ && from_.open() && !paused_ && !round_timer_.running() && !ended_)
        take_input();
}

void IncomingLines::resume() {
    if (!std::exchange(paused_, false) || !from_.open()) return;
    if (watch_) core_.modify(watch_, ChannelCore::kReadable);
    static_cast<void>(next_round());  // refused only by a host that is closing
}

void IncomingLines::discard() {
    discarding_ = true;
    resume();
}

void IncomingLines::drain() {
    draining_ = true;
    if (!round_timer_.running()) go_on();
}

void IncomingLines::end() {
    core_.end(watch_);
    round_timer_.stop();
    from_.close();
}

void IncomingLines::fail(patchbay_status code, const std::string& text) {
    end();
    listener_.input_broken(code, text);
}

}  // namespace patchbay::transport
