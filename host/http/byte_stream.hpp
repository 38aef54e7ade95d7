// The bytes of one connection of a server, plain or by TLS. Nothing here waits.
//
// Owns:    the socket.
// Threads: [loop].
// Errors:  a connection that broke is over; why is nobody's business.
#pragma once

#include "core/descriptor.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace patchbay::http {

class ByteStream {
public:
    // Pieces of what is to be written, in order.
    using Pieces = std::span<const std::string_view>;

    virtual ~ByteStream() = default;
    virtual int fd() const = 0;
    // How many bytes came; 0: that was the end; nothing: none so far. `size` is at least kPiece.
    virtual std::optional<std::size_t> read(char* into, std::size_t size) = 0;
    // How many were taken, 0: none now; nothing: it is over. What was not taken comes again, first.
    virtual std::optional<std::size_t> write(Pieces pieces) = 0;
    // Reading goes on when the socket can be written.
    virtual bool reads_by_writing() const { return false; }
    // Both sides know that they understand each other.
    virtual bool ready() const { return true; }
    // Nothing more is written.
    virtual void end() = 0;

    static constexpr std::size_t kPiece = 16u << 10;  // what TLS hands over at once
};

std::unique_ptr<ByteStream> plain_stream(core::Descriptor socket);

// How connections that were accepted become streams.
class Streams {
public:
    virtual std::unique_ptr<ByteStream> stream_of(core::Descriptor socket) = 0;

protected:
    ~Streams() = default;
};

}  // namespace patchbay::http
