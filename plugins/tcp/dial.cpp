#include "dial.hpp"

#include <cerrno>
#include <cstring>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace patchbay::tcp {
namespace {

constexpr double kDefaultConnectMs = 10'000, kMostConnectMs = 60'000;

using Core = transport::ChannelCore;

}  // namespace

Dial::Dial(transport::ChannelCore& core, Listener& listener, const sdk::Config& config,
           Listens listens)
    : core_(core),
      listener_(listener),
      host_(config.text("host", "127.0.0.1")),
      port_(static_cast<unsigned>(config.number("port", 0, 1, 65'535))),
      allow_remote_(config.boolean("allow_remote", false)),
      listens_(listens),
      connect_timeout_(static_cast<std::int64_t>(
          config.number("connect_timeout_ms", kDefaultConnectMs, 0, kMostConnectMs))),
      rounds_(listens == Listens::AfterCommand
                  ? transport::Retry(kFirstDelayOfCommand, kMostDelayOfCommand, kAttemptsOfCommand)
                  : transport::Retry(kFirstDelay, kMostDelay, kAttempts)) {
    if (port_ == 0) throw sdk::Failure(PATCHBAY_E_INVALID, "\"port\" is needed");
}

Dial::~Dial() {
    if (socket_ >= 0) ::close(socket_);
}

void Dial::judge() {
    const auto here = resolve_here(host_, port_);
    if (!here.addresses.empty()) addresses_ = usable(here, host_, allow_remote_);
}

void Dial::start() {
    if (addresses_.empty())
        look_up();
    else
        first_round();
}

void Dial::stop() {
    core_.end(lookup_watch_);
    drop_socket();
}

void Dial::look_up() {
    try {
        lookup_.emplace(host_, port_);
    } catch (const std::system_error& error) {
        return fail("cannot resolve host \"" + host_ + "\": " + error.what());
    }
    core_.sink().fact("trouble", "no address of host \"" + host_ + "\" yet");
    if (!core_.watch(lookup_->done_fd(), Core::kReadable, this, on_resolved, lookup_watch_))
        fail("the host cannot watch the look-up of \"" + host_ + "\"");
}

void Dial::on_resolved(void* self, std::uint32_t) noexcept {
    auto& dial = *static_cast<Dial*>(self);
    dial.core_.enter("the answer of the resolver", [&dial] {
        const auto* const answer = dial.lookup_ ? dial.lookup_->answer() : nullptr;
        if (!answer) return;
        dial.core_.end(dial.lookup_watch_);
        if (dial.core_.over()) return;
        try {
            dial.addresses_ = usable(*answer, dial.host_, dial.allow_remote_);
        } catch (const sdk::Failure& failure) {
            // Only a person can say that the place may be used all the same.
            const bool for_good = failure.code() == PATCHBAY_E_DENIED;
            return dial.listener_.dial_failed(failure.code(), failure.what(),
                                              for_good ? 0 : PATCHBAY_ERR_RETRYABLE);
        }
        dial.first_round();
    });
}

// Judged by address, not by name: a name may point anywhere, and elsewhere tomorrow.
std::vector<Address> usable(const Resolved& resolved, const std::string& host, bool allow_remote) {
    if (resolved.addresses.empty()) throw sdk::Failure(PATCHBAY_E_IO, resolved.error);
    std::vector<Address> found;
    for (const auto& address : resolved.addresses) {
        if (allow_remote || address.loopback()) found.push_back(address);
    }
    if (!found.empty()) return found;
    throw sdk::Failure(PATCHBAY_E_DENIED,
                       "host \"" + host + "\" is " + resolved.addresses.front().text() +
                           ", which is not this machine, and plain TCP is neither encrypted nor "
                           "authenticated; set allow_remote = true to connect all the same");
}

void Dial::first_round() {
    if (listens_ == Listens::AfterCommand)
        wait(kFirstDelayOfCommand);
    else
        attempt();
}

// The next address for which something is to be waited for, or the end of the round. DNS says how
// many there are.
void Dial::attempt() {
    if (next_address_ == addresses_.size()) next_address_ = 0;
    for (;;) {
        const auto why = connect_to(addresses_[next_address_++]);
        if (!why) return;
        drop_socket();
        if (next_address_ == addresses_.size()) return round_failed(*why);
    }
}

std::optional<std::string> Dial::connect_to(const Address& address) {
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
        hand_over();
    } else if (core_.watch(socket_, Core::kWritable, this, on_connect_ready, socket_watch_)) {
        core_.sink().fact("trouble", "no answer from " + address.text());
        wait(connect_timeout_);
    } else {
        return "the host cannot watch the socket";
    }
    return std::nullopt;
}

void Dial::on_connect_ready(void* self, std::uint32_t) noexcept {
    auto& dial = *static_cast<Dial*>(self);
    dial.core_.enter("the end of an attempt to connect", [&dial] {
        if (!dial.socket_watch_) return;
        int error = 0;
        socklen_t size = sizeof error;
        ::getsockopt(dial.socket_, SOL_SOCKET, SO_ERROR, &error, &size);
        if (error) return dial.attempt_failed(std::strerror(error));
        if (dial.connected_to_itself()) return dial.attempt_failed("nobody listens");
        dial.hand_over();
    });
}

// A port of the ephemeral range that nobody listens on can be connected to itself.
bool Dial::connected_to_itself() const {
    const auto& peer = addresses_[next_address_ - 1];
    Address ours;
    ours.size = sizeof ours.storage;
    return ::getsockname(socket_, reinterpret_cast<sockaddr*>(&ours.storage), &ours.size) == 0 &&
           ours.size == peer.size && std::memcmp(&ours.storage, &peer.storage, ours.size) == 0;
}

void Dial::hand_over() {
    core_.end(socket_watch_);
    timer_.stop();
    listener_.connected(std::exchange(socket_, -1), addresses_[next_address_ - 1]);
}

void Dial::attempt_failed(const std::string& why) {
    drop_socket();
    if (next_address_ < addresses_.size()) return attempt();
    round_failed(why);
}

void Dial::round_failed(const std::string& why) {
    const auto first = addresses_.front().text();
    const auto delay = rounds_.failed();
    if (!delay)
        return fail("cannot connect to " + first + " (" + std::to_string(rounds_.failures()) +
                    " attempts): " + why);
    core_.sink().fact("trouble", "cannot connect to " + first + ": " + why);
    wait(*delay);
}

void Dial::wait(std::chrono::milliseconds delay) {
    if (!timer_.start(delay)) fail("the host takes no timer");
}

void Dial::waited() {
    if (core_.over()) return;
    if (socket_ >= 0)
        attempt_failed("no answer within connect_timeout_ms");
    else
        attempt();
}

void Dial::drop_socket() {
    core_.end(socket_watch_);
    timer_.stop();
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

void Dial::fail(const std::string& why) {
    listener_.dial_failed(PATCHBAY_E_IO, why, PATCHBAY_ERR_RETRYABLE);
}

}  // namespace patchbay::tcp
