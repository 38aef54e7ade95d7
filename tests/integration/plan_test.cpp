// `patchbay config plan`: what an edit would do, against what was remembered before it.
#include "integration/home.hpp"
#include "support/result_schema.hpp"

namespace patchbay::test {
namespace {

// The only file that was remembered.
std::filesystem::path remembered(const Home& home) {
    const auto done = home.run({"config", "plan", "--remember", "--json"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    const auto told = json::parse(done.out);
    EXPECT_TRUE(is_a("remembered", told));
    return std::string(told.at("remembered").as_string());
}
void configure(Home& home, const std::string& text) {
    home.write(home.user_config() / "config.toml", text);
}
const char* const kBefore = "[servers.a]\ncommand = \"a\"\nenv = {TOKEN = \"hush-one\"}\n";

TEST(ConfigPlan, SaysWhatAnEditWouldDo) {
    Home home;
    configure(home, kBefore);
    const auto kept = home.run({"config", "plan", "--remember"});
    EXPECT_EQ(kept.exit_code, 0) << kept.err;
    EXPECT_THAT(kept.out, HasSubstr("remembered what is in force outside of a project"));
    EXPECT_EQ(home.run({"config", "plan"}).out, "nothing changes\n");
    configure(home,
              "[servers.a]\ncommand = \"a\"\nenv = {TOKEN = \"hush-two\"}\n"
              "tools = {wipe = \"allow-always\"}\n[servers.b]\ncommand = \"b\"\n");
    const auto plan = home.run({"config", "plan"});
    EXPECT_EQ(plan.exit_code, 0) << plan.err;
    EXPECT_EQ(plan.out,
              "start    b\n"
              "restart  a                     env\n"
              "widened  servers.a.tools.wipe  no rule -> allow-always\n");
    const auto shown = home.run({"config", "plan", "--json"});
    const auto object = json::parse(shown.out);
    EXPECT_TRUE(is_a("plan", object));
    EXPECT_EQ(object.at("start"), json::array{"b"});
    EXPECT_EQ(json::serialize(object.at("restart")), R"([{"server":"a","keys":["env"]}])");
    EXPECT_EQ(object.at("stop"), json::array());
}

TEST(ConfigPlan, KnowsAProjectWhoseLastFileIsGone) {
    Home home;
    home.write(".patchbay/config.toml", kBefore);
    ASSERT_EQ(home.run({"trust", "a", "--yes"}).exit_code, 0);
    remembered(home);
    std::filesystem::remove_all(home.work() / ".patchbay");
    const auto plan = home.run({"config", "plan"});
    EXPECT_EQ(plan.exit_code, 0) << plan.err;
    EXPECT_EQ(plan.out, "stop  a\n");
    const auto kept = home.run({"config", "plan", "--remember"});
    EXPECT_THAT(kept.out, HasSubstr("remembered what is in force in " + home.work().string()));
    EXPECT_EQ(home.run({"config", "plan"}).out, "nothing changes\n");
}

TEST(ConfigPlan, KeepsWhatWasRememberedWhenTheFilesAreBroken) {
    Home home;
    configure(home, kBefore);
    const auto file = remembered(home);
    const auto before = read_file(file);
    configure(home, "[servers.a\n");
    const auto refused = home.run({"config", "plan", "--remember"});
    EXPECT_EQ(refused.exit_code, 4);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("config.toml:1"), HasSubstr("not remembered")));
    EXPECT_EQ(read_file(file), before);
}

TEST(ConfigPlan, EndsWith4WhenSomethingIsWrongWhetherAnythingIsRememberedOrNot) {
    Home home;
    configure(home, kBefore);
    const auto file = remembered(home);
    for (const char* wrong : {"[servers.b]\ncommand = \"b\"\nenabled = 5\n",
                              "[servers.b]\ntransport = \"nope\"\n", "[servers.b\n"}) {
        configure(home, std::string(kBefore) + wrong);
        const auto plan = home.run({"config", "plan"});
        EXPECT_EQ(plan.exit_code, 4) << wrong << plan.err;
        EXPECT_NE(plan.out, "") << "as much of a plan as there can be";
    }
    std::filesystem::remove(file);
    const auto none = home.run({"config", "plan"});
    EXPECT_EQ(none.exit_code, 4);
    EXPECT_THAT(none.err, AllOf(HasSubstr("config.toml:4"), HasSubstr("nothing is remembered")));
}

TEST(ConfigPlan, KeepsNoValueOfASetting) {
    Home home;
    configure(home, kBefore);
    const auto file = remembered(home);
    EXPECT_THAT(read_file(file), AllOf(HasSubstr("\"a\""), Not(HasSubstr("hush"))));
    EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0600));
}

TEST(ConfigPlan, WithNothingRememberedSaysWhatToDo) {
    Home home;
    configure(home, kBefore);
    const auto plan = home.run({"config", "plan", "--json"});
    EXPECT_EQ(plan.exit_code, 6);
    EXPECT_THAT(plan.err,
                HasSubstr("`patchbay config plan --remember` keeps what is in force now"));
    EXPECT_EQ(json::parse(plan.out).at("error").at("kind"), "not_found");
}

TEST(ConfigPlan, OfAProjectIsApartFromThatOfNone) {
    Home home;
    configure(home, kBefore);
    remembered(home);
    home.write(".mcp.json", R"({"mcpServers": {"p": {"command": "p"}}})");
    const auto plan = home.run({"config", "plan"});
    EXPECT_EQ(plan.exit_code, 6);
    EXPECT_THAT(plan.err, HasSubstr("nothing is remembered in " + home.work().string()));
}

TEST(ConfigPlan, OfABrokenConfigurationIsNeitherMadeNorRemembered) {
    Home home;
    configure(home, kBefore);
    const auto file = remembered(home);
    const auto before = read_file(file);
    for (const Words& words : {Words{"config", "plan"}, Words{"config", "plan", "--remember"}}) {
        auto named = words;
        named.insert(named.end(), {"--config", "/nonexistent.toml"});
        const auto done = home.run(named);
        EXPECT_EQ(done.exit_code, 4) << done.out;
        EXPECT_THAT(done.err, HasSubstr("/nonexistent.toml"));
    }
    EXPECT_EQ(read_file(file), before);
}

TEST(ConfigPlan, AFileThatMakesNoSenseIsToldAndKept) {
    Home home;
    configure(home, kBefore);
    const auto file = remembered(home);
    struct Case {
        const char* text;
        const char* says;
    };
    for (const auto& each : {Case{"{\"version\":1", "is not valid JSON"},
                             Case{"{\"version\":9}", "was written by a newer patchbay"},
                             Case{"{}", "is no snapshot of patchbay"}}) {
        home.write(file, each.text);
        for (const Words& words :
             {Words{"config", "plan"}, Words{"config", "plan", "--remember"}}) {
            const auto done = home.run(words);
            EXPECT_EQ(done.exit_code, 1) << done.out;
            EXPECT_THAT(done.err, AllOf(HasSubstr(file.string()), HasSubstr(each.says)));
        }
        EXPECT_EQ(read_file(file), each.text);
    }
}

}  // namespace
}  // namespace patchbay::test
