#include "stdio_transport.hpp"

#include <cstring>
#include <utility>

namespace patchbay::stdio {
namespace {

constexpr double kDefaultGraceMs = 2000;

using Turn = transport::ChannelCore::Turn;

}  // namespace

std::unique_ptr<sdk::Channel> StdioTransport::open(const patchbay_open_params& params) {
    const sdk::Config config(sdk::view(params.config));
    std::unique_ptr<StdioTransport> channel(new StdioTransport(params));
    channel->grace_ = std::chrono::milliseconds(
        static_cast<std::int64_t>(config.number("stop_grace_ms", kDefaultGraceMs, 0, 60'000)));
    const Turn turn(channel->core_);
    channel->child_.start(config, params.credentials, params.credential_count,
                          transport::Child::Stdout::Messages);
    // The child runs: from here on trouble is an event.
    if (channel->stream_.start(channel->child_.take_stdout(), channel->child_.take_stdin()))
        channel->core_.sink().opened();
    else
        channel->give_up(PATCHBAY_E_IO, "the host cannot watch the pipe to the server process", {});
    return channel;
}

StdioTransport::StdioTransport(const patchbay_open_params& params)
    : core_(params, this), stream_(core_, *this), child_(core_, *this) {}

patchbay_status StdioTransport::send(const patchbay_message& message, sdk::Body body) {
    const Turn turn(core_);
    return closing_ || core_.over() ? PATCHBAY_E_CLOSED
                                    : stream_.out.send(message.exchange, std::move(body));
}

void StdioTransport::cancel(std::uint64_t exchange) {
    const Turn turn(core_);
    stream_.out.cancel(exchange);
}

void StdioTransport::resume() {
    const Turn turn(core_);
    stream_.in.resume();
}

void StdioTransport::close() {
    const Turn turn(core_);
    if (std::exchange(closing_, true)) return;
    // Refused only by a host that is closing itself: it ends what is open.
    static_cast<void>(core_.post(this, on_close_posted));
}

void StdioTransport::on_close_posted(void* self) noexcept {
    auto& channel = *static_cast<StdioTransport*>(self);
    channel.core_.enter("the close of a channel", [&channel] {
        channel.core_.arrived();
        channel.give_up(PATCHBAY_OK, {}, channel.grace_);
        if (!channel.child_.running()) channel.stream_.in.end();
    });
}

// The channel is over. What the server still says must not keep it from leaving.
void StdioTransport::give_up(patchbay_status code, const std::string& text,
                             std::chrono::milliseconds grace) {
    const bool for_good = code == PATCHBAY_E_LIMIT || code == PATCHBAY_E_INTERNAL;
    core_.finish(code, text, for_good ? 0 : PATCHBAY_ERR_RETRYABLE);
    stream_.out.end();
    stream_.in.discard();
    child_.stop(grace);
}

void StdioTransport::broken(const std::string& why) {
    give_up(PATCHBAY_E_INTERNAL, why, {});
    if (!child_.running()) stream_.in.end();
}

void StdioTransport::input_ended(std::string_view rest) {
    if (!rest.empty()) {
        cut_off_ = " in the middle of a message";
        core_.sink().output(PATCHBAY_OUTPUT_STRAY, rest);
    }
    if (!child_.running()) return tell_exit();
    if (!core_.over()) exit_tells_more_ = true;
    give_up(PATCHBAY_E_CLOSED, "server closed its stdout" + cut_off_, grace_);
}

void StdioTransport::input_broken(patchbay_status code, const std::string& text) {
    give_up(code, "server " + text, {});
}

void StdioTransport::output_broken(int error) {
    if (!core_.over()) exit_tells_more_ = true;
    give_up(PATCHBAY_E_CLOSED, std::string("server closed its stdin: ") + std::strerror(error),
            grace_);
}

// Every writer is gone, so the rest of stdout can be read to its end; if the host has paused us,
// when it resumes.
void StdioTransport::child_exited() {
    stream_.out.end();
    if (core_.over())
        stream_.in.end();
    else if (stream_.in.open())
        stream_.in.drain();
    if (!stream_.in.open()) tell_exit();
}

void StdioTransport::tell_exit() {
    const auto text = child_.describe_exit() + cut_off_;
    if (exit_tells_more_ && (child_.left_by_itself() || !child_.limit_reached().empty()))
        core_.explain(text);
    core_.finish(PATCHBAY_E_CLOSED, text, PATCHBAY_ERR_RETRYABLE);
}

}  // namespace patchbay::stdio
