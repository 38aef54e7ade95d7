// Which servers there are, and what of a changed configuration reaches a running connection.
#include "registry/server_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace patchbay::registry {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

config::Server server(const std::string& id, const std::string& command = "run") {
    config::Server made;
    made.id = id;
    made.transport = "stdio";
    made.settings = {{"command", command}};
    return made;
}
std::vector<ServerSpec> specs(std::vector<config::Server> servers) {
    config::Config config;
    config.servers = std::move(servers);
    return specs_of(config);
}
std::vector<std::string> ids(const std::vector<ServerSpec>& all) {
    std::vector<std::string> found;
    for (const auto& each : all) found.push_back(each.id());
    return found;
}

TEST(Specs, AreOfTheEnabledServersInOrder) {
    auto off = server("b");
    off.enabled = false;
    EXPECT_THAT(ids(specs({server("c"), off, server("a")})), ElementsAre("a", "c"));
}

TEST(Specs, AreNoneWhenEverythingIsDenied) {
    config::Config config;
    config.servers = {server("a")};
    config.deny_all = true;
    EXPECT_THAT(specs_of(config), IsEmpty());
}

TEST(Specs, AreLocalAsTheirTransportIs) {
    auto local = server("a");
    local.local = true;
    const auto both = specs({local, server("b")});
    EXPECT_TRUE(both[0].local());
    EXPECT_FALSE(both[1].local());
}

TEST(Specs, WithEqualDefinitionsHaveEqualKeysWhateverTheirNames) {
    const auto both = specs({server("a"), server("b")});
    EXPECT_EQ(both[0].definition_key, both[1].definition_key);
    EXPECT_EQ(both[0].definition_key.size(), 64u);
}

struct Change {
    const char* what;
    bool definition;  // or only how it is run
    std::function<void(config::Server&)> make;
};
const Change kChanges[] = {
    {"transport", true, [](auto& s) { s.transport = "tcp"; }},
    {"protocol", true, [](auto& s) { s.protocol = "2025-11-25"; }},
    {"settings", true, [](auto& s) { s.settings["args"] = {"x"}; }},
    {"startup_timeout", false, [](auto& s) { s.startup_timeout = 1ms; }},
    {"request_timeout", false, [](auto& s) { s.request_timeout = 1ms; }},
    {"tool_timeout", false, [](auto& s) { s.tool_timeout = 1ms; }},
    {"restart", false, [](auto& s) { s.restart = false; }},
    {"auth", true, [](auto& s) { s.auth = "main"; }},
    {"oauth", true, [](auto& s) { s.oauth["client_id"] = "me"; }},
    {"bearer_token_env_var", true, [](auto& s) { s.bearer_token_env_var = "TOKEN"; }},
    {"expand", true, [](auto& s) { s.expand = false; }},
    {"fallback", true, [](auto& s) { s.fallback = {"sse"}; }},
    {"program", true, [](auto& s) { s.program = "/bin/run"; }},
};

TEST(Difference, AChangedServerGoesAndComes) {
    const auto before = specs({server("a"), server("b")});
    for (const auto& change : kChanges) {
        SCOPED_TRACE(change.what);
        auto other = server("a");
        change.make(other);
        const auto after = specs({other, server("b")});
        const auto found = difference(before, after);
        EXPECT_THAT(found.changed, ElementsAre("a"));
        EXPECT_THAT(ids(found.added), ElementsAre("a")) << "as it is now";
        EXPECT_THAT(found.added, ElementsAre(after[0]));
        EXPECT_THAT(found.gone, IsEmpty());
        EXPECT_EQ(before[0].definition_key != after[0].definition_key, change.definition);
    }
}

TEST(Difference, RulesForItsToolsAreNone) {
    auto ruled = server("a");
    ruled.enabled_tools = {{"a"}};
    ruled.disabled_tools = {"b"};
    ruled.tools["a"] = config::Level::Deny;
    ruled.trust = "untrusted";
    const auto before = specs({server("a")}), after = specs({ruled});
    const auto found = difference(before, after);
    EXPECT_THAT(found.changed, IsEmpty());
    EXPECT_THAT(found.added, IsEmpty());
    EXPECT_EQ(before[0].definition_key, after[0].definition_key);
}

TEST(Difference, WhereItWasWrittenIsNone) {
    auto moved = server("a");
    moved.place.line = 7;
    const auto found = difference(specs({server("a")}), specs({moved}));
    EXPECT_THAT(found.changed, IsEmpty());
    EXPECT_THAT(found.added, IsEmpty());
    EXPECT_THAT(found.gone, IsEmpty());
}

TEST(Difference, NewOnesComeAndOldOnesGo) {
    const auto found =
        difference(specs({server("a"), server("b")}), specs({server("b"), server("c")}));
    EXPECT_THAT(found.gone, ElementsAre("a"));
    EXPECT_THAT(found.changed, IsEmpty());
    EXPECT_THAT(ids(found.added), ElementsAre("c"));
    EXPECT_FALSE(specs({server("a")})[0] == specs({server("b")})[0]) << "a name counts too";
}

}  // namespace
}  // namespace patchbay::registry
