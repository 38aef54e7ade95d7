#include "ws_transport.hpp"

#include "handshake.hpp"
#include "net/refusal.hpp"

#include <system_error>
#include <utility>

namespace patchbay::ws {
namespace {

using transport::ChannelCore;
using Turn = ChannelCore::Turn;

constexpr std::chrono::seconds kFarewellPatience{2}, kStandstill{30};
// Then others have their turn. A frame may have no byte but its head.
constexpr std::size_t kBytesPerRound = 256u << 10, kFramesPerRound = 1024;

constexpr const char* kNoThread = "no thread can be started";

WsTransport& transport_of(void* self) {
    return *static_cast<WsTransport*>(self);
}

std::string words_of(const Received& close) {
    std::string why = "the server closed the connection";
    if (close.close_code == 0) return why;
    why += " (WebSocket code " + std::to_string(close.close_code);
    if (!close.payload.empty()) why += ": " + close.payload;
    return why + ")";
}

}  // namespace

WsTransport::WsTransport(const patchbay_open_params& params, net::Endpoint endpoint)
    : core_(params, this),
      pool_(sdk::plugin_of<net::ThreadedPlugin>(params).workers()),
      endpoint_(std::move(endpoint)),
      credentials_(params),
      decoder_(core_.message_bytes()),
      frame_time_(core_, decoder_,
                  [this] {
                      fail({PATCHBAY_E_CLOSED, "the connection broke: no frame in time"});
                  }),
      again_(core_, [this] {
          if (!core_.over() && !hire()) give_up(PATCHBAY_E_LIMIT, kNoThread, 0);
      }) {}

std::unique_ptr<sdk::Channel> WsTransport::open(const patchbay_open_params& params) {
    auto endpoint = net::Endpoint::from(sdk::Config(sdk::view(params.config)));
    if (endpoint.url.scheme == "http") endpoint.url.scheme = "ws";
    if (endpoint.url.scheme == "https") endpoint.url.scheme = "wss";
    std::unique_ptr<WsTransport> channel(new WsTransport(params, std::move(endpoint)));
    const Turn turn(channel->core_);
    channel->core_.sink().fact(
        "trouble", "no handshake with " + channel->endpoint_.url.without_query() + " yet");
    if (!channel->hire()) throw sdk::Failure(PATCHBAY_E_LIMIT, kNoThread);
    return channel;
}

// ---- connecting

bool WsTransport::hire() {
    core_.departed();
    try {
        pool_.run([this] {
            core_.work("a worker of the connection", [this] { connect(); });
            const Turn turn(core_);
            core_.arrived();  // the end of this turn may be the end of the channel
        });
        return true;
    } catch (const std::system_error&) {
        core_.arrived();
        return false;
    }
}

void WsTransport::connect() {
    try {
        net::HeaderList fields;
        {
            const Turn turn(core_);
            fields = credentials_.headers_for(endpoint_.headers, "GET", endpoint_.url);
        }
        auto dialed = net::dial(endpoint_, endpoint_.url, fuse_);
        const auto peer = dialed.peer;
        // Kept whatever becomes of it: the fuse holds its descriptor by number.
        stream_.emplace(std::move(dialed));
        auto first_frames = Handshake(endpoint_.url).perform(*stream_, fields);
        const Turn turn(core_);
        if (!core_.over()) begin(peer, std::move(first_frames));
    } catch (const net::Trouble& trouble) {
        const Turn turn(core_);
        fail(trouble);
    } catch (const net::Refusal& refusal) {
        const Turn turn(core_);
        if (core_.over()) return;
        core_.finish([refusal](const sdk::Sink& sink) { net::tell_closed(sink, refusal); });
        static_cast<void>(core_.post(this, on_over));
    }
}

void WsTransport::begin(const std::string& peer, std::string first_frames) {
    open_ = true;
    core_.sink().fact("trouble", {});
    core_.sink().fact("peer", peer);
    core_.sink().opened();
    if (!core_.watch(stream_->fd(), events_, this, on_ready, watch_))
        return give_up(PATCHBAY_E_IO, "the host cannot watch the connection", kGoingAway);
    unread_ = std::move(first_frames);
    if (!unread_.empty()) static_cast<void>(go_on_soon());
}

// ---- reading

void WsTransport::on_ready(void* self, std::uint32_t) noexcept {
    auto& transport = transport_of(self);
    transport.core_.enter("what a server sent", [&transport] {
        if (!transport.watch_) return;
        if (transport.core_.over()) return transport.say_farewell();
        static_cast<void>(transport.flush());  // what is wrong is read
        if (!transport.paused_ && transport.unread_.empty()) transport.read();
        transport.await();
    });
}

// What is there, as far as the host wants it and others can wait.
void WsTransport::read() {
    try {
        auto frames = kFramesPerRound;
        const auto unread = std::exchange(unread_, {});
        take(unread, frames);
        char buffer[net::ByteStream::kPiece];
        for (std::size_t got = 0;
             got < kBytesPerRound && unread_.empty() && !paused_ && !core_.over();) {
            const auto piece = stream_->receive(buffer);
            if (!piece) return;
            if (piece->empty())
                return give_up(PATCHBAY_E_CLOSED,
                               decoder_.unfinished()
                                   ? "the server closed the connection in the middle of a message"
                                   : "the server closed the connection without a word",
                               0, PATCHBAY_ERR_RETRYABLE);
            got += piece->size();
            frame_time_.moved(piece->size());
            take(*piece, frames);
            if (piece->size() < sizeof buffer) return;  // more of it is for the watch to tell
        }
    } catch (const FrameFault& fault) {
        give_up(fault.code, fault.text, fault.close_code);
    } catch (const net::Trouble& trouble) {
        fail({trouble.code, "the connection broke: " + trouble.text});
    } catch (const std::bad_alloc&) {
        fail({PATCHBAY_E_LIMIT, "a message does not fit into memory"});
    }
}

void WsTransport::take(std::string_view bytes, std::size_t& frames) {
    while (!paused_) {
        auto received = decoder_.next(bytes, frames);
        if (!received) break;
        if (received->kind == Opcode::Close)
            return give_up(PATCHBAY_E_CLOSED, words_of(*received), kNormal, PATCHBAY_ERR_RETRYABLE);
        if (received->kind == Opcode::Ping)
            answer_ping(received->payload);
        else if (core_.sink().message(0, net::buffer_of(std::move(received->payload))) ==
                 PATCHBAY_PAUSE)
            paused_ = true;
    }
    unread_ = bytes;
    if (!paused_ && !unread_.empty()) static_cast<void>(go_on_soon());
}

void WsTransport::answer_ping(const std::string& payload) {
    if (queue_.push_control(Opcode::Pong, payload)) {
        static_cast<void>(flush_soon());
        return;
    }
    // Many in one piece. It gets no answer if it asks faster than it reads.
    static_cast<void>(flush());
    static_cast<void>(queue_.push_control(Opcode::Pong, payload));
}

void WsTransport::resume() {
    const Turn turn(core_);
    if (!std::exchange(paused_, false) || core_.over()) return;
    // On the reactor's thread, as all reading; refused only by a host that is closing itself.
    static_cast<void>(go_on_soon());
}

// ---- writing

patchbay_status WsTransport::send(const patchbay_message& message, sdk::Body body) {
    const Turn turn(core_);
    if (!open_ || core_.over() || !flush_soon()) return PATCHBAY_E_CLOSED;
    return queue_.push(message.exchange, std::move(body)) ? PATCHBAY_PAUSE : PATCHBAY_OK;
}

void WsTransport::cancel(std::uint64_t exchange) {
    const Turn turn(core_);
    if (!queue_.cancel(exchange)) return;
    core_.sink().done(exchange, PATCHBAY_E_CANCELLED, "cancelled before it was sent",
                      PATCHBAY_ERR_NOT_SENT);
    if (queue_.take_relief()) core_.sink().writable();
}

bool WsTransport::flush_soon() {
    return stream_->wants_to_write() || go_on_soon();
}

bool WsTransport::go_on_soon() {
    if (!posted_) posted_ = core_.post(this, on_posted);
    return posted_;
}

void WsTransport::on_posted(void* self) noexcept {
    auto& transport = transport_of(self);
    transport.core_.enter("what waits", [&transport] {
        transport.core_.arrived();
        transport.posted_ = false;
        if (transport.core_.over()) return;
        static_cast<void>(transport.flush());
        if (!transport.paused_ && !transport.unread_.empty()) transport.read();
        transport.await();
    });
}

bool WsTransport::flush() {
    for (auto next = queue_.next(); !next.empty(); next = queue_.next()) {
        const auto put = stream_->write(next);
        if (stream_->secure() && put.value_or(0) == 0) queue_.doubt();
        // Reading tells of it, behind what the server has said before.
        if (!put) return stream_->end(), false;
        if (*put == 0) break;
        queue_.written(*put, [this](std::uint64_t exchange) { core_.sink().done(exchange); });
    }
    if (queue_.take_relief()) core_.sink().writable();
    return true;
}

void WsTransport::await() {
    const bool over = core_.over();
    const bool stuck = stream_->wants_to_write();
    const bool reads = !paused_ && !over && unread_.empty();
    const auto events =
        (reads ? ChannelCore::kReadable : 0u) | (stuck ? ChannelCore::kWritable : 0u);
    if (events != events_) {
        if (((events ^ events_) & ChannelCore::kWritable) != 0)
            stream_->limit_standstill(stuck ? kStandstill : std::chrono::seconds(0));
        core_.modify(watch_, events_ = events);
    }
    if (!over) frame_time_.measure();
}

// ---- the end

void WsTransport::fail(const net::Trouble& trouble) {
    if (core_.over()) return;
    if (const auto delay = !open_ && trouble.refused ? retry_.failed() : std::nullopt) {
        core_.sink().fact("trouble", trouble.text);
        if (again_.start(*delay)) return;
    }
    const bool passes = trouble.code != PATCHBAY_E_PROTOCOL && trouble.code != PATCHBAY_E_INVALID;
    give_up(trouble.code, trouble.text, 0, passes ? PATCHBAY_ERR_RETRYABLE : 0);
}

void WsTransport::close() {
    const Turn turn(core_);
    // What was sent in this round was sent before.
    if (open_ && !core_.over()) static_cast<void>(flush());
    give_up(PATCHBAY_OK, {}, kNormal);
}

void WsTransport::give_up(patchbay_status code, std::string text, int close_code,
                          std::uint32_t flags) {
    if (core_.over()) return;
    core_.finish(code, std::move(text), flags);
    queue_.drop_waiting([this](std::uint64_t exchange) {
        core_.sink().done(exchange, PATCHBAY_E_CLOSED,
                          "the connection closed before the message was sent",
                          PATCHBAY_ERR_NOT_SENT);
    });
    if (open_ && close_code != 0)
        queue_.push_control(Opcode::Close, std::string{static_cast<char>(close_code >> 8),
                                                       static_cast<char>(close_code & 0xff)});
    else
        fuse_.blow();
    static_cast<void>(core_.post(this, on_over));
}

// On the reactor's thread, where watches and timers end.
void WsTransport::on_over(void* self) noexcept {
    auto& transport = transport_of(self);
    transport.core_.enter("the end of a channel", [&transport] {
        transport.core_.arrived();
        transport.again_.stop();
        transport.frame_time_.stop();
        transport.say_farewell();
    });
}

// What has begun to leave leaves whole, and the close frame behind it, as far as the server takes
// them.
void WsTransport::say_farewell() {
    if (fuse_.blown() || !flush() || queue_.empty() || !watch_) return conclude();
    await();
    if (!patience_.running() && !patience_.start(kFarewellPatience)) conclude();
}

void WsTransport::conclude() {
    fuse_.blow();
    core_.end(watch_);
    patience_.stop();
    queue_.clear([this](std::uint64_t exchange, bool begun) {
        core_.sink().done(exchange, PATCHBAY_E_CLOSED,
                          "the connection closed before the message was sent",
                          begun ? 0 : PATCHBAY_ERR_NOT_SENT);
    });
}

// Nothing is written any more, whatever waits.
void WsTransport::broken(const std::string& why) {
    fuse_.blow();
    if (core_.over())
        static_cast<void>(core_.post(this, on_over));
    else
        give_up(PATCHBAY_E_INTERNAL, why, 0);
}

}  // namespace patchbay::ws
