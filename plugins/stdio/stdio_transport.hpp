// The stdio transport: a server as a child process, messages as lines on its stdin and stdout.
// Source: MCP basic/transports/stdio (2026-07-28), basic/transports "stdio" (2025-11-25).
//
// Life:    open spawns, `opened` at once (the handshake's time-out is the host's) -> lines ->
//          close: stdin closes, then the grace of `stop_grace_ms`, TERM, grace, KILL -> the tree
//          is gone -> closed. A child that ends by itself ends the channel with its exit in words.
// Threads: as patchbay_transport, with any thread for each call; all I/O on the host's reactor.
// Errors:  what the child does wrong ends the channel, and the child with it.
#pragma once

#include "channel_core.hpp"
#include "child.hpp"
#include "line_stream.hpp"

#include <memory>

namespace patchbay::stdio {

class StdioTransport final : public sdk::Channel,
                             private transport::ChannelCore::Owner,
                             private transport::LineStream::Listener,
                             private transport::Child::Listener {
public:
    static std::unique_ptr<sdk::Channel> open(const patchbay_open_params& params);

    patchbay_status send(const patchbay_message& message, sdk::Body body) override;
    void cancel(std::uint64_t exchange) override;
    void resume() override;
    void close() override;

private:
    explicit StdioTransport(const patchbay_open_params& params);
    static void on_close_posted(void* self) noexcept;

    void broken(const std::string& why) override;
    void input_read(std::size_t bytes) override { child_.count_output(bytes); }
    void input_ended(std::string_view rest) override;
    void input_broken(patchbay_status code, const std::string& text) override;
    void output_broken(int error) override;
    void child_exited() override;
    void give_up(patchbay_status code, const std::string& text, std::chrono::milliseconds grace);
    void tell_exit();

    transport::ChannelCore core_;
    transport::LineStream stream_;
    transport::Child child_;
    std::chrono::milliseconds grace_{};
    bool closing_ = false;
    bool exit_tells_more_ = false;  // than what is given as the reason so far
    std::string cut_off_;           // what input ended in the middle of
};

}  // namespace patchbay::stdio
