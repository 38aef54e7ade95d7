// What a record says of a request, and what it does not.
#include "audit/record_text.hpp"

#include "core/secrets.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace patchbay::audit {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

json::object object(const std::string& members) {
    return json::parse("{" + members + "}").as_object();
}

struct ARecord : testing::Test {
    core::Principal client{core::Principal::Kind::Client, "7", "editor"};
    core::AskedRequest asked;
    core::EndedRequest ended;
    CommonMembers common;

    std::string members(std::string_view id) {
        return members_of_request(id, common.of(asked), asked);
    }

    ARecord() {
        asked.method = "tools/call";
        asked.server = "files";
        asked.tool = "read";
        asked.name = "mcp__files__read";
        asked.number = 3;
        asked.caller = &client;
        asked.decision = "allow";
        asked.level = "allow-always";
        asked.rule = "tools \"read\"";
        asked.place = "user config /c.toml:3:1";
        asked.digest = "abc";
        asked.arguments_bytes = 17;
    }
};

TEST_F(ARecord, SaysWhoAskedForWhatAndWhyItWasLetThrough) {
    const auto told = object(members("run-3"));
    EXPECT_EQ(told,
              json::parse(R"({"id":"run-3","caller":{"kind":"client","id":"7","name":"editor"},
        "method":"tools/call","server":"files","tool":"read","name":"mcp__files__read","digest":"abc",
        "decision":"allow","level":"allow-always","rule":"tools \"read\"","place":"user config /c.toml:3:1",
        "arguments_bytes":17})"));
}

TEST_F(ARecord, OfTheNextRequestSaysWhatThatOneIs) {
    const core::Principal another{core::Principal::Kind::Person, "7", "editor"};
    const std::pair<const char*, std::function<void()>> changes[] = {
        {"arguments_bytes", [&] { asked.arguments_bytes = 18; }},
        {"caller", [&] { asked.caller = &another; }},
        {"caller.id",
         [&] {
             client.id = "8";
             asked.caller = &client;
         }},
        {"caller.name", [&] { client.name = "edit"; }},
        {"method", [&] { asked.method = "prompts/get"; }},
        {"about", [&] { asked.about = "greet"; }},
        {"server", [&] { asked.server = "file"; }},
        {"tool", [&] { asked.tool = "sread"; }},  // with the server before it the same letters
        {"name", [&] { asked.name = "mcp__file__sread"; }},
        {"digest", [&] { asked.digest = "abd"; }},
        {"decision", [&] { asked.decision = "deny"; }},
        {"level", [&] { asked.level = ""; }},
        {"rule", [&] { asked.rule = ""; }},
        {"place", [&] { asked.place = ""; }},
        {"no caller", [&] { asked.caller = nullptr; }}};
    for (const auto& [what, change] : changes) {
        const auto before = members("r");
        EXPECT_EQ(members("r"), before) << what;
        change();
        EXPECT_NE(members("r"), before) << what;
        EXPECT_EQ(members("r"), members_of_request("r", CommonMembers().of(asked), asked)) << what;
    }
    const std::string name(5'000, 'x');
    asked.name = asked.tool = name;
    const std::string longest(common.of(asked));
    EXPECT_EQ(longest, std::string(common.of(asked)));
    EXPECT_LT(longest.size(), 3'000u);
}

TEST_F(ARecord, KeepsNothingOfOddArgumentsThatMayHideASecret) {
    for (const char* odd : {R"({"pass\u0077ord":"hunter2abcdef","z":1e999})",
                            R"({"pass\u0077ord":"hunter2abcdef","q":1,"q":2})",
                            R"({"run":["--token","hunter2abcdef"],"q":1,"q":2})"}) {
        asked.arguments = odd;
        EXPECT_THAT(members("r"), AllOf(HasSubstr("\"arguments\":\"(odd JSON, not kept)\""),
                                        Not(HasSubstr("hunter2"))));
    }
}

TEST_F(ARecord, HasTheParamsOfOtherRequestsAsAnObjectToo) {
    asked.arguments =
        R"("name":"greet","arguments":{"text":"two\nlines","run":["--token","hunter2ab"]})";
    EXPECT_EQ(object(members("r")).at("arguments"),
              json::parse(
                  R"({"name":"greet","arguments":{"text":"two\nlines","run":["--token","***"]}})"));
}

TEST_F(ARecord, MasksWhatBecameASecretSinceTheRecordBefore) {
    asked.tool = "read-sesame-open-99";
    ASSERT_THAT(members("r"), HasSubstr("sesame"));
    core::Secrets secrets;
    secrets.add("sesame-open-99");
    EXPECT_THAT(members("r"), Not(HasSubstr("sesame")));
    secrets = core::Secrets();
    EXPECT_THAT(members("r"), HasSubstr("sesame"));
}

TEST_F(ARecord, HasTheTimesApart) {
    ended.asked = asked;
    ended.outcome = "ok";
    ended.duration = 900us;
    ended.waited = 300us;
    ended.bytes_from_server = 42;
    EXPECT_EQ(object(members_of_outcome(ended)),
              json::parse(R"({"outcome":"ok","wait_us":300,"run_us":600,"result_bytes":42})"));
    ended.waited = {};
    ended.outcome = "denied";
    ended.trouble = "no rule";
    EXPECT_EQ(
        object(members_of_outcome(ended)),
        json::parse(R"({"outcome":"denied","wait_us":900,"result_bytes":42,"reason":"no rule"})"));
}

TEST_F(ARecord, KeepsWhatAServerSaysInItsErrorToItself) {
    ended.asked = asked;
    ended.outcome = "server_error";
    ended.trouble = "you asked for sesame";
    EXPECT_THAT(members_of_outcome(ended), Not(HasSubstr("sesame")));
}

TEST_F(ARecord, MasksSecretsWhereverTheyStand) {
    core::Secrets secrets;
    secrets.add("sesame-open-99");
    asked.arguments = R"({"path":"sesame-open-99","b":["x sesame-open-99"]})";
    asked.name = "mcp__files__sesame-open-99";
    client.name = "sesame-open-99";
    ended.asked = asked;
    ended.outcome = "denied";
    ended.trouble = "it is sesame-open-99";
    const auto text = members("r") + members_of_outcome(ended);
    EXPECT_THAT(text, Not(HasSubstr("sesame")));
    EXPECT_EQ(object(members("r")).at("arguments"), json::parse(R"({"path":"***","b":["x ***"]})"));
}

TEST_F(ARecord, MasksOfArgumentsWhatIsASecretByItsNameOrItsShape) {
    const auto recorded = [this](const std::string& arguments) {
        asked.arguments = arguments;
        return json::serialize(object(members("r")).at("arguments"));
    };
    EXPECT_EQ(
        recorded(R"({"a":1,"api_key":"plain","nested":{"password":"pw"},"token":123456789012})"),
        R"({"a":1,"api_key":"***","nested":{"password":"***"},"token":"***"})");
    EXPECT_THAT(recorded(R"({"h":"Authorization: Bearer aabbccddeeff0011"})"),
                Not(HasSubstr("aabbccddeeff0011")));
    EXPECT_THAT(recorded(R"({"run":["curl","--token","word-word-1"]})"),
                Not(HasSubstr("word-word")));
    // As written: a server may take the other one of two equal keys.
    EXPECT_THAT(recorded(R"({"a":"rm","a":"token=aabbccddeeff0011"})"),
                AllOf(HasSubstr("rm"), HasSubstr("token=***"), Not(HasSubstr("aabbcc"))));
    EXPECT_THAT(recorded("{\"a\":"), HasSubstr("a"));
    asked.arguments = "{\"zz\xc2\x9b\":\"\xe2\x80\xae\x7f\"}";
    const auto text = members("r");
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; }))
        << text;
}

TEST_F(ARecord, IsOneLineOfJsonWhateverItsTextsHold) {
    asked.tool = std::string_view("a\n\"\\\0\x1b[31m\xff\xe2\x80\xae", 14);
    asked.arguments = "{\n  \"a\": 1,\r\n \"b\": \"x\\ny\"}";
    const auto text = members("r");
    EXPECT_EQ(text.find('\n'), std::string::npos);
    const auto told = object(text);
    EXPECT_EQ(told.at("arguments"), json::parse(R"({"a":1,"b":"x\ny"})"));
    EXPECT_THAT(std::string(told.at("tool").as_string()), Not(HasSubstr("\x1b")));
}

TEST_F(ARecord, CutsWhatIsLong) {
    const std::string long_name(10'000, 'x');
    asked.name = long_name;
    const std::string arguments = "{\"a\":\"" + std::string(100'000, 'y') + "\"}";
    asked.arguments = arguments;
    const auto text = members("r");
    EXPECT_LT(text.size(), kMostArguments + 3 * kMostText);
    EXPECT_TRUE(object(text).at("arguments").is_string()) << "what was cut is no object any more";
}

TEST_F(ARecord, SaysOfAUriNeitherWhoMayReadItNorWhatStandsBehindItsPath) {
    const auto shown = [&](std::string_view about) {
        asked.about = about;
        return std::string(object(members("1")).at("about").as_string());
    };
    asked.method = "resources/read";
    EXPECT_EQ(shown("file:///a/b@c"), "file:///a/b@c");
    EXPECT_EQ(shown("file:///etc/C:x/shadow/@tmp"), "file:///etc/C:x/shadow/@tmp");
    EXPECT_EQ(shown("https://h:8443/@scope/x"), "https://h:8443/@scope/x");
    EXPECT_EQ(shown("https://h/x?access_token%3Dabc"), "https://h/x?...");
    EXPECT_EQ(shown("mem://a;password=hunter2"), "mem://a;...");
    EXPECT_EQ(shown("mem://a;b/c"), "mem://a;b/c");
    EXPECT_EQ(shown("https://h/x#code=1"), "https://h/x#...");
    for (const char* who : {"https://user:pass@", "https://user:pa/ss@", "//user@", "//user:pass@"})
        EXPECT_THAT(shown(std::string(who) + "h/x"),
                    AllOf(HasSubstr("//***@h/x"), Not(HasSubstr("user"))))
            << who;
    asked.method = "prompts/get";
    EXPECT_EQ(shown("drop:all@p?q;r=s"), "drop:all@p?q;r=s") << "a name, and no URI";
}

TEST(TheHeadOfARecord, HasTheTimeToAMillisecond) {
    const auto at = core::Calendar::time_point(1785229200123ms);
    EXPECT_EQ(head_of_record(at, "call"), R"("at":"2026-07-28T09:00:00.123Z","kind":"call")");
}

}  // namespace
}  // namespace patchbay::audit
