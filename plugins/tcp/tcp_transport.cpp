#include "tcp_transport.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace patchbay::tcp {
namespace {

constexpr double kDefaultGraceMs = 2000, kDefaultConnectMs = 10'000;

using Core = transport::ChannelCore;
using Turn = Core::Turn;

std::chrono::milliseconds milliseconds(const sdk::Config& config, const char* key,
                                       double otherwise) {
    return std::chrono::milliseconds(
        static_cast<std::int64_t>(config.number(key, otherwise, 0, 60'000)));
}

}  // namespace

TcpTransport::TcpTransport(const patchbay_open_params& params, const sdk::Config& config)
    : core_(params, this),
      stream_(core_, *this),
      child_(core_, *this),
      name_(config.text("host", "127.0.0.1")),
      port_(static_cast<unsigned>(config.number("port", 0, 1, 65'535))),
      allow_remote_(config.boolean("allow_remote", false)),
      has_command_(config.find("command") != nullptr),
      connect_timeout_(milliseconds(config, "connect_timeout_ms", kDefaultConnectMs)),
      grace_(milliseconds(config, "stop_grace_ms", kDefaultGraceMs)),
      rounds_(has_command_
                  ? transport::Retry(kFirstDelayOfCommand, kMostDelayOfCommand, kAttemptsOfCommand)
                  : transport::Retry(kFirstDelay, kMostDelay, kAttempts)) {
    if (port_ == 0) throw sdk::Failure(PATCHBAY_E_INVALID, "\"port\" is needed");
}

TcpTransport::~TcpTransport() {
    if (socket_ >= 0) ::close(socket_);
}

std::unique_ptr<sdk::Channel> TcpTransport::open(const patchbay_open_params& params) {
    const sdk::Config config(sdk::view(params.config));
    std::unique_ptr<TcpTransport> channel(new TcpTransport(params, config));
    const Turn turn(channel->core_);
    if (const auto here = resolve_here(channel->name_, channel->port_); !here.addresses.empty())
        channel->choose(here);
    if (channel->has_command_)
        channel->child_.start(config, params.credentials, params.credential_count,
                              transport::Child::Stdout::ForPeople);
    // The child runs: from here on trouble is an event.
    if (channel->addresses_.empty())
        channel->look_up();
    else
        channel->begin();
    return channel;
}

// ---- from name to connection

void TcpTransport::look_up() {
    try {
        lookup_.emplace(name_, port_);
    } catch (const std::system_error& error) {
        return give_up(PATCHBAY_E_IO, "cannot resolve host \"" + name_ + "\": " + error.what());
    }
    core_.sink().fact("trouble", "no address of host \"" + name_ + "\" yet");
    if (!core_.watch(lookup_->done_fd(), Core::kReadable, this, on_resolved, lookup_watch_))
        give_up(PATCHBAY_E_IO, "the host cannot watch the look-up of \"" + name_ + "\"");
}

void TcpTransport::on_resolved(void* self, std::uint32_t) noexcept {
    auto& transport = *static_cast<TcpTransport*>(self);
    transport.core_.enter("the answer of the resolver", [&transport] {
        const auto* const answer = transport.lookup_ ? transport.lookup_->answer() : nullptr;
        if (!answer) return;
        transport.core_.end(transport.lookup_watch_);
        if (transport.core_.over()) return;
        try {
            transport.choose(*answer);
            transport.begin();
        } catch (const sdk::Failure& failure) {
            const bool for_good = failure.code() == PATCHBAY_E_DENIED;
            transport.give_up(failure.code(), failure.what(),
                              for_good ? 0 : PATCHBAY_ERR_RETRYABLE);
        }
    });
}

// Judged by address, not by name: a name may point anywhere, and elsewhere tomorrow.
void TcpTransport::choose(const Resolved& resolved) {
    if (resolved.addresses.empty()) throw sdk::Failure(PATCHBAY_E_IO, resolved.error);
    for (const auto& address : resolved.addresses) {
        if (allow_remote_ || address.loopback()) addresses_.push_back(address);
    }
    if (!addresses_.empty()) return;
    throw sdk::Failure(PATCHBAY_E_DENIED,
                       "host \"" + name_ + "\" is " + resolved.addresses.front().text() +
                           ", which is not this machine, and plain TCP is neither encrypted nor "
                           "authenticated; set allow_remote = true to connect all the same");
}

void TcpTransport::begin() {
    if (has_command_)
        wait(kFirstDelayOfCommand);
    else
        attempt();
}

// The next address for which something is to be waited for, or the end of the round. DNS says how
// many there are.
void TcpTransport::attempt() {
    if (next_address_ == addresses_.size()) next_address_ = 0;
    for (;;) {
        const auto why = connect_to(addresses_[next_address_++]);
        if (!why) return;
        drop_socket();
        if (next_address_ == addresses_.size()) return round_failed(*why);
    }
}

std::optional<std::string> TcpTransport::connect_to(const Address& address) {
    socket_ = ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket_ < 0) return std::strerror(errno);
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(socket_, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    const int status =
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address.storage), address.size);
    if (status != 0 && errno != EINPROGRESS) return std::strerror(errno);
    if (status == 0) {
        if (connected_to_itself()) return "nobody listens";
        connected();
    } else if (core_.watch(socket_, Core::kWritable, this, on_connect_ready, socket_watch_)) {
        core_.sink().fact("trouble", "no answer from " + address.text());
        wait(connect_timeout_);
    } else {
        return "the host cannot watch the socket";
    }
    return std::nullopt;
}

void TcpTransport::on_connect_ready(void* self, std::uint32_t) noexcept {
    auto& transport = *static_cast<TcpTransport*>(self);
    transport.core_.enter("the end of an attempt to connect", [&transport] {
        if (!transport.socket_watch_) return;
        int error = 0;
        socklen_t size = sizeof error;
        ::getsockopt(transport.socket_, SOL_SOCKET, SO_ERROR, &error, &size);
        if (error) return transport.attempt_failed(std::strerror(error));
        if (transport.connected_to_itself()) return transport.attempt_failed("nobody listens");
        transport.connected();
    });
}

// A port of the ephemeral range that nobody listens on can be connected to itself.
bool TcpTransport::connected_to_itself() const {
    const auto& peer = addresses_[next_address_ - 1];
    Address ours;
    ours.size = sizeof ours.storage;
    return ::getsockname(socket_, reinterpret_cast<sockaddr*>(&ours.storage), &ours.size) == 0 &&
           ours.size == peer.size && std::memcmp(&ours.storage, &peer.storage, ours.size) == 0;
}

void TcpTransport::connected() {
    const auto& address = addresses_[next_address_ - 1];
    core_.end(socket_watch_);
    timer_.stop();
    const int fd = std::exchange(socket_, -1);
    if (!stream_.start(fd, fd))
        return give_up(PATCHBAY_E_IO, "the host cannot watch the connection");
    open_ = true;
    core_.sink().fact("trouble", {});
    core_.sink().fact("peer", address.text());
    core_.sink().opened();
}

void TcpTransport::attempt_failed(const std::string& why) {
    drop_socket();
    if (next_address_ < addresses_.size()) return attempt();
    round_failed(why);
}

void TcpTransport::round_failed(const std::string& why) {
    const auto delay = rounds_.failed();
    if (!delay) {
        const auto tried =
            addresses_.front().text() + " (" + std::to_string(rounds_.failures()) + " attempts)";
        return give_up(PATCHBAY_E_IO, "cannot connect to " + tried + ": " + why);
    }
    core_.sink().fact("trouble", "cannot connect to " + addresses_.front().text() + ": " + why);
    wait(*delay);
}

void TcpTransport::wait(std::chrono::milliseconds delay) {
    if (!timer_.start(delay)) give_up(PATCHBAY_E_IO, "the host takes no timer");
}

void TcpTransport::waited() {
    if (core_.over()) return;
    if (socket_ >= 0)
        attempt_failed("no answer within connect_timeout_ms");
    else
        attempt();
}

void TcpTransport::drop_socket() {
    core_.end(socket_watch_);
    timer_.stop();
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

// ---- messages

patchbay_status TcpTransport::send(const patchbay_message& message, sdk::Body body) {
    const Turn turn(core_);
    const bool ready = open_ && !closing_ && !core_.over();
    return ready ? stream_.send(message.exchange, std::move(body)) : PATCHBAY_E_CLOSED;
}

void TcpTransport::cancel(std::uint64_t exchange) {
    const Turn turn(core_);
    stream_.cancel(exchange);
}

void TcpTransport::resume() {
    const Turn turn(core_);
    stream_.resume();
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
    core_.end(lookup_watch_);
    drop_socket();
    stream_.end_writing();
    stream_.end_reading();
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
    stream_.drain();  // what it said last may be there and not read yet
    const auto text = child_.describe_exit() + cut_off_;
    if (exit_tells_more_ && child_.left_by_itself()) core_.explain(text);
    give_up(PATCHBAY_E_CLOSED, text);
}

}  // namespace patchbay::tcp
