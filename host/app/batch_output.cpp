#include "app/batch_output.hpp"

#include "app/output.hpp"
#include "core/log.hpp"
#include "protocol/compose.hpp"

#include <boost/json.hpp>

#include <cerrno>
#include <cmath>
#include <poll.h>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr std::size_t kPlannedBytes = 1u << 20;  // more does not wait for the end of the turn

// Boost.JSON writes every double as 1E0; steps and bytes are whole.
json::value plain_number(double number) {
    constexpr double kExact = 9007199254740992.0;  // 2^53
    if (std::abs(number) <= kExact && number == std::floor(number))
        return static_cast<std::int64_t>(number);
    return number;
}

}  // namespace

BatchOutput::~BatchOutput() {
    if (watch_ != 0) loop_.unwatch(watch_);
}

void BatchOutput::result(const std::string& id, std::string_view raw_result) {
    tell_dropped("\"id\":" + id);
    std::string line;
    line.reserve(id.size() + raw_result.size() + 32);
    line.append("{\"id\":")
        .append(id)
        .append(",\"ok\":true,\"result\":")
        .append(raw_result)
        .append("}");
    put(std::move(line));
}

void BatchOutput::line_error(const std::string& id, const Error& error, std::size_t line) {
    put_error(id, error, ",\"line\":" + std::to_string(line));
}

void BatchOutput::put_error(const std::string& id, const Error& error, const std::string& members) {
    told_errors_ = true;
    tell_dropped("\"id\":" + id);
    put("{\"id\":" + id + ",\"ok\":false,\"error\":{\"kind\":\"" + name_of(error.code) + "\"" +
        members + ",\"message\":" + protocol::quoted(core::log::masked(error.message)) + "}}");
}

void BatchOutput::rpc_error(const std::string& id, std::string_view raw_error) {
    told_errors_ = true;
    tell_dropped("\"id\":" + id);
    put("{\"id\":" + id + ",\"ok\":false,\"error\":" + rpc_error_json(raw_error) + "}");
}

void BatchOutput::progress(const std::string& id, const connection::Progress& progress) {
    json::object told{{"progress", plain_number(progress.progress)}};
    if (progress.total) told["total"] = plain_number(*progress.total);
    if (!progress.message.empty()) told["message"] = progress.message;
    const auto from = "\"id\":" + id;
    put_event(from, "{\"event\":\"progress\"," + from + "," + protocol::members_of(told) + "}");
}

void BatchOutput::notification(const std::string& server, const std::string& method,
                               std::string_view params) {
    const auto from = "\"server\":" + protocol::quoted(server);
    put_event(from, "{\"event\":\"notification\"," + from +
                        ",\"method\":" + protocol::quoted(method) +
                        (params.empty() ? "" : ",\"params\":" + std::string(params)) + "}");
}

void BatchOutput::put_event(const std::string& from, std::string line) {
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

void BatchOutput::tell_dropped(const std::string& from) {
    const auto found = events_.find(from);
    if (found == events_.end()) return;
    if (const auto dropped = std::exchange(found->second.dropped, 0))
        put("{\"event\":\"dropped\"," + from + ",\"count\":" + std::to_string(dropped) + "}");
}

// What servers say stands in here as they wrote it, with line ends between its tokens: a line of its
// own would be an answer that nobody gave.
void BatchOutput::put(std::string line) {
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
void BatchOutput::flush() {
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
void BatchOutput::finish(std::chrono::milliseconds most) {
    const auto until = core::Clock::now() + most;
    for (write_ready(); !written() && core::Clock::now() < until; write_ready()) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(until - core::Clock::now()).count();
        pollfd writable{stdout_->fd(), POLLOUT, 0};
        ::poll(&writable, 1, static_cast<int>(left));
    }
    lost_ = lost_ || !written();
}

void BatchOutput::write_ready() {
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

bool BatchOutput::wait_for_reader() const {
    pollfd polled[] = {{stdout_->fd(), POLLOUT, 0}, {signals_, POLLIN, 0}};
    if (::poll(polled, 2, -1) < 0) return errno == EINTR;
    return polled[1].revents == 0;
}

}  // namespace patchbay::app
