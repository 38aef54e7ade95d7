#include "gateway/http/cross_origin.hpp"

#include "unit/gateway_http/http_gateway_fixture.hpp"

namespace patchbay::gateway {
namespace {

class CrossOriginTest : public HttpGatewayTest {
protected:
    Exchange ask(const std::string& method, http::Headers headers, std::string body = {}) {
        auto exchange = std::make_shared<FakeExchange>();
        exchange->sends = std::move(body);
        headers.emplace_back("host", "localhost");
        headers.emplace_back("accept", "application/json, text/event-stream");
        headers.emplace_back("content-type", "application/json");
        CrossOrigin(Door(*http::parse_address("127.0.0.1:80")), gateway())
            .on_request(exchange, {method, "/mcp", std::move(headers), {}});
        return exchange;
    }
    const std::string page = "http://localhost:6274";
};

TEST_F(CrossOriginTest, APageOfOursIsToldWhatItMaySendBeforeItHasAToken) {
    const auto told =
        ask("OPTIONS",
            {{"origin", page},
             {"as", "nobody"},
             {"access-control-request-method", "POST"},
             {"access-control-request-headers", "authorization,content-type,mcp-param-city"}});
    EXPECT_EQ(told->status, 204u);
    EXPECT_EQ(told->header("Access-Control-Allow-Origin"), page);
    EXPECT_EQ(told->header("Access-Control-Allow-Methods"), "POST, GET, DELETE");
    EXPECT_EQ(told->header("Access-Control-Allow-Headers"),
              "authorization,content-type,mcp-param-city");
    EXPECT_NE(told->header("Access-Control-Max-Age"), "");
    EXPECT_EQ(told->header("Vary"), "Origin");
}

TEST_F(CrossOriginTest, APageMayReadWhatItIsAnsweredARefusalToo) {
    const auto hello = ask("POST", {{"origin", page}},
                           message(0, "initialize", {{"protocolVersion", "2025-11-25"}}));
    EXPECT_EQ(hello->status, 200u);
    EXPECT_NE(hello->header("MCP-Session-Id"), "");
    const auto refused = ask("POST", {{"origin", page}, {"as", "nobody"}}, "{}");
    EXPECT_EQ(refused->status, 401u);
    const auto stream =
        ask("GET", {{"origin", page}, {"mcp-session-id", hello->header("MCP-Session-Id")}});
    EXPECT_TRUE(stream->streams());
    for (const auto& each : {hello, refused, stream}) {
        EXPECT_EQ(each->header("Access-Control-Allow-Origin"), page);
        EXPECT_THAT(each->header("Access-Control-Expose-Headers"), HasSubstr("MCP-Session-Id"));
        EXPECT_THAT(each->header("Access-Control-Expose-Headers"), HasSubstr("WWW-Authenticate"));
    }
}

TEST_F(CrossOriginTest, AForeignPageIsToldNothing) {
    for (const auto* origin : {"https://evil.example", "null"}) {
        const auto told =
            ask("OPTIONS", {{"origin", origin}, {"access-control-request-method", "POST"}});
        EXPECT_EQ(told->status, 403u) << origin;
        EXPECT_EQ(told->header("Access-Control-Allow-Origin"), "") << origin;
    }
}

TEST_F(CrossOriginTest, WhoIsNoPageIsAnsweredAsBefore) {
    EXPECT_EQ(ask("OPTIONS", {})->status, 405u);
    EXPECT_EQ(ask("OPTIONS", {{"origin", page}})->status, 405u) << "it asks for nothing";
    const auto hello =
        ask("POST", {}, message(0, "initialize", {{"protocolVersion", "2025-11-25"}}));
    EXPECT_EQ(hello->header("Access-Control-Allow-Origin"), "");
}

TEST_F(CrossOriginTest, WhatIsNoListOfNamesIsNotSaidAgain) {
    const auto told = ask("OPTIONS", {{"origin", page},
                                      {"access-control-request-method", "POST"},
                                      {"access-control-request-headers", "a\"b: c"}});
    EXPECT_EQ(told->status, 204u);
    EXPECT_EQ(told->header("Access-Control-Allow-Headers"), "");
}

}  // namespace
}  // namespace patchbay::gateway
