// A whole transport in C++17: one JSON-RPC message a line over a Unix socket. It runs on the host's
// loop and has no thread. Start from it: replace connect(), pump_out() and pump_in(), keep
// the rest.
//
// What sdk::Channel and transport_table() do for you: bodies are released exactly once, exceptions
// become a status, and a slot that you do not override does nothing.
#include "unix.schema.h"  // made from the file: static const char unix_schema[]

#include <patchbay/cpp/entry.hpp>
#include <patchbay/cpp/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

namespace sdk = patchbay::sdk;

constexpr std::uint32_t kReadable = 1, kWritable = 2;
constexpr std::size_t kMostWaiting = 1u << 20;  // bytes; beyond them send() answers PAUSE

std::string words_of(int error) {
    return std::strerror(error);
}

// Every function takes the lock first: cancel and resume come from any thread. An event may be told
// under it, since the host only queues it; but not the last one, after which this object may go.
class UnixChannel final : public sdk::Channel {
public:
    // Throws Failure: then the channel never was, and the host tells the text to people.
    static std::unique_ptr<UnixChannel> open(const patchbay_open_params& params) {
        const sdk::Config config(sdk::view(params.config));
        std::unique_ptr<UnixChannel> channel(new UnixChannel(params));
        const std::lock_guard<std::mutex> lock(channel->mutex_);  // `opened` comes first
        channel->connect(config.text("path"));
        channel->sink_.opened();
        return channel;
    }
    ~UnixChannel() override {
        if (fd_ >= 0) ::close(fd_);
    }

    patchbay_status send(const patchbay_message& message, sdk::Body body) override {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (over_) return PATCHBAY_E_CLOSED;
        waiting_bytes_ += body.size();
        queue_.push_back({message.exchange, std::move(body), 0});
        if (queue_.size() == 1) pump_out();  // otherwise the socket is full: on_ready() comes to it
        crowded_ = crowded_ || waiting_bytes_ > kMostWaiting;
        return crowded_ ? PATCHBAY_PAUSE : PATCHBAY_OK;
    }

    // What has begun to leave leaves whole: half a line would spoil the next one.
    void cancel(std::uint64_t exchange) override {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = std::find_if(queue_.begin(), queue_.end(), [&](const Outgoing& each) {
            return each.exchange == exchange && each.sent == 0;
        });
        if (found == queue_.end()) return;
        waiting_bytes_ -= found->body.size();
        queue_.erase(found);
        sink_.done(exchange, PATCHBAY_E_CANCELLED, "cancelled before it was sent",
                   PATCHBAY_ERR_NOT_SENT);
        relieve();
    }

    void resume() override {
        const std::lock_guard<std::mutex> lock(mutex_);
        paused_ = false;
        listen_for();
    }

    void close() override {
        const std::lock_guard<std::mutex> lock(mutex_);
        end(PATCHBAY_OK, {});
    }

private:
    struct Outgoing {
        std::uint64_t exchange;
        sdk::Body body;
        std::size_t sent;  // of body and newline
    };

    explicit UnixChannel(const patchbay_open_params& params)
        : host_(params.host),
          reactor_(sdk::extension<patchbay_host_reactor>(params.host, PATCHBAY_HOST_REACTOR)),
          sink_(params),
          message_bytes_(sdk::message_bytes(&params)) {}

    void connect(const std::string& path) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        if (path.empty() || path.size() >= sizeof address.sun_path)
            throw sdk::Failure(PATCHBAY_E_INVALID, "needs \"path\", the socket's, of less than " +
                                                       std::to_string(sizeof address.sun_path) +
                                                       " bytes");
        std::memcpy(address.sun_path, path.data(), path.size());
        fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd_ < 0 ||
            ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
            throw sdk::Failure(PATCHBAY_E_IO, path + ": " + words_of(errno));
        if (reactor_->watch(host_, fd_, kReadable, this, on_ready, &watch_) < 0)
            throw sdk::Failure(PATCHBAY_E_IO, path + ": the host cannot watch the socket");
    }

    void listen_for() {
        if (over_) return;
        reactor_->modify(host_, watch_,
                         (paused_ ? 0u : kReadable) | (queue_.empty() ? 0u : kWritable));
    }

    void relieve() {
        if (!crowded_ || waiting_bytes_ > kMostWaiting / 2) return;
        crowded_ = false;
        sink_.writable();
    }

    // On the reactor's thread. Nothing may be thrown into the host.
    static void on_ready(void* self, std::uint32_t events) noexcept {
        auto& channel = *static_cast<UnixChannel*>(self);
        const std::lock_guard<std::mutex> lock(channel.mutex_);
        try {
            if ((events & kReadable) && !channel.over_ && !channel.paused_) channel.pump_in();
            if ((events & kWritable) && !channel.over_) channel.pump_out();
        } catch (const std::exception& error) {
            channel.end(PATCHBAY_E_INTERNAL, error.what());
        }
    }

    void pump_out() {
        while (!queue_.empty()) {
            auto& next = queue_.front();
            const auto body = next.body.view();
            const auto left = next.sent < body.size() ? body.substr(next.sent) : "\n";
            const auto put = ::send(fd_, left.data(), left.size(), MSG_NOSIGNAL);
            if (put < 0 && errno == EINTR) continue;
            if (put < 0 && errno == EAGAIN) break;
            if (put < 0) return end(PATCHBAY_E_IO, "write: " + words_of(errno));
            next.sent += static_cast<std::size_t>(put);
            if (next.sent <= body.size()) continue;
            waiting_bytes_ -= body.size();
            sink_.done(next.exchange);
            queue_.pop_front();
            relieve();
        }
        listen_for();
    }

    void pump_in() {
        char piece[64u << 10];
        const auto got = ::read(fd_, piece, sizeof piece);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
        if (got < 0) return end(PATCHBAY_E_IO, "read: " + words_of(errno));
        if (got == 0)
            return end(PATCHBAY_E_CLOSED, std::string("the peer has closed the socket") +
                                              (line_.empty() ? "" : " in the middle of a message"));
        std::string_view left(piece, static_cast<std::size_t>(got));
        while (!left.empty()) {
            const auto newline = left.find('\n');
            const auto part = left.substr(0, newline);
            if (line_.size() + part.size() > message_bytes_)
                return end(PATCHBAY_E_LIMIT, "a message is longer than " +
                                                 std::to_string(message_bytes_) +
                                                 " bytes (limit message_bytes)");
            line_.append(part);
            if (newline == left.npos) return;
            left.remove_prefix(newline + 1);
            if (!line_.empty()) hand_on();
        }
    }

    // No release function: the bytes are lent, and the host copies what it keeps.
    void hand_on() {
        const patchbay_buf body{reinterpret_cast<const std::uint8_t*>(line_.data()), line_.size(),
                                line_.size(), nullptr, nullptr};
        // What has been read already follows all the same; PAUSE asks to read no more.
        if (sink_.message(0, body) == PATCHBAY_PAUSE) {
            paused_ = true;
            listen_for();
        }
        line_.clear();
    }

    // The end, once: on the reactor's thread, where cancel() of a watch waits for nobody. The post
    // is refused only by a host that is closing itself.
    void end(patchbay_status why, const std::string& text) {
        if (over_) return;
        over_ = true;
        why_ = why;
        text_ = text;
        static_cast<void>(reactor_->post(host_, this, on_end));
    }

    // What throws does so before `closed` is told, which has to come whatever happens.
    static void on_end(void* self) noexcept {
        auto& channel = *static_cast<UnixChannel*>(self);
        try {
            channel.tell_end();
        } catch (const std::exception& error) {
            channel.sink_.closed(PATCHBAY_E_INTERNAL, error.what(), PATCHBAY_ERR_RETRYABLE);
        }
    }

    // Every exchange is done, then closed.
    void tell_end() {
        std::unique_lock<std::mutex> lock(mutex_);
        reactor_->cancel(host_, watch_);
        for (const auto& each : queue_)
            sink_.done(each.exchange, PATCHBAY_E_CLOSED,
                       each.sent == 0 ? "the connection closed before the message was sent"
                                      : "the connection closed while the message was being sent",
                       each.sent == 0 ? std::uint32_t{PATCHBAY_ERR_NOT_SENT} : 0);
        queue_.clear();
        const auto sink = sink_;
        const auto why = why_;
        const auto text = text_;
        lock.unlock();
        // From inside these the object may go.
        if (why == PATCHBAY_OK)
            sink.closed();
        else
            sink.closed(why, text, PATCHBAY_ERR_RETRYABLE);
    }

    const patchbay_host* const host_;
    const patchbay_host_reactor* const reactor_;
    const sdk::Sink sink_;
    const std::size_t message_bytes_;
    int fd_ = -1;
    patchbay_op watch_ = 0;

    std::mutex mutex_;  // guards the members below
    std::deque<Outgoing> queue_;
    std::size_t waiting_bytes_ = 0;
    std::string line_;  // that has not ended
    bool paused_ = false, crowded_ = false, over_ = false;
    patchbay_status why_ = PATCHBAY_OK;
    std::string text_;
};

constexpr auto kTransport = sdk::transport_table<UnixChannel>("unix", unix_schema, 0);
constexpr auto kLibrary =
    sdk::Library<>("dev.example.unix", "0.1.0").provides(kTransport).needs(PATCHBAY_HOST_REACTOR);

}  // namespace

PATCHBAY_PLUGIN_ENTRY(kLibrary)
