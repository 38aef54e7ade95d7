// Sessions of HTTP clients before `patchbay serve --http`, whatever becomes of the gateway.
#include "integration/http_gateway.hpp"
#include "integration/http_peer.hpp"

#include <csignal>
#include <fstream>

namespace patchbay::test {
namespace {

const std::string kUri = "example://text";

class ServeSessions : public ::testing::Test {
protected:
    ServeSessions() : input_(home_.add_recorded("x", {"--era", "legacy"})) {}

    // Ended by that signal, and another one in its place.
    void replace_gateway(int signal) {
        gateway_->program().signal(signal);
        gateway_->program().finish();
        EXPECT_EQ(nothing_left(), "");
        std::filesystem::remove(input_);
        gateway_.emplace(home_);
        session_.move_to(gateway_->port());
    }
    std::filesystem::path records() const { return home_.root() / "state/patchbay/sessions"; }

    Home home_;
    const std::string input_;  // all that its server was sent since the gateway is there
    std::optional<HttpGatewayProgram> gateway_{std::in_place, home_};
    HttpSession session_{gateway_->port()};
};

// Right after the answer: what a client was told that it has is kept by then.
TEST_F(ServeSessions, GoOnWithLevelAndSubscriptionsWhenTheirGatewayWasKilled) {
    session_.greet();
    EXPECT_THAT(session_.ask("logging/setLevel", {{"level", "debug"}}), HasSubstr("result"));
    EXPECT_THAT(session_.ask("resources/subscribe", {{"uri", kUri}}), HasSubstr("result"));
    for (const int signal : {SIGKILL, SIGTERM}) {
        replace_gateway(signal);
        auto stream = session_.listen();
        // Nobody has asked for it but the session.
        ASSERT_TRUE(wait_for_file(input_, "resources/subscribe"));
        const auto logged =
            session_.call("mcp__x__log", {{"level", "debug"}, {"message", "still heard"}});
        EXPECT_THAT(logged, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("still heard")));
        EXPECT_THAT(session_.call("mcp__x__touch", {{"uri", kUri}}), HasSubstr("touched"));
        EXPECT_TRUE(stream.wait_for("notifications/resources/updated")) << stream.got();
    }
}

TEST_F(ServeSessions, WhatWasTakenBackDoesNotComeBack) {
    session_.greet();
    session_.ask("resources/subscribe", {{"uri", kUri}});
    session_.ask("resources/subscribe", {{"uri", "example://blob"}});
    session_.ask("resources/unsubscribe", {{"uri", kUri}});
    replace_gateway(SIGKILL);
    EXPECT_THAT(session_.ask("ping"), StartsWith("HTTP/1.1 200"));
    ASSERT_TRUE(wait_for_file(input_, "resources/subscribe"));
    const auto sent = read_file(input_);
    EXPECT_THAT(sent, AllOf(HasSubstr("example://blob"), Not(HasSubstr(kUri))));
}

TEST_F(ServeSessions, ADeletedOneStaysDeleted) {
    session_.greet();
    EXPECT_EQ(session_.remove(), 204u);
    EXPECT_THAT(session_.ask("ping"), StartsWith("HTTP/1.1 404"));
    replace_gateway(SIGKILL);
    EXPECT_THAT(session_.ask("ping"), StartsWith("HTTP/1.1 404"));
}

TEST_F(ServeSessions, GoOnWithoutWhatIsDamagedAndTheLogSaysSo) {
    session_.greet();
    session_.ask("logging/setLevel", {{"level", "debug"}});
    std::string file;
    for (const auto& each : std::filesystem::recursive_directory_iterator(records()))
        if (each.is_regular_file()) file = each.path();
    ASSERT_NE(file, "");
    std::ofstream(file, std::ios::trunc) << "{\"level\":";
    replace_gateway(SIGKILL);
    EXPECT_THAT(session_.ask("ping"), StartsWith("HTTP/1.1 200"));
    EXPECT_TRUE(gateway_->program().wait_until([&] {
        return gateway_->program().err().find(file + " is no record of a session") !=
               std::string::npos;
    })) << gateway_->program().err();
}

// Of the connection that carries the call nothing more is needed than that the call waits.
TEST_F(ServeSessions, AnAnswerToAServersQuestionComesByAnotherConnection) {
    session_.greet({{"elicitation", json::object()}});
    auto call = session_.begin(
        request_text(7, "tools/call", {{"name", "mcp__x__ask"}, {"arguments", json::object()}}));
    ASSERT_TRUE(call.wait_for("elicitation/create")) << call.got();
    auto answer = session_.begin(
        R"({"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"name":"Ada"}}})");
    ASSERT_TRUE(answer.wait_for_answer());
    EXPECT_EQ(answer.status(), 202u);
    EXPECT_TRUE(call.wait_for_answer()) << call.got();
    EXPECT_THAT(call.got(), HasSubstr("Ada"));
}

// Half of a head, half of a body, and who does not read on in the middle of 16 MiB.
TEST_F(ServeSessions, ClientsThatStopInTheMiddleHoldNobodyUp) {
    session_.greet();
    HttpSession other(gateway_->port());
    other.greet();
    std::vector<PlainHttp> half;
    for (int i = 0; i < 60; ++i) {
        half.emplace_back(gateway_->port());
        half.back().send(i % 2 == 0 ? "POST /mcp HTTP/1.1\r\nHost: loc"
                                    : "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
                                      "Content-Length: 1000000\r\n\r\n{\"jsonrpc\":");
    }
    auto deaf = session_.begin(request_text(
        9, "tools/call", {{"name", "mcp__x__big"}, {"arguments", {{"bytes", 16'000'000}}}}));
    ASSERT_TRUE(deaf.wait_for("\r\n\r\n"));
    EXPECT_THAT(session_.call("mcp__x__echo", {{"message", "goes on"}}), HasSubstr("goes on"));
    EXPECT_THAT(other.call("mcp__x__echo", {{"message", "the other"}}), HasSubstr("the other"));
    // Who vanishes takes only its own along.
    deaf.close();
    half.clear();
    EXPECT_THAT(session_.call("mcp__x__echo", {{"message", "still"}}), HasSubstr("still"));
    gateway_->program().signal(SIGTERM);
    EXPECT_EQ(gateway_->program().finish().exit_code, 0);
    EXPECT_EQ(nothing_left(), "");
}

// What a client's user has approved is for one call, and for the gateway that asked.
TEST(ApprovalsOverHttp, CountForOneCallWhateverBecomesOfTheirGateway) {
    Home home;
    const auto input = home.add_recorded("x");
    const Words flags{"--set", "gateway.approvals=ask"};
    std::optional<HttpGatewayProgram> gateway(std::in_place, home, flags);
    const auto call = [&](json::object params) {
        params["_meta"] = {
            {"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
            {"io.modelcontextprotocol/clientCapabilities", {{"elicitation", json::object()}}}};
        HttpPeer peer(gateway->url(), "POST",
                      {{"MCP-Protocol-Version", "2026-07-28"},
                       {"Mcp-Method", "tools/call"},
                       {"Mcp-Name", "mcp__x__echo"}},
                      request_text(1, "tools/call", std::move(params)));
        const auto got = peer.hear();
        const auto begin = got.find("{\"jsonrpc\"");
        EXPECT_NE(begin, got.npos) << got;
        if (begin == got.npos) return json::object();
        return json::parse(got.substr(begin, got.rfind('}') + 1 - begin)).as_object();
    };
    const auto times_sent = [&] {
        const auto sent = read_file(input);
        std::size_t count = 0;
        for (auto at = sent.find("sent once"); at != sent.npos; at = sent.find("sent once", at + 1))
            ++count;
        return count;
    };
    json::object wanted{{"name", "mcp__x__echo"}, {"arguments", {{"message", "sent once"}}}};
    const auto asked = call(wanted);
    ASSERT_TRUE(asked.contains("result")) << json::serialize(asked);
    const auto& result = asked.at("result").as_object();
    ASSERT_TRUE(result.contains("requestState")) << json::serialize(asked);
    wanted["requestState"] = result.at("requestState");
    wanted["inputResponses"] =
        json::object{{result.at("inputRequests").as_object().begin()->key(),
                      {{"action", "accept"}, {"content", {{"decision", "once"}}}}}};
    EXPECT_THAT(json::serialize(call(wanted)), HasSubstr("\"text\":\"sent once\""));
    EXPECT_EQ(times_sent(), 1u);
    EXPECT_TRUE(call(wanted).contains("error")) << "the same once more";
    EXPECT_EQ(times_sent(), 1u);
    gateway->program().signal(SIGKILL);
    gateway->program().finish();
    EXPECT_EQ(nothing_left(), "");
    gateway.emplace(home, flags);
    const auto replayed = call(wanted);
    EXPECT_TRUE(replayed.contains("error")) << json::serialize(replayed);
    // Its servers are brought up for a call without a state, so that the file is the new one's.
    EXPECT_TRUE(call({{"name", "mcp__x__echo"}, {"arguments", {{"message", "another"}}}})
                    .at("result")
                    .as_object()
                    .contains("requestState"));
    EXPECT_EQ(times_sent(), 0u);
    gateway->program().signal(SIGTERM);
    gateway->program().finish();
}

// Patchbay before Patchbay, by the transport of 2024-11-05.
TEST(ServeSse, OurOwnTransportReachesEverythingBehindIt) {
    Home behind;
    behind.add_example("x", {"--era", "legacy"});
    HttpGatewayProgram gateway(behind, {"--sse"});
    ASSERT_TRUE(gateway.program().wait_for_out("/sse\n"));
    Home home;
    home.add("far", {{"type", "sse"}, {"url", gateway.url() + "/sse"}});
    const auto listed = home.run({"tools"});
    EXPECT_THAT(listed.out, HasSubstr("mcp__far__mcp__x__echo")) << listed.err;
    const auto called = home.run({"call", "mcp__far__mcp__x__echo", "message=by the stream"});
    EXPECT_EQ(called.exit_code, 0) << called.err;
    EXPECT_THAT(called.out, HasSubstr("by the stream"));
    const auto failed = home.run({"call", "mcp__far__mcp__x__fail"});
    EXPECT_NE(failed.exit_code, 0);
    gateway.program().signal(SIGTERM);
    EXPECT_EQ(gateway.program().finish().exit_code, 0);
    EXPECT_EQ(nothing_left(), "");
}

}  // namespace
}  // namespace patchbay::test
