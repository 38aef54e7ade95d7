// Messages and control frames out of the bytes of a WebSocket server, cut anywhere. No I/O.
//
// Threads: [value].
// Errors:  FrameFault; the decoder is of no use afterwards.
// Limits:  `most` bytes of a message, judged by the head of each of its frames before any of that
//          frame is kept; room is made for what has come, never for a length that was announced.
// Follows: RFC 6455 sections 5 to 8, as a client without extensions.
#pragma once

#include "frame.hpp"
#include "net/trouble.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::ws {

// What is wrong with a frame, and the code of the close frame that tells the server.
struct FrameFault : net::Trouble {
    FrameFault(patchbay_status its_code, std::string its_text, CloseCode its_close_code)
        : Trouble(its_code, std::move(its_text)), close_code(its_close_code) {}

    CloseCode close_code;
};

struct Received {
    Opcode kind;              // Text: a whole message; Ping; Close
    std::string payload;      // of Close: its reason
    unsigned close_code = 0;  // 0: none was given
};

class FrameDecoder {
public:
    explicit FrameDecoder(std::size_t most) : most_(most) {}

    // Takes off the front of `bytes` all up to the end of the next message, ping or close frame, and
    // every frame that ends off `frames`, down to none. Nothing: that was all of them, and more is to
    // come, or `frames` is 0. Pongs and empty messages are passed over.
    std::optional<Received> next(std::string_view& bytes, std::size_t& frames);

    // The number of the frame that has begun and is not whole; 0: there is none.
    std::uint64_t open_frame() const { return head_size_ > 0 ? frames_ : 0; }
    // What came last ends inside a frame, or between two of the same message.
    bool unfinished() const { return head_size_ > 0 || in_message_; }

private:
    std::size_t whole_head() const;  // bytes, as far as is known
    std::uint64_t length() const;    // of the payload, once the head is whole
    void judge_head();
    std::optional<Received> end_frame();
    Received closed();

    const std::size_t most_;
    std::array<unsigned char, 10> head_{};  // of the frame that is open
    std::size_t head_size_ = 0;
    std::uint64_t frames_ = 0;
    bool judged_ = false;     // its head is whole and was found good
    std::uint64_t left_ = 0;  // of its payload, from then on
    bool in_message_ = false;
    std::string message_;  // of its frames so far
    std::string control_;  // the payload of a control frame, which may come within a message
};

}  // namespace patchbay::ws
