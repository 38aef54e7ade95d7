#include "service/requests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::service {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

const json::object kPrompt{
    {"name", "greet"}, {"arguments", {{{"name", "who"}, {"required", true}}, {{"name", "style"}}}}};

TEST(RequestOf, AResourceNamesIt) {
    const auto request = read_resource("s", "a:\"1\"");
    EXPECT_EQ(request.server, "s");
    EXPECT_EQ(request.method, "resources/read");
    EXPECT_EQ(request.params.members, R"("uri":"a:\"1\"")");
}

TEST(RequestOf, APromptTakesWhatItDeclares) {
    const NamedThing prompt{"s", kPrompt};
    const auto request = get_prompt(prompt, "greet", {{"who", "Ada"}});
    ASSERT_TRUE(request) << request.error().message;
    EXPECT_EQ(request->method, "prompts/get");
    EXPECT_EQ(request->params.members, R"("name":"greet","arguments":{"who":"Ada"})");
    EXPECT_EQ(get_prompt(prompt, "greet", {{"who", "Ada"}, {"styl", "x"}}).error().message,
              "prompt \"greet\": unknown argument \"styl\"; did you mean \"style\"?; known: who, "
              "style");
    EXPECT_EQ(get_prompt(prompt, "greet", {}).error().message,
              "prompt \"greet\": required and not given: \"who\"");
}

TEST(RequestOf, APromptThatIsNotListedTakesAnything) {
    EXPECT_TRUE(get_prompt({"s", {}}, "hidden", {{"any", "thing"}}));
}

TEST(RequestOf, ACompletionOfAPromptNamesTheArgument) {
    Completion completion{Kind::Prompts, "greet", "who", "A", {{"style", "short"}}};
    const auto request = complete({"s", kPrompt}, completion);
    ASSERT_TRUE(request) << request.error().message;
    EXPECT_EQ(request->method, "completion/complete");
    EXPECT_EQ(request->params.members, R"("ref":{"type":"ref/prompt","name":"greet"},)"
                                       R"("argument":{"name":"who","value":"A"},)"
                                       R"("context":{"arguments":{"style":"short"}})");
    completion.argument = "whom";
    EXPECT_THAT(complete({"s", kPrompt}, completion).error().message,
                HasSubstr("unknown argument \"whom\""));
}

TEST(RequestOf, ACompletionOfATemplateTakesItsVariables) {
    const NamedThing repo{"s", json::object{{"uriTemplate", "repo://{owner}"}}};
    Completion completion{Kind::Templates, "repo://{owner}", "owner", "m", {}};
    const auto request = complete(repo, completion);
    ASSERT_TRUE(request) << request.error().message;
    EXPECT_THAT(request->params.members,
                HasSubstr(R"("ref":{"type":"ref/resource","uri":"repo://{owner}"})"));
    completion.argument = "name";
    EXPECT_EQ(complete(repo, completion).error().message,
              "template \"repo://{owner}\": unknown argument \"name\"; known: owner");
}

}  // namespace
}  // namespace patchbay::service
