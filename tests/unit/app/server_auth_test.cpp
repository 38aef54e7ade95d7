// Which auth method servers use, judged for all of them at once.
#include "app/server_auth.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace patchbay::app {
namespace {

// Steps of comparing names are counted, not time: a checkout may bring thousands of both.
TEST(ServerAuth, OffersNearNamesAsLongAsTheEffortOfALoadLasts) {
    core::Loop loop;
    plugin::SearchOptions options;
    options.built_in = false;
    plugin::Catalogue plugins(loop, options);
    const auth::SecretStore secrets(loop, "/nowhere", nullptr);
    const config::Environment environment;
    config::Config config;
    const ServerAuth auth(config, plugins, secrets, environment);
    for (int i = 0; i < 4000; ++i) {
        auto& server = config.servers.emplace_back();
        server.id = "s" + std::to_string(i);
        server.auth = "aaaaaaaaaaaaaaab" + std::to_string(100'000 + i);
        config.auth["aaaaaaaaaaaaaaaa" + std::to_string(100'000 + i)] = {};
    }
    core::Effort hints(core::Effort::kOneHint);
    auth.check(config, hints);
    EXPECT_EQ(hints.left(), 0u);
    EXPECT_TRUE(config.servers.empty());
    std::size_t errors = 0, offered = 0;
    for (const auto& told : config.diagnostics) {
        if (told.severity == config::Severity::Error) ++errors;
        if (told.message.find("did you mean") != std::string::npos) ++offered;
    }
    EXPECT_EQ(errors, 4000u) << "each is told";
    EXPECT_GT(offered, 0u);
    EXPECT_LE(offered, core::Effort::kOneHint / (4000 * 22) + 1);
}

TEST(ServerAuth, SignsInWhereTheConfigurationSaysHowBeforeAnybodyAsks) {
    core::Loop loop;
    plugin::SearchOptions options;
    options.built_in = false;
    plugin::Catalogue plugins(loop, options);
    const auth::SecretStore secrets(loop, "/nowhere", nullptr);
    const config::Environment environment;
    config::Config config;
    const ServerAuth auth(config, plugins, secrets, environment);
    config::Server server;
    server.id = "web";
    server.settings["url"] = "https://mcp.example/";
    EXPECT_FALSE(auth.choice(server)) << "no plugin signs in";
    server.oauth["client_id"] = "ours";
    const auto choice = auth.choice(server);
    ASSERT_TRUE(choice) << "and that there is none is to be told";
    EXPECT_EQ(choice->name, "oauth");
    EXPECT_TRUE(choice->ahead);
}

}  // namespace
}  // namespace patchbay::app
