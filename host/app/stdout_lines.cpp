#include "app/stdout_lines.hpp"

#include "protocol/compose.hpp"

#include <cerrno>
#include <poll.h>
#include <string_view>
#include <utility>

namespace patchbay::app {

namespace {

constexpr std::size_t kPlannedBytes = 1u << 20;  // more does not wait for the end of the turn

}  // namespace

StdoutLines::~StdoutLines() {
    if (watch_ != 0) loop_.unwatch(watch_);
}

void StdoutLines::put_event(const std::string& from, std::string line) {
    auto& events = events_[from];
    // A first one is told however long it is.
    if ((events.bytes > 0 && events.bytes + line.size() > kEventBytes) ||
        (event_bytes_ > 0 && event_bytes_ + line.size() > kAllEventBytes)) {
        ++events.dropped;
        return;
    }
    events.bytes += line.size();
    event_bytes_ += line.size();
    put(std::move(line));
}

void StdoutLines::tell_dropped(const std::string& from) {
    const auto found = events_.find(from);
    if (found == events_.end()) return;
    if (const auto dropped = std::exchange(found->second.dropped, 0)) dropped_(from, dropped);
}

// What servers say stands in here as they wrote it, with line ends between its tokens: a line of its
// own would be an answer that nobody gave.
void StdoutLines::put(std::string line) {
    protocol::flatten(line);
    out_ += line;
    out_ += '\n';
    if (waiting() > kPlannedBytes) return flush();
    if (std::exchange(flush_planned_, true)) return;
    loop_.defer([this] {
        flush_planned_ = false;
        flush();
    });
}

// Beyond kMostBytes the loop stands still until somebody reads or a signal comes: to go on would be
// to keep without end what servers answer.
void StdoutLines::flush() {
    write_ready();
    while (waiting() > kMostBytes && wait_for_reader()) write_ready();
    if (written() == (watch_ == 0)) return;
    if (written()) return loop_.unwatch(std::exchange(watch_, 0));
    const auto watched = loop_.watch(stdout_->fd(), core::Loop::kWritable, [this](unsigned) {
        const bool was_crowded = crowded();
        flush();
        if (was_crowded != crowded()) relieved_();
    });
    if (watched) watch_ = *watched;
}

// At the end of the program, where no loop turns any more.
void StdoutLines::finish(std::chrono::milliseconds most) {
    const auto until = core::Clock::now() + most;
    for (write_ready(); !written() && core::Clock::now() < until; write_ready()) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(until - core::Clock::now()).count();
        pollfd writable{stdout_->fd(), POLLOUT, 0};
        ::poll(&writable, 1, static_cast<int>(left));
    }
    lost_ = lost_ || !written();
}

void StdoutLines::write_ready() {
    if (written()) return;
    if (!stdout_) stdout_.emplace();
    auto left = std::string_view(out_).substr(begin_);
    lost_ = !stdout_->write(left) || lost_;
    begin_ = lost_ ? out_.size() : out_.size() - left.size();
    if (begin_ <= out_.size() / 2) return;  // each byte is moved once
    out_.erase(0, begin_);
    begin_ = 0;
    if (!written() || events_.empty()) return;
    for (const auto& [from, events] : events_) tell_dropped(from);
    events_.clear();
    event_bytes_ = 0;
}

bool StdoutLines::wait_for_reader() const {
    pollfd polled[] = {{stdout_->fd(), POLLOUT, 0}, {signals_, POLLIN, 0}};
    if (::poll(polled, 2, -1) < 0) return errno == EINTR;
    return polled[1].revents == 0;
}

}  // namespace patchbay::app
