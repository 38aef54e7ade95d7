// MCP over WebSocket: subprotocol "mcp", one JSON-RPC message in a text message.
//
//   connecting  a worker: connect, TLS, handshake
//   open        the host's reactor owns the connection and watches it: what comes is decoded and
//               handed on as it is read, and one flush at the end of the reactor's round writes what
//               was sent in it; no thread
//   over        a close frame is on its way, for kFarewellPatience at most
//
// Owns:    the connection.
// Threads: those of patchbay_transport; everything inside a turn of the core. Until `open_` the
//          connection is the worker's alone; watches and timers end on the reactor's thread.
// Errors:  the first is the channel's end: a close frame tells the server its code.
// Limits:  FrameDecoder's and FrameQueue's (beyond those send() answers PAUSE until half are gone);
//          kBytesPerRound and kFramesPerRound of what comes; FrameTime's for a frame that drips;
//          kStandstill in which a server takes nothing of what waits.
// Follows: RFC 6455; neither extensions nor other subprotocols are offered, and none is taken.
#pragma once

#include "channel_core.hpp"
#include "frame_decoder.hpp"
#include "frame_queue.hpp"
#include "frame_time.hpp"
#include "net/byte_stream.hpp"
#include "net/credentials.hpp"
#include "net/workers.hpp"
#include "retry.hpp"
#include "timer.hpp"

#include <memory>
#include <optional>
#include <string>

namespace patchbay::ws {

class WsTransport final : public sdk::Channel, private transport::ChannelCore::Owner {
public:
    static std::unique_ptr<sdk::Channel> open(const patchbay_open_params& params);

    patchbay_status send(const patchbay_message& message, sdk::Body body) override;
    void cancel(std::uint64_t exchange) override;
    void resume() override;
    void close() override;

private:
    WsTransport(const patchbay_open_params& params, net::Endpoint endpoint);

    bool hire();  // a worker to connect; false: there is none
    void connect();
    void begin(const std::string& peer, std::string first_frames);

    void read();
    void take(std::string_view bytes, std::size_t& frames);
    void answer_ping(const std::string& payload);
    bool flush();       // false: the connection takes no more
    bool flush_soon();  // false: the host is closing
    bool go_on_soon();  // the same
    void await();       // has the watch tell of what is next

    void fail(const net::Trouble& trouble);
    // Over: says goodbye with `close_code` where there is still somebody; 0: there is not.
    void give_up(patchbay_status code, std::string text, int close_code, std::uint32_t flags = 0);
    void say_farewell();
    void conclude();
    void broken(const std::string& why) override;

    static void on_ready(void* self, std::uint32_t events) noexcept;
    static void on_posted(void* self) noexcept;  // by go_on_soon()
    static void on_over(void* self) noexcept;

    transport::ChannelCore core_;
    net::Workers& pool_;
    const net::Endpoint endpoint_;
    net::Credentials credentials_;
    net::Fuse fuse_;  // of the connection, from its first address to its end
    std::optional<net::ByteStream> stream_;
    FrameDecoder decoder_;
    FrameTime frame_time_;
    FrameQueue queue_;
    std::string unread_;  // that came, and that the host wants later or the next round is for
    patchbay_op watch_ = 0;
    std::uint32_t events_ = transport::ChannelCore::kReadable;  // that are watched
    transport::Retry retry_ = transport::kUntilItListens;
    transport::Timer again_;
    transport::Timer patience_{core_, [this] { conclude(); }};
    bool open_ = false, paused_ = false, posted_ = false;
};

}  // namespace patchbay::ws
