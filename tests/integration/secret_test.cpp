// `patchbay secret`: from stdin or typed unseen, and what a server that is named one is given.
#include "integration/home.hpp"
#include "support/result_schema.hpp"

#include <boost/json.hpp>

#include <filesystem>
#include <string>
#include <sys/stat.h>

namespace patchbay::test {
namespace {

namespace fs = std::filesystem;

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

// ---- in clear text where others may read it

class ReadableSecret : public ::testing::Test {
protected:
    static constexpr const char* kKey = "sk-proj-4fK2mZ8qLr7XwT1vBn3Y";

    fs::path write(const fs::path& file, const std::string& text, unsigned mode) const {
        home.write(file, text);
        const auto path = home.work() / file;
        EXPECT_EQ(::chmod(path.c_str(), mode), 0);
        return path;
    }
    fs::path own(unsigned mode) const {
        return write(home.user_config() / "config.toml", "", mode);
    }
    Outcome add(const std::string& id) const {
        return home.run({"mcp", "add", id, "--scope", "user", "--env",
                         std::string("API_KEY=") + kKey, "--", "cat"});
    }
    static std::string told(const fs::path& file) {
        return "is in clear text in " + file.string() +
               ", which others may read (mode 0644); chmod 600 " + file.string();
    }
    static unsigned mode_of(const fs::path& file) {
        struct stat about {};
        EXPECT_EQ(::stat(file.c_str(), &about), 0);
        return about.st_mode & 07777;
    }
    mutable Home home;
};

TEST_F(ReadableSecret, IsToldOfByWhoeverAddsIt) {
    const auto file = own(0644);
    const auto added = add("a");
    EXPECT_EQ(added.exit_code, 0) << added.err;
    EXPECT_THAT(added.err, AllOf(HasSubstr("warning: server \"a\": env.API_KEY " + told(file)),
                                 HasSubstr("${secret:NAME}"), Not(HasSubstr(kKey))));
    EXPECT_EQ(mode_of(file), 0644u) << "whose file it is, says who may read it";
    EXPECT_EQ(::chmod(file.c_str(), 0600), 0);
    EXPECT_THAT(add("b").err, Not(HasSubstr("warning")));
}

TEST_F(ReadableSecret, IsNoneInAFileThatIsNew) {
    const auto added = add("a");
    EXPECT_EQ(added.exit_code, 0) << added.err;
    EXPECT_THAT(added.err, Not(HasSubstr("warning")));
}

TEST_F(ReadableSecret, IsToldOfOncePerFileByAnImport) {
    const auto file = own(0644);
    const std::string server =
        std::string(R"({"command": "cat", "env": {"API_KEY": ")") + kKey + "\"}}";
    write("theirs.json", R"({"mcpServers": {"a": )" + server + R"(, "b": )" + server + "}}", 0600);
    const auto done = home.run({"import", "--from", "claude", "--file", "theirs.json"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    const auto wanted = "server \"a\": env.API_KEY; server \"b\": env.API_KEY " + told(file);
    const auto at = done.err.find(wanted);
    ASSERT_NE(at, std::string::npos) << done.err;
    EXPECT_EQ(done.err.find("which others may read", at + wanted.size()), std::string::npos);
}

TEST_F(ReadableSecret, IsToldOfByAnExport) {
    ASSERT_EQ(add("a").exit_code, 0);
    const auto file = write("theirs.json", "{}", 0644);
    const Words words{"export", "--to", "claude", "--file", file.string(), "a"};
    const auto done = home.run(words);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr("server \"a\": env.API_KEY " + told(file)));
    EXPECT_EQ(::chmod(file.c_str(), 0600), 0);
    EXPECT_THAT(home.run(words).err, Not(HasSubstr("others may read")));
}

TEST_F(ReadableSecret, IsToldOfByACheck) {
    const auto file = own(0600);
    ASSERT_EQ(add("a").exit_code, 0);
    EXPECT_THAT(home.run({"config", "check"}).err, Not(HasSubstr("clear text")));
    EXPECT_EQ(::chmod(file.c_str(), 0644), 0);
    const auto checked = home.run({"config", "check"});
    EXPECT_EQ(checked.exit_code, 0);
    EXPECT_THAT(checked.err,
                AllOf(HasSubstr("server \"a\": env.API_KEY " + told(file)), Not(HasSubstr(kKey))));
    EXPECT_THAT(home.run({"config", "check", file.string()}).err, HasSubstr(told(file)));
}

}  // namespace
}  // namespace patchbay::test
