#include "gateway/access/listening.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::gateway {
namespace {

using ::testing::HasSubstr;

// "": it may.
std::string refused(const char* address, Asks asks, Carried carried,
                    const std::vector<std::string>& names = {}) {
    const auto may = may_listen(*http::parse_address(address), asks, carried, names);
    return may ? "" : may.error().message;
}

TEST(Listening, ThisMachinesProgramsComeAsTheyAre) {
    for (const auto* own : {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "unix:/x"})
        EXPECT_EQ(refused(own, Asks::Nobody, Carried::Plain), "") << own;
}

TEST(Listening, ElsewhereEachIsAskedAndNothingIsInTheClear) {
    for (const auto* others : {"192.0.2.1:1", "[2001:db8::1]:1", "[::ffff:127.0.0.1]:1"}) {
        EXPECT_THAT(refused(others, Asks::Nobody, Carried::Tls), HasSubstr("--auth none"));
        EXPECT_THAT(refused(others, Asks::Everybody, Carried::Plain), HasSubstr("--allow-plain"));
        EXPECT_EQ(refused(others, Asks::Everybody, Carried::Tls), "");
        EXPECT_EQ(refused(others, Asks::Everybody, Carried::PlainAnyway), "");
    }
}

TEST(Listening, AnyAddressHasAName) {
    for (const auto* any : {"0.0.0.0:1", "[::]:1", "[::0:0]:1"}) {
        EXPECT_THAT(refused(any, Asks::Everybody, Carried::Tls), HasSubstr("--allow-host")) << any;
        EXPECT_EQ(refused(any, Asks::Everybody, Carried::Tls, {"a.example"}), "") << any;
        EXPECT_NE(refused(any, Asks::Nobody, Carried::Tls, {"a.example"}), "") << any;
    }
}

TEST(WebUrl, IsReadInOneWayOnly) {
    const auto url = parse_web_url("HTTPS://Mcp.Example:8443/a/b");
    ASSERT_TRUE(url);
    EXPECT_EQ(url->origin(), "https://mcp.example:8443");
    EXPECT_EQ(url->host, "mcp.example");
    EXPECT_EQ(url->path, "/a/b");
    EXPECT_EQ(parse_web_url("http://[::1]:80")->host, "[::1]");
    for (const auto* wrong :
         {"", "example.com", "ftp://a", "https://", "https://user@a", "https://a:b@c",
          "https://a:", "https://a:123456", "https://a b", "https://a\\b", "https://a/?q",
          "https://a/#f", "https://a/ b", "https://a/\n", "https://[::1", "https://[zz]",
          "https://-a", "https://a/\"", "https://a?b"})
        EXPECT_FALSE(parse_web_url(wrong)) << wrong;
}

TEST(Host, IsANameWithoutSchemeAndPort) {
    EXPECT_EQ(*parse_host("MCP.Example"), "mcp.example");
    EXPECT_EQ(*parse_host("[::1]"), "[::1]");
    for (const auto* wrong : {"", "a:1", "http://a", "a/b", "*", "::1", "a b"})
        EXPECT_FALSE(parse_host(wrong)) << wrong;
}

TEST(Origin, IsOneToTheLetterAsABrowserWritesIt) {
    EXPECT_EQ(*parse_origin("https://App.Example"), "https://app.example");
    EXPECT_EQ(*parse_origin("https://app.example:443"), "https://app.example");
    EXPECT_EQ(*parse_origin("http://app.example:80"), "http://app.example");
    EXPECT_EQ(*parse_origin("http://[::1]:5173"), "http://[::1]:5173");
    EXPECT_EQ(*parse_origin("HTTPS://x"), "https://x");
    EXPECT_EQ(*parse_origin("http://[::1]:80"), "http://[::1]");
    EXPECT_EQ(*parse_origin("http://[0:0::0:1]:81"), "http://[::1]:81");
    EXPECT_EQ(*parse_origin("http://[2001:DB8:0::7]"), "http://[2001:db8::7]");
    EXPECT_EQ(*parse_origin("http://[::ffff:192.0.2.7]"), "http://[::ffff:c000:207]");
    EXPECT_EQ(*parse_origin("http://app.example:443"), "http://app.example:443");
    EXPECT_EQ(*parse_origin("chrome-extension://abcdef"), "chrome-extension://abcdef");
    for (const auto* wrong : {"",
                              "*",
                              "null",
                              "app.example",
                              "https://",
                              "https://*.example",
                              "https://a/",
                              "https://a/b",
                              "https://a:",
                              "https://a:x",
                              "https://a:65536",
                              "https://a:0443",
                              "https://a:0",
                              "https://u@a",
                              "https://a, https://b",
                              "://a",
                              "1x://a",
                              "http://127.1",
                              "http://0x7f.1",
                              "http://127.0.0.01",
                              "https://[::g]",
                              "https://m\u00fcnchen.example"})
        EXPECT_FALSE(parse_origin(wrong)) << wrong;
    EXPECT_THAT(parse_origin("https://m\u00fcnchen.example").error().message,
                ::testing::HasSubstr("with xn--"));
}

TEST(Host, IsOneToTheLetterAsProgramsWriteIt) {
    EXPECT_EQ(*parse_host("MCP.example"), "mcp.example");
    EXPECT_EQ(*parse_host("[0::1]"), "[::1]");
    EXPECT_EQ(parse_web_url("http://[0::1]:8080/mcp")->authority, "[::1]:8080");
    EXPECT_EQ(parse_web_url("http://[0::1]")->authority, "[::1]");
    EXPECT_FALSE(parse_host("127.1"));
}

}  // namespace
}  // namespace patchbay::gateway
