// What a request is about, as the audit tells it and pins are asked for.
#include "router/call_params.hpp"

#include <gtest/gtest.h>

namespace patchbay::router {
namespace {

// "prompt greet"
std::string subject(const std::string& method, const std::string& members) {
    using Kind = Subject::Kind;
    ServerRequest request;
    request.method = method;
    request.params.members = members;
    const auto [kind, name] = subject_of(request, 128);
    return (kind == Kind::Prompt     ? "prompt "
            : kind == Kind::Resource ? "resource "
            : kind == Kind::Template ? "template "
                                     : "none") +
           name;
}

TEST(TheSubjectOfARequest, IsThePromptTheResourceOrTheTemplate) {
    EXPECT_EQ(subject("prompts/get", R"("arguments":{"uri":"no"},"name":"gre\u0065t")"),
              "prompt greet");
    for (const char* method : {"resources/read", "resources/subscribe", "resources/unsubscribe"})
        EXPECT_EQ(subject(method, R"("name":"no","uri":"file:///a")"), "resource file:///a");
    const std::string argument = R"("argument":{"name":"no"},"ref":)";
    EXPECT_EQ(
        subject("completion/complete", argument + R"({"type":"ref/prompt","n\u0061me":"greet"})"),
        "prompt greet");
    EXPECT_EQ(
        subject("completion/complete", argument + R"({"type":"ref/resource","uri":"f:///{x}"})"),
        "template f:///{x}");
}

TEST(TheSubjectOfARequest, HasNoNameWhereThatIsNotSaid) {
    EXPECT_EQ(subject("prompts/get", R"("name":7)"), "prompt ");
    EXPECT_EQ(subject("resources/read", ""), "resource ");
    EXPECT_EQ(subject("completion/complete", R"("ref":"greet")"), "resource ");
}

TEST(TheSubjectOfARequest, IsNoneOfWhatCannotBeReadAndOfOtherRequests) {
    EXPECT_EQ(subject("prompts/get", R"("name":)"), "none");
    EXPECT_EQ(subject("prompts/list", R"("name":"greet","uri":"file:///a")"), "none");
    EXPECT_EQ(subject("tools/call", R"("name":"echo")"), "none");
}

}  // namespace
}  // namespace patchbay::router
