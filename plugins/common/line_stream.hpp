// Newline-framed JSON over two descriptors, on the host's reactor: the framing that stdio and tcp
// share (MCP basic/transports/stdio). No thread, no blocking call.
//
//   reading  one read() a readiness into a counted chunk; lines are handed on as slices of it, so
//            nothing is copied; a line that no JSON object or batch begins is stray output
//   writing  send() only queues; one writev() at the end of the reactor's round carries all of it
//
// Owns:    the queue and both descriptors given to it. Borrows host, sink, listener.
// Threads: [serial] as the channel that holds it, and the reactor's callbacks, which are the same
//          thread in this host.
// Errors:  told once to Listener::broken; reading and writing are over then.
// Limits:  kMessageBytes a line; the queue pauses its sender at kHighMark, see send().
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include <patchbay/cpp/plugin.hpp>

namespace patchbay::transport {

class LineStream {
public:
    static constexpr std::size_t kMessageBytes = 16u << 20;
    static constexpr std::size_t kHighMark = 1u << 20, kLowMark = 256u << 10;

    class Listener {
    public:
        virtual void ended() = 0;  // the peer closed its side; every whole line was delivered
        virtual void broken(patchbay_status code, const std::string& text) = 0;

    protected:
        ~Listener() = default;
    };

    LineStream(const patchbay_host* host, sdk::Sink sink, Listener& listener);
    ~LineStream();
    LineStream(const LineStream&) = delete;

    // Takes the descriptors (one for both directions is fine) and begins to read.
    void start(int reading, int writing);

    // OK, or PAUSE once kHighMark bytes wait; writable() is told below kLowMark.
    patchbay_status send(std::uint64_t exchange, sdk::Body body);
    // Drops a message that has not begun to leave; its done is E_CANCELLED.
    void cancel(std::uint64_t exchange);
    void resume();
    // No more writing; every queued message is done with E_CLOSED. The peer sees the end of input.
    void stop_writing();
    // Reads what is there to the end, without waiting; then closes the reading side.
    void drain();
    void stop();

private:
    struct Chunk;
    struct Queued {
        std::uint64_t exchange;
        sdk::Body body;
    };

    static void on_readable(void* self, std::uint32_t events) noexcept;
    static void on_writable(void* self, std::uint32_t events) noexcept;
    static void on_posted(void* self) noexcept;

    void post();
    bool read_once();            // false: nothing more to read now
    void deliver();              // whole lines, until paused or the round's share is used up
    bool hand_on(const char* line, std::size_t size);
    void make_room();
    void flush();
    void fail(patchbay_status code, const std::string& text);

    const patchbay_host* host_;
    const patchbay_host_reactor* reactor_;
    sdk::Sink sink_;
    Listener& listener_;

    int reading_ = -1, writing_ = -1;
    patchbay_op read_watch_ = 0, write_watch_ = 0;
    Chunk* chunk_ = nullptr;
    std::size_t begin_ = 0, scanned_ = 0, end_ = 0;  // in the chunk: line start, searched to, filled to
    bool paused_ = false, ended_ = false, failed_ = false;

    std::deque<Queued> queue_;
    std::size_t queued_bytes_ = 0;
    std::size_t written_ = 0;    // of the first queued message and its newline
    bool told_pause_ = false, blocked_ = false, posted_ = false;

    struct Alive;                // posted work outlives us; this says whether we are still there
    Alive* alive_;
};

}  // namespace patchbay::transport
