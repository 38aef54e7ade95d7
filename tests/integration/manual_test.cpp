// The pages that `man` shows, against what `--help` says.
#include "integration/home.hpp"

#include <cctype>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::test {
namespace {

class Manual : public ::testing::Test {
protected:
    void SetUp() override {
        std::filesystem::create_directory(pages);
        const auto done = home.run({"manual", "--output", pages});
        ASSERT_EQ(done.exit_code, 0) << done.err;
    }

    // With each verb below these words, these included.
    void each_verb(const Words& words,
                   const std::function<void(const Words&, const std::string&)>& look) {
        auto asked = words;
        asked.push_back("--help");
        const auto help = home.run(asked).out;
        look(words, help);
        const auto begin = help.find("\nSubcommands:\n");
        if (begin == help.npos) return;
        std::istringstream lines(help.substr(begin + 14));
        for (std::string line; std::getline(lines, line) && !line.empty();) {
            if (line.starts_with("   ")) continue;  // more about the one above
            auto below = words;
            std::istringstream(line) >> below.emplace_back();
            if (below.back().ends_with(',')) below.back().pop_back();  // its other name follows
            each_verb(below, look);
        }
    }

    std::string file_of(const Words& words) const {
        std::string name = "patchbay";
        for (const auto& word : words) name += "-" + word;
        return pages + "/" + name + ".1";
    }

    static std::string unescaped(std::string page) {
        const std::pair<const char*, const char*> signs[] = {
            {"\\-", "-"},   {"\\(aq", "'"}, {"\\(ga", "`"}, {"\\(dq", "\""},
            {"\\(ha", "^"}, {"\\(ti", "~"}, {"\\fB", ""},   {"\\fI", ""},
            {"\\fR", ""},   {"\\&", ""},    {"\\(rs", "\\"}};
        for (const auto& [sign, meant] : signs)
            for (auto at = page.find(sign); at != page.npos; at = page.find(sign, at))
                page.replace(at, std::string(sign).size(), meant);
        return page;
    }

    Home home;
    const std::string pages = (home.root() / "pages").string();
};

TEST_F(Manual, EveryVerbHasAPageThatSaysWhatItsHelpSays) {
    std::size_t verbs = 0;
    each_verb({}, [&](const Words& words, const std::string& help) {
        ++verbs;
        ASSERT_TRUE(std::filesystem::exists(file_of(words))) << file_of(words);
        const auto page = unescaped(read_file(file_of(words)));
        std::istringstream said(help);
        for (std::string word; said >> word;) {
            if (word == "Positionals:" || word == "Usage:" || word == "Subcommands:" ||
                word == "Examples:" || word == "Options:" || word == "codes:" || word == "Exit")
                continue;
            // A heading is in capitals.
            auto capitals = word;
            for (auto& c : capitals)
                c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            if (capitals.ends_with(':')) capitals.pop_back();
            EXPECT_TRUE(page.find(word) != page.npos || page.find(capitals) != page.npos)
                << file_of(words) << " lacks " << word;
        }
    });
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(pages)) ++files;
    EXPECT_EQ(files, verbs) << "and no page is of no verb";
    EXPECT_GT(verbs, 60u);
}

TEST_F(Manual, IsRenderedWithoutAWarning) {
    const std::vector<Words> renderers = {{"/usr/bin/mandoc", "-T", "lint", "-W", "warning"},
                                          {"/usr/bin/groff", "-man", "-ww", "-Tascii", "-z"}};
    bool tried = false;
    for (const auto& renderer : renderers) {
        if (!std::filesystem::exists(renderer.front())) continue;
        tried = true;
        auto command = home.patchbay({});
        command.argv = renderer;
        for (const auto& each : std::filesystem::directory_iterator(pages))
            command.argv.push_back(each.path());
        Program program(command);
        const auto done = program.finish();
        EXPECT_EQ(done.exit_code, 0) << renderer.front();
        EXPECT_EQ(done.out + done.err, "") << renderer.front();
    }
    if (!tried) GTEST_SKIP() << "neither mandoc nor groff";
}

TEST_F(Manual, ComesOutAlikeEveryTimeWhereTheDateIsSaid) {
    home.environment["SOURCE_DATE_EPOCH"] = "86400";
    ASSERT_EQ(home.run({"manual", "--output", pages}).exit_code, 0);
    EXPECT_THAT(read_file(file_of({})), StartsWith(".TH PATCHBAY 1 1970-01-02 \"patchbay "));
    const auto nowhere = home.run({"manual", "--output", pages + "/none"});
    EXPECT_EQ(nowhere.exit_code, 3);
    EXPECT_THAT(nowhere.err, HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace patchbay::test
