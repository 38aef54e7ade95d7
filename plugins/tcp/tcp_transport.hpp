// The tcp transport: newline-framed JSON over one TCP connection, as the stdio binding (MCP
// 2026-07-28 basic/transports/stdio, which works unchanged over TCP connections).
//
// Life:    open starts `command` if there is one -> Dial -> opened -> lines -> close -> the command's
//          tree is gone -> closed.
// Threads: as patchbay_transport, with any thread for each call; all I/O on the host's reactor, but
//          for the thread that asks the system's resolver.
// Limits:  those of Dial and LineStream; with a command, while that lives.
#pragma once

#include "channel_core.hpp"
#include "child.hpp"
#include "dial.hpp"
#include "line_stream.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace patchbay::tcp {

class TcpTransport final : public sdk::Channel,
                           private transport::ChannelCore::Owner,
                           private Dial::Listener,
                           private transport::LineStream::Listener,
                           private transport::Child::Listener {
public:
    static std::unique_ptr<sdk::Channel> open(const patchbay_open_params& params);

    patchbay_status send(const patchbay_message& message, sdk::Body body) override;
    void cancel(std::uint64_t exchange) override;
    void resume() override;
    void close() override;

private:
    TcpTransport(const patchbay_open_params& params, const sdk::Config& config);
    static void on_close_posted(void* self) noexcept;

    void connected(int socket, const Address& peer) override;
    void dial_failed(patchbay_status code, const std::string& text, std::uint32_t flags) override;
    void broken(const std::string& why) override;
    void input_ended(std::string_view rest) override;
    void input_broken(patchbay_status code, const std::string& text) override;
    void output_broken(int error) override;
    void child_exited() override;
    void give_up(patchbay_status code, const std::string& text,
                 std::uint32_t flags = PATCHBAY_ERR_RETRYABLE);

    transport::ChannelCore core_;
    transport::LineStream stream_;
    transport::Child child_;
    const bool has_command_;
    const std::chrono::milliseconds grace_;
    Dial dial_;
    bool open_ = false, closing_ = false;
    bool exit_tells_more_ = false;  // than what is given as the reason so far
    std::string cut_off_;           // what input ended in the middle of
};

}  // namespace patchbay::tcp
