#include "core/ownership.hpp"

#include "core/descriptor.hpp"
#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace patchbay::core {
namespace {

using ::testing::HasSubstr;

constexpr uid_t kMe = 1000, kRoot = 0, kOther = 1001;
constexpr gid_t kMine = 1000, kShared = 50;

std::string judged(uid_t owner, gid_t group, mode_t mode, Groups groups = Groups::Refused) {
    struct stat status {};
    status.st_uid = owner;
    status.st_gid = group;
    status.st_mode = mode;
    return who_else_writes(status, {kMe, kMine, groups}, "/it's");
}

TEST(Ownership, OnlyTheUserAndRootMayWrite) {
    EXPECT_EQ(judged(kMe, kShared, S_IFREG | 0644), "");
    EXPECT_EQ(judged(kRoot, kShared, S_IFREG | 0644), "");
    EXPECT_EQ(judged(kMe, kMine, S_IFREG | 0664), "") << "nobody else is in that group";
    EXPECT_EQ(judged(kRoot, 0, S_IFDIR | 0775), "");
    EXPECT_THAT(judged(kOther, kMine, S_IFREG | 0600), HasSubstr("it belongs to user 1001"));
    EXPECT_THAT(judged(kMe, kMine, S_IFREG | 0646), HasSubstr(R"(run: chmod o-w '/it'\''s')"));
    EXPECT_THAT(judged(kMe, kShared, S_IFREG | 0664), HasSubstr("its group (50) may write it"));
    EXPECT_THAT(judged(kMe, kShared, S_IFDIR | 0775), HasSubstr(R"(run: chmod g-w '/it'\''s')"));
    EXPECT_THAT(judged(kMe, kMine, S_IFDIR | 0777), HasSubstr("everybody"));
}

TEST(Ownership, AStickyDirectoryIsSharedSafelyUnlessItIsAStrangers) {
    EXPECT_EQ(judged(kRoot, 0, S_IFDIR | 01777), "");
    EXPECT_EQ(judged(kRoot, kShared, S_IFDIR | 01775), "");
    EXPECT_THAT(judged(kOther, 0, S_IFDIR | 01777), HasSubstr("it belongs to user 1001"));
    EXPECT_THAT(judged(kMe, kMine, S_IFREG | 01666), HasSubstr("everybody"))
        << "of a file the bit means nothing";
}

TEST(Ownership, OfALinkOnlyTheOwnerCounts) {
    EXPECT_EQ(judged(kMe, kShared, S_IFLNK | 0777), "");
    EXPECT_THAT(judged(kOther, kShared, S_IFLNK | 0777), HasSubstr("it belongs to user 1001"));
}

TEST(Ownership, AdministratorsMayShareByAGroup) {
    EXPECT_EQ(judged(kRoot, kShared, S_IFREG | 0664, Groups::Trusted), "");
    EXPECT_THAT(judged(kRoot, kShared, S_IFREG | 0646, Groups::Trusted), HasSubstr("everybody"));
    EXPECT_THAT(judged(kOther, kShared, S_IFREG | 0644, Groups::Trusted),
                HasSubstr("it belongs to user 1001"));
}

TEST(Ownership, WhatIsGoneCannotBeReplacedAndIsNotBelieved) {
    const auto us = Writers::of_this_process(Groups::Refused);
    EXPECT_EQ(who_else_replaces("/nowhere/file", us), "");
    EXPECT_EQ(who_else_writes(-1, us), "Bad file descriptor");
    const test::ScratchFolder folder;
    const auto name = folder / "file";
    const Descriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
    EXPECT_EQ(who_else_writes(file.get(), us), "");
    ::unlink(name.c_str());
    EXPECT_EQ(who_else_writes(file.get(), us), "it was moved while it was read");
}

}  // namespace
}  // namespace patchbay::core
