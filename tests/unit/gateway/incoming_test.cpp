#include "gateway/incoming.hpp"

#include "gateway/answers.hpp"

#include <gtest/gtest.h>

namespace patchbay::gateway {
namespace {

constexpr std::size_t kDepth = 20;

struct Case {
    const char* message;
    std::int64_t code;
    const char* raw_id;
};

TEST(Incoming, WhatIsNoRequestIsAnsweredByTheIdThatItHas) {
    for (const auto& [message, code, raw_id] :
         {Case{R"({"jsonrpc":"1.0","id":7,"method":"ping"})", kInvalidRequest, "7"},
          Case{R"({"id":"a\"b","method":"ping"})", kInvalidRequest, R"("a\"b")"},
          Case{R"({"jsonrpc":2,"method":"ping","id":18446744073709551617})", kInvalidRequest,
               "18446744073709551617"},
          Case{R"({"jsonrpc":"2.0","id":7,"method":7})", kInvalidRequest, "7"},
          Case{R"({"jsonrpc":"2.0","id":7,"method":"ping","params":7})", kInvalidRequest, "7"}}) {
        ASSERT_FALSE(read_incoming(message, kDepth)) << message;
        const auto fault = fault_of(message, kDepth);
        EXPECT_EQ(fault.code, code) << message;
        EXPECT_EQ(fault.raw_id, raw_id) << message;
    }
}

TEST(Incoming, AnIdThatCannotBeToldIsNone) {
    for (const auto& [message, code, raw_id] :
         {Case{R"({"id":1,"id":2,"method":"ping"})", kInvalidRequest, ""},
          Case{R"({"id":null,"method":"ping"})", kInvalidRequest, ""},
          Case{R"({"id":1.5,"method":"ping"})", kInvalidRequest, ""},
          Case{R"({"id":[1],"method":"ping"})", kInvalidRequest, ""},
          Case{R"({"method":"ping"})", kInvalidRequest, ""}, Case{"[]", kInvalidRequest, ""},
          Case{R"({"id":1,"method":"ping")", kParseError, ""}, Case{"", kParseError, ""}}) {
        const auto fault = fault_of(message, kDepth);
        EXPECT_EQ(fault.code, code) << message;
        EXPECT_EQ(fault.raw_id, raw_id) << message;
    }
}

// It would be taken for the answer to a request of the client's own.
TEST(Incoming, AnAnswerThatMakesNoSenseIsAnsweredByNoId) {
    EXPECT_EQ(fault_of(R"({"id":1,"result":{}})", kDepth).raw_id, "");
    EXPECT_EQ(fault_of(R"({"jsonrpc":"1","id":1,"error":{}})", kDepth).raw_id, "");
}

}  // namespace
}  // namespace patchbay::gateway
