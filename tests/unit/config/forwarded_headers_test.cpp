#include "config/forwarded_headers.hpp"

#include "config/merge.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Fragment file(const std::string& text, Scope scope) {
    return read_fragment(text, Format::Toml, {scope, 0, std::string(name_of(scope)) + ".toml"});
}
Config of(const std::string& keys, const std::string& where = "url = 'https://x'\n") {
    std::vector<Fragment> one;
    one.push_back(file("[servers.a]\n" + where + keys, Scope::User));
    auto config = merge(std::move(one));
    const auto anything =
        boost::json::parse(R"({"properties":{"headers":{}},"additionalProperties":true})");
    check_transports(config, {{"http", anything}, {"sse", anything}, {"stdio", anything}});
    return config;
}

TEST(ForwardedHeaders, AreNamesInAnyCaseEachOnce) {
    const auto config = of("forward_headers = ['X-Request-Id', 'x-request-id', 'traceparent']\n");
    EXPECT_EQ(all(config.diagnostics), "");
    EXPECT_THAT(config.servers.at(0).forward_headers, ElementsAre("x-request-id", "traceparent"));
}

TEST(ForwardedHeaders, AreNeverThoseOfTheConnectionTheBodyOrWhoTheClientIs) {
    for (const std::string name : {"Authorization",
                                   "cookie",
                                   "Set-Cookie",
                                   "HOST",
                                   "connection",
                                   "Keep-Alive",
                                   "te",
                                   "Transfer-Encoding",
                                   "upgrade",
                                   "Proxy-Authorization",
                                   "proxy-connection",
                                   "Mcp-Name",
                                   "mcp-session-id",
                                   "MCP-Protocol-Version",
                                   "Content-Length",
                                   "content-type",
                                   "Origin",
                                   "X-Forwarded-For",
                                   "x-forwarded-host",
                                   "Forwarded",
                                   "Accept",
                                   "Last-Event-Id",
                                   "a b",
                                   "",
                                   "x:y"}) {
        const auto config = of("forward_headers = ['x-good', '" + name + "']\n");
        EXPECT_THAT(config.servers, IsEmpty()) << name;
        EXPECT_THAT(all(config.diagnostics),
                    AllOf(HasSubstr("error: user config user.toml:3:"),
                          HasSubstr("server \"a\": forward_headers: \"" + name + "\"")));
    }
}

TEST(ForwardedHeaders, AreFew) {
    std::string names;
    for (std::size_t i = 0; i <= kMostForwardedHeaders; ++i)
        names += "'x-" + std::to_string(i) + "', ";
    EXPECT_THAT(all(of("forward_headers = [" + names + "]\n").diagnostics),
                HasSubstr("expected at most 16 names, found 17"));
}

TEST(ForwardedHeaders, OfAServerThatGetsNoneAreWarnedOf) {
    const auto config = of("forward_headers = ['x-a']\n", "command = 'run'\n");
    ASSERT_EQ(config.servers.size(), 1u);
    EXPECT_THAT(config.servers[0].forward_headers, IsEmpty());
    EXPECT_THAT(all(config.diagnostics),
                AllOf(HasSubstr("warning: "), HasSubstr("user.toml:3:"),
                      HasSubstr("forward_headers is for the transports http and sse; over stdio")));
}

TEST(ForwardedHeaders, TakeThePlaceOfNoneThatTheServerHasItself) {
    const auto config =
        of("headers = { X-Api-Key = 'k' }\nforward_headers = ['x-api-key', 'x-b']\n");
    ASSERT_EQ(config.servers.size(), 1u);
    EXPECT_THAT(config.servers[0].forward_headers, ElementsAre("x-b"));
    EXPECT_THAT(all(config.diagnostics),
                HasSubstr("\"x-api-key\" is set by headers of this server"));
}

TEST(ForwardedHeaders, OfAUsersServerAreNotForAProjectToSay) {
    std::vector<Fragment> both;
    both.push_back(file("[servers.a]\nurl = 'https://x'\n", Scope::User));
    both.push_back(file("[servers.a]\nforward_headers = ['x-secret']\n", Scope::Project));
    const auto config = merge(std::move(both));
    for (const auto& server : config.servers) EXPECT_THAT(server.forward_headers, IsEmpty());
    EXPECT_THAT(
        all(config.diagnostics),
        HasSubstr("\"forward_headers\" cannot change a server that another source defines"));
}

}  // namespace
}  // namespace patchbay::config
