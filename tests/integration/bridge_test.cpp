// `patchbay serve` as a bridge: each era of client before each era of server, over each transport that
// the server can be behind. All that the protocol has is carried.
#include "integration/mcp_client.hpp"
#include "integration/npm.hpp"

#include <csignal>
#include <memory>

namespace patchbay::test {
namespace {

using ::testing::Contains;

const std::string kAble = R"({"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}})";

struct Bridge {
    bool modern_client, modern_server;
    std::string upstream;
};
std::string name_of(const Bridge& bridge) {
    return std::string(bridge.modern_client ? "Modern" : "Legacy") + "Before" +
           (bridge.modern_server ? "Modern" : "Legacy") + "Over_" + bridge.upstream;
}
void PrintTo(const Bridge& bridge, std::ostream* out) {
    *out << name_of(bridge);
}
std::vector<Bridge> all_bridges() {
    std::vector<Bridge> all;
    for (const bool client : {false, true})
        for (const bool server : {false, true})
            for (const char* upstream : {"stdio", "tcp", "http", "ws", "sse"})
                if (!server || std::string(upstream) != "sse")
                    all.push_back({client, server, upstream});
    return all;
}

class EveryBridge : public NpmTest, public ::testing::WithParamInterface<Bridge> {
protected:
    void SetUp() override {
        const auto& upstream = GetParam().upstream;
        const bool needs_node = upstream == "ws" || upstream == "sse";
        if (needs_node) NpmTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        const Words era{"--era", GetParam().modern_server ? "modern" : "legacy"};
        if (upstream == "stdio") return home.add_example("x", era);
        if (upstream == "tcp") {
            tcp = std::make_unique<TcpServer>(home, era);
            return home.add("x",
                            {{"transport", "tcp"}, {"host", "127.0.0.1"}, {"port", tcp->port()}});
        }
        // Over HTTP a Patchbay is the server, of one era as the one in front is told.
        if (upstream == "http") {
            inner_home.add_example("x", era);
            start(inner_home.patchbay({"serve", "--only", "x", "--http", "127.0.0.1:0"}));
            return home.add("x",
                            {{"url", said_first()},
                             {"protocol", GetParam().modern_server ? "2026-07-28" : "2025-11-25"}});
        }
        auto relay = home.patchbay({});
        relay.argv = {kNode.string(),
                      std::string(PATCHBAY_SOURCE_DIR) + "/tests/servers/relay/relay.mjs",
                      kModules.string(), upstream, example_server()};
        relay.argv.insert(relay.argv.end(), era.begin(), era.end());
        start(relay);
        home.add("x", {{"transport", upstream},
                       {"url", (upstream == "ws" ? "ws://127.0.0.1:" : "http://127.0.0.1:") +
                                   said_first() + (upstream == "sse" ? "/sse" : "/")}});
    }
    void TearDown() override {
        if (!server) return;
        server->signal(SIGTERM);
        server->finish();
    }
    void start(const Command& command) { server = std::make_unique<Program>(command); }
    std::string said_first() {
        EXPECT_TRUE(server->wait_for_out("\n")) << server->err();
        return server->out().substr(0, server->out().find('\n'));
    }
    McpClient client() { return McpClient(home, modern(), kAble); }
    static bool modern() { return GetParam().modern_client; }

    Home inner_home;
    std::unique_ptr<TcpServer> tcp;
    std::unique_ptr<Program> server;
};

INSTANTIATE_TEST_SUITE_P(, EveryBridge, ::testing::ValuesIn(all_bridges()),
                         [](const auto& bridge) { return name_of(bridge.param); });

TEST_P(EveryBridge, CarriesWhatAServerHas) {
    auto mcp = client();
    mcp.greet();
    EXPECT_THAT(json::serialize(mcp.ask("tools/list")), HasSubstr("mcp__x__echo"));
    EXPECT_EQ(text_in(mcp.call("mcp__x__echo", R"({"message":"hi"})")), "hi");
    EXPECT_EQ(at(mcp.call("mcp__x__add", R"({"a":1,"b":2})"), "/result/structuredContent/sum"), 3);
    EXPECT_THAT(json::serialize(mcp.ask("resources/list")), HasSubstr("example:"));
    EXPECT_THAT(json::serialize(mcp.ask("resources/templates/list")),
                HasSubstr("example://item/{n}"));
    EXPECT_EQ(
        at(mcp.ask("resources/read", {{"uri", "example://item/7"}}), "/result/contents/0/uri"),
        "example://item/7");
    EXPECT_THAT(json::serialize(mcp.ask("prompts/list")), HasSubstr("mcp__x__greet"));
    EXPECT_THAT(json::serialize(mcp.ask(
                    "prompts/get", {{"name", "mcp__x__greet"}, {"arguments", {{"who", "Ada"}}}})),
                HasSubstr("Ada"));
    const json::object ref{{"type", "ref/prompt"}, {"name", "mcp__x__greet"}};
    EXPECT_EQ(at(mcp.ask("completion/complete",
                         {{"ref", ref}, {"argument", {{"name", "who"}, {"value", "A"}}}}),
                 "/result/completion/values"),
              (json::array{"Ada", "Alan"}));
}

TEST_P(EveryBridge, CarriesErrors) {
    auto mcp = client();
    mcp.greet();
    const auto failed = mcp.call("mcp__x__rpc_error", R"({"code":-32050,"message":"as asked"})");
    EXPECT_EQ(at(failed, "/error/code"), -32050);
    EXPECT_EQ(at(failed, "/error/data/asked"), true);
    EXPECT_EQ(at(mcp.call("mcp__x__fail"), "/result/isError"), true);
    EXPECT_EQ(at(mcp.ask("resources/read", {{"uri", "no:such"}}), "/error/code"),
              modern() ? -32602 : -32002);
}

TEST_P(EveryBridge, CarriesWhatIsSaidMeanwhile) {
    auto mcp = client();
    mcp.greet();
    if (!modern()) mcp.ask("logging/setLevel", {{"level", "info"}});
    EXPECT_EQ(text_in(mcp.ask("tools/call", {{"name", "mcp__x__progress"},
                                             {"arguments", {{"steps", 2}}},
                                             {"_meta", {{"progressToken", "mine"}}}})),
              "2 steps done");
    EXPECT_EQ(at(mcp.wait_for_method("notifications/progress"), "/params/progressToken"), "mine");
    EXPECT_EQ(mcp.count("notifications/progress"), 2u);
    json::object log{{"name", "mcp__x__log"}, {"arguments", {{"level", "info"}, {"message", "m"}}}};
    if (modern()) log["_meta"] = json::object{{"io.modelcontextprotocol/logLevel", "info"}};
    EXPECT_EQ(text_in(mcp.ask("tools/call", log)), "logged");
    EXPECT_EQ(at(mcp.wait_for_method("notifications/message"), "/params/data"), "m");
}

TEST_P(EveryBridge, CarriesWhatAServerAsks) {
    auto mcp = client();
    mcp.greet();
    const auto call = [](const char* tool, json::object arguments = {}) {
        return json::object{{"name", std::string("mcp__x__") + tool},
                            {"arguments", std::move(arguments)}};
    };
    const auto form =
        mcp.asked(call("ask"), {{"action", "accept"}, {"content", {{"name", "Ada"}}}});
    EXPECT_EQ(form.method, "elicitation/create");
    EXPECT_THAT(json::serialize(form.params), HasSubstr("requestedSchema"));
    EXPECT_THAT(form.outcome, HasSubstr("Ada"));
    const auto page =
        mcp.asked(call("ask", {{"url", "https://example.test/in"}}), {{"action", "decline"}});
    EXPECT_EQ(page.params.as_object().at("mode"), "url");
    EXPECT_EQ(page.params.as_object().at("url"), "https://example.test/in");
    EXPECT_THAT(page.outcome, HasSubstr("decline"));
    const auto model =
        mcp.asked(call("sample"), {{"role", "assistant"},
                                   {"model", "m"},
                                   {"content", {{"type", "text"}, {"text", "a sample"}}}});
    EXPECT_EQ(model.method, "sampling/createMessage");
    EXPECT_THAT(model.outcome, HasSubstr("a sample"));
    const auto roots = mcp.asked(call("roots"), {{"roots", {json::object{{"uri", "file:///r"}}}}});
    EXPECT_EQ(roots.method, "roots/list");
    EXPECT_THAT(roots.outcome, HasSubstr("file:///r"));
}

TEST_P(EveryBridge, CarriesTheEndOfACall) {
    auto mcp = client();
    mcp.greet();
    const auto id =
        mcp.begin("tools/call", {{"name", "mcp__x__sleep"}, {"arguments", {{"ms", 3600000}}}});
    EXPECT_EQ(text_in(mcp.call("mcp__x__echo", R"({"message":"beside it"})")), "beside it");
    mcp.notify("notifications/cancelled", {{"requestId", id}, {"reason", "enough"}});
    EXPECT_EQ(text_in(mcp.call("mcp__x__echo", R"({"message":"on"})")), "on");
    for (const auto& message : mcp.messages())
        EXPECT_FALSE(message.contains("id") && message.at("id") == id) << message;
}

TEST_P(EveryBridge, CarriesChanges) {
    auto mcp = client();
    mcp.greet();
    const std::string uri = "example://text";
    mcp.ask("tools/list");
    mcp.ask("resources/list");
    if (modern()) {
        mcp.begin("subscriptions/listen",
                  {{"notifications",
                    {{"toolsListChanged", true}, {"resourceSubscriptions", json::array{uri}}}}});
        mcp.wait_for_method("notifications/subscriptions/acknowledged");
    } else {
        EXPECT_TRUE(mcp.ask("resources/subscribe", {{"uri", uri}}).contains("result"));
    }
    EXPECT_EQ(text_in(mcp.call("mcp__x__touch", R"({"uri":"example://text"})")), "touched");
    EXPECT_EQ(at(mcp.wait_for_method("notifications/resources/updated"), "/params/uri"),
              json::value(uri));
    const auto added = text_in(mcp.call("mcp__x__change_tools"));
    mcp.wait_for_method("notifications/tools/list_changed");
    EXPECT_THAT(json::serialize(mcp.ask("tools/list")), HasSubstr("mcp__x__" + added));
}

}  // namespace
}  // namespace patchbay::test
