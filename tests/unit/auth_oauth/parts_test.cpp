// The small parts: challenges, encodings, URLs, keys.
#include "ascii.hpp"
#include "challenge.hpp"
#include "crypto.hpp"
#include "encoding.hpp"
#include "json.hpp"
#include "trouble.hpp"
#include "web_url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::oauth::test {
namespace {

Demand demanded(std::vector<std::string> fields) {
    std::vector<patchbay_kv> headers;
    for (const auto& field : fields)
        headers.push_back({{"www-authenticate", 16}, {field.data(), field.size()}, 0, 0});
    Demand demand;
    demand.add(headers.data(), headers.size());
    return demand;
}

TEST(Challenge, has_a_scheme_and_parameters) {
    const std::vector<Challenge> expected{{"Bearer", {{"realm", "a \"b\", c"}, {"scope", "x y"}}}};
    EXPECT_EQ(parse_challenges(R"(Bearer realm="a \"b\", c", Scope = "x y")"), expected);
}

TEST(Challenge, may_come_with_others_in_one_field) {
    const std::vector<Challenge> expected{
        {"Negotiate", {}}, {"Basic", {{"realm", "r"}}}, {"Bearer", {{"scope", "s"}}}, {"DPoP", {}}};
    EXPECT_EQ(parse_challenges(R"(Negotiate, Basic realm=r,, Bearer scope="s", DPoP)"), expected);
}

TEST(Challenge, may_hold_a_token_instead) {
    const auto parsed = parse_challenges("Negotiate YWJj/+==, Bearer scope=s");
    ASSERT_GE(parsed.size(), 2u);
    EXPECT_EQ(parsed.back(), (Challenge{"Bearer", {{"scope", "s"}}}));
}

TEST(Challenge, that_is_broken_ends_somewhere) {
    for (const char* text :
         {"", ",", "=", "Bearer =", "Bearer a=\"", "Bearer a=\"\\", "\"", "Bearer a b c=", "\x01"})
        EXPECT_LE(parse_challenges(text).size(), 3u) << text;
}

TEST(Demand, joins_several_fields) {
    const auto demand =
        demanded({R"(Basic realm="x", scope="not this")", R"(bearer scope="s")",
                  R"(DPoP error="use_dpop_nonce", resource_metadata="https://a/b")"});
    EXPECT_EQ(demand.scope, "s");
    EXPECT_EQ(demand.resource_metadata, "https://a/b");
    EXPECT_EQ(demand.error, "use_dpop_nonce");
    EXPECT_TRUE(demand.bearer && demand.dpop);
}

TEST(Encoding, goes_there_and_back) {
    EXPECT_EQ(base64("a?"), "YT8=");
    EXPECT_EQ(base64url("\xFB\xFF"), "-_8");
    EXPECT_EQ(base64url_decoded("-_8"), "\xFB\xFF");
    EXPECT_FALSE(base64url_decoded("+/8="));
    const Form form{{"a b", "c&d=e"}, {"u", "\xC3\xA4"}};
    EXPECT_EQ(form_encode(form), "a%20b=c%26d%3De&u=%C3%A4");
    EXPECT_EQ(form_decode(form_encode(form)), form);
    EXPECT_EQ(form_decode("a+b=%zz&&c=%4"), (Form{{"a b", "%zz"}, {"c", "%4"}}));
    EXPECT_FALSE(only({{"a", "1"}, {"a", "2"}}, "a"));
}

TEST(WebUrl, is_refused_with_a_reason) {
    for (const char* text :
         {"", "https:", "https://", "https://:443/", "ftp://a/", "javascript:alert(1)//",
          "https://a b/", "https://a/#f", "https://a:0/", "https://a:65536/", "https://u@a/",
          "https://a\\b/", "//a/b", "https://\xC3\xA4/"})
        EXPECT_THROW(WebUrl::parse(text, "x"), Trouble) << text;
    for (const char* text : {"https:://as.example/", "https:x://as.example/", "https:/as.example/"})
        EXPECT_THROW(WebUrl::parse(text, "x"), Trouble) << text;
    EXPECT_THROW(check_endpoint("http://example.com/", "x"), Trouble);
    EXPECT_THROW(check_endpoint("http://127.0.0.1.example.com/", "x"), Trouble);
    EXPECT_THROW(check_endpoint("http://notlocalhost/", "x"), Trouble);
    for (const char* text :
         {"http://127.0.0.1:8080/x", "http://localhost", "http://[::1]:1/", "https://a/?q"})
        EXPECT_NO_THROW(check_endpoint(text, "x")) << text;
}

TEST(WebUrl, has_one_canonical_form) {
    const auto canonical = [](const char* text) { return WebUrl::parse(text, "x").canonical(); };
    EXPECT_EQ(canonical("HTTPS://Example.COM:443/"), "https://example.com");
    EXPECT_EQ(canonical("https://example.com:8443/Path/?q=1"), "https://example.com:8443/Path/");
    EXPECT_EQ(canonical("http://[::1]:80/mcp"), "http://[::1]/mcp");
}

TEST(SigningKey, survives_its_pem) {
    const auto key = SigningKey::generate();
    const auto again = SigningKey::from_pem(key->pem());
    EXPECT_EQ(again->public_jwk(), key->public_jwk());
    EXPECT_EQ(key->sign("x").size(), 64u);
    EXPECT_THROW(SigningKey::from_pem(""), Trouble);
}

TEST(Random, differs_each_time) {
    EXPECT_NE(random_text(), random_text());
    EXPECT_EQ(random_text().size(), 43u);
}

TEST(Encoding, pads_what_needs_it) {
    EXPECT_EQ(base64(""), "");
    EXPECT_EQ(base64("a"), "YQ==");
    EXPECT_EQ(base64("ab"), "YWI=");
    EXPECT_EQ(base64("abc"), "YWJj");
    for (const char* text : {"", "a", "ab", "abc", "abcd"})
        EXPECT_EQ(base64url_decoded(base64url(text)), text);
}

TEST(Encoding, shows_strange_text_cut_and_without_control_characters) {
    EXPECT_EQ(printable("\x1F ~\x7F\xC3"), "\\x1F ~\\x7F\\xC3");
    EXPECT_EQ(printable(std::string(200, 'x')), std::string(200, 'x'));
    EXPECT_EQ(printable(std::string(201, 'x')), std::string(200, 'x') + "...");
}

TEST(Encoding, keeps_each_word_once) {
    EXPECT_THAT(words(" a  b a c "), ::testing::ElementsAre("a", "b", "c"));
    EXPECT_EQ(joined({"a", "b"}, ", "), "a, b");
    EXPECT_TRUE(ascii::same("DPoP", "dpop"));
    EXPECT_FALSE(ascii::same("DPoP", "dpo"));
}

TEST(WebUrl, has_a_path_without_odd_characters_and_a_port_that_exists) {
    for (const char* text :
         {"https://a!b/", "https://a/b c", "https://a/b\\c", "https://a/b\tc", "https://a/b\x7F"})
        EXPECT_THROW(WebUrl::parse(text, "x"), Trouble) << text;
    EXPECT_EQ(WebUrl::parse("https://a:1/", "x").port, 1);
    EXPECT_EQ(WebUrl::parse("https://a:65535/", "x").port, 65535);
    EXPECT_EQ(WebUrl::parse("https://a/!~", "x").path, "/!~");
    for (const char* text : {"https://a:80x/", "https://a:/"})
        EXPECT_THROW(WebUrl::parse(text, "x"), Trouble) << text;
}

TEST(WebUrl, has_brackets_around_an_address_only) {
    for (const char* text : {"https://[::1]x/", "https://[::1]443/", "https://[::1/",
                             "https://::1]/", "https://[]/", "https://a[::1]/", "https://[[::1]]/",
                             "https://[a[b]/", "https://a]/", "https://[::1]:/"})
        EXPECT_THROW(WebUrl::parse(text, "x"), Trouble) << text;
    EXPECT_EQ(WebUrl::parse("https://[::1]", "x").host, "[::1]");
    EXPECT_EQ(WebUrl::parse("https://[::1]/", "x").port, 443);
    EXPECT_EQ(WebUrl::parse("http://[::1]:81/", "x").port, 81);
}

TEST(WebUrl, is_at_most_8192_bytes_long) {
    const std::string start = "https://a/";
    EXPECT_NO_THROW(WebUrl::parse(start + std::string(8192 - start.size(), 'x'), "x"));
    EXPECT_THROW(WebUrl::parse(start + std::string(8193 - start.size(), 'x'), "x"), Trouble);
}

TEST(WebUrl, of_this_machine_needs_no_tls) {
    for (const char* text : {"http://127.9.9.9/", "http://a.localhost:1/", "http://LOCALHOST/"})
        EXPECT_NO_THROW(check_endpoint(text, "x")) << text;
    for (const char* text : {"http://128.0.0.1/", "http://127.example/", "http://1.127.0.0/",
                             "http://localhost.example/", "http://[::2]/", "http://.localhost/"})
        EXPECT_THROW(check_endpoint(text, "x"), Trouble) << text;
}

TEST(WebUrl, lies_within_another_on_a_path_boundary) {
    const auto lies = [](const char* inner, const char* outer) {
        return within(WebUrl::parse(outer, "x"), WebUrl::parse(inner, "x"));
    };
    EXPECT_TRUE(lies("https://a/mcp", "https://a"));
    EXPECT_TRUE(lies("https://a/mcp", "https://a/"));
    EXPECT_TRUE(lies("https://a/mcp/x", "https://a/mcp/"));
    EXPECT_TRUE(lies("https://a/mcp", "https://a/mcp//"));
    EXPECT_TRUE(lies("https://a", "https://a/"));
    EXPECT_FALSE(lies("https://a/mcpx", "https://a/mcp"));
    EXPECT_FALSE(lies("https://a/mc", "https://a/mcp"));
    EXPECT_FALSE(lies("https://b/mcp", "https://a/mcp"));
    EXPECT_TRUE(lies("https://a/mcp?t=1", "https://a/mcp?t=1"));
    EXPECT_FALSE(lies("https://a/mcp?t=2", "https://a/mcp?t=1"));
    EXPECT_FALSE(lies("https://a/x?t=1", "https://a/mcp?t=1"));
    EXPECT_FALSE(lies("https://a/mcp/x?t=1", "https://a/mcp?t=1"));
}

TEST(Document, takes_each_member_for_what_it_is) {
    const auto document = Document::parse(
        R"({"t":"x","n":null,"yes":true,"no":false,"l":["a","b"],"none":[],"mixed":["a",1],
            "o":{}})",
        "here");
    EXPECT_EQ(document.text("t"), "x");
    EXPECT_FALSE(document.text("n")) << "null is nothing";
    EXPECT_FALSE(document.has("n"));
    EXPECT_TRUE(document.has("o"));
    EXPECT_EQ(document.text_or("absent", "otherwise"), "otherwise");
    EXPECT_TRUE(document.flag("yes"));
    EXPECT_FALSE(document.flag("no"));
    EXPECT_FALSE(document.flag("absent"));
    EXPECT_THAT(*document.texts("l"), ::testing::ElementsAre("a", "b"));
    EXPECT_TRUE(document.texts("none")->empty());
    EXPECT_FALSE(document.texts("absent"));
    const auto trouble = [](const auto& read) -> std::string {
        try {
            read();
            return "none";
        } catch (const Trouble& told) {
            return told.what();
        }
    };
    EXPECT_EQ(trouble([&] { document.text("yes"); }), "here: \"yes\" must be a string");
    EXPECT_EQ(trouble([&] { document.flag("t"); }), "here: \"t\" must be true or false");
    for (const char* name : {"t", "mixed", "o"})
        EXPECT_EQ(trouble([&] { document.texts(name); }),
                  "here: \"" + std::string(name) + "\" must be an array of strings");
    EXPECT_EQ(trouble([&] { document.needed_text("absent"); }), "here: \"absent\" is missing");
}

TEST(Object, is_written_member_by_member) {
    EXPECT_EQ(ObjectWriter().str(), "{}");
    EXPECT_EQ(ObjectWriter()
                  .text("t", "a\"b")
                  .number("n", -1)
                  .flag("yes", true)
                  .flag("no", false)
                  .texts("none", {})
                  .texts("l", {"a", "b"})
                  .object("o", "{}")
                  .str(),
              R"({"t":"a\"b","n":-1,"yes":true,"no":false,"none":[],"l":["a","b"],"o":{}})");
}

TEST(Secret, is_compared_as_a_whole) {
    EXPECT_TRUE(same_secret("abc", "abc"));
    EXPECT_FALSE(same_secret("abc", "abd"));
    EXPECT_FALSE(same_secret("abc", "abcd"));
    EXPECT_TRUE(same_secret("", ""));
}

TEST(Challenge, that_demands_proofs_may_also_take_a_bearer) {
    EXPECT_FALSE(demanded({"Bearer"}).dpop);
    EXPECT_FALSE(demanded({"DPoP"}).bearer);
    const auto other = demanded({R"(Basic resource_metadata="https://a/b", error="x")"});
    EXPECT_FALSE(other.bearer || other.dpop);
    EXPECT_EQ(other.resource_metadata + other.error, "");
    const auto first = demanded({R"(Bearer scope="a", error="e1")", R"(Bearer scope="b")"});
    EXPECT_EQ(first.scope, "a");
    EXPECT_EQ(first.error, "e1");
}

}  // namespace
}  // namespace patchbay::oauth::test
