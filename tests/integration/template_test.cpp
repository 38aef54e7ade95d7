// [templates.ID]: what a server has of one, whose may be used by whom, and what is told of wrong ones.
#include "integration/home.hpp"

#include <boost/json.hpp>

#include <filesystem>
#include <string>
#include <utility>

namespace patchbay::test {
namespace {

class Templates : public ::testing::Test {
protected:
    void user(const std::string& text) { home.write(home.user_config() / "config.toml", text); }
    json::object shown() const {
        return json::parse(home.run({"config", "show", "--origin", "--json"}).out).as_object();
    }
    json::object server(const std::string& id) const {
        const auto all = shown();
        const auto* found = all.at("servers").as_object().if_contains(id);
        EXPECT_TRUE(found) << all;
        return found ? found->as_object() : json::object();
    }
    std::string told() const { return home.run({"config", "check"}).err; }
    std::string example() const { return "command = \"" + example_server() + "\"\n"; }
    Home home;
};

TEST_F(Templates, AServerHasTheKeysOfItsTemplateAndItsOwnWin) {
    user(
        "[templates.pg]\nparams = [\"db\", \"port\", \"more\"]\n" + example() +
        "args = [\"--db=${param:db}\", \"${param:more}\", \"--port\", \"${param:port:-5432}\"]\n"
        "env = { DB = \"${param:db}\", MODE = \"${HOME}\" }\ntool_timeout_sec = 60\n"
        "[servers.orders]\ntemplate = \"pg\"\nwith = { db = \"orders\", more = [\"-a\", \"-b\"] }\n"
        "[servers.users]\ntemplate = \"pg\"\nwith = { db = \"users\", more = [], port = 7 }\n"
        "tool_timeout_sec = 5\n");
    EXPECT_EQ(told(), "");
    const auto orders = server("orders");
    EXPECT_EQ(orders.at("args"), json::array({"--db=orders", "-a", "-b", "--port", "5432"}));
    EXPECT_EQ(orders.at("tool_timeout_sec"), 60);
    EXPECT_EQ(server("users").at("tool_timeout_sec"), 5);
    EXPECT_FALSE(orders.contains("template"));
    const auto origins = shown().at("origins").as_object();
    EXPECT_EQ(origins.at("servers.orders.template").at("line"), 1);
    EXPECT_EQ(origins.at("servers.orders.tool_timeout_sec").at("line"), 6);
    EXPECT_EQ(origins.at("servers.users.tool_timeout_sec").at("line"), 13);
}

TEST_F(Templates, WhatIsFilledInIsNotLookedIntoAgain) {
    user("[templates.e]\nparams = [\"a\", \"b\"]\n" + example() +
         "env = { A = \"${param:a}\", B = \"$${param:b}\" }\n"
         "[servers.x]\ntemplate = \"e\"\nwith = { a = \"${HOME}\", b = \"no\" }\n");
    const auto done = home.run({"call", "mcp__x__env"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("${param:b}"));
    EXPECT_THAT(done.out, HasSubstr(home.root().string()));
}

TEST_F(Templates, WhatIsWrongTakesDownTheServerAloneAndIsTold) {
    const std::string pg =
        "[templates.pg]\nparams = [\"db\"]\n" + example() + "args = [\"${param:db}\"]\n";
    const std::pair<std::string, const char*> cases[] = {
        {"template = \"pgg\"\n",
         "template: there is none of the name \"pgg\"; did you mean \"pg\"?"},
        {"template = \"pg\"\n", "${param:db}: no parameter of that name is given"},
        {"template = \"pg\"\nwith = { dbb = \"x\" }\n",
         "with.dbb: it has no such parameter; did you mean \"db\"?"},
        {"template = \"pg\"\nwith = { db = { a = 1 } }\n", "with.db: expected text, a number"},
        {"template = \"pg\"\nwith = { db = \"${param:db}\" }\n",
         "with.db: ${param:...} stands in templates alone"},
        {"template = \"pg\"\nwith = \"db\"\n", "with: expected a table of parameters, found text"},
        {"template = 3\n", "template: expected text"},
        {"command = \"true\"\nwith = { db = \"x\" }\n",
         "with: it fills a template, and the server names none"},
    };
    for (const auto& [entry, why] : cases) {
        user(pg + "[servers.fine]\n" + example() + "[servers.x]\n" + entry);
        EXPECT_THAT(told(), HasSubstr(why)) << entry;
        EXPECT_EQ(home.run({"call", "mcp__fine__echo", "message=hi"}).exit_code, 0) << entry;
    }
}

TEST_F(Templates, AFaultOfTheTemplateIsToldWhereItStands) {
    const std::pair<const char*, const char*> cases[] = {
        {"[templates.a]\nparams = [\"db\"]\ncommand = \"${param:bd}\"\n",
         "config.toml:1:12: templates.a: ${param:bd} is none of its params; did you mean "
         "\"db\"?"},
        {"[templates.a]\ntemplate = \"b\"\n", "a template is no server"},
        {"[templates.a]\nparams = \"db\"\n", "params: expected a list of names"},
        {"[templates]\na = 1\n", "templates.a: expected a table"},
    };
    for (const auto& [text, why] : cases) {
        user(text);
        EXPECT_THAT(told(), HasSubstr(why)) << text;
    }
}

// A checkout's template says nothing about servers of the user, and a change of the user's one is another definition.
TEST_F(Templates, ACheckoutUsesThoseOfTheUserAndIsAskedAboutTheWhole) {
    const auto mine = [&](const std::string& value) {
        user("[templates.e]\nparams = [\"a\"]\n" + example() + "env = { A = \"${param:a}" + value +
             "\" }\n[servers.mine]\ntemplate = \"theirs\"\n");
    };
    mine("-1");
    home.write(".patchbay/config.toml",
               "[templates.theirs]\ncommand = \"true\"\n"
               "[servers.x]\ntemplate = \"e\"\nwith = { a = \"value\" }\n");
    EXPECT_THAT(told(), HasSubstr("there is none of the name \"theirs\" that it may use: that of "
                                  "project config "));
    EXPECT_EQ(home.run({"call", "mcp__x__env"}).exit_code, 7);
    EXPECT_EQ(home.run({"trust", "x", "--yes"}).exit_code, 0);
    EXPECT_THAT(home.run({"call", "mcp__x__env"}).out, HasSubstr("value-1"));
    mine("-2");
    EXPECT_EQ(home.run({"call", "mcp__x__env"}).exit_code, 7)
        << "what the template says is part of what was approved";
    // Nor does a checkout's template of that name say anything about a server of the user.
    user("[templates.e]\n" + example() + "[servers.mine]\ntemplate = \"e\"\n");
    home.write(".patchbay/config.toml", "[templates.e]\ncommand = \"false\"\n");
    EXPECT_EQ(home.run({"call", "mcp__mine__echo", "message=hi"}).exit_code, 0);
}

TEST_F(Templates, WhatTheyPutIntoServersIsBounded) {
    std::string text =
        "[templates.big]\ncommand = \"true\"\nargs = [\"" + std::string(100'000, 'x') + "\"]\n";
    for (int i = 0; i < 60; ++i)
        text += "[servers.s" + std::to_string(i) + "]\ntemplate = \"big\"\n";
    user(text);
    EXPECT_THAT(told(),
                HasSubstr("what templates put into all servers is more than 4 MiB, the limit"));
}

}  // namespace
}  // namespace patchbay::test
