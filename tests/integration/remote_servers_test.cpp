// Servers that others wrote, reached over http, sse and ws: the MCP project's server-everything, a
// server of the TypeScript SDK v2, and supergateway in front of a stdio server.
#include "integration/npm.hpp"

#include <arpa/inet.h>
#include <memory>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace patchbay::test {
namespace {

namespace fs = std::filesystem;

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
}

// One that nobody listens on now; somebody else may be faster than who asks for it.
int free_port() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto address = loopback(0);
    socklen_t size = sizeof address;
    const bool bound = ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                       ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    ::close(fd);
    EXPECT_TRUE(bound);
    return ntohs(address.sin_port);
}

bool accepts(int port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto address = loopback(port);
    const bool connected =
        ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    return connected;
}

bool has_ended(pid_t pid) {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid == pid;
}

// How to start a server that listens on a port it is told, and what is behind it.
struct Kind {
    std::string name;
    std::string url;                  // with PORT in it
    std::string transport, protocol;  // that Patchbay ends up with
    std::string resource, resource_text;
    Words argv;  // with PORT in it; the first word is not node
};

std::string with_port(std::string text, int port) {
    for (auto at = text.find("PORT"); at != text.npos; at = text.find("PORT", at))
        text.replace(at, 4, std::to_string(port));
    return text;
}

class RemoteServers : public NpmTest {
protected:
    // The server that runs, on a new port or, once more, on the one that it had.
    void start(const Kind& kind) {
        for (int attempt = 0; attempt < 5; ++attempt) {
            port_ = free_port();
            if (start_again(kind)) {
                home.add("s", {{"url", with_port(kind.url, port_)}});
                return;
            }
        }
        FAIL() << kind.name << " does not start; it says: " << server_->err();
    }

    bool start_again(const Kind& kind) {
        Command command{{kNode}, home.environment, home.work(), {}, kDeadline};
        for (const auto& word : kind.argv) command.argv.push_back(with_port(word, port_));
        command.environment["PORT"] = std::to_string(port_);
        server_ = std::make_unique<Program>(command);
        const auto end = std::chrono::steady_clock::now() + kDeadline;
        while (!accepts(port_)) {
            if (has_ended(server_->pid()) || std::chrono::steady_clock::now() > end) {
                server_->finish();
                return false;
            }
            ::poll(nullptr, 0, 10);  // between two attempts: nothing tells when it listens
        }
        return true;
    }

    void stop() { server_.reset(); }

    void TearDown() override {
        stop();
        EXPECT_EQ(nothing_left(), "");
    }

    Kind everything(const std::string& transport) const {
        const bool sse = transport == "sse";
        return {"everything_" + transport,
                sse ? "http://127.0.0.1:PORT/sse" : "http://127.0.0.1:PORT/mcp",
                sse ? "sse" : "http",
                "2025-11-25",
                "demo://resource/static/document/features.md",
                "Features",
                {kServers / "server-everything/dist/index.js", transport}};
    }

    // supergateway in front of the example server.
    Kind gateway(const std::string& name, const std::string& url, const std::string& transport,
                 const std::string& protocol, const Words& flags,
                 const std::string& server_flags = "") const {
        Kind kind{name,
                  url,
                  transport,
                  protocol,
                  "example://text",
                  "text",
                  {kModules / "supergateway/dist/index.js", "--port", "PORT", "--logLevel", "none",
                   "--stdio", example_server() + server_flags}};
        kind.argv.insert(kind.argv.end(), flags.begin(), flags.end());
        return kind;
    }

    Kind modern() const {
        return {"sdk_v2",
                "http://127.0.0.1:PORT/mcp",
                "http",
                "2026-07-28",
                "memo://greeting",
                "Good morning",
                {fs::path(PATCHBAY_SOURCE_DIR) / "tests/servers/modern_http/server.mjs",
                 kModules.string(), "PORT"}};
    }

    Kind kind_of(const std::string& name) const {
        const std::string mcp = "http://127.0.0.1:PORT/mcp", streamable = "streamableHttp";
        if (name == "EverythingOverStreamableHttp") return everything(streamable);
        if (name == "EverythingOverSse") return everything("sse");
        if (name == "AGatewayWithSessions")
            return gateway("gateway_sessions", mcp, "http", "2025-11-25",
                           {"--outputTransport", streamable, "--stateful"}, " --era legacy");
        if (name == "AGatewayWithoutSessions")
            return gateway("gateway", mcp, "http", "2025-11-25", {"--outputTransport", streamable},
                           " --era legacy");
        if (name == "AGatewayOverSse")
            return gateway("gateway_sse", "http://127.0.0.1:PORT/sse", "sse", "2025-11-25",
                           {"--outputTransport", "sse", "--baseUrl", "http://127.0.0.1:PORT"});
        if (name == "AGatewayOverAWebSocket")
            return gateway("gateway_ws", "ws://127.0.0.1:PORT/message", "ws", "2026-07-28",
                           {"--outputTransport", "ws"});
        return modern();
    }

    std::unique_ptr<Program> server_;
    int port_ = 0;
};

const auto name_of = [](const auto& each) { return std::string(each.param); };

class RemoteServer : public RemoteServers, public ::testing::WithParamInterface<const char*> {};

// What every server must be good for: status, tools, a call and a resource.
TEST_P(RemoteServer, IsUsed) {
    const auto kind = kind_of(GetParam());
    start(kind);
    if (HasFatalFailure()) return;
    const auto status = home.run({"mcp", "status", "--json"});
    EXPECT_EQ(status.exit_code, 0) << status.err;
    EXPECT_THAT(status.out, AllOf(HasSubstr(R"("state":"ready")"),
                                  HasSubstr("\"transport\":\"" + kind.transport + "\""),
                                  HasSubstr("\"protocol\":\"" + kind.protocol + "\"")));
    const auto tools = home.run({"tools"});
    EXPECT_EQ(tools.exit_code, 0) << tools.err;
    EXPECT_THAT(tools.out, HasSubstr("mcp__s__echo"));
    const auto call = home.run({"call", "mcp__s__echo", "message=is anybody there"});
    EXPECT_EQ(call.exit_code, 0) << call.err;
    EXPECT_THAT(call.out, HasSubstr("is anybody there"));
    const auto resources = home.run({"batch"}, R"({"id":1,"op":"resources/list","server":"s"}
{"id":2,"op":"resources/read","server":"s","uri":")" +
                                                   kind.resource + "\"}\n");
    EXPECT_EQ(resources.exit_code, 0) << resources.out << resources.err;
    const Lines lines(resources.out);
    EXPECT_THAT(json::serialize(lines.answer(1)), HasSubstr(kind.resource));
    EXPECT_THAT(json::serialize(lines.answer(2)), HasSubstr(kind.resource_text));
}

INSTANTIATE_TEST_SUITE_P(, RemoteServer,
                         ::testing::Values("EverythingOverStreamableHttp", "EverythingOverSse",
                                           "AGatewayWithSessions", "AGatewayWithoutSessions",
                                           "AGatewayOverSse", "AGatewayOverAWebSocket", "Modern"),
                         name_of);

class RestartedServer : public RemoteServers, public ::testing::WithParamInterface<const char*> {};

// Calls go on after the server has lost all that it knew, as if nothing had happened.
TEST_P(RestartedServer, MayBeSoBetweenTwoCalls) {
    const auto kind = kind_of(GetParam());
    start(kind);
    if (HasFatalFailure()) return;
    Program batch(home.patchbay({"batch"}));
    const auto call = [&batch](int id) {
        batch.send("{\"id\":" + std::to_string(id) +
                   R"(,"op":"tools/call","name":"mcp__s__echo","arguments":{"message":"m)" +
                   std::to_string(id) + "\"}}\n");
    };
    call(1);
    ASSERT_TRUE(batch.wait_for_out("\"id\":1,")) << batch.out() << batch.err();
    stop();
    ASSERT_TRUE(start_again(kind)) << server_->err();
    for (int id = 2; id <= 9; ++id) call(id);
    const auto done = batch.finish();
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    const Lines lines(done.out);
    for (int id = 1; id <= 9; ++id)
        EXPECT_THAT(lines.text(id), HasSubstr("m" + std::to_string(id)));
}

INSTANTIATE_TEST_SUITE_P(, RestartedServer,
                         ::testing::Values("EverythingOverStreamableHttp", "AGatewayWithSessions",
                                           "Modern"),
                         name_of);

TEST_F(RemoteServers, AModernServerGetsHeadersAndAnswersAndTellsOfItsProgress) {
    start(modern());
    if (HasFatalFailure()) return;
    home.environment["PATCHBAY_CONFIG_JSON"] = R"({"client":{"elicitation":"defaults"}})";
    const auto done = home.run({"batch"},
                               R"({"id":1,"op":"tools/call","name":"mcp__s__slow","progress":true}
{"id":2,"op":"tools/call","name":"mcp__s__where","arguments":{"region":"Zürich"}}
{"id":3,"op":"tools/call","name":"mcp__s__ask"}
)");
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    const Lines lines(done.out);
    EXPECT_EQ(lines.events("progress").size(), 3u);
    EXPECT_EQ(lines.text(2),
              "Mcp-Method: tools/call\nMcp-Name: where\n"
              "Mcp-Param-Region: =?base64?WsO8cmljaA==?=");
    EXPECT_EQ(lines.text(3), "Hello Ada");
}

TEST_F(RemoteServers, AModernServerTellsOfANewTool) {
    start(modern());
    if (HasFatalFailure()) return;
    Program batch(home.patchbay({"batch"}));
    batch.send(R"({"id":1,"op":"tools/list","server":"s"}
{"id":0,"op":"subscriptions/listen","server":"s","notifications":{"toolsListChanged":true}}
{"id":2,"op":"wait","server":"s","method":"notifications/subscriptions/acknowledged"}
)");
    ASSERT_TRUE(batch.wait_for_out("\"id\":2,")) << batch.out() << batch.err();
    batch.send(R"({"id":3,"op":"tools/call","name":"mcp__s__grow"}
{"id":4,"op":"wait","server":"s","method":"notifications/tools/list_changed"}
)");
    ASSERT_TRUE(batch.wait_for_out("\"id\":4,")) << batch.out() << batch.err();
    batch.send("{\"id\":5,\"op\":\"tools/call\",\"name\":\"mcp__s__grown\"}\n");
    const auto done = batch.finish();
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    const Lines lines(done.out);
    EXPECT_THAT(json::serialize(lines.answer(1)), Not(HasSubstr("mcp__s__grown")));
    EXPECT_EQ(lines.text(5), "new here");
}

}  // namespace
}  // namespace patchbay::test
