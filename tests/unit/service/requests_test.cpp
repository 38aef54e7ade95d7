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
              "prompt \"greet\": unknown argument \"styl\"; did you mean \"style\"? Known: who, "
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

TEST(AnswerTo, ARequestHasItsListOrIsAnError) {
    struct Case {
        const char *method, *good, *path;
    };
    const Case cases[] = {
        {"prompts/get", R"({"messages":[1]})", "messages"},
        {"resources/read", R"({"contents":[1]})", "contents"},
        {"completion/complete", R"({"completion":{"values":[1]}})", "completion.values"}};
    for (const auto& [method, good, path] : cases) {
        SCOPED_TRACE(method);
        const auto result = json::parse(good).as_object();
        const auto found = listed_in(result, "s", method);
        ASSERT_TRUE(found) << found.error().message;
        EXPECT_EQ(**found, json::array{1});
        for (const char* bad :
             {"{}", R"({"messages":"x","contents":"x","completion":{"values":"x"}})",
              R"({"messages":{},"contents":null,"completion":[]})"}) {
            const auto odd = json::parse(bad).as_object();
            const auto wrong = listed_in(odd, "s", method);
            ASSERT_FALSE(wrong) << bad;
            EXPECT_EQ(wrong.error().code, ErrorCode::Protocol);
            EXPECT_EQ(wrong.error().message, "server \"s\": answered " + std::string(method) +
                                                 " with a result whose \"" + path +
                                                 "\" is no array");
        }
    }
}

TEST(AnswerTo, ARequestMayHoldWhatIsLeftOut) {
    const json::array items{json::object(), 5, "x", json::object()};
    EXPECT_EQ(left_out_of(items, "s", "prompts/get"),
              "server \"s\": prompts/get: left out 2 items that are no object");
    EXPECT_EQ(left_out_of({"a", 5}, "s", "completion/complete", json::kind::string),
              "server \"s\": completion/complete: left out 1 item that is no string");
    EXPECT_EQ(left_out_of({json::object()}, "s", "prompts/get"), "");
}

}  // namespace
}  // namespace patchbay::service
