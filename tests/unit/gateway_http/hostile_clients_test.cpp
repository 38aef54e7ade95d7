// Clients that take what is others', vanish, do not read or make no sense, and servers that die on them.
#include "unit/gateway_http/http_gateway_fixture.hpp"

namespace patchbay::gateway {
namespace {

const std::string kQuestion =
    R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create",)"
    R"("params":{"message":"name?","requestedSchema":{"type":"object"}}})";

class HostileClients : public HttpGatewayTest {
protected:
    // A modern call by that guest; with the state of an earlier one, and its answers.
    Exchange call_as(const std::string& guest, const std::string& state = {},
                     json::object answers = {}, json::object arguments = {}) {
        auto params = kCall;
        params["arguments"] = std::move(arguments);
        if (!state.empty()) {
            params["requestState"] = state;
            params["inputResponses"] = std::move(answers);
        }
        params["_meta"] = {
            {"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
            {"io.modelcontextprotocol/clientCapabilities", {{"elicitation", json::object()}}}};
        return come("POST",
                    {{"mcp-protocol-version", "2026-07-28"},
                     {"mcp-method", "tools/call"},
                     {"mcp-name", "mcp__git__log"},
                     {"as", guest}},
                    message(1, "tools/call", params));
    }
    // Its state; what is asked goes by `key`.
    std::string asked(const Exchange& exchange, std::string* key = nullptr) {
        const auto answer = json::parse(body_of(exchange));
        const auto& result = answer.at("result").as_object();
        EXPECT_EQ(result.at("resultType"), "input_required") << exchange->body;
        const auto& requests = result.at("inputRequests").as_object();
        if (key) *key = requests.begin()->key();
        return std::string(result.at("requestState").as_string());
    }
    std::size_t cancelled() {
        std::size_t count = 0;
        for (const auto& each : servers.at("git").bodies)
            count += each.find("notifications/cancelled") != std::string::npos;
        return count;
    }
    bool server_was_told(std::string_view text) {
        return wait([&] {
            for (const auto& each : servers.at("git").bodies)
                if (each.find(text) != std::string::npos) return true;
            return false;
        });
    }
};

// Whose head leads nowhere sends nothing more that anybody keeps.
TEST_F(HostileClients, NoBodyIsReadOfWhoMayNotComeIn) {
    const auto stall = [&](http::Headers headers, const std::string& target = "/mcp") {
        const auto exchange = std::make_shared<FakeExchange>();
        exchange->stalls = true;
        come(exchange, "POST", std::move(headers), "{}", target);
        EXPECT_FALSE(exchange->wanted);
        return exchange->status;
    };
    EXPECT_EQ(stall({{"as", "nobody"}}), 401u);
    EXPECT_EQ(stall({{"origin", "https://evil.example"}}), 403u);
    EXPECT_EQ(stall({}, "/elsewhere"), 404u);
}

TEST_F(HostileClients, ATokenThatIsTakenBackWhileABodyComesOpensNothing) {
    const auto exchange = std::make_shared<FakeExchange>();
    exchange->stalls = true;
    come(exchange, "POST", {{"as", "ada"}},
         message(0, "initialize", {{"protocolVersion", "2025-11-25"}}));
    ASSERT_TRUE(exchange->wanted);
    admission.unknown = "ada";
    gateway().dismiss("ada");
    exchange->send_body();
    EXPECT_EQ(exchange->status, 401u) << exchange->body;
    EXPECT_EQ(gateway().sessions(), 0u);
}

TEST_F(HostileClients, AStateIsOfOneGuestCountsOnceAndCannotBeMadeUp) {
    be_slow(kQuestion);
    std::string key;
    const auto state = asked(call_as("ada"), &key);
    const json::object answer{{key, {{"action", "accept"}, {"content", {{"n", "stolen"}}}}}};
    auto other = state;
    other.back() = other.back() == '0' ? '1' : '0';
    const std::pair<std::string, std::string> forged[] = {
        {"eve", state},           {"ada", other}, {"ada", state + "0"},
        {"ada", state.substr(1)}, {"ada", "x"},   {"ada", std::string(100'000, 'a')}};
    for (const auto& [guest, given] : forged) {
        const auto refused = call_as(guest, given, answer);
        EXPECT_THAT(body_of(refused), HasSubstr("unknown requestState")) << guest;
        EXPECT_EQ(refused->status, 400u);
    }
    for (const auto& each : servers.at("git").bodies)
        EXPECT_EQ(each.find("stolen"), std::string::npos);
    const auto elsewhere = call_as("ada", state, answer, {{"path", "/etc"}});
    EXPECT_THAT(body_of(elsewhere), HasSubstr("belongs to another request"));
    EXPECT_EQ(cancelled(), 0u) << "the request that it belongs to goes on";
    // Nobody has used it up by that.
    const auto again = call_as("ada", state, {{key, {{"action", "decline"}}}});
    EXPECT_TRUE(server_was_told("decline"));
    EXPECT_THAT(body_of(call_as("ada", state, answer)), HasSubstr("unknown requestState"));
    finish(0);
    EXPECT_THAT(body_of(again), HasSubstr("done"));
}

// The modern ones of one guest are one session within: none begins it for the others.
TEST_F(HostileClients, NoneSaysOfAllModernClientsWhatTheyCan) {
    const http::Headers modern{{"mcp-protocol-version", "2026-07-28"}};
    const auto begun =
        come("POST", modern,
             message(5, "initialize",
                     {{"protocolVersion", "2025-11-25"},
                      {"capabilities", {{"elicitation", {{"form", json::object()}}}}}}));
    EXPECT_EQ(begun->status, 400u);
    EXPECT_EQ(begun->header("MCP-Session-Id"), "");
    come("POST", modern, R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    EXPECT_EQ(come("POST", modern, message(6, "tools/list", {}))->status, 400u);
    EXPECT_EQ(come("POST", modern, message(7, "ping", {}))->status, 400u);
    // Who cannot be asked is not.
    be_slow(kQuestion);
    auto params = kCall;
    params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                       {"io.modelcontextprotocol/clientCapabilities", json::object()}};
    const auto call = come("POST",
                           {{"mcp-protocol-version", "2026-07-28"},
                            {"mcp-method", "tools/call"},
                            {"mcp-name", "mcp__git__log"}},
                           message(1, "tools/call", params));
    EXPECT_TRUE(server_was_told("not offered by this client"));
    EXPECT_FALSE(call->has("elicitation/create")) << call->body;
    finish(0);
    EXPECT_THAT(body_of(call), HasSubstr("done"));
}

TEST_F(HostileClients, WhoNeverComesBackWithItsStateCostsNothingAfterTenMinutes) {
    be_slow(kQuestion);
    const auto state = asked(call_as("ada"));
    loop.pass(InputRounds::kLifetime - 5s);
    EXPECT_EQ(cancelled(), 0u);
    loop.pass(10s);
    EXPECT_EQ(cancelled(), 1u) << "its server waits no more";
    EXPECT_THAT(body_of(call_as("ada", state)), HasSubstr("unknown requestState"));
    // As many as may be in flight are again.
    EXPECT_EQ(gateway().streams(), 0u);
}

// It opens with the key, and says so; what waited for it went with the process.
TEST_F(HostileClients, AStateOfTheGatewayBeforeIsKnownAndItsRequestIsNoMore) {
    be_slow(kQuestion);
    const auto state = asked(call_as("ada"));
    gateway_.reset();
    const auto refused = call_as("ada", state);
    EXPECT_EQ(refused->status, 400u);
    EXPECT_THAT(body_of(refused), HasSubstr("has ended; ask again without it"));
}

TEST_F(HostileClients, TheStreamOfOneSessionIsNoneOfAnothers) {
    greet();
    be_slow(R"({"jsonrpc":"2.0","method":"notifications/message",)"
            R"("params":{"level":"error","data":"private"}})");
    const auto call = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return call->has("private"); }));
    const auto event = last_event(*call);
    const auto begin = event.substr(0, event.find('-')) + "-0";
    call->gone();
    greet();  // another session, from now on
    for (const auto& each : {event, begin}) {
        auto headers = of_session();
        headers.emplace_back("last-event-id", each);
        const auto stolen = come("GET", headers);
        EXPECT_EQ(stolen->status, 400u) << each;
        EXPECT_FALSE(stolen->has("private"));
    }
    // Of its own stream each has its own events, of whatever number.
    auto headers = of_session();
    headers.emplace_back("last-event-id", "0-0");
    EXPECT_FALSE(come("GET", headers)->has("private"));
}

TEST_F(HostileClients, ALegacyCallWhoseClientDoesNotComeBackIsCancelledAfterAMinute) {
    greet();
    be_slow();
    const auto call = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return calls.size() == 1; }));
    loop.pass(HttpClient::kSilent + 2s);  // it is a stream now
    call->gone();
    loop.pass(HttpClient::kResumeWithin - 2s);
    EXPECT_EQ(cancelled(), 0u);
    loop.pass(5s);
    EXPECT_EQ(cancelled(), 1u);
}

TEST_F(HostileClients, AServerThatDiesWhileItAsksTakesItsQuestionBackAndItsCallEnds) {
    greet({{"elicitation", json::object()}});
    be_slow(kQuestion);
    const auto legacy = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return legacy->has("elicitation/create"); }));
    servers.at("git").crash("killed");
    EXPECT_THAT(body_of(legacy), HasSubstr("notifications/cancelled"));
    EXPECT_THAT(legacy->body, HasSubstr("killed"));
    EXPECT_EQ(
        come("POST", of_session(), R"({"jsonrpc":"2.0","id":1,"result":{"action":"decline"}})")
            ->status,
        202u)
        << "an answer that comes too late";
}

TEST_F(HostileClients, AServerThatDiesWhileAModernClientIsAskedEndsItsCall) {
    be_slow(kQuestion);
    std::string key;
    const auto state = asked(call_as("ada"), &key);
    servers.at("git").crash("killed");
    let_it_turn();
    EXPECT_THAT(body_of(call_as("ada", state, {{key, {{"action", "decline"}}}})),
                HasSubstr("killed"));
}

// What may be dropped is, and the answer comes all the same.
TEST_F(HostileClients, WhoReadsNothingIsToldNoMoreThanMustBe) {
    greet();
    be_slow(R"({"jsonrpc":"2.0","method":"notifications/message",)"
            R"("params":{"level":"error","data":"first"}})");
    const auto call = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return call->has("first"); }));
    call->unread = HttpClient::kEventBytes + 1;
    servers.at("git").say(
        R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"second"}})");
    finish(0);
    EXPECT_THAT(body_of(call), HasSubstr("done"));
    EXPECT_THAT(call->body, Not(HasSubstr("second")));
}

TEST_F(HostileClients, IdsOfAnyTypeAndLengthAreSaidAgainOrRefused) {
    greet();
    const auto ask = [&](const std::string& id) {
        return come("POST", of_session(),
                    R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"ping"})");
    };
    for (const std::string& id :
         {std::string("0"), std::string("-1"), std::string("1e2"), std::string("\"\""),
          std::string("\"\\u0000\\\"\""), std::string("123456789012345678901234567890"),
          "\"" + std::string(1u << 20, 'i') + "\""}) {
        const auto answer = ask(id);
        EXPECT_EQ(answer->status, 200u) << id.substr(0, 40);
        EXPECT_TRUE(answer->has("\"id\":" + id)) << id.substr(0, 40);
    }
    for (const auto* id : {"1.5", "true", "[]", "{}", "[1]"}) {
        const auto answer = ask(id);
        EXPECT_EQ(answer->status, 400u) << id;
        EXPECT_THAT(answer->body, HasSubstr("\"id\":null")) << id;
    }
}

// To JSON-RPC that is no request at all.
TEST_F(HostileClients, NullForAnIdIsNoneOfANotificationAndNoIdOfARequest) {
    greet();
    const auto said = [&](const std::string& method) {
        return come("POST", of_session(),
                    R"({"jsonrpc":"2.0","id":null,"method":")" + method + R"("})");
    };
    EXPECT_EQ(said("notifications/initialized")->status, 202u);
    const auto refused = said("ping");
    EXPECT_EQ(refused->status, 400u);
    EXPECT_THAT(refused->body, HasSubstr("-32600"));
    EXPECT_THAT(refused->body, HasSubstr("not null"));
}

TEST_F(HostileClients, DeepAndBrokenJsonIsRefusedAndTheSessionGoesOn) {
    greet();
    const auto depth = std::string(100'000, '[');
    for (const auto& body :
         {depth, R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":)" + depth,
          R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":)" + depth +
              std::string(100'000, ']') + "}}",
          std::string(R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})"),
          std::string(R"({"jsonrpc":"2.0","id":1,"method":"ping","method":"x"})"),
          std::string(R"({"jsonrpc":"1.0","id":1,"method":"ping"})"), std::string("\xff\xfe"),
          std::string("{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}"),
          std::string("{\0}", 3), std::string("null"), std::string(" ")}) {
        const auto answer = come("POST", of_session(), body);
        EXPECT_EQ(answer->status, 400u) << body.substr(0, 60);
        EXPECT_THAT(answer->body, HasSubstr("\"error\"")) << body.substr(0, 60);
    }
    EXPECT_EQ(post(2, "ping")->status, 200u);
}

// A client that is a gateway asks whoever made the request by whose stream a question comes.
TEST_F(HttpGatewayTest, AQuestionThatMayBeAboutEitherOfTwoCallsComesByNeither) {
    greet({{"elicitation", json::object()}});
    be_slow();
    const auto first = post(1, "tools/call", kCall), second = post(2, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return calls.size() == 2; }));
    const auto own = come("GET", of_session());
    servers.at("git").say(kQuestion);
    ASSERT_TRUE(wait([&] { return own->has("elicitation/create"); }));
    EXPECT_FALSE(first->has("elicitation/create"));
    EXPECT_FALSE(second->has("elicitation/create"));
    finish(1);
    body_of(second);
    servers.at("git").say(kQuestion);
    EXPECT_TRUE(wait([&] { return first->has("elicitation/create"); })) << "now it is known";
}

TEST_F(HttpGatewayTest, WhoHearsOfNothingButByItsCallsIsAskedByTheOldestOfThem) {
    greet({{"elicitation", json::object()}});
    be_slow();
    const auto first = post(1, "tools/call", kCall), second = post(2, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return calls.size() == 2; }));
    servers.at("git").say(kQuestion);
    EXPECT_TRUE(wait([&] { return first->has("elicitation/create"); }));
}

}  // namespace
}  // namespace patchbay::gateway
