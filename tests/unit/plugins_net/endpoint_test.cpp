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

TEST_F(ProxyOfTheEnvironment, IsReadInLowerCaseFirst) {
    ::setenv("http_proxy", "http://lower", 1);
    ::setenv("HTTP_PROXY", "http://upper", 1);
    EXPECT_EQ(proxy("http://example.com/"), "lower:80");
    ::setenv("http_proxy", "", 1);
    EXPECT_EQ(proxy("http://example.com/"), "upper:80");
    EXPECT_EQ(proxy("https://example.com/"), "none");
    ::setenv("no_proxy", "example.com", 1);
    EXPECT_EQ(proxy("http://example.com/"), "none");
}

TEST_F(ProxyOfTheEnvironment, IsNotForThisMachine) {
    ::setenv("HTTP_PROXY", "http://plain:3128", 1);
    for (const char* here :
         {"http://localhost/", "http://a.localhost/", "http://127.9.9.9/", "http://[::1]/"})
        EXPECT_EQ(proxy(here), "none") << here;
    for (const char* elsewhere : {"http://notlocalhost/", "http://10.0.0.1/", "http://[::2]/"})
        EXPECT_EQ(proxy(elsewhere), "plain:3128") << elsewhere;
}

TEST_F(ProxyOfTheEnvironment, ExceptsOneOfTheAddressesWithColons) {
    ::setenv("HTTP_PROXY", "http://plain:3128", 1);
    ::setenv("NO_PROXY", ",  ,\t2001:db8::1 ,other:8080,:81,.", 1);
    EXPECT_EQ(proxy("http://[2001:db8::1]/"), "none");
    EXPECT_EQ(proxy("http://[2001:db8::2]/"), "plain:3128");
    EXPECT_EQ(proxy("http://sub.other:8080/"), "none");
    EXPECT_EQ(proxy("http://other:8081/"), "plain:3128");
    EXPECT_EQ(proxy("http://example.com/"), "plain:3128");
}

TEST_F(ProxyOfTheEnvironment, SaysWhatIsWrongWithItAndWhereItIsSaid) {
    const auto trouble = [](const char* url, const std::string& configured) -> std::string {
        try {
            proxy_for(Url::parse(url), configured);
            return {};
        } catch (const sdk::Failure& failure) {
            EXPECT_EQ(failure.code(), PATCHBAY_E_INVALID);
            return failure.what();
        }
    };
    const std::string expected = "; expected http://[user:password@]host[:port]";
    EXPECT_EQ(trouble("http://h/", "https://p"), "proxy is not an http proxy" + expected);
    EXPECT_EQ(trouble("http://h/", "http://:80"), "proxy names no host" + expected);
    EXPECT_EQ(trouble("http://h/", "http://p:port"), "proxy cannot be read" + expected);
    ::setenv("HTTP_PROXY", "socks5://p", 1);
    ::setenv("HTTPS_PROXY", "socks5://p", 1);
    EXPECT_EQ(trouble("http://h/", {}), "HTTP_PROXY is not an http proxy" + expected);
    EXPECT_EQ(trouble("https://h/", {}), "HTTPS_PROXY is not an http proxy" + expected);
    const auto open = proxy_for(Url::parse("http://h/"), "http://p:1");
    ASSERT_TRUE(open);
    EXPECT_EQ(open->authorization, "");
}

TEST(Endpoint, HoldsWhatIsConfigured) {
    const auto plain = Endpoint::from(sdk::Config(R"({"url":"http://h/"})"));
    EXPECT_EQ(plain.connect_timeout, std::chrono::seconds(10));
    EXPECT_EQ(plain.keep_alive, std::chrono::seconds(50));
    EXPECT_EQ(plain.proxy + plain.unix_socket + plain.tls.ca_file + plain.beside, "");
    const auto full = Endpoint::from(
        sdk::Config(R"({"url":"https://h/mcp","headers":{"X-A":"b"},"proxy":"http://p:1",
                        "unix_socket":"/run/s","connect_timeout_ms":600000,"ca_file":"/",
                        "keep_alive_sec":7})"));
    EXPECT_EQ(full.keep_alive, std::chrono::seconds(7));
    EXPECT_EQ(full.url.text(), "https://h/mcp");
    EXPECT_TRUE(full.headers.has("x-a"));
    EXPECT_EQ(full.proxy, "http://p:1");
    EXPECT_EQ(full.unix_socket, "/run/s");
    EXPECT_EQ(full.connect_timeout, std::chrono::minutes(10));
    EXPECT_EQ(full.tls.ca_file, "/") << "a folder of authorities";
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
    EXPECT_EQ(trouble(R"({"url":"http://h/","connect_timeout_ms":1})"), "");
    EXPECT_THAT(trouble(R"({"url":"http://h/","connect_timeout_ms":600001})"),
                HasSubstr("connect_timeout_ms"));
    EXPECT_THAT(trouble(R"({"url":"http://h/","proxy":"socks5://p"})"), HasSubstr("proxy"));
    EXPECT_THAT(trouble(R"({"url":"http://h/","connect_timeout_ms":0})"),
                HasSubstr("connect_timeout_ms"));
}

}  // namespace
}  // namespace patchbay::net
