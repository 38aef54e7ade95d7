#include "tcp_transport.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

namespace patchbay::tcp {

namespace {

std::string text_of(const sockaddr_storage& storage, socklen_t size) {
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (::getnameinfo(reinterpret_cast<const sockaddr*>(&storage), size, host, sizeof host, port, sizeof port,
                      NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return "?";
    }
    return (storage.ss_family == AF_INET6 ? "[" + std::string(host) + "]" : std::string(host)) + ":" + port;
}

}  // namespace

bool Address::loopback() const {
    if (storage.ss_family == AF_INET) {
        const auto& v4 = reinterpret_cast<const sockaddr_in&>(storage);
        return (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
    }
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

std::vector<Address> resolve(const std::string& host, unsigned port, bool numeric_only, std::string& error) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV | (numeric_only ? AI_NUMERICHOST : 0);
    addrinfo* list = nullptr;
    const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
    std::vector<Address> addresses;
    if (failed) {
        error = "cannot resolve \"" + host + "\": " + ::gai_strerror(failed);
        return addresses;
    }
    for (const auto* each = list; each; each = each->ai_next) {
        Address address;
        std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
        address.size = each->ai_addrlen;
        address.text = text_of(address.storage, address.size);
        addresses.push_back(std::move(address));
    }
    ::freeaddrinfo(list);
    return addresses;
}

// Outlives the channel if the resolver is slow: then its answer has nobody to go to.
struct TcpTransport::Lookup {
    TcpTransport* transport;      // null: gone; touched on the reactor's thread only
    std::vector<Address> addresses;
    std::string error;
};

std::unique_ptr<sdk::Channel> TcpTransport::open(const patchbay_open_params& params) {
    const sdk::Config config(sdk::view(params.config));
    std::unique_ptr<TcpTransport> channel(new TcpTransport(params));
    channel->name_ = config.text("host", "127.0.0.1");
    channel->port_ = static_cast<unsigned>(config.number("port", 0));
    channel->allow_remote_ = config.boolean("allow_remote", false);
    channel->grace_ms_ = static_cast<unsigned>(config.number("stop_grace_ms", 2000));
    channel->has_command_ = config.find("command") != nullptr;
    if (channel->port_ == 0 || channel->port_ > 65535) {
        throw sdk::Failure(PATCHBAY_E_INVALID, "port must be from 1 to 65535");
    }
    std::string error;
    auto addresses = channel->name_ == "localhost" ? resolve("127.0.0.1", channel->port_, true, error)
                                                   : resolve(channel->name_, channel->port_, true, error);
    if (channel->has_command_) {
        channel->child_.start(config, params.credentials, params.credential_count);
        ::close(std::exchange(channel->child_.stdin_fd, -1));
        channel->reactor_->watch(params.host, channel->child_.stdout_fd, 1, channel.get(), on_child_output,
                                 &channel->output_watch_);
    }
    if (!addresses.empty()) {
        channel->resolved(std::move(addresses), {});
    } else {
        channel->lookup_ = std::make_shared<Lookup>(Lookup{channel.get(), {}, {}});
        std::thread([lookup = channel->lookup_, host = params.host, reactor = channel->reactor_,
                     name = channel->name_, port = channel->port_]() mutable {
            lookup->addresses = resolve(name, port, false, lookup->error);
            auto* handed_over = new std::shared_ptr<Lookup>(std::move(lookup));
            if (reactor->post(host, handed_over, on_resolved) != PATCHBAY_OK) delete handed_over;
        }).detach();
    }
    return channel;
}

TcpTransport::TcpTransport(const patchbay_open_params& params)
    : host_(params.host),
      reactor_(sdk::extension<patchbay_host_reactor>(params.host, PATCHBAY_HOST_REACTOR)),
      sink_(params),
      stream_(params.host, sink_, *this),
      child_(params.host, sink_, *this) {}

TcpTransport::~TcpTransport() {
    if (lookup_) lookup_->transport = nullptr;
    drop_child_output();
    drop_socket();
    if (timer_) reactor_->cancel(host_, std::exchange(timer_, 0));
}

void TcpTransport::on_resolved(void* handed_over) noexcept {
    const std::unique_ptr<std::shared_ptr<Lookup>> lookup(static_cast<std::shared_ptr<Lookup>*>(handed_over));
    if (auto* transport = (*lookup)->transport) {
        transport->resolved(std::move((*lookup)->addresses), (*lookup)->error);
    }
}

void TcpTransport::resolved(std::vector<Address> addresses, const std::string& error) {
    if (over_) return;
    for (auto& address : addresses) {
        if (allow_remote_ || address.loopback()) addresses_.push_back(std::move(address));
    }
    if (!addresses_.empty()) return attempt();
    if (addresses.empty()) return give_up(PATCHBAY_E_IO, error);
    give_up(PATCHBAY_E_DENIED, "\"" + name_ + "\" is " + addresses.front().text +
                                   ", which is not this machine, and plain TCP is neither encrypted nor "
                                   "authenticated; set allow_remote = true to connect all the same");
}

void TcpTransport::attempt() {
    const auto& address = addresses_[next_address_++ % addresses_.size()];
    ++attempts_;
    socket_ = ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket_ < 0) return attempt_failed(std::strerror(errno));
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(socket_, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    const int status = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address.storage), address.size);
    if (status != 0 && errno != EINPROGRESS) return attempt_failed(std::strerror(errno));
    reactor_->watch(host_, socket_, 2, this, on_connect_ready, &socket_watch_);
}

void TcpTransport::on_connect_ready(void* self, std::uint32_t) noexcept {
    auto& transport = *static_cast<TcpTransport*>(self);
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(transport.socket_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error) return transport.attempt_failed(std::strerror(error));
    transport.connected();
}

void TcpTransport::connected() {
    // A port in the ephemeral range with nobody listening can connect to itself.
    sockaddr_storage ours{}, theirs{};
    socklen_t our_size = sizeof ours, their_size = sizeof theirs;
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&ours), &our_size);
    ::getpeername(socket_, reinterpret_cast<sockaddr*>(&theirs), &their_size);
    if (our_size == their_size && std::memcmp(&ours, &theirs, our_size) == 0) {
        return attempt_failed("connected to itself");
    }
    reactor_->cancel(host_, std::exchange(socket_watch_, 0));
    sink_.fact("peer", text_of(theirs, their_size));
    open_ = true;
    const int fd = std::exchange(socket_, -1);
    stream_.start(fd, fd);
    sink_.opened();
}

void TcpTransport::attempt_failed(const std::string& why) {
    drop_socket();
    const bool more_addresses = next_address_ < addresses_.size();
    if (more_addresses) return attempt();
    const bool patient = has_command_ ? child_.running() && std::chrono::steady_clock::now() - begun_ < kPatience
                                      : attempts_ < kAttempts;
    if (!patient) {
        return give_up(PATCHBAY_E_IO, "cannot connect to " + addresses_.front().text + " after " +
                                          std::to_string(attempts_) + " attempts: " + why);
    }
    // A child that is starting wants to be asked often; a remote end does not.
    const auto wait = has_command_ ? std::min(delay_, std::chrono::milliseconds(200)) : delay_;
    delay_ = std::min(delay_ * 2, kMostDelay);
    reactor_->after(host_, static_cast<std::uint64_t>(std::chrono::nanoseconds(wait).count()), this, on_timer, &timer_);
}

void TcpTransport::on_timer(void* self, patchbay_status status) noexcept {
    auto& transport = *static_cast<TcpTransport*>(self);
    transport.timer_ = 0;
    if (status == PATCHBAY_OK && !transport.over_) transport.attempt();
}

// What the program prints is not the protocol here: kept for the log, like its stderr.
void TcpTransport::on_child_output(void* self, std::uint32_t) noexcept {
    auto& transport = *static_cast<TcpTransport*>(self);
    char text[4096];
    const ssize_t got = ::read(transport.child_.stdout_fd, text, sizeof text);
    if (got > 0) {
        std::string_view rest(text, static_cast<std::size_t>(got));
        while (!rest.empty()) {
            const auto end = rest.find('\n');
            if (end != 0) transport.sink_.output(PATCHBAY_OUTPUT_STRAY, rest.substr(0, end));
            rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        }
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        transport.drop_child_output();
    }
}

patchbay_status TcpTransport::send(const patchbay_message& message, sdk::Body body) {
    if (over_ || !open_) return PATCHBAY_E_CLOSED;
    return stream_.send(message.exchange, std::move(body));
}

void TcpTransport::ended() { give_up(PATCHBAY_E_CLOSED, "the server closed the connection"); }
void TcpTransport::broken(patchbay_status code, const std::string& text) { give_up(code, "server " + text); }

void TcpTransport::child_exited(int code) {
    if (!over_) {
        return give_up(PATCHBAY_E_CLOSED, "server process " + transport::describe_exit(code));
    }
    finish();
}

void TcpTransport::close() {
    if (std::exchange(asked_to_close_, true)) return;
    if (!over_) give_up(PATCHBAY_OK, {});
}

void TcpTransport::give_up(patchbay_status code, std::string text) {
    if (std::exchange(over_, true)) return;
    trouble_ = code;
    trouble_text_ = std::move(text);
    drop_socket();
    if (timer_) reactor_->cancel(host_, std::exchange(timer_, 0));
    stream_.stop();
    if (child_.running()) return child_.stop(open_ ? grace_ms_ : 0);
    finish();
}

void TcpTransport::finish() {
    if (std::exchange(closed_, true)) return;
    drop_child_output();
    if (trouble_ == PATCHBAY_OK) return sink_.closed();
    sink_.closed(trouble_, trouble_text_, trouble_ == PATCHBAY_E_DENIED ? 0 : PATCHBAY_ERR_RETRYABLE);
}

void TcpTransport::drop_socket() {
    if (socket_watch_) reactor_->cancel(host_, std::exchange(socket_watch_, 0));
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

void TcpTransport::drop_child_output() {
    if (output_watch_) reactor_->cancel(host_, std::exchange(output_watch_, 0));
    if (child_.stdout_fd >= 0) ::close(std::exchange(child_.stdout_fd, -1));
}

}  // namespace patchbay::tcp
