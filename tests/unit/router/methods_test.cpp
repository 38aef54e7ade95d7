// What a request is about, as the audit tells it.
#include "router/methods.hpp"

#include <gtest/gtest.h>

namespace patchbay::router {
namespace {

TEST(TheSubjectOfARequest, IsThePromptOrTheResource) {
    EXPECT_EQ(subject_of("prompts/get", R"("arguments":{"uri":"no"},"name":"gre\u0065t")"),
              "greet");
    for (const char* method : {"resources/read", "resources/subscribe", "resources/unsubscribe"})
        EXPECT_EQ(subject_of(method, R"("name":"no","uri":"file:///a")"), "file:///a") << method;
    EXPECT_EQ(subject_of("completion/complete",
                         R"("argument":{"name":"no"},"ref":{"type":"ref/prompt","name":"greet"})"),
              "greet");
    EXPECT_EQ(
        subject_of("completion/complete", R"("ref":{"type":"ref/resource","uri":"file:///{x}"})"),
        "file:///{x}");
}

TEST(TheSubjectOfARequest, IsNoneWhereThatIsNotSaid) {
    EXPECT_EQ(subject_of("prompts/get", R"("name":7)"), "");
    EXPECT_EQ(subject_of("resources/read", ""), "");
    EXPECT_EQ(subject_of("completion/complete", R"("ref":"greet")"), "");
    EXPECT_EQ(subject_of("prompts/list", R"("name":"greet","uri":"file:///a")"), "");
    EXPECT_EQ(subject_of("tools/call", R"("name":"echo")"), "") << "which is told otherwise";
}

}  // namespace
}  // namespace patchbay::router
