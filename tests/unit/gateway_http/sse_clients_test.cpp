// The older transport, HTTP with SSE of 2024-11-05.
#include "unit/gateway_http/http_gateway_fixture.hpp"

#include <sstream>

namespace patchbay::gateway {
namespace {

TEST_F(HttpGatewayTest, OfTheOlderTransportThereIsNothingUnlessItIsWanted) {
    EXPECT_EQ(come("GET", {}, {}, "/sse")->status, 404u);
    EXPECT_EQ(come("POST", {}, "{}", "/messages?sessionId=x")->status, 404u);
    offer_sse();
    for (const auto* other : {"/sses", "/sse/x", "/messages/x?sessionId=1", "/messagesx", "/"})
        EXPECT_EQ(come("GET", {}, {}, other)->status, 404u) << other;
}

TEST_F(HttpGatewayTest, AClientOfTheOlderTransportHearsEverythingOnItsStream) {
    offer_sse();
    be_slow(R"({"jsonrpc":"2.0","method":"notifications/message",)"
            R"("params":{"level":"error",)"
            "\n"
            R"("data":"two lines"}})");
    const auto stream = come("GET", {}, {}, "/sse");
    EXPECT_TRUE(stream->streams());
    const auto where = endpoint_of(stream);
    EXPECT_EQ(where.rfind("/messages?sessionId=", 0), 0u) << where;
    const auto post = [&](const std::string& body) {
        return come("POST", {}, body, where)->status;
    };
    EXPECT_EQ(post(message(0, "initialize", {{"protocolVersion", "2024-11-05"}})), 202u);
    EXPECT_THAT(stream->body, HasSubstr(R"("protocolVersion":"2024-11-05")"));
    EXPECT_EQ(post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"), 202u);
    EXPECT_EQ(post(message(1, "tools/call", kCall)), 202u);
    ASSERT_TRUE(wait([&] { return stream->has("lines"); }));
    finish(0);
    ASSERT_TRUE(wait([&] { return stream->has(R"("id":1,"result")"); }));
    // Each event is one line, and the session goes on after what makes no sense.
    EXPECT_EQ(post("{"), 202u);
    EXPECT_THAT(stream->body, HasSubstr("-32700"));
    EXPECT_EQ(post(message("p", "ping", {})), 202u);
    EXPECT_THAT(stream->body, HasSubstr(R"("id":"p","result")"));
    std::istringstream lines(stream->body);
    for (std::string line; std::getline(lines, line);)
        EXPECT_TRUE(line.empty() || line.rfind("event: ", 0) == 0 || line.rfind("data: ", 0) == 0)
            << line;
    EXPECT_FALSE(stream->over);
    gateway().close();
    EXPECT_TRUE(stream->over);
}

TEST_F(HttpGatewayTest, ASessionOfTheOlderTransportEndsWithItsStreamAndItsCallsWithIt) {
    offer_sse();
    be_slow();
    const auto stream = come("GET", {}, {}, "/sse");
    const auto where = endpoint_of(stream);
    come("POST", {}, message(0, "initialize", {{"protocolVersion", "2024-11-05"}}), where);
    come("POST", {}, message(1, "tools/call", kCall), where);
    ASSERT_TRUE(wait([&] { return calls.size() == 1; }));
    stream->gone();
    EXPECT_EQ(come("POST", {}, message(2, "ping", {}), where)->status, 404u);
    EXPECT_TRUE(wait([&] {
        for (const auto& each : servers.at("git").bodies)
            if (each.find("notifications/cancelled") != std::string::npos) return true;
        return false;
    }));
}

TEST_F(HttpGatewayTest, AMessageOfTheOlderTransportIsRefusedWithTheStatusThatSaysWhy) {
    offer_sse();
    const auto stream = come("GET", {}, {}, "/sse");
    const auto where = endpoint_of(stream);
    const auto ping = message(1, "ping", {});
    EXPECT_EQ(come("POST", {}, ping, "/sse")->header("Allow"), "GET");
    EXPECT_EQ(come("DELETE", {}, {}, "/sse")->status, 405u);
    EXPECT_EQ(come("GET", {}, {}, where)->header("Allow"), "POST");
    EXPECT_EQ(come("POST", {}, ping, "/messages")->status, 400u);
    EXPECT_EQ(come("POST", {}, ping, "/messages?sessionId=")->status, 400u);
    for (const auto& wrong : {where + "0", where.substr(0, where.size() - 1),
                              std::string("/messages?sessionId=x"), "/messages?x" + where})
        EXPECT_GE(come("POST", {}, ping, wrong)->status, 400u) << wrong;
    EXPECT_EQ(come("POST", {{"as", "somebody"}}, ping, where)->status, 404u) << "another's";
    EXPECT_EQ(come("POST", {{"as", "nobody"}}, ping, where)->status, 401u);
    EXPECT_EQ(come("GET", {{"as", "nobody"}}, {}, "/sse")->status, 401u);
    EXPECT_EQ(come("POST", {{"origin", "http://evil.example"}}, ping, where)->status, 403u);
    EXPECT_EQ(come("POST", {{"content-encoding", "gzip"}}, ping, where)->status, 415u);
    // Who does not read may say nothing more; who reads again may.
    stream->unread = SseClients::kWaitingBytes + 1;
    EXPECT_EQ(come("POST", {}, ping, where)->status, 429u);
    stream->unread = 0;
    EXPECT_EQ(come("POST", {}, ping, where)->status, 202u);
    gateway().dismiss({});
    EXPECT_TRUE(stream->over);
    EXPECT_EQ(come("POST", {}, ping, where)->status, 404u);
}

TEST_F(HttpGatewayTest, OneGuestOfTheOlderTransportDoesNotTakeThePlacesOfAllOthers) {
    offer_sse();
    const auto opened_by = [&](const char* name) {
        return come("GET", {{"as", name}}, {}, "/sse");
    };
    std::vector<Exchange> streams;
    for (std::size_t i = 0; i < SseClients::kMostOfOne; ++i) {
        streams.push_back(opened_by("greedy"));
        ASSERT_TRUE(streams.back()->streams());
    }
    EXPECT_EQ(opened_by("greedy")->status, 429u);
    EXPECT_TRUE(opened_by("modest")->streams());
    streams.back()->gone();
    EXPECT_TRUE(opened_by("greedy")->streams());
}

TEST_F(HttpGatewayTest, StreamsOfTheOlderTransportAreKeptOpenAndAreNotMoreThanSoMany) {
    offer_sse();
    const auto stream = come("GET", {}, {}, "/sse");
    const auto before = stream->body.size();
    loop.pass(SseClients::kKeepAlive + 2s);
    EXPECT_THAT(stream->body.substr(before), HasSubstr(":\n\n"));
    std::vector<Exchange> streams;
    for (std::size_t i = 1; i < SseClients::kMost; ++i)
        streams.push_back(come("GET", {}, {}, "/sse"));
    EXPECT_EQ(streams.back()->status, 200u);
    EXPECT_EQ(come("GET", {}, {}, "/sse")->status, 429u);
    stream->gone();
    EXPECT_EQ(come("GET", {}, {}, "/sse")->status, 200u);
}

}  // namespace
}  // namespace patchbay::gateway
