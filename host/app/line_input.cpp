#include "app/line_input.hpp"

#include "app/batch_request.hpp"
#include "app/output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace patchbay::app {

namespace {

std::string size_of(std::size_t bytes) {
    constexpr std::size_t kMebi = 1u << 20;
    return bytes < kMebi ? std::to_string(bytes >> 10) + " KiB"
                         : std::to_string(bytes / kMebi) + " MiB";
}

}  // namespace

LineInput::LineInput(core::Loop& loop, int fd, Overlong overlong)
    : loop_(loop), fd_(fd), flags_(::fcntl(fd, F_GETFL)), overlong_(overlong) {}

LineInput::~LineInput() {
    watch_.stop();
    ::fcntl(fd_, F_SETFL, flags_);
}

void LineInput::begin(std::function<void()> arrived) {
    arrived_ = std::move(arrived);
    // Whoever takes over from another one finds lines that came behind what that had waited for.
    if (waiting() > 0 || ended_) loop_.defer(lifetime_.guard([this] { arrived_(); }));
    if (ended_) return;
    // A file cannot be watched, and is read a piece in each turn.
    static_cast<void>(watch_.start(fd_, core::Loop::kReadable, [this](unsigned) { read(); }));
    read_later();
}

// A file, or /dev/null, is always readable and cannot be watched (epoll_ctl(2), EPERM): it is read a
// piece a turn of the loop, so that answers are taken in between.
void LineInput::read_later() {
    if (!watch_.running() && !paused_ && !ended_) loop_.defer(lifetime_.guard([this] { read(); }));
}

void LineInput::read() {
    if (paused_ || ended_) return;
    buffer_.erase(0, taken_);
    scanned_ -= std::exchange(taken_, 0);
    char chunk[64u << 10];
    const auto got = ::read(fd_, chunk, sizeof chunk);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got > 0)
        buffer_.append(chunk, static_cast<std::size_t>(got));
    else if (got == 0)
        end();
    else
        fail(std::strerror(errno));
    arrived_();
    read_later();
}

// The last line may lack its end.
void LineInput::end() {
    ended_ = true;
    watch_.stop();
    if (taken_ < buffer_.size() && buffer_.back() != '\n') buffer_ += '\n';
}

void LineInput::fail(const std::string& why) {
    if (says_failure_) say("error: cannot read the requests: " + why);
    failed_ = true;
    end();
}

// A long line that arrives in many pieces is searched once, and not with every piece.
std::optional<Result<std::string_view>> LineInput::next() {
    const auto newline = buffer_.find('\n', scanned_);
    scanned_ = std::min(newline, buffer_.size());
    if (skipping_) {
        skipping_ = newline == std::string::npos;
        taken_ = scanned_ = skipping_ ? buffer_.size() : newline + 1;
        return skipping_ ? std::nullopt : next();
    }
    if (scanned_ - taken_ > line_bytes_) {
        const auto name = name_of_line(++line_number_) + " is over " + size_of(line_bytes_) + "; ";
        if (overlong_ == Overlong::IsSkipped) {
            skipping_ = true;
            return Error{ErrorCode::Limit, name + "it is passed over"};
        }
        stop();
        return Error{ErrorCode::Limit, name + "nothing more is read"};
    }
    if (newline == std::string::npos) return {};
    ++line_number_;
    const auto line = std::string_view(buffer_).substr(taken_, newline - taken_);
    taken_ = scanned_ = newline + 1;
    return line;
}

void LineInput::pause(bool paused) {
    if (std::exchange(paused_, paused) == paused || ended_) return;
    watch_.want(paused ? 0u : unsigned{core::Loop::kReadable});
    read_later();
}

void LineInput::stop() {
    buffer_.clear();
    taken_ = scanned_ = 0;
    end();
}

}  // namespace patchbay::app
