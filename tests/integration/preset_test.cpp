// `patchbay mcp presets` and `mcp add --preset`: each renders, and the servers from npm answer.
#include "integration/npm.hpp"
#include "support/result_schema.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace patchbay::test {
namespace {

class Presets : public ::testing::Test {
protected:
    Outcome add(Words words) const {
        words.insert(words.begin(), {"mcp", "add"});
        return home.run(std::move(words));
    }
    // A program by that name in front of all others.
    void stand_in(const std::string& name, const std::string& script) {
        const auto path = home.root() / "bin" / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << script;
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        home.environment["PATH"] = (home.root() / "bin").string() + ":/usr/bin:/bin";
    }
    void have_starters() {
        for (const auto* name : {"npx", "uvx"}) stand_in(name, "#!/bin/sh\n");
    }
    std::string written() const { return read_file(home.work() / ".patchbay/config.toml"); }
    Home home;
};

TEST_F(Presets, AreListedWithWhatTheyNeedAndTouch) {
    const auto listed = home.run({"--json", "mcp", "presets"});
    const auto all = json::parse(listed.out);
    ASSERT_TRUE(is_a("presets", all)) << listed.err;
    for (const auto& each : all.as_array())
        for (const auto* key : {"title", "touches", "docs"})
            EXPECT_FALSE(each.at(key).as_string().empty()) << each << key;
    const auto table = home.run({"mcp", "presets"}).out;
    for (const auto* id : {"filesystem PATH...", "memory", "everything", "fetch", "git PATH",
                           "github", "sequential-thinking", "time"})
        EXPECT_THAT(table, HasSubstr(id));
}

TEST_F(Presets, EachIsWrittenAndFine) {
    have_starters();
    home.environment["GITHUB_TOKEN"] = "x";
    const auto all = json::parse(home.run({"--json", "mcp", "presets"}).out);
    for (const auto& each : all.as_array()) {
        Words words{"--preset", std::string(each.at("id").as_string())};
        for (const auto& parameter : each.at("parameters").as_array()) {
            static_cast<void>(parameter);
            words.push_back(".");
        }
        const auto done = add(words);
        EXPECT_EQ(done.exit_code, 0) << each.at("id") << done.err;
        EXPECT_EQ(home.run({"mcp", "get", words[1]}).exit_code, 0) << each.at("id");
    }
    EXPECT_THAT(written(), Not(HasSubstr("${param:")));
    EXPECT_THAT(written(), HasSubstr("Authorization = \"Bearer ${GITHUB_TOKEN}\""));
    const auto checked = home.run({"config", "check"});
    EXPECT_EQ(checked.exit_code, 0) << checked.err;
}

TEST_F(Presets, AFolderOfTheCheckoutIsWrittenFromItsRootAndOthersWhole) {
    have_starters();
    std::filesystem::create_directories(home.work() / "docs");
    ASSERT_EQ(add({"--preset", "filesystem", "docs/"}).exit_code, 0);
    EXPECT_THAT(
        written(),
        HasSubstr("[servers.filesystem]\ncommand = \"npx\"\nargs = [\"-y\", "
                  "\"@modelcontextprotocol/server-filesystem\", \"docs\"]\ncwd = \"..\"\n"));
    const auto away = home.root().string();
    ASSERT_EQ(add({"files", "--preset", "filesystem", away, ".", "--enabled", "false"}).exit_code,
              0);
    EXPECT_THAT(written(), HasSubstr("[servers.files]\n"));
    EXPECT_THAT(written(), HasSubstr("\"" + away + "\", \".\"]"));
    EXPECT_THAT(written(), HasSubstr("enabled = false"));
    ASSERT_EQ(add({"--preset", "filesystem", "docs", "--scope", "user"}).exit_code, 0);
    EXPECT_THAT(read_file(home.user_config() / "config.toml"),
                HasSubstr("\"" + (home.work() / "docs").string() + "\"]"));
}

TEST_F(Presets, WhatIsWrongIsToldAndNothingIsWritten) {
    have_starters();
    const std::pair<Words, const char*> cases[] = {
        {{"--preset", "filesystm", "."},
         "there is no preset \"filesystm\"; did you mean \"filesystem\"?"},
        {{"--preset", "filesystem"},
         "lacks PATH... (A folder that it may use; several are fine); "
         "expected patchbay mcp add --preset filesystem PATH..."},
        {{"--preset", "filesystem", "nowhere"}, "PATH: \"nowhere\" is no folder that is there"},
        {{"--preset", "memory", "."}, "takes no words, and there are 1"},
        {{"--preset", "git", ".", "."}, "takes 1 words, and there are 2"},
        {{"--preset", "github"},
         "needs GITHUB_TOKEN (A personal access token of github.com), which is not set here; keep "
         "it: patchbay secret set GITHUB_TOKEN"},
        {{"--preset", "memory", "--url", "https://x.example/mcp"}, "--preset says how"},
        {{}, "expected the ID of the server, or --preset NAME"},
    };
    for (const auto& [words, why] : cases) {
        const auto done = add(words);
        EXPECT_TRUE(done.exit_code == 3 || done.exit_code == 6) << done.exit_code << done.err;
        EXPECT_THAT(done.err, HasSubstr(why));
    }
    EXPECT_FALSE(std::filesystem::exists(home.work() / ".patchbay"));
}

TEST_F(Presets, ASecretThatIsKeptIsNamedBeforeAVariable) {
    home.environment["GITHUB_TOKEN"] = "x";
    ASSERT_EQ(home.run({"secret", "set", "GITHUB_TOKEN"}, "s3cret").exit_code, 0);
    ASSERT_EQ(add({"--preset", "github"}).exit_code, 0);
    EXPECT_THAT(written(), HasSubstr("\"Bearer ${secret:GITHUB_TOKEN}\""));
}

// With npx standing in for itself: what is installed here, and nothing from the net.
class PresetsOfNpm : public NpmTest {
protected:
    void SetUp() override {
        NpmTest::SetUp();
        const auto npx = home.root() / "bin/npx";
        std::filesystem::create_directories(npx.parent_path());
        std::ofstream(npx) << "#!/bin/sh\n[ \"$1\" = -y ] || exit 9\npackage=$2\nshift 2\nexec '"
                           << kNode.string() << "' '" << kModules.string()
                           << "'/\"$package\"/dist/index.js \"$@\"\n";
        std::filesystem::permissions(npx, std::filesystem::perms::owner_all);
        home.environment["PATH"] = npx.parent_path().string() + ":/usr/bin:/bin";
    }
};

TEST_F(PresetsOfNpm, Connect) {
    const std::pair<Words, const char*> cases[] = {
        {{"filesystem", "."}, "mcp__filesystem__read_text_file"},
        {{"memory"}, "mcp__memory__read_graph"},
        {{"everything"}, "mcp__everything__echo"},
        {{"sequential-thinking"}, "mcp__sequential-thinking__sequentialthinking"},
    };
    needs(kServers / "server-sequential-thinking/dist/index.js");
    for (const auto& [preset, tool] : cases) {
        Words words{"mcp", "add", "--preset"};
        words.insert(words.end(), preset.begin(), preset.end());
        const auto added = home.run(words);
        ASSERT_EQ(added.exit_code, 0) << added.err;
        const auto listed = home.run({"tools", "--server", preset.front(), "--refresh"});
        EXPECT_EQ(listed.exit_code, 0) << listed.err;
        EXPECT_THAT(listed.out, HasSubstr(tool));
    }
    home.write("README.md", "# A file to read\n");
    const auto read = home.run({"call", "mcp__filesystem__read_text_file",
                                "path=" + (home.work() / "README.md").string()});
    EXPECT_THAT(read.out, HasSubstr("# A file to read")) << read.err;
}

}  // namespace
}  // namespace patchbay::test
