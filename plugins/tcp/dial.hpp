// How a connection to the server comes to be: its name becomes addresses, those that may be used are
// tried in turn, round after round with a back-off, until one takes the connection.
//
// Owns:    the look-up, the socket that is connecting and the timer. Borrows core and listener.
// Life:    judge() -> start() -> connected() or dial_failed(), once; or stop().
// Threads: inside a turn of the core; stop() on the reactor's thread. A thread of its own asks the system's
//          resolver.
// Errors:  told once to the listener.
// Limits:  kAttempts rounds over all addresses; where a command is to listen, kAttemptsOfCommand.
#pragma once

#include "address.hpp"
#include "channel_core.hpp"
#include "retry.hpp"
#include "timer.hpp"

#include <patchbay/cpp/json.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::tcp {

class Dial {
public:
    static constexpr unsigned kAttempts = 5;
    static constexpr std::chrono::milliseconds kFirstDelay{100}, kMostDelay{10'000};
    // Our own command is about to listen: it is asked often.
    static constexpr std::chrono::milliseconds kFirstDelayOfCommand{5}, kMostDelayOfCommand{200};
    static constexpr unsigned kAttemptsOfCommand = 150;  // half a minute of refusals

    class Listener {
    public:
        // `socket` is the listener's from now on.
        virtual void connected(int socket, const Address& peer) = 0;
        virtual void dial_failed(patchbay_status code, const std::string& text,
                                 std::uint32_t flags) = 0;

    protected:
        ~Listener() = default;
    };
    enum class Listens { Already, AfterCommand };

    // Throws Failure where the configuration names no place.
    Dial(transport::ChannelCore& core, Listener& listener, const sdk::Config& config,
         Listens listens);
    ~Dial();
    Dial(const Dial&) = delete;

    // What can be known of the place without asking anybody: throws Failure when it may not be used, so
    // that no command is started for it.
    void judge();
    void start();
    void stop();

private:
    static void on_resolved(void* self, std::uint32_t events) noexcept;
    static void on_connect_ready(void* self, std::uint32_t events) noexcept;

    void look_up();
    void first_round();
    void attempt();
    // Why it failed at once; nothing: it is under way, or there.
    std::optional<std::string> connect_to(const Address& address);
    bool connected_to_itself() const;
    void hand_over();
    void attempt_failed(const std::string& why);  // the one that is under way
    void round_failed(const std::string& why);
    void wait(std::chrono::milliseconds delay);
    void waited();
    void drop_socket();
    void fail(const std::string& why);

    transport::ChannelCore& core_;
    Listener& listener_;
    const std::string host_;
    const unsigned port_;
    const bool allow_remote_;
    const Listens listens_;
    const std::chrono::milliseconds connect_timeout_;

    std::optional<Lookup> lookup_;
    patchbay_op lookup_watch_ = 0;
    std::vector<Address> addresses_;
    std::size_t next_address_ = 0;
    transport::Retry rounds_;  // over all addresses
    int socket_ = -1;
    patchbay_op socket_watch_ = 0;
    // Of the attempt while there is a socket, else of the wait for the next.
    transport::Timer timer_{core_, [this] { waited(); }};
};

// Those of `resolved` that `host` may be reached at: plain TCP is neither encrypted nor authenticated, so
// `allow_remote` has to be said for what is not this machine. Throws Failure where none is left.
std::vector<Address> usable(const Resolved& resolved, const std::string& host, bool allow_remote);

}  // namespace patchbay::tcp
