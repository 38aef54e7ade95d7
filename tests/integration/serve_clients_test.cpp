// Clients of the MCP project's own SDKs before `patchbay serve`, and its own servers behind it: all that
// the protocol has gets through, also with mcp-remote or another Patchbay in between.
#include "integration/npm_clients.hpp"

namespace patchbay::test {
namespace {

struct Sdk {
    const char* name;
    const char* version;
};

class RealClients : public Clients, public ::testing::WithParamInterface<Sdk> {};

INSTANTIATE_TEST_SUITE_P(, RealClients,
                         ::testing::Values(Sdk{"v1", "legacy"}, Sdk{"v2", "2026-07-28"}),
                         [](const auto& sdk) { return std::string(sdk.param.name); });

void expect_all_of_it(const Outcome& done, const char* version) {
    ASSERT_EQ(done.exit_code, 0) << done.out << done.err;
    const auto seen = json::parse(done.out);
    EXPECT_EQ(seen.at("server"), "patchbay");
    EXPECT_EQ(seen.at("version"), json::value(version));
    EXPECT_THAT(json::serialize(seen.at("tools")),
                AllOf(HasSubstr("mcp__every__echo"), HasSubstr("mcp__memory__read_graph")));
    EXPECT_EQ(seen.at("echo"), "Echo: hi");
    EXPECT_TRUE(seen.at("structured").as_object().contains("temperature"));
    EXPECT_THAT(std::string(seen.at("elicited").as_string()), HasSubstr("Name: Ada"));
    EXPECT_THAT(std::string(seen.at("sampled").as_string()), HasSubstr("sampled"));
    // Of those that come right before the result, or with it out of mcp-remote, the SDK takes no notice.
    EXPECT_GE(seen.at("progress").as_int64(), 1);
    EXPECT_THAT(json::serialize(seen.at("prompts")), HasSubstr("mcp__every__args-prompt"));
    EXPECT_THAT(std::string(seen.at("prompt").as_string()), HasSubstr("Paris"));
    EXPECT_EQ(seen.at("read"), true);
    EXPECT_EQ(seen.at("completed"), (json::array{"Engineering"}));
}

// The server speaks 2025-11-25 alone: what it asks in the middle of a call reaches both eras.
TEST_P(RealClients, ReachEverythingOfServersThatAreNotOfTheirEra) {
    add("every");
    add("memory");
    expect_all_of_it(run_client(sdk(GetParam().name, serve())), GetParam().version);
    expect_clean_end();
}

TEST_P(RealClients, ReachEverythingOverHttp) {
    add("every");
    add("memory");
    const auto url = serve_http(home, {}).http;
    expect_all_of_it(run_client(sdk(GetParam().name, {url})), GetParam().version);
    EXPECT_EQ(gateway->out(), url + "\n");
    expect_clean_end();
}

// One over stdio before one over HTTP, as where a team has a gateway and each of it their own.
TEST_P(RealClients, ReachEverythingThroughTwoPatchbaysInARow) {
    Home of_team;
    add(of_team, "every");
    home.add("every", {{"url", serve_http(of_team, {"--only", "every"}).http}});
    add("memory");
    expect_all_of_it(run_client(sdk(GetParam().name, serve())), GetParam().version);
    expect_clean_end();
}

TEST_F(Clients, OfTheOlderTransportReachEverything) {
    add("every");
    add("memory");
    expect_all_of_it(run_client(sdk("v1", {serve_http().sse})), "legacy");
    expect_clean_end();
}

TEST_F(Clients, ReachEverythingThroughMcpRemote) {
    add("every");
    add("memory");
    const auto url = serve_http().http;
    expect_all_of_it(run_client(sdk("v1", mcp_remote(url, "legacy"))), "legacy");
    expect_clean_end();
}

TEST_F(Clients, ReachEverythingThroughMcpRemoteThatSpeaksTheNewestToUs) {
    add("every");
    add("memory");
    const auto done = run_client(sdk("v1", mcp_remote(serve_http().http, "auto")));
    expect_all_of_it(done, "legacy");
    EXPECT_THAT(done.err, HasSubstr("speaks MCP 2026-07-28"));
    expect_clean_end();
}

}  // namespace
}  // namespace patchbay::test
