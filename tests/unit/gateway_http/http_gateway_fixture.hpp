// A gateway before two servers, "git" and "github", of the legacy era; what HTTP carries is faked.
#pragma once

#include "gateway/http/http_gateway.hpp"
#include "unit/service/fixture.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::gateway {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace std::chrono_literals;
namespace json = boost::json;

struct FakeExchange final : http::Exchange {
    void read_body(std::function<void(std::string)> then) override {
        wanted = std::move(then);
        if (!stalls) send_body();
    }
    void send_body() { std::exchange(wanted, nullptr)(std::move(sends)); }
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

    std::string sends;    // behind the head
    bool stalls = false;  // until send_body()
    std::function<void(std::string)> wanted;
    unsigned status = 0;  // 0: not answered
    http::Headers headers;
    std::string body;
    std::size_t unread = 0;
    bool over = false;
    std::function<void()> gone;
};
using Exchange = std::shared_ptr<FakeExchange>;

// Whose a request is says the header "as"; `unknown` is refused, and of "late" it is known later.
struct FakeAdmission final : Admission {
    std::optional<Admitted> admit(const http::Request& request,
                                  std::function<void(Admitted)> then) override {
        const auto* as = request.header("as");
        if (as && *as == unknown) return HttpRefusal{401, "who are you?"};
        auto admitted = Everybody({}).admit(request, {});
        auto* guest = std::get_if<Guest>(&*admitted);
        if (!guest) return admitted;
        guest->principal.id = as ? *as : "";
        guest->until = until;
        if (!as || *as != "late") return admitted;
        later = [then = std::move(then), guest = *guest] { then(guest); };
        return {};
    }
    std::string unknown = "nobody";
    std::function<void()> later;
    std::optional<core::Calendar::time_point> until;  // of what everybody brings
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
        come(exchange, method, std::move(headers), std::move(body), target);
        return exchange;
    }
    void come(const Exchange& exchange, const std::string& method, http::Headers headers,
              std::string body, const std::string& target = "/mcp") {
        headers.emplace_back("host", "localhost");
        headers.emplace_back("accept", "application/json, text/event-stream");
        if (!body.empty()) headers.emplace_back("content-type", "application/json");
        exchange->sends = std::move(body);
        gateway().on_request(exchange, {method, target, std::move(headers), {}});
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

inline const json::object kCall{{"name", "mcp__git__log"}, {"arguments", json::object()}};

}  // namespace patchbay::gateway
