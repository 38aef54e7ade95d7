#include "net/endpoint.hpp"

#include <gmock/gmock.h>

#include <stdlib.h>

namespace patchbay::net {
namespace {

using ::testing::HasSubstr;

// Proxy variables of the environment, for one test.
class ProxyOfTheEnvironment : public ::testing::Test {
protected:
    ProxyOfTheEnvironment() { clear(); }
    ~ProxyOfTheEnvironment() override { clear(); }
    static void clear() {
        for (const char* name :
             {"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"})
            ::unsetenv(name);
    }
    static std::string proxy(const char* url, const std::string& configured = {}) {
        const auto found = proxy_for(Url::parse(url), configured);
        return found ? found->host + ":" + std::to_string(found->port) : "none";
    }
};

TEST_F(ProxyOfTheEnvironment, IsChosenByTheScheme) {
    EXPECT_EQ(proxy("http://example.com/"), "none");
    ::setenv("HTTP_PROXY", "http://plain:3128", 1);
    ::setenv("HTTPS_PROXY", "secure:8080", 1);
    EXPECT_EQ(proxy("http://example.com/"), "plain:3128");
    EXPECT_EQ(proxy("https://example.com/"), "secure:8080");
    EXPECT_EQ(proxy("wss://example.com/"), "secure:8080");
    EXPECT_EQ(proxy("https://example.com/", "none"), "none");
    EXPECT_EQ(proxy("https://example.com/", "http://mine"), "mine:80");
}

TEST_F(ProxyOfTheEnvironment, IsPassedOverForWhatNoProxyNames) {
    ::setenv("HTTP_PROXY", "http://plain:3128", 1);
    ::setenv("NO_PROXY", "example.com, .internal,10.0.0.1,other:8080", 1);
    for (const char* direct :
         {"http://example.com/", "http://sub.example.com/", "http://a.internal/",
          "http://10.0.0.1/", "http://other:8080/", "http://localhost/", "http://127.0.0.1/"})
        EXPECT_EQ(proxy(direct), "none") << direct;
    for (const char* through : {"http://notexample.com/", "http://other/", "http://10.0.0.11/"})
        EXPECT_EQ(proxy(through), "plain:3128") << through;
    ::setenv("NO_PROXY", "*", 1);
    EXPECT_EQ(proxy("http://anything/"), "none");
}

TEST_F(ProxyOfTheEnvironment, SendsItsLoginAndKeepsItOutOfMessages) {
    const auto found = proxy_for(Url::parse("http://example.com/"), "http://ada:pass%20word@p:1");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->authorization, "Basic YWRhOnBhc3Mgd29yZA==");
    try {
        proxy_for(Url::parse("http://example.com/"), "socks5://ada:secret@p:1");
        FAIL();
    } catch (const sdk::Failure& failure) {
        EXPECT_THAT(failure.what(), HasSubstr("is not an http proxy"));
        EXPECT_THAT(failure.what(), Not(HasSubstr("secret")));
    }
}

TEST(Endpoint, NamesTheSettingThatIsWrong) {
    const auto trouble = [](const char* settings) -> std::string {
        try {
            Endpoint::from(sdk::Config(settings));
            return {};
        } catch (const sdk::Failure& failure) {
            return failure.what();
        }
    };
    EXPECT_EQ(trouble(R"({"url":"http://h/","headers":{"X-A":"b"}})"), "");
    EXPECT_THAT(trouble(R"({"url":"ftp://h/"})"), HasSubstr("the URL"));
    EXPECT_THAT(trouble(R"({"url":"http://h/","headers":{"Host":"b"}})"), HasSubstr("\"Host\""));
    EXPECT_THAT(trouble(R"({"url":"http://h/","ca_file":"/not/there"})"),
                HasSubstr("ca_file \"/not/there\" cannot be read"));
    const std::string here = PATCHBAY_SOURCE_DIR "/README.md";  // a file, but no PEM
    for (const char* setting : {"ca_file", "client_certificate"})
        EXPECT_THAT(
            trouble((R"({"url":"https://h/",")" + std::string(setting) + R"(":")" + here + "\"}")
                        .c_str()),
            HasSubstr(setting + (" \"" + here) + "\" holds no certificate in PEM"));
    EXPECT_THAT(trouble(R"({"url":"http://h/","connect_timeout_ms":0})"),
                HasSubstr("connect_timeout_ms"));
}

}  // namespace
}  // namespace patchbay::net
