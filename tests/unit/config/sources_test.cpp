#include "config/reader.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Sources, AnEmptyWorldIsAnEmptyConfig) {
    World world;
    const auto loaded = load(world.environment);
    EXPECT_TRUE(loaded.config.servers.empty());
    EXPECT_EQ(all(loaded.config.diagnostics), "");
    EXPECT_FALSE(loaded.config.deny_all);
}

TEST(Sources, WithoutAHomeInTheEnvironmentItIsThatOfThePerson) {
    const auto* person = ::getpwuid(::getuid());
    if (!person) GTEST_SKIP() << "nobody of this number is known";
    const std::string home = person->pw_dir;
    const char* was = std::getenv("HOME");
    const auto kept = was ? std::optional<std::string>(was) : std::nullopt;
    for (const char* none : {static_cast<const char*>(nullptr), ""}) {
        if (none)
            ::setenv("HOME", none, 1);
        else
            ::unsetenv("HOME");
        const auto environment = Environment::of_this_process();
        EXPECT_EQ(environment.home, home);
        EXPECT_EQ(environment.variable("HOME"), home);
    }
    if (kept) ::setenv("HOME", kept->c_str(), 1);
}

TEST(Sources, EachStrongerScopeWins) {
    World world;
    const auto now = [&] { return command_of(approved(world), "a"); };
    world.folder.write("home/user/.config/patchbay/config.toml", saying("user"));
    EXPECT_EQ(now(), "user");
    world.folder.write("home/user/src/project/.mcp.json",
                       R"({"mcpServers": {"a": {"command": "project"}}})");
    EXPECT_EQ(now(), "project");
    world.folder.write("home/user/src/project/.patchbay.local.yaml",
                       "servers: {a: {command: local}}");
    EXPECT_EQ(now(), "local");
    world.folder.write("variable.toml", saying("variable"));
    world.variables["PATCHBAY_CONFIG"] = world.folder / "variable.toml";
    EXPECT_EQ(now(), "variable");
    world.variables["PATCHBAY_CONFIG_JSON"] = R"({"servers": {"a": {"command": "inline"}}})";
    EXPECT_EQ(now(), "inline");
    world.folder.write("flag.toml", saying("flag"));
    world.environment.config_files = {world.folder / "flag.toml"};
    EXPECT_EQ(now(), "flag");
    world.folder.write("second.toml", saying("second flag"));
    world.environment.config_files.push_back(world.folder / "second.toml");
    EXPECT_EQ(now(), "second flag");
    world.environment.sets = {"servers.a.command=set"};
    EXPECT_EQ(now(), "set");
    world.folder.write("etc/enterprise.toml", "exclusive = false\n" + saying("enterprise"));
    EXPECT_EQ(now(), "enterprise");
    world.folder.write("etc/enterprise.toml", "[servers.only]\ncommand = \"x\"\n");
    EXPECT_EQ(now(), "(none)");
}

TEST(Sources, AllFilesOfOneFolderAreReadAndTheFirstWins) {
    World world;
    world.folder.write("home/user/.config/patchbay/mcp.json",
                       R"({"servers": {"a": {"command": "third"}, "c": {"command": "c"}}})");
    world.folder.write("home/user/.config/patchbay/config.yaml",
                       "servers: {a: {command: second}, b: {command: b}}");
    world.folder.write("home/user/.config/patchbay/config.toml", saying("first"));
    const auto config = load(world.environment).config;
    EXPECT_EQ(command_of(config, "a"), "first");
    EXPECT_EQ(command_of(config, "b"), "b");
    EXPECT_EQ(command_of(config, "c"), "c");
    ASSERT_EQ(config.diagnostics.size(), 2u);
    EXPECT_THAT(to_string(config.diagnostics[0]),
                HasSubstr("config.yaml:1:11: server \"a\": already defined at"));
    EXPECT_THAT(to_string(config.diagnostics[0]), HasSubstr("config.toml:1:10"));
}

TEST(Sources, AllFilesOfACheckoutNameABoundedNumberOfServers) {
    const auto naming = [](const char* prefix, int count) {
        std::string text = "[servers]\n";
        for (int i = 0; i < count; ++i)
            text += prefix + std::to_string(i) + " = { command = 'x' }\n";
        return text;
    };
    World world;
    world.folder.write("home/user/.config/patchbay/config.toml", naming("user", 10));
    world.folder.write("home/user/src/project/.patchbay/config.toml", naming("a", 3000));
    world.folder.write("home/user/src/project/.mcp.toml", naming("b", 1097));
    world.folder.write("home/user/src/project/.patchbay.local.toml", naming("c", 1096));
    const auto config = approved(world);
    EXPECT_EQ(config.servers.size(), 10u + 4096u) << "the user's own do not count";
    EXPECT_FALSE(find(config, "b0"));
    EXPECT_TRUE(find(config, "c1095")) << "a file that fits is not left out for one that does not";
    EXPECT_THAT(all(config.diagnostics),
                HasSubstr(".mcp.toml: its servers are left out: with them, the project's files "
                          "name more than 4096 servers, the limit"));
    EXPECT_THAT(config.permissions.closed, HasSubstr(".mcp.toml is broken"));
}

TEST(Sources, ACheckoutOfManyServersDoesNotDropTheRulesOfALocalFile) {
    for (const int count : {4095, 4096}) {
        SCOPED_TRACE(count);
        World world;
        world.folder.write("home/user/.config/patchbay/config.toml", saying("mine"));
        std::string text = "[servers]\n";
        for (int i = 0; i < count; ++i)
            text += "s" + std::to_string(i) + " = { enabled = false }\n";
        world.folder.write("home/user/src/project/.mcp.toml", text);
        world.folder.write("home/user/src/project/.patchbay.local.toml",
                           "[servers.a]\ndisabled_tools = ['wipe']\n");
        const auto loaded = load(world.environment);
        const bool fits = count == 4095;
        const auto& config = loaded.config;
        ASSERT_TRUE(find(config, "a"));
        EXPECT_EQ(find(config, "a")->disabled_tools.size(), fits ? 1u : 0u);
        EXPECT_EQ(config.permissions.allow.has_value(), !fits) << "none is allowed";
        EXPECT_EQ(config.permissions.closed,
                  fits ? ""
                       : "local config " +
                             (world.folder / "home/user/src/project/.patchbay.local.toml") +
                             " is broken, and what it forbids is unknown; mend it");
        const auto place = std::find_if(
            loaded.candidates.begin(), loaded.candidates.end(),
            [](const auto& each) { return each.path.ends_with(".patchbay.local.toml"); });
        ASSERT_NE(place, loaded.candidates.end());
        EXPECT_EQ(place->found, fits ? Candidate::Found::Read : Candidate::Found::Broken);
    }
}

TEST(Sources, TheNearestProjectFolderUpwardsCounts) {
    World world;
    world.folder.make("home/user/src/project/deep/er");
    world.environment.working_directory = world.folder / "home/user/src/project/deep/er";
    world.folder.write("home/user/src/.mcp.toml", saying("far"));
    EXPECT_EQ(command_of(approved(world), "a"), "far");
    world.folder.write("home/user/src/project/.patchbay/config.toml", saying("near"));
    EXPECT_EQ(command_of(approved(world), "a"), "near");
}

TEST(Sources, TheSearchStopsAtTheRepositoryAndAtHome) {
    World world;
    world.folder.write("home/.mcp.toml", saying("above home"));
    EXPECT_EQ(command_of(approved(world), "a"), "(none)");
    world.folder.write("home/user/src/.mcp.toml", saying("above the repository"));
    EXPECT_EQ(command_of(approved(world), "a"), "above the repository");
    world.folder.make("home/user/src/project/.git");
    EXPECT_EQ(command_of(approved(world), "a"), "(none)");
    world.folder.write("home/user/src/project/.mcp.toml", saying("root of the repository"));
    EXPECT_EQ(command_of(approved(world), "a"), "root of the repository");
}

TEST(Sources, AManifestThatCannotBeReadIsListedWithTheReason) {
    const World world;
    const auto loaded = load(world.environment, {{"/p/broken.toml", "servers = ["},
                                                 {"/p/whole.toml", saying("plugin")}});
    std::map<std::string, std::string> notes;
    for (const auto& place : loaded.candidates) notes[place.path] = place.note;
    EXPECT_THAT(notes.at("/p/broken.toml"), HasSubstr("not TOML"));
    EXPECT_EQ(notes.at("/p/whole.toml"), "");
    EXPECT_EQ(command_of(loaded.config, "a"), "plugin");
}

TEST(Sources, ABrokenFileOfAnyScopeAllowsNothing) {
    for (const auto* path :
         {"home/user/.config/patchbay/config.toml", "home/user/src/project/.mcp.toml",
          "home/user/src/project/.patchbay.local.toml"}) {
        SCOPED_TRACE(path);
        World world;
        world.folder.write("home/user/src/project/.patchbay/config.yaml", "health: {misses: 2}");
        world.folder.write("home/user/.config/patchbay/mcp.toml",
                           saying("good") + "[permissions]\nallow = ['mcp__a__*']\n");
        world.folder.write(path, "[permissions]\ndeny = ['mcp__a__wipe'\n");
        // A stronger list does not open it again.
        world.environment.sets = {"permissions.allow=[\"mcp__*\"]"};
        const auto config = load(world.environment).config;
        ASSERT_TRUE(config.permissions.allow);
        EXPECT_TRUE(config.permissions.allow->empty());
        EXPECT_THAT(
            config.permissions.closed,
            HasSubstr((world.folder / path) + " is broken, and what it forbids is unknown"));
        EXPECT_EQ(command_of(config, "a"), "good") << "servers of other files are still told";
    }
}

TEST(Sources, AFileThatCannotBeReadIsNamed) {
    World world;
    world.folder.make("home/user/.config/patchbay/config.toml");
    ASSERT_EQ(::mkfifo((world.folder / "home/user/.config/patchbay/mcp.toml").c_str(), 0600), 0);
    std::filesystem::create_symlink("nowhere",
                                    world.folder / "home/user/.config/patchbay/config.json");
    world.folder.write("x.ini", "");
    world.environment.config_files = {world.folder / "x.ini"};
    const auto text = all(load(world.environment).config.diagnostics);
    EXPECT_THAT(text, HasSubstr("config.toml: cannot read it: not a regular file"));
    EXPECT_THAT(text, HasSubstr("mcp.toml: cannot read it: not a regular file"));
    EXPECT_THAT(text, HasSubstr("config.json: cannot read it: No such file"));
    EXPECT_THAT(
        text, HasSubstr("x.ini: unknown kind of file; expected one of .toml, .yaml, .yml, .json"));
}

TEST(Sources, ALocalFileWithoutAProjectIsWarnedOf) {
    World world;
    world.folder.write("home/user/src/project/.patchbay.local.toml", saying("alone"));
    EXPECT_EQ(all(load(world.environment).config.diagnostics),
              "warning: local config " +
                  (world.folder / "home/user/src/project/.patchbay.local.toml") +
                  ": not read: no project file beside it\n");
    world.folder.write("home/user/src/project/.mcp.toml", "");
    EXPECT_EQ(command_of(approved(world), "a"), "alone");
    EXPECT_EQ(all(approved(world).diagnostics), "");
}

// A file that is passed over in silence may be the one that forbids something.
TEST(Sources, EverySuffixThatNamesAFormatIsReadInEveryScope) {
    const struct {
        const char* stem;
        Scope scope;
    } places[] = {{"etc/enterprise", Scope::Enterprise},
                  {"home/user/.config/patchbay/config", Scope::User},
                  {"home/user/.config/patchbay/mcp", Scope::User},
                  {"home/user/src/project/.patchbay/config", Scope::Project},
                  {"home/user/src/project/.mcp", Scope::Project},
                  {"home/user/src/project/.patchbay.local", Scope::Local}};
    for (const auto& [stem, scope] : places) {
        for (const auto& [suffix, format] : kSuffixes) {
            const auto name = stem + std::string(suffix);
            SCOPED_TRACE(name);
            World world;
            if (scope == Scope::Local) world.folder.write("home/user/src/project/.mcp.toml", "");
            world.folder.write(name, format == Format::Toml
                                         ? "permissions.deny = ['*']"
                                         : "{\"permissions\": {\"deny\": [\"*\"]}}");
            const auto loaded = load(world.environment);
            EXPECT_THAT(loaded.config.permissions.deny, ElementsAre("*"));
            const auto place =
                std::find_if(loaded.candidates.begin(), loaded.candidates.end(),
                             [&](const auto& each) { return each.path == world.folder / name; });
            ASSERT_NE(place, loaded.candidates.end());
            EXPECT_EQ(place->found, Candidate::Found::Read);
            EXPECT_EQ(place->scope, scope);
        }
    }
}

TEST(Sources, TwoFilesOfOneNameInYamlAreTwoFilesOfOneScope) {
    World world;
    world.folder.write("home/user/src/project/.mcp.yaml", "servers: {a: {command: first}}");
    world.folder.write("home/user/src/project/.mcp.yml",
                       "servers: {a: {command: second}, b: {command: b}}");
    const auto config = approved(world);
    EXPECT_EQ(command_of(config, "a"), "first");
    EXPECT_EQ(command_of(config, "b"), "b");
    EXPECT_THAT(all(config.diagnostics), HasSubstr(".mcp.yml:1:11: server \"a\": already defined"));
}

TEST(Sources, CandidatesListEveryPlaceStrongestLast) {
    World world;
    world.folder.write("home/user/src/project/.mcp.json", "{");
    const auto candidates = load(world.environment).candidates;
    ASSERT_FALSE(candidates.empty());
    EXPECT_EQ(candidates.front().path, world.folder / "home/user/.config/patchbay/config.toml");
    EXPECT_EQ(candidates.back().path, world.folder / "etc/enterprise.jsonc");
    const auto it = std::find_if(candidates.begin(), candidates.end(),
                                 [](const auto& c) { return c.found == Candidate::Found::Broken; });
    ASSERT_NE(it, candidates.end());
    EXPECT_EQ(it->path, world.folder / "home/user/src/project/.mcp.json");
    EXPECT_THAT(it->note, HasSubstr("not JSON"));
}

TEST(Sources, RootsStandBesideTheFileThatNamesThem) {
    World world;
    const auto folder = world.folder / "home/user/.config/patchbay";
    world.folder.write("home/user/.config/patchbay/config.toml",
                       "[client]\nroots = ['docs', '../x', '/a', 'file:///b']\n");
    EXPECT_THAT(
        load(world.environment).config.client.roots,
        ElementsAre(folder + "/docs", world.folder / "home/user/.config/x", "/a", "file:///b"));
    world.environment.sets = {"client.roots=['docs']"};
    EXPECT_THAT(load(world.environment).config.client.roots,
                ElementsAre(world.environment.working_directory + "/docs"));
}

TEST(Sources, AMisspeltTableOfRulesIsToldOnce) {
    World world;
    world.environment.sets = {"permission.x=1"};
    const auto config = load(world.environment).config;
    EXPECT_THAT(
        all(config.diagnostics),
        AllOf(HasSubstr("unknown table or key \"permission\"; did you mean \"permissions\"?"),
              HasSubstr("permissions: no tool is allowed until this is mended"),
              Not(HasSubstr("permissions.allow"))));
    EXPECT_NE(config.permissions.closed, "");
}

TEST(Sources, ANumberThatDoesNotDoIsShown) {
    World world;
    world.environment.sets = {"health.misses=-5", "limits.tools_per_server=2.5",
                              "health.ping_timeout_sec=0"};
    EXPECT_THAT(all(load(world.environment).config.diagnostics),
                AllOf(HasSubstr("from 1 to 2147483647, found -5\n"), HasSubstr(", found 2.5E0\n"),
                      HasSubstr("ping_timeout_sec: expected a number of seconds from 0.1 to "
                                "31622400, found 0\n")));
}

TEST(Sources, PluginServersAreOffUntilTheUserEnablesThem) {
    World world;
    const std::vector<PluginFragment> plugins = {
        {"/p/plugin.toml",
         "manifest = 1\nid = 'quic'\n[servers.a]\ntransport = 'quic'\n[servers.b]\ntransport = "
         "'quic'\n"},
        {"/q/plugin.toml", "not TOML"}};
    world.folder.write("home/user/.config/patchbay/config.toml", "[servers.b]\nenabled = true\n");
    const auto loaded = load(world.environment, plugins);
    EXPECT_EQ(all(loaded.config.diagnostics), "");
    EXPECT_FALSE(find(loaded.config, "a")->enabled);
    EXPECT_TRUE(find(loaded.config, "b")->enabled);
    EXPECT_EQ(find(loaded.config, "b")->place.scope, Scope::Plugin);
    EXPECT_EQ(loaded.candidates.at(1).found, Candidate::Found::Broken);
}

TEST(CheckFile, JudgesOneFileAlone) {
    World world;
    world.folder.write("x.toml", "[servers.a]\ncommand = 'x'\n[helth]\n");
    const auto checked = [&](const char* name) {
        return all(check_file(world.folder / name, Scope::User, world.environment).diagnostics);
    };
    EXPECT_THAT(checked("x.toml"),
                HasSubstr("x.toml:3:2: unknown table or key \"helth\"; did you mean \"health\"?"));
    EXPECT_THAT(checked("none.toml"), HasSubstr("none.toml: no such file"));
    world.folder.write("etc/enterprise.toml", "");
    EXPECT_THAT(checked("x.toml"), HasSubstr("x.toml: it does not count: "));
    world.folder.write("etc/enterprise.toml", "exclusive = false\n");
    EXPECT_THAT(checked("x.toml"), ::testing::Not(HasSubstr("does not count")));
}

TEST(CheckFile, KnowsWhatItsFileAdjusts) {
    World world;
    const std::string user = "home/user/.config/patchbay/config.toml",
                      project = "home/user/src/project/.patchbay/config.toml",
                      local = "home/user/src/project/.patchbay.local.toml";
    const auto checked = [&](const std::string& name, Scope scope) {
        return all(check_file(world.folder / name, scope, world.environment).diagnostics);
    };
    world.folder.write(user, saying("x") + "tool_timeout_sec = 9\n[permissions]\nallow = ['*']\n");
    world.folder.write(
        project, "[servers.a]\ndisabled_tools = ['t']\n[permissions]\nallow = ['mcp__a__*']\n");
    world.folder.write(local, "[servers.a]\ndisabled_tools = ['t', 'u']\n");
    world.folder.write("elsewhere.toml", "[servers.a]\nenabled = false\n");
    EXPECT_EQ(checked(project, Scope::Project), "");
    EXPECT_EQ(checked(local, Scope::Local), "");
    EXPECT_EQ(checked("elsewhere.toml", Scope::User), "");
    world.folder.write(project, "[servers.a]\ntool_timeout_sec = 1\n");
    EXPECT_THAT(checked(project, Scope::Project),
                HasSubstr("may not shorten a time-out of a server"));
    world.folder.write(user, "");
    EXPECT_THAT(checked(project, Scope::Project),
                HasSubstr("no weaker source defines this server"));
    world.folder.write(local, saying("y"));
    EXPECT_THAT(checked(project, Scope::Project), HasSubstr("no weaker source defines this server"))
        << "a stronger one is none";
}

TEST(OfThisProcess, IgnoresARelativeConfigHome) {
    ::setenv("XDG_CONFIG_HOME", "relative", 1);
    ::setenv("HOME", "/home/somebody", 1);
    EXPECT_EQ(Environment::of_this_process().config_home, "/home/somebody/.config");
    ::setenv("XDG_CONFIG_HOME", "/elsewhere", 1);
    EXPECT_EQ(Environment::of_this_process().config_home, "/elsewhere");
    EXPECT_EQ(Environment::of_this_process().enterprise_directory, "/etc/patchbay");
}

}  // namespace
}  // namespace patchbay::config
