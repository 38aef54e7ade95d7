#include "stdio_transport.hpp"

namespace patchbay::stdio {

std::unique_ptr<sdk::Channel> StdioTransport::open(const patchbay_open_params& params) {
    const sdk::Config config(sdk::view(params.config));
    std::unique_ptr<StdioTransport> channel(new StdioTransport(params));
    channel->grace_ms_ = static_cast<unsigned>(config.number("stop_grace_ms", 2000));
    channel->child_.start(config, params.credentials, params.credential_count);
    channel->stream_.start(channel->child_.stdout_fd, channel->child_.stdin_fd);
    channel->sink_.opened();
    return channel;
}

StdioTransport::StdioTransport(const patchbay_open_params& params)
    : sink_(params), stream_(params.host, sink_, *this), child_(params.host, sink_, *this) {}

patchbay_status StdioTransport::send(const patchbay_message& message, sdk::Body body) {
    if (closing_ || exited_ || output_over_) return PATCHBAY_E_CLOSED;
    return stream_.send(message.exchange, std::move(body));
}

void StdioTransport::close() {
    if (std::exchange(closing_, true)) return;
    stream_.stop_writing();
    stream_.resume();  // what the server still says must not keep it from leaving
    child_.stop(grace_ms_);
    if (exited_) finish();
}

// stdout has ended: the server is done, or has shut the door on us.
void StdioTransport::ended() {
    output_over_ = true;
    if (exited_) return finish();
    stream_.stop_writing();
    child_.stop(grace_ms_);
}

void StdioTransport::broken(patchbay_status code, const std::string& text) {
    output_over_ = true;
    trouble_ = code;
    trouble_text_ = text;
    stream_.stop_writing();
    if (exited_) return finish();
    child_.stop(0);
}

void StdioTransport::child_exited(int code) {
    exited_ = true;
    exit_code_ = code;
    stream_.stop_writing();
    // Every writer is gone: the rest of stdout can be read to its end, unless the host has paused us,
    // then resume() goes on.
    if (!output_over_) stream_.drain();
    if (output_over_ || closing_) finish();
}

void StdioTransport::finish() {
    if (std::exchange(closed_, true)) return;
    stream_.stop();
    if (trouble_ != PATCHBAY_OK) return sink_.closed(trouble_, "server " + trouble_text_);
    if (closing_) return sink_.closed();
    sink_.closed(PATCHBAY_E_CLOSED, "server process " + transport::describe_exit(exit_code_), PATCHBAY_ERR_RETRYABLE);
}

}  // namespace patchbay::stdio
