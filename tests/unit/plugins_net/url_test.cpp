#include "net/url.hpp"

#include <patchbay/cpp/plugin.hpp>

#include <gmock/gmock.h>

namespace patchbay::net {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
    try {
        return "accepted: " + Url::parse(text).text();
    } catch (const sdk::Failure& failure) {
        return failure.what();
    }
}

TEST(Url, IsTakenApart) {
    const auto url = Url::parse("HTTPS://Example.COM/mcp?key=1#part");
    EXPECT_EQ(url.scheme, "https");
    EXPECT_EQ(url.host, "example.com");
    EXPECT_EQ(url.port, 443);
    EXPECT_EQ(url.target, "/mcp?key=1");
    EXPECT_EQ(url.authority(), "example.com");
    EXPECT_EQ(url.without_query(), "https://example.com/mcp");
    EXPECT_EQ(Url::parse("http://[::1]:8080").text(), "http://[::1]:8080/");
    EXPECT_EQ(Url::parse("ws://h:80/x").authority(), "h") << "its scheme's own port";
}

TEST(Url, RefusesWhatCouldMeanTwoThings) {
    EXPECT_THAT(refusal("http://user:secret@example.com/"), HasSubstr("user name or password"));
    EXPECT_THAT(refusal("http://user:secret@example.com/"), Not(HasSubstr("secret@")));
    EXPECT_THAT(refusal("http://example.com\\@evil.com/"), HasSubstr("backslash"));
    EXPECT_THAT(refusal("http://example.com/a b"), HasSubstr("space"));
    EXPECT_THAT(refusal("http://example.com/\r\nHost: evil"), HasSubstr("control character"));
    EXPECT_THAT(refusal("file:///etc/passwd"), HasSubstr("must begin with http"));
    EXPECT_THAT(refusal("javascript:alert(1)"), HasSubstr("must begin with http"));
    EXPECT_THAT(refusal("http:///path"), HasSubstr("names no host"));
    EXPECT_THAT(refusal("http://h:99999/"), HasSubstr("cannot be read"));
    EXPECT_THAT(refusal("http://h/" + std::string(9000, 'x')), HasSubstr("longer than"));
}

TEST(Url, ResolvesReferencesOfAnAnswer) {
    const auto url = Url::parse("http://h:1/a/b?c");
    EXPECT_EQ(url.resolve("/m?s=1").text(), "http://h:1/m?s=1");
    EXPECT_EQ(url.resolve("m").text(), "http://h:1/a/m");
    EXPECT_EQ(url.resolve("https://other/m").origin(), "https://other");
    EXPECT_THROW(url.resolve("javascript:alert(1)"), sdk::Failure);
    EXPECT_THROW(url.resolve("/m\r\nX: y"), sdk::Failure);
}

}  // namespace
}  // namespace patchbay::net
