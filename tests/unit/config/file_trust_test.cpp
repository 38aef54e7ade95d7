// Files that others may write, or that belong to somebody else.
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Sources, AFileThatOthersMayWriteIsNotRead) {
    World world;
    const auto file = world.folder / "home/user/src/project/.mcp.toml";
    world.folder.write("home/user/src/project/.mcp.toml", saying("x"));
    const auto now = [&] { return command_of(approved(world), "a"); };
    EXPECT_EQ(now(), "x");
    ASSERT_EQ(::chmod(file.c_str(), 0646), 0);
    EXPECT_EQ(now(), "(none)");
    const auto loaded = load(world.environment);
    EXPECT_THAT(all(loaded.config.diagnostics),
                HasSubstr("warning: project config " + file +
                          ": not read, since others may write it: everybody may write it"));
    EXPECT_EQ(loaded.config.permissions.closed, "") << "a stranger's file forbids nothing either";
    ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
    // The directories that lead there count as well, but for one like /tmp.
    for (const auto* directory : {"home/user/src/project", "home/user/src", "home/user"}) {
        SCOPED_TRACE(directory);
        const auto path = world.folder / directory;
        ASSERT_EQ(::chmod(path.c_str(), 0757), 0);
        EXPECT_EQ(now(), "(none)");
        EXPECT_THAT(all(load(world.environment).config.diagnostics),
                    HasSubstr("the directory \"" + path + "\": everybody may write it"));
        ASSERT_EQ(::chmod(path.c_str(), 01777), 0);
        EXPECT_EQ(now(), "x");
        ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
    }
}

// Only root can give a file away.
TEST(Sources, AFileOfTheCheckoutThatBelongsToAnotherUserIsNotRead) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
    World world;
    world.folder.write("home/user/src/project/.patchbay/config.yaml", "health: {misses: 2}");
    for (const std::string name :
         {"home/user/src/project/.mcp.toml", "home/user/src/project/.patchbay.local.toml",
          "home/user/src/project/.patchbay/config.toml"}) {
        SCOPED_TRACE(name);
        world.folder.write(name, saying("x") + "[permissions]\ndeny = ['mcp__b__*']\n");
        ASSERT_EQ(command_of(approved(world), "a"), "x");
        for (const auto& given : {name, name.substr(0, name.rfind('/'))}) {
            SCOPED_TRACE(given);
            const auto path = world.folder / given;
            ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
            const auto config = approved(world);
            EXPECT_EQ(command_of(config, "a"), "(none)");
            EXPECT_THAT(
                all(config.diagnostics),
                AllOf(HasSubstr("warning: "), HasSubstr("not read, since others may write it"),
                      HasSubstr("it belongs to user 12345, not to you (0) or root")));
            EXPECT_TRUE(config.permissions.deny.empty()) << "nor does it forbid anything";
            EXPECT_EQ(config.permissions.closed, "");
            ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
        }
        EXPECT_EQ(command_of(approved(world), "a"), "x") << "it was nothing else";
        std::filesystem::remove(world.folder / name);
    }
}

TEST(Sources, AnEnterpriseFileThatBelongsToAnotherUserDeniesAll) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
    World world;
    world.folder.write("home/user/.config/patchbay/config.toml", saying("user"));
    world.folder.write("etc/enterprise.toml", "exclusive = false\n");
    ASSERT_EQ(command_of(load(world.environment).config, "a"), "user");
    for (const auto* given : {"etc/enterprise.toml", "etc"}) {
        SCOPED_TRACE(given);
        const auto path = world.folder / given;
        ASSERT_EQ(::chown(path.c_str(), 12345, 0), 0);
        const auto config = load(world.environment).config;
        EXPECT_TRUE(config.deny_all);
        EXPECT_THAT(all(config.diagnostics),
                    HasSubstr("it belongs to user 12345, not to you (0) or root"));
        ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
        EXPECT_FALSE(load(world.environment).config.deny_all);
    }
}

TEST(Sources, ALinkIsFollowedOnlyToWhereOthersCannotWrite) {
    World world;
    world.folder.write("shared/real.toml", saying("x"));
    std::filesystem::create_symlink(world.folder / "shared/real.toml",
                                    world.folder / "home/user/src/project/.mcp.toml");
    EXPECT_EQ(command_of(approved(world), "a"), "x");
    ASSERT_EQ(::chmod((world.folder / "shared").c_str(), 0757), 0);
    EXPECT_EQ(command_of(approved(world), "a"), "(none)");
}

TEST(Sources, AnEnterpriseFileThatAnybodyMayWriteDeniesAll) {
    World world;
    world.folder.write("home/user/.config/patchbay/config.toml", saying("user"));
    world.folder.write("etc/enterprise.toml", "exclusive = false\n");
    ASSERT_EQ(::chmod((world.folder / "etc/enterprise.toml").c_str(), 0664), 0);
    EXPECT_FALSE(load(world.environment).config.deny_all) << "a group of administrators";
    ASSERT_EQ(::chmod((world.folder / "etc/enterprise.toml").c_str(), 0646), 0);
    EXPECT_TRUE(load(world.environment).config.deny_all);
    ASSERT_EQ(::chmod((world.folder / "etc/enterprise.toml").c_str(), 0644), 0);
    EXPECT_FALSE(load(world.environment).config.deny_all);
    ASSERT_EQ(::chmod((world.folder / "etc").c_str(), 0757), 0);
    EXPECT_TRUE(load(world.environment).config.deny_all);
}

}  // namespace
}  // namespace patchbay::config
