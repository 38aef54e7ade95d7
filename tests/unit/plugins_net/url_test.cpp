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
    EXPECT_EQ(Url::parse("wss://h:443/x").authority(), "h");
    EXPECT_EQ(Url::parse("wss://h:80/x").authority(), "h:80");
    EXPECT_EQ(Url::parse("https://h:80/x").authority(), "h:80");
    EXPECT_EQ(Url::parse("http://h:443/x").authority(), "h:443");
    EXPECT_TRUE(Url::parse("wss://h/").secure());
    EXPECT_TRUE(Url::parse("https://h/").secure());
    EXPECT_FALSE(Url::parse("ws://h/").secure());
    EXPECT_EQ(Url::parse("ws://h:80/x").authority(), "h") << "its scheme's own port";
}

TEST(Url, IsSentAsWritten) {
    for (const char* each :
         {"http://h/a%2Fb/%2e%2E/c?d=%26&e=/..", "http://h/a/../b/./c", "http://h//double",
          "http://h/a;b=c,d@e:f!$&'()*+~", "http://h/?only=query", "http://h/ends%2F"})
        EXPECT_EQ(Url::parse(each).text(), each);
    EXPECT_EQ(Url::parse("http://h/\xc3\xa4{x}").text(), "http://h/%C3%A4%7Bx%7D");
    EXPECT_EQ(Url::parse("http://h?q").text(), "http://h/?q");
    EXPECT_THAT(refusal("http://h/100%"), HasSubstr("% that is not followed"));
    EXPECT_THAT(refusal("http://h/%zz"), HasSubstr("% that is not followed"));
    EXPECT_THAT(refusal("http://h/%2"), HasSubstr("% that is not followed"));
}

TEST(Url, KnowsWhichRedirectStaysWithTheServer) {
    const struct {
        const char *from, *to;
        bool home;
    } cases[] = {
        {"http://h:1/a", "http://h:1/b", true},         {"http://h/a", "https://h/a", true},
        {"http://h:80/a", "https://h:443/a", true},     {"https://h/a", "http://h/a", false},
        {"http://h:8080/a", "https://h:8443/a", false}, {"http://h/a", "https://h:8443/a", false},
        {"http://h/a", "https://www.h/a", false},       {"http://h:1/a", "http://h:2/a", false},
    };
    for (const auto& c : cases)
        EXPECT_EQ(Url::parse(c.from).leads_home(Url::parse(c.to)), c.home) << c.from << " " << c.to;
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
    for (const char* host : {"[::1]x", "[::1]8080", "[::1", "a[::1]", "[]", "[[::1]]"})
        EXPECT_THAT(refusal("http://" + std::string(host) + "/"), Not(HasSubstr("accepted")))
            << host;
    for (const char* host : {"caf\xc3\xa9.example", "a%0d%0ab", "a,b", "a\"b", "<h>"})
        EXPECT_THAT(refusal("http://" + std::string(host) + "/"), HasSubstr("no host has")) << host;
    EXPECT_THAT(refusal("http://h/" + std::string(8192 - 9, 'x')), HasSubstr("accepted"));
    EXPECT_THAT(refusal("http://h/" + std::string(8192 - 8, 'x')), HasSubstr("longer than"));
    EXPECT_THAT(refusal("http://h/\x7f"), HasSubstr("control character"));
    for (const char* host : {"h@evil", "[h]", "a;b"})
        EXPECT_THAT(refusal("http://" + std::string(host) + ":x/"), Not(HasSubstr("accepted")));
    for (const char* fine : {"http://azAZ09-._/", "http://[fe80::1%25eth0]/", "wss://h:443/",
                             "https://h:80/", "http://h:65535/"})
        EXPECT_THAT(refusal(fine), HasSubstr("accepted")) << fine;
}

TEST(Url, ResolvesReferencesOfAnAnswer) {
    const auto url = Url::parse("http://h:1/a/b?c");
    EXPECT_EQ(url.resolve("/m?s=1").text(), "http://h:1/m?s=1");
    EXPECT_EQ(url.resolve("m").text(), "http://h:1/a/m");
    EXPECT_EQ(url.resolve("https://other/m").origin(), "https://other");
    EXPECT_EQ(url.resolve("../x%2F/./y/..").text(), "http://h:1/x%2F/");
    EXPECT_EQ(url.resolve("/../../m").text(), "http://h:1/m");
    EXPECT_EQ(url.resolve("?d").text(), "http://h:1/a/b?d");
    EXPECT_EQ(url.resolve("#part").text(), "http://h:1/a/b?c");
    EXPECT_EQ(url.resolve("//other:2/m").text(), "http://other:2/m");
    EXPECT_THROW(url.resolve("javascript:alert(1)"), sdk::Failure);
    EXPECT_THROW(url.resolve("//user@other/m"), sdk::Failure);
    EXPECT_THROW(url.resolve("//[::1]x/m"), sdk::Failure);
    EXPECT_EQ(url.resolve("//[::1]:2/m").text(), "http://[::1]:2/m");
    EXPECT_THROW(url.resolve("/m\r\nX: y"), sdk::Failure);
}

}  // namespace
}  // namespace patchbay::net
