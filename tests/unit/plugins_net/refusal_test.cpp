#include "net/refusal.hpp"

#include <gmock/gmock.h>

namespace patchbay::net {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

Refusal refusal(int status, std::vector<HeaderList::Field> fields, std::string body = {}) {
    Refusal made{PATCHBAY_E_PROTOCOL, {}, std::move(body), "https://mcp.example/mcp?key=secret", 0};
    made.head.status = status;
    made.head.reason = "Why";
    made.head.fields = std::move(fields);
    return made;
}

TEST(Refusal, ItsStatusSaysWhatItIs) {
    const std::pair<int, patchbay_status> codes[] = {
        {199, PATCHBAY_E_PROTOCOL}, {200, PATCHBAY_OK},         {299, PATCHBAY_OK},
        {300, PATCHBAY_E_PROTOCOL}, {400, PATCHBAY_E_PROTOCOL}, {401, PATCHBAY_E_AUTH},
        {402, PATCHBAY_E_PROTOCOL}, {403, PATCHBAY_E_AUTH},     {404, PATCHBAY_E_PROTOCOL},
        {408, PATCHBAY_E_TIMEOUT},  {413, PATCHBAY_E_LIMIT},    {499, PATCHBAY_E_PROTOCOL},
        {500, PATCHBAY_E_IO},       {504, PATCHBAY_E_TIMEOUT},  {599, PATCHBAY_E_IO}};
    for (const auto& [status, code] : codes) EXPECT_EQ(code_of_status(status), code) << status;
}

TEST(Refusal, PassesWhereTheServerMayThinkBetterOfIt) {
    for (const int status : {408, 429, 500, 503, 599}) EXPECT_TRUE(may_pass(status)) << status;
    for (const int status : {200, 400, 401, 404, 405, 409, 428, 430, 499})
        EXPECT_FALSE(may_pass(status)) << status;
}

TEST(Refusal, SaysInSecondsWhenToAskAgain) {
    const std::pair<const char*, std::chrono::milliseconds> values[] = {
        {"0", 0ms},
        {"7", 7s},
        {"3600", 1h},
        {"3601", 1h},
        {"99999", 1h},
        {"-1", 0ms},
        {"", 0ms},
        {"7 s", 0ms},
        {"7.5", 0ms},
        {"soon", 0ms},
        {"Fri, 31 Dec 1999 23:59:59 GMT", 0ms}};
    for (const auto& [value, pause] : values)
        EXPECT_EQ(retry_after(refusal(503, {{"Retry-After", value}}).head), pause) << value;
    EXPECT_EQ(retry_after(refusal(503, {}).head), 0ms);
}

TEST(Refusal, ItsTextIsShortAndHoldsNoQuery) {
    EXPECT_EQ(refusal(404, {}).text(), "HTTP 404 Why from https://mcp.example/mcp");
    EXPECT_EQ(refusal(404, {}, "no\r\nroom\x1f!").text(),
              "HTTP 404 Why from https://mcp.example/mcp: no  room !");
    EXPECT_THAT(refusal(404, {{"Content-Type", "text/html"}}, "<p>").text(),
                testing::AllOf(HasSubstr("an HTML page"), Not(HasSubstr("<p>"))));
    EXPECT_THAT(refusal(404, {}, std::string(200, 'x') + "z").text(), testing::EndsWith("xx..."))
        << "marked as cut, so that the host looks for the beginning of a secret";
    EXPECT_THAT(refusal(404, {}, std::string(200, 'x')).text(), testing::EndsWith("xx"));
    auto wordless = refusal(404, {});
    wordless.head.reason.clear();
    EXPECT_EQ(wordless.text(), "HTTP 404 from https://mcp.example/mcp");
    wordless.head.reason = std::string(64, 'x') + "y";
    EXPECT_EQ(wordless.text(),
              "HTTP 404 " + std::string(64, 'x') + "... from https://mcp.example/mcp");
}

TEST(Refusal, ABodyThatIsHandedOnIsWhatItWas) {
    const auto buffer = buffer_of("message");
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(buffer.data), buffer.size), "message");
    EXPECT_GE(buffer.capacity, buffer.size);
    buffer.release(buffer.owner);
}

}  // namespace
}  // namespace patchbay::net
