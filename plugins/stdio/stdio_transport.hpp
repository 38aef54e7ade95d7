// The stdio transport: a server as a child process, messages as lines on its stdin and stdout.
// Source: MCP basic/transports/stdio (2026-07-28), basic/transports "stdio" (2025-11-25).
//
// Life:    open spawns, `opened` at once (the handshake's time-out is the host's) -> lines ->
//          close: stdin closes, then the grace of `stop_grace_ms`, TERM, grace, KILL -> the tree is gone
//          -> closed. A child that ends by itself ends the channel with its exit in words.
// Threads: [serial] and the host's reactor; no thread of its own.
#pragma once

#include <memory>

#include "child.hpp"
#include "line_stream.hpp"

namespace patchbay::stdio {

class StdioTransport final : public sdk::Channel,
                             private transport::LineStream::Listener,
                             private transport::Child::Listener {
public:
    static std::unique_ptr<sdk::Channel> open(const patchbay_open_params& params);

    patchbay_status send(const patchbay_message& message, sdk::Body body) override;
    void cancel(std::uint64_t exchange) override { stream_.cancel(exchange); }
    void resume() override { stream_.resume(); }
    void close() override;

private:
    explicit StdioTransport(const patchbay_open_params& params);
    void ended() override;
    void broken(patchbay_status code, const std::string& text) override;
    void child_exited(int code) override;
    void finish();

    sdk::Sink sink_;
    transport::LineStream stream_;
    transport::Child child_;
    unsigned grace_ms_ = 2000;
    bool closing_ = false;       // asked to
    bool output_over_ = false;   // stdout has ended or is of no use
    bool exited_ = false;
    bool closed_ = false;
    int exit_code_ = 0;
    patchbay_status trouble_ = PATCHBAY_OK;
    std::string trouble_text_;
};

}  // namespace patchbay::stdio
