#include "plugin/services/buffers.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

using namespace patchbay::plugin;

namespace {

TEST(Buffers, AreAlignedAndPaddedForParsers) {
    for (const std::size_t wanted :
         {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{4097},
          std::size_t{1} << 20, (std::size_t{1} << 20) + 1, std::size_t{9} << 20}) {
        patchbay_buf buffer{};
        ASSERT_EQ(buffers_table()->take(nullptr, wanted, &buffer), PATCHBAY_OK);
        EXPECT_GE(buffer.capacity, wanted + kBufferPadding);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data) % 64, 0u);
        std::memset(const_cast<std::uint8_t*>(buffer.data), 1, buffer.capacity);
        buffer.release(buffer.owner);
    }
}

TEST(Buffers, AreTakenFromThePoolAgain) {
    patchbay_buf first{}, second{};
    buffers_table()->take(nullptr, 5000, &first);
    const auto* data = first.data;
    first.release(first.owner);
    buffers_table()->take(nullptr, 6000, &second);
    EXPECT_EQ(second.data, data);
    second.release(second.owner);
}

TEST(Buffers, BeyondTheBoundAreRefused) {
    patchbay_buf buffer{};
    EXPECT_EQ(buffers_table()->take(nullptr, kLargestBuffer + 1, &buffer), PATCHBAY_E_LIMIT);
    EXPECT_EQ(buffer.release, nullptr);
    EXPECT_EQ(buffers_table()->take(nullptr, 1, nullptr), PATCHBAY_E_INVALID);
}

TEST(Buffers, AreGivenBackOnAnyThread) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([] {
            for (int n = 0; n < 1000; ++n) {
                patchbay_buf buffer{};
                ASSERT_EQ(buffers_table()->take(nullptr, 4096, &buffer), PATCHBAY_OK);
                const_cast<std::uint8_t*>(buffer.data)[0] = 1;
                buffer.release(buffer.owner);
            }
        });
    for (auto& thread : threads) thread.join();
}

}  // namespace
