// What is said to a peer, a message a line: the other half of a LineStream. send() only queues; one writev() at the end of
// the reactor's round carries all of it.
//
// Owns:    a share of its descriptor, once started. Borrows core and listener.
// Threads: inside a turn of the core; start(), send() and cancel() on any thread, the rest on the reactor's.
// Errors:  told once to the listener; then it is over.
// Limits:  WriteQueue's.
#pragma once

#include "channel_core.hpp"
#include "shared_descriptor.hpp"
#include "write_queue.hpp"

#include <cstdint>

namespace patchbay::transport {

class OutgoingLines {
public:
    class Listener {
    public:
        // The peer takes no more; every queued message is done.
        virtual void output_broken(int error) = 0;

    protected:
        ~Listener() = default;
    };

    OutgoingLines(ChannelCore& core, Listener& listener) : core_(core), listener_(listener) {}
    OutgoingLines(const OutgoingLines&) = delete;

    void start(SharedDescriptor to);
    patchbay_status send(std::uint64_t exchange, sdk::Body body);
    void cancel(std::uint64_t exchange);
    // Writes what the kernel takes at once; the other messages are done with E_CLOSED. The peer
    // sees the end of its input.
    void end();

private:
    static void on_writable(void* self, std::uint32_t events) noexcept;
    static void on_flush(void* self) noexcept;

    void flush();
    bool write_some();
    void await_writable();

    ChannelCore& core_;
    Listener& listener_;
    SharedDescriptor to_;
    patchbay_op watch_ = 0;
    WriteQueue queue_;
    bool flush_posted_ = false, blocked_ = false;
};

}  // namespace patchbay::transport
