// What a client has to bring back: nothing but what it was given, in time, for what it was asked about.
#include "gateway/request_states.hpp"

#include <gmock/gmock.h>

#include <string>

namespace patchbay::gateway {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

const core::Calendar::time_point kNow{std::chrono::hours{400'000}};
const std::string kCall = "tools/call\n\"name\":\"a\"";

std::string why_not(const RequestStates& states, std::string_view state,
                    const std::string& request = kCall, core::Calendar::time_point now = kNow) {
    const auto error = states.refuses(state, request, now);
    return error ? error->message : "";
}

TEST(RequestStates, CountWithTheSameKeyForTheSameClientAndRequest) {
    const RequestStates states("key", "ada");
    const auto state = states.make(kCall, kNow);
    EXPECT_NE(state, states.make(kCall, kNow));
    EXPECT_EQ(why_not(states, state), "");
    EXPECT_EQ(why_not(RequestStates("key", "ada"), state), "")
        << "of a gateway that was started anew";
    EXPECT_THAT(why_not(RequestStates("key", "eve"), state), HasSubstr("none that was given"));
    EXPECT_THAT(why_not(RequestStates("other", "ada"), state), HasSubstr("none that was given"));
    EXPECT_THAT(why_not(RequestStates({}, "ada"), state), HasSubstr("none that was given"));
    EXPECT_THAT(why_not(states, state, "tools/call\n\"name\":\"b\""), HasSubstr("another request"));
}

TEST(RequestStates, CountForTenMinutes) {
    const RequestStates states("key", "ada");
    const auto state = states.make(kCall, kNow);
    EXPECT_EQ(why_not(states, state, kCall, kNow + RequestStates::kLifetime), "");
    EXPECT_THAT(why_not(states, state, kCall, kNow + RequestStates::kLifetime + 1s),
                HasSubstr("older than 600 s"));
}

TEST(RequestStates, AreRefusedWhereverTheyAreChanged) {
    const RequestStates states("key", "ada");
    const auto state = states.make(kCall, kNow);
    for (std::size_t at = 0; at < state.size(); ++at) {
        auto changed = state;
        changed[at] = changed[at] == '0' ? '1' : '0';
        EXPECT_THAT(why_not(states, changed), HasSubstr("none that was given")) << at;
        EXPECT_THAT(why_not(states, state.substr(0, at)), HasSubstr("none that was given")) << at;
    }
    for (const auto& made_up : {std::string(), std::string("."), std::string("...."), state + "0",
                                std::string(1'000'000, '.'), state + '\0'})
        EXPECT_THAT(why_not(states, made_up), HasSubstr("none that was given"));
}

TEST(RequestStates, ARequestIsTheSameHoweverItIsSpacedAndWhateverItAnswers) {
    const auto first = RequestStates::request("tools/call", R"("name":"a","arguments":{"x": 1})");
    EXPECT_EQ(first, RequestStates::request(
                         "tools/call", R"("name" : "a","arguments":{"x":1},"requestState":"s",)"
                                       R"("inputResponses":{"k":{}})"));
    EXPECT_NE(first, RequestStates::request("tools/call", R"("name":"a","arguments":{"x":2})"));
    const auto two = R"("name":"a","arguments":{"x":1,"y":{"b":[1,2],"a":"\u0041"}})";
    const auto turned = R"("arguments":{"y":{"a":"A","b":[1,2]},"x":1},"name":"a")";
    const auto other = R"("arguments":{"y":{"a":"A","b":[2,1]},"x":1},"name":"a")";
    EXPECT_EQ(RequestStates::request("tools/call", two),
              RequestStates::request("tools/call", turned));
    EXPECT_NE(RequestStates::request("tools/call", two),
              RequestStates::request("tools/call", other));
    EXPECT_NE(first, RequestStates::request("prompts/get", R"("name":"a","arguments":{"x":1})"));
}

}  // namespace
}  // namespace patchbay::gateway
