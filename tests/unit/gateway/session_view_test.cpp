// What a client is not shown is not there for it, whatever way it asks.
#include "session_fixture.hpp"

namespace patchbay::gateway {
namespace {

using ::testing::AllOf;

class SessionViewTest : public SessionTest {
protected:
    SessionViewTest() {
        for (const char* id : {"git", "github"}) {
            const std::string uri = std::string(id) + ":1";
            offer(id, "resources/list", {{"resources", {{{"uri", uri}, {"name", "n"}}}}});
            offer(id, "resources/templates/list",
                  {{"resourceTemplates",
                    {{{"uriTemplate", std::string(id) + ":{x}"}, {"name", "n"}}}}});
            offer(id, "resources/read", {{"contents", json::array()}});
            offer(id, "prompts/list", {{"prompts", {{{"name", "p"}}}}});
            offer(id, "prompts/get", {{"messages", json::array()}});
        }
    }
    void show(View::Ids servers) { view.picked = std::move(servers); }
    std::string text(const json::object& answer) { return json::serialize(answer); }
    void expect_unasked(const std::string& id) {
        EXPECT_THAT(servers.at(id).bodies, IsEmpty()) << "it was not even greeted";
    }
};

TEST_F(SessionViewTest, WhatIsNotInItIsNeitherListedNorStarted) {
    show({"git"});
    greet();
    int id = 1;
    for (const char* method :
         {"tools/list", "prompts/list", "resources/list", "resources/templates/list"}) {
        const auto list = text(ask(++id, method));
        EXPECT_THAT(list, AllOf(HasSubstr("git"), Not(HasSubstr("github")))) << method;
    }
    ask(10, "logging/setLevel", {{"level", "error"}});
    expect_unasked("github");
}

TEST_F(SessionViewTest, WhatIsNotInItIsNeitherCalledNorReadNorNamed) {
    show({"git"});
    greet();
    ask(2, "tools/list");
    const auto refused = [&](int id, const char* method, json::object params) {
        const auto answer = ask(id, method, std::move(params));
        EXPECT_TRUE(answer.contains("error")) << answer;
        const auto told = std::string(at(answer, "/error/message").as_string());
        return told.substr(0, told.find("; did you mean"));
    };
    EXPECT_THAT(refused(3, "tools/call", {{"name", "mcp__github__log"}}), HasSubstr("no tool"));
    refused(4, "prompts/get", {{"name", "mcp__github__p"}});
    refused(5, "resources/read", {{"uri", "github:1"}});
    refused(6, "resources/read", {{"uri", "patchbay+github:github:1"}});
    refused(7, "resources/subscribe", {{"uri", "patchbay+github:github:1"}});
    refused(8, "completion/complete",
            {{"ref", {{"type", "ref/prompt"}, {"name", "mcp__github__p"}}}});
    refused(9, "completion/complete",
            {{"ref", {{"type", "ref/resource"}, {"uri", "patchbay+github:github:{x}"}}}});
    // What is there and what is not are told in the same words.
    const auto there = refused(10, "tools/call", {{"name", "mcp__github__log"}});
    auto nowhere = refused(11, "tools/call", {{"name", "mcp__nowhere__log"}});
    nowhere.replace(nowhere.find("nowhere"), 7, "github");
    EXPECT_EQ(there, nowhere);
    EXPECT_THAT(text(ask(12, "tools/call", {{"name", "mcp__git__lag"}})),
                HasSubstr("mcp__git__log"));
    expect_unasked("github");
    EXPECT_TRUE(ask(13, "resources/read", {{"uri", "git:1"}}).contains("result"));
    EXPECT_TRUE(ask(14, "tools/call", kCall).contains("result"));
}

TEST_F(SessionViewTest, PatternsNarrowToolsAndWhatElseTheServerHasGoesByItsBareName) {
    offer("git", "tools/list", {{"tools", {test::tool_named("log"), test::tool_named("push")}}});
    view.tools = {{"mcp__git__log"}};
    greet();
    const auto tools = text(ask(2, "tools/list"));
    EXPECT_THAT(tools, AllOf(HasSubstr("mcp__git__log"), Not(HasSubstr("mcp__git__push"))));
    EXPECT_TRUE(ask(3, "tools/call", {{"name", "mcp__git__push"}}).contains("error"));
    EXPECT_TRUE(ask(4, "tools/call", kCall).contains("result"));
    EXPECT_THAT(text(ask(5, "resources/list")), Not(HasSubstr("git:1")));
    EXPECT_TRUE(ask(6, "resources/read", {{"uri", "patchbay+git:git:1"}}).contains("error"));
    EXPECT_THAT(text(ask(7, "prompts/list")), Not(HasSubstr("mcp__git__p")));
    EXPECT_THAT(servers.at("git").requests("resources/read"), IsEmpty());
    expect_unasked("github");
}

TEST_F(SessionViewTest, AChangeOfAServerOutsideOfItIsNotTold) {
    show({"git"});
    greet();
    ask(2, "tools/list");
    const auto publish = [&](const char* id) {
        auto listing = std::make_shared<catalogue::Listing>();
        catalogue->publish(id, listing);
        loop.pass(ClientEvents::kPause + 50ms);
    };
    publish("github");
    EXPECT_THAT(told("notifications/tools/list_changed"), IsEmpty());
    publish("git");
    EXPECT_EQ(told("notifications/tools/list_changed").size(), 1u);
}

TEST_F(SessionViewTest, AnAgentIsToldWhatItIsAndOfItsServersAlone) {
    show({"git"});
    view.about = "You review.\x1b[31m";
    ask(1, "initialize", {{"protocolVersion", "2025-11-25"}});
    const auto told = std::string(at(sent.at(0), "/result/instructions").as_string());
    EXPECT_THAT(told, AllOf(HasSubstr("You review."), Not(HasSubstr("\x1b"))));
}

}  // namespace
}  // namespace patchbay::gateway
