#include "ws_transport.hpp"

#include "ascii.hpp"
#include "utf8.hpp"

#include <Poco/Buffer.h>
#include <Poco/Net/HTTPRequest.h>
#include <Poco/Net/HTTPResponse.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace patchbay::ws {
namespace {

namespace pn = Poco::Net;

constexpr std::chrono::seconds kFarewellPatience{2};
constexpr std::chrono::seconds kHeadLimit{30}, kFrameLimit{30};
constexpr unsigned kMaskBit = 0x80;  // of a frame's second byte: for clients
constexpr std::size_t kControlBytes = 125, kMostControls = 16;
constexpr const char* kSubprotocol = "mcp";

enum CloseCode {
    kNormal = 1000,
    kGoingAway = 1001,
    kProtocolError = 1002,
    kUnsupported = 1003,
    kBadText = 1007,
    kTooBig = 1009
};

using Turn = transport::ChannelCore::Turn;

WsTransport& transport_of(void* self) {
    return *static_cast<WsTransport*>(self);
}

// The length of a frame in more bytes than it needs, RFC 6455 section 5.2.
bool is_padded(const net::GuardedSocketImpl::Beginning& frame) {
    const unsigned code = frame[1] & ~kMaskBit;
    std::uint64_t length = 0;
    for (std::size_t i = 2; i < (code == 126 ? 4u : 10u); ++i) length = length << 8 | frame[i];
    return (code == 126 && length < 126) || (code == 127 && length < 65'536);
}

// Section 7.4: what may be sent.
bool is_close_code(unsigned code) {
    if (code >= 3000) return code < 5000;
    return code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
}

// What a handshake was answered with that nobody asked for.
void check_choices(const pn::HTTPResponse& response) {
    for (const auto& [name, value] : response) {
        if (ascii::same(name, "Sec-WebSocket-Extensions") && !value.empty())
            throw net::Trouble(PATCHBAY_E_PROTOCOL,
                               "the server chose a WebSocket extension, and none was offered");
        if (ascii::same(name, "Sec-WebSocket-Protocol") && !value.empty() && value != kSubprotocol)
            throw net::Trouble(PATCHBAY_E_PROTOCOL,
                               "the server chose another WebSocket subprotocol than \"mcp\"");
    }
}

}  // namespace

WsTransport::WsTransport(const patchbay_open_params& params, net::Endpoint endpoint)
    : core_(params, this),
      pool_(sdk::plugin_of<net::ThreadedPlugin>(params).workers()),
      endpoint_(std::move(endpoint)),
      credentials_(params) {}

std::unique_ptr<sdk::Channel> WsTransport::open(const patchbay_open_params& params) {
    auto endpoint = net::Endpoint::from(sdk::Config(sdk::view(params.config)));
    if (endpoint.url.scheme == "http") endpoint.url.scheme = "ws";
    if (endpoint.url.scheme == "https") endpoint.url.scheme = "wss";
    std::unique_ptr<WsTransport> channel(new WsTransport(params, std::move(endpoint)));
    const Turn turn(channel->core_);
    channel->core_.sink().fact(
        "trouble", "no handshake with " + channel->endpoint_.url.without_query() + " yet");
    if (!channel->work(&WsTransport::connect))
        throw sdk::Failure(PATCHBAY_E_LIMIT, "no thread can be started");
    return channel;
}

// ---- workers

bool WsTransport::work(void (WsTransport::*job)()) {
    core_.departed();
    try {
        pool_.run([this, job] {
            core_.work("a worker of the connection", [this, job] { (this->*job)(); });
            const Turn turn(core_);
            core_.arrived();  // the end of this turn may be the end of the channel
        });
        return true;
    } catch (const std::system_error&) {
        core_.arrived();
        return false;
    }
}

void WsTransport::work_or_give_up(void (WsTransport::*job)()) {
    if (!work(job)) give_up(PATCHBAY_E_LIMIT, "no thread can be started", kGoingAway);
}

void WsTransport::connect() {
    try {
        upgrade();
        const Turn turn(core_);
        if (core_.over()) return;
        open_ = true;
        core_.sink().fact("trouble", {});
        core_.sink().fact("peer", peer_);
        core_.sink().opened();
        read_on();  // what came with the handshake
    } catch (const net::Trouble& trouble) {
        fail(trouble);
    } catch (const net::Refusal& refusal) {
        const Turn turn(core_);
        if (core_.over()) return;
        core_.finish([refusal](const sdk::Sink& sink) { net::tell_closed(sink, refusal); });
        static_cast<void>(core_.post(this, on_over));
    } catch (const Poco::Exception& error) {
        fail({PATCHBAY_E_PROTOCOL, "the WebSocket handshake failed: " + error.displayText()});
    }
}

void WsTransport::upgrade() {
    net::HeaderList headers;
    {
        const Turn turn(core_);
        headers = credentials_.headers_for(endpoint_.headers, "GET", endpoint_.url);
    }
    const auto dialed = net::dial(endpoint_, endpoint_.url, fuse_);
    peer_ = dialed.peer;
    session_ = std::make_unique<net::BlockingSession>(dialed);
    session_->limit(kHeadLimit);
    session_->guard().read_singly(true);  // no byte of the first frame is read with the head
    pn::HTTPRequest request("GET", endpoint_.url.target, pn::HTTPMessage::HTTP_1_1);
    pn::HTTPResponse response;
    request.set("Host", endpoint_.url.authority());
    for (const auto& [name, value] : headers) request.set(name, value);
    request.set("Sec-WebSocket-Protocol", kSubprotocol);
    try {
        socket_.emplace(*session_, request, response);
    } catch (const Poco::Exception& error) {
        const int status = static_cast<int>(response.getStatus());
        const auto code = net::code_of_status(status);
        if (dynamic_cast<const pn::WebSocketException*>(&error) &&
            error.code() == pn::WebSocket::WS_ERR_HANDSHAKE_ACCEPT)
            throw net::Trouble(PATCHBAY_E_PROTOCOL,
                               "the WebSocket handshake failed: the server's Sec-WebSocket-Accept "
                               "does not answer the key that it was sent");
        if (code == PATCHBAY_OK || status < 200 || response.empty()) throw;
        net::Refusal refusal{code, {status, response.getReason(), {}}, {}, endpoint_.url.text(), 0};
        for (const auto& [name, value] : response) refusal.head.fields.emplace_back(name, value);
        throw refusal;
    }
    check_choices(response);
    session_->limit({});
    session_->guard().read_singly(false);
    socket_->setMaxPayloadSize(static_cast<int>(
        std::min<std::size_t>(core_.message_bytes(), std::numeric_limits<int>::max())));
}

// ---- reading

void WsTransport::read_on() {
    reading_ = true;
    work_or_give_up(&WsTransport::read_frames);
}

void WsTransport::read_frames() {
    try {
        while (read_frame()) {
        }
        const Turn turn(core_);
        reading_ = false;
        if (!core_.over() && !paused_) watch();
    } catch (const net::Trouble& trouble) {
        fail(trouble);
    } catch (const pn::WebSocketException& error) {
        const Turn turn(core_);
        if (error.code() == pn::WebSocket::WS_ERR_PAYLOAD_TOO_BIG)
            give_up(PATCHBAY_E_LIMIT,
                    "the server sent a frame that is too large (limit message_bytes)", kTooBig);
        else if (error.code() == pn::WebSocket::WS_ERR_INCOMPLETE_FRAME)
            give_up(PATCHBAY_E_CLOSED,
                    "the server closed the connection in the middle of a message", 0,
                    PATCHBAY_ERR_RETRYABLE);
        else
            give_up(PATCHBAY_E_PROTOCOL, "the server sent a broken frame: " + error.displayText(),
                    kProtocolError);
    } catch (const Poco::Exception& error) {
        fail({PATCHBAY_E_CLOSED, "the connection broke: " + error.displayText()});
    } catch (const std::bad_alloc&) {
        fail({PATCHBAY_E_LIMIT, "a message does not fit into memory"});
    }
}

bool WsTransport::read_frame() {
    {
        const Turn turn(core_);
        if (core_.over() || paused_) return false;
    }
    Poco::Buffer<char> payload(0);
    int flags = 0;
    {
        std::unique_lock lock(frames_, std::defer_lock);
        if (session_->guard().secure()) lock.lock();
        if (socket_->available() == 0 && !session_->readable()) return false;
        session_->limit(kFrameLimit);
        session_->guard().begin_frame();
        socket_->receiveFrame(payload, flags);
    }
    const Turn turn(core_);
    if (core_.over()) return false;
    if (session_->guard().seen() == 0) {
        give_up(PATCHBAY_E_CLOSED,
                in_message_ ? "the server closed the connection in the middle of a message"
                            : "the server closed the connection without a word",
                0, PATCHBAY_ERR_RETRYABLE);
        return false;
    }
    const auto& head = session_->guard().beginning();
    if (head[1] & kMaskBit)
        give_up(PATCHBAY_E_PROTOCOL, "the server sent a masked frame", kProtocolError);
    else if (is_padded(head))
        give_up(PATCHBAY_E_PROTOCOL,
                "the server sent a frame whose length is written in more bytes than it needs",
                kProtocolError);
    else
        take_frame({payload.begin(), payload.size()}, flags);
    return !core_.over();
}

void WsTransport::take_frame(std::string_view payload, int flags) {
    const bool last = (flags & pn::WebSocket::FRAME_FLAG_FIN) != 0;
    const auto opcode = static_cast<Opcode>(flags & pn::WebSocket::FRAME_OP_BITMASK);
    const auto broken = [this](const char* what) {
        give_up(PATCHBAY_E_PROTOCOL, std::string("the server sent ") + what, kProtocolError);
    };
    if (flags & (pn::WebSocket::FRAME_FLAG_RSV1 | pn::WebSocket::FRAME_FLAG_RSV2 |
                 pn::WebSocket::FRAME_FLAG_RSV3))
        return broken("a frame of an extension that was not agreed on");
    switch (opcode) {
        case Opcode::Ping:
        case Opcode::Pong:
        case Opcode::Close:
            if (!last || payload.size() > kControlBytes) return broken("a broken control frame");
            if (opcode == Opcode::Ping) enqueue(Opcode::Pong, std::string(payload));
            if (opcode == Opcode::Close) take_close(payload);
            return;
        case Opcode::Text:
            if (in_message_) return broken("a new message inside another one");
            break;
        case Opcode::Continuation:
            if (!in_message_) return broken("the rest of a message that never began");
            break;
        case Opcode::Binary:
            return give_up(PATCHBAY_E_PROTOCOL, "the server sent a message that is not text",
                           kUnsupported);
        default:
            return broken("a frame of a kind that does not exist");
    }
    in_message_ = !last;
    if (message_.size() + payload.size() > core_.message_bytes())
        return give_up(PATCHBAY_E_LIMIT,
                       "the server sent a message of more than " +
                           std::to_string(core_.message_bytes()) + " bytes (limit message_bytes)",
                       kTooBig);
    message_ += payload;
    if (!last || message_.empty()) return;
    if (!is_utf8(message_))
        return give_up(PATCHBAY_E_PROTOCOL, "the server sent a text message that is not UTF-8",
                       kBadText);
    if (core_.sink().message(0, net::buffer_of(std::exchange(message_, {}))) == PATCHBAY_PAUSE)
        paused_ = true;
}

void WsTransport::take_close(std::string_view payload) {
    std::string why = "the server closed the connection";
    if (!payload.empty()) {
        const unsigned code = payload.size() < 2 ? 0u
                                                 : static_cast<unsigned char>(payload[0]) * 256u +
                                                       static_cast<unsigned char>(payload[1]);
        if (!is_close_code(code))
            return give_up(PATCHBAY_E_PROTOCOL,
                           "the server sent a close frame without a valid code", kProtocolError);
        if (!is_utf8(payload.substr(2)))
            return give_up(PATCHBAY_E_PROTOCOL,
                           "the server sent a close frame whose reason is not UTF-8", kBadText);
        why += " (WebSocket code " + std::to_string(code);
        if (payload.size() > 2) why += ": " + std::string(payload.substr(2));
        why += ")";
    }
    give_up(PATCHBAY_E_CLOSED, why, kNormal, PATCHBAY_ERR_RETRYABLE);
}

void WsTransport::watch() {
    if (watch_ || core_.watch(session_->guard().sockfd(), transport::ChannelCore::kReadable, this,
                              on_readable, watch_))
        return;
    give_up(PATCHBAY_E_IO, "the host cannot watch the connection", kGoingAway);
}

void WsTransport::on_readable(void* self, std::uint32_t) noexcept {
    auto& transport = transport_of(self);
    transport.core_.enter("what a server sent", [&transport] {
        if (!transport.watch_) return;
        transport.core_.end(transport.watch_);
        if (transport.core_.over() || transport.reading_) return;
        transport.read_on();
    });
}

// ---- writing

patchbay_status WsTransport::send(const patchbay_message& message, sdk::Body body) {
    const Turn turn(core_);
    if (!open_ || core_.over()) return PATCHBAY_E_CLOSED;
    outgoing_.push_back({message.exchange, Opcode::Text, std::move(body), {}});
    if (!writing_ && !(writing_ = work(&WsTransport::write_frames))) {
        outgoing_.pop_back();
        return PATCHBAY_E_LIMIT;
    }
    crowded_ = crowded_ || !crowd_is_over(1);
    return crowded_ ? PATCHBAY_PAUSE : PATCHBAY_OK;
}

// Of what may wait, no more than the nth part does.
bool WsTransport::crowd_is_over(std::size_t part) const {
    std::size_t bytes = 0;
    for (const auto& each : outgoing_) bytes += each.bytes().size();
    return outgoing_.size() <= kQueued / part && bytes <= kQueuedBytes / part;
}

void WsTransport::relieve() {
    if (!crowded_ || !crowd_is_over(2)) return;
    crowded_ = false;
    core_.sink().writable();
}

void WsTransport::enqueue(Opcode opcode, std::string control) {
    const auto controls = std::count_if(outgoing_.begin(), outgoing_.end(),
                                        [](const Outgoing& each) { return each.exchange == 0; });
    if (controls >= static_cast<std::ptrdiff_t>(kMostControls))
        return;  // it asks faster than it reads
    outgoing_.push_back({0, opcode, {}, std::move(control)});
    if (!writing_) writing_ = work(&WsTransport::write_frames);
}

void WsTransport::write_frames() {
    for (;;) {
        Outgoing next{};
        {
            const Turn turn(core_);
            if (outgoing_.empty()) {
                writing_ = false;
                if (core_.over()) {
                    fuse_.blow();
                    static_cast<void>(core_.post(this, on_over));
                }
                return;
            }
            next = std::move(outgoing_.front());
            outgoing_.pop_front();
            relieve();
        }
        try {
            std::unique_lock lock(frames_, std::defer_lock);
            if (session_->guard().secure()) lock.lock();
            const auto bytes = next.bytes();
            socket_->sendFrame(bytes.data(), static_cast<int>(bytes.size()),
                               pn::WebSocket::FRAME_FLAG_FIN | static_cast<int>(next.opcode));
        } catch (const Poco::Exception& error) {
            const net::Trouble trouble(PATCHBAY_E_CLOSED,
                                       "the connection broke: " + error.displayText());
            const Turn turn(core_);
            if (next.exchange) core_.sink().done(next.exchange, trouble.code, trouble.text);
            outgoing_.erase(std::remove_if(outgoing_.begin(), outgoing_.end(),
                                           [](const Outgoing& each) { return each.exchange == 0; }),
                            outgoing_.end());
            give_up(trouble.code, trouble.text, 0, PATCHBAY_ERR_RETRYABLE);
            continue;
        }
        const Turn turn(core_);
        if (next.exchange) core_.sink().done(next.exchange);
    }
}

void WsTransport::cancel(std::uint64_t exchange) {
    const Turn turn(core_);
    const auto found = std::find_if(outgoing_.begin(), outgoing_.end(), [&](const Outgoing& each) {
        return each.exchange == exchange;
    });
    if (exchange == 0 || found == outgoing_.end()) return;
    outgoing_.erase(found);
    core_.sink().done(exchange, PATCHBAY_E_CANCELLED, "cancelled before it was sent",
                      PATCHBAY_ERR_NOT_SENT);
    relieve();
}

void WsTransport::resume() {
    const Turn turn(core_);
    if (!std::exchange(paused_, false) || core_.over() || reading_) return;
    read_on();
}

// ---- the end

void WsTransport::fail(const net::Trouble& trouble) {
    const Turn turn(core_);
    if (core_.over()) return;
    if (const auto delay = !open_ && trouble.refused ? retry_.failed() : std::nullopt) {
        core_.sink().fact("trouble", trouble.text);
        if (again_.start(*delay)) return;
    }
    const bool passes = trouble.code != PATCHBAY_E_PROTOCOL && trouble.code != PATCHBAY_E_INVALID;
    give_up(trouble.code, trouble.text, 0, passes ? PATCHBAY_ERR_RETRYABLE : 0);
}

// A worker that broke writes no more, whatever waits.
void WsTransport::broken(const std::string& why) {
    fuse_.blow();
    give_up(PATCHBAY_E_INTERNAL, why, 0);
}

void WsTransport::close() {
    const Turn turn(core_);
    give_up(PATCHBAY_OK, {}, kNormal);
}

void WsTransport::give_up(patchbay_status code, std::string text, int close_code,
                          std::uint32_t flags) {
    if (core_.over()) return;
    static_cast<void>(core_.post(this, on_over));
    core_.finish(code, std::move(text), flags);
    for (auto& waiting : std::exchange(outgoing_, {}))
        if (waiting.exchange)
            core_.sink().done(waiting.exchange, PATCHBAY_E_CLOSED,
                              "the connection closed before the message was sent",
                              PATCHBAY_ERR_NOT_SENT);
    if (!open_ || close_code == 0) return fuse_.blow();
    enqueue(Opcode::Close,
            {static_cast<char>(close_code >> 8), static_cast<char>(close_code & 0xff)});
    if (!writing_) fuse_.blow();
}

// On the reactor's thread, where watches and timers end.
void WsTransport::on_over(void* self) noexcept {
    auto& transport = transport_of(self);
    transport.core_.enter("the end of a channel", [&transport] {
        transport.core_.arrived();
        transport.core_.end(transport.watch_);
        transport.again_.stop();
        if (!transport.writing_) return transport.patience_.stop();
        // A server that does not take the close frame: long enough.
        if (!transport.patience_.running() && !transport.patience_.start(kFarewellPatience))
            transport.fuse_.blow();
    });
}

}  // namespace patchbay::ws
