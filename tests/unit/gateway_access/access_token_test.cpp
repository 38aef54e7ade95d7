#include "gateway/access/access_token.hpp"

#include "support/jose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::gateway {
namespace {

using core::Calendar;
using test::base64url;
using test::JoseKey;
using namespace std::chrono_literals;
namespace json = boost::json;

const Calendar::time_point kNow(1'800'000'000s);
constexpr std::int64_t kNowSeconds = 1'800'000'000;

json::object claims(json::object more = {}) {
    json::object all{{"iss", "https://as.example"},
                     {"aud", "https://mcp.example/mcp"},
                     {"sub", "ada"},
                     {"exp", kNowSeconds + 300},
                     {"scope", "read mcp"}};
    for (auto& each : more)
        if (each.value().is_null())
            all.erase(each.key());
        else
            all[each.key()] = each.value();
    return all;
}

// The subject's id, or why not.
std::string judged(const std::string& text, const KeySet& keys,
                   const TokenTerms& terms = {"https://mcp.example/mcp", {}}) {
    const auto parsed = parse_access_token(text);
    if (const auto* wrong = std::get_if<WrongToken>(&parsed)) return std::string(wrong->why);
    const auto& token = std::get<AccessToken>(parsed);
    if (!token.signed_by(keys)) return "(signature)";
    const auto found = subject_of(token, terms, kNow);
    if (const auto* wrong = std::get_if<WrongToken>(&found))
        return std::string(wrong->why) + (wrong->lacks_scope ? " (scope)" : "");
    return std::get<Subject>(found).id;
}

KeySet keys_of(const json::array& jwks) {
    return *KeySet::parse(JoseKey::set(jwks));
}

const JoseKey& key() {
    static const auto made = JoseKey::ec();
    return made;
}
std::string with_claims(json::object more) {
    return judged(key().token({{"alg", "ES256"}, {"kid", "k"}}, claims(std::move(more))),
                  keys_of({key().jwk({{"kid", "k"}})}));
}

TEST(AccessToken, OfEveryAlgorithmThatCountsIsVerified) {
    const auto rsa = JoseKey::rsa(), p256 = JoseKey::ec(), p384 = JoseKey::ec("P-384"),
               ed = JoseKey::ed25519();
    const auto keys = keys_of({rsa.jwk({{"kid", "r"}}), p256.jwk({{"kid", "e"}}),
                               p384.jwk({{"kid", "f"}}), ed.jwk({{"kid", "d"}})});
    ASSERT_EQ(keys.size(), 4u);
    struct Case {
        const char* algorithm;
        const JoseKey& signer;
        const char* id;
    };
    for (const auto& c :
         {Case{"RS256", rsa, "r"}, Case{"RS384", rsa, "r"}, Case{"RS512", rsa, "r"},
          Case{"PS256", rsa, "r"}, Case{"PS384", rsa, "r"}, Case{"PS512", rsa, "r"},
          Case{"ES256", p256, "e"}, Case{"ES384", p384, "f"}, Case{"EdDSA", ed, "d"}}) {
        SCOPED_TRACE(c.algorithm);
        const auto good = c.signer.token({{"alg", c.algorithm}, {"kid", c.id}}, claims());
        EXPECT_EQ(judged(good, keys), "oauth/ada@https://as.example");
        EXPECT_EQ(judged(c.signer.token({{"alg", c.algorithm}}, claims()), keys),
                  "oauth/ada@https://as.example")
            << "without a key's name";
        EXPECT_EQ(judged(c.signer.token({{"alg", c.algorithm}, {"kid", "other"}}, claims()), keys),
                  "(signature)");
        const auto dot = good.rfind('.');
        auto forged = good;
        forged[dot + 5] = forged[dot + 5] == 'A' ? 'B' : 'A';
        EXPECT_EQ(judged(forged, keys), "(signature)");
        EXPECT_EQ(judged(good.substr(0, dot + 1), keys), "(signature)");
        const auto others = good.substr(0, good.find('.') + 1) +
                            base64url(json::serialize(claims({{"sub", "eve"}}))) + good.substr(dot);
        EXPECT_EQ(judged(others, keys), "(signature)");
    }
}

TEST(AccessToken, OfAnAlgorithmThatProvesNothingIsNone) {
    const auto keys = keys_of({key().jwk({{"kid", "k"}})});
    const auto body = "." + base64url(json::serialize(claims())) + ".";
    for (const auto* header : {R"({"alg":"none"})", R"({"alg":"None"})", R"({"alg":"HS256"})",
                               R"({"alg":"HS512"})", R"({"alg":""})", R"({})", R"({"alg":1})",
                               R"({"alg":"RS1"})", R"({"alg":"es256"})", R"({"alg":"dir"})"})
        for (const auto& signature : {std::string(), base64url("x")})
            EXPECT_EQ(judged(base64url(header) + body + signature, keys),
                      "the token is signed by an algorithm that does not count here")
                << header;
    // The key of one kind is no secret or key of another.
    EXPECT_EQ(judged(base64url(R"({"alg":"RS256","kid":"k"})") + body + base64url("x"), keys),
              "(signature)");
    EXPECT_EQ(
        judged(key().token({{"alg", "ES256"}}, claims()), keys_of({key().jwk({{"alg", "ES384"}})})),
        "(signature)");
}

TEST(AccessToken, WhatItClaimsIsLookedAt) {
    const std::string fine = "oauth/ada@https://as.example";
    EXPECT_EQ(with_claims({}), fine);
    EXPECT_EQ(with_claims({{"aud", {"x", "https://mcp.example/mcp"}}}), fine);
    EXPECT_EQ(with_claims({{"exp", kNowSeconds - 30}}), fine) << "clocks differ a little";
    EXPECT_EQ(with_claims({{"exp", 1.8e9 + 0.5}}), fine);
    EXPECT_EQ(with_claims({{"nbf", kNowSeconds + 30}}), fine);
    for (const auto late : {9'223'372'036, 9'223'372'037, 253'402'300'799}) {
        EXPECT_EQ(with_claims({{"exp", late}}), fine) << "also behind what the calendar holds";
        EXPECT_EQ(with_claims({{"nbf", late}}), "the token does not count yet");
    }
    EXPECT_EQ(with_claims({{"nbf", 16'725'225'600}}), "the token does not count yet");
    const std::pair<json::object, const char*> wrong[] = {
        {{{"exp", kNowSeconds - 60}}, "the token has expired"},
        {{{"exp", nullptr}}, "the token does not say when it expires"},
        {{{"exp", "soon"}}, "the token does not say when it expires"},
        {{{"exp", -1}}, "the token does not say when it expires"},
        {{{"exp", 1e300}}, "the token does not say when it expires"},
        {{{"nbf", kNowSeconds + 61}}, "the token does not count yet"},
        {{{"nbf", "x"}}, "the token does not count yet"},
        {{{"aud", nullptr}}, "the token is meant for another server"},
        {{{"aud", "https://mcp.example/mcp/"}}, "the token is meant for another server"},
        {{{"aud", "https://mcp.example"}}, "the token is meant for another server"},
        {{{"aud", json::array()}}, "the token is meant for another server"},
        {{{"aud", {{"a", "https://mcp.example/mcp"}}}}, "the token is meant for another server"},
        {{{"sub", nullptr}}, "the token does not say whose it is"},
        {{{"sub", ""}}, "the token does not say whose it is"},
        {{{"sub", std::string(256, 'a')}}, "the token does not say whose it is"},
        {{{"cnf", {{"jkt", "x"}}}}, "the token is bound to a key"},
    };
    for (const auto& [more, why] : wrong)
        EXPECT_EQ(with_claims(more), why) << json::serialize(more);
}

TEST(AccessToken, NeedsTheScopesThatWereSaid) {
    const auto keys = keys_of({key().jwk()});
    const auto with = [&](json::object more, std::vector<std::string> scopes) {
        return judged(key().token({{"alg", "ES256"}}, claims(std::move(more))), keys,
                      {"https://mcp.example/mcp", std::move(scopes)});
    };
    const std::string fine = "oauth/ada@https://as.example",
                      lacks = "the token lacks a scope that is needed (scope)";
    EXPECT_EQ(with({}, {"mcp", "read"}), fine);
    EXPECT_EQ(with({}, {"write"}), lacks);
    EXPECT_EQ(with({}, {"mcp", "write"}), lacks);
    EXPECT_EQ(with({}, {"rea"}), lacks);
    EXPECT_EQ(with({{"scope", nullptr}}, {"mcp"}), lacks);
    EXPECT_EQ(with({{"scope", nullptr}, {"scp", {"a", "mcp"}}}, {"mcp"}), fine);
    EXPECT_EQ(with({{"scope", nullptr}, {"scp", "a mcp"}}, {"mcp"}), fine);
}

TEST(AccessToken, OfAnotherKindIsNone) {
    const auto keys = keys_of({key().jwk()});
    const auto with = [&](json::object header) {
        header["alg"] = "ES256";
        return judged(key().token(header, claims()), keys);
    };
    for (const auto* type : {"JWT", "jwt", "at+jwt", "application/at+jwt", "application/JWT"})
        EXPECT_EQ(with({{"typ", type}}), "oauth/ada@https://as.example") << type;
    for (const auto* type : {"dpop+jwt", "logout+jwt", "", "JWE"})
        EXPECT_EQ(with({{"typ", type}}), "the token is of a type that is no access token");
    EXPECT_EQ(with({{"typ", 1}}), "the token is of a type that is no access token");
    EXPECT_EQ(with({{"crit", {"b64"}}, {"b64", false}}),
              "the token says that something must be understood that is not");
}

TEST(AccessToken, ThatIsNoneAtAllIsSaidToBe) {
    const auto good = key().token({{"alg", "ES256"}}, claims());
    const auto body = good.substr(good.find('.'));
    for (const auto& text :
         {std::string(), std::string("a"), std::string("a.b"), std::string(".."),
          std::string("e30.e30"), good + ".x", "." + good, good + "=", "!" + good,
          base64url("[]") + body, base64url("{") + body,
          base64url(R"({"alg":"ES256","alg":"none"})") + body,
          base64url(R"({"alg":"ES256"})") + "." + base64url(R"({"sub":"a","sub":"b"})") + ".AA",
          base64url(std::string(5'000, '[')) + body})
        EXPECT_EQ(judged(text, KeySet()), "the token is no signed JSON Web Token") << text;
}

TEST(KeySet, LeavesOutWhatCannotBeUsed) {
    EXPECT_FALSE(KeySet::parse(""));
    EXPECT_FALSE(KeySet::parse("[]"));
    EXPECT_FALSE(KeySet::parse(R"({"keys":{}})"));
    EXPECT_FALSE(KeySet::parse(std::string(KeySet::kMostBytes + 1, ' ')));
    const auto rsa = JoseKey::rsa();
    auto no_modulus = rsa.jwk(), even = rsa.jwk(), one = rsa.jwk(), off_curve = key().jwk(),
         short_x = key().jwk(), huge = rsa.jwk();
    no_modulus.erase("n");
    even["n"] = base64url(std::string(256, '\x80'));
    one["e"] = base64url("\x01");
    off_curve["y"] = base64url(std::string(32, '\x01'));
    short_x["x"] = base64url("x");
    huge["n"] = base64url(std::string(4'096, '\xff'));
    const json::array jwks{
        1,
        json::object(),
        {{"kty", "oct"}, {"k", base64url("secret")}},
        JoseKey::rsa(1'024).jwk(),
        no_modulus,
        even,
        one,
        off_curve,
        short_x,
        huge,
        {{"kty", "OKP"}, {"crv", "X25519"}, {"x", base64url(std::string(32, 'x'))}},
        rsa.jwk({{"use", "enc"}}),
        rsa.jwk({{"key_ops", {"encrypt"}}}),
        rsa.jwk({{"kid", std::string(300, 'k')}}),
        rsa.jwk({{"use", "sig"}, {"key_ops", {"verify"}}, {"kid", "fine"}}),
    };
    const auto keys = KeySet::parse(JoseKey::set(jwks));
    ASSERT_TRUE(keys);
    EXPECT_EQ(keys->size(), 1u);
    EXPECT_EQ(keys->find("fine", "RS256").size(), 1u);
    EXPECT_EQ(keys->find("fine", "ES256").size(), 0u);
    json::array many;
    for (int i = 0; i < 150; ++i) many.push_back(key().jwk());
    EXPECT_EQ(KeySet::parse(JoseKey::set(many))->size(), KeySet::kMostKeys);
}

}  // namespace
}  // namespace patchbay::gateway
