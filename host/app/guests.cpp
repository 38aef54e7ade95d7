#include "app/guests.hpp"

#include "core/log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace patchbay::app {

namespace {

constexpr int kAcceptsAtOnce = 64;  // of one turn of the loop: guests that are here have theirs too
constexpr std::chrono::milliseconds kAcceptPause{200};

}  // namespace

Guests::Guests(Host& host, Seat& seat, LocalCaller& person, ServerSwitch& server_switch,
               Reload& reload, std::function<Welcome(const Hello&)> welcome)
    : host_(host),
      seat_(seat),
      person_(person),
      switch_(server_switch),
      reload_(reload),
      welcome_(std::move(welcome)),
      hang_ups_(host.loop()),
      pause_(host.loop()) {
    person_.set_approver(
        [this](const auto& wanted, auto decide) { return approve(wanted, std::move(decide)); });
    watch();
}

connection::Question Guests::approve(const connection::Approvable& wanted,
                                     connection::Caller::Decide decide) {
    for (const auto& [guest, row] : guests_)
        if (guest->number() == wanted.about)
            return row.connection->approve(wanted, std::move(decide));
    decide(connection::Approval::NobodyThere);
    return {};
}

void Guests::decide(std::size_t number, std::int64_t approval, connection::Approval given) {
    for (const auto& [guest, row] : guests_)
        if (guest->number() == number) return row.connection->decide(approval, given);
}

void Guests::watch() {
    static_cast<void>(
        watch_.start(seat_.socket(), core::Loop::kReadable, [this](unsigned) { accept(); }));
}

Result<void> Guests::listen_anew() {
    pause_.stop();
    watch_.stop();
    auto listens = seat_.listen();
    if (seat_.socket() >= 0) watch();
    return listens;
}

Guests::~Guests() {
    person_.set_approver({});
}

void Guests::accept() {
    for (int i = 0; i < kAcceptsAtOnce; ++i) {
        core::Descriptor socket(
            ::accept4(seat_.socket(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (socket.get() < 0) {
            if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
            core::log::warn("cannot accept on " + seat_.path() + ": " + std::strerror(errno));
            // Mostly there are no descriptors left: the socket stays readable, and would be asked in each turn.
            watch_.want(0);
            pause_.start(kAcceptPause, [this] { watch_.want(core::Loop::kReadable); });
            return;
        }
        if (const auto stranger = stranger_at(socket.get()); !stranger.empty()) {
            core::log::warn("refused on " + seat_.path() + ": " + stranger);
            continue;
        }
        const bool full = guests_.size() >= kGuests;
        auto guest = std::make_unique<GuestConnection>(*this, std::move(socket), ++last_number_);
        auto* const made = guest.get();
        guests_[made].connection = std::move(guest);
        // Let in to be told so: of a socket that closes a command would guess that no host runs.
        if (full)
            made->refuse({ErrorCode::Limit, std::to_string(kGuests) +
                                                " commands are connected to this host; one more "
                                                "has to wait, or runs alone"});
        look_at(*made);
    }
}

// It may be in the middle of one of its functions: it goes when that has returned.
void Guests::look_at(GuestConnection& guest) {
    const auto found = guests_.find(&guest);
    if (found == guests_.end()) return;  // it is being made
    auto& row = found->second;
    const auto bytes = guest.over() ? 0 : guest.bytes();
    bytes_ += bytes - std::exchange(row.bytes, bytes);
    if (guest.over() && !std::exchange(row.leaving, true))
        host_.loop().defer(lifetime_.guard([this, one = &guest] { leave(one); }));
    if (bytes_ > kAllBytes) keep_within_bytes();
}

void Guests::leave(const GuestConnection* guest) {
    guests_.erase(guest);
}

// Who keeps most goes, alone: the others have done nothing.
void Guests::keep_within_bytes() {
    const auto most = std::max_element(
        guests_.begin(), guests_.end(),
        [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; });
    core::log::warn(
        "a command that does not read its answers is cut off: what all of them make "
        "the host keep is over 256 MiB");
    most->second.connection->cut_off();
}

void Guests::show_anew() {
    std::vector<GuestConnection*> all;  // one that does not read may end by what it is told
    for (const auto& [guest, row] : guests_) all.push_back(row.connection.get());
    for (auto* guest : all) guest->show_anew();
}

void Guests::drain() {
    if (std::exchange(draining_, true)) return;
    pause_.stop();
    watch_.stop();
    std::vector<GuestConnection*> all;  // each may end others
    for (const auto& [guest, row] : guests_) all.push_back(row.connection.get());
    for (auto* guest : all) guest->end_input();
}

void Guests::interrupt(std::size_t number, const std::string& why) {
    for (const auto& [guest, row] : guests_)
        if (guest->number() == number) return row.connection->interrupt(why);
}

void Guests::interrupt(const std::string& why) {
    std::vector<GuestConnection*> all;
    for (const auto& [guest, row] : guests_) all.push_back(row.connection.get());
    for (auto* guest : all) guest->interrupt(why);
}

}  // namespace patchbay::app
