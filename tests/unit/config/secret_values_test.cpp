// What counts as a secret in settings that nobody marked as such.
#include "config/secret_values.hpp"

#include "config/secret_names.hpp"
#include "core/secrets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

std::vector<std::string> found_in(const char* settings) {
    return secret_values(boost::json::parse(settings).as_object());
}

TEST(SecretValues, AreMaskedAtAnyDepthByNameAndByShape) {
    const auto value = boost::json::parse(
        R"({"a":[1,true,null,"plain"],"Api_Key":["x1"],"b":{"password":7,"c":"tok password=hunter22 end"}})");
    EXPECT_EQ(
        without_secrets("", value),
        boost::json::parse(
            R"({"a":[1,true,null,"plain"],"Api_Key":"***","b":{"password":"***","c":"tok password=***"}})"));
}

TEST(SecretValues, AreMaskedInNamesAndNumbersToo) {
    core::Secrets secrets;
    for (const char* each : {"zebra-wagon-7741", "7741774177417741"}) secrets.add(each);
    const auto value = boost::json::parse(
        R"({"zebra-wagon-7741":1,"zebra-wagon-7741 ":2,"n":7741774177417741,"s":12})");
    EXPECT_EQ(boost::json::serialize(without_secrets("", value)),
              R"({"***":1,"*** ":2,"n":"***","s":12})");
    const auto twins = boost::json::parse(R"({"?pat=a1b2":1,"?pat=c3d4":2})");
    EXPECT_EQ(without_secrets("", twins).as_object().size(), 2u);
}

TEST(SecretValues, AreMaskedWhereTheirNameStandsBesideThem) {
    const auto value = boost::json::parse(
        R"([{"name":"password","value":"x1"},{"value":7,"key":"api_key"},{"name":"password","value":["seen"]},{"name":"colour","key":"x","value":"red"},{"Name":"x","Key":"API_KEY","Value":"v2"}])");
    EXPECT_EQ(
        without_secrets("variables", value),
        boost::json::parse(
            R"([{"name":"password","value":"***"},{"value":"***","key":"api_key"},{"name":"password","value":["seen"]},{"name":"colour","key":"x","value":"red"},{"Name":"x","Key":"API_KEY","Value":"***"}])"));
    EXPECT_EQ(
        without_secrets(
            R"({"name": "password","value":"a1","value" : "b\"2","n":{"Value":73},"value":true})"),
        R"({"name": "password","value":"***","value" : "***","n":{"Value":***},"value":true})");
    EXPECT_EQ(without_secrets(R"({"name":"colour","value":"red"})"),
              R"({"name":"colour","value":"red"})");
    for (const char* cut : {R"({"name":"password","value":"a1)", R"({"name":"password","value":)",
                            R"("name":"password)", R"x({"name":"password","value":"a1\)x"})
        EXPECT_THAT(without_secrets(cut), ::testing::Not(::testing::HasSubstr("a1"))) << cut;
}

// It was quadratic: a call of 1 MiB held the host for minutes.
TEST(SecretValues, OfALongTextAreAllMasked) {
    std::string text = "?", masked = "?";
    for (int i = 0; i < 100'000; ++i) text += "&pat=x", masked += "&pat=***";
    EXPECT_TRUE(without_secrets(text) == masked);
}

TEST(SecretValues, AreKnownByTheirNames) {
    for (const char* name :
         {"GITHUB_TOKEN",  "api-key",          "API_KEY",       "DB_PASSWORD",   "PGPASSWORD",
          "Authorization", "Cookie",           "client_secret", "X-Auth",        "JWT",
          "apiKey",        "OPENAI_API_KEY_2", "accesstoken",   "TOKEN_OF_MINE", "secret_id",
          "authkey",       "AWS_ACCESSKEY",    "secretkey",     "encryptionkey", "DB_CREDS",
          "passcode",      "private_key_pem",  "DB_PW",         "MYCRED",        "PIN",
          "card-pin",      "API_TOKENS"})
        EXPECT_TRUE(names_a_secret(name)) << name;
    for (const char* name : {"NODE_ENV",
                             "PORT",
                             "MONKEY",
                             "KEYBOARD",
                             "HOME",
                             "Accept",
                             "AUTHOR",
                             "key",
                             "sort-key",
                             "sortKey",
                             "max-tokens",
                             "MAX_NEW_TOKENS",
                             "tokenizer",
                             "password-file",
                             "passwordFile",
                             "token_url",
                             "bearer_token_env_var",
                             "token_endpoint_auth_method",
                             "public_key_pem",
                             "key_pem",
                             "pem",
                             "access_key_id",
                             "PINNED",
                             "",
                             "--"})
        EXPECT_FALSE(names_a_secret(name)) << name;
}

TEST(SecretValues, OfAVariableAreToldUnlessItsNameSaysWhatItIs) {
    for (const char* name : {"PATH", "HOME", "LANG", "LC_ALL", "XDG_CONFIG_HOME", "PYTHONPATH",
                             "TZ", "TERM", "MY_COLOUR", "NODE_ENV", "HTTPS_PROXY", "LOG_LEVEL",
                             "TOKEN_FILE", "AWS_REGION", "SSH_AUTH_SOCK", "SMTP_USER", "DB_HOST"})
        EXPECT_TRUE(says_what_it_is(name)) << name;
    for (const char* name : {"DB_PW", "MYCRED", "PIN", "SMTP_LOGIN", "JDBC", "GITHUB_TOKEN",
                             "MY_DB", "X", "", "PASSWORD_1", "LICENSE"})
        EXPECT_FALSE(says_what_it_is(name)) << name;
}

TEST(SecretValues, OfTheEnvironmentAndOfHeaders) {
    EXPECT_THAT(found_in(R"({"env":{"API_KEY":"value-1","MODE":"production",
                                    "OTHER":"sk-abcdefghij0123456789"},
                             "headers":{"Authorization":"Bearer value-2","Accept":"text/html"}})"),
                ElementsAre("value-1", "sk-abcdefghij0123456789", "Bearer value-2", "value-2"));
}

TEST(SecretValues, AreNotPathsAddressesAndSentences) {
    EXPECT_THAT(
        found_in(R"({"env":{"A":"/usr/share/a1/b2/c3/d4/e5","B":"http://localhost:8123/api/v1",
                                    "C":"a sentence with 20 letters or so in it"}})"),
        IsEmpty());
}

TEST(SecretValues, OfAVariableLookLikeTokensOrNot) {
    for (const char* token :
         {"sk-abcdefghij0123456789", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "0123456789abcdef",
          "deadbeefcafebabe", "DEADBEEF0BADF00D", "a1b2c3d4e5f6g7h8", "AbCdEfGhIjKlMnOp",
          "dGhpcyBpcyBhIHNlY3JldA==", "hf_qWerTyuIopAsdFgh", "q7Zk9-Lm3Xp_Vt5Rw8",
          "a8-F3k_9Zx-Lq2_Mv0", "eyJhbGciOi.eyJzdWIiOiIx.SflKxwRJSM", "K2x9vQ7LwP3nR8tY",
          "xoxb-17653672481-abcD3fGh1jK", "9f86d081884c7d659a2feaa0", "9f86d081884c7d65.x"})
        EXPECT_TRUE(looks_like_a_token(token)) << token;
    for (const char* plain : {"short1",
                              "/usr/local/lib/node20",
                              "./build/release-x64-1",
                              "C:\\Program Files\\App1",
                              "1.2.3-alpha.4+build567",
                              "v20.11.0-linux-x64",
                              "2024-07-18T10:00:00Z",
                              "20240718100000123",
                              "1.0.0-beta.11+exp.5114f85",
                              "db-1.eu-west-1.example.com",
                              "ip-10-0-0-1.ec2.internal",
                              "localhost.localdomain",
                              "host.example.com:8443",
                              "d1k2j3h4g5f6a7.cloudfront.net",
                              "a8f3k9zxlq2mv0-1.eu-west-1.rds.amazonaws.com",
                              "https://example.com/mcp1",
                              "123e4567-e89b-12d3-a456-426614174000",
                              "ap-southeast-2-production",
                              "asia-northeast1-prod",
                              "production-environment",
                              "MyProductionDatabase",
                              "my_database_name_2",
                              "release-2024-xY-build",
                              "JAVA_TOOL_OPTIONS",
                              "correcthorsebatterystaple",
                              "gpt-4o-mini-2024-07-18",
                              "claude-sonnet-4-20250514",
                              "Ubuntu-22.04-LTS-x86",
                              "a sentence with 16 letters",
                              "user-name@example.com",
                              "en_US.UTF-8",
                              "mcp-server-with-a-long-name-2",
                              "xterm-256color-italic"})
        EXPECT_FALSE(looks_like_a_token(plain)) << plain;
}

TEST(SecretValues, OfArguments) {
    EXPECT_THAT(found_in(R"({"args":["--access-token","value-1","--api-key=value-2","--verbose",
                                     "--password","--next","plain","x=token"]})"),
                ElementsAre("value-1", "value-2"));
    EXPECT_THAT(found_in(R"({"args":["-e","API_TOKEN=value-1","-H","Authorization: Bearer value-2",
                                     "--header","X-Api-Key:value-3","auth://host/path","key"]})"),
                ElementsAre("value-1", "Bearer value-2", "value-2", "value-3"));
    EXPECT_THAT(
        found_in(R"({"args":["--header=Authorization: Bearer value-1","--env=A_TOKEN=value-2",
                                     "--api-key = value-3","--mode=fast","12:30","C:/a=b"]})"),
        ElementsAre("Bearer value-1", "value-1", "value-2", "value-3"));
}

TEST(SecretValues, OfACommandWithItsArguments) {
    EXPECT_THAT(found_in(R"({"command":["token.sh","--password","value-1","--user","me"]})"),
                ElementsAre("value-1"));
    EXPECT_THAT(found_in(R"({"command":"npx -y foo --api-key value-1"})"), ElementsAre("value-1"));
    EXPECT_THAT(found_in(R"({"args":"--token=value-1"})"), ElementsAre("value-1"));
    EXPECT_THAT(found_in(R"({"command":"npx","args":["-y","foo"],"env":"API_TOKEN"})"), IsEmpty());
}

TEST(SecretValues, OfArgumentsThatAreAddressesOrKeys) {
    EXPECT_THAT(found_in(R"({"args":["pg","postgresql://me:value-1@localhost/db",
                                     "--url=https://h/mcp?token=value-2"]})"),
                IsSupersetOf({"value-1", "value-2"}));
    EXPECT_THAT(found_in(R"({"args":["sk-live-abcdef0123456789"]})"),
                ElementsAre("sk-live-abcdef0123456789"));
    EXPECT_THAT(found_in(R"({"args":["mcp-server-with-a-long-name-2","https://h/mcp?x=1"]})"),
                IsEmpty());
}

// What `config show` prints of arguments.
std::string shown(const std::vector<std::string>& args) {
    const boost::json::array list(args.begin(), args.end());
    const auto parts = secret_parts(list);
    std::string all;
    for (std::size_t i = 0; i < args.size(); ++i) {
        std::string text = args[i];
        for (auto part = parts[i].rbegin(); part != parts[i].rend(); ++part)
            text.replace(part->begin, part->end - part->begin, "***");
        all += (i == 0 ? "" : " | ") + text;
    }
    return all;
}

const std::string kKey = "sk-proj-abcdef0123456789";
const std::string kNameless = "NjQzYmM1OWYxMjM0NTY3";  // of no service that is known
const std::string kPem =
    "-----BEGIN PRIVATE KEY-----\nMIIBVAIBADANBgkqhkiG9w0B\nAQEFAASCAT4wggE6\n-----END PRIVATE "
    "KEY-----";

TEST(SecretValues, OrdinaryArgumentsAreNone) {
    for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
             {"--max-tokens=100"},
             {"--max-tokens", "100"},
             {"key=value"},
             {"--key", "server.pem"},
             {"--tokenizer", "x"},
             {"--tokenizer=x"},
             {"--sort-key", "name"},
             {"--sort-key=name"},
             {"--password-file=/run/secrets/db"},
             {"--password-file", "/run/secrets/db"},
             {"--token-url", "https://example.org/token"},
             {"--model=claude-sonnet-4-20250514"},
             {"mcp-server-with-a-long-name-2"},
             {"-v", "/home/me/secret:/token:ro"},
             {"registry.example/token:1.2"},
             {"https://example.org/a@b:c?x=1&max_tokens=5#top"},
             {"ssh://git@example.org/repository"},
             {"{\"tokenizer\":\"x\",\"max_tokens\":5}"},
             {"the bearer of news"},
             {"--password", "--next", "plain"},
             {"--password=", "--next=x", "plain"},
             {"exec server --password --next plain"},
             {"exec server -v x -p y"},
             {"-p", "8080", "-p", "package-of-somebody"},
             {"https://h/a-long-name-of-a-page/2024/x"},
             {"-H", "Accept:", "text/html"},
             {"-H", "accept", "text/html"},
             {"token", "x"},
             {"--tokenizer=", "x"},
             {"https://h/mcp?sort%5Fkey=x&a%20token=x&token%3Dx&%7=%"},
             {"https://h/mcp?X-Amz-SignedHeaders=host&sort-key=x"},
             {"-----END OF IT-----", "-----"},
             {"12:30", "C:/a=b", "auth://host/path", "token"},
         })
        EXPECT_EQ(shown(args), [&] {
            std::string all;
            for (const auto& arg : args) all += (all.empty() ? "" : " | ") + arg;
            return all;
        }());
}

TEST(SecretValues, OfArgumentsAreHiddenAndNothingElseIs) {
    struct Case {
        std::vector<std::string> args;
        std::string expected;
    };
    const Case cases[] = {
        // By the name.
        {{"--token", "-x", "y"}, "--token | *** | y"},
        {{"--api-key=a b", "y"}, "--api-key=*** | y"},
        {{"--header=Authorization: Bearer a"}, "--header=Authorization: ***"},
        {{"-e", "OPENAI_API_KEY=a"}, "-e | OPENAI_API_KEY=***"},
        {{"a=1,token=b"}, "a=1,token=***"},
        {{"//registry.example/:_authToken=a"}, "//registry.example/:_authToken=***"},
        {{"exec server --token a --verbose"}, "exec server --token *** --verbose"},
        {{"TOKEN='a b' exec server"}, "TOKEN='***' exec server"},
        {{"PASSWORD=\"a\\\"b\" c"}, "PASSWORD=\"***\" c"},
        {{"--sort-key", kKey}, "--sort-key | ***"},
        {{"key=" + kKey}, "key=***"},
        {{"--token", "--x!y", "z"}, "--token | *** | z"},
        {{"sh", "-c", "server -token a -v"}, "sh | -c | server -token *** -v"},
        {{"--token=", "a", "b"}, "--token= | *** | b"},
        {{"-H", "X-Api-Key:", "a"}, "-H | X-Api-Key: | ***"},
        {{"--header=X-Api-Key:", "a"}, "--header=X-Api-Key: | ***"},
        {{"--header", "x-api-key", "a"}, "--header | x-api-key | ***"},
        {{"-H", "x-api-key", "a"}, "-H | x-api-key | ***"},
        // Members of JSON.
        {{R"({"token":"a","region":"eu"})"}, R"({"token":"***","region":"eu"})"},
        {{R"(--config={"a":{"apiKey" : "b\"c"},"d":1})"},
         R"(--config={"a":{"apiKey" : "***"},"d":1})"},
        {{R"({"password":12345,"region":"eu"})"}, R"({"password":***,"region":"eu"})"},
        {{R"({"secrets":["a","b"],"region":"eu"})"}, R"({"secrets":***)"},
        {{R"({"in":"{\"token\":\"a\",\"b\":1}"})"}, R"({"in":"{\"token\":\"***\",\"b\":1}"})"},
        // Addresses: the host and the path stay.
        {{"postgresql://me:a@localhost:5432/db"}, "postgresql://me:***@localhost:5432/db"},
        {{"--proxy=http://me:a@proxy:3128/"}, "--proxy=http://me:***@proxy:3128/"},
        {{"https://a@example.org/path"}, "https://***@example.org/path"},
        {{"https://a:@example.org/path"}, "https://***@example.org/path"},
        {{"git+https://" + kKey + ":x@example.org/path"}, "git+https://***@example.org/path"},
        {{"redis://" + kKey + "@h/0"}, "redis://***@h/0"},
        {{"https://h/mcp?x=1&token=a&y=2#z"}, "https://h/mcp?x=1&token=***&y=2#z"},
        {{"https://h/mcp?key=a"}, "https://h/mcp?key=***"},
        {{"https://h/mcp?x=0123456789abcdef0123"}, "https://h/mcp?x=***"},
        {{"https://h/mcp/s/" + kNameless + "/mcp"}, "https://h/mcp/s/***/mcp"},
        {{"--url=wss://h:1/NjQzYmM1Li9+4dk2Zz09==?a=b"}, "--url=wss://h:1/***?a=b"},
        {{"see https://a:b@h/" + kNameless + " or /" + kNameless},
         "see https://a:***@h/*** or /" + kNameless},
        {{"https://h/" + kNameless + "%20/" + kNameless}, "https://h/" + kNameless + "%20/***"},
        {{"-p", kNameless}, "-p | ***"},
        {{"exec server -p " + kNameless + " -v"}, "exec server -p *** -v"},
        {{"https://h/mcp#token=a&b=c"}, "https://h/mcp#token=***&b=c"},
        {{"HTTPS://a@example.org/path"}, "HTTPS://***@example.org/path"},
        {{"https://h/mcp?client%5Fsecret=a&x=1"}, "https://h/mcp?client%5Fsecret=***&x=1"},
        {{"https://h/mcp?%74oken=a"}, "https://h/mcp?%74oken=***"},
        {{"https://h/mcp?X-Amz-Signature=a&x=1"}, "https://h/mcp?X-Amz-Signature=***&x=1"},
        {{"http://a:b@h and http://c:d@h"}, "http://a:***@h and http://c:***@h"},
        // By the shape.
        {{"--opt=" + kKey}, "--opt=***"},
        {{"--private-key", kPem, "x"}, "--private-key | *** | x"},
        {{"--key", kPem}, "--key | ***"},
        {{"--key=" + kPem}, "--key=***"},
        {{"x=" + kPem + ",y=1"}, "x=***,y=1"},
        {{"exec x -private-key " + kPem + " -y"}, "exec x -private-key *** -y"},
        {{"exec x '" + kPem + "' -y"}, "exec x '***' -y"},
        {{"a\\n-----BEGIN PRIVATE KEY-----\\nb"}, "a\\n***"},
        {{"a," + kKey + ",b"}, "a,***,b"},
        {{"eyJhbGciOiJub25lIn0.eyJhIjoxfQ.c2ln=="}, "***"},
        {{"Bearer a"}, "Bearer ***"},
        {{"--header=bearer a"}, "--header=bearer ***"},
        {{"basic YTpi"}, "basic ***"},
    };
    for (const auto& c : cases) EXPECT_EQ(shown(c.args), c.expected);
}

// As errors and logs show what a program says of it, line by line and joined.
TEST(SecretValues, OfAPrivateKeyEachLineIsMasked) {
    core::Secrets secrets;
    for (const auto& value : secret_values({{"args", {"--private-key", kPem}}})) secrets.add(value);
    EXPECT_EQ(core::masked(kPem), "***");
    EXPECT_EQ(core::masked("-----BEGIN PRIVATE KEY----- | MIIBVAIBADANBgkqhkiG9w0B | "
                           "AQEFAASCAT4wggE6 | -----END PRIVATE KEY-----"),
              "-----BEGIN PRIVATE KEY----- | *** | *** | -----END PRIVATE KEY-----");
}

TEST(SecretValues, OfAPrivateKeyInOneLineEachLineIsMaskedToo) {
    core::Secrets secrets;
    const char* settings =
        R"({"env":{"PEM":"-----BEGIN X-----\\nMIIBVAIBADANBgkqhkiG9w0B\\n-----END X-----\\n"}})";
    for (const auto& value : found_in(settings)) secrets.add(value);
    EXPECT_EQ(core::masked("MIIBVAIBADANBgkqhkiG9w0B"), "***");
    EXPECT_EQ(core::masked("-----BEGIN X-----\\nMIIBVAIBADANBgkqhkiG9w0B\\n-----END X-----"),
              "***");
}

TEST(SecretValues, OfAddressesInTheEnvironmentAreTheirPasswords) {
    EXPECT_THAT(found_in(R"({"env":{"DATABASE_URL":"postgresql://me:value-1@localhost/db"}})"),
                ElementsAre("value-1"));
    EXPECT_THAT(found_in(R"({"proxy":"http://me:value-1@proxy:3128"})"), ElementsAre("value-1"));
    EXPECT_THAT(found_in(R"({"env":{"JDBC":"jdbc:oracle:thin:scott/value-1@//h:1521/db"}})"),
                ElementsAre("value-1"));
    EXPECT_THAT(found_in(R"({"args":["--dsn-of=jdbc:oracle:thin:scott/value-1@h", "x"]})"),
                ElementsAre("value-1"));
    EXPECT_THAT(found_in(R"({"args":["github:me/repo@v1.2", "@org/package@1.0",
                                     "jdbc:postgresql://host/db?user=me"]})"),
                IsEmpty());
}

TEST(SecretValues, BehindTheNameInALoginAreItsWord) {
    EXPECT_THAT(found_in(R"({"env":{"SMTP_LOGIN":"joe:value-1","LOGIN":"joe",
                                    "USERPWD":"joe:value-2", "HOST_LOGIN":"https://h:80/x"}})"),
                ElementsAre("joe:value-1", "value-1", "joe:value-2", "value-2"));
}

TEST(SecretValues, OfUrls) {
    EXPECT_THAT(
        found_in(R"({"url":"https://me:value-1@example.com/a?x=1&api_key=value-2&t=3#token=4"})"),
        ElementsAre("value-1", "value-2", "4"));
    EXPECT_THAT(found_in(R"({"url":"https://example.com/a@b:c"})"), IsEmpty());
}

}  // namespace
}  // namespace patchbay::config
