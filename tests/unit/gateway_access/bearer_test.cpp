#include "gateway/access/bearer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::gateway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Error = Challenge::Error;

std::string seen_in(const http::Headers& headers, const std::string& target = "/mcp") {
    const http::Request request{"POST", target, headers, {}};
    const auto brought = bearer_of(request);
    if (const auto* token = std::get_if<std::string_view>(&brought)) return std::string(*token);
    switch (std::get<NoBearer>(brought).error) {
        case Error::None:
            return "(none)";
        case Error::InvalidRequest:
            return "(invalid request)";
        case Error::InvalidToken:
            return "(invalid token)";
        case Error::InsufficientScope:
            break;
    }
    return "(?)";
}

TEST(Bearer, IsWhatTheAuthorizationHeaderSaysAndNothingElse) {
    const std::pair<http::Headers, const char*> cases[] = {
        {{{"authorization", "Bearer abc"}}, "abc"},
        {{{"authorization", "bearer abc"}}, "abc"},
        {{{"authorization", " BEARER   abc-._~+/== "}}, "abc-._~+/=="},
        {{}, "(none)"},
        {{{"authorization", ""}}, "(none)"},
        {{{"authorization", "Basic YTpi"}}, "(none)"},
        {{{"authorization", "Bearerabc"}}, "(none)"},
        {{{"authorization", "Bearer"}}, "(invalid request)"},
        {{{"authorization", "Bearer a b"}}, "(invalid request)"},
        {{{"authorization", "Bearer a,b"}}, "(invalid request)"},
        {{{"authorization", "Bearer =a"}}, "(invalid request)"},
        {{{"authorization", "Bearer a=b"}}, "(invalid request)"},
        {{{"authorization", "Bearer \xc3\xa4"}}, "(invalid request)"},
        {{{"authorization", "Bearer a"}, {"authorization", "Bearer a"}}, "(invalid request)"},
        {{{"authorization", "Bearer " + std::string(9'000, 'a')}}, "(invalid token)"},
    };
    for (const auto& [headers, expected] : cases)
        EXPECT_EQ(seen_in(headers), expected) << ::testing::PrintToString(headers);
}

TEST(Bearer, InAUrlIsRefused) {
    const http::Headers fine{{"authorization", "Bearer abc"}};
    for (const auto* target :
         {"/mcp?access_token=abc", "/mcp?a=b&access_token=", "/mcp?a&Access_Token=x",
          "/mcp?access%5Ftoken=abc", "/mcp?%61ccess_token=abc"})
        EXPECT_EQ(seen_in(fine, target), "(invalid request)") << target;
    for (const auto* target :
         {"/mcp?my_access_token=1", "/mcp?a=access_token", "/mcp?%", "/mcp?%6"})
        EXPECT_EQ(seen_in(fine, target), "abc") << target;
}

TEST(Challenge, SaysHowToComeInAndWhatWasWrong) {
    const Challenge challenge{"https://a.example/.well-known/oauth-protected-resource/mcp",
                              "mcp x"};
    const auto header = [](const HttpRefusal& refused) { return refused.headers.at(0).second; };
    const auto first = challenge.refusal(Error::None, "a token is needed");
    EXPECT_EQ(first.status, 401u);
    EXPECT_EQ(first.headers.at(0).first, "WWW-Authenticate");
    EXPECT_EQ(header(first),
              "Bearer realm=\"patchbay\", resource_metadata=\"https://a.example/.well-known/"
              "oauth-protected-resource/mcp\", scope=\"mcp x\"");
    const auto wrong = challenge.refusal(Error::InvalidToken, "it has expired");
    EXPECT_EQ(wrong.status, 401u);
    EXPECT_THAT(header(wrong), HasSubstr("error=\"invalid_token\", error_description=\"it has"));
    EXPECT_EQ(challenge.refusal(Error::InvalidRequest, "two").status, 400u);
    EXPECT_EQ(challenge.refusal(Error::InsufficientScope, "x").status, 403u);
    EXPECT_THAT(header(Challenge().refusal(Error::None, "x")), Not(HasSubstr("resource_metadata")));
}

}  // namespace
}  // namespace patchbay::gateway
