// Frames on their way to a WebSocket server: how they look, what is complete, what may be taken out.
#include "frame_queue.hpp"

#include <gmock/gmock.h>

#include <set>
#include <vector>

namespace patchbay::ws {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

sdk::Body body(const std::string& text) {
    patchbay_buf bytes{};
    bytes.data = reinterpret_cast<const std::uint8_t*>(text.data());
    bytes.size = text.size();
    return sdk::Body(bytes);  // a copy
}

struct Frame {
    unsigned char first;
    std::string mask, payload;
    std::size_t head;  // bytes, the mask among them
};

// What a server reads of the bytes.
std::vector<Frame> unmasked(const std::string& bytes) {
    std::vector<Frame> frames;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes.at(i)); };
    for (std::size_t at = 0; at < bytes.size();) {
        Frame frame{byte(at), {}, {}, 6};
        EXPECT_NE(byte(at + 1) & 0x80, 0) << "masked";
        std::size_t size = byte(at + 1) & 0x7f, more = size == 126 ? 2 : size == 127 ? 8 : 0;
        frame.head += more;
        if (more) size = 0;
        for (std::size_t i = 0; i < more; ++i) size = size << 8 | byte(at + 2 + i);
        frame.mask = bytes.substr(at + 2 + more, 4);
        frame.payload = bytes.substr(at + frame.head, size);
        for (std::size_t i = 0; i < size; ++i)
            frame.payload[i] = static_cast<char>(frame.payload[i] ^ frame.mask[i % 4]);
        at += frame.head + size;
        frames.push_back(std::move(frame));
    }
    return frames;
}

class FrameQueueTest : public ::testing::Test {
protected:
    // Takes out `most` bytes at a time until there are none; all of them.
    std::string drain(std::size_t most = SIZE_MAX) {
        std::string bytes;
        while (!queue_.next().empty()) {
            const auto part = queue_.next().substr(0, most);
            bytes += part;
            leave(part.size());
        }
        return bytes;
    }
    void leave(std::size_t bytes) {
        queue_.written(bytes, [this](std::uint64_t exchange) { done_.push_back(exchange); });
    }
    // Those that are cleared: begun, or not.
    void clear() {
        queue_.clear([this](std::uint64_t exchange, bool begun) {
            (begun ? begun_ : waiting_).push_back(exchange);
        });
    }

    FrameQueue queue_;
    std::vector<std::uint64_t> done_, begun_, waiting_;
};

TEST_F(FrameQueueTest, AMessageIsOneMaskedFrameWithItsLengthInAsFewBytesAsItNeeds) {
    const struct {
        std::size_t size, head;
    } lengths[] = {{0, 6}, {1, 6}, {125, 6}, {126, 8}, {65'535, 8}, {65'536, 14}, {200'001, 14}};
    for (const auto& each : lengths) {
        std::string text(each.size, '\0');
        for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7);
        queue_.push(1, body(text));
        const auto frames = unmasked(drain());
        ASSERT_EQ(frames.size(), 1u);
        EXPECT_EQ(frames[0].first, 0x81);
        EXPECT_EQ(frames[0].head, each.head);
        EXPECT_TRUE(frames[0].payload == text) << each.size;
    }
}

TEST_F(FrameQueueTest, EachFrameHasAMaskOfItsOwn) {
    std::set<std::string> masks;
    for (std::uint64_t i = 1; i <= 200; ++i) queue_.push(i, body("{}"));
    for (const auto& frame : unmasked(drain())) masks.insert(frame.mask);
    EXPECT_GE(masks.size(), 199u) << "twice the same one of 2^32 may happen, not more";
}

TEST_F(FrameQueueTest, MessagesAreDoneWithTheirLastByteHoweverFewTheSocketTakes) {
    const std::string large(3 * FrameQueue::kChunk, 'x');
    for (const std::size_t most : {std::size_t{1}, std::size_t{4096}, SIZE_MAX}) {
        done_.clear();
        queue_.push(1, body("[1]"));
        queue_.push_control(Opcode::Pong, "hi");
        queue_.push(2, body(most == 1 ? "[2]" : large));
        queue_.push(3, body("[3]"));
        const auto frames = unmasked(drain(most));
        ASSERT_EQ(frames.size(), 4u);
        EXPECT_EQ(frames[1].first, 0x8a);
        EXPECT_EQ(frames[1].payload, "hi");
        EXPECT_EQ(frames[3].payload, "[3]");
        EXPECT_THAT(done_, ElementsAre(1, 2, 3));
        EXPECT_TRUE(queue_.empty());
    }
}

TEST_F(FrameQueueTest, ManyMessagesLeaveTogether) {
    for (std::uint64_t i = 1; i <= 64; ++i) queue_.push(i, body("{}"));
    EXPECT_EQ(queue_.next().size(), 64u * 8);
    leave(8 + 7);
    EXPECT_THAT(done_, ElementsAre(1));
    leave(1);
    EXPECT_THAT(done_, ElementsAre(1, 2));
}

TEST_F(FrameQueueTest, WhatHasNotBegunToLeaveMayBeTakenOut) {
    queue_.push(1, body(std::string(2 * FrameQueue::kChunk, 'x')));
    queue_.push(2, body("[2]"));
    queue_.push(3, body("[3]"));
    const auto first = std::string(queue_.next());
    EXPECT_FALSE(queue_.cancel(1));
    EXPECT_TRUE(queue_.cancel(2));
    EXPECT_FALSE(queue_.cancel(2));
    EXPECT_FALSE(queue_.cancel(0)) << "nobody's";
    leave(first.size());
    const auto frames = unmasked(first + drain());
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(frames[1].payload, "[3]");
}

TEST_F(FrameQueueTest, TellsWhatOfItWasSentWhenAllIsCleared) {
    const std::string large(2 * FrameQueue::kChunk, 'x');
    queue_.push(1, body("[1]"));
    queue_.push(2, body("[2]"));
    queue_.push(3, body("[3]"));
    EXPECT_EQ(queue_.next().size(), 27u);
    leave(9 + 1);
    clear();
    EXPECT_THAT(done_, ElementsAre(1));
    EXPECT_THAT(begun_, ElementsAre(2));
    EXPECT_THAT(waiting_, ElementsAre(3));

    begun_.clear(), waiting_.clear();
    queue_.push(4, body(large));
    queue_.push(5, body("[5]"));
    leave(queue_.next().size());
    EXPECT_FALSE(queue_.next().empty());
    clear();
    EXPECT_THAT(begun_, ElementsAre(4)) << "in the chunk before";
    EXPECT_THAT(waiting_, ElementsAre(5));

    begun_.clear(), waiting_.clear();
    queue_.push(6, body("[6]"));
    queue_.push(7, body("[7]"));
    EXPECT_FALSE(queue_.next().empty());
    queue_.doubt();
    clear();
    EXPECT_THAT(begun_, ElementsAre(6, 7)) << "nobody knows";
    EXPECT_TRUE(queue_.empty());
    EXPECT_EQ(queue_.next(), "");
}

TEST_F(FrameQueueTest, ACloseFrameGoesBehindWhatHasBegun) {
    std::vector<std::uint64_t> dropped;
    queue_.push(1, body("[1]"));
    const auto first = std::string(queue_.next());
    queue_.push(2, body("[2]"));
    queue_.push_control(Opcode::Pong, "hi");
    queue_.drop_waiting([&](std::uint64_t exchange) { dropped.push_back(exchange); });
    EXPECT_THAT(dropped, ElementsAre(2));
    EXPECT_TRUE(queue_.push_control(Opcode::Close, "\x03\xe8"));
    leave(first.size());
    const auto frames = unmasked(first + drain());
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(frames[1].first, 0x88);
    EXPECT_EQ(frames[1].payload, "\x03\xe8");
}

TEST_F(FrameQueueTest, AFewControlFramesMayWait) {
    const auto fill = [this] {
        std::size_t taken = 0;
        while (queue_.push_control(Opcode::Pong, "hi")) ++taken;
        return taken;
    };
    EXPECT_EQ(fill(), FrameQueue::kMostControls);
    drain();
    EXPECT_EQ(fill(), FrameQueue::kMostControls) << "those that left count no more";
    queue_.drop_waiting([](std::uint64_t) {});
    EXPECT_EQ(fill(), FrameQueue::kMostControls);
    clear();
    EXPECT_THAT(begun_, IsEmpty());
    EXPECT_EQ(fill(), FrameQueue::kMostControls);
}

TEST_F(FrameQueueTest, AsksForAPauseWhenTooManyWaitAndEndsItWhenHalfAreGone) {
    for (std::uint64_t i = 1; i <= FrameQueue::kQueued; ++i)
        ASSERT_FALSE(queue_.push(i, body("{}")));
    EXPECT_TRUE(queue_.push(9999, body("{}")));
    for (std::uint64_t i = 1; i <= FrameQueue::kQueued / 2; ++i) {
        EXPECT_FALSE(queue_.take_relief());
        EXPECT_TRUE(queue_.cancel(i));
    }
    EXPECT_FALSE(queue_.take_relief());
    EXPECT_TRUE(queue_.cancel(FrameQueue::kQueued));
    EXPECT_TRUE(queue_.take_relief());
    EXPECT_FALSE(queue_.take_relief()) << "once";
}

TEST_F(FrameQueueTest, ThatWasClearedKeepsNothingOfWhatItWas) {
    for (std::uint64_t i = 1; i <= FrameQueue::kQueued + 1; ++i) queue_.push(i, body("{}"));
    queue_.next();
    queue_.doubt();
    clear();
    EXPECT_FALSE(queue_.take_relief()) << "nobody is told to go on";
    EXPECT_FALSE(queue_.push(1, body("[1]")));
    EXPECT_EQ(unmasked(drain()).at(0).payload, "[1]");
}

TEST_F(FrameQueueTest, AsksForAPauseWhenTooManyBytesWait) {
    const std::string half(FrameQueue::kQueuedBytes / 2, 'x');
    EXPECT_FALSE(queue_.push(1, body(half)));
    EXPECT_FALSE(queue_.push(2, body(half)));
    EXPECT_TRUE(queue_.push(3, body("x")));
    EXPECT_TRUE(queue_.push(4, body("x")));
    EXPECT_TRUE(queue_.cancel(1));
    EXPECT_FALSE(queue_.take_relief());
    EXPECT_TRUE(queue_.cancel(3));
    EXPECT_FALSE(queue_.take_relief());
    EXPECT_TRUE(queue_.cancel(4));
    EXPECT_TRUE(queue_.take_relief());
}

}  // namespace
}  // namespace patchbay::ws
