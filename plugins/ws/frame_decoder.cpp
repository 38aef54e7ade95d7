#include "frame_decoder.hpp"

#include "utf8.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::ws {
namespace {

constexpr unsigned char kOpcodeBits = 0x0f, kReservedBits = 0x70;

[[noreturn]] void refuse(const char* what) {
    throw FrameFault(PATCHBAY_E_PROTOCOL, std::string("the server sent ") + what, kProtocolError);
}

// Section 7.4: what may be sent.
bool is_close_code(unsigned code) {
    if (code >= 3000) return code < 5000;
    return code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
}

bool is_control(Opcode opcode) {
    return opcode == Opcode::Close || opcode == Opcode::Ping || opcode == Opcode::Pong;
}

Opcode opcode_of(unsigned char first) {
    return static_cast<Opcode>(first & kOpcodeBits);
}

}  // namespace

// A frame comes in any number of pieces, its head too: nothing is taken for granted but one byte.
std::optional<Received> FrameDecoder::next(std::string_view& bytes, std::size_t& frames) {
    while (frames > 0) {
        while (!judged_) {
            if (bytes.empty()) return std::nullopt;
            if (head_size_ == 0) ++frames_;
            head_[head_size_++] = static_cast<unsigned char>(bytes.front());
            bytes.remove_prefix(1);
            if (head_size_ == whole_head()) judge_head();
        }
        const auto part = bytes.substr(0, left_);
        (is_control(opcode_of(head_[0])) ? control_ : message_) += part;
        bytes.remove_prefix(part.size());
        left_ -= part.size();
        if (left_ > 0) return std::nullopt;
        --frames;
        if (auto received = end_frame()) return received;
    }
    return std::nullopt;
}

std::size_t FrameDecoder::whole_head() const {
    const unsigned code = head_[1] & ~unsigned{kMaskBit};
    if (head_size_ < 2 || code < kTwoByteLength) return 2;
    return code == kTwoByteLength ? 4 : 10;
}

std::uint64_t FrameDecoder::length() const {
    if (head_size_ == 2) return head_[1];
    std::uint64_t length = 0;
    for (std::size_t i = 2; i < head_size_; ++i) length = length << 8 | head_[i];
    return length;
}

// All that a head can break is told before its payload is taken: a length that nobody would keep
// must not be waited for.
void FrameDecoder::judge_head() {
    if (head_[1] & kMaskBit) refuse("a masked frame");
    const auto size = length();
    if ((head_size_ == 4 && size < kTwoByteLength) || (head_size_ == 10 && size < 65'536))
        refuse("a frame whose length is written in more bytes than it needs");
    if (head_[0] & kReservedBits) refuse("a frame of an extension that was not agreed on");
    const bool last = head_[0] & kLastBit;
    switch (opcode_of(head_[0])) {
        case Opcode::Ping:
        case Opcode::Pong:
        case Opcode::Close:
            if (!last || size > kControlBytes) refuse("a broken control frame");
            break;
        case Opcode::Text:
            if (in_message_) refuse("a new message inside another one");
            break;
        case Opcode::Continuation:
            if (!in_message_) refuse("the rest of a message that never began");
            break;
        case Opcode::Binary:
            throw FrameFault(PATCHBAY_E_PROTOCOL, "the server sent a message that is not text",
                             kUnsupported);
        default:
            refuse("a frame of a kind that does not exist");
    }
    if (!is_control(opcode_of(head_[0]))) {
        if (size > most_)
            throw FrameFault(PATCHBAY_E_LIMIT,
                             "the server sent a frame that is too large (limit message_bytes)",
                             kTooBig);
        if (size > most_ - message_.size())
            throw FrameFault(PATCHBAY_E_LIMIT,
                             "the server sent a message of more than " + std::to_string(most_) +
                                 " bytes (limit message_bytes)",
                             kTooBig);
    }
    left_ = size;
    judged_ = true;
}

std::optional<Received> FrameDecoder::end_frame() {
    head_size_ = 0;
    judged_ = false;
    const auto opcode = opcode_of(head_[0]);
    switch (opcode) {
        case Opcode::Ping:
            return Received{opcode, std::exchange(control_, {})};
        case Opcode::Close:
            return closed();
        case Opcode::Pong:
            control_.clear();
            return std::nullopt;
        default:
            break;
    }
    in_message_ = !(head_[0] & kLastBit);
    if (in_message_ || message_.empty()) return std::nullopt;
    if (!is_utf8(message_))
        throw FrameFault(PATCHBAY_E_PROTOCOL, "the server sent a text message that is not UTF-8",
                         kBadText);
    return Received{Opcode::Text, std::exchange(message_, {})};
}

Received FrameDecoder::closed() {
    auto payload = std::exchange(control_, {});
    if (payload.empty()) return {Opcode::Close, {}};
    const unsigned code = payload.size() < 2 ? 0u
                                             : static_cast<unsigned char>(payload[0]) * 256u +
                                                   static_cast<unsigned char>(payload[1]);
    if (!is_close_code(code)) refuse("a close frame without a valid code");
    payload.erase(0, 2);
    if (!is_utf8(payload))
        throw FrameFault(PATCHBAY_E_PROTOCOL,
                         "the server sent a close frame whose reason is not UTF-8", kBadText);
    return {Opcode::Close, std::move(payload), code};
}

}  // namespace patchbay::ws
