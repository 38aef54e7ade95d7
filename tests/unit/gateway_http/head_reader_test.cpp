#include "gateway/http/head_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::gateway {
namespace {

using protocol::MessageHeader;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kParent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";

std::variant<CarriedHead, HttpRefusal> read(http::Headers headers,
                                            const std::vector<std::string>& names = {
                                                "x-request-id"}) {
    return read_carried_head({"POST", "/mcp", std::move(headers), {}}, names);
}
std::vector<MessageHeader> headers_of(http::Headers headers,
                                      const std::vector<std::string>& names = {"x-request-id"}) {
    const auto carried = std::get<CarriedHead>(read(std::move(headers), names));
    return carried.headers ? *carried.headers : std::vector<MessageHeader>();
}
unsigned status_of(http::Headers headers) {
    const auto outcome = read(std::move(headers));
    const auto* refused = std::get_if<HttpRefusal>(&outcome);
    return refused ? refused->status : 200;
}

TEST(HeadReader, HasWhatAServerNamesAndNothingElse) {
    EXPECT_THAT(headers_of({{"x-request-id", "7"}, {"x-other", "8"}, {"authorization", "secret"}}),
                ElementsAre(MessageHeader{"x-request-id", "7"}));
    EXPECT_FALSE(std::get<CarriedHead>(read({{"x-other", "8"}})).headers);
    EXPECT_FALSE(std::get<CarriedHead>(read({{"x-request-id", "7"}}, {})).headers);
    EXPECT_THAT(headers_of({{"x-request-id", "7"}, {"x-request-id", "8"}}),
                ElementsAre(MessageHeader{"x-request-id", "7, 8"}));
}

TEST(HeadReader, LeavesOutWhatTheClientsConnectionIsAbout) {
    EXPECT_THAT(headers_of({{"connection", "keep-alive, X-Request-Id"}, {"x-request-id", "7"}}),
                ElementsAre());
}

TEST(HeadReader, RefusesWhatIsTooLongOrNoValue) {
    EXPECT_EQ(status_of({{"x-request-id", "a\r\nx-b: c"}}), 400u);
    EXPECT_EQ(status_of({{"x-request-id", std::string("a\0b", 3)}}), 400u);
    EXPECT_EQ(status_of({{"x-request-id", std::string(kForwardedBytes, 'x')}}), 431u);
    EXPECT_EQ(status_of({{"x-request-id", std::string(kForwardedBytes - 12, 'x')}}), 200u);
    EXPECT_EQ(status_of({{"x-other", "a\r\nb"}}), 200u) << "it goes nowhere";
}

TEST(HeadReader, HasTheTraceContextOfOneParent) {
    const auto trace = [](http::Headers headers) {
        return std::get<CarriedHead>(read(std::move(headers))).trace;
    };
    EXPECT_EQ(trace({{"traceparent", kParent}, {"tracestate", "a=1"}, {"tracestate", "b=2"}}),
              "\"traceparent\":\"" + kParent + "\",\"tracestate\":\"a=1, b=2\"");
    EXPECT_EQ(trace({{"traceparent", kParent}, {"traceparent", kParent}}), "");
    EXPECT_EQ(trace({{"traceparent", "00-\"}, {\""}}), "");
    EXPECT_EQ(trace({{"tracestate", "a=1"}}), "");
}

}  // namespace
}  // namespace patchbay::gateway
