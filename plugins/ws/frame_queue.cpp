#include "frame_queue.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace patchbay::ws {
namespace {

using Mask = std::array<char, 4>;

constexpr std::size_t kMostHead = 14;

void append_head(std::string& out, Opcode opcode, std::uint64_t size, const Mask& mask) {
    const std::size_t more = size < kTwoByteLength ? 0 : size < 65'536 ? 2 : 8;
    const auto code = more == 0 ? size : more == 2 ? kTwoByteLength : kEightByteLength;
    out += static_cast<char>(kLastBit | static_cast<unsigned char>(opcode));
    out += static_cast<char>(kMaskBit | code);
    for (std::size_t i = more; i-- > 0;) out += static_cast<char>(size >> (8 * i));
    out.append(mask.data(), mask.size());
}

// `at`: how much of the payload came before. Eight bytes at a time: it is all that is done with
// most of them.
void append_masked(std::string& out, std::string_view plain, const Mask& mask, std::size_t at) {
    std::array<char, 8> wide;
    for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = mask[(at + i) % mask.size()];
    std::uint64_t key;
    std::memcpy(&key, wide.data(), sizeof key);
    out += plain;
    char* to = out.data() + out.size() - plain.size();
    std::size_t i = 0;
    for (; plain.size() - i >= sizeof key; i += sizeof key) {
        std::uint64_t word;
        std::memcpy(&word, to + i, sizeof word);
        word ^= key;
        std::memcpy(to + i, &word, sizeof word);
    }
    for (; i < plain.size(); ++i) to[i] = static_cast<char>(to[i] ^ wide[i % wide.size()]);
}

}  // namespace

bool FrameQueue::push(std::uint64_t exchange, sdk::Body body) {
    add({exchange, Opcode::Text, std::move(body), {}});
    paused_ = paused_ || frames_.size() > kQueued || bytes_ > kQueuedBytes;
    return paused_;
}

bool FrameQueue::push_control(Opcode opcode, std::string_view payload) {
    if (controls_ == kMostControls) return false;
    ++controls_;
    add({0, opcode, {}, std::string(payload)});
    return true;
}

void FrameQueue::add(Frame frame) {
    bytes_ += frame.payload().size();
    frames_.push_back(std::move(frame));
}

void FrameQueue::remove(std::deque<Frame>::iterator frame) {
    bytes_ -= frame->payload().size();
    frames_.erase(frame);
}

std::string_view FrameQueue::next() {
    if (left_ == chunk_.size()) {
        chunk_.clear();
        left_ = in_chunk_ = 0;
        doubted_ = false;
        chunk_.reserve(std::min(kChunk, bytes_) + std::min(kChunk, kMostHead * frames_.size()));
        while (in_chunk_ < frames_.size() && chunk_.size() < kChunk) fill(frames_[in_chunk_++]);
    }
    return std::string_view(chunk_).substr(left_);
}

void FrameQueue::fill(Frame& frame) {
    const auto payload = frame.payload();
    frame.begun = frame.headed;
    frame.begin = chunk_.size();
    if (!std::exchange(frame.headed, true)) {
        if (!frame.exchange) --controls_;
        frame.mask = random_.take<4>();
        append_head(chunk_, frame.opcode, payload.size(), frame.mask);
    }
    const auto room = kChunk - std::min(kChunk, chunk_.size());
    const auto part = payload.substr(frame.masked, room);
    append_masked(chunk_, part, frame.mask, frame.masked);
    frame.masked += part.size();
    frame.end = chunk_.size();
}

bool FrameQueue::take_relief() {
    return frames_.size() <= kQueued / 2 && bytes_ <= kQueuedBytes / 2 &&
           std::exchange(paused_, false);
}

bool FrameQueue::cancel(std::uint64_t exchange) {
    const auto waiting = frames_.begin() + static_cast<std::ptrdiff_t>(in_chunk_);
    const auto found = std::find_if(waiting, frames_.end(),
                                    [&](const Frame& frame) { return frame.exchange == exchange; });
    if (exchange == 0 || found == frames_.end()) return false;
    remove(found);
    return true;
}

}  // namespace patchbay::ws
