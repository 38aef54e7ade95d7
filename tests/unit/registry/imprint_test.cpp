// What is kept of a snapshot: enough to compare it, and nothing to steal.
#include "registry/imprint.hpp"

#include "registry/plan.hpp"
#include "support/config_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::registry {
namespace {

namespace json = boost::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const char* const kConfig = R"(
[servers.a]
command = "deploy-tool"
args = ["--token", "arg-secret"]
env = {TOKEN = "env-secret", HOME2 = "${HOME}", PIN = "1234"}
disabled_tools = ["wipe"]
enabled_tools = ["read", "write"]
tools = {write = "deny"}
trust = "untrusted"
[servers.b]
url = "https://user:url-secret@example.com/mcp"
headers = {Authorization = "Bearer header-secret", X = "${file:/etc/key}"}
auth = "corp"
oauth = {client_secret = "oauth-secret"}
enabled = false
[auth.corp]
kind = "bearer"
token = "table-secret"
[permissions]
allow = ["mcp__a__*"]
deny = ["mcp__b__*"]
[client]
name = "client-words"
sampling_text = "sampled-words"
)";

std::shared_ptr<const Snapshot> snapshot() {
    return snapshot_of(test::config_of(kConfig));
}
json::object kept() {
    return to_json(imprint_of(*snapshot(), "salt"));
}

TEST(Imprint, HoldsNoValueOfASetting) {
    ASSERT_EQ(snapshot()->config.servers.size(), 2u);
    const auto text = json::serialize(kept());
    for (const char* value :
         {"-secret", "${", "1234", "deploy-tool", "example.com", "Bearer", "/etc/key", "TOKEN",
          "HOME2", "Authorization", "client-words", "sampled-words"})
        EXPECT_THAT(text, Not(HasSubstr(value)));
}

TEST(Imprint, ComesBackAsItWas) {
    const auto back = imprint_from(kept());
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, imprint_of(*snapshot(), "salt"));
    EXPECT_TRUE(plan(*back, imprint_of(*snapshot(), back->salt)).empty());
}

TEST(Imprint, OfAnotherSaltHasNoDigestInCommon) {
    const auto one = imprint_of(*snapshot(), "salt"), other = imprint_of(*snapshot(), "other");
    for (const auto& [id, server] : one.servers)
        for (const auto& [key, digest] : server.connection)
            EXPECT_NE(digest, other.servers.at(id).connection.at(key)) << id << "." << key;
}

TEST(Imprint, TheSameTokenOfTwoServersHasTwoDigests) {
    const auto config = test::config_of(
        "[servers.a]\nurl = \"https://a.com\"\nbearer_token_env_var = \"T\"\n"
        "[servers.b]\nurl = \"https://a.com\"\nbearer_token_env_var = \"T\"\n");
    const auto made = imprint_of(*snapshot_of(config), "salt");
    EXPECT_NE(made.servers.at("a").connection.at("bearer_token_env_var"),
              made.servers.at("b").connection.at("bearer_token_env_var"));
}

// What compares two files at once compares what stands there; what is kept, digests of it.
TEST(Imprint, InClearFindsTheChangesThatItsDigestsFind) {
    const auto before = snapshot();
    std::string text = kConfig;
    for (const auto& [old, now] : {std::pair("env-secret", "other"),
                                   {"https://user", "http://user"},
                                   {"client-words", "more"}})
        text.replace(text.find(old), std::string(old).size(), now);
    const auto after = snapshot_of(test::config_of(text));
    const auto found = to_json(plan(*before, *after));
    EXPECT_EQ(found, to_json(plan(imprint_of(*before, "salt"), imprint_of(*after, "salt"))));
    EXPECT_TRUE(plan(*before, *before).empty());
    EXPECT_THAT(json::serialize(found), AllOf(HasSubstr("env"), HasSubstr("client.name")));
}

TEST(Imprint, ThatMakesNoSenseIsRefusedByTheMember) {
    struct Case {
        const char* wrong;
        std::function<void(json::object&)> spoil;
    };
    const auto a = [](json::object& kept) -> json::object& {
        return kept.at("servers").as_object().at("a").as_object();
    };
    const Case cases[] = {
        {"\"salt\"", [](auto& k) { k.erase("salt"); }},
        {"\"salt\"", [](auto& k) { k["salt"] = ""; }},
        {"\"servers\"", [](auto& k) { k["servers"] = 1; }},
        {"\"servers.a\"", [](auto& k) { k.at("servers").as_object()["a"] = nullptr; }},
        {"\"servers.a.enabled\"", [&](auto& k) { a(k).erase("enabled"); }},
        {"\"servers.a.connection\"", [&](auto& k) { a(k)["connection"] = json::array(); }},
        {"\"servers.a.connection.command\"",
         [&](auto& k) { a(k).at("connection").as_object()["command"] = 5; }},
        {"\"servers.a.conduct\"", [&](auto& k) { a(k).erase("conduct"); }},
        {"\"servers.a.enabled_tools\"", [&](auto& k) { a(k)["enabled_tools"] = {1}; }},
        {"\"servers.a.disabled_tools\"", [&](auto& k) { a(k).erase("disabled_tools"); }},
        {"\"servers.a.tools.write\"",
         [&](auto& k) { a(k).at("tools").as_object()["write"] = "allow-nothing"; }},
        {"\"servers.a.untrusted\"", [&](auto& k) { a(k)["untrusted"] = "yes"; }},
        {"\"permissions\"", [](auto& k) { k.erase("permissions"); }},
        {"\"permissions.allow\"",
         [](auto& k) { k.at("permissions").as_object()["allow"] = nullptr; }},
        {"\"permissions.deny\"", [](auto& k) { k.at("permissions").as_object().erase("deny"); }},
        {"\"permissions.closed\"",
         [](auto& k) { k.at("permissions").as_object().erase("closed"); }},
        {"\"tables\"", [](auto& k) { k.erase("tables"); }},
        {"\"tables.client.name\"",
         [](auto& k) { k.at("tables").as_object()["client.name"] = true; }},
    };
    for (const auto& each : cases) {
        SCOPED_TRACE(each.wrong);
        auto spoilt = kept();
        each.spoil(spoilt);
        const auto read = imprint_from(spoilt);
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code, ErrorCode::Invalid);
        EXPECT_THAT(read.error().message, HasSubstr(std::string(each.wrong) + " is missing or"));
    }
}

}  // namespace
}  // namespace patchbay::registry
