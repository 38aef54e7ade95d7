// MCP over WebSocket: subprotocol "mcp", one JSON-RPC message in a text message.
//
//   connecting  a worker: connect, TLS, handshake
//   open        nothing but a watch at the reactor; a worker reads when there is something, and one
//               writes what waits
//
// Owns:    the connection.
// Threads: those of patchbay_transport; everything inside a turn of the core, but the frames
//          themselves.
// Errors:  the first is the channel's end: a close frame tells the server its code.
// Limits:  message_bytes for a message of any number of frames; control frames as in the RFC; beyond
//          kQueued messages or kQueuedBytes that wait, send() answers PAUSE until half are gone.
// Follows: RFC 6455; neither extensions nor other subprotocols are offered, and none is taken.
#pragma once

#include "channel_core.hpp"
#include "net/blocking_session.hpp"
#include "net/credentials.hpp"
#include "net/refusal.hpp"
#include "net/workers.hpp"
#include "retry.hpp"
#include "timer.hpp"

#include <Poco/Net/WebSocket.h>

#include <deque>
#include <memory>
#include <mutex>
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
    enum class Opcode { Continuation = 0, Text = 1, Binary = 2, Close = 8, Ping = 9, Pong = 10 };
    struct Outgoing {
        std::uint64_t exchange;  // 0: a control frame
        Opcode opcode;
        sdk::Body body;
        std::string control;
        std::string_view bytes() const {
            return exchange ? body.view() : std::string_view(control);
        }
    };

    WsTransport(const patchbay_open_params& params, net::Endpoint endpoint);

    static constexpr std::size_t kQueued = 1000, kQueuedBytes = 16u << 20;

    bool work(void (WsTransport::*job)());  // on a worker; inside a turn
    void work_or_give_up(void (WsTransport::*job)());
    void connect();
    void upgrade();
    bool crowd_is_over(std::size_t part) const;
    void relieve();
    void read_on();
    void read_frames();
    void write_frames();
    bool read_frame();  // false: nothing more for now
    void take_frame(std::string_view payload, int flags);
    void take_close(std::string_view payload);
    void enqueue(Opcode opcode, std::string control);
    void watch();
    void fail(const net::Trouble& trouble);
    // Over: says goodbye with `close_code` where there is still somebody.
    void give_up(patchbay_status code, std::string text, int close_code, std::uint32_t flags = 0);
    void broken(const std::string& why) override;
    static void on_readable(void* self, std::uint32_t events) noexcept;
    static void on_over(void* self) noexcept;

    transport::ChannelCore core_;
    net::Workers& pool_;
    const net::Endpoint endpoint_;
    net::Credentials credentials_;
    net::Fuse fuse_;
    std::unique_ptr<net::BlockingSession> session_;
    std::optional<Poco::Net::WebSocket> socket_;
    std::string peer_;
    std::mutex frames_;  // TLS: reading and writing take turns
    std::deque<Outgoing> outgoing_;
    std::string message_;  // of the frames so far
    patchbay_op watch_ = 0;
    transport::Retry retry_ = transport::kUntilItListens;
    transport::Timer again_{core_, [this] {
                                if (!core_.over()) work_or_give_up(&WsTransport::connect);
                            }};
    transport::Timer patience_{core_, [this] { fuse_.blow(); }};
    bool open_ = false, writing_ = false, reading_ = false, paused_ = false;
    bool in_message_ = false;
    bool crowded_ = false;  // PAUSE was answered to a send, and writable has not followed
};

}  // namespace patchbay::ws
