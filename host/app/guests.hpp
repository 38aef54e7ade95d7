// Everybody who has connected to the host that runs.
//
// Owns:    their connections. Borrows the host, the seat, the person's caller, the switch and the reload.
// Threads: [loop].
// Errors:  one that goes wrong ends alone. Of another user's process nothing is read.
// Limits:  kGuests; more are refused with a line that says so. What all of them make us keep is kAllBytes:
//          beyond it whoever makes us keep most is cut off.
#pragma once

#include "app/guest_connection.hpp"
#include "app/meeting_point.hpp"
#include "core/lifetime.hpp"
#include "core/timer.hpp"
#include "core/watch.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace patchbay::app {

class Guests final : public GuestConnection::Desk {
public:
    static constexpr std::size_t kGuests = 1'000;
    static constexpr std::size_t kAllBytes = 256u << 20;

    // `welcome`: what each is told.
    Guests(Host& host, Seat& seat, LocalCaller& person, ServerSwitch& server_switch, Reload& reload,
           std::function<Welcome(const Hello&)> welcome);
    ~Guests();  // they are cut off
    Guests(const Guests&) = delete;

    // At a new socket of the seat: where the file of the one before is gone.
    Result<void> listen_anew();
    // Nobody new, and nothing new of those who are there.
    void drain();
    // What they have asked is cancelled, and answered so.
    void interrupt(const std::string& why);
    void interrupt(std::size_t guest, const std::string& why) override;
    void decide(std::size_t guest, std::int64_t number, connection::Approval approval) override;
    // To each client, as the configuration is now.
    void show_anew();
    bool empty() const { return guests_.empty(); }

private:
    struct Row {
        std::unique_ptr<GuestConnection> connection;
        std::size_t bytes = 0;  // as counted in bytes_
        bool leaving = false;
    };

    Host& host() override { return host_; }
    LocalCaller& person() override { return person_; }
    HangUps& hang_ups() override { return hang_ups_; }
    ServerSwitch& server_switch() override { return switch_; }
    Reload& reload() override { return reload_; }
    std::uint64_t configuration_number() const override { return host_.configuration_number(); }
    connection::Callers& callers() override { return host_.callers(); }
    Welcome welcome(const Hello& hello) override { return welcome_(hello); }
    void look_at(GuestConnection& guest) override;
    // Of the commands that speak for the person the one that asked for it.
    connection::Question approve(const connection::Approvable& wanted,
                                 connection::Caller::Decide decide);
    void watch();
    void accept();
    void keep_within_bytes();
    void leave(const GuestConnection* guest);

    Host& host_;
    Seat& seat_;
    LocalCaller& person_;
    ServerSwitch& switch_;
    Reload& reload_;
    const std::function<Welcome(const Hello&)> welcome_;
    HangUps hang_ups_;
    core::Watch watch_{host_.loop()};
    core::Timer pause_;  // of accepting, where there are no descriptors left
    std::map<const GuestConnection*, Row> guests_;
    std::size_t bytes_ = 0, last_number_ = 0;
    bool draining_ = false;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::app
