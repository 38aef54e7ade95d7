// What an authorization server would say is faked; the keys are real.
#include "gateway/access/oauth_judge.hpp"

#include "gateway/access/resource_metadata.hpp"
#include "support/jose.hpp"
#include "support/turned_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::gateway {
namespace {

using test::JoseKey;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;
namespace json = boost::json;

const std::string kIssuer = "https://as.example/tenant";
const std::string kMetadata = "https://as.example/.well-known/oauth-authorization-server/tenant";

class Judging : public ::testing::Test {
protected:
    Judging() {
        pages[kMetadata] = json::serialize(
            json::object{{"issuer", kIssuer}, {"jwks_uri", "https://as.example/keys"}});
        pages["https://as.example/keys"] = JoseKey::set({first.jwk({{"kid", "1"}})});
    }
    OauthJudge& judge() {
        if (!judge_) {
            std::vector<std::unique_ptr<IssuerKeys>> issuers;
            issuers.push_back(std::make_unique<IssuerKeys>(
                loop, kIssuer, at, [this](const std::string& url, auto then) {
                    fetched.push_back(url);
                    const auto page = pages.find(url);
                    loop.post(
                        [then,
                         found = page == pages.end()
                                     ? Result<std::string>(Error{ErrorCode::Unavailable, "404"})
                                     : Result<std::string>(page->second)] { then(found); });
                }));
            judge_.emplace(loop, std::move(issuers), TokenTerms{"https://mcp.example/mcp", {"mcp"}},
                           Challenge{"https://m", "mcp"});
        }
        return *judge_;
    }
    std::string token(const JoseKey& key, const std::string& id, json::object more = {}) {
        json::object claims{{"iss", kIssuer},
                            {"aud", "https://mcp.example/mcp"},
                            {"sub", "ada"},
                            {"scope", "mcp"},
                            {"exp", std::chrono::duration_cast<std::chrono::seconds>(
                                        (loop.date() + 1h).time_since_epoch())
                                        .count()}};
        for (auto& each : more) claims[each.key()] = each.value();
        return key.token({{"alg", "ES256"}, {"kid", id}}, claims);
    }
    // The principal's id, or the status.
    std::string looked_up(const std::string& text) {
        std::string outcome;
        judge().look_up(text, [&](TokenJudge::Verdict verdict) {
            const auto* bearer = std::get_if<Bearer>(&verdict);
            outcome = bearer ? bearer->id : std::to_string(std::get<HttpRefusal>(verdict).status);
        });
        loop.run_until([&] { return !outcome.empty(); });
        return outcome;
    }

    test::TurnedLoop loop;
    const JoseKey first = JoseKey::ec(), second = JoseKey::ec();
    const std::string ada = "oauth/ada@" + kIssuer;
    std::string at;
    std::map<std::string, std::string> pages;
    std::vector<std::string> fetched;
    std::optional<OauthJudge> judge_;
};

TEST_F(Judging, FindsTheKeysByTheMetadataOfTheIssuerOnce) {
    const auto text = token(first, "1");
    EXPECT_FALSE(judge().known(text));
    EXPECT_EQ(looked_up(text), ada);
    EXPECT_THAT(fetched, ElementsAre(kMetadata, "https://as.example/keys"));
    EXPECT_EQ(judge().known(text)->id, ada);
    EXPECT_GE(judge().known(text)->until, loop.date() + 59min) << "not when it is forgotten here";
    EXPECT_EQ(looked_up(token(first, "1", {{"sub", "eve"}})), "oauth/eve@" + kIssuer);
    EXPECT_EQ(fetched.size(), 2u);
}

TEST_F(Judging, LooksWhereOpenIdHasTheMetadataToo) {
    EXPECT_THAT(metadata_urls("https://a/t"),
                ElementsAre("https://a/.well-known/oauth-authorization-server/t",
                            "https://a/.well-known/openid-configuration/t",
                            "https://a/t/.well-known/openid-configuration"));
    EXPECT_THAT(metadata_urls("https://a/"),
                ElementsAre("https://a/.well-known/oauth-authorization-server",
                            "https://a/.well-known/openid-configuration"));
    pages["https://as.example/tenant/.well-known/openid-configuration"] = pages[kMetadata];
    pages[kMetadata] = R"({"issuer":"https://other","jwks_uri":"https://other/keys"})";
    EXPECT_EQ(looked_up(token(first, "1")), ada);
    EXPECT_EQ(fetched.size(), 4u);
}

TEST_F(Judging, AsksWhereItWasTold) {
    at = "https://elsewhere/keys";
    pages[at] = pages["https://as.example/keys"];
    EXPECT_EQ(looked_up(token(first, "1")), ada);
    EXPECT_THAT(fetched, ElementsAre(at));
}

TEST_F(Judging, AsksAgainForAKeyThatItDoesNotKnowButNotAllTheTime) {
    EXPECT_EQ(looked_up(token(first, "1")), ada);
    pages["https://as.example/keys"] = JoseKey::set({second.jwk({{"kid", "2"}})});
    EXPECT_EQ(looked_up(token(second, "2")), "401");
    EXPECT_EQ(fetched.size(), 2u) << "a moment ago there was none";
    loop.pass(IssuerKeys::kPause);
    EXPECT_EQ(looked_up(token(second, "2")), ada);
    EXPECT_EQ(looked_up(token(first, "1", {{"n", 1}})), "401") << "its key is none any more";
    for (int i = 0; i < 50; ++i) looked_up(token(first, std::to_string(i)));
    EXPECT_EQ(fetched.size(), 4u);
}

TEST_F(Judging, KeysThatCannotBeHadAreNoFaultOfTheToken) {
    pages.clear();
    EXPECT_EQ(looked_up(token(first, "1")), "503");
    const auto asked = fetched.size();
    EXPECT_EQ(looked_up(token(first, "1")), "503");
    EXPECT_EQ(fetched.size(), asked);
}

TEST_F(Judging, KeysThatThereAreGoOnCountingWhereNewOnesCannotBeHad) {
    EXPECT_EQ(looked_up(token(first, "1")), ada);
    pages.clear();
    loop.pass(IssuerKeys::kFresh);
    EXPECT_EQ(looked_up(token(first, "1")), ada);
    loop.pass(1s);
    EXPECT_GT(fetched.size(), 2u) << "they were asked for";
    EXPECT_EQ(looked_up(token(first, "1")), ada);
}

TEST_F(Judging, AsksNobodyForATokenThatIsWrongWhateverTheySay) {
    EXPECT_EQ(looked_up(token(first, "1", {{"iss", "https://evil.example"}})), "401");
    EXPECT_EQ(looked_up(token(first, "1", {{"aud", "x"}})), "401");
    EXPECT_EQ(looked_up(token(first, "1", {{"exp", 1}})), "401");
    EXPECT_EQ(looked_up("a.b.c"), "401");
    EXPECT_EQ(fetched.size(), 0u);
}

TEST_F(Judging, ASignedTokenWithoutTheScopeIsForbiddenNotUnknown) {
    EXPECT_EQ(looked_up(token(first, "1", {{"scope", "read"}})), "403");
    EXPECT_EQ(looked_up(token(second, "1", {{"scope", "read"}})), "401") << "it is not signed";
}

TEST_F(Judging, IsAtHandWhereTheKeyThatATokenNamesIsThere) {
    EXPECT_FALSE(judge().is_at_hand(token(first, "1"))) << "no key is there yet";
    looked_up(token(first, "1"));
    EXPECT_TRUE(judge().is_at_hand(token(first, "1", {{"sub", "eve"}})));
    EXPECT_FALSE(judge().is_at_hand(token(first, "2"))) << "it would be asked for";
    EXPECT_FALSE(judge().is_at_hand(token(first, ""))) << "all there are would be tried";
    EXPECT_FALSE(judge().is_at_hand(token(first, "1", {{"iss", "https://evil.example"}})));
    EXPECT_FALSE(judge().is_at_hand("a.b.c"));
}

TEST_F(Judging, WhatItKnowsItForgets) {
    const auto text = token(first, "1");
    EXPECT_EQ(looked_up(text), ada);
    loop.turn(OauthJudge::kKnown);
    EXPECT_FALSE(judge().known(text));
    const auto late = token(first, "1", {{"n", 1}});
    looked_up(late);
    loop.turn(2h);
    EXPECT_FALSE(judge().known(late));
    EXPECT_EQ(looked_up(late), "401");
}

struct FakeExchange final : http::Exchange {
    void answer(unsigned code, const http::Headers&, std::string text) override {
        status = code;
        body = std::move(text);
    }
    void read_body(std::function<void(std::string)>) override {}
    void begin(const http::Headers&) override {}
    void write(std::string_view) override {}
    void end() override {}
    std::size_t waiting() const override { return 0; }
    void when_gone(std::function<void()>) override {}
    unsigned status = 0;
    std::string body;
};

class Metadata : public ::testing::Test, protected http::Handler {
protected:
    void on_request(std::shared_ptr<http::Exchange> exchange, http::Request) override {
        exchange->answer(404, {}, "others");
    }
    unsigned get(const std::string& target, const std::string& host = "mcp.example",
                 const std::string& method = "GET") {
        const auto exchange = std::make_shared<FakeExchange>();
        metadata.on_request(exchange, {method, target, {{"host", host}}, {}});
        body = exchange->body;
        return exchange->status;
    }
    ResourceMetadata metadata{Door(*http::parse_address("127.0.0.1:1"), {"mcp.example"}),
                              *parse_web_url("https://mcp.example/mcp"),
                              {kIssuer},
                              {"mcp"},
                              static_cast<http::Handler&>(*this)};
    std::string body;
};

TEST_F(Metadata, SaysWhereATokenIsToBeHad) {
    EXPECT_EQ(get("/.well-known/oauth-protected-resource/mcp"), 200u);
    const auto told = json::parse(body);
    EXPECT_EQ(told.at("resource"), "https://mcp.example/mcp");
    EXPECT_EQ(told.at("authorization_servers"), (json::array{kIssuer}));
    EXPECT_EQ(told.at("scopes_supported"), json::array{"mcp"});
    EXPECT_EQ(told.at("bearer_methods_supported"), json::array{"header"});
    EXPECT_EQ(ResourceMetadata::url_of(*parse_web_url("https://mcp.example/mcp")),
              "https://mcp.example/.well-known/oauth-protected-resource/mcp");
    EXPECT_EQ(get("/.well-known/oauth-protected-resource"), 200u);
    EXPECT_EQ(get("/.well-known/oauth-protected-resource/mcp/agent?x"), 200u);
}

TEST_F(Metadata, LeavesAllElseToOthers) {
    for (const auto* target : {"/mcp", "/.well-known/oauth-protected-resourcex",
                               "/.well-known/oauth-protected-resource/mcpx",
                               "/.well-known/oauth-protected-resource/other", "/"})
        EXPECT_EQ(get(target), 404u) << target;
    EXPECT_EQ(get("/.well-known/oauth-protected-resource", "evil.example"), 404u);
    EXPECT_EQ(get("/.well-known/oauth-protected-resource", "mcp.example", "POST"), 404u);
}

}  // namespace
}  // namespace patchbay::gateway
