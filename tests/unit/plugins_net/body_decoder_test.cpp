#include "net/body_decoder.hpp"

#include "net/head_parser.hpp"
#include "net/trouble.hpp"

#include <Poco/DeflatingStream.h>
#include <gmock/gmock.h>

#include <sstream>

namespace patchbay::net {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kMost = 1u << 20;

Head head_with(std::vector<HeaderList::Field> fields) {
    return {200, "OK", std::move(fields)};
}

// The body, or `E<code> text` of what was wrong with it.
std::string decoded(const Head& head, std::string_view bytes, bool ends = true,
                    std::size_t piece = 1) {
    std::string body;
    try {
        BodyDecoder decoder(head);
        for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
            decoder.feed(bytes.substr(0, piece), body, kMost);
        if (ends) decoder.finish();
        if (!ends && !decoder.over()) return "not over";
    } catch (const Trouble& trouble) {
        return "E" + std::to_string(trouble.code) + " " + trouble.text;
    }
    return body;
}

std::string zipped(const std::string& text) {
    std::ostringstream out;
    Poco::DeflatingOutputStream stream(out, Poco::DeflatingStreamBuf::STREAM_GZIP);
    stream << text;
    stream.close();
    return out.str();
}

const Head kChunked = head_with({{"Transfer-Encoding", "chunked"}});

TEST(BodyDecoder, ReadsChunksHoweverTheyAreCut) {
    const std::string_view bytes =
        "5\r\nhello\r\n1;name=value\r\n \r\n5\nworld\r\n0\r\nX: y\r\n\r\n";
    for (const std::size_t piece : {1u, 2u, 3u, 7u, 100u})
        EXPECT_EQ(decoded(kChunked, bytes, false, piece), "hello world") << piece;
}

TEST(BodyDecoder, TellsALastChunkFromABrokenConnection) {
    EXPECT_THAT(decoded(kChunked, "5\r\nhello\r\n"), HasSubstr("cut off before its last chunk"));
    EXPECT_THAT(decoded(kChunked, "5\r\nhel"), HasSubstr("cut off"));
    EXPECT_THAT(decoded(kChunked, "0\r\n"), HasSubstr("cut off"));
    EXPECT_EQ(decoded(kChunked, "0\r\n\r\n"), "");
}

TEST(BodyDecoder, RefusesChunkedNonsense) {
    for (const char* odd :
         {"zz\r\n", "-5\r\nhello\r\n", "\r\n", "5 5\r\nhello", "0x5\r\nhello",
          "ffffffffffffffff\r\n", "5\r\nhello!\r\n", "5\r\nhello\n", "2\r\nh\r\n0\r\n\r\n",
          "5;a\rb\r\nhello\r\n", "5\r\r\nhello\r\n", "0\r\nA: b\rC: d\r\n\r\n"})
        EXPECT_THAT(decoded(kChunked, odd, false), HasSubstr("not HTTP/1.1")) << odd;
    EXPECT_THAT(decoded(kChunked, std::string(10'000, '1'), false), HasSubstr("longer than 4096"));
    std::string trailers = "0\r\n";
    for (int i = 0; i < 200; ++i) trailers += "a: b\r\n";
    EXPECT_THAT(decoded(kChunked, trailers, false), HasSubstr("more than 100 trailers"));
}

TEST(BodyDecoder, ReadsByLength) {
    const auto head = head_with({{"Content-Length", "5"}});
    EXPECT_EQ(decoded(head, "hello", false), "hello");
    EXPECT_THAT(decoded(head, "hel"), HasSubstr("2 bytes of its Content-Length are missing"));
    BodyDecoder decoder(head);
    std::string body;
    decoder.feed("hello and more", body, kMost);
    EXPECT_EQ(body, "hello");
    EXPECT_EQ(decoder.surplus(), 9u);
}

TEST(BodyDecoder, MakesRoomForALengthOnceButNotForWhateverIsSaid) {
    const auto room_for = [](const char* length) {
        BodyDecoder decoder(head_with({{"Content-Length", length}}));
        std::string body;
        decoder.feed("x", body, 1u << 30);
        return body.capacity();
    };
    EXPECT_GE(room_for("300000"), 300'000u);
    EXPECT_LT(room_for("300000"), 600'000u);
    EXPECT_LT(room_for("1000000000000"), 4u << 20);
}

TEST(BodyDecoder, ReadsToTheEndOfTheConnection) {
    const auto head = head_with({});
    EXPECT_EQ(decoded(head, "hello"), "hello");
    EXPECT_FALSE(BodyDecoder(head).delimited());
}

TEST(BodyDecoder, RefusesLengthsThatCannotBe) {
    for (const auto* length : {"-1", "5x", "", " 5", "99999999999999999999"})
        EXPECT_THAT(decoded(head_with({{"Content-Length", length}}), "hello"),
                    HasSubstr("not a number"))
            << length;
    EXPECT_THAT(decoded(head_with({{"Content-Length", "5"}, {"content-length", "6"}}), "hello"),
                HasSubstr("two different values"));
    EXPECT_THAT(
        decoded(head_with({{"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}}), "x"),
        HasSubstr("both Transfer-Encoding and Content-Length"));
    EXPECT_THAT(decoded(head_with({{"Transfer-Encoding", "gzip, chunked"}}), "x"),
                HasSubstr("not chunked"));
}

TEST(BodyDecoder, UnpacksGzip) {
    const auto head = head_with({{"Content-Encoding", "gzip"}});
    for (const std::size_t piece : {1u, 10u, 1000u})
        EXPECT_EQ(decoded(head, zipped("hello hello hello"), true, piece), "hello hello hello");
    EXPECT_THAT(decoded(head, "no gzip at all, but text"), HasSubstr("gzip is broken"));
    EXPECT_THAT(decoded(head_with({{"Content-Encoding", "br"}}), "x"), HasSubstr("not asked for"));
}

TEST(BodyDecoder, KnowsAGzipThatHasNoEnd) {
    const auto head = head_with({{"Content-Encoding", "gzip"}});
    const auto torn = [&](const std::string& bytes) {
        BodyDecoder decoder(head);
        std::string body;
        decoder.feed(bytes, body, kMost);
        decoder.finish();
        return decoder.torn();
    };
    std::string varied;
    for (unsigned i = 0; i < 3000; ++i) varied += std::to_string(i * 2654435761u);
    for (const auto& text : {std::string("{\"id\":1}"), std::string(5000, 'x'), varied}) {
        const auto whole = zipped(text);
        EXPECT_FALSE(torn(whole));
        EXPECT_FALSE(torn(whole + "and what nobody reads"));
        for (std::size_t size = 1; size < whole.size(); ++size)
            EXPECT_TRUE(torn(whole.substr(0, size))) << size << " of " << whole.size();
    }
    EXPECT_FALSE(BodyDecoder(head_with({})).torn());
}

TEST(BodyDecoder, EndsAGzipBombAtTheLimit) {
    const auto bomb = zipped(std::string(64u << 20, 'x'));
    const auto head = head_with({{"Content-Encoding", "gzip"}});
    EXPECT_THAT(decoded(head, bomb, true, bomb.size()), HasSubstr("more than 1048576 bytes"));
}

TEST(BodyDecoder, HandsOverWhatUnpacksToMuchInParts) {
    const std::string text(4u << 20, 'x');
    const auto packed = zipped(text);
    BodyDecoder decoder(head_with({{"Content-Encoding", "gzip"}}));
    std::string all;
    std::string_view left = packed;
    while (!left.empty()) {
        std::string part;
        const auto taken = decoder.feed(left, part, text.size(), 16u << 10);
        ASSERT_GT(taken, 0u);
        EXPECT_LE(part.size(), (16u << 10) + (512u << 10));
        left.remove_prefix(taken);
        all += part;
    }
    decoder.finish();
    EXPECT_EQ(all.size(), text.size());
}

TEST(BodyDecoder, StopsWhereThereIsEnough) {
    BodyDecoder decoder(kChunked);
    std::string body;
    // What is read of a chunk is handed over; the next one is not begun.
    const std::string_view bytes = "5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n";
    EXPECT_EQ(decoder.feed(bytes, body, kMost, 5), 8u);
    EXPECT_EQ(body, "hello");
    EXPECT_EQ(decoder.feed(bytes.substr(8), body, kMost, 5), 0u) << "there is enough still";
    EXPECT_EQ(decoder.feed(bytes.substr(8), body, kMost, 6), 10u);
    EXPECT_EQ(body, "helloworld");
    EXPECT_EQ(decoder.feed(bytes.substr(18), body, kMost), bytes.size() - 18);
    EXPECT_TRUE(decoder.over());
    EXPECT_EQ(decoder.feed("more", body, kMost, 0), 4u) << "surplus is always taken";
    EXPECT_EQ(decoder.surplus(), 4u);
}

TEST(BodyDecoder, TakesWhatReachesItsLimitAndNoByteMore) {
    const auto feed = [](const Head& head, const std::string& bytes, std::size_t most) {
        BodyDecoder decoder(head);
        std::string body;
        decoder.feed(bytes, body, most);
        return body.size();
    };
    for (const auto& encoding : {"identity", "x-gzip"}) {
        const auto head = head_with({{"Content-Encoding", encoding}});
        const bool packed = encoding == std::string("x-gzip");
        EXPECT_EQ(feed(head, packed ? zipped("12345") : "12345", 5), 5u);
        EXPECT_THROW(feed(head, packed ? zipped("12345") : "12345", 4), Trouble);
    }
    const std::string longest(4095, ';');
    EXPECT_EQ(decoded(kChunked, "1" + longest + "\nx\r\n0\r\n\r\n", false), "x");
    EXPECT_THAT(decoded(kChunked, "1" + longest + ";\nx", false), HasSubstr("longer than 4096"));
    std::string trailers = "0\r\n";
    for (int i = 0; i < 100; ++i) trailers += "a: b\r\n";
    EXPECT_EQ(decoded(kChunked, trailers + "\r\n", false), "");
    EXPECT_THAT(decoded(kChunked, trailers + "a: b\r\n", false), HasSubstr("100 trailers"));
    EXPECT_EQ(decoded(kChunked, "00000000000001 \t\r\nx\r\n0\r\n\r\n", false), "x");
    EXPECT_THAT(decoded(kChunked, "0000000000000001\r\nx", false), HasSubstr("without a size"));
}

TEST(BodyDecoder, TellsThatAHeaderMakesItUnreadableBeforeTheFirstByte) {
    EXPECT_THROW(BodyDecoder(head_with({{"Content-Encoding", "br"}})).check(), Trouble);
    EXPECT_NO_THROW(BodyDecoder(head_with({})).check());
}

TEST(BodyDecoder, ANoContentAnswerHasNoBody) {
    for (const int status : {101, 199, 204, 304}) {
        const BodyDecoder decoder({status, "", {{"Content-Length", "5"}}});
        EXPECT_TRUE(decoder.over()) << status;
        EXPECT_TRUE(decoder.delimited()) << status;
    }
    EXPECT_FALSE(BodyDecoder({200, "", {{"Content-Length", "5"}}}).over());
    EXPECT_TRUE(BodyDecoder({200, "", {{"Content-Length", "0"}}}).over());
}

}  // namespace
}  // namespace patchbay::net
