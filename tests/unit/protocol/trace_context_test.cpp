#include "protocol/trace_context.hpp"

#include <gtest/gtest.h>

namespace patchbay::protocol {
namespace {

const std::string kParent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";

TEST(TraceContext, ATraceparentHasItsFourParts) {
    for (const std::string& good :
         {kParent, std::string("cc-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-00"),
          std::string("01-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01-later=1")})
        EXPECT_TRUE(is_traceparent(good)) << good;
    for (const std::string& bad :
         {std::string(), std::string("00"), kParent + "-x", kParent + "0",
          std::string("ff-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"),
          std::string("00-00000000000000000000000000000000-00f067aa0ba902b7-01"),
          std::string("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"),
          std::string("00-0AF7651916CD43DD8448EB211C80319C-00F067AA0BA902B7-01"),
          std::string("00-0af7651916cd43dd8448eb211c80319c_00f067aa0ba902b7-01"),
          std::string("01-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01-\x01"),
          "01" + kParent.substr(2) + "-" + std::string(300, 'x')})
        EXPECT_FALSE(is_traceparent(bad)) << bad;
}

TEST(TraceContext, ATracestateIsAListOfFewMembersInFewBytes) {
    for (const std::string& good :
         {std::string("rojo=00f067aa0ba902b7"), std::string("a=1, b@sys=2 3,,c=4"),
          std::string("1tenant@vendor=x")})
        EXPECT_TRUE(is_tracestate(good)) << good;
    std::string many;
    for (std::size_t i = 0; i <= kTraceStateMembers; ++i) many += "k" + std::to_string(i) + "=1,";
    for (const std::string& bad :
         {std::string(), std::string(","), std::string("a"), std::string("=1"), std::string("a="),
          std::string("A=1"), std::string("a=1=2"), std::string("a=\n"), std::string("a=\xc3\xa9"),
          "a=" + std::string(kTraceStateBytes, 'x'), many})
        EXPECT_FALSE(is_tracestate(bad)) << bad;
}

TEST(TraceContext, OfWhatIsNoneNothingGoesOn) {
    EXPECT_EQ(trace_members(kParent, "a=1"),
              "\"traceparent\":\"" + kParent + "\",\"tracestate\":\"a=1\"");
    EXPECT_EQ(trace_members(kParent, "odd"), "\"traceparent\":\"" + kParent + "\"");
    EXPECT_EQ(trace_members("odd", "a=1"), "");
}

// A state belongs to the parent it came with.
TEST(TraceContext, WhatARequestSaysItselfIsStronger) {
    const auto trace = trace_members(kParent, "a=1");
    EXPECT_EQ(with_trace("", trace), trace);
    EXPECT_EQ(with_trace("\"x\":1", trace), "\"x\":1," + trace);
    for (const std::string own : {R"("traceparent":"mine")", R"("x":1,"tracestate":"b=2")"})
        EXPECT_EQ(with_trace(own, trace), own);
    EXPECT_EQ(with_trace(R"("x":{"traceparent":1})", trace), R"("x":{"traceparent":1},)" + trace);
}

}  // namespace
}  // namespace patchbay::protocol
