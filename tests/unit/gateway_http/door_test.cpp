#include "gateway/http/door.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::gateway {
namespace {

unsigned status_at(const std::string& address, const http::Headers& headers) {
    const auto refused = Door(*http::parse_address(address)).refuses({"POST", "/mcp", headers, {}});
    return refused ? refused->status : 200;
}

TEST(Door, LetsInWhoCallsThisMachineByItsName) {
    for (const auto* host :
         {"localhost", "LOCALHOST:8808", "127.0.0.1", "127.0.0.1:1", "[::1]:8808"})
        EXPECT_EQ(status_at("127.0.0.1:8808", {{"host", host}}), 200u) << host;
    EXPECT_EQ(status_at("127.0.0.9:1", {{"host", "127.0.0.9:1"}}), 200u);
}

TEST(Door, KeepsOutWhoCallsItByAnotherName) {
    for (const auto* host :
         {"evil.example", "evil.example:8808", "localhost.evil.example", "127.0.0.1.evil.example",
          "localhost:80@evil.example", "", "[::2]", "127.0.0.1:x", "localhost:", "localhost:80:80"})
        EXPECT_EQ(status_at("127.0.0.1:8808", {{"host", host}}),
                  std::string(host) == "localhost:" ? 200u : 403u)
            << host;
    EXPECT_EQ(status_at("127.0.0.1:8808", {}), 403u);
    EXPECT_EQ(status_at("127.0.0.1:8808", {{"host", "127.0.0.9"}}), 403u);
}

TEST(Door, SaysByWhichNamesItIsReached) {
    const auto refused =
        Door(*http::parse_address("127.0.0.1:1")).refuses({"GET", "/", {{"host", "evil"}}, {}});
    ASSERT_TRUE(refused);
    EXPECT_THAT(refused->message, ::testing::HasSubstr("localhost, 127.0.0.1 and [::1]"));
}

TEST(Door, LetsInWhoCallsItByANameThatWasSaid) {
    const auto status = [](const std::string& address, const http::Headers& headers) {
        const Door door(*http::parse_address(address), {"mcp.example", "[2001:db8::1]"});
        const auto refused = door.refuses({"POST", "/mcp", headers, {}});
        return refused ? refused->status : 200;
    };
    for (const auto* host : {"mcp.example", "MCP.example:8443", "[2001:db8::1]:1", "localhost"})
        EXPECT_EQ(status("0.0.0.0:1", {{"host", host}}), 200u) << host;
    for (const auto* host : {"evil.example", "a.mcp.example", "0.0.0.0", "[::]", ""})
        EXPECT_EQ(status("0.0.0.0:1", {{"host", host}}), 403u) << host;
    EXPECT_EQ(status("[::]:1", {{"host", "[::]:1"}}), 403u);
    EXPECT_EQ(status("192.0.2.7:1", {{"host", "192.0.2.7"}}), 200u);
    EXPECT_EQ(status("0.0.0.0:1", {{"host", "mcp.example"}, {"origin", "https://mcp.example"}}),
              200u);
    EXPECT_EQ(status("0.0.0.0:1", {{"host", "mcp.example"}, {"origin", "https://evil.example"}}),
              403u);
}

TEST(Door, LetsInPagesOfOriginsThatWereSaidToTheLetter) {
    const Door door(*http::parse_address("127.0.0.1:1"), {}, {"https://app.example", "vscode://a"});
    const auto status = [&](const http::Headers& origins) {
        http::Headers headers{{"host", "localhost"}};
        headers.insert(headers.end(), origins.begin(), origins.end());
        const auto refused = door.refuses({"POST", "/mcp", headers, {}});
        return refused ? refused->status : 200;
    };
    for (const auto* page : {"https://app.example", "vscode://a", "http://localhost:1"})
        EXPECT_EQ(status({{"origin", page}}), 200u) << page;
    for (const auto* page :
         {"http://app.example", "https://app.example:444", "https://a.app.example",
          "https://app.example.evil.example", "https://app.example/", "null", ""})
        EXPECT_EQ(status({{"origin", page}}), 403u) << page;
    EXPECT_EQ(status({{"origin", "https://app.example"}, {"origin", "https://app.example"}}), 403u);
    EXPECT_TRUE(door.refuses(
        {"POST", "/mcp", {{"host", "app.example"}, {"origin", "https://app.example"}}, {}}))
        << "a page that may come is no name of ours";
}

TEST(Door, LetsInPagesOfThisMachineAlone) {
    const auto of_page = [](const std::string& origin) {
        return status_at("127.0.0.1:8808", {{"host", "localhost"}, {"origin", origin}});
    };
    for (const auto* ours :
         {"http://localhost", "http://localhost:3000", "https://127.0.0.1", "http://[::1]:5"})
        EXPECT_EQ(of_page(ours), 200u) << ours;
    for (const auto* foreign : {"http://evil.example", "null", "", "file://localhost", "localhost",
                                "http://localhost.evil.example", "https://"})
        EXPECT_EQ(of_page(foreign), 403u) << foreign;
    EXPECT_EQ(status_at("127.0.0.1:1", {{"host", "localhost"},
                                        {"origin", "http://localhost"},
                                        {"origin", "http://localhost"}}),
              403u);
}

TEST(Door, OfASocketWithAPathIsTheFileSystems) {
    EXPECT_EQ(status_at("unix:/tmp/p", {{"host", "anything"}}), 200u);
    EXPECT_EQ(status_at("unix:/tmp/p", {{"host", "x"}, {"origin", "http://evil.example"}}), 403u);
}

}  // namespace
}  // namespace patchbay::gateway
