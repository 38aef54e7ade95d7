// Whose turn it is to read on, of the exchanges of a channel that have something to read: so much of
// all of them in a round of the reactor, one after the other; and none while the host wants no more.
//
// Owns:    who is in line. Borrows core and owner.
// Threads: inside a turn of the core.
// Errors:  what a turn throws ends the channel of the core.
// Limits:  about kBytesATurn of all answers in a round.
#pragma once

#include "channel_core.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

namespace patchbay::net {

class Task;

class TurnsOwner {
public:
    // It reads on.
    virtual void take_turn(const std::shared_ptr<Task>& task) = 0;

protected:
    ~TurnsOwner() = default;
};

class Turns {
public:
    static constexpr std::size_t kBytesATurn = 256u << 10;

    Turns(transport::ChannelCore& core, TurnsOwner& owner) : core_(core), owner_(owner) {}
    Turns(const Turns&) = delete;

    // It has its turn behind those that came before it.
    void queue(const std::shared_ptr<Task>& task);
    // While paused() it may have something to read: resume() gives it back.
    void hold(const std::shared_ptr<Task>& task);
    void pause() { paused_ = true; }
    bool paused() const { return paused_; }
    std::vector<std::shared_ptr<Task>> resume();
    // What was unpacked just now, and whether that was enough for this round.
    void spend(std::size_t bytes);
    bool spent() const { return unpacked_ >= kBytesATurn; }
    // Nobody has a turn any more.
    void stop();

private:
    void call_back(transport::ChannelCore::Posted fn);
    static void on_called(void* ctx) noexcept;
    static void on_resumed(void* ctx) noexcept;

    transport::ChannelCore& core_;
    TurnsOwner& owner_;
    std::vector<std::shared_ptr<Task>> held_;
    std::deque<std::shared_ptr<Task>> in_line_;
    std::size_t unpacked_ = 0;  // bytes of answers since the last on_resumed()
    bool paused_ = false;
    bool called_ = false;  // on_resumed() will come, or goes on
};

}  // namespace patchbay::net
