#include "app/line_output.hpp"

#include "app/output.hpp"
#include "protocol/compose.hpp"

#include <cerrno>
#include <optional>
#include <poll.h>
#include <string_view>
#include <utility>

namespace patchbay::app {

namespace {

constexpr std::size_t kPlannedBytes = 1u << 20;  // more does not wait for the end of the turn

class StdoutSink final : public LineSink {
public:
    int fd() const override { return stdout_ ? stdout_->fd() : 1; }
    bool write(std::string_view& text) override {
        if (!stdout_) stdout_.emplace();
        return stdout_->write(text);
    }

private:
    std::optional<ReadyStdout> stdout_;  // from the first write on
};

}  // namespace

LineOutput::LineOutput(core::Loop& loop, To to, std::function<void()> relieved,
                       std::function<void(const std::string& from, std::size_t count)> dropped)
    : loop_(loop),
      to_{to.sink ? std::move(to.sink) : std::make_unique<StdoutSink>(), to.unread, to.signals},
      relieved_(std::move(relieved)),
      dropped_(std::move(dropped)) {}

void LineOutput::put_event(const std::string& from, std::string line) {
    if (!put_bounded(from, std::move(line))) ++events_[from].dropped;
}

bool LineOutput::put_bounded(const std::string& from, std::string line) {
    auto& events = events_[from];
    // A first one is told however long it is.
    if ((events.bytes > 0 && events.bytes + line.size() > kEventBytes) ||
        (event_bytes_ > 0 && event_bytes_ + line.size() > kAllEventBytes))
        return false;
    events.bytes += line.size();
    event_bytes_ += line.size();
    put(std::move(line));
    return true;
}

void LineOutput::tell_dropped(const std::string& from) {
    const auto found = events_.find(from);
    if (found == events_.end()) return;
    if (const auto dropped = std::exchange(found->second.dropped, 0)) dropped_(from, dropped);
}

// What servers say stands in here as they wrote it, with line ends between its tokens: a line of its
// own would be an answer that nobody gave.
void LineOutput::put(std::string line) {
    protocol::flatten(line);
    out_ += line;
    out_ += '\n';
    if (waiting() > kPlannedBytes && !tells_written_) return flush();
    if (std::exchange(flush_planned_, true)) return;
    loop_.defer(lifetime_.guard([this] {
        flush_planned_ = false;
        flush_and_tell();
    }));
}

// Beyond kMostBytes the loop stands still until somebody reads or a signal comes: to go on would be
// to keep without end what servers answer.
void LineOutput::flush() {
    write_ready();
    if (to_.unread == Unread::IsLost && waiting() > kMostBytes) lose();
    while (waiting() > kMostBytes && wait_for_reader()) write_ready();
    if (written() != watch_.running()) return;
    if (written()) return watch_.stop();
    static_cast<void>(watch_.start(to_.sink->fd(), core::Loop::kWritable,
                                   [this](unsigned) { flush_and_tell(); }));
}

void LineOutput::flush_and_tell() {
    const bool was_crowded = crowded();
    flush();
    if (was_crowded != crowded() || (tells_written_ && written())) relieved_();
}

void LineOutput::lose() {
    lost_ = true;
    begin_ = out_.size();
}

// At the end of the program, where no loop turns any more.
void LineOutput::finish(std::chrono::milliseconds most) {
    const auto until = core::Clock::now() + most;
    for (write_ready(); !written() && core::Clock::now() < until; write_ready()) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(until - core::Clock::now()).count();
        pollfd writable{to_.sink->fd(), POLLOUT, 0};
        ::poll(&writable, 1, static_cast<int>(left));
    }
    lost_ = lost_ || !written();
}

void LineOutput::write_ready() {
    if (written()) return;
    auto left = std::string_view(out_).substr(begin_);
    lost_ = !to_.sink->write(left) || lost_;
    begin_ = lost_ ? out_.size() : out_.size() - left.size();
    if (begin_ <= out_.size() / 2) return;  // each byte is moved once
    out_.erase(0, begin_);
    begin_ = 0;
    if (!written() || events_.empty()) return;
    for (const auto& [from, events] : events_) tell_dropped(from);
    events_.clear();
    event_bytes_ = 0;
}

bool LineOutput::wait_for_reader() const {
    pollfd polled[] = {{to_.sink->fd(), POLLOUT, 0}, {to_.signals, POLLIN, 0}};
    if (::poll(polled, 2, -1) < 0) return errno == EINTR;
    return polled[1].revents == 0;
}

}  // namespace patchbay::app
