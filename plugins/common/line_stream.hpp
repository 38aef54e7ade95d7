// Newline-framed JSON over two descriptors, on the host's reactor: the framing that stdio and tcp
// share (MCP basic/transports, stdio). No thread, no blocking call. Each direction is an object of its own and ends by
// itself.
//
// Owns:    both descriptors, once started. Borrows core and listener.
// Threads: as its halves.
#pragma once

#include "incoming_lines.hpp"
#include "outgoing_lines.hpp"

namespace patchbay::transport {

struct LineStream {
    class Listener : public IncomingLines::Listener, public OutgoingLines::Listener {
    protected:
        ~Listener() = default;
    };

    LineStream(ChannelCore& core, Listener& listener) : in(core, listener), out(core, listener) {}

    // Takes the descriptors (twice the same is fine) and begins to read. False: the host cannot
    // watch them.
    bool start(int reading, int writing) {
        const SharedDescriptor from(reading);
        out.start(reading == writing ? from.other() : SharedDescriptor(writing));
        return in.start(from);
    }

    IncomingLines in;
    OutgoingLines out;
};

}  // namespace patchbay::transport
