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

// The client's own account of what it has seen, of which each line is something that the protocol has.
json::value seen_by(const Outcome& done) {
    json::error_code failed;
    auto seen = json::parse(done.out, failed);
    return failed || !seen.is_object() || done.exit_code != 0
               ? json::value{{"nothing", done.out + done.err}, {"exit code", done.exit_code}}
               : seen;
}

std::string text_of(const json::value& seen, const char* key) {
    const auto* found = seen.as_object().if_contains(key);
    return !found               ? ""
           : found->is_string() ? std::string(found->get_string())
                                : json::serialize(*found);
}

MATCHER_P(HasSeenEverything, version,
          "has seen all that the protocol has, by " + std::string(version)) {
    const json::object& seen = arg.as_object();
    const auto is = [&](const char* key, const json::value& wanted) {
        const auto* found = seen.if_contains(key);
        if (!found || *found != wanted) *result_listener << key << " is not " << wanted << "; ";
        return found && *found == wanted;
    };
    const auto has = [&](const char* key, const char* part) {
        const bool there = text_of(arg, key).find(part) != std::string::npos;
        if (!there) *result_listener << key << " does not say " << part << "; ";
        return there;
    };
    // Of those that come right before the result, or with it out of mcp-remote, the SDK takes no notice.
    const auto* progress = seen.if_contains("progress");
    const bool told = progress && progress->is_int64() && progress->get_int64() >= 1;
    if (!told) *result_listener << "no progress; ";
    // Each says what it lacks.
    return static_cast<int>(is("server", "patchbay")) & is("version", version) &
           has("tools", "mcp__every__echo") & has("tools", "mcp__memory__read_graph") &
           is("echo", "Echo: hi") & has("structured", "\"temperature\"") &
           has("elicited", "Name: Ada") & has("sampled", "sampled") & told &
           has("prompts", "mcp__every__args-prompt") & has("prompt", "Paris") & is("read", true) &
           is("completed", json::array{"Engineering"});
}

// The server speaks 2025-11-25 alone: what it asks in the middle of a call reaches both eras.
TEST_P(RealClients, ReachEverythingOfServersThatAreNotOfTheirEra) {
    add("every");
    add("memory");
    EXPECT_THAT(seen_by(run_client(sdk(GetParam().name, serve()))),
                HasSeenEverything(GetParam().version));
    EXPECT_EQ(what_is_left_at_the_end(), "");
}

TEST_P(RealClients, ReachEverythingOverHttp) {
    add("every");
    add("memory");
    const auto url = serve_http(home, {}).http;
    EXPECT_THAT(seen_by(run_client(sdk(GetParam().name, {url}))),
                HasSeenEverything(GetParam().version));
    EXPECT_EQ(gateway->out(), url + "\n");
    EXPECT_EQ(what_is_left_at_the_end(), "");
}

// One over stdio before one over HTTP, as where a team has a gateway and each of it their own.
TEST_P(RealClients, ReachEverythingThroughTwoPatchbaysInARow) {
    Home of_team;
    add(of_team, "every");
    home.add("every", {{"url", serve_http(of_team, {"--only", "every"}).http}});
    add("memory");
    EXPECT_THAT(seen_by(run_client(sdk(GetParam().name, serve()))),
                HasSeenEverything(GetParam().version));
    EXPECT_EQ(what_is_left_at_the_end(), "");
}

TEST_F(Clients, OfTheOlderTransportReachEverything) {
    add("every");
    add("memory");
    EXPECT_THAT(seen_by(run_client(sdk("v1", {serve_http().sse}))), HasSeenEverything("legacy"));
    EXPECT_EQ(what_is_left_at_the_end(), "");
}

TEST_F(Clients, ReachEverythingThroughMcpRemote) {
    add("every");
    add("memory");
    const auto url = serve_http().http;
    EXPECT_THAT(seen_by(run_client(sdk("v1", mcp_remote(url, "legacy")))),
                HasSeenEverything("legacy"));
    EXPECT_EQ(what_is_left_at_the_end(), "");
}

TEST_F(Clients, ReachEverythingThroughMcpRemoteThatSpeaksTheNewestToUs) {
    add("every");
    add("memory");
    const auto done = run_client(sdk("v1", mcp_remote(serve_http().http, "auto")));
    EXPECT_THAT(seen_by(done), HasSeenEverything("legacy"));
    EXPECT_THAT(done.err, HasSubstr("speaks MCP 2026-07-28"));
    EXPECT_EQ(what_is_left_at_the_end(), "");
}

}  // namespace
}  // namespace patchbay::test
