// What stands in the folder of enterprise files, or in its place.
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
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Sources, NothingEscapesAnExclusiveEnterpriseFile) {
    World world;
    world.folder.write("etc/enterprise.yaml", "servers: {theirs: {command: x}}");
    world.folder.write("home/user/.config/patchbay/config.toml", "not even TOML");
    world.folder.write("flag.toml", saying("flag"));
    world.environment.config_files = {world.folder / "flag.toml"};
    world.environment.sets = {"servers.b.command=x", "servers.theirs.enabled=false"};
    world.variables = {{"PATCHBAY_CONFIG_JSON", R"({"servers": {"c": {"command": "x"}}})"},
                       {"MCP_TOOL_TIMEOUT", "5"},
                       {"PATCHBAY_ENTERPRISE_DIRECTORY", "/nowhere"}};
    const auto loaded =
        load(world.environment, {{"/p/plugin.toml", "[servers.d]\ncommand = 'x'\n"}});
    ASSERT_EQ(loaded.config.servers.size(), 1u);
    EXPECT_EQ(loaded.config.servers[0].id, "theirs");
    EXPECT_TRUE(loaded.config.servers[0].enabled);
    EXPECT_EQ(loaded.config.servers[0].tool_timeout, std::chrono::hours(27));
    for (const char* ignored : {"--set", "MCP_TOOL_TIMEOUT", "PATCHBAY_CONFIG_JSON", "flag.toml"})
        EXPECT_THAT(all(loaded.config.diagnostics),
                    HasSubstr(std::string(ignored) + ": ignored: "));
    for (const auto& candidate : loaded.candidates) {
        if (candidate.scope == Scope::Enterprise) continue;
        EXPECT_EQ(candidate.found, Candidate::Found::Ignored) << candidate.path;
    }
}

TEST(Sources, AFileThatIsNearlyAnEnterpriseFileDeniesAll) {
    for (const auto* name : {"Enterprise.toml",
                             "enterprise.TOML",
                             "enterprise.tml",
                             "enterprise.yaaml",
                             "enterprize.json",
                             "entreprise.yml",
                             " enterprise.toml",
                             "enterprise.toml ",
                             "enterprise",
                             "Enterprise",
                             "ENTERPRISE.INI",
                             "enterprise.conf",
                             "enterprise.cfg",
                             "enterprise.txt",
                             "enterprise.to",
                             "enterprise.toml.txt",
                             "enterprise.yaml.json",
                             "enterprise.toml.yaml",
                             "enterprise..toml",
                             "enterprise-policy.toml",
                             "enterprise_policy.toml",
                             "enterprise2.toml",
                             "enterprise-notes.txt",
                             "enterpris\xD0\xB5.toml",
                             "enterprise\xE2\x80\x8B.toml",
                             "enterprise.toml\xE2\x80\x8B",
                             "\357\273\277enterprise.toml",
                             "e\342\200\215\342\200\215nterprise.toml",
                             "\357\270\217\357\270\217enterprise.toml"}) {
        World world;
        world.folder.write("etc/" + std::string(name), "exclusive = false\n");
        const auto config = load(world.environment).config;
        EXPECT_TRUE(config.deny_all) << name;
        EXPECT_THAT(all(config.diagnostics),
                    AllOf(HasSubstr("etc/" + std::string(name)),
                          HasSubstr("expected to be one of enterprise.toml")));
    }
    for (const auto* name : {"enterprise", "enterprise.d", "enterprise.toml.d"}) {
        World world;
        world.folder.make("etc/" + std::string(name));
        EXPECT_TRUE(load(world.environment).config.deny_all) << "the folder " << name;
    }
    for (const auto* name : {"enterprise.toml~",
                             "enterprise.toml.bak",
                             "enterprise.bak",
                             "enterprise.toml.BAK",
                             "enterprise.toml.orig",
                             ".enterprise.toml.swp",
                             "enterprise.toml.swp",
                             "enterprise.toml.old",
                             "enterprise.toml.save",
                             "enterprise.toml.tmp",
                             "enterprise.toml.sha256",
                             "enterprise-ca.pem",
                             "enterprise.md",
                             "enterprise.toml.dpkg-new",
                             "enterprise.toml.rpmsave",
                             "enterprise.toml.ucf-dist",
                             "#enterprise.toml#",
                             ".#enterprise.toml",
                             "company.toml",
                             "policy.toml",
                             "mcp.json"}) {
        World world;
        world.folder.write("etc/" + std::string(name), "exclusive = false\n");
        EXPECT_FALSE(load(world.environment).config.deny_all) << name;
    }
}

TEST(Sources, AMisnamedEnterpriseFileDeniesAllBesideAWholeOne) {
    World world;
    world.folder.write("etc/enterprise.toml", "exclusive = false\n");
    EXPECT_FALSE(load(world.environment).config.deny_all);
    world.folder.write("etc/enterprise.toml.txt", "exclusive = false\n");
    EXPECT_TRUE(load(world.environment).config.deny_all);
}

TEST(Sources, WhatStandsForTheEnterpriseFolderAndIsNoneDeniesAll) {
    const struct {
        const char* what;
        void (*make)(const std::string& path);
        const char* says;
    } cases[] = {
        {"a link to nowhere",
         [](const std::string& path) { std::filesystem::create_symlink("/nonexistent/x", path); },
         "a link that leads to no folder: No such file or directory"},
        {"a link to itself",
         [](const std::string& path) { std::filesystem::create_symlink(path, path); },
         "a link that leads to no folder: Too many levels"},
        {"a file", [](const std::string& path) { std::ofstream(path) << "x = 1\n"; },
         "not a folder"},
        {"a pipe", [](const std::string& path) { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); },
         "not a folder"},
        {"a link to a file",
         [](const std::string& path) { std::filesystem::create_symlink("/dev/null", path); },
         "not a folder"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.what);
        World world;
        world.folder.write("home/user/.config/patchbay/config.toml", saying("user"));
        c.make(world.folder / "etc");
        const auto loaded = load(world.environment);
        EXPECT_TRUE(loaded.config.deny_all);
        EXPECT_TRUE(loaded.config.servers.empty());
        EXPECT_THAT(loaded.config.stop,
                    AllOf(HasSubstr("enterprise config " + (world.folder / "etc") + ": "),
                          HasSubstr(c.says)));
        EXPECT_EQ(loaded.candidates.back().path, world.folder / "etc");
        EXPECT_EQ(loaded.candidates.back().found, Candidate::Found::Unreadable);
    }
    World below;
    below.folder.write("etc", "");
    below.environment.enterprise_directory = below.folder / "etc/patchbay";
    EXPECT_THAT(load(below.environment).config.stop, HasSubstr("Not a directory"));
    World linked;
    linked.folder.write("real/enterprise.toml", "exclusive = false\n");
    std::filesystem::create_symlink(linked.folder / "real", linked.folder / "etc");
    EXPECT_FALSE(load(linked.environment).config.deny_all) << "a link to a folder is one";
}

TEST(Sources, AnEnterpriseFolderThatCannotBeListedDeniesAllWithoutAFileThatIsRead) {
    World world;
    world.folder.write("etc/Enterprise.toml", "exclusive = false\n");
    std::filesystem::permissions(world.folder / ".", std::filesystem::perms(0755));
    std::filesystem::permissions(world.folder / "etc", std::filesystem::perms(0711));
    const auto as_another_user = [&] {
        const auto was = ::setfsuid(::geteuid() == 0 ? 65534 : ::geteuid());  // root may list any
        auto config = load(world.environment).config;
        ::setfsuid(static_cast<uid_t>(was));
        return config;
    };
    if (::geteuid() != 0)
        std::filesystem::permissions(world.folder / "etc", std::filesystem::perms(0311));
    const auto unlisted = as_another_user();
    EXPECT_TRUE(unlisted.deny_all);
    EXPECT_THAT(unlisted.stop,
                AllOf(HasSubstr("enterprise config " + (world.folder / "etc") + ": "),
                      HasSubstr("cannot list it: Permission denied, and it has none of "
                                "enterprise.toml, enterprise.yaml")));
    world.folder.write("etc/enterprise.toml", "exclusive = false\n");
    const auto read = as_another_user();
    EXPECT_FALSE(read.deny_all) << all(read.diagnostics);
    std::filesystem::permissions(world.folder / "etc", std::filesystem::perms(0755));
    EXPECT_TRUE(load(world.environment).config.deny_all) << "who sees the other one is told";
}

TEST(Sources, ABrokenEnterpriseFileDeniesAll) {
    for (const auto* text : {"exclusive = false\n[", "exclusive = 'no'", "servers = 3",
                             "exclusive = false\npolicy = 'none'"}) {
        SCOPED_TRACE(text);
        World world;
        world.folder.write("home/user/.config/patchbay/config.toml", saying("user"));
        world.folder.write("etc/enterprise.toml", text);
        const auto config = load(world.environment).config;
        EXPECT_TRUE(config.deny_all);
        EXPECT_TRUE(config.servers.empty());
        EXPECT_THAT(all(config.diagnostics), HasSubstr("every server and tool is denied"));
    }
    World world;
    world.folder.make("etc/enterprise.json");
    EXPECT_TRUE(load(world.environment).config.deny_all);
}

}  // namespace
}  // namespace patchbay::config
