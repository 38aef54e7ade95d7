// What both ends of a WebSocket call things by. Private to the ws plugin.
//
// Threads: [value]. Follows: RFC 6455 sections 5.2 and 7.4.
#pragma once

#include <cstddef>

namespace patchbay::ws {

enum class Opcode : unsigned char {
    Continuation = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10
};

enum CloseCode : int {
    kNormal = 1000,
    kGoingAway = 1001,
    kProtocolError = 1002,
    kUnsupported = 1003,
    kBadText = 1007,
    kTooBig = 1009
};

constexpr unsigned char kLastBit = 0x80;  // of a frame's first byte: its message ends with it
constexpr unsigned char kMaskBit = 0x80;  // of its second: for clients
// What is beyond a length of 125 stands in the two or eight bytes behind it.
constexpr unsigned kTwoByteLength = 126, kEightByteLength = 127;
constexpr std::size_t kControlBytes = 125;  // the most in a control frame

}  // namespace patchbay::ws
