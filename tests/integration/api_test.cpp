// What verbs print with --json and what a batch answers: one shape for each thing.
#include "integration/home.hpp"
#include "support/result_schema.hpp"

namespace patchbay::test {
namespace {

class Api : public ::testing::Test {
protected:
    // A server of each fate: ready, disabled, broken, not approved, not there.
    void SetUp() override {
        home.add_example("x");
        home.add_example("off", {}, {{"disabled", true}});
        home.add("bad", {{"command", "/bin/true"}, {"args", "no list"}});
        home.add("gone", {{"command", "/nonexistent/server"}});
        home.write(".mcp.json", R"({"mcpServers": {"mine": {"command": "/bin/true"}}})");
    }
    json::value verb(Words words) const {
        words.emplace_back("--json");
        return json::parse(home.run(std::move(words)).out);
    }
    json::value batch(const std::string& op, const std::string& more = {}) const {
        const auto line = R"({"id":1,"op":")" + op + "\"" + more + "}\n";
        const json::value answer = Lines(home.run({"batch"}, line).out).answer(1);
        return answer.at_pointer("/result");
    }

    Home home;
};

TEST_F(Api, AStatusLooksTheSameWhereverItIsSeen) {
    const auto list = verb({"mcp", "list"});
    EXPECT_EQ(list.as_array().size(), 5u);
    EXPECT_TRUE(are_all("status", list));
    const auto answered = batch("status");
    EXPECT_TRUE(is_a("statuses", answered));
    EXPECT_EQ(answered.at("servers"), list);
    for (std::size_t i = 0; i < 5; ++i) {
        const auto& listed = list.at(i);
        const auto one = verb({"mcp", "status", json::value_to<std::string>(listed.at("id"))});
        EXPECT_TRUE(is_a("status", one));
        EXPECT_EQ(one.at("source"), listed.at("source"));
    }
    EXPECT_TRUE(are_all("status", verb({"mcp", "status"})));
}

// The verb has asked, and the batch tells what is known since then.
json::value without_age(json::value items) {
    for (auto& item : items.as_array())
        for (const auto* key : {"kept", "listed_at"}) item.as_object().erase(key);
    return items;
}

TEST_F(Api, ListsHaveOneShapeForVerbsAndABatch) {
    struct Case {
        Words verb;
        std::string op, member, item, list;
    };
    const Case cases[] = {
        {{"tools"}, "tools/list", "tools", "tool", "tools"},
        {{"tools", "--schema"}, "tools/list", "tools", "tool", "tools"},
        {{"resources", "list"}, "resources/list", "resources", "thing", "resources"},
        {{"resources", "templates"},
         "resources/templates/list",
         "resourceTemplates",
         "thing",
         "resource_templates"},
        {{"prompts", "list"}, "prompts/list", "prompts", "thing", "prompts"}};
    for (const auto& c : cases) {
        SCOPED_TRACE(c.op);
        const auto listed = verb(c.verb);
        EXPECT_TRUE(are_all(c.item, listed));
        EXPECT_FALSE(listed.as_array().empty());
        for (const std::string server : {"", R"(,"server":"x")"}) {
            const auto answered = batch(c.op, server);
            EXPECT_TRUE(is_a(c.list, answered));
            EXPECT_EQ(answered.as_object().contains("errors"), server.empty()) << "of gone";
            const auto& items = answered.at(c.member).as_array();
            ASSERT_EQ(items.size(), listed.as_array().size());
            for (std::size_t i = 0; i < items.size(); ++i) {
                EXPECT_EQ(items[i].at("server"), listed.at(i).at("server"));
                EXPECT_EQ(items[i].at("name"), listed.at(i).at("name")) << "in the same order";
            }
            if (c.item == "thing") {
                EXPECT_EQ(without_age(answered.at(c.member)), without_age(listed));
            }
        }
    }
}

TEST_F(Api, AnErrorHasOneShapeForVerbsAndABatch) {
    struct Case {
        Words verb;
        std::string line;
    };
    const Case cases[] = {
        {{"call", "mcp__gone__echo"}, R"({"id":1,"op":"tools/call","name":"mcp__gone__echo"})"},
        {{"call", "mcp__off__echo"}, R"({"id":1,"op":"tools/call","name":"mcp__off__echo"})"},
        {{"resources", "read", "example://no", "--server", "x"},
         R"({"id":1,"op":"resources/read","server":"x","uri":"example://no"})"},
        {{"tools", "--server", "mine"}, R"({"id":1,"op":"tools/list","server":"mine"})"}};
    for (const auto& c : cases) {
        const auto told = verb(c.verb);
        EXPECT_TRUE(is_a("failure", told));
        const json::value answer = Lines(home.run({"batch"}, c.line).out).answer(1);
        EXPECT_TRUE(is_a("batch_answer", answer));
        EXPECT_EQ(answer.at("error"), told.at("error")) << c.line;
    }
    const auto refused = Lines(home.run({"batch"}, "{\"id\":1,\"op\":\"no\"}").out).answer(1);
    EXPECT_TRUE(is_a("batch_answer", refused));
}

TEST_F(Api, AServerThatRulesForbidIsNoErrorOfAListOfAll) {
    home.add_example("y");
    const Words denied{"--set", "permissions.deny=[\"mcp__y__*\"]", "--set",
                       "servers.gone.enabled=false"};
    for (const auto& [words, op] :
         {std::pair(Words{"resources", "list", "--json"}, "resources/list"),
          std::pair(Words{"prompts", "list", "--json"}, "prompts/list")}) {
        Words verb = denied, lines = denied;
        verb.insert(verb.end(), words.begin(), words.end());
        lines.emplace_back("batch");
        EXPECT_EQ(home.run(verb).exit_code, 0);
        const auto done = home.run(lines, R"({"id":1,"op":")" + std::string(op) + "\"}\n");
        EXPECT_EQ(done.exit_code, 0) << done.out;
        EXPECT_EQ(done.out.find("errors"), std::string::npos);
    }
}

TEST_F(Api, WhatOnlyVerbsTellHasItsShapeToo) {
    const std::pair<Words, const char*> cases[] = {
        {{"config", "check"}, "diagnostic"},
        {{"config", "paths"}, "config_path"},
        {{"trust"}, "proposal"},
        {{"trust", "mine", "--yes"}, "proposal"},
        {{"trust", "mine"}, "trust_change"},
        {{"trust", "--revoke", "mine"}, "trust_change"},
        {{"policy", "set", "mcp__x__echo", "require-approval"}, "policy_change"},
        {{"policy", "list"}, "policy_tool"},
        {{"policy", "reset", "mcp__x__echo"}, "policy_change"},
        {{"plugin", "list"}, "plugin"},
        {{"plugin", "doctor", "--load"}, "plugin_finding"}};
    for (const auto& [words, shape] : cases) {
        const auto told = verb(words);
        EXPECT_TRUE(are_all(shape, told)) << words.front();
        EXPECT_FALSE(told.as_array().empty()) << words.front();
    }
    EXPECT_TRUE(is_a("plugin", verb({"plugin", "info", "stdio"})));
    EXPECT_TRUE(is_a("signed_out", verb({"mcp", "logout", "x"})));
    EXPECT_TRUE(is_a("token", verb({"token", "add", "laptop", "--expires", "1d", "--servers", "x",
                                    "--tools", "mcp__x__*"})));
    EXPECT_TRUE(are_all("token", verb({"token", "list"})));
    EXPECT_TRUE(is_a("token_removed", verb({"token", "rm", "laptop"})));
}

}  // namespace
}  // namespace patchbay::test
