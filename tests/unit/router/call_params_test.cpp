// What a request is about, as the audit tells it and pins are asked for.
#include "router/call_params.hpp"

#include <gtest/gtest.h>

namespace patchbay::router {
namespace {

using Kind = Subject::Kind;

Subject subject(const std::string& method, const std::string& members) {
    ServerRequest request;
    request.method = method;
    request.params.members = members;
    return subject_of(request, 128);
}

void expect(const Subject& subject, Kind kind, const std::string& name) {
    EXPECT_EQ(subject.kind, kind) << name;
    EXPECT_EQ(subject.name, name);
}

TEST(TheSubjectOfARequest, IsThePromptTheResourceOrTheTemplate) {
    expect(subject("prompts/get", R"("arguments":{"uri":"no"},"name":"gre\u0065t")"), Kind::Prompt,
           "greet");
    for (const char* method : {"resources/read", "resources/subscribe", "resources/unsubscribe"})
        expect(subject(method, R"("name":"no","uri":"file:///a")"), Kind::Resource, "file:///a");
    const std::string argument = R"("argument":{"name":"no"},"ref":)";
    expect(
        subject("completion/complete", argument + R"({"type":"ref/prompt","n\u0061me":"greet"})"),
        Kind::Prompt, "greet");
    expect(subject("completion/complete", argument + R"({"type":"ref/resource","uri":"f:///{x}"})"),
           Kind::Template, "f:///{x}");
}

TEST(TheSubjectOfARequest, HasNoNameWhereThatIsNotSaid) {
    expect(subject("prompts/get", R"("name":7)"), Kind::Prompt, "");
    expect(subject("resources/read", ""), Kind::Resource, "");
    expect(subject("completion/complete", R"("ref":"greet")"), Kind::Resource, "");
}

TEST(TheSubjectOfARequest, IsNoneOfWhatCannotBeReadAndOfOtherRequests) {
    expect(subject("prompts/get", R"("name":)"), Kind::None, "");
    expect(subject("prompts/list", R"("name":"greet","uri":"file:///a")"), Kind::None, "");
    expect(subject("tools/call", R"("name":"echo")"), Kind::None, "");
}

// As readers of keys in any case of letters have them, of which two beyond ASCII fold to letters of it.
TEST(AMemberBesideThoseThatWereJudged, IsOddWhereAServerMayTakeItForOneOfThem) {
    for (const char* odd :
         {"Name", "NAME", "name", "Arguments", "argument\u017f", "_Meta", "_meta", "n\\u0041me"}) {
        Call call;
        call.members = "\"other\":1,\"" + std::string(odd) + "\":2";
        const auto why = odd_member(call);
        ASSERT_TRUE(why) << odd;
        EXPECT_EQ(why->code, ErrorCode::Invalid);
        EXPECT_NE(why->message.find("is no member of it"), std::string::npos) << why->message;
    }
    for (const char* fine : {"", "\"task\":{\"Name\":1}", "\"nam\u0435\":1,\"names\":2"}) {
        Call call;
        call.members = fine;
        EXPECT_FALSE(odd_member(call)) << fine;
    }
    for (const char* odd : {"Uri", "NAME", "Ref", "Argument", "ARGUMENTS", "_META"}) {
        ServerRequest request;
        request.method = "prompts/get";
        request.params.members = "\"name\":\"a\",\"" + std::string(odd) + "\":\"b\"";
        EXPECT_TRUE(odd_member(request)) << odd;
    }
    ServerRequest plain;
    plain.params.members = "\"name\":\"a\",\"arguments\":{\"Name\":1},\"cursor\":\"b\"";
    EXPECT_FALSE(odd_member(plain));
}

}  // namespace
}  // namespace patchbay::router
