// The tcp transport: newline-framed JSON over one TCP connection, as the stdio binding (MCP 2026-07-28
// basic/transports/stdio, "works unchanged over ... TCP connections").
//
// Life:    open resolves (a name other than localhost on a thread of its own, because resolvers
//          block), starts `command` if there is one, connects with back-off -> opened -> lines -> close.
// Threads: [serial] and the host's reactor; the resolving thread only posts.
// Limits:  kAttempts without a command; with one, while it lives, until kPatience.
#pragma once

#include <netinet/in.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "child.hpp"
#include "line_stream.hpp"

namespace patchbay::tcp {

struct Address {
    sockaddr_storage storage{};
    socklen_t size = 0;
    std::string text;            // "127.0.0.1:7000"
    bool loopback() const;
};

// Blocks unless `host` is numeric or "localhost". Empty: `error` says why.
std::vector<Address> resolve(const std::string& host, unsigned port, bool numeric_only, std::string& error);

class TcpTransport final : public sdk::Channel,
                           private transport::LineStream::Listener,
                           private transport::Child::Listener {
public:
    static constexpr unsigned kAttempts = 5;
    static constexpr std::chrono::milliseconds kFirstDelay{100}, kMostDelay{10'000}, kPatience{60'000};

    static std::unique_ptr<sdk::Channel> open(const patchbay_open_params& params);
    ~TcpTransport() override;

    patchbay_status send(const patchbay_message& message, sdk::Body body) override;
    void cancel(std::uint64_t exchange) override { stream_.cancel(exchange); }
    void resume() override { stream_.resume(); }
    void close() override;

private:
    struct Lookup;               // shared with the resolving thread

    explicit TcpTransport(const patchbay_open_params& params);
    static void on_resolved(void* lookup) noexcept;
    static void on_connect_ready(void* self, std::uint32_t events) noexcept;
    static void on_timer(void* self, patchbay_status status) noexcept;
    static void on_child_output(void* self, std::uint32_t events) noexcept;

    void resolved(std::vector<Address> addresses, const std::string& error);
    void attempt();
    void connected();
    void attempt_failed(const std::string& why);
    void drop_socket();
    void drop_child_output();
    void ended() override;
    void broken(patchbay_status code, const std::string& text) override;
    void child_exited(int code) override;
    void give_up(patchbay_status code, std::string text);  // then closed, once the child is gone
    void finish();

    const patchbay_host* host_;
    const patchbay_host_reactor* reactor_;
    sdk::Sink sink_;
    transport::LineStream stream_;
    transport::Child child_;
    std::string name_;
    unsigned port_ = 0;
    bool allow_remote_ = false, has_command_ = false;
    std::shared_ptr<Lookup> lookup_;
    std::vector<Address> addresses_;
    std::size_t next_address_ = 0;
    unsigned attempts_ = 0;
    std::chrono::milliseconds delay_ = kFirstDelay;
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    int socket_ = -1;
    patchbay_op socket_watch_ = 0, timer_ = 0, output_watch_ = 0;
    unsigned grace_ms_ = 2000;
    bool open_ = false, over_ = false, asked_to_close_ = false, closed_ = false;
    patchbay_status trouble_ = PATCHBAY_OK;
    std::string trouble_text_;
};

}  // namespace patchbay::tcp
