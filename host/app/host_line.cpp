#include "app/host_line.hpp"

#include "app/socket_sink.hpp"
#include "core/text.hpp"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace patchbay::app {

namespace {

using Clock = std::chrono::steady_clock;

LineOutput::To to_socket(const core::Descriptor& socket) {
    return {std::make_unique<SocketSink>(socket.get()), LineOutput::Unread::IsLost, -1};
}

}  // namespace

HostLine::HostLine(core::Loop& loop, MeetingPoint place, core::Descriptor socket)
    : loop_(loop),
      place_(std::move(place)),
      socket_(std::move(socket)),
      writing_(::fcntl(socket_.get(), F_DUPFD_CLOEXEC, 0)),
      out_(
          loop, to_socket(writing_), [this] { on_relieved(); },
          [](const std::string&, std::size_t) {}) {}

Result<std::unique_ptr<HostLine>> HostLine::open(core::Loop& loop, MeetingPoint place,
                                                 core::Descriptor socket, const Hello& hello,
                                                 std::chrono::milliseconds most) {
    std::unique_ptr<HostLine> line(new HostLine(loop, std::move(place), std::move(socket)));
    std::string answer;
    line->said_ = [&answer](std::string_view said) { answer = said; };
    line->put(to_line(hello));
    line->out_.flush();
    if (!line->read_until([&] { return !answer.empty(); }, most))
        return line->gone()
                   ? Error{ErrorCode::Unavailable, "it ends without an answer"}
                   : Error{ErrorCode::Timeout, "it does not answer within " + core::duration(most)};
    auto welcome = parse_welcome(answer);
    if (!welcome) return welcome.error();
    line->welcome_ = std::move(*welcome);
    line->said_ = {};
    return line;
}

void HostLine::listen(std::function<void(std::string_view line)> said,
                      std::function<void()> changed) {
    said_ = std::move(said);
    changed_ = std::move(changed);
    static_cast<void>(watch_.start(socket_.get(), core::Loop::kReadable, [this](unsigned) {
        read();
        hand_on();
    }));
}

// Not before all is written: half a request would be none.
void HostLine::end_input() {
    ending_ = true;
    out_.tell_when_written();
    if (out_.written()) on_relieved();
}

void HostLine::on_relieved() {
    if (ending_ && out_.written()) ::shutdown(writing_.get(), SHUT_WR);
    if (changed_) changed_();
}

void HostLine::pause(bool paused) {
    if (std::exchange(paused_, paused) != paused)
        watch_.want(paused ? 0u : unsigned{core::Loop::kReadable});
}

bool HostLine::read() {
    if (gone_) return false;
    char chunk[64u << 10];
    const auto got = ::recv(socket_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got > 0) {
        buffer_.erase(0, taken_);
        scanned_ -= std::exchange(taken_, 0);
        buffer_.append(chunk, static_cast<std::size_t>(got));
    }
    if (got <= 0 || buffer_.size() > kLineBytes) leave();
    return true;
}

void HostLine::leave() {
    gone_ = true;
    watch_.stop();
}

// Where the search for a line's end has come to is kept: a long line comes in many pieces.
void HostLine::hand_on() {
    while (said_) {
        const auto end = buffer_.find('\n', scanned_);
        scanned_ = end == std::string::npos ? buffer_.size() : end;
        if (end == std::string::npos) break;
        const auto line = std::string_view(buffer_).substr(taken_, end - taken_);
        taken_ = scanned_ = end + 1;
        said_(line);
    }
    if (gone_ && changed_) changed_();
}

// By poll(), so that nothing else of the loop runs meanwhile: whoever waits is in the middle of a turn.
bool HostLine::read_until(const std::function<bool()>& done, std::chrono::milliseconds most) {
    const auto until = Clock::now() + most;
    out_.flush();
    for (;;) {
        hand_on();
        if (done()) return true;
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
        if (gone_ || left <= 0) return false;
        pollfd polled[] = {{socket_.get(), POLLIN, 0}, {writing_.get(), POLLOUT, 0}};
        if (::poll(polled, out_.written() ? 1 : 2, static_cast<int>(left)) < 0 && errno != EINTR)
            return false;
        out_.flush();
        read();
    }
}

}  // namespace patchbay::app
