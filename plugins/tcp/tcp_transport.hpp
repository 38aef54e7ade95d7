// The tcp transport: newline-framed JSON over one TCP connection, as the stdio binding (MCP
// 2026-07-28 basic/transports/stdio, which works unchanged over TCP connections).
//
// Life:    open starts `command` if there is one and resolves `host` -> connects, with back-off ->
//          opened -> lines -> close -> the command's tree is gone -> closed.
// Threads: as patchbay_transport, with any thread for each call; all I/O on the host's reactor, but
//          for the thread that asks the system's resolver.
// Limits:  kAttempts rounds over all addresses without a command; with one, kAttemptsOfCommand while
//          it lives.
#pragma once

#include "address.hpp"
#include "channel_core.hpp"
#include "child.hpp"
#include "line_stream.hpp"
#include "retry.hpp"
#include "timer.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::tcp {

class TcpTransport final : public sdk::Channel,
                           private transport::ChannelCore::Owner,
                           private transport::LineStream::Listener,
                           private transport::Child::Listener {
public:
    static constexpr unsigned kAttempts = 5;
    static constexpr std::chrono::milliseconds kFirstDelay{100}, kMostDelay{10'000};
    // Our own command is about to listen: it is asked often.
    static constexpr std::chrono::milliseconds kFirstDelayOfCommand{5}, kMostDelayOfCommand{200};
    static constexpr unsigned kAttemptsOfCommand = 150;  // half a minute of refusals

    static std::unique_ptr<sdk::Channel> open(const patchbay_open_params& params);
    ~TcpTransport() override;

    patchbay_status send(const patchbay_message& message, sdk::Body body) override;
    void cancel(std::uint64_t exchange) override;
    void resume() override;
    void close() override;

private:
    TcpTransport(const patchbay_open_params& params, const sdk::Config& config);
    static void on_resolved(void* self, std::uint32_t events) noexcept;
    static void on_connect_ready(void* self, std::uint32_t events) noexcept;
    static void on_close_posted(void* self) noexcept;

    void look_up();
    void choose(const Resolved& resolved);  // throws Failure when none may be used
    void begin();
    void attempt();
    // Why it failed at once; nothing: it is under way, or there.
    std::optional<std::string> connect_to(const Address& address);
    bool connected_to_itself() const;
    void connected();
    void attempt_failed(const std::string& why);  // the one that is under way
    void round_failed(const std::string& why);
    void wait(std::chrono::milliseconds delay);
    void waited();
    void drop_socket();

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

    const std::string name_;
    const unsigned port_;
    const bool allow_remote_, has_command_;
    const std::chrono::milliseconds connect_timeout_, grace_;

    std::optional<Lookup> lookup_;
    patchbay_op lookup_watch_ = 0;
    std::vector<Address> addresses_;
    std::size_t next_address_ = 0;
    transport::Retry rounds_;  // over all addresses
    int socket_ = -1;
    patchbay_op socket_watch_ = 0;
    // Of the attempt while there is a socket, else of the wait for the next.
    transport::Timer timer_{core_, [this] { waited(); }};
    bool open_ = false, closing_ = false;
    bool exit_tells_more_ = false;  // than what is given as the reason so far
    std::string cut_off_;           // what input ended in the middle of
};

}  // namespace patchbay::tcp
