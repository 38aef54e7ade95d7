// A connection that is up, plain or TLS, as bytes in and out. Nothing here waits: it sends what the
// socket takes and reads what has come, so any thread may do it.
//
// Owns:    the socket.
// Threads: one at a time.
// Errors:  Trouble from receive(); what goes wrong while sending is told there as well, since the
//          peer may have said something before.
#pragma once

#include "net/dial.hpp"

#include <chrono>
#include <optional>
#include <string_view>

namespace patchbay::net {

class ByteStream {
public:
    // As large as a TLS record: a piece never leaves bytes behind that no watch tells of.
    static constexpr std::size_t kPiece = 16u << 10;

    explicit ByteStream(Dialed dialed);
    ByteStream(const ByteStream&) = delete;

    int fd() const { return dialed_.fd(); }
    bool secure() const { return secure_; }
    const std::optional<Proxy>& proxy() const { return dialed_.proxy; }

    // How many of them were taken; nothing: the connection takes no more. Over TLS what was not
    // taken must come again, the same bytes at the same place, and part of it may have left.
    std::optional<std::size_t> write(std::string_view bytes);
    // It goes on when the socket is writable.
    bool wants_to_write() const { return blocked_ || answer_blocked_; }
    // What has come, in `buffer`; nothing: not yet; empty: that was the end. Throws when the
    // connection broke.
    std::optional<std::string_view> receive(char (&buffer)[kPiece]);

    // From now on the kernel ends the connection when the peer takes nothing of what waits for so
    // long; 0: it need not. Of TCP alone.
    void limit_standstill(std::chrono::milliseconds time);
    // Shuts it down, which a watch of it notices.
    void end();

private:
    Dialed dialed_;
    const bool secure_;
    bool blocked_ = false;
    bool answer_blocked_ = false;  // what TLS itself has to say before there is more to receive
};

}  // namespace patchbay::net
