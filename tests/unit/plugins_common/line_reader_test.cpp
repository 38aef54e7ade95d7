#include "line_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace {

using patchbay::transport::LineReader;
using ::testing::ElementsAre;

constexpr std::size_t kMost = 1u << 20;

void feed(LineReader& reader, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto room = reader.room();
        const auto size = std::min(room.size, bytes.size());
        std::memcpy(room.data, bytes.data(), size);
        reader.filled(size);
        bytes.remove_prefix(size);
    }
}

std::vector<std::string> lines(LineReader& reader) {
    std::vector<std::string> all;
    for (std::string_view line; reader.next(line);) all.emplace_back(line);
    return all;
}

TEST(LineReader, GivesWholeLinesWithoutTheSpaceAroundThem) {
    LineReader reader(kMost);
    feed(reader, "{\"a\":1}\r\n\n \t{} \n{\"b");
    EXPECT_THAT(lines(reader), ElementsAre("{\"a\":1}", "", "{}"));
    EXPECT_EQ(reader.rest(), "{\"b");
    feed(reader, "\":2}\n");
    EXPECT_THAT(lines(reader), ElementsAre("{\"b\":2}"));
    EXPECT_EQ(reader.rest(), "");
}

TEST(LineReader, GivesALineThatComesByteByByte) {
    LineReader reader(kMost);
    const std::string text = "{\"n\":1}\n{\"n\":2}\n";
    std::vector<std::string> all;
    for (const char byte : text) {
        feed(reader, {&byte, 1});
        for (const auto& line : lines(reader)) all.push_back(line);
    }
    EXPECT_THAT(all, ElementsAre("{\"n\":1}", "{\"n\":2}"));
}

TEST(LineReader, GrowsForALineLargerThanAChunk) {
    LineReader reader(kMost);
    for (const std::size_t size : {65'535u, 65'536u, 70'000u, 1'000'000u}) {
        const std::string line(size, 'x');
        feed(reader, line + "\n{}\n");
        EXPECT_THAT(lines(reader), ElementsAre(line, "{}")) << size;
    }
}

TEST(LineReader, SaysWhenALineIsTooLong) {
    LineReader reader(kMost);
    feed(reader, std::string(kMost, 'x'));
    EXPECT_FALSE(reader.has_line());
    EXPECT_FALSE(reader.too_long()) << "the limit itself is allowed";
    feed(reader, "x");
    EXPECT_TRUE(reader.too_long());
}

TEST(LineReader, ASliceOutlivesWhatIsReadAfterItAndTheReader) {
    patchbay_buf kept{};
    {
        LineReader reader(kMost);
        feed(reader, "{\"kept\":true}\n");
        std::string_view line;
        ASSERT_TRUE(reader.next(line));
        kept = reader.slice(line);
        for (int i = 0; i < 100; ++i) {
            feed(reader, std::string(5000, 'y') + "\n");
            lines(reader);
        }
    }
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(kept.data), kept.size),
              "{\"kept\":true}");
    EXPECT_GE(kept.capacity, kept.size + 64);
    kept.release(kept.owner);
}

TEST(LineReader, UsesItsChunkAgainWhenNobodyLooksIntoIt) {
    LineReader reader(kMost);
    const auto* const first = reader.room().data;
    for (int i = 0; i < 1000; ++i) {
        feed(reader, "{\"n\":1}\n");
        std::string_view line;
        ASSERT_TRUE(reader.next(line));
        const auto slice = reader.slice(line);
        slice.release(slice.owner);
        EXPECT_EQ(reader.room().data, first);
    }
}

TEST(LineReader, MovesWhatIsLeftToAFreshChunkWhenThereIsLittleRoom) {
    LineReader reader(kMost);
    const std::size_t chunk = 64u << 10, least = 16u << 10;
    const auto* const first = reader.room().data;
    EXPECT_EQ(reader.room().size, chunk);
    feed(reader, std::string(chunk - least - 1000, 'x') + "\n" + std::string(999, 'y'));
    EXPECT_EQ(reader.room().data, first + chunk - least) << "just enough";
    lines(reader);
    feed(reader, "z");
    EXPECT_NE(reader.room().data, first + chunk - least + 1);
    EXPECT_EQ(reader.room().size, chunk - 1000);
    EXPECT_EQ(reader.rest(), std::string(999, 'y') + "z");
}

TEST(LineReader, GrowsToTwiceALineAndNotBeyondItsLimit) {
    const std::size_t chunk = 64u << 10;
    LineReader reader(100'000);
    feed(reader, std::string(chunk, 'x'));
    EXPECT_EQ(reader.room().size, chunk);
    feed(reader, std::string(100'000 - chunk, 'x'));
    EXPECT_EQ(reader.room().size, 2 * chunk - 100'000);
    feed(reader, std::string(20'000, 'x'));
    EXPECT_EQ(reader.room().size, 100'000 + chunk - 120'000) << "the limit and a chunk";
}

TEST(LineReader, LetsNoReadTakeMoreThan256Kilobytes) {
    LineReader reader(4u << 20);
    feed(reader, std::string(600'000, 'x'));
    EXPECT_EQ(reader.room().size, 256u << 10);
}

TEST(LineReader, GivesALargeChunkUpWhenTheLargeLineIsOver) {
    LineReader reader(kMost);
    feed(reader, std::string(900'000, 'x') + "\n" + std::string(100, 'y'));
    lines(reader);
    EXPECT_EQ(reader.room().size, (256u << 10) - 100) << "the next line may be long as well";
    EXPECT_EQ(reader.rest(), std::string(100, 'y'));
    feed(reader, "\n" + std::string(100, 'z'));
    lines(reader);
    EXPECT_EQ(reader.room().size, (64u << 10) - 100);
    EXPECT_EQ(reader.rest(), std::string(100, 'z'));
}

TEST(LineReader, ReadsOneLongLineAfterTheOtherIntoTheSameChunk) {
    LineReader reader(kMost);
    const std::string line(66'000, 'x');
    const char* chunk = nullptr;
    for (int i = 0; i < 10; ++i) {
        feed(reader, line + "\n");
        std::string_view whole;
        ASSERT_TRUE(reader.next(whole));
        EXPECT_EQ(whole, line);
        if (i == 3) chunk = whole.data();
        if (i > 3) EXPECT_EQ(whole.data(), chunk);
    }
}

TEST(LineReader, HoldsNothingBeforeItsFirstRead) {
    const LineReader reader(kMost);
    EXPECT_EQ(reader.rest(), "");
    EXPECT_FALSE(reader.too_long());
}

}  // namespace
