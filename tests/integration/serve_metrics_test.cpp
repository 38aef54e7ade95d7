// `patchbay serve --metrics`: what who watches a gateway is told, beside what its clients are.
#include "integration/door_fixture.hpp"
#include "integration/mcp_client.hpp"
#include "support/plain_http.hpp"

#include <csignal>
#include <unistd.h>

namespace patchbay::test {
namespace {

using ::testing::IsEmpty;

// The whole answer, head and body; empty: nobody listens there.
std::string ask(int port, const std::string& asked) {
    PlainHttp http(port);
    http.send(asked);
    http.wait_for_end();
    return http.got();
}

std::string get(int port, const std::string& path, const std::string& host = "localhost",
                const std::string& more = {}) {
    return ask(port, "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + more +
                         "Connection: close\r\n\r\n");
}

void initialize(int port) {
    EXPECT_THAT(ask(port,
                    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    "Accept: application/json, text/event-stream\r\n"
                    "Content-Type: application/json\r\nContent-Length: " +
                        std::to_string(kInitialize.size()) + "\r\n\r\n" + kInitialize),
                StartsWith("HTTP/1.1 200 "));
}

// Of the URL that follows `word` in what a program printed.
int port_behind(const std::string& text, const std::string& word) {
    const auto at = text.find(word + "http://127.0.0.1:");
    return at == std::string::npos ? 0 : std::stoi(text.substr(at + word.size() + 17));
}

class ServeMetrics : public ::testing::Test {
protected:
    static int metrics_of(Program& program) {
        EXPECT_TRUE(program.wait_until([&] {
            return program.err().find("/metrics\n") != std::string::npos;
        })) << program.err();
        return port_behind(program.err(), "metrics: ");
    }
    Home home;
};

TEST_F(ServeMetrics, OverStdioCountCallsAndTellHowServersFare) {
    home.add_example("x");
    McpClient mcp(home, false, "{}", {"--metrics", "127.0.0.1:0"});
    const int port = metrics_of(mcp.program());
    ASSERT_GT(port, 0);
    mcp.greet();
    EXPECT_EQ(text_in(mcp.call("mcp__x__echo", R"({"message":"hi"})")), "hi");
    mcp.call("mcp__x__fail");
    const auto text = get(port, "/metrics");
    EXPECT_THAT(text, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; "
                                 "charset=utf-8\r\n"));
    for (const auto* line :
         {"patchbay_tool_calls_total{server=\"x\",tool=\"echo\",outcome=\"ok\"} 1\n",
          "patchbay_tool_calls_total{server=\"x\",tool=\"fail\",outcome=\"is_error\"} 1\n",
          "patchbay_tool_call_duration_seconds_count{server=\"x\",tool=\"echo\"} 1\n",
          "patchbay_server_state{server=\"x\",state=\"ready\"} 1\n", "patchbay_sessions 1\n"})
        EXPECT_THAT(text, HasSubstr(line));
    EXPECT_THAT(get(port, "/healthz"),
                AllOf(StartsWith("HTTP/1.1 200 "),
                      HasSubstr(R"({"status":"serving","servers":{"ready":1}})")));
    EXPECT_EQ(mcp.finish().exit_code, 0);
    EXPECT_THAT(get(port, "/healthz"), IsEmpty()) << "it ends with the program";
}

TEST_F(ServeMetrics, TellOfAServerThatComesBack) {
    home.add_example("x", {"--era", "legacy", "--die-after", "5"});
    McpClient mcp(home, false, "{}", {"--metrics", "127.0.0.1:0"});
    const int port = metrics_of(mcp.program());
    ASSERT_GT(port, 0);
    mcp.greet();
    for (int i = 0; i < 20 && get(port, "/metrics").find("restarts_total{server=\"x\"} 1\n") ==
                                  std::string::npos;
         ++i)
        mcp.call("mcp__x__echo", R"({"message":"hi"})");
    EXPECT_THAT(get(port, "/metrics"),
                AllOf(HasSubstr("patchbay_server_restarts_total{server=\"x\"} "),
                      HasSubstr("{server=\"x\",state=\"reconnecting\"} ")));
}

TEST_F(ServeMetrics, OverHttpCountRequestsByTheirStatusAndAreAtNoAddressOfTheGateway) {
    home.add_example("x");
    Program gateway(home.patchbay({"serve", "--http", "127.0.0.1:0", "--metrics", "127.0.0.1:0"}));
    ASSERT_TRUE(gateway.wait_for_out("/mcp\n")) << gateway.err();
    const int mcp = port_behind(gateway.out(), ""), port = metrics_of(gateway);
    ASSERT_NE(mcp, port);
    EXPECT_THAT(get(mcp, "/metrics"), StartsWith("HTTP/1.1 404 "));
    EXPECT_THAT(get(mcp, "/mcp"), StartsWith("HTTP/1.1 405 "));
    EXPECT_THAT(get(port, "/metrics"), AllOf(HasSubstr("requests_total{status=\"404\"} 1\n"),
                                             HasSubstr("requests_total{status=\"405\"} 1\n"),
                                             HasSubstr("patchbay_sessions 0\n")));
    gateway.signal(SIGTERM);
    EXPECT_EQ(gateway.finish().exit_code, 0);
    EXPECT_EQ(nothing_left(), "");
}

// A server that does not let go makes the end take its time.
TEST_F(ServeMetrics, SayWhileItClosesThatItDoes) {
    const auto ready = home.add_hostile("stubborn", {"ignore"});
    Program gateway(home.patchbay({"serve", "--http", "127.0.0.1:0", "--metrics", "127.0.0.1:0"}));
    ASSERT_TRUE(gateway.wait_for_out("/mcp\n")) << gateway.err();
    const int port = metrics_of(gateway);
    const int mcp = port_behind(gateway.out(), "");
    EXPECT_THAT(get(port, "/healthz"), StartsWith("HTTP/1.1 200 "));
    // Its servers are connected once a client has come.
    initialize(mcp);
    ASSERT_TRUE(wait_for_file(ready, "ready"));
    gateway.signal(SIGTERM);
    std::string closing;
    for (auto said = get(port, "/healthz"); !said.empty(); said = get(port, "/healthz"))
        if (said.starts_with("HTTP/1.1 503 ")) closing = said;
    EXPECT_THAT(closing, HasSubstr(R"({"status":"closing","servers":{)"));
    EXPECT_EQ(gateway.finish().exit_code, 0);
}

TEST_F(ServeMetrics, AreForThisMachineAlone) {
    home.add_example("x");
    const auto open = home.run({"serve", "--metrics", "0.0.0.0:0"});
    EXPECT_NE(open.exit_code, 0);
    EXPECT_THAT(open.err, HasSubstr("--metrics: 0.0.0.0 can be reached from other machines"));
    EXPECT_NE(home.run({"serve", "--metrics", "nonsense"}).exit_code, 0);
    McpClient mcp(home, false, "{}", {"--metrics", "127.0.0.1:0"});
    const int port = metrics_of(mcp.program());
    EXPECT_THAT(get(port, "/metrics", "evil.example"),
                AllOf(StartsWith("HTTP/1.1 403 "), Not(HasSubstr("patchbay_"))));
    EXPECT_THAT(get(port, "/metrics", "localhost", "Origin: http://evil.example\r\n"),
                StartsWith("HTTP/1.1 403 "));
    EXPECT_THAT(get(port, "/"), StartsWith("HTTP/1.1 404 "));
}

}  // namespace
}  // namespace patchbay::test
