// Answers as bytes, and what of them has gone; no socket is needed.
#include "http/answer_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace patchbay::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class AnswerWriterTest : public ::testing::Test {
protected:
    // At most `most` bytes go at once.
    std::string gone(std::size_t most = 1u << 20) {
        std::string all;
        while (!writer.empty()) {
            AnswerWriter::Pieces room;
            std::string next;
            for (const auto piece : writer.pieces(room)) next += piece;
            next.resize(std::min(next.size(), most));
            all += next;
            writer.taken(next.size());
        }
        EXPECT_EQ(writer.size(), 0u);
        return all;
    }

    AnswerWriter writer;
};

TEST_F(AnswerWriterTest, AWholeAnswerSaysHowLongItIs) {
    writer.answer(200, {{"Content-Type", "text/plain"}}, true, "hello");
    EXPECT_EQ(gone(),
              "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello");
}

TEST_F(AnswerWriterTest, TheLastOneOfAConnectionSaysSo) {
    writer.answer(404, {}, false, {});
    EXPECT_THAT(gone(), HasSubstr("\r\nConnection: close\r\n"));
}

TEST_F(AnswerWriterTest, ToHeadTheLengthIsThatOfWhatGetWouldBeTold) {
    writer.shape(true, true);
    writer.answer(200, {}, true, "hello");
    EXPECT_THAT(gone(), EndsWith("Content-Length: 5\r\n\r\n"));
}

TEST_F(AnswerWriterTest, NeitherOfThoseWithoutABodyHasALength) {
    for (const unsigned status : {204u, 304u}) {
        writer.answer(status, {}, true, {});
        EXPECT_THAT(gone(), Not(HasSubstr("Content-Length"))) << status;
    }
}

TEST_F(AnswerWriterTest, AStreamComesInChunksUntilTheEmptyOne) {
    writer.begin({}, true);
    writer.write("0123456789abcdef");
    writer.write({});
    writer.end();
    const auto all = gone();
    EXPECT_THAT(all, StartsWith("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"));
    EXPECT_THAT(all, EndsWith("10\r\n0123456789abcdef\r\n0\r\n\r\n"));
}

TEST_F(AnswerWriterTest, ToHttp10AStreamIsWhatComesUntilTheEnd) {
    writer.shape(false, false);
    writer.begin({}, false);
    writer.write("some");
    writer.end();
    EXPECT_EQ(gone(), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nsome");
}

TEST_F(AnswerWriterTest, WhatIsTakenInAnyPiecesComesToTheSame) {
    const std::string large(100'000, 'x');
    const auto answer = [&] {
        writer.answer(200, {}, true, large);
        for (int i = 0; i < 40; ++i) writer.answer(200, {}, true, std::string(20'000, 'y'));
    };
    answer();
    const auto at_once = gone();
    answer();
    EXPECT_EQ(writer.size(), at_once.size());
    EXPECT_EQ(gone(777), at_once);
}

}  // namespace
}  // namespace patchbay::http
