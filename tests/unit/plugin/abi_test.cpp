// The words of the C ABI, said in the host's, and back.
#include "plugin/abi.hpp"

#include "core/escapes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <set>
#include <stdexcept>

using namespace patchbay;
using namespace patchbay::plugin;
using testing::HasSubstr;

namespace {

patchbay_problem problem(patchbay_status code, std::string_view text) {
    patchbay_problem made{};
    made.struct_size = sizeof made;
    fill(&made.error, code, text);
    return made;
}

TEST(Abi, EveryStatusHasItsNameAndItsCode) {
    std::set<std::string> names;
    for (patchbay_status status = PATCHBAY_E_DENIED; status < PATCHBAY_OK; ++status) {
        EXPECT_EQ(status_of(code_of(status)), status);
        names.insert(name_of_status(status));
    }
    EXPECT_EQ(names.size(), 12u);
    EXPECT_EQ(names.count("E_TIMEOUT"), 1u);
    EXPECT_EQ(name_of_status(PATCHBAY_OK), "OK");
    EXPECT_EQ(name_of_status(-99), "status -99");
    EXPECT_EQ(code_of(-99), ErrorCode::Internal);
    EXPECT_EQ(status_of(ErrorCode::NotFound), PATCHBAY_E_INVALID);
}

TEST(Abi, AProblemIsTakenOverWhole) {
    auto given = problem(PATCHBAY_E_IO, "torn");
    given.error.flags = PATCHBAY_ERR_RETRYABLE;
    given.error.native_code = 32;
    given.error.retry_after_ms = 1'500;
    given.http_status = 502;
    given.url = str("http://h/");
    const patchbay_kv headers[] = {{str("A"), str("1"), 0, 0},
                                   {str("B"), str("2"), PATCHBAY_KV_SECRET, 0}};
    given.headers = headers;
    given.header_count = 2;
    const auto made = problem_of(PATCHBAY_E_AUTH, &given);
    EXPECT_EQ(made.error.code, ErrorCode::AuthRequired) << "the status counts";
    EXPECT_EQ(made.error.message, "torn");
    EXPECT_TRUE(made.retryable);
    EXPECT_FALSE(made.not_sent);
    EXPECT_EQ(made.native_code, 32);
    EXPECT_EQ(made.retry_after_ms, 1'500u);
    EXPECT_EQ(made.http_status, 502u);
    EXPECT_EQ(made.url, "http://h/");
    ASSERT_EQ(made.headers.size(), 2u);
    EXPECT_EQ(made.headers[0].name + made.headers[0].value, "A1");
    EXPECT_FALSE(made.headers[0].secret);
    EXPECT_TRUE(made.headers[1].secret);
    given.error.flags = PATCHBAY_ERR_NOT_SENT;
    given.headers = nullptr;
    const auto other = problem_of(PATCHBAY_E_IO, &given);
    EXPECT_FALSE(other.retryable);
    EXPECT_TRUE(other.not_sent);
    EXPECT_TRUE(other.headers.empty());
}

TEST(Abi, AProblemWithoutWordsIsToldByItsStatus) {
    EXPECT_EQ(problem_of(PATCHBAY_E_LIMIT, nullptr).error.message,
              "the plugin said E_LIMIT and nothing more");
    EXPECT_EQ(problem_of(PATCHBAY_E_LIMIT, nullptr).error.code, ErrorCode::Limit);
    const auto silent = problem(PATCHBAY_E_IO, "");
    EXPECT_EQ(problem_of(PATCHBAY_E_TIMEOUT, &silent).error.message,
              "the plugin said E_TIMEOUT and nothing more");
}

TEST(Abi, OfAProblemSoMuchIsKeptAndNoMore) {
    auto given = problem(PATCHBAY_E_IO, "x");
    std::memset(given.error.message, 'x', sizeof given.error.message);  // and no end
    EXPECT_EQ(problem_of(PATCHBAY_E_IO, &given).error.message, std::string(492, 'x'))
        << "perhaps cut by the plugin, so cut as the host would";
    const std::string url(8'193, 'u'), longest(16'385, 'h');
    given.url = str(url);
    const std::vector<patchbay_kv> headers(129, {str(longest), str(longest), 0, 0});
    given.headers = headers.data();
    given.header_count = headers.size();
    const auto made = problem_of(PATCHBAY_E_IO, &given);
    EXPECT_EQ(made.url.size(), 8'192u);
    ASSERT_EQ(made.headers.size(), 128u);
    EXPECT_EQ(made.headers[0].name.size(), 16'384u);
    EXPECT_EQ(made.headers[0].value.size(), 16'384u);
}

TEST(Abi, HeadersGoWithTheirMarks) {
    std::vector<Header> headers(4, {"n", "v"});
    headers[1].secret = true;
    headers[2].environment = true;
    headers[3].sign = true;
    std::vector<patchbay_kv> out(7);
    describe(headers, out);
    ASSERT_EQ(out.size(), 4u);
    EXPECT_EQ(view(out[0].name), "n");
    EXPECT_EQ(view(out[0].value), "v");
    EXPECT_EQ(out[0].flags, 0u);
    EXPECT_EQ(out[1].flags, unsigned{PATCHBAY_KV_SECRET});
    EXPECT_EQ(out[2].flags, unsigned{PATCHBAY_KV_ENV});
    EXPECT_EQ(out[3].flags, unsigned{PATCHBAY_KV_SIGN});
}

TEST(Abi, AnErrorIsFilledUpToItsEnd) {
    fill(nullptr, PATCHBAY_E_IO, "nobody asks");
    patchbay_error error;
    std::memset(&error, 0x55, sizeof error);
    fill(&error, PATCHBAY_E_IO, std::string(494, 'x') + "\xc3\xa9", 7);
    EXPECT_EQ(std::string(error.message), std::string(494, 'x')) << "cut at a code point";
    EXPECT_EQ(error.message[495], '\0');
    EXPECT_EQ(error.code, PATCHBAY_E_IO);
    EXPECT_EQ(error.native_code, 7);
    EXPECT_EQ(error.flags, 0u);
    fill(&error, PATCHBAY_E_IO, std::string(600, 'x'));
    EXPECT_EQ(std::string(error.message).size(), 495u);
}

TEST(Abi, WhatAServiceThrowsBecomesAStatusAndALine) {
    const auto told = [](const auto& body, patchbay_status expected) {
        testing::internal::CaptureStderr();
        EXPECT_EQ(entry("the service",
                        [&]() -> patchbay_status {
                            body();
                            return PATCHBAY_OK;
                        }),
                  expected);
        return testing::internal::GetCapturedStderr();
    };
    EXPECT_EQ(told([] {}, PATCHBAY_OK), "");
    EXPECT_THAT(told([] { throw std::bad_alloc(); }, PATCHBAY_E_LIMIT),
                HasSubstr("the service: out of memory"));
    EXPECT_THAT(told([] { throw std::runtime_error("oh"); }, PATCHBAY_E_INTERNAL),
                HasSubstr("internal error: the service threw: oh"));
    EXPECT_THAT(told([] { throw 7; }, PATCHBAY_E_INTERNAL),
                HasSubstr("the service threw no std::exception"));
    testing::internal::CaptureStderr();
    void_entry("the service", [] { throw 7; });
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("no std::exception"));
    EXPECT_EQ(core::take_escapes(), 3u);
}

}  // namespace
