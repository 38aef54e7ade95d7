// The MCP project's own clients before `patchbay serve`, and its own servers behind it.
#include "integration/npm.hpp"

#include <csignal>

namespace patchbay::test {
namespace {

struct Sdk {
    const char* name;
    const char* version;
};

class RealClients : public NpmTest, public ::testing::WithParamInterface<Sdk> {
protected:
    void add(const std::string& id, const std::string& package) {
        const json::array all{(kServers / package / "dist/index.js").string()};
        home.add(id, {{"command", kNode.string()}, {"args", all}});
    }
};

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
    // Of one that comes right before the result the SDK may take no notice any more.
    EXPECT_GE(seen.at("progress").as_int64(), 2);
    EXPECT_THAT(json::serialize(seen.at("prompts")), HasSubstr("mcp__every__args-prompt"));
    EXPECT_THAT(std::string(seen.at("prompt").as_string()), HasSubstr("Paris"));
    EXPECT_EQ(seen.at("read"), true);
    EXPECT_EQ(seen.at("completed"), (json::array{"Engineering"}));
}

// The server speaks 2025-11-25 alone: what it asks in the middle of a call reaches both eras.
TEST_P(RealClients, ReachEverythingOfServersThatAreNotOfTheirEra) {
    add("every", "server-everything");
    add("memory", "server-memory");
    auto command = home.patchbay({"serve"});
    const Words script{kNode.string(), std::string(PATCHBAY_SOURCE_DIR) + "/tests/clients/sdk.mjs",
                       GetParam().name, kModules.string()};
    command.argv.insert(command.argv.begin(), script.begin(), script.end());
    expect_all_of_it(run(command), GetParam().version);
    EXPECT_EQ(nothing_left(), "");
}

TEST_P(RealClients, ReachEverythingOverHttp) {
    add("every", "server-everything");
    add("memory", "server-memory");
    Program gateway(home.patchbay({"serve", "--http", "127.0.0.1:0"}));
    ASSERT_TRUE(gateway.wait_for_out("/mcp\n")) << gateway.err();
    const auto url = gateway.out().substr(0, gateway.out().find('\n'));
    auto command = home.patchbay({});
    command.argv = {kNode.string(), std::string(PATCHBAY_SOURCE_DIR) + "/tests/clients/sdk.mjs",
                    GetParam().name, kModules.string(), url};
    expect_all_of_it(run(command), GetParam().version);
    gateway.signal(SIGTERM);
    const auto ended = gateway.finish();
    EXPECT_EQ(ended.exit_code, 130);
    EXPECT_EQ(ended.out, url + "\n");
    EXPECT_EQ(nothing_left(), "");
}

TEST_F(NpmTest, AClientOfTheOlderTransportReachesEverything) {
    for (const std::string id : {"every", "memory"})
        home.add(id, {{"command", kNode.string()},
                      {"args",
                       {(kServers / (id == "every" ? "server-everything" : "server-memory") /
                         "dist/index.js")
                            .string()}}});
    Program gateway(home.patchbay({"serve", "--http", "127.0.0.1:0", "--sse"}));
    ASSERT_TRUE(gateway.wait_for_out("/sse\n")) << gateway.err();
    const auto urls = gateway.out();
    auto command = home.patchbay({});
    command.argv = {kNode.string(), std::string(PATCHBAY_SOURCE_DIR) + "/tests/clients/sdk.mjs",
                    "v1", kModules.string(),
                    urls.substr(urls.find('\n') + 1, urls.size() - urls.find('\n') - 2)};
    expect_all_of_it(run(command), "legacy");
    gateway.signal(SIGTERM);
    EXPECT_EQ(gateway.finish().exit_code, 130);
    EXPECT_EQ(nothing_left(), "");
}

}  // namespace
}  // namespace patchbay::test
