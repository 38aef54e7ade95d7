// Newline-framed JSON over two descriptors, on the host's reactor: the framing that stdio and tcp
// share (MCP basic/transports, stdio). No thread, no blocking call.
//
//   reading  one read() a readiness, none while whole lines of the last are left; lines are handed on as
//            slices of what was read; a line that no JSON object or batch begins is stray output; a PAUSE
//            stops reading until resume()
//   writing  send() only queues; one writev() at the end of the reactor's round carries all of it
//
// Owns:    both descriptors, once started. Borrows core and listener.
// Threads: inside a turn of the core; start(), send(), cancel() and resume() on any thread, the
//          rest on the reactor's.
// Errors:  told once to the listener; that direction is over then.
// Limits:  LineReader and WriteQueue; kLinesPerRound or kBytesPerRound, then others have
//          their turn. A pipe that one long line filled holds kWidePipeBytes from then on.
#pragma once

#include "channel_core.hpp"
#include "line_reader.hpp"
#include "timer.hpp"
#include "write_queue.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace patchbay::transport {

class LineStream {
public:
    class Listener {
    public:
        // So many bytes came; what is in them follows.
        virtual void input_read(std::size_t bytes) { static_cast<void>(bytes); }
        // The peer closed its side and every whole line was handed on; `rest` was cut off.
        virtual void input_ended(std::string_view rest) = 0;
        virtual void input_broken(patchbay_status code, const std::string& text) = 0;
        // The peer takes no more; every queued message is done.
        virtual void output_broken(int error) = 0;

    protected:
        ~Listener() = default;
    };

    LineStream(ChannelCore& core, Listener& listener)
        : core_(core),
          listener_(listener),
          round_timer_(core, [this] { go_on(); }),
          reader_(core.message_bytes()) {}
    ~LineStream();
    LineStream(const LineStream&) = delete;

    // Takes the descriptors (twice the same is fine) and begins to read. False: the host cannot
    // watch them.
    bool start(int reading, int writing);

    patchbay_status send(std::uint64_t exchange, sdk::Body body);
    void cancel(std::uint64_t exchange);
    void resume();

    // Drops what the peer says from now on, so that a pause keeps it from nothing.
    void discard();
    // Reads what is there to its end, without waiting for more; then input_ended() as usual.
    void drain();
    // Writes what the kernel takes at once; the other messages are done with E_CLOSED. The peer
    // sees the end of its input.
    void end_writing();
    void end_reading();
    bool reading() const { return reading_ >= 0; }

private:
    enum class Input { Got, Nothing, Ended };

    static void on_readable(void* self, std::uint32_t events) noexcept;
    static void on_writable(void* self, std::uint32_t events) noexcept;
    static void on_flush(void* self) noexcept;

    Input read_once();
    void widen(std::size_t got);
    void take_input();
    void go_on();
    void deliver();
    void hand_on(std::string_view line);
    bool next_round();
    void flush();
    bool write_some();
    void await_writable();
    void fail(patchbay_status code, const std::string& text);

    ChannelCore& core_;
    Listener& listener_;
    int reading_ = -1, writing_ = -1;
    patchbay_op read_watch_ = 0, write_watch_ = 0;
    Timer round_timer_;
    LineReader reader_;
    WriteQueue queue_;
    std::size_t drained_ = 0;
    bool paused_ = false, discarding_ = false, draining_ = false, ended_ = false;
    bool flush_posted_ = false, blocked_ = false, socket_ = false, widened_ = false;
};

}  // namespace patchbay::transport
