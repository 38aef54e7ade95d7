#include "gateway/answers.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace patchbay::gateway {
namespace {

namespace json = boost::json;
using protocol::Era;

std::string result_of(Era era, const char* method, const std::string& raw) {
    const auto text = result_for(era, method, raw).text();
    return text.substr(text.find(':') + 1);
}

std::string error_of(Era era, const std::string& raw) {
    const auto outcome = error_for(era, raw);
    const auto text = outcome.text();
    EXPECT_EQ(json::parse("{" + text + "}").at_pointer("/error/code"), *outcome.error);
    return text.substr(text.find(':') + 1);
}

TEST(Answers, ALegacyClientGetsAResultAsItCame) {
    const std::string odd = R"({ "n":1E400 ,"content":[]})";
    EXPECT_EQ(result_of(Era::Legacy, "tools/call", odd), odd);
}

TEST(Answers, AModernClientGetsWhatItsEraAsksForBesideTheSameBytes) {
    EXPECT_EQ(result_of(Era::Modern, "tools/call", R"({"n":1E400})"),
              R"({"resultType":"complete","n":1E400})");
    EXPECT_EQ(result_of(Era::Modern, "tools/call", "{}"), R"({"resultType":"complete"})");
    EXPECT_EQ(result_of(Era::Modern, "resources/read", R"({"contents":[]})"),
              R"({"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[]})");
}

TEST(Answers, WhatAServerSaysOfItselfStays) {
    const std::string whole = R"({"resultType":"complete","ttlMs":5,"cacheScope":"public"})";
    EXPECT_EQ(result_of(Era::Modern, "tools/list", whole), whole);
    const std::string other = R"({"resultType":"other"})";
    EXPECT_EQ(result_of(Era::Modern, "tools/list", other), other) << "nobody keeps that one";
}

constexpr const char* kWho = R"("io.modelcontextprotocol/serverInfo":{"name":"us"})";

std::string identified(const std::string& raw, const char* method = "tools/call") {
    const auto text = result_for(Era::Modern, method, raw, kWho).text();
    return text.substr(text.find(':') + 1);
}

TEST(Answers, EachResultOfTheModernEraSaysWhoAnswers) {
    const std::string who = kWho;
    EXPECT_EQ(identified(R"({"n":1E400})"),
              R"({"resultType":"complete","_meta":{)" + who + R"(},"n":1E400})");
    EXPECT_EQ(identified(R"({"resultType":"complete","_meta": {"a":1E400} ,"n":1})"),
              R"({"resultType":"complete","_meta": {)" + who + R"(,"a":1E400} ,"n":1})");
    EXPECT_EQ(identified(R"({"n":[],"_meta":{}})"),
              R"({"resultType":"complete","n":[],"_meta":{)" + who + "}}");
    EXPECT_EQ(result_for(Era::Legacy, "tools/call", "{}", kWho).text(), "\"result\":{}");
}

TEST(Answers, WhoAServerSaysThatItIsStays) {
    const std::string other =
        R"({"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"it"}}})";
    EXPECT_EQ(identified(other), other);
    const std::string odd = R"({"resultType":"complete","_meta":7})";
    EXPECT_EQ(identified(odd), odd);
    const std::string twice = R"({"resultType":"complete","_meta":{},"_meta":{}})";
    EXPECT_EQ(identified(twice), twice);
}

TEST(Answers, WhatIsLackingIsNamed) {
    const auto told = json::parse(
        "{" + refusal_without(R"({"elicitation":{}})", {ErrorCode::Denied, "why"}).text() + "}");
    EXPECT_EQ(told.at_pointer("/error/code"), -32021);
    EXPECT_EQ(told.at_pointer("/error/message"), "why");
    EXPECT_TRUE(told.at_pointer("/error/data/requiredCapabilities/elicitation").is_object());
}

TEST(Answers, ACodeThatAnEraDoesNotKnowBecomesTheOneThatStandsForIt) {
    const std::string gone = R"({"code":-32002,"message":"gone","data":{"uri":"a:b"}})";
    EXPECT_EQ(error_of(Era::Legacy, gone), gone);
    const auto modern = json::parse(error_of(Era::Modern, gone));
    EXPECT_EQ(modern.at("code"), -32602);
    EXPECT_EQ(modern.at("message"), "gone");
    EXPECT_EQ(modern.at_pointer("/data/uri"), "a:b");
    const std::string url = R"({"code":-32042,"message":"sign in"})";
    EXPECT_EQ(json::parse(error_of(Era::Modern, url)).at("code"), -32603);
    EXPECT_EQ(error_of(Era::Legacy, url), url);
    const std::string own = R"({"code":-5,"message":"mine"})";
    EXPECT_EQ(error_of(Era::Modern, own), own);
}

TEST(Answers, WhatAModelCanDoSomethingAboutIsTheResultOfItsCall) {
    const auto said = [](Era era, const char* method, ErrorCode code) {
        return json::parse("{" + refusal(era, method, {code, "why"}).text() + "}");
    };
    for (const auto code : {ErrorCode::Denied, ErrorCode::Unavailable, ErrorCode::Timeout}) {
        const auto told = said(Era::Legacy, "tools/call", code);
        EXPECT_EQ(told.at_pointer("/result/isError"), true);
        EXPECT_EQ(told.at_pointer("/result/content/0/text"), "why");
        EXPECT_EQ(said(Era::Legacy, "prompts/get", code).at_pointer("/error/code"), -32603);
    }
    for (const auto code : {ErrorCode::NotFound, ErrorCode::Invalid})
        EXPECT_EQ(said(Era::Modern, "tools/call", code).at_pointer("/error/code"), -32602);
    EXPECT_EQ(said(Era::Legacy, "resources/read", ErrorCode::NotFound).at_pointer("/error/code"),
              -32002);
    EXPECT_EQ(said(Era::Modern, "resources/read", ErrorCode::NotFound).at_pointer("/error/code"),
              -32602);
    EXPECT_EQ(said(Era::Modern, "prompts/get", ErrorCode::Unsupported).at_pointer("/error/code"),
              -32601);
}

}  // namespace
}  // namespace patchbay::gateway
