// Requests out of bytes, and why there is none; no socket is needed.
#include "http/request_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::http {
namespace {

using ::testing::ElementsAre;
using Step = RequestReader::Step;

constexpr std::string_view kGet = "GET /mcp HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr std::string_view kPost = "POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody";

class RequestReaderTest : public ::testing::Test {
protected:
    // All steps that come of it, up to the one behind which something has to be done.
    std::vector<Step> read(std::string_view bytes) {
        reader.append(bytes.data(), bytes.size());
        std::vector<Step> steps;
        for (;;) {
            steps.push_back(reader.next());
            if (steps.back() == Step::Nothing || steps.back() == Step::Whole ||
                steps.back() == Step::Refused)
                return steps;
        }
    }
    unsigned refused(std::string_view bytes) {
        return read(bytes).back() == Step::Refused ? reader.refusal().status : 0;
    }

    Limits limits;
    RequestReader reader{limits};
};

TEST_F(RequestReaderTest, ARequestBeginsHasAHeadAndIsWhole) {
    EXPECT_THAT(read(kPost), ElementsAre(Step::Begun, Step::Head, Step::Whole));
    EXPECT_EQ(reader.take_head().method, "POST");
    EXPECT_EQ(reader.take_body(), "body");
    EXPECT_TRUE(reader.keeps_alive());
    EXPECT_EQ(reader.next(), Step::Nothing);
}

TEST_F(RequestReaderTest, EachByteMayComeAlone) {
    const auto bytes = std::string(kPost);
    for (std::size_t i = 0; i + 1 < bytes.size(); ++i)
        ASSERT_NE(read(bytes.substr(i, 1)).back(), Step::Whole) << "at byte " << i;
    EXPECT_EQ(reader.body_bytes(), 3u);
    EXPECT_EQ(read(bytes.substr(bytes.size() - 1)).back(), Step::Whole);
    EXPECT_EQ(reader.take_body(), "body");
}

TEST_F(RequestReaderTest, NothingOfABodyIsReadBeforeItIsWanted) {
    reader.append(kPost.data(), kPost.size());
    EXPECT_EQ(reader.next(), Step::Begun);
    EXPECT_EQ(reader.next(), Step::Head);
    EXPECT_EQ(reader.body_bytes(), 0u);
    EXPECT_EQ(reader.unread(), 4u);
}

TEST_F(RequestReaderTest, WhatFollowsARequestWaitsUntilItIsTaken) {
    EXPECT_EQ(read(std::string(kPost) + std::string(kGet)).back(), Step::Whole);
    EXPECT_EQ(reader.unread(), kGet.size());
    EXPECT_EQ(reader.take_head().method, "POST");
    EXPECT_EQ(reader.take_body(), "body");
    EXPECT_THAT(read("\r\n"), ElementsAre(Step::Begun, Step::Head, Step::Whole));
    EXPECT_EQ(reader.take_head().method, "GET");
}

TEST_F(RequestReaderTest, ABodyThatWaitsToBeAskedForIsSaidToBe) {
    EXPECT_EQ(read("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n"
                   "Expect: 100-continue\r\n\r\n")
                  .back(),
              Step::Nothing);
    EXPECT_TRUE(reader.waits_to_send());
    EXPECT_EQ(read("x").back(), Step::Whole);
}

TEST_F(RequestReaderTest, WhoSpeaksHttp10IsNotToldToGoOn) {
    EXPECT_EQ(read("POST / HTTP/1.0\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n").back(),
              Step::Nothing);
    EXPECT_FALSE(reader.waits_to_send());
    EXPECT_EQ(read("x").back(), Step::Whole);
}

TEST_F(RequestReaderTest, OnlyTheRequestThatIsAHeadOneIsAnsweredWithoutABody) {
    ASSERT_EQ(read("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n").back(), Step::Whole);
    EXPECT_TRUE(reader.head_only());
    reader.take_body();
    EXPECT_EQ(refused("GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n"), 400u);
    EXPECT_FALSE(reader.head_only());
}

TEST_F(RequestReaderTest, TellsHttp10ThatNoAnswerComesInChunks) {
    ASSERT_EQ(read("GET / HTTP/1.0\r\n\r\n").back(), Step::Whole);
    reader.take_body();
    EXPECT_FALSE(reader.chunked());
    EXPECT_FALSE(reader.keeps_alive());
}

TEST_F(RequestReaderTest, WhatIsTooMuchIsRefusedByTheLimitThatItIsOver) {
    limits.head_bytes = 100;
    limits.body_bytes = 4;
    RequestReader small(limits);
    const std::string long_head = "GET /" + std::string(200, 'x');
    small.append(long_head.data(), long_head.size());
    EXPECT_EQ(small.next(), Step::Begun);
    EXPECT_EQ(small.next(), Step::Refused);
    EXPECT_EQ(small.refusal().status, 431u);
    EXPECT_EQ(refused("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n"), 413u);
}

TEST_F(RequestReaderTest, WhereThereAreTooManyConnectionsEveryHeadIsRefused) {
    reader.refuse_all();
    EXPECT_EQ(refused("GET / HTTP/1.0\r\n\r\n"), 429u);
}

}  // namespace
}  // namespace patchbay::http
