// `patchbay serve --http` as a protected resource: an authorization server that the test plays says who
// comes, over real HTTP and TLS.
#include "integration/door_fixture.hpp"
#include "support/jose.hpp"
#include "support/key_pair.hpp"
#include "support/scripted_http.hpp"

#include <chrono>
#include <csignal>
#include <optional>

namespace patchbay::test {
namespace {

const std::string kAudience = "https://mcp.example/mcp";

class ServeOauth : public DoorTest {
protected:
    void serve(const Words& flags) {
        Words words{"--public-url", kAudience};
        words.insert(words.end(), flags.begin(), flags.end());
        DoorTest::serve(words);
    }
    std::string token(const JoseKey& signer, json::object more = {}) {
        json::object claims{{"iss", issuer.origin()},
                            {"aud", kAudience},
                            {"sub", "ada"},
                            {"scope", "mcp"},
                            {"exp", std::time(nullptr) + 300}};
        for (auto& each : more) claims[each.key()] = each.value();
        return signer.token({{"alg", "ES256"}, {"typ", "at+jwt"}, {"kid", "1"}}, claims);
    }
    int status(const std::string& bearer) { return DoorTest::status(with(bearer)); }
    static ScriptedHttp::Answer page(const json::object& text) {
        const auto body = json::serialize(text);
        return {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body};
    }

    const JoseKey key = JoseKey::ec(), foreign = JoseKey::ec();
    ScriptedHttp issuer{[this](const ScriptedHttp::Request& request) {
        if (request.has("/.well-known/oauth-authorization-server"))
            return page({{"issuer", issuer.origin()}, {"jwks_uri", issuer.origin() + "/keys"}});
        if (request.has(" /keys ")) return page({{"keys", {key.jwk({{"kid", "1"}})}}});
        return ScriptedHttp::Answer{"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"};
    }};
};

TEST_F(ServeOauth, AStrangerIsToldWhereATokenIsToBeHadAndComesInWithIt) {
    serve({"--oauth-issuer", issuer.origin(), "--oauth-scope", "mcp"});
    HttpPeer stranger(url, "POST", {}, kInitialize);
    EXPECT_EQ(stranger.status(), 401);
    const std::string at = "/.well-known/oauth-protected-resource/mcp";
    EXPECT_EQ(stranger.header("WWW-Authenticate"),
              "Bearer realm=\"patchbay\", resource_metadata=\"https://mcp.example" + at +
                  "\", scope=\"mcp\"");
    HttpPeer metadata(url, "GET", {}, {}, at);
    EXPECT_EQ(metadata.status(), 200);
    EXPECT_THAT(metadata.hear(), AllOf(HasSubstr(R"("resource":"https://mcp.example/mcp")"),
                                       HasSubstr(issuer.origin())));
    EXPECT_EQ(status(token(key)), 200);
    EXPECT_EQ(status(token(key)), 200);
    end();
}

TEST_F(ServeOauth, ATokenThatIsNotForUsIsRefusedWithTheReason) {
    serve({"--oauth-issuer", issuer.origin(), "--oauth-scope", "mcp"});
    struct Case {
        std::string token;
        int status;
        const char* told;
    };
    const auto none = "eyJhbGciOiJub25lIn0." + token(key).substr(token(key).find('.') + 1);
    for (const auto& c :
         {Case{token(foreign), 401, "not signed by its issuer"},
          Case{token(key, {{"exp", std::time(nullptr) - 120}}), 401, "has expired"},
          Case{token(key, {{"aud", "https://other.example"}}), 401, "meant for another server"},
          Case{token(key, {{"iss", "https://other.example"}}), 401, "issuer that is not trusted"},
          Case{token(key, {{"scope", "read"}}), 403, "insufficient_scope"},
          Case{none.substr(0, none.rfind('.') + 1), 401, "algorithm"},
          Case{"patchbay_" + std::string(64, '0'), 401, "invalid_token"}}) {
        HttpPeer peer(url, "POST", {{"Authorization", "Bearer " + c.token}}, kInitialize);
        EXPECT_EQ(peer.status(), c.status) << c.told;
        EXPECT_THAT(peer.header("WWW-Authenticate"),
                    AllOf(HasSubstr(c.told), HasSubstr("resource_metadata=")));
    }
    end();
}

TEST_F(ServeOauth, KeysMayBeInAFileAndOwnTokensGoBesideThem) {
    const auto file = home.write("keys.json", JoseKey::set({key.jwk({{"kid", "1"}})}));
    const auto own = home.run({"token", "add", "laptop"}).out;
    serve({"--oauth-issuer", "https://as.example", "--oauth-keys", file, "--auth", "token"});
    EXPECT_EQ(status(token(key, {{"iss", "https://as.example"}})), 200);
    EXPECT_EQ(status(token(key)), 401);
    EXPECT_EQ(status(own.substr(0, own.find('\n'))), 200);
    end();
}

TEST_F(ServeOauth, OfOneSubjectASessionIsNoneOfAnothers) {
    serve({"--oauth-issuer", issuer.origin()});
    HttpPeer opened(url, "POST", {{"Authorization", "Bearer " + token(key)}}, kInitialize);
    ASSERT_EQ(opened.status(), 200);
    const auto in_session = [&](const std::string& bearer) {
        return HttpPeer(url, "POST",
                        {{"Authorization", "Bearer " + bearer},
                         {"MCP-Session-Id", opened.header("MCP-Session-Id")}},
                        R"({"jsonrpc":"2.0","id":2,"method":"ping"})")
            .status();
    };
    EXPECT_EQ(in_session(token(key, {{"jti", "another token of hers"}})), 200);
    EXPECT_EQ(in_session(token(key, {{"sub", "eve"}})), 404);
    end();
}

TEST_F(ServeOauth, KeysThatCannotBeHadAreSaidAndNobodyComesIn) {
    serve({"--oauth-issuer", "http://127.0.0.1:1"});
    EXPECT_EQ(status(token(key, {{"iss", "http://127.0.0.1:1"}})), 503);
    EXPECT_TRUE(program_->wait_until([&] {
        return program_->err().find("authorization server http://127.0.0.1:1") != std::string::npos;
    }));
    end();
}

TEST_F(ServeOauth, OptionsThatMakeNoSenseAreTold) {
    const std::pair<Words, const char*> cases[] = {
        {{"--oauth-scope", "a"}, "--oauth-scope: it needs --oauth-issuer"},
        {{"--oauth-keys", "x"}, "--oauth-keys: it needs --oauth-issuer"},
        {{"--oauth-issuer", "as.example"}, "--oauth-issuer: \"as.example\" is no URL"},
        {{"--oauth-issuer", "http://as.example"}, "has to be https"},
        {{"--oauth-issuer", "http://127.as.example"}, "has to be https"},
        {{"--oauth-issuer", "https://a", "--oauth-keys", "http://a/k"}, "has to be https"},
        {{"--oauth-issuer", "https://a", "--oauth-keys", "http://127.0.0.1.a/k"},
         "has to be https"},
        {{"--oauth-issuer", "https://a", "--oauth-issuer", "https://b", "--oauth-keys", "k"},
         "of which of the issuers"},
        {{"--oauth-issuer", "https://a", "--oauth-keys", "none.json"},
         "--oauth-keys: cannot read \"none.json\": No such file or directory"},
        {{"--oauth-issuer", "https://a", "--oauth-scope", "a\"b"}, "is no scope"},
        {{"--oauth-issuer", "https://a", "--auth", "none"}, "asks everybody"},
    };
    for (auto [words, told] : cases) {
        words.insert(words.begin(), {"serve", "--http", "127.0.0.1:0"});
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 3) << told;
        EXPECT_THAT(done.err, HasSubstr(told));
    }
}

// Patchbay's own client comes to it, as any other would: https, an authority of its own, a token.
TEST_F(ServeOauth, AClientThatTrustsTheCertificateCallsToolsThroughIt) {
    const KeyPair pair("gateway");
    const auto folder = home.work().string();
    pair.write_certificate(folder + "/cert.pem");
    pair.write_key(folder + "/key.pem");
    const auto own = home.run({"token", "add", "laptop"}).out;
    home.add_example("x");
    serve({"--auth", "token", "--tls-cert", "cert.pem", "--tls-key", "key.pem"});
    EXPECT_THAT(url, StartsWith("https://127.0.0.1:"));
    Home client;
    client.environment["GATEWAY_TOKEN"] = own.substr(0, own.find('\n'));
    const json::object gateway{{"url", url + "/mcp"},
                               {"bearer_token_env_var", "GATEWAY_TOKEN"},
                               {"ca_file", folder + "/cert.pem"}};
    client.add("gateway", gateway);
    const auto called = client.run({"call", "mcp__gateway__mcp__x__echo", "message=hello"});
    EXPECT_EQ(called.exit_code, 0) << called.err << program_->err();
    EXPECT_THAT(called.out, HasSubstr("hello"));
    client.environment["GATEWAY_TOKEN"] = "patchbay_wrong";
    const auto refused = client.run({"call", "mcp__gateway__mcp__x__echo", "message=hello"});
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_THAT(refused.err, Not(HasSubstr("hello")));
    end();
}

}  // namespace
}  // namespace patchbay::test
