// `patchbay secret`: from stdin or typed unseen, and what a server that is named one is given.
#include "integration/home.hpp"
#include "support/result_schema.hpp"

#include <boost/json.hpp>

#include <filesystem>
#include <string>

namespace patchbay::test {
namespace {

class Secret : public ::testing::Test {
protected:
    Outcome set(const std::string& name, const std::string& value) const {
        return home.run({"secret", "set", name}, value);
    }
    Home home;
};

TEST_F(Secret, IsGivenToTheServerThatNamesItAndNotShown) {
    const auto kept = set("gh.token", "s3cret-by-name\n");
    EXPECT_EQ(kept.exit_code, 0) << kept.err;
    EXPECT_EQ(kept.err, "added: gh.token; a configuration file names it ${secret:gh.token}\n");
    home.add_example("x", {}, {{"env", {{"GH", "${secret:gh.token}"}}}});
    EXPECT_THAT(home.run({"call", "mcp__x__env"}).out, HasSubstr("s3cret-by-name"));
    EXPECT_THAT(home.run({"config", "show"}).out, Not(HasSubstr("s3cret")));
    EXPECT_EQ(home.run({"config", "check"}).exit_code, 0);
    const auto listed = home.run({"--json", "secret", "list"});
    EXPECT_TRUE(is_a("secrets", json::parse(listed.out)));
    EXPECT_THAT(listed.out, AllOf(HasSubstr("gh.token"), Not(HasSubstr("s3cret"))));
}

TEST_F(Secret, OneThatIsNotKeptIsToldWhereItIsNamed) {
    home.add_example("x", {}, {{"env", {{"GH", "${secret:gh}"}}}});
    const auto checked = home.run({"config", "check"});
    EXPECT_THAT(checked.err + checked.out,
                HasSubstr("env.GH: no secret \"gh\" is kept; patchbay secret set gh keeps one"));
    const auto called = home.run({"call", "mcp__x__echo", "message=hi"});
    EXPECT_NE(called.exit_code, 0);
    EXPECT_THAT(called.err, HasSubstr("patchbay secret set gh keeps one"));
}

TEST_F(Secret, IsReplacedAndForgotten) {
    EXPECT_EQ(set("a", "one").exit_code, 0);
    EXPECT_THAT(set("a", "two").err, HasSubstr("replaced: a"));
    EXPECT_EQ(home.run({"secret", "rm", "a"}).exit_code, 0);
    const auto again = home.run({"secret", "rm", "a"});
    EXPECT_EQ(again.exit_code, 6);
    EXPECT_THAT(again.err, HasSubstr("no secret \"a\" is kept"));
    EXPECT_THAT(home.run({"secret", "list"}).err, HasSubstr("no secret is kept"));
    for (const auto& each : std::filesystem::recursive_directory_iterator(home.root()))
        if (each.is_regular_file()) {
            EXPECT_THAT(read_file(each.path()), Not(HasSubstr("two")));
        }
}

TEST_F(Secret, WrongWordsSayWhatIsExpected) {
    EXPECT_THAT(set("a b", "x").err, HasSubstr("is no name of a secret: expected 1 to 64 letters"));
    for (const std::string name : {"-x", ".x", "-", "."})
        EXPECT_THAT(home.run({"secret", "set", "--", name}, "x").err,
                    HasSubstr("\"" + name + "\" is no name of a secret"));
    EXPECT_THAT(home.run({"secret", "list"}).err, HasSubstr("no secret is kept"));
    EXPECT_THAT(set("a", "").err, HasSubstr("is empty"));
    EXPECT_THAT(set("a", "\n").err, HasSubstr("is empty"));
    const auto value = home.run({"secret", "set", "a", "s3cret"}, "x");
    EXPECT_EQ(value.exit_code, 3);
}

}  // namespace
}  // namespace patchbay::test
