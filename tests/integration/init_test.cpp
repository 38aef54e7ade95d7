// `patchbay init`: the first file of a project, as a new user goes on from it.
#include "integration/connect_fixture.hpp"
#include "support/result_schema.hpp"

#include <filesystem>
#include <sstream>
#include <string>
#include <unistd.h>
#include <utility>

namespace patchbay::test {
namespace {

class Init : public Connect {
protected:
    Outcome init(Words words = {}) const {
        words.insert(words.begin(), "init");
        return home.run(std::move(words));
    }
    void checkout(const std::string& ignored = {}) {
        fs::create_directories(home.work() / ".git");
        if (!ignored.empty()) home.write(".gitignore", ignored);
    }
    std::string ignored() const { return text("work/.gitignore"); }
};

TEST_F(Init, WhatItWritesIsFineInEachFormatAndVerbsGoOnFromIt) {
    for (const std::string format : {"toml", "yaml", "json"}) {
        const auto done = init({"--format", format});
        ASSERT_EQ(done.exit_code, 0) << done.err;
        const auto name = "work/.patchbay/config." + format;
        const auto starter = text(name);
        EXPECT_THAT(starter, HasSubstr("./patchbay.schema.json"));
        EXPECT_EQ(text("work/.patchbay/patchbay.schema.json"), home.run({"config", "schema"}).out);
        const auto checked = home.run({"config", "check"});
        EXPECT_EQ(checked.exit_code, 0) << format << checked.err;
        EXPECT_EQ(checked.out, "configuration is fine\n");
        const auto added = home.run({"mcp", "add", "ex", "--", example_server()});
        EXPECT_EQ(added.exit_code, 0) << format << added.err;
        EXPECT_EQ(home.run({"call", "mcp__ex__echo", "message=hi"}).exit_code, 0) << format;
        // Every line of the starter is there still.
        std::istringstream lines(starter);
        for (std::string line; std::getline(lines, line);)
            EXPECT_THAT(text(name), HasSubstr(line)) << format;
        fs::remove_all(home.work() / ".patchbay");
    }
}

TEST_F(Init, NothingIsOverwrittenWhateverTheFormat) {
    home.write(".patchbay/config.yml", "servers: {}\n");
    const auto before = all();
    const auto done = init();
    EXPECT_EQ(done.exit_code, 3);
    EXPECT_THAT(done.err,
                AllOf(HasSubstr("config.yml: it is there already"), HasSubstr("patchbay mcp add")));
    EXPECT_EQ(all(), before);
}

TEST_F(Init, TheLocalFileIsIgnoredOnceAndOnlyInACheckout) {
    fs::remove_all(home.work() / ".git");
    EXPECT_EQ(init().exit_code, 0);
    EXPECT_FALSE(fs::exists(home.work() / ".gitignore"));
    fs::remove_all(home.work() / ".patchbay");
    checkout("build/\r\n*.o");
    EXPECT_EQ(init().exit_code, 0);
    EXPECT_EQ(ignored(), "build/\r\n*.o\r\n.patchbay.local.*\r\n");
    fs::remove_all(home.work() / ".patchbay");
    const auto again = home.run({"--json", "init"});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_TRUE(is_a("initialized", json::parse(again.out)));
    EXPECT_THAT(again.out, HasSubstr(R"("gitignore":"there already")"));
    EXPECT_EQ(ignored(), "build/\r\n*.o\r\n.patchbay.local.*\r\n");
}

TEST_F(Init, ItIsTheRootOfTheCheckoutThatIsThePlace) {
    checkout();
    fs::create_directories(home.work() / "deep/er");
    auto command = home.patchbay({"init"});
    command.directory = (home.work() / "deep/er").string();
    EXPECT_EQ(test::run(command).exit_code, 0);
    EXPECT_TRUE(fs::exists(home.work() / ".patchbay/config.toml"));
    EXPECT_EQ(ignored(), ".patchbay.local.*\n");
}

// What a checkout has in their place may lead to any file of the user.
TEST_F(Init, LinksAreNotFollowed) {
    checkout();
    const auto mine = put("mine", "mine\n");
    fs::create_symlink(mine, home.work() / ".gitignore");
    const auto done = init();
    EXPECT_EQ(done.exit_code, 7);
    EXPECT_THAT(done.err, HasSubstr(".gitignore: it is a link"));
    EXPECT_EQ(text("mine"), "mine\n");
    EXPECT_FALSE(fs::exists(home.work() / ".patchbay"));
    fs::create_directory(home.root() / "elsewhere");
    fs::create_directory_symlink(home.root() / "elsewhere", home.work() / ".patchbay");
    EXPECT_EQ(init().exit_code, 7);
    EXPECT_TRUE(fs::is_empty(home.root() / "elsewhere"));
}

TEST_F(Init, ACheckoutOfSomebodyElseIsLeftAlone) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
    constexpr uid_t kSomebody = 65534;
    checkout();
    ASSERT_EQ(::chown(home.work().c_str(), kSomebody, kSomebody), 0);
    const auto done = init();
    EXPECT_EQ(done.exit_code, 7);
    EXPECT_THAT(done.err, HasSubstr("belongs to user 65534, not to you (0)"));
    EXPECT_FALSE(fs::exists(home.work() / ".patchbay"));
}

TEST_F(Init, WhatOtherClientsHaveIsTakenWhenItIsWantedAndTrusted) {
    put(".cursor/mcp.json", R"({"mcpServers": {"ex": {"command": ")" + example_server() +
                                R"(", "env": {"API_TOKEN": "s3cret-value-1"}}}})");
    home.write(".vscode/mcp.json", R"({"servers": {"theirs": {"command": "true"}}})");
    EXPECT_EQ(init({"--no-import"}).exit_code, 0);
    EXPECT_THAT(text("work/.patchbay/config.toml"), Not(HasSubstr("\n[servers.ex]")));
    fs::remove_all(home.work() / ".patchbay");
    const auto done = init({"--yes"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    // Theirs alone, and not everybody's who works on the project.
    EXPECT_THAT(text("work/.patchbay/config.toml"), Not(HasSubstr("\n[servers.ex]")));
    const auto written = text("work/.patchbay.local.toml");
    EXPECT_THAT(written, HasSubstr("[servers.ex]"));
    EXPECT_THAT(done.err, HasSubstr("written: " + (home.work() / ".patchbay.local.toml").string()));
    EXPECT_THAT(written, AllOf(HasSubstr("${secret:"), Not(HasSubstr("s3cret-value-1"))));
    EXPECT_THAT(written, Not(HasSubstr("theirs"))) << "nobody has looked at what a checkout says";
    EXPECT_EQ(home.run({"call", "mcp__ex__echo", "message=hi"}).exit_code, 0);
    EXPECT_EQ(home.run({"config", "check"}).exit_code, 0);
}

TEST_F(Init, WrongWordsSayWhatIsExpected) {
    EXPECT_THAT(init({"--format", "ini"}).err, HasSubstr("toml"));
    EXPECT_EQ(init({"--yes", "--no-import"}).exit_code, 3);
    EXPECT_FALSE(fs::exists(home.work() / ".patchbay"));
}

}  // namespace
}  // namespace patchbay::test
