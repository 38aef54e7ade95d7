// What verbs print with --json and what a batch answers: one shape for each thing.
#include "integration/home.hpp"
#include "support/result_schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::test {
namespace {

namespace json = boost::json;

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

}  // namespace
}  // namespace patchbay::test
