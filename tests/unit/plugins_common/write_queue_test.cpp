#include "write_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using patchbay::sdk::Body;
using patchbay::transport::WriteQueue;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Body body(const std::string& text) {
    return Body({reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), text.size(),
                 nullptr, nullptr});
}

std::string next_bytes(const WriteQueue& queue) {
    iovec vectors[WriteQueue::kMostVectors];
    const int count = queue.vectors(vectors);
    EXPECT_LE(count, WriteQueue::kMostVectors);
    std::string bytes;
    for (int i = 0; i < count; ++i)
        bytes.append(static_cast<const char*>(vectors[i].iov_base), vectors[i].iov_len);
    return bytes;
}

class WriteQueueTest : public testing::Test {
protected:
    std::vector<std::uint64_t> write(std::size_t bytes) {
        std::vector<std::uint64_t> done;
        queue_.written(bytes, [&](std::uint64_t exchange) { done.push_back(exchange); });
        return done;
    }
    WriteQueue queue_;
};

TEST_F(WriteQueueTest, PutsANewlineBehindEveryMessage) {
    queue_.push(1, body("{}"));
    queue_.push(2, body("[]"));
    EXPECT_EQ(next_bytes(queue_), "{}\n[]\n");
}

TEST_F(WriteQueueTest, EndsAMessageWithItsNewlineHoweverTheBytesAreCut) {
    queue_.push(1, body("{}"));
    queue_.push(2, body("[]"));
    EXPECT_THAT(write(2), IsEmpty());
    EXPECT_EQ(next_bytes(queue_), "\n[]\n");
    EXPECT_THAT(write(2), ElementsAre(1));
    EXPECT_EQ(next_bytes(queue_), "]\n");
    EXPECT_THAT(write(2), ElementsAre(2));
    EXPECT_TRUE(queue_.empty());
}

TEST_F(WriteQueueTest, LeavesNothingOutWhenThereIsMoreThanOneWriteTakes) {
    std::string all;
    for (int i = 0; i < 500; ++i) {
        const auto text = "{\"n\":" + std::to_string(i) + "}";
        queue_.push(static_cast<std::uint64_t>(i + 1), body(text));
        all += text + "\n";
    }
    std::string written;
    while (!queue_.empty()) {
        auto bytes = next_bytes(queue_);
        bytes.resize(std::max<std::size_t>(1, bytes.size() / 3));
        written += bytes;
        write(bytes.size());
    }
    EXPECT_EQ(written, all);
}

TEST_F(WriteQueueTest, CancelsWhatHasNotBegunToLeave) {
    queue_.push(1, body("{}"));
    queue_.push(2, body("[]"));
    write(1);
    EXPECT_FALSE(queue_.cancel(1)) << "half a message is worse than one nobody wants";
    EXPECT_TRUE(queue_.cancel(2));
    EXPECT_FALSE(queue_.cancel(2));
    EXPECT_EQ(next_bytes(queue_), "}\n");
}

TEST_F(WriteQueueTest, AsksForAPauseAtTheHighMarkAndEndsItOnceBelowTheLowMark) {
    const std::string half(WriteQueue::kHighMark / 2, 'x');
    EXPECT_FALSE(queue_.push(1, body(half)));
    EXPECT_TRUE(queue_.push(2, body(half)));
    write(half.size());
    EXPECT_FALSE(queue_.take_relief());
    write(half.size());
    EXPECT_TRUE(queue_.take_relief());
    EXPECT_FALSE(queue_.take_relief()) << "told once";
}

TEST_F(WriteQueueTest, FillsNoMoreVectorsThanThereAre) {
    for (std::uint64_t i = 0; i < 100; ++i) queue_.push(i, body("{}"));
    write(2);  // of the first only the newline is left, so no pair ends at the last vector
    EXPECT_EQ(next_bytes(queue_).size(), 1u + 63 * 3 + 2);
    EXPECT_THAT(write(1), ElementsAre(0));
    EXPECT_EQ(next_bytes(queue_).size(), 64u * 3);
}

TEST_F(WriteQueueTest, CountsNewlinesAndWhatIsLeftOfAMessage) {
    EXPECT_EQ(WriteQueue::kHighMark, 1u << 20);
    EXPECT_EQ(WriteQueue::kLowMark, 256u << 10);
    EXPECT_FALSE(queue_.push(1, body(std::string(WriteQueue::kHighMark - 2, 'x'))));
    EXPECT_TRUE(queue_.push(2, body("")));
    write(WriteQueue::kHighMark - WriteQueue::kLowMark);
    EXPECT_FALSE(queue_.take_relief()) << "the low mark itself";
    write(1);
    EXPECT_TRUE(queue_.take_relief());
    EXPECT_FALSE(
        queue_.push(3, body(std::string(WriteQueue::kHighMark - WriteQueue::kLowMark - 1, 'x'))))
        << "what has left of the first counts no more";
    EXPECT_TRUE(queue_.push(4, body("")));
}

TEST_F(WriteQueueTest, CountsWhatIsCancelledNoMore) {
    EXPECT_TRUE(queue_.push(1, body(std::string(WriteQueue::kHighMark, 'x'))));
    queue_.push(2, body(std::string(WriteQueue::kLowMark - 1, 'x')));
    EXPECT_TRUE(queue_.cancel(1));
    EXPECT_FALSE(queue_.take_relief());
    EXPECT_TRUE(queue_.cancel(2));
    EXPECT_TRUE(queue_.take_relief());
}

TEST_F(WriteQueueTest, BeginsAnewWhenItIsCleared) {
    EXPECT_TRUE(queue_.push(1, body(std::string(WriteQueue::kHighMark, 'x'))));
    write(5);
    queue_.clear([](std::uint64_t, bool) {});
    EXPECT_FALSE(queue_.take_relief()) << "nobody is paused any more";
    EXPECT_FALSE(queue_.push(2, body(std::string(WriteQueue::kHighMark - 2, 'x'))));
    EXPECT_EQ(next_bytes(queue_).size(), WriteQueue::kHighMark - 1);
    std::vector<bool> begun;
    queue_.clear([&](std::uint64_t, bool its) { begun.push_back(its); });
    EXPECT_THAT(begun, ElementsAre(false));
}

TEST_F(WriteQueueTest, TellsWhatHadBegunToLeaveWhenItIsCleared) {
    queue_.push(1, body("{}"));
    queue_.push(2, body("[]"));
    write(1);
    std::vector<std::pair<std::uint64_t, bool>> dropped;
    queue_.clear(
        [&](std::uint64_t exchange, bool begun) { dropped.emplace_back(exchange, begun); });
    EXPECT_THAT(dropped,
                ElementsAre(std::pair(std::uint64_t{1}, true), std::pair(std::uint64_t{2}, false)));
    EXPECT_TRUE(queue_.empty());
}

}  // namespace
