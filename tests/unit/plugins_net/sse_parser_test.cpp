#include "net/sse_parser.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace patchbay::net {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::size_t kMost = 1000;

// Every event as TYPE|DATA, the bytes given in pieces of `piece`.
std::vector<std::string> events(SseParser& parser, std::string_view bytes, std::size_t piece = 1) {
    std::vector<std::string> all;
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
        const bool fits = parser.feed(bytes.substr(0, piece), [&](SseParser::Event&& event) {
            all.push_back(event.type + "|" + event.data);
        });
        EXPECT_TRUE(fits);
    }
    return all;
}

struct Stream {
    const char* name;
    std::string bytes;
    std::vector<std::string> events;
};

class SseStreams : public ::testing::TestWithParam<Stream> {};

TEST_P(SseStreams, AreTheSameHoweverTheyAreCut) {
    for (const std::size_t piece : {1u, 2u, 3u, 5u, 7u, 1000u}) {
        SseParser parser(kMost);
        EXPECT_EQ(events(parser, GetParam().bytes, piece), GetParam().events) << piece;
    }
}

INSTANTIATE_TEST_SUITE_P(
    , SseStreams,
    ::testing::Values(
        Stream{"OneEvent", "data: hi\n\n", {"message|hi"}},
        Stream{"LinesEndInCr", "data: a\rdata: b\r\rdata: c\r\r", {"message|a\nb", "message|c"}},
        Stream{"LinesEndInCrLf", "data: a\r\ndata: b\r\n\r\n", {"message|a\nb"}},
        Stream{"LineEndsMix", "data: a\r\n\ndata: b\n\r\n", {"message|a", "message|b"}},
        Stream{"AByteOrderMark",
               "\xEF\xBB\xBF"
               "data: a\n\n",
               {"message|a"}},
        Stream{"HalfAByteOrderMark",
               "\xEF\xBB"
               "data: a\n\ndata: b\n\n",
               {"message|b"}},
        Stream{"Comments", ": hello\ndata: a\n:\n\n: bye\n\n", {"message|a"}},
        Stream{"ANamedEvent", "event: endpoint\ndata: /m\n\n", {"endpoint|/m"}},
        Stream{"TheNameIsForOneEvent", "event: x\ndata: a\n\ndata: b\n\n", {"x|a", "message|b"}},
        Stream{"NoDataNoEvent", "event: x\n\nid: 1\n\ndata: b\n\n", {"message|b"}},
        Stream{"EmptyData", "data\n\ndata:\ndata:\n\n", {"message|", "message|\n"}},
        Stream{"OnlyOneSpaceGoes", "data:  a\ndata:b\n\n", {"message| a\nb"}},
        Stream{"UnknownFields", "date: x\nretry: no\ndata: a\n\n", {"message|a"}},
        Stream{"WhatIsCutOffIsNoEvent", "data: a\n\ndata: b\n", {"message|a"}}),
    [](const auto& stream) { return stream.param.name; });

TEST(SseParser, KeepsTheLastIdAcrossStreams) {
    SseParser parser(kMost);
    events(parser, "id: 1\ndata: a\n\nid: 2\ndata: cut off");
    EXPECT_EQ(parser.last_id(), "1") << "the second event never came";
    parser.restart();
    EXPECT_THAT(events(parser, "data: b\n\n"), ElementsAre("message|b"));
    EXPECT_EQ(parser.last_id(), "1");
    events(parser, "id\ndata: c\n\n");
    EXPECT_EQ(parser.last_id(), "") << "an empty id takes it back";
}

TEST(SseParser, KeepsNothingElseOfAStreamThatWasCutOff) {
    for (const char* cut : {"data: cut off", "data: cut off\n", "event: other\n", "id: 2\n",
                            "\xEF\xBB", "data: cut off\r"})
        for (const char* mark : {"", "\xEF\xBB\xBF"}) {
            SseParser parser(kMost);
            events(parser, "id: 1\n\n");
            events(parser, cut);
            parser.restart();
            EXPECT_FALSE(parser.in_event()) << cut;
            EXPECT_THAT(events(parser, std::string(mark) + "data: b\n\n"), ElementsAre("message|b"))
                << cut;
            EXPECT_EQ(parser.last_id(), "1");
        }
}

TEST(SseParser, IgnoresAnIdWithANul) {
    SseParser parser(kMost);
    events(parser, "id: 1\n\nid: 2\0\n\n"s);
    EXPECT_EQ(parser.last_id(), "1");
}

TEST(SseParser, IgnoresAnIdThatNoHeaderCanHold) {
    for (const auto& odd : {"\x01"s, " two"s, "two "s, "two\t"s, "\x7f"s, std::string(8193, '2')}) {
        SseParser parser(20'000);
        events(parser, "id: 1\n\nid: " + odd + "\n\n", 100);
        EXPECT_EQ(parser.last_id(), "1");
    }
    SseParser parser(20'000);
    events(parser, "id: " + std::string(8192, '2') + "\n\n", 100);
    EXPECT_EQ(parser.last_id().size(), 8192u);
    events(parser, "id: \xc3\xa4 b\n\n");
    EXPECT_EQ(parser.last_id(), "\xc3\xa4 b");
}

TEST(SseParser, StopsAfterAnEventAndGoesOnFromThere) {
    const std::string_view whole = "data: a\r\n\r\ndata: b\r\rid: 1\n\ndata: c\n\ndata: d";
    SseParser parser(kMost);
    std::vector<std::string> all;
    auto left = whole;
    for (std::size_t wanted = 1; wanted <= 3; ++wanted) {
        EXPECT_TRUE(parser.feed_some(left, [&](SseParser::Event&& event) {
            all.push_back(event.data);
            return false;
        }));
        EXPECT_THAT(all, ::testing::SizeIs(wanted));
        EXPECT_FALSE(left.empty());
    }
    EXPECT_THAT(all, ElementsAre("a", "b", "c"));
    EXPECT_TRUE(parser.feed_some(left, [](SseParser::Event&&) { return true; }));
    EXPECT_TRUE(left.empty());
    EXPECT_THAT(events(parser, "\n\n"), ElementsAre("message|d"));
}

TEST(SseParser, CopiesAnIdOnceAndNotAtEveryBlankLine) {
    SseParser parser(kMost);
    events(parser, "id: 1\ndata: a\n\n");
    auto& kept = const_cast<std::string&>(parser.last_id());
    kept = "not written again";
    EXPECT_THAT(events(parser, "\n\n\ndata: b\n\n"), ElementsAre("message|b"));
    EXPECT_EQ(parser.last_id(), "not written again");
    events(parser, "id: 1\n\n");
    EXPECT_EQ(parser.last_id(), "1");
}

TEST(SseParser, TakesARetryTimeOfDigitsOnly) {
    SseParser parser(kMost);
    EXPECT_EQ(parser.retry_ms(), -1);
    for (const char* odd : {"retry: -1\n", "retry: 1s\n", "retry:\n", "retry: 1.5\n"}) {
        events(parser, odd);
        EXPECT_EQ(parser.retry_ms(), -1) << odd;
    }
    events(parser, "retry: 500\n");
    EXPECT_EQ(parser.retry_ms(), 500);
    events(parser, "retry: 99999999999999999999999\n");
    EXPECT_EQ(parser.retry_ms(), 3'600'000);
}

TEST(SseParser, TakesAnEventOfItsLimitAndNotOneByteMore) {
    for (const char* field : {"data: ", "data:", "event: a\ndata: "}) {
        SseParser exact(kMost), more(kMost);
        std::size_t size = 0;
        const auto note = [&](SseParser::Event&& event) { size = event.data.size(); };
        EXPECT_TRUE(exact.feed(field + std::string(kMost, 'x') + "\n\n", note)) << field;
        EXPECT_EQ(size, kMost);
        EXPECT_FALSE(more.feed(field + std::string(kMost + 1, 'x') + "\n", note)) << field;
    }
}

TEST(SseParser, RefusesAnEventBeyondItsLimit) {
    const auto none = [](SseParser::Event&&) { FAIL(); };
    SseParser one_line(kMost);
    EXPECT_FALSE(one_line.feed(std::string(kMost + 7, 'x'), none));
    SseParser many_lines(kMost);
    bool fits = true;
    for (int i = 0; fits && i < 1000; ++i) fits = many_lines.feed("data: 0123456789\n", none);
    EXPECT_FALSE(fits);
}

}  // namespace
}  // namespace patchbay::net
