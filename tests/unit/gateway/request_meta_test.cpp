#include "gateway/request_meta.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::gateway {
namespace {

using ::testing::HasSubstr;

const std::string kVersion = R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")";
const std::string kCapabilities = R"("io.modelcontextprotocol/clientCapabilities":{"roots":{}})";

Result<RequestMeta> read(const std::string& meta) {
    auto read = read_meta(meta);
    if (read.wrong) return *read.wrong;
    return read;
}

TEST(RequestMeta, WithoutARevisionIsOfTheLegacyEra) {
    const auto meta = read(R"("progressToken":7,"com.example/x":1.50)");
    ASSERT_TRUE(meta);
    EXPECT_EQ(meta->era, protocol::Era::Legacy);
    EXPECT_EQ(meta->progress_token, "7");
    EXPECT_EQ(meta->relayed, R"("com.example/x":1.50)");
    EXPECT_TRUE(read(""));
}

TEST(RequestMeta, OfTheModernEraSaysAllThatItsRequestIsJudgedBy) {
    const auto meta = read(kVersion + "," + kCapabilities +
                           R"(,"io.modelcontextprotocol/logLevel":"warning")"
                           R"(,"io.modelcontextprotocol/clientInfo":{"name":"c"})"
                           R"(,"progressToken":"t","traceparent":"00-1")");
    ASSERT_TRUE(meta) << meta.error().message;
    EXPECT_EQ(meta->era, protocol::Era::Modern);
    EXPECT_EQ(meta->capabilities, R"({"roots":{}})");
    EXPECT_EQ(meta->progress_token, R"("t")");
    EXPECT_EQ(meta->log_severity, 3u);
    EXPECT_EQ(meta->relayed, R"("traceparent":"00-1")") << "the rest is said from hop to hop";
}

TEST(RequestMeta, IsRefusedWhereItLacksWhatItsEraAsksFor) {
    for (const auto& [meta, lacking] : std::initializer_list<std::pair<std::string, const char*>>{
             {kVersion, "clientCapabilities"},
             {kVersion + R"(,"io.modelcontextprotocol/clientCapabilities":[])",
              "clientCapabilities"},
             {kVersion + R"(,"io.modelcontextprotocol/clientCapabilities":{"x":")" +
                  std::string(kMostCapabilityBytes, 'x') + R"("})",
              "65536 bytes"},
             {R"("io.modelcontextprotocol/protocolVersion":1)", "protocolVersion"},
             {kVersion + "," + kCapabilities + R"(,"io.modelcontextprotocol/logLevel":"loud")",
              "logLevel"},
             {R"("io.modelcontextprotocol/logLevel":"loud",)" + kVersion + "," + kCapabilities,
              "logLevel"}}) {
        const auto read_of = read(meta);
        ASSERT_FALSE(read_of) << meta;
        EXPECT_EQ(read_of.error().code, ErrorCode::Invalid) << meta;
        EXPECT_THAT(read_of.error().message, HasSubstr(lacking));
    }
    const auto older =
        read(R"("io.modelcontextprotocol/protocolVersion":"2025-11-25",)" + kCapabilities);
    ASSERT_FALSE(older);
    EXPECT_EQ(older.error().code, ErrorCode::Unsupported);
}

TEST(RequestMeta, ATokenThatIsNoTextOrNumberIsNone) {
    for (const char* odd : {"null", "{}", "[1]", "true"}) {
        const auto meta = read("\"progressToken\":" + std::string(odd));
        ASSERT_TRUE(meta);
        EXPECT_EQ(meta->progress_token, "") << odd;
    }
}

}  // namespace
}  // namespace patchbay::gateway
