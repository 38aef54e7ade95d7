#include "connection/supervisor.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace patchbay::connection {

namespace {

constexpr std::chrono::seconds kMostPatience{300};  // that a server may ask for

}  // namespace

Supervisor::Supervisor(const core::TimeSource& time, const Terms& terms,
                       const config::Server& server)
    : time_(time), terms_(terms), server_(server) {}

bool Supervisor::want() {
    switch (phase_) {
        case Phase::Failed:
            attempts_ = 0;  // its row of attempts was at its end: who asks begins another
            return true;
        case Phase::Idle:
        case Phase::BackingOff:
        case Phase::AuthRequired:
            return true;
        case Phase::Waiting:
        case Phase::Attempting:
        case Phase::MovingOn:
        case Phase::Ready:
        case Phase::Leaving:
        case Phase::Stopping:
        case Phase::Stopped:
            return false;
    }
    return false;
}

bool Supervisor::is_on_its_way() const {
    return phase_ == Phase::Waiting || phase_ == Phase::Attempting || phase_ == Phase::MovingOn;
}

std::optional<std::chrono::milliseconds> Supervisor::on_its_way() const {
    if (is_queued()) return std::chrono::milliseconds(0);
    if (!is_on_its_way()) return {};
    return std::chrono::duration_cast<std::chrono::milliseconds>(time_.now() - set_out_at_);
}

std::optional<Starting> Supervisor::starting(const std::string& last_said) const {
    const auto taken = on_its_way();
    if (!taken) return {};
    return Starting{*taken, server_.startup_timeout, last_said, is_queued()};
}

// Another transport or era that is tried is the same way; who waits for others has not set out.
void Supervisor::set_out() {
    if (!is_on_its_way() || is_queued()) set_out_at_ = time_.now();
}

void Supervisor::queue() {
    phase_ = Phase::Waiting;
    shown_ = starting();
}

void Supervisor::attempt() {
    set_out();
    phase_ = Phase::Attempting;
    shown_ = starting();
    patience_ = {};
}

void Supervisor::move_on() {
    phase_ = Phase::MovingOn;
}

void Supervisor::ready() {
    phase_ = Phase::Ready;
    shown_ = State::Ready;
    ready_at_ = time_.now();
    served_ = true;
}

void Supervisor::renew() {
    set_out();
    if (is_ready()) shown_ = State::Reconnecting;
    phase_ = Phase::Attempting;
}

void Supervisor::lose(const Error& error) {
    was_ready();
    const bool stopping = is_closing();
    shown_ = error.code == ErrorCode::AuthRequired ? State::AuthRequired
             : !stopping && comes_back(error)      ? State::Reconnecting
                                                   : State::Failed;
    failed_at_ = time_.now();
    if (!stopping) phase_ = Phase::Leaving;
}

// Not counted among those that failed: the channel still runs, and nothing may be opened beside it.
void Supervisor::give_up() {
    phase_ = Phase::Leaving;
    shown_ = State::Error;
    failed_at_ = time_.now();
}

void Supervisor::rest() {
    phase_ = Phase::Idle;
    shown_ = State::Idle;
}

bool Supervisor::rests() const {
    return terms_.long_lived && server_.restart == config::Restart::OnFailure;
}

void Supervisor::fail(const Error& error, Retry retry) {
    const bool again = retry == Retry::Worthwhile && comes_back(error);
    const bool refused = error.code == ErrorCode::AuthRequired;
    phase_ = refused ? Phase::AuthRequired : again ? Phase::BackingOff : Phase::Failed;
    shown_ = refused                      ? State::AuthRequired
             : again                      ? State::Reconnecting
             : retry == Retry::Worthwhile ? State::Failed
                                          : State::Error;
    failed_at_ = time_.now();
}

void Supervisor::stop() {
    phase_ = Phase::Stopping;
}

void Supervisor::stopped() {
    phase_ = Phase::Stopped;
    shown_ = State::Stopped;
}

std::chrono::milliseconds Supervisor::pause() {
    assert(phase_ == Phase::BackingOff);
    const auto doubled = terms_.health.reconnect_first * (1u << std::min(attempts_, 16u));
    prompt_ = std::exchange(served_, false) && attempts_ == 0 && patience_.count() == 0;
    ++attempts_;
    return std::max(std::min(doubled, terms_.health.reconnect_most),
                    std::min<std::chrono::milliseconds>(patience_, kMostPatience));
}

// One that falls over right after each start counts its attempts on.
void Supervisor::was_ready() {
    if (is_ready() && time_.now() - ready_at_ >= terms_.health.stable) attempts_ = 0;
}

bool Supervisor::comes_back(const Error& error) const {
    return error.code != ErrorCode::AuthRequired && terms_.long_lived &&
           server_.restart != config::Restart::Never &&
           attempts_ < terms_.health.reconnect_attempts;
}

bool Supervisor::wakes() const {
    return phase_ == Phase::Idle || (phase_ == Phase::Failed && !stays_down()) ||
           phase_ == Phase::AuthRequired || (phase_ == Phase::BackingOff && prompt_);
}

// A caller that tries again and again would otherwise start a program that fails as often.
bool Supervisor::refuses() const {
    const bool dead =
        shown_ == State::Failed || shown_ == State::Error || shown_ == State::AuthRequired;
    return dead && time_.now() - failed_at_ < terms_.health.reconnect_most;
}

// Whoever looks at it, or calls it, starts nothing that its user wants to stay down. Who has signed in meanwhile is let
// through. In a command that does one thing nothing has been down before.
bool Supervisor::stays_down() const {
    return must_stay_down() && phase_ == Phase::Failed;
}

bool Supervisor::must_stay_down() const {
    return terms_.long_lived && server_.restart == config::Restart::Never;
}

}  // namespace patchbay::connection
