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
    std::function<void(config::Server&)> make;
};
const Change kChanges[] = {
    {"transport", [](auto& s) { s.transport = "tcp"; }},
    {"protocol", [](auto& s) { s.protocol = "2025-11-25"; }},
    {"settings", [](auto& s) { s.settings["args"] = {"x"}; }},
    {"auth", [](auto& s) { s.auth = "main"; }},
    {"oauth", [](auto& s) { s.oauth["client_id"] = "me"; }},
    {"bearer_token_env_var", [](auto& s) { s.bearer_token_env_var = "TOKEN"; }},
    {"expand", [](auto& s) { s.expand = false; }},
    {"fallback", [](auto& s) { s.fallback = {"sse"}; }},
    {"program", [](auto& s) { s.program = "/bin/run"; }},
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
        EXPECT_THAT(found.added, ElementsAre(after[0])) << "as it is now";
        EXPECT_THAT(found.gone, IsEmpty());
        EXPECT_NE(before[0].definition_key, after[0].definition_key);
    }
}

TEST(Difference, HowAServerIsRunAndWhatMayBeCalledIsNone) {
    const std::pair<const char*, std::function<void(config::Server&)>> changes[] = {
        {"startup_timeout", [](auto& s) { s.startup_timeout = 1ms; }},
        {"request_timeout", [](auto& s) { s.request_timeout = 1ms; }},
        {"tool_timeout", [](auto& s) { s.tool_timeout = 1ms; }},
        {"enabled_tools", [](auto& s) { s.enabled_tools = {{"a"}}; }},
        {"disabled_tools", [](auto& s) { s.disabled_tools = {"a"}; }},
        {"tools", [](auto& s) { s.tools["a"] = config::Level::Deny; }},
        {"trust", [](auto& s) { s.trust = "untrusted"; }},
        {"restart", [](auto& s) { s.restart = config::Restart::Never; }},
    };
    for (const auto& [what, change] : changes) {
        SCOPED_TRACE(what);
        auto other = server("a");
        change(other);
        const auto found = difference(specs({server("a")}), specs({other}));
        EXPECT_THAT(found.changed, IsEmpty());
        EXPECT_THAT(found.added, IsEmpty());
        EXPECT_EQ(specs({server("a")})[0].definition_key, specs({other})[0].definition_key);
    }
}

TEST(Difference, TheTableThatAServerSignsInByIsPartOfIt) {
    config::Config before;
    before.servers = {server("a"), server("b")};
    before.servers[0].auth = "corp";
    before.auth["corp"] = {{"kind", "bearer"}, {"token", "1"}};
    auto after = before;
    after.auth["corp"]["token"] = "2";
    EXPECT_THAT(difference(specs_of(before), specs_of(after)).changed, ElementsAre("a"));
    after = before;
    after.auth_programs["corp"] = "/bin/other";
    EXPECT_THAT(difference(specs_of(before), specs_of(after)).changed, ElementsAre("a"));
    after = before;
    after.auth["other"] = {{"kind", "bearer"}};
    EXPECT_THAT(difference(specs_of(before), specs_of(after)).changed, IsEmpty());
}

TEST(Difference, TheOrderInWhichASettingIsWrittenIsNone) {
    auto one = server("a"), other = server("a");
    one.settings["env"] = {{"A", "1"}, {"B", "2"}};
    other.settings["env"] = {{"B", "2"}, {"A", "1"}};
    EXPECT_THAT(difference(specs({one}), specs({other})).changed, IsEmpty());
}

// A relative path stands beside the file, and a checkout may name less than a person.
TEST(Difference, AnotherFolderCountsWhereItGivesTheWordsAnotherMeaning) {
    const auto in = [](config::Server made, const char* file) {
        made.place.file = file;
        return specs({made});
    };
    const auto changed = [&](const config::Server& made) {
        return difference(in(made, "/a/config.toml"), in(made, "/b/config.toml")).changed;
    };
    EXPECT_THAT(changed(server("a")), IsEmpty());
    EXPECT_THAT(changed(server("a", "/bin/run")), IsEmpty());
    EXPECT_THAT(changed(server("a", "bin/run")), ElementsAre("a"));
    auto at = server("a");
    at.settings["cwd"] = ".";
    EXPECT_THAT(changed(at), ElementsAre("a"));
    auto with = server("a");
    with.settings["env"] = {{"TOKEN", "${file:token}"}};
    EXPECT_THAT(changed(with), ElementsAre("a"));
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
