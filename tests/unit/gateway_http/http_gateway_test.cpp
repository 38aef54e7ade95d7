// A gateway before two servers, "git" and "github", of the legacy era; what HTTP carries is faked.
#include "gateway/http/http_gateway.hpp"

#include "unit/service/fixture.hpp"

#include <sstream>

namespace patchbay::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace std::chrono_literals;
namespace json = boost::json;

struct FakeExchange final : http::Exchange {
    void answer(unsigned code, const http::Headers& given, std::string text) override {
        status = code;
        headers = given;
        body = std::move(text);
        over = true;
    }
    void begin(const http::Headers& given) override {
        status = 200;
        headers = given;
    }
    void write(std::string_view bytes) override { body += bytes; }
    void end() override { over = true; }
    std::size_t waiting() const override { return unread; }
    void when_gone(std::function<void()> then) override { gone = std::move(then); }

    std::string header(std::string_view name) const {
        for (const auto& [key, value] : headers)
            if (key == name) return value;
        return {};
    }
    bool streams() const { return header("Content-Type") == "text/event-stream"; }
    bool has(std::string_view text) const { return body.find(text) != std::string::npos; }

    unsigned status = 0;  // 0: not answered
    http::Headers headers;
    std::string body;
    std::size_t unread = 0;
    bool over = false;
    std::function<void()> gone;
};
using Exchange = std::shared_ptr<FakeExchange>;

// Whose a request is says the header "as"; "nobody" is refused, and of "late" it is known later.
struct FakeAdmission final : Admission {
    std::optional<Admitted> admit(const http::Request& request,
                                  std::function<void(Admitted)> then) override {
        const auto* as = request.header("as");
        if (as && *as == "nobody") return HttpRefusal{401, "who are you?"};
        auto admitted = Everybody({}).admit(request, {});
        auto* guest = std::get_if<Guest>(&*admitted);
        if (!guest) return admitted;
        guest->principal.id = as ? *as : "";
        if (!as || *as != "late") return admitted;
        later = [then = std::move(then), guest = *guest] { then(guest); };
        return {};
    }
    std::function<void()> later;
};

class HttpGatewayTest : public service::ServiceTest {
protected:
    HttpGatewayTest() {
        for (auto& [id, server] : servers) {
            server.be_legacy({test::tool_named("log")});
            server.results["initialize"] = [](const auto&) -> json::value {
                return {{"protocolVersion", "2025-11-25"},
                        {"capabilities", {{"tools", json::object()}, {"logging", json::object()}}},
                        {"serverInfo", {{"name", "fake"}, {"version", "1"}}}};
            };
            server.results["tools/call"] = [](const auto&) -> json::value {
                return {{"content", json::array()}};
            };
        }
        permissions = {};
    }
    HttpGateway& gateway() {
        if (!gateway_) {
            auto& all = known();
            gateway_.emplace(HttpClient::Parts{callers, all, *catalogue, "1", records}, "key",
                             Door(*http::parse_address("127.0.0.1:80")), admission);
        }
        return *gateway_;
    }
    Exchange come(const std::string& method, http::Headers headers, std::string body = {},
                  const std::string& target = "/mcp") {
        auto exchange = std::make_shared<FakeExchange>();
        headers.emplace_back("host", "localhost");
        headers.emplace_back("accept", "application/json, text/event-stream");
        if (!body.empty()) headers.emplace_back("content-type", "application/json");
        gateway().on_request(exchange, {method, target, std::move(headers), std::move(body)});
        return exchange;
    }
    static std::string message(const json::value& id, const std::string& method,
                               json::object params) {
        return json::serialize(json::object{
            {"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
    }
    http::Headers of_session() const { return {{"mcp-session-id", session}}; }
    Exchange post(const json::value& id, const std::string& method, json::object params = {}) {
        return come("POST", of_session(), message(id, method, std::move(params)));
    }
    Exchange post_modern(const json::value& id, const std::string& method, json::object params = {},
                         json::object meta = {}) {
        meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
        meta["io.modelcontextprotocol/clientCapabilities"] = {{"elicitation", json::object()}};
        params["_meta"] = std::move(meta);
        http::Headers headers{{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", method}};
        if (const auto* name = params.if_contains("name"))
            headers.emplace_back("mcp-name", std::string(name->as_string()));
        return come("POST", std::move(headers), message(id, method, std::move(params)));
    }
    void greet(const json::object& capabilities = {}, const char* revision = "2025-11-25") {
        const auto answer =
            come("POST", {},
                 message(0, "initialize",
                         {{"protocolVersion", revision}, {"capabilities", capabilities}}));
        ASSERT_EQ(answer->status, 200u) << answer->body;
        session = answer->header("MCP-Session-Id");
        ASSERT_NE(session, "");
        EXPECT_EQ(
            come("POST", of_session(), R"({"jsonrpc":"2.0","method":"notifications/initialized"})")
                ->status,
            202u);
    }
    bool wait(const std::function<bool()>& done) {
        return loop.run_until(done, core::Clock::now() + 20s);
    }
    // Of the older transport: the stream, and where it says that messages go.
    void offer_sse() {
        gateway_.emplace(HttpClient::Parts{callers, known(), *catalogue, "1", records}, "key",
                         Door(*http::parse_address("127.0.0.1:80")), admission,
                         HttpGateway::Sse::With);
    }
    static std::string endpoint_of(const Exchange& stream) {
        const std::string begin = "event: endpoint\ndata: ";
        EXPECT_EQ(stream->body.rfind(begin, 0), 0u) << stream->body;
        return stream->body.substr(begin.size(),
                                   stream->body.find('\n', begin.size()) - begin.size());
    }
    // What is due by now has happened.
    void let_it_turn() {
        for (int i = 0; i < 3; ++i) {
            bool turned = false;
            loop.post([&] { turned = true; });
            wait([&] { return turned; });
        }
    }
    std::string body_of(const Exchange& exchange) {
        EXPECT_TRUE(wait([&] { return exchange->over; })) << exchange->body;
        return exchange->body;
    }
    static std::string last_event(const FakeExchange& exchange) {
        const auto at = exchange.body.rfind("id: ") + 4;
        return exchange.body.substr(at, exchange.body.find('\n', at) - at);
    }
    // "git" has the resources test:a and test:b, and tells of changes.
    void have_a_resource() {
        servers.at("git").results["initialize"] = [](const auto&) -> json::value {
            return {{"protocolVersion", "2025-11-25"},
                    {"capabilities",
                     {{"tools", json::object()},
                      {"resources", {{"subscribe", true}}},
                      {"logging", json::object()}}},
                    {"serverInfo", {{"name", "fake"}, {"version", "1"}}}};
        };
        servers.at("git").results["resources/list"] = [](const auto&) -> json::value {
            return {{"resources",
                     {{{"uri", "test:a"}, {"name", "a"}}, {{"uri", "test:b"}, {"name", "b"}}}}};
        };
        for (const auto* each :
             {"resources/subscribe", "resources/unsubscribe", "logging/setLevel"})
            servers.at("git").results[each] = [](const auto&) -> json::value {
                return json::object();
            };
    }
    // A tool of "git" that is not answered, and what its server says meanwhile.
    void be_slow(std::string says = {}) {
        servers.at("git").results.erase("tools/call");
        servers.at("git").on_request = [this, says](const std::string& method) {
            if (method != "tools/call") return;
            calls.push_back(
                servers.at("git").requests("tools/call").back().at("id").to_number<int>());
            if (!says.empty()) servers.at("git").say(says);
        };
    }
    // How many requests "git" was told not to go on with.
    std::size_t cancelled() {
        std::size_t count = 0;
        for (const auto& each : servers.at("git").bodies)
            count += each.find("notifications/cancelled") != std::string::npos;
        return count;
    }
    void finish(std::size_t call, const std::string& text = "done") {
        servers.at("git").say(R"({"jsonrpc":"2.0","id":)" + std::to_string(calls.at(call)) +
                              R"(,"result":{"content":[{"type":"text","text":")" + text +
                              R"("}]}})");
    }

    // What servers were sent of that method, by all sessions.
    std::vector<json::object> sent(const std::string& method, const std::string& server = "git") {
        return servers.at(server).requests(method);
    }

    std::string session;
    MemoryRecords records{loop};
    std::vector<int> calls;
    FakeAdmission admission;
    std::optional<HttpGateway> gateway_;
};

const json::object kCall{{"name", "mcp__git__log"}, {"arguments", json::object()}};

TEST_F(HttpGatewayTest, GivesALegacyClientASessionAndAnswersInIt) {
    greet();
    const auto list = post(1, "tools/list");
    EXPECT_THAT(body_of(list), HasSubstr("mcp__git__log"));
    EXPECT_EQ(list->header("Content-Type"), "application/json");
    EXPECT_EQ(list->header("MCP-Session-Id"), session);
    EXPECT_THAT(body_of(post(2, "tools/call", kCall)), HasSubstr(R"("id":2,"result")"));
}

TEST_F(HttpGatewayTest, AnswersAModernClientWithoutASession) {
    const auto discovered = post_modern("d", "server/discover");
    EXPECT_EQ(discovered->status, 200u);
    EXPECT_EQ(discovered->header("MCP-Session-Id"), "");
    EXPECT_THAT(discovered->body, HasSubstr("2026-07-28"));
    // Two clients may well have requests of one id in flight.
    be_slow();
    const auto first = post_modern(1, "tools/call", kCall),
               second = post_modern(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return calls.size() == 2; }));
    finish(1, "second");
    finish(0, "first");
    EXPECT_THAT(body_of(first), HasSubstr("first"));
    EXPECT_THAT(body_of(second), HasSubstr("second"));
}

TEST_F(HttpGatewayTest, SaysWithTheStatusWhatCouldNotBeUnderstood) {
    EXPECT_EQ(come("POST", {}, message(1, "tools/list", {}))->status, 400u);
    EXPECT_EQ(come("POST", {{"mcp-session-id", "made.up"}}, message(1, "tools/list", {}))->status,
              404u);
    EXPECT_EQ(come("GET", {})->status, 405u);
    EXPECT_EQ(come("DELETE", {})->status, 405u);
    const auto put = come("PUT", {}, "{}");
    EXPECT_EQ(put->status, 405u);
    EXPECT_EQ(put->header("Allow"), "POST, GET, DELETE");
    EXPECT_EQ(come("POST", {}, "{}", "/other")->status, 404u);
    EXPECT_EQ(come("POST", {}, "{")->status, 400u);
    greet();
    EXPECT_EQ(come("POST", of_session(), "[]")->status, 400u);
    EXPECT_EQ(come("GET", {{"mcp-session-id", session}, {"mcp-session-id", session}})->status,
              400u);
    EXPECT_EQ(post_modern(1, "no/such")->status, 404u);
    const auto unknown = post(1, "no/such");
    EXPECT_EQ(unknown->status, 200u);
    EXPECT_THAT(unknown->body, HasSubstr("-32601"));
}

TEST_F(HttpGatewayTest, ASessionThatWasDeletedIsGone) {
    greet();
    const auto stream = come("GET", of_session());
    const auto deleted = come("DELETE", of_session());
    EXPECT_TRUE(stream->over);
    EXPECT_EQ(post(1, "ping")->status, 404u);
    EXPECT_EQ(come("DELETE", of_session())->status, 404u);
    body_of(deleted);
    EXPECT_EQ(deleted->status, 204u);
    // For the next gateway too.
    gateway_.reset();
    const auto again = post(1, "ping");
    body_of(again);
    EXPECT_EQ(again->status, 404u);
}

// Both answer what came for the session while it was not known yet what it is, in order.
TEST_F(HttpGatewayTest, WhatComesForASessionThatIsBeingReadWaitsForIt) {
    greet();
    gateway_.reset();
    const auto first = post(1, "ping");
    const auto deleted = come("DELETE", of_session());
    const auto behind = post(2, "ping");
    EXPECT_EQ(first->status, 0u);
    body_of(behind);
    EXPECT_EQ(first->status, 200u);
    EXPECT_EQ(behind->status, 404u);
    body_of(deleted);
    EXPECT_EQ(deleted->status, 204u);
}

TEST_F(HttpGatewayTest, WhoIsDismissedWhileItsSessionIsReadGetsNone) {
    greet();
    gateway_.reset();
    const auto stream = come("GET", of_session());
    gateway().dismiss({});
    EXPECT_EQ(stream->status, 503u);
    let_it_turn();
    EXPECT_FALSE(stream->streams());
}

TEST_F(HttpGatewayTest, ALogLevelAndSubscriptionsComeBackWithTheirSession) {
    have_a_resource();
    greet();
    body_of(post(1, "logging/setLevel", {{"level", "debug"}}));
    body_of(post(2, "resources/subscribe", {{"uri", "test:a"}}));
    body_of(post(3, "resources/subscribe", {{"uri", "test:b"}}));
    body_of(post(4, "resources/unsubscribe", {{"uri", "test:b"}}));
    const auto levels = sent("logging/setLevel").size();
    const auto subscribed = sent("resources/subscribe").size();
    gateway_.reset();
    // Nobody but the session asks for them now.
    const auto stream = come("GET", of_session());
    ASSERT_TRUE(wait([&] {
        return sent("logging/setLevel").size() > levels &&
               sent("resources/subscribe").size() > subscribed;
    }));
    EXPECT_EQ(sent("logging/setLevel").back().at("params").at("level"), "debug");
    EXPECT_EQ(sent("resources/subscribe").back().at("params").at("uri"), "test:a");
    EXPECT_EQ(sent("resources/subscribe").size(), subscribed + 1);
    servers.at("git").say(
        R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test:a"}})");
    EXPECT_TRUE(wait([&] { return stream->has("test:a"); })) << stream->body;
}

TEST_F(HttpGatewayTest, ASessionThatWasPutAwayAfterIdlingComesBackWithWhatItWished) {
    have_a_resource();
    greet();
    body_of(post(1, "logging/setLevel", {{"level", "info"}}));
    body_of(post(2, "resources/subscribe", {{"uri", "test:a"}}));
    const auto ended = sent("resources/unsubscribe").size();
    loop.pass(HttpGateway::kIdle + 2s);
    ASSERT_TRUE(wait([&] { return sent("resources/unsubscribe").size() > ended; }));
    const auto subscribed = sent("resources/subscribe").size();
    EXPECT_EQ(post(3, "ping")->status, 0u) << "it is looked up";
    EXPECT_TRUE(wait([&] { return sent("resources/subscribe").size() > subscribed; }));
}

// A server that comes when the first wait is over is asked then.
TEST_F(HttpGatewayTest, ASubscriptionWaitsForAServerThatIsSlower) {
    have_a_resource();
    greet();
    body_of(post(1, "resources/subscribe", {{"uri", "test:a"}}));
    const auto subscribed = sent("resources/subscribe").size();
    gateway_.reset();
    bool late = true;
    const auto greets = servers.at("git").results.extract("initialize");
    servers.at("git").on_request = [&](const std::string& method) {
        if (method == "initialize") late = false;
    };
    servers.at("git").crash("gone");
    body_of(post(2, "ping"));
    loop.pass(2s);
    EXPECT_EQ(sent("resources/subscribe").size(), subscribed);
    ASSERT_FALSE(late);
    servers.at("git").answer(sent("initialize").back().at("id").to_number<int>(),
                             json::serialize(greets.mapped()({})));
    EXPECT_TRUE(wait([&] { return sent("resources/subscribe").size() > subscribed; }));
}

// A client is told that it has what it wished once that is kept.
TEST_F(HttpGatewayTest, WhatIsAnsweredIsKept) {
    have_a_resource();
    struct Slow final : SessionRecords {
        void read(const std::string&, std::function<void(SessionRecord)> then) override {
            then({});
        }
        void write(const std::string&, SessionRecord given, std::function<void()> then) override {
            record = std::move(given);
            written = std::move(then);
        }
        SessionRecord record;
        std::function<void()> written;
    } slow;
    gateway_.emplace(HttpClient::Parts{callers, known(), *catalogue, "1", slow}, "key",
                     Door(*http::parse_address("127.0.0.1:80")), admission);
    greet();
    const auto level = post(1, "logging/setLevel", {{"level", "info"}});
    let_it_turn();
    EXPECT_EQ(slow.record.wishes.level, "info");
    EXPECT_FALSE(level->over);
    slow.written();
    EXPECT_TRUE(level->over);
    const auto taken = post(2, "resources/subscribe", {{"uri", "test:a"}});
    ASSERT_TRUE(wait([&] { return !slow.record.wishes.uris.empty(); }));
    let_it_turn();
    EXPECT_FALSE(taken->over);
    slow.written();
    EXPECT_TRUE(taken->over);
    const auto deleted = come("DELETE", of_session());
    EXPECT_TRUE(slow.record.deleted);
    EXPECT_FALSE(deleted->over);
    gateway_.reset();  // who is told later, and of nothing that is gone
    slow.written();
    EXPECT_EQ(deleted->status, 204u);
}

// As clients do whose connection was lost with its gateway.
TEST_F(HttpGatewayTest, AnEventOfTheGatewayBeforeIsTakenForNoneOfThisOne) {
    greet();
    be_slow(R"({"jsonrpc":"2.0","method":"notifications/message",)"
            R"("params":{"level":"error","data":"said"}})");
    const auto call = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return call->has("said"); }));
    const auto own = come("GET", of_session());
    servers.at("git").say(R"({"jsonrpc":"2.0","method":"notifications/prompts/list_changed"})");
    ASSERT_TRUE(wait([&] { return own->has("prompts"); }));
    loop.turn(1s);
    gateway_.reset();
    const auto resumed = [&](const std::string& event) {
        auto headers = of_session();
        headers.emplace_back("last-event-id", event);
        const auto exchange = come("GET", headers);
        EXPECT_TRUE(wait([&] { return exchange->status != 0; }));
        return exchange;
    };
    const auto next = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return next->has("said"); }));
    EXPECT_EQ(resumed(last_event(*call))->status, 400u);
    EXPECT_FALSE(next->over);
    // The stream of the session itself goes on, with what was said meanwhile.
    servers.at("git").say(R"({"jsonrpc":"2.0","method":"notifications/resources/list_changed"})");
    let_it_turn();
    EXPECT_TRUE(resumed(last_event(*own))->has("resources/list_changed"));
}

TEST_F(HttpGatewayTest, ASessionOutlivesItsGateway) {
    greet({{"elicitation", json::object()}});
    be_slow(R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create",)"
            R"("params":{"message":"name?","requestedSchema":{"type":"object"}}})");
    gateway_.reset();
    // What it can be asked is known of it still.
    const auto call = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return call->has("elicitation/create"); })) << call->body;
    EXPECT_EQ(call->header("MCP-Session-Id"), session);
}

TEST_F(HttpGatewayTest, ASessionOfOneGuestIsNoneOfAnothers) {
    greet();
    const auto body = message(1, "tools/list", {});
    http::Headers of_another = of_session();
    of_another.emplace_back("as", "somebody");
    EXPECT_EQ(come("POST", of_another, body)->status, 404u);
    EXPECT_EQ(come("DELETE", of_another)->status, 404u);
    EXPECT_THAT(body_of(post(1, "tools/list")), HasSubstr("mcp__git__log"));
}

TEST_F(HttpGatewayTest, WhatOneThatMayNotComeInAnyMoreHadOpenEnds) {
    greet();
    be_slow();
    const auto stream = come("GET", of_session());
    const auto call = post(1, "tools/call", kCall), modern = post_modern(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return calls.size() == 2; }));
    gateway().dismiss("somebody");
    EXPECT_FALSE(stream->over);
    gateway().dismiss({});
    for (const auto& each : {stream, call, modern}) EXPECT_TRUE(each->over);
    EXPECT_THAT(call->body, HasSubstr("is none any more"));
    EXPECT_TRUE(wait([&] { return cancelled() == 2; }));
}

TEST_F(HttpGatewayTest, WhoIsNotAdmittedIsToldSo) {
    const auto refused = come("POST", {{"as", "nobody"}}, message(1, "ping", {}));
    EXPECT_EQ(refused->status, 401u);
    EXPECT_THAT(refused->body, HasSubstr("who are you?"));
}

TEST_F(HttpGatewayTest, ARequestWaitsUntilItIsKnownWhoseItIs) {
    const auto waits = come("POST", {{"as", "late"}},
                            message(0, "initialize", {{"protocolVersion", "2025-11-25"}}));
    EXPECT_EQ(waits->status, 0u);
    admission.later();
    EXPECT_EQ(waits->status, 200u);
    const auto comes_too_late = come("POST", {{"as", "late"}}, message(1, "ping", {}));
    gateway_.reset();
    admission.later();
    EXPECT_EQ(comes_too_late->status, 0u);
}

TEST_F(HttpGatewayTest, WhatIsSaidDuringACallComesByItsStreamAndTheAnswerEndsIt) {
    greet();
    be_slow(R"({"jsonrpc":"2.0","method":"notifications/message",)"
            R"("params":{"level":"error","data":"said"}})");
    const auto other = come("GET", of_session());
    const auto call = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return call->has("said"); }));
    EXPECT_TRUE(call->streams());
    EXPECT_THAT(call->body, HasSubstr("id: "));
    EXPECT_FALSE(call->over);
    finish(0);
    EXPECT_THAT(body_of(call), HasSubstr(R"("id":1,"result")"));
    EXPECT_THAT(other->body, Not(HasSubstr("said")));
}

TEST_F(HttpGatewayTest, AQuestionComesByTheCallThatItIsAboutAndItsAnswerByAnyWay) {
    greet({{"elicitation", json::object()}});
    be_slow(R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create",)"
            R"("params":{"message":"name?","requestedSchema":{"type":"object"}}})");
    const auto call = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return call->has("elicitation/create"); }));
    EXPECT_THAT(call->body, HasSubstr(R"("id":1,)"));
    const auto answered =
        come("POST", of_session(), R"({"jsonrpc":"2.0","id":1,"result":{"action":"decline"}})");
    EXPECT_EQ(answered->status, 202u);
    ASSERT_TRUE(wait([&] {
        for (const auto& each : servers.at("git").bodies)
            if (each.find("decline") != std::string::npos) return true;
        return false;
    }));
    finish(0);
    EXPECT_THAT(body_of(call), HasSubstr("done"));
}

TEST_F(HttpGatewayTest, AModernCallWhoseClientHasGoneIsCancelledAndALegacyOneIsNot) {
    greet();
    be_slow();
    const auto legacy = post(1, "tools/call", kCall);
    const auto modern = post_modern(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return calls.size() == 2; }));
    modern->gone();
    legacy->gone();
    ASSERT_TRUE(wait([&] { return cancelled() > 0; }));
    EXPECT_EQ(cancelled(), 1u);
}

TEST_F(HttpGatewayTest, ACancelledCallIsNotAnsweredAndItsStreamEnds) {
    greet();
    be_slow();
    const auto call = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return calls.size() == 1; }));
    EXPECT_EQ(
        come("POST", of_session(),
             R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})")
            ->status,
        202u);
    EXPECT_TRUE(call->over);
    EXPECT_THAT(call->body, Not(HasSubstr("result")));
}

TEST_F(HttpGatewayTest, WhatALostStreamMissedCanBeAskedForAgain) {
    greet();
    be_slow(R"({"jsonrpc":"2.0","method":"notifications/message",)"
            R"("params":{"level":"error","data":"missed"}})");
    const auto call = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return call->has("missed"); }));
    const auto last = last_event(*call);
    call->gone();
    finish(0);
    // The answer comes while nobody is there.
    let_it_turn();
    auto headers = of_session();
    headers.emplace_back("last-event-id", last);
    const auto again = come("GET", headers);
    EXPECT_THAT(body_of(again), HasSubstr("done"));
    EXPECT_THAT(again->body, Not(HasSubstr("missed")));
    for (const auto* wrong : {"", "x", "1-", "-1", "99-1", "1-1x"}) {
        auto other = of_session();
        other.emplace_back("last-event-id", wrong);
        EXPECT_EQ(come("GET", other)->status, 400u) << wrong;
    }
}

TEST_F(HttpGatewayTest, OfAnAnswerThatHasNotBegunNothingCanBeAskedForAgain) {
    greet();
    be_slow();
    const auto call = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return calls.size() == 1; }));
    for (const auto* id : {"1-0", "2-0", "3-0", "4-0"}) {
        auto headers = of_session();
        headers.emplace_back("last-event-id", id);
        EXPECT_EQ(come("GET", headers)->status, 400u) << id;
    }
    finish(0);
    EXPECT_THAT(body_of(call), HasSubstr("done"));
    EXPECT_FALSE(call->streams());
}

TEST_F(HttpGatewayTest, WhoComesAgainForTheStreamOfItsSessionTakesItOver) {
    greet();
    const auto first = come("GET", of_session());
    const auto second = come("GET", of_session());
    EXPECT_TRUE(first->over);
    EXPECT_FALSE(second->over);
    EXPECT_TRUE(second->streams());
}

TEST_F(HttpGatewayTest, ABatchOfTheRevisionThatHasThemIsAnsweredWhole) {
    greet({}, "2025-03-26");
    const auto batch = come("POST", of_session(),
                            "[" + message(1, "ping", {}) + "," + message(2, "ping", {}) + "]");
    EXPECT_EQ(batch->status, 200u);
    EXPECT_EQ(json::parse(batch->body).as_array().size(), 2u);
    EXPECT_EQ(
        come("POST", of_session(), R"([{"jsonrpc":"2.0","method":"notifications/x"}])")->status,
        202u);
    const auto mixed =
        come("POST", of_session(),
             "[" + message(3, "ping", {}) + "," + message(4, "tools/call", kCall) + "]");
    EXPECT_EQ(json::parse(body_of(mixed)).as_array().size(), 2u);
}

TEST_F(HttpGatewayTest, AModernStreamHearsOfChangesUntilTheGatewayCloses) {
    const auto stream =
        post_modern("s", "subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}});
    EXPECT_TRUE(stream->streams());
    EXPECT_THAT(stream->body, HasSubstr("acknowledged"));
    EXPECT_THAT(stream->body, Not(HasSubstr("id: ")));
    gateway().close();
    EXPECT_TRUE(stream->over);
    EXPECT_THAT(stream->body, HasSubstr(R"("resultType":"complete")"));
    EXPECT_EQ(post_modern(1, "tools/list")->status, 503u);
}

TEST_F(HttpGatewayTest, WhatIsLoggedDuringCallsOfSeveralModernClientsReachesNoneOfThem) {
    be_slow();
    const json::object wants{{"io.modelcontextprotocol/logLevel", "debug"}};
    const auto first = post_modern(1, "tools/call", kCall, wants);
    ASSERT_TRUE(wait([&] { return calls.size() == 1; }));
    servers.at("git").say(
        R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"mine"}})");
    ASSERT_TRUE(wait([&] { return first->has("mine"); }));
    const auto second = post_modern(1, "tools/call", kCall, wants);
    ASSERT_TRUE(wait([&] { return calls.size() == 2; }));
    servers.at("git").say(
        R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"whose"}})");
    finish(0);
    finish(1);
    EXPECT_THAT(body_of(first), Not(HasSubstr("whose")));
    EXPECT_THAT(body_of(second), Not(HasSubstr("whose")));
}

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
