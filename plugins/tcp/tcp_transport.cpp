#include "tcp_transport.hpp"

#include <cstring>
#include <utility>

namespace patchbay::tcp {
namespace {

constexpr double kDefaultGraceMs = 2000, kMostGraceMs = 60'000;

using Turn = transport::ChannelCore::Turn;

}  // namespace

TcpTransport::TcpTransport(const patchbay_open_params& params, const sdk::Config& config)
    : core_(params, this),
      stream_(core_, *this),
      child_(core_, *this),
      has_command_(config.find("command") != nullptr),
      grace_(static_cast<std::int64_t>(
          config.number("stop_grace_ms", kDefaultGraceMs, 0, kMostGraceMs))),
      dial_(core_, *this, config,
            has_command_ ? Dial::Listens::AfterCommand : Dial::Listens::Already) {}

std::unique_ptr<sdk::Channel> TcpTransport::open(const patchbay_open_params& params) {
    const sdk::Config config(sdk::view(params.config));
    std::unique_ptr<TcpTransport> channel(new TcpTransport(params, config));
    const Turn turn(channel->core_);
    channel->dial_.judge();
    if (channel->has_command_)
        channel->child_.start(config, params.credentials, params.credential_count,
                              transport::Child::Stdout::ForPeople);
    // The child runs: from here on trouble is an event.
    channel->dial_.start();
    return channel;
}

void TcpTransport::connected(int socket, const Address& peer) {
    if (!stream_.start(socket, socket))
        return give_up(PATCHBAY_E_IO, "the host cannot watch the connection");
    open_ = true;
    core_.sink().fact("trouble", {});
    core_.sink().fact("peer", peer.text());
    core_.sink().opened();
}

void TcpTransport::dial_failed(patchbay_status code, const std::string& text, std::uint32_t flags) {
    give_up(code, text, flags);
}

// ---- messages

patchbay_status TcpTransport::send(const patchbay_message& message, sdk::Body body) {
    const Turn turn(core_);
    const bool ready = open_ && !closing_ && !core_.over();
    return ready ? stream_.out.send(message.exchange, std::move(body)) : PATCHBAY_E_CLOSED;
}

void TcpTransport::cancel(std::uint64_t exchange) {
    const Turn turn(core_);
    stream_.out.cancel(exchange);
}

void TcpTransport::resume() {
    const Turn turn(core_);
    stream_.in.resume();
}

// ---- the end

void TcpTransport::close() {
    const Turn turn(core_);
    if (std::exchange(closing_, true)) return;
    // Refused only by a host that is closing itself: it ends what is open.
    static_cast<void>(core_.post(this, on_close_posted));
}

void TcpTransport::on_close_posted(void* self) noexcept {
    auto& transport = *static_cast<TcpTransport*>(self);
    transport.core_.enter("the close of a channel", [&transport] {
        transport.core_.arrived();
        transport.give_up(PATCHBAY_OK, {});
    });
}

void TcpTransport::give_up(patchbay_status code, const std::string& text, std::uint32_t flags) {
    core_.finish(code, text, flags);
    dial_.stop();
    stream_.out.end();
    stream_.in.end();
    child_.stop(open_ ? grace_ : std::chrono::milliseconds::zero());
}

void TcpTransport::broken(const std::string& why) {
    give_up(PATCHBAY_E_INTERNAL, why, 0);
}

void TcpTransport::input_ended(std::string_view rest) {
    if (!rest.empty()) {
        cut_off_ = " in the middle of a message";
        core_.sink().output(PATCHBAY_OUTPUT_STRAY, rest);
    }
    if (!core_.over()) exit_tells_more_ = true;
    give_up(PATCHBAY_E_CLOSED, "server closed the connection" + cut_off_);
}

void TcpTransport::input_broken(patchbay_status code, const std::string& text) {
    give_up(code, "server " + text, code == PATCHBAY_E_LIMIT ? 0 : PATCHBAY_ERR_RETRYABLE);
}

void TcpTransport::output_broken(int error) {
    if (!core_.over()) exit_tells_more_ = true;
    give_up(PATCHBAY_E_CLOSED,
            std::string("the connection to the server broke: ") + std::strerror(error));
}

void TcpTransport::child_exited() {
    stream_.in.drain();  // what it said last may be there and not read yet
    const auto text = child_.describe_exit() + cut_off_;
    if (exit_tells_more_ && (child_.left_by_itself() || !child_.limit_reached().empty()))
        core_.explain(text);
    give_up(PATCHBAY_E_CLOSED, text);
}

}  // namespace patchbay::tcp
