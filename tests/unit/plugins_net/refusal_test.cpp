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

// What a sink is told, field by field.
std::string shown(const patchbay_problem& problem) {
    const auto& error = problem.error;
    std::string all = std::to_string(problem.http_status) + " " + std::to_string(error.code) + " " +
                      std::to_string(error.native_code) + " /" + std::to_string(error.flags) + " " +
                      std::to_string(error.retry_after_ms) + "ms " +
                      std::string(sdk::view(problem.url)) + "|" + error.message;
    if (problem.struct_size != sizeof problem) all += "|of no known size";
    for (std::size_t i = 0; i < problem.header_count; ++i)
        all += "|" + std::string(sdk::view(problem.headers[i].name)) + "=" +
               std::string(sdk::view(problem.headers[i].value));
    return all;
}

TEST(Refusal, IsToldWithAllThatTheServerSaid) {
    static std::vector<std::string> told;
    static constexpr patchbay_sink kSink = {
        sizeof(patchbay_sink),
        0,
        nullptr,
        nullptr,
        [](patchbay_link*, std::uint64_t exchange, patchbay_status status,
           const patchbay_problem* problem) noexcept {
            told.push_back("done " + std::to_string(exchange) + " " + std::to_string(status) + " " +
                           shown(*problem));
        },
        nullptr,
        [](patchbay_link*, const patchbay_problem* problem) noexcept {
            told.push_back("challenge " + shown(*problem));
        },
        [](patchbay_link*, const patchbay_problem* problem) noexcept {
            told.push_back("closed " + shown(*problem));
        },
        nullptr,
        nullptr};
    patchbay_open_params params{};
    params.sink = &kSink;
    const sdk::Sink sink(params);
    auto made = refusal(503, {{"Retry-After", "7"}, {"X-A", "b"}});
    made.code = PATCHBAY_E_IO;
    tell_done(sink, 3, made);
    tell_challenge(sink, made);
    made = refusal(401, {{"WWW-Authenticate", "Bearer"}});
    made.flags = PATCHBAY_ERR_NOT_SENT;
    tell_closed(sink, made);
    const std::string io = std::to_string(PATCHBAY_E_IO);
    const auto busy = "503 " + io + " 503 /" + std::to_string(PATCHBAY_ERR_RETRYABLE) +
                      " 7000ms https://mcp.example/mcp?key=secret|HTTP 503 Why from "
                      "https://mcp.example/mcp|Retry-After=7|X-A=b";
    EXPECT_THAT(
        told, testing::ElementsAre("done 3 " + io + " " + busy, "challenge " + busy,
                                   "closed 401 " + std::to_string(PATCHBAY_E_PROTOCOL) + " 401 /" +
                                       std::to_string(PATCHBAY_ERR_NOT_SENT) +
                                       " 0ms https://mcp.example/mcp?key=secret|HTTP 401 Why from "
                                       "https://mcp.example/mcp|WWW-Authenticate=Bearer"));
}

TEST(Refusal, ABodyThatIsHandedOnIsWhatItWas) {
    const auto buffer = buffer_of("message");
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(buffer.data), buffer.size), "message");
    EXPECT_GE(buffer.capacity, buffer.size);
    buffer.release(buffer.owner);
}

}  // namespace
}  // namespace patchbay::net
