// Where to sign in, and whom not to believe.
#include "fake_host.hpp"

#include <gmock/gmock.h>

namespace patchbay::oauth::test {
namespace {

using ::testing::HasSubstr;

constexpr auto kMayAsk = PATCHBAY_AUTH_MAY_ASK;
constexpr auto kResource = "https://mcp.example/.well-known/oauth-protected-resource/mcp";
constexpr auto kRootResource = "https://mcp.example/.well-known/oauth-protected-resource";
constexpr auto kMetadata = "https://as.example/.well-known/oauth-authorization-server";

struct Discovery : ::testing::Test {
    FakeHost host;
    Discovery() { serve_usual(host); }

    void serve(const std::string& url, const std::string& body, std::uint32_t status = 200) {
        host.pages[url] = [body, status](const Asked&) {
            return Answer{status, body, {}, PATCHBAY_OK};
        };
    }
    void resource(const std::string& identifier,
                  const std::string& servers = "[\"https://as.example\"]") {
        serve(kResource,
              "{\"resource\":\"" + identifier + "\",\"authorization_servers\":" + servers + "}");
    }
    std::string sent_resource() const {
        const auto& url = host.browsed.back();
        return only(form_decode(std::string_view(url).substr(url.find('?') + 1)), "resource")
            .value();
    }
    Method::Outcome sign_in(const std::string& config = "{}", const std::string& challenge = "") {
        Method method(host, config);
        return method.acquire(kMayAsk, challenge);
    }
};

TEST_F(Discovery, looks_where_the_challenge_points_and_nowhere_else) {
    serve("https://mcp.example/custom.json",
          R"({"resource":"https://mcp.example","authorization_servers":["https://as.example"]})");
    EXPECT_EQ(sign_in("{}", R"(Bearer resource_metadata="https://mcp.example/custom.json")").status,
              PATCHBAY_OK);
    EXPECT_EQ(host.count("GET", kResource), 0);
    EXPECT_EQ(sent_resource(), "https://mcp.example") << "exactly as published";
}

TEST_F(Discovery, learns_the_challenge_by_asking_the_server_once) {
    host.pages["https://mcp.example/mcp"] = [](const Asked& asked) {
        EXPECT_EQ(asked.method, "POST");
        EXPECT_EQ(asked.header("Accept"), "application/json, text/event-stream");
        EXPECT_EQ(asked.header("Authorization"), "(none)");
        return Answer{
            401,
            "",
            {{"WWW-Authenticate", R"(Bearer resource_metadata="https://mcp.example/custom.json")"}},
            PATCHBAY_OK};
    };
    serve(
        "https://mcp.example/custom.json",
        R"({"resource":"https://mcp.example/mcp","authorization_servers":["https://as.example"]})");
    EXPECT_EQ(sign_in().status, PATCHBAY_OK);
    EXPECT_EQ(host.count("POST", "https://mcp.example/mcp"), 1);
    EXPECT_EQ(host.count("GET", "https://mcp.example/custom.json"), 1);
    EXPECT_EQ(host.count("GET", kResource), 0);
}

TEST_F(Discovery, looks_at_the_path_and_then_at_the_root) {
    host.pages.erase(kResource);
    serve(kRootResource,
          R"({"resource":"https://mcp.example/","authorization_servers":["https://as.example"]})");
    EXPECT_EQ(sign_in().status, PATCHBAY_OK);
    EXPECT_EQ(host.count("GET", kResource), 1);
    EXPECT_EQ(sent_resource(), "https://mcp.example/");
}

TEST_F(Discovery, refuses_metadata_of_another_resource) {
    for (const char* other :
         {"https://evil.example/mcp", "https://mcp.example/mc", "https://mcp.example/mcp/deeper",
          "http://mcp.example/mcp", "https://mcp.example:8443/mcp", "https://mcp.example/other"}) {
        resource(other);
        const auto outcome = sign_in();
        EXPECT_EQ(outcome.status, PATCHBAY_E_DENIED) << other;
        EXPECT_THAT(outcome.error, HasSubstr("another resource"));
    }
    EXPECT_TRUE(host.browsed.empty());
}

TEST_F(Discovery, refuses_a_metadata_place_that_is_no_web_address) {
    for (const char* place : {"file:///etc/passwd", "javascript:alert(1)", "http://mcp.example/x",
                              "https://user:pw@mcp.example/x", "data:text/plain,x"}) {
        const auto outcome =
            sign_in("{}", "Bearer resource_metadata=\"" + std::string(place) + "\"");
        EXPECT_EQ(outcome.status, PATCHBAY_E_PROTOCOL) << place;
        EXPECT_THAT(outcome.error, HasSubstr("resource_metadata"));
    }
}

TEST_F(Discovery, names_the_url_and_the_member_that_is_wrong) {
    const std::pair<const char*, const char*> cases[] = {
        {"<html>", "not a JSON object"},
        {"[1]", "not a JSON object"},
        {R"({"authorization_servers":["https://as.example"]})", "\"resource\" is missing"},
        {R"({"resource":7})", "\"resource\" must be a string"},
        {R"({"resource":"https://mcp.example/mcp","authorization_servers":"x"})",
         "\"authorization_servers\" must be an array of strings"}};
    for (const auto& [body, words] : cases) {
        serve(kResource, body);
        const auto outcome = sign_in();
        EXPECT_EQ(outcome.status, PATCHBAY_E_PROTOCOL);
        EXPECT_THAT(outcome.error, HasSubstr(std::string(kResource) + ": "));
        EXPECT_THAT(outcome.error, HasSubstr(words));
    }
}

TEST_F(Discovery, does_not_take_a_broken_server_for_an_old_one) {
    serve(kResource, "oops", 503);
    const auto outcome = sign_in();
    EXPECT_EQ(outcome.status, PATCHBAY_E_IO);
    EXPECT_TRUE(outcome.flags & PATCHBAY_ERR_RETRYABLE);
    EXPECT_TRUE(host.browsed.empty());
}

TEST_F(Discovery, looks_for_an_issuer_with_a_path_in_three_places_in_order) {
    resource("https://mcp.example/mcp", R"(["https://as.example/tenant1"])");
    host.pages.erase(kMetadata);
    const auto outcome = sign_in();
    std::vector<std::string> looked;
    for (const auto& asked : host.asked)
        if (asked.url.rfind("https://as.example", 0) == 0) looked.push_back(asked.url);
    EXPECT_THAT(looked, ::testing::ElementsAre(
                            "https://as.example/.well-known/oauth-authorization-server/tenant1",
                            "https://as.example/.well-known/openid-configuration/tenant1",
                            "https://as.example/tenant1/.well-known/openid-configuration"));
    EXPECT_EQ(outcome.status, PATCHBAY_E_AUTH);
    for (const auto& place : looked) EXPECT_THAT(outcome.error, HasSubstr(place));
    EXPECT_TRUE(host.browsed.empty());
}

TEST_F(Discovery, takes_an_openid_document) {
    host.pages.erase(kMetadata);
    serve("https://as.example/.well-known/openid-configuration", usual_metadata());
    EXPECT_EQ(sign_in().status, PATCHBAY_OK);
}

TEST_F(Discovery, refuses_metadata_of_another_issuer) {
    for (const char* issuer :
         {"https://honest.example", "https://as.example/", "https://AS.example"}) {
        serve(kMetadata, usual_metadata("\"issuer\":\"" + std::string(issuer) + "\""));
        EXPECT_THAT(sign_in().error, HasSubstr("is of the issuer")) << issuer;
    }
    EXPECT_TRUE(host.browsed.empty());
}

TEST_F(Discovery, refuses_an_authorization_server_without_s256) {
    for (const char* methods : {"null", "[]", "[\"plain\"]"}) {
        serve(kMetadata,
              usual_metadata("\"code_challenge_methods_supported\":" + std::string(methods)));
        EXPECT_THAT(sign_in().error, HasSubstr("S256")) << methods;
    }
    EXPECT_TRUE(host.browsed.empty());
}

TEST_F(Discovery, refuses_endpoints_that_are_no_web_addresses) {
    for (const char* name : {"authorization_endpoint", "token_endpoint", "registration_endpoint"}) {
        for (const char* url : {"javascript:alert(1)", "file:///etc/passwd", "http://as.example/x",
                                "https://a@as.example/x", "https://as.example\\\\.evil/x"}) {
            serve(kMetadata, usual_metadata("\"" + std::string(name) + "\":\"" + url + "\""));
            const auto outcome = sign_in();
            EXPECT_EQ(outcome.status, PATCHBAY_E_PROTOCOL) << name << url;
            EXPECT_THAT(outcome.error, HasSubstr(name));
        }
    }
    EXPECT_TRUE(host.browsed.empty());
}

TEST_F(Discovery, prefers_the_authorization_server_it_knows) {
    resource("https://mcp.example/mcp", R"(["https://first.example","https://as.example"])");
    host.store["docs"] = record("");
    Method method(host);
    EXPECT_EQ(method.acquire(PATCHBAY_AUTH_SIGN_IN).status, PATCHBAY_OK);
    EXPECT_EQ(host.count("GET", kMetadata), 1);
    EXPECT_EQ(sign_in(R"({"issuer":"https://as.example"})").status, PATCHBAY_OK);
}

TEST_F(Discovery, refuses_when_the_configured_issuer_is_not_the_servers_any_more) {
    const auto outcome = sign_in(R"({"issuer":"https://left.example","client_id":"c"})");
    EXPECT_EQ(outcome.status, PATCHBAY_E_DENIED);
    EXPECT_THAT(outcome.error, HasSubstr("https://left.example"));
}

TEST_F(Discovery, takes_the_servers_origin_for_servers_of_2025_03_26) {
    host.pages.erase(kResource);
    serve("https://mcp.example/.well-known/oauth-authorization-server",
          usual_metadata(R"("issuer":"https://mcp.example")"));
    EXPECT_EQ(sign_in().status, PATCHBAY_OK);
    EXPECT_EQ(sent_resource(), "https://mcp.example/mcp");
}

TEST_F(Discovery, takes_the_default_endpoints_for_servers_without_any_metadata) {
    host.pages.erase(kResource);
    serve("https://mcp.example/register", R"({"client_id":"c"})", 201);
    serve("https://mcp.example/token", token("legacy"));
    const auto outcome = sign_in();
    EXPECT_EQ(outcome.authorization, "Bearer legacy") << outcome.error;
    EXPECT_THAT(host.browsed.back(), ::testing::StartsWith("https://mcp.example/authorize?"));
    EXPECT_THAT(host.browsed.back(), HasSubstr("code_challenge_method=S256"));
}

TEST_F(Discovery, needs_no_sign_in_where_the_server_answers_as_it_is_and_offers_none) {
    host.pages.erase(kResource);
    const struct {
        std::uint32_t status;
        const char* type;
        bool free;
    } cases[] = {{200, "application/json; charset=utf-8", true},
                 {200, "text/event-stream", true},
                 {202, "", true},
                 {400, "application/json", true},
                 {200, "text/html", false},
                 {400, "text/plain", false},
                 {404, "application/json", false}};
    for (const auto& c : cases) {
        SCOPED_TRACE(std::to_string(c.status) + " " + c.type);
        host.pages["https://mcp.example/mcp"] = [c](const Asked&) {
            return Answer{c.status, "{}", {{"Content-Type", c.type}}, PATCHBAY_OK};
        };
        const auto outcome = sign_in();
        EXPECT_EQ(outcome.status, c.free ? PATCHBAY_OK : PATCHBAY_E_IO) << outcome.error;
        EXPECT_EQ(outcome.authorization, "");
        if (!c.free) {
            EXPECT_EQ(outcome.error, "it answers " + std::to_string(c.status) +
                                         " to an MCP request and offers no sign-in; is this the "
                                         "URL of an MCP server?");
        }
    }
    EXPECT_TRUE(host.browsed.empty());
    EXPECT_EQ(host.store["docs"], "");
}

TEST_F(Discovery, says_where_it_looked_when_nothing_is_there_and_asks_nobody) {
    host.pages.erase(kResource);
    serve("https://mcp.example/mcp", "", 401);
    const auto outcome = sign_in();
    EXPECT_EQ(outcome.status, PATCHBAY_E_AUTH);
    EXPECT_THAT(outcome.error, HasSubstr("nothing says where to sign in"));
    EXPECT_THAT(outcome.error,
                HasSubstr("https://mcp.example/.well-known/oauth-authorization-server"));
    EXPECT_TRUE(host.browsed.empty());
}

TEST_F(Discovery, believes_the_settings_before_the_server) {
    serve("https://mine.example/t", token("mine"));
    const auto outcome = sign_in(R"({"authorization_url":"https://mine.example/a",
        "token_url":"https://mine.example/t","client_id":"c"})");
    EXPECT_EQ(outcome.authorization, "Bearer mine") << outcome.error;
    EXPECT_EQ(host.count("GET", kMetadata), 0);
    EXPECT_EQ(host.last("https://mine.example/t").beside, "") << "a person wrote it";
}

TEST_F(Discovery, refuses_settings_with_odd_urls) {
    for (const char* key : {"authorization_url", "token_url", "issuer", "idp_token_url"}) {
        const auto config = "{\"" + std::string(key) + "\":\"http://as.example/x\"}";
        EXPECT_THROW(Method(host, config), std::runtime_error) << key;
    }
}

TEST_F(Discovery, of_a_server_without_a_path_has_one_place) {
    for (const char* url : {"https://mcp.example", "https://mcp.example/"}) {
        host.asked.clear();
        Method method(host);
        method.url = url;
        method.acquire(kMayAsk, "Bearer");
        EXPECT_EQ(host.count("GET", kRootResource), 1) << url;
        EXPECT_EQ(host.count("GET", std::string(kRootResource) + "/"), 0) << url;
    }
}

TEST_F(Discovery, takes_only_answers_of_the_client_kind_for_nothing_there) {
    for (const auto status : {300u, 399u, 500u, 204u}) {
        serve(kResource, "{}", status);
        const auto outcome = sign_in();
        EXPECT_EQ(outcome.status, PATCHBAY_E_IO) << status;
        EXPECT_THAT(outcome.error,
                    HasSubstr("answered " + std::to_string(status) + " instead of its metadata"));
    }
    for (const auto status : {400u, 499u}) {
        serve(kResource, "{}", status);
        host.asked.clear();
        sign_in();
        EXPECT_EQ(host.count("GET", kRootResource), 1) << status;
    }
}

TEST_F(Discovery, learns_nothing_of_an_answer_that_is_no_401) {
    host.pages["https://mcp.example/mcp"] = [](const Asked&) {
        return Answer{403, "", {{"WWW-Authenticate", R"(Bearer scope="not-this")"}}, PATCHBAY_OK};
    };
    EXPECT_EQ(sign_in().status, PATCHBAY_OK);
    EXPECT_THAT(host.browsed.back(), ::testing::Not(HasSubstr("not-this")));
}

TEST_F(Discovery, takes_the_first_authorization_server_when_it_knows_none_of_them) {
    resource("https://mcp.example/mcp", R"(["https://as.example","https://second.example"])");
    host.store["docs"] = record(R"("issuer":"https://former.example")");
    Method method(host);
    EXPECT_EQ(method.acquire(PATCHBAY_AUTH_SIGN_IN).status, PATCHBAY_OK);
    EXPECT_EQ(stored(host).needed_text("issuer"), "https://as.example");
}

TEST_F(Discovery, asks_nobody_about_endpoints_that_are_all_configured) {
    serve("https://mine.example/t", token("mine"));
    Method method(host, R"({"authorization_url":"https://mine.example/a","client_id":"c",
        "token_url":"https://mine.example/t","issuer":"https://as.example"})");
    EXPECT_EQ(method.acquire(kMayAsk).authorization, "Bearer mine");
    EXPECT_EQ(stored(host).needed_text("issuer"), "https://as.example");
    EXPECT_EQ(method.acquire(PATCHBAY_AUTH_QUIET).authorization, "Bearer mine");
    host.person = [](const Form& query) {
        return form_encode(
            Form{{"code", "c"}, {"iss", "https://evil.example"}, {"state", *only(query, "state")}});
    };
    EXPECT_EQ(method.acquire(PATCHBAY_AUTH_SIGN_IN).status, PATCHBAY_E_DENIED);
}

TEST_F(Discovery, still_asks_about_the_endpoint_that_is_not_configured) {
    for (const char* config : {R"({"token_url":"https://mine.example/t","client_id":"c"})",
                               R"({"authorization_url":"https://mine.example/a"})",
                               R"({"registration_url":"https://mine.example/r"})"}) {
        host.asked.clear();
        host.store["docs"] = "";
        serve("https://mine.example/t", token("mine"));
        serve("https://mine.example/r", R"({"client_id":"of-mine"})", 201);
        EXPECT_EQ(sign_in(config).status, PATCHBAY_OK) << config;
        EXPECT_EQ(host.count("GET", kMetadata), 1) << config;
    }
    EXPECT_EQ(host.last("https://mine.example/r").beside, "") << "a person wrote it";
    EXPECT_EQ(host.last("https://as.example/token").beside, "https://mcp.example/mcp")
        << "the server named it";
}

TEST_F(Discovery, goes_on_from_a_path_that_ends_with_a_slash) {
    resource("https://mcp.example/mcp", R"(["https://as.example/"])");
    serve(kMetadata, usual_metadata(R"("issuer":"https://as.example/")"));
    EXPECT_EQ(sign_in().status, PATCHBAY_OK);
}

TEST_F(Discovery, needs_every_endpoint_of_a_sign_in) {
    for (const char* name : {"authorization_endpoint", "token_endpoint"}) {
        serve(kMetadata, usual_metadata("\"" + std::string(name) + "\":null"));
        const auto outcome = sign_in();
        EXPECT_EQ(outcome.status, PATCHBAY_E_PROTOCOL);
        EXPECT_THAT(outcome.error,
                    HasSubstr("the metadata of https://as.example has no \"" + std::string(name)));
    }
    EXPECT_TRUE(host.browsed.empty());
}

}  // namespace
}  // namespace patchbay::oauth::test
