// What a peer says, line by line: one half of a LineStream.
//
//   one read() a readiness, none while whole lines of the last are left; lines are handed on as slices of what was
//   read; a line that no JSON object or batch begins is stray output; a PAUSE stops reading until resume()
//
// Owns:    a share of its descriptor, once started. Borrows core and listener.
// Threads: inside a turn of the core; start() and resume() on any thread, the rest on the reactor's.
// Errors:  told once to the listener; then it is over.
// Limits:  LineReader's; kLinesPerRound or kBytesPerRound, then others have their turn. A pipe that one long line filled
//          holds kWidePipeBytes from then on.
#pragma once

#include "channel_core.hpp"
#include "line_reader.hpp"
#include "shared_descriptor.hpp"
#include "timer.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace patchbay::transport {

class IncomingLines {
public:
    class Listener {
    public:
        // So many bytes came; what is in them follows.
        virtual void input_read(std::size_t bytes) { static_cast<void>(bytes); }
        // The peer closed its side and every whole line was handed on; `rest` was cut off.
        virtual void input_ended(std::string_view rest) = 0;
        virtual void input_broken(patchbay_status code, const std::string& text) = 0;

    protected:
        ~Listener() = default;
    };

    IncomingLines(ChannelCore& core, Listener& listener)
        : core_(core),
          listener_(listener),
          round_timer_(core, [this] { go_on(); }),
          reader_(core.message_bytes()) {}
    IncomingLines(const IncomingLines&) = delete;

    // False: the host cannot watch it.
    bool start(SharedDescriptor from);
    bool open() const { return from_.open(); }
    void resume();
    // Drops what the peer says from now on, so that a pause keeps it from nothing.
    void discard();
    // Reads what is there to its end, without waiting for more; then input_ended() as usual.
    void drain();
    void end();

private:
    enum class Input { Got, Nothing, Ended };

    static void on_readable(void* self, std::uint32_t events) noexcept;

    Input read_once();
    void widen(std::size_t got);
    void take_input();
    void go_on();
    void deliver();
    void hand_on(std::string_view line);
    bool next_round();
    void fail(patchbay_status code, const std::string& text);

    ChannelCore& core_;
    Listener& listener_;
    SharedDescriptor from_;
    patchbay_op watch_ = 0;
    Timer round_timer_;
    LineReader reader_;
    std::size_t drained_ = 0;
    bool paused_ = false, discarding_ = false, draining_ = false, ended_ = false, widened_ = false;
};

}  // namespace patchbay::transport
