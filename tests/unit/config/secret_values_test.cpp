// What counts as a secret in settings that nobody marked as such.
#include "config/secret_values.hpp"

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

TEST(SecretValues, AreKnownByTheirNames) {
    for (const char* name : {"GITHUB_TOKEN", "api-key", "API_KEY", "DB_PASSWORD", "PGPASSWORD",
                             "Authorization", "Cookie", "client_secret", "X-Auth", "JWT", "--key"})
        EXPECT_TRUE(names_a_secret(name)) << name;
    for (const char* name : {"NODE_ENV", "PORT", "MONKEY", "KEYBOARD", "HOME", "Accept", "AUTHOR"})
        EXPECT_FALSE(names_a_secret(name)) << name;
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

TEST(SecretValues, OfArgumentsThatAreAddressesOrKeys) {
    EXPECT_THAT(found_in(R"({"args":["pg","postgresql://me:value-1@localhost/db",
                                     "--url=https://h/mcp?token=value-2"]})"),
                IsSupersetOf({"value-1", "value-2"}));
    EXPECT_THAT(found_in(R"({"args":["sk-live-abcdef0123456789"]})"),
                ElementsAre("sk-live-abcdef0123456789"));
    EXPECT_THAT(found_in(R"({"args":["mcp-server-with-a-long-name-2","https://h/mcp?x=1"]})"),
                IsEmpty());
}

TEST(SecretValues, OfUrls) {
    EXPECT_THAT(
        found_in(R"({"url":"https://me:value-1@example.com/a?x=1&api_key=value-2&t=3#token=4"})"),
        ElementsAre("value-1", "value-2"));
    EXPECT_THAT(found_in(R"({"url":"https://example.com/a@b:c"})"), IsEmpty());
}

}  // namespace
}  // namespace patchbay::config
