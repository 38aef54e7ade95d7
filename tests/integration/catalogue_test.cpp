// What servers listed before is shown and called without starting more than it takes.
#include "integration/host_guest.hpp"
#include "integration/listing_server.hpp"
#include "support/result_schema.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace patchbay::test {
namespace {

namespace fs = std::filesystem;

class Catalogue : public ::testing::Test {
protected:
    Catalogue() { home.environment["PATCHBAY_ALONE"] = "1"; }
    ~Catalogue() override { EXPECT_EQ(nothing_left(), ""); }

    static std::string tool(const std::string& name, const std::string& property = "x") {
        return R"({"name":")" + name + R"(","inputSchema":{"type":"object","properties":{")" +
               property + R"(":{"type":"string"}}}})";
    }
    void lists(const std::string& id, const std::string& tools) {
        home.write(id + ".tools", "[" + tools + "]");
    }
    void has_prompt(const std::string& id, const std::string& name) {
        home.write(id + ".tools.prompts", R"({"prompts":[{"name":")" + name + R"("}]})");
    }
    void add(const std::string& id, json::object more = {},
             const char* capabilities = R"({"tools":{},"prompts":{},"resources":{}})") {
        lists(id, tool(id + "_tool"));
        has_prompt(id, "p");
        json::object server{
            {"command", "/bin/sh"},
            {"args",
             {home.write("server.sh", kListingServer), (home.work() / (id + ".started")).string(),
              (home.work() / (id + ".tools")).string(), capabilities}}};
        for (const auto& each : more) server[each.key()] = each.value();
        home.add(id, server);
    }
    int starts(const std::string& id) const {
        const auto text = read_file(home.work() / (id + ".started"));
        return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    }
    fs::path folder() const { return home.root() / "state/patchbay/catalogue"; }
    std::vector<fs::path> files() const {
        std::vector<fs::path> found;
        std::error_code none;
        for (const auto& each : fs::directory_iterator(folder(), none)) found.push_back(each);
        return found;
    }
    Home home;
};

TEST_F(Catalogue, ToolsAreShownAgainWithoutStartingAnybody) {
    add("a");
    add("b");
    const auto first = home.run({"tools"});
    EXPECT_EQ(first.exit_code, 0) << first.err;
    EXPECT_THAT(first.out, AllOf(HasSubstr("mcp__a__a_tool"), HasSubstr("mcp__b__b_tool")));
    const auto second = home.run({"tools"});
    EXPECT_EQ(second.out, first.out);
    EXPECT_EQ(second.err, "");
    EXPECT_EQ(starts("a") + starts("b"), 2) << "once each, by the first";
    EXPECT_THAT(home.run({"tools", "-v"}).err,
                AllOf(HasSubstr("as listed before, and not asked now: a (20"),
                      HasSubstr("--refresh asks the servers")));
    const auto listed = json::parse(home.run({"tools", "--json"}).out);
    for (const auto& each : listed.as_array()) {
        EXPECT_TRUE(is_a("tool", each.as_object()));
        EXPECT_TRUE(each.at("kept").as_bool());
        EXPECT_THAT(std::string(each.at("listed_at").as_string()), StartsWith("20"));
    }
    EXPECT_THAT(home.run({"tools", "mcp__a__a_tool"}).out, HasSubstr("x"));
    EXPECT_EQ(home.run({"tools", "nothing"}).exit_code, 6);
    EXPECT_EQ(starts("a") + starts("b"), 2);
    const auto refreshed = home.run({"tools", "--refresh", "--json", "--server", "a"});
    EXPECT_THAT(refreshed.out, HasSubstr("\"kept\":false"));
    EXPECT_EQ(starts("a"), 2);
    EXPECT_EQ(starts("b"), 1) << "it was not asked for";
}

TEST_F(Catalogue, ABatchListsWhatIsKnownAndAsksWhereItSaysSo) {
    add("a");
    add("b");
    const auto list = [&](const std::string& op, const std::string& more = "") {
        const auto done =
            home.run({"batch"}, "{\"id\":1,\"op\":\"" + op + "/list\"" + more + "}\n");
        EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
        const auto answer = json::parse(done.out).as_object().at("result").as_object();
        EXPECT_TRUE(is_a(op.c_str(), answer));
        return answer.at(op).as_array();
    };
    const auto kept = [](const json::array& items) {
        std::string all;
        for (const auto& item : items)
            all += item.at("server").as_string().subview(0, 1) == "a" ? "a" : "b",
                all += item.at("kept").as_bool() ? " is kept; " : " was asked; ";
        return all;
    };
    EXPECT_EQ(kept(list("tools")), "a was asked; b was asked; ");
    EXPECT_EQ(kept(list("tools")), "a is kept; b is kept; ");
    EXPECT_EQ(starts("a") + starts("b"), 2) << "once each, by the first";
    EXPECT_EQ(kept(list("prompts")), "a was asked; b was asked; ") << "nobody knew them";
    EXPECT_EQ(kept(list("prompts")), "a is kept; b is kept; ");
    EXPECT_EQ(starts("a") + starts("b"), 4);
    lists("a", tool("new"));
    const auto fresh = list("tools", R"(,"server":"a","refresh":true)");
    EXPECT_EQ(kept(fresh), "a was asked; ");
    EXPECT_EQ(fresh.at(0).at("tool").as_string(), "new");
    EXPECT_EQ(kept(list("prompts", R"(,"refresh":true)")), "a was asked; b was asked; ");
    EXPECT_EQ(starts("a"), 4);
    EXPECT_EQ(starts("b"), 3);
}

TEST_F(Catalogue, OnlyWhoIsNotKnownIsStarted) {
    add("a");
    home.run({"tools"});
    add("b");
    EXPECT_THAT(home.run({"tools"}).out,
                AllOf(HasSubstr("mcp__a__a_tool"), HasSubstr("mcp__b__b_tool")));
    EXPECT_EQ(starts("a"), 1);
    EXPECT_EQ(starts("b"), 1);
    add("a", {{"env", {{"X", "1"}}}});
    home.run({"tools"});
    EXPECT_EQ(starts("a"), 2) << "it is defined otherwise";
    EXPECT_EQ(starts("b"), 1);
}

TEST_F(Catalogue, ACallStartsTheServerOfItsToolAlone) {
    add("a");
    add("b");
    home.run({"tools"});
    const auto done = home.run({"call", "mcp__b__b_tool", "x=1"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("done"));
    EXPECT_EQ(starts("b"), 2);
    EXPECT_EQ(starts("a"), 1);
}

TEST_F(Catalogue, ACallSaysWhyItsServerDoesNotComeUpWhetherItsToolsAreKnownOrNot) {
    add("a", {{"startup_timeout_sec", 1}});
    EXPECT_EQ(home.run({"tools"}).exit_code, 0);
    home.write("server.sh", "trap '' TERM\nsleep 1000 & wait; wait\n");
    const auto known = home.run({"call", "mcp__a__a_tool"});
    fs::remove_all(folder());
    const auto unknown = home.run({"call", "mcp__a__a_tool"});
    EXPECT_EQ(known.exit_code, 5);
    EXPECT_EQ(known.err, unknown.err);
}

TEST_F(Catalogue, WhatAServerReallyListsCounts) {
    add("a");
    home.run({"tools"});
    lists("a", tool("a_tool", "y") + "," + tool("new"));
    const auto wrong = home.run({"call", "mcp__a__a_tool", "x=1"});
    EXPECT_THAT(wrong.err, HasSubstr("warning: server \"a\" lists other tools than at 20"));
    EXPECT_THAT(wrong.err,
                HasSubstr("1 added (new), 1 changed (a_tool: inputSchema); first a_tool: "
                          "/inputSchema/properties/x is gone, was {\"type\":"));
    EXPECT_THAT(wrong.err, HasSubstr("note: mcp__a__a_tool: ")) << "x is not declared any more";
    EXPECT_EQ(home.run({"call", "mcp__a__a_tool", "y=1"}).err, "") << "it was told once";
    EXPECT_THAT(home.run({"tools"}).out, HasSubstr("mcp__a__new"));
    lists("a", tool("other"));
    const auto status = home.run({"mcp", "status", "a", "--json"});
    const auto told = json::parse(status.out);
    const auto& object = told.is_array() ? told.as_array().at(0).as_object() : told.as_object();
    EXPECT_TRUE(is_a("status", object)) << status.out;
    ASSERT_TRUE(object.contains("drifts")) << status.out;
    const auto& drift = object.at("drifts").as_array().at(0);
    EXPECT_EQ(drift.at("added"), json::array{"other"});
    EXPECT_EQ(drift.at("removed"), (json::array{"a_tool", "new"}));
}

TEST_F(Catalogue, WhoHearsOfNoWarningsFindsInTheLogOfAServerThatItListsOtherTools) {
    add("a");
    home.run({"tools"});
    lists("a", tool("other"));
    EXPECT_EQ(home.run({"-q", "tools", "--refresh"}).err, "");
    EXPECT_EQ(home.run({"tools", "--refresh"}).err, "") << "it was told, and is so no more";
    EXPECT_THAT(home.run({"mcp", "logs", "a"}).out,
                AllOf(HasSubstr(" host   lists other tools than at 20"),
                      HasSubstr(": 1 added (other), 1 removed (a_tool)\n")));
}

TEST_F(Catalogue, PromptsAreShownAgainWithoutStartingAnybody) {
    add("a");
    add("b");
    has_prompt("b", "q");
    const auto first = home.run({"prompts", "list"});
    EXPECT_EQ(first.out, "a  p  p\nb  q  q\n") << first.err;
    const auto second = home.run({"prompts", "list"});
    EXPECT_EQ(second.out, first.out);
    EXPECT_EQ(second.err, "");
    EXPECT_EQ(starts("a") + starts("b"), 2) << "once each, by the first";
    EXPECT_THAT(home.run({"prompts", "list", "-v"}).err,
                HasSubstr("as listed before, and not asked now: a (20"));
    const auto listed = json::parse(home.run({"prompts", "list", "--server", "b", "--json"}).out);
    ASSERT_EQ(listed.as_array().size(), 1u);
    EXPECT_TRUE(is_a("thing", listed.at(0).as_object()));
    EXPECT_TRUE(listed.at(0).at("kept").as_bool());
    EXPECT_THAT(std::string(listed.at(0).at("listed_at").as_string()), StartsWith("20"));
    EXPECT_EQ(starts("a") + starts("b"), 2);
    has_prompt("a", "new");
    const auto refreshed = home.run({"prompts", "list", "--refresh", "--server", "a"});
    EXPECT_EQ(refreshed.out, "a  new  new\n");
    EXPECT_THAT(refreshed.err, AllOf(HasSubstr("server \"a\" lists other prompts than at 20"),
                                     HasSubstr("1 added (new), 1 removed (p)")));
    EXPECT_EQ(home.run({"prompts", "list"}).out, "a  new  new\nb  q    q\n");
    EXPECT_EQ(starts("a"), 2);
    EXPECT_EQ(starts("b"), 1) << "it was not asked for";
    EXPECT_EQ(home.run({"prompts", "list", "--set", "permissions.deny=['mcp__a__*']"}).out,
              "b  q  q\n")
        << "the rules of now hold";
}

TEST_F(Catalogue, OneThatDeclaresNoneIsNotAskedForThem) {
    add("a", {}, R"({"tools":{}})");
    home.run({"tools"});
    for (const char* verb : {"list", "templates"}) {
        const auto none = home.run({"resources", verb});
        EXPECT_EQ(none.exit_code, 0) << none.err;
        EXPECT_EQ(none.out, "");
    }
    EXPECT_EQ(home.run({"prompts", "list"}).exit_code, 0);
    EXPECT_EQ(starts("a"), 1);
    const auto servers = json::parse(home.run({"mcp", "list", "--json"}).out);
    EXPECT_EQ(servers.at_pointer("/0/instructions"), "Be kind.");
    EXPECT_EQ(starts("a"), 1);
}

TEST_F(Catalogue, APromptIsAskedOfItsServerAlone) {
    add("a");
    add("b");
    has_prompt("b", "q");
    home.run({"prompts", "list"});
    const auto got = home.run({"prompts", "get", "q"});
    EXPECT_THAT(got.out, HasSubstr("got it")) << got.err;
    EXPECT_EQ(starts("a"), 1);
    EXPECT_EQ(starts("b"), 2);
    has_prompt("b", "p");  // now both have it, and what each has counts
    has_prompt("a", "r");
    EXPECT_THAT(home.run({"prompts", "get", "r"}).out, HasSubstr("got it"))
        << "nobody has listed it before: all are asked";
    EXPECT_EQ(home.run({"prompts", "get", "none"}).exit_code, 6);
}

TEST_F(Catalogue, OfAServerThatDoesNotComeItsLastListIsShown) {
    add("a");
    home.run({"prompts", "list"});
    const auto program = home.work() / "server.sh";
    fs::rename(program, home.work() / "moved");
    EXPECT_EQ(home.run({"prompts", "list"}).out, "a  p  p\n");
    for (const auto& words : {Words{"prompts", "list", "--refresh", "-v"},
                              {"prompts", "list", "--refresh", "-v", "--server", "a"},
                              {"tools", "--refresh", "-v"},
                              {"tools", "--refresh", "-v", "--server", "a"}}) {
        SCOPED_TRACE(::testing::PrintToString(words));
        const auto alone = home.run(words);
        EXPECT_EQ(alone.out, "");
        EXPECT_EQ(alone.exit_code, 5) << "who asks for the one that does not come has no answer";
        EXPECT_THAT(alone.err,
                    AllOf(HasSubstr("error: server \"a\""), Not(HasSubstr("listed before"))));
    }
    home.add_example("b");
    const auto beside = home.run({"prompts", "list", "--refresh", "-v"});
    EXPECT_THAT(beside.out, HasSubstr("a  p"));
    EXPECT_EQ(beside.exit_code, 1);
    EXPECT_THAT(beside.err,
                AllOf(HasSubstr("error: server \"a\""),
                      HasSubstr("as listed before, as they have not answered now: a (20"),
                      Not(HasSubstr("--refresh"))));
}

// The same words lead to another account.
TEST_F(Catalogue, WhatIsListedForOneValueOfAVariableIsNotShownForAnother) {
    for (const json::object& by : {json::object{{"env", {{"TOKEN", "${ACCOUNT}"}}}},
                                   {{"env", {{"TOKEN", "${env:ACCOUNT}"}}}},
                                   {{"pass_env", {"ACCOUNT"}}}}) {
        add("a", by);
        const auto as = [&](const std::string& account, const Words& words) {
            home.environment["ACCOUNT"] = account;
            return home.run(words).out;
        };
        const auto before = starts("a");
        EXPECT_THAT(as("first-secret", {"tools"}), HasSubstr("mcp__a__a_tool"));
        EXPECT_EQ(as("first-secret", {"prompts", "list"}), "a  p  p\n");
        lists("a", tool("other"));
        has_prompt("a", "q");
        EXPECT_THAT(as("second-secret", {"tools"}),
                    AllOf(HasSubstr("mcp__a__other"), Not(HasSubstr("a_tool"))));
        EXPECT_EQ(as("second-secret", {"prompts", "list"}), "a  q  q\n");
        const auto asked = starts("a");
        EXPECT_THAT(as("first-secret", {"tools"}), HasSubstr("mcp__a__a_tool"));
        EXPECT_EQ(as("first-secret", {"prompts", "list"}), "a  p  p\n");
        EXPECT_EQ(starts("a"), asked) << "each is kept";
        EXPECT_GT(asked, before);
    }
    for (const auto& each : fs::recursive_directory_iterator(home.root() / "state"))
        if (each.is_regular_file()) {
            EXPECT_THAT(read_file(each.path()), Not(HasSubstr("-secret"))) << each.path();
        }
}

TEST_F(Catalogue, RulesOfNowHoldForWhatWasListedBefore) {
    add("a");
    home.run({"tools"});
    add("a", {{"tools", {{"a_tool", "deny"}}}});
    EXPECT_THAT(home.run({"tools"}).out, HasSubstr("(denied)"));
    add("a", {{"disabled_tools", {"a_tool"}}});
    EXPECT_THAT(home.run({"tools"}).out, Not(HasSubstr("a_tool")));
    add("a", {{"enabled", false}});
    EXPECT_THAT(home.run({"tools"}).out, Not(HasSubstr("a_tool")));
    EXPECT_EQ(starts("a"), 1);
}

TEST_F(Catalogue, WhatCannotBeReadIsSaidOnceAndMadeAnew) {
    add("a");
    home.run({"tools"});
    ASSERT_EQ(files().size(), 1u);
    const std::string garbage[] = {"", "{", std::string(5u << 20, 'x'), std::string(100'000, '[')};
    int started = starts("a");
    for (const auto& text : garbage) {
        std::ofstream(files().at(0)) << text;
        const auto told = home.run({"tools"});
        EXPECT_EQ(told.exit_code, 0);
        EXPECT_THAT(told.out, HasSubstr("mcp__a__a_tool"));
        EXPECT_THAT(told.err, HasSubstr("what server \"a\" listed before cannot be used"));
        EXPECT_EQ(starts("a"), ++started);
        EXPECT_EQ(home.run({"tools"}).err, "");
        EXPECT_EQ(starts("a"), started);
    }
}

TEST_F(Catalogue, WhereNothingCanBeKeptNothingIsLostButTime) {
    add("a");
    fs::create_directories(folder().parent_path());
    std::ofstream(folder()) << "no folder";
    for (int i = 1; i <= 2; ++i) {
        const auto told = home.run({"tools"});
        EXPECT_EQ(told.exit_code, 0) << told.err;
        EXPECT_THAT(told.out, HasSubstr("mcp__a__a_tool"));
        EXPECT_EQ(starts("a"), i);
    }
}

TEST_F(Catalogue, ARunningHostAnswersOfServersThatDoNotComeUp) {
    home.environment["PATCHBAY_ALONE"] = "";
    home.environment["PATCHBAY_HOST_PATIENCE_MS"] = "60000";
    add("a", {{"restart", "never"}});
    EXPECT_EQ(home.run({"tools"}).exit_code, 0);
    home.write("server.sh", "sleep 1000\n");
    {
        RunningHost host(home);
        const auto listed = home.run({"tools", "--json", "-v"});
        EXPECT_EQ(listed.exit_code, 0) << listed.err;
        EXPECT_THAT(listed.out, AllOf(HasSubstr("mcp__a__a_tool"), HasSubstr("\"kept\":true")));
        EXPECT_THAT(listed.err, AllOf(HasSubstr(" is asked"), HasSubstr("not asked now: a (")));
        EXPECT_EQ(home.run({"tools", "--alone"}).out, home.run({"tools"}).out);
        EXPECT_THAT(home.run({"mcp", "list"}).out, HasSubstr("connecting"));
        EXPECT_EQ(host.end().exit_code, 0);
    }
    home.write("server.sh", "echo no; exit 3\n");
    RunningHost host(home);
    EXPECT_EQ(home.run({"mcp", "status", "a"}).exit_code, 5) << "it has failed";
    const auto listed = home.run({"tools", "--json"});
    EXPECT_EQ(listed.exit_code, 0) << listed.err;
    EXPECT_THAT(listed.out, AllOf(HasSubstr("mcp__a__a_tool"), HasSubstr("\"kept\":true")));
    const auto asked = home.run({"tools", "--refresh"});
    EXPECT_NE(asked.exit_code, 0) << asked.out;
    EXPECT_THAT(asked.err, HasSubstr("server \"a\""));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Catalogue, ARunningHostAnswersOfServersThatItHasNotStarted) {
    add("a", {{"lazy", true}});
    home.run({"tools"});
    home.environment.erase("PATCHBAY_ALONE");
    home.environment["PATCHBAY_HOST_PATIENCE_MS"] = "60000";
    RunningHost host(home);
    const auto told = home.run({"-v", "tools"});
    EXPECT_THAT(told.err, AllOf(HasSubstr(" is asked\n"), HasSubstr("not asked now: a (20")));
    EXPECT_THAT(told.out, HasSubstr("mcp__a__a_tool"));
    EXPECT_EQ(starts("a"), 1);
    lists("a", tool("new"));
    EXPECT_THAT(home.run({"tools", "--refresh"}).out, HasSubstr("mcp__a__new"));
    EXPECT_EQ(starts("a"), 2);
    EXPECT_THAT(home.run({"mcp", "status", "a"}).out,
                HasSubstr("1 added (new), 1 removed (a_tool)"));
    lists("a", tool("newer"));
    EXPECT_THAT(home.run({"tools"}).out, HasSubstr("mcp__a__new")) << "that list is fresh";
    EXPECT_THAT(home.run({"tools", "--refresh"}).out, HasSubstr("mcp__a__newer"));
    EXPECT_EQ(starts("a"), 2);
    EXPECT_EQ(home.run({"prompts", "list"}).out, "a  p  p\n") << "it is up, and is asked";
    has_prompt("a", "q");
    EXPECT_EQ(home.run({"prompts", "list"}).out, "a  q  q\n");
    EXPECT_EQ(home.run({"mcp", "stop", "a"}).exit_code, 0);
    EXPECT_EQ(home.run({"mcp", "start", "a"}).exit_code, 0);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Catalogue, ARunningHostShowsPromptsOfServersThatItHasNotStarted) {
    add("a", {{"lazy", true}});
    home.run({"prompts", "list"});
    home.environment.erase("PATCHBAY_ALONE");
    home.environment["PATCHBAY_HOST_PATIENCE_MS"] = "60000";
    RunningHost host(home);
    const auto told = home.run({"-v", "prompts", "list"});
    EXPECT_EQ(told.out, "a  p  p\n");
    EXPECT_THAT(told.err, AllOf(HasSubstr(" is asked\n"), HasSubstr("not asked now: a (20")));
    EXPECT_EQ(starts("a"), 1);
    has_prompt("a", "q");
    EXPECT_EQ(home.run({"prompts", "list", "--refresh"}).out, "a  q  q\n");
    EXPECT_EQ(starts("a"), 2);
    EXPECT_EQ(host.end().exit_code, 0);
}

}  // namespace
}  // namespace patchbay::test
