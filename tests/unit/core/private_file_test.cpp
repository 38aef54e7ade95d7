// What is believed of the state directory, and what is not.
#include "core/private_file.hpp"

#include "core/private_directory.hpp"
#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::core {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class PrivateFile : public ::testing::Test {
protected:
    PrivateFile() {
        fs::create_directories(state());
        mode(root + "/home", 0755);
        mode(root + "/home/state", 0755);
        mode(state(), 0700);
    }

    std::string state() const { return root + "/home/state/patchbay"; }
    static void mode(const std::string& path, mode_t mode) {
        ASSERT_EQ(::chmod(path.c_str(), mode), 0) << path;
    }
    std::string opened(Others others = Others::MayRead, const std::string& path = {}) const {
        const auto directory =
            open_private_directory(path.empty() ? state() : path, others, Make::No);
        return !directory ? directory.error().message : directory->get() < 0 ? "absent" : "open";
    }
    std::string file(Others others = Others::MayRead) const {
        const auto directory = open_private_directory(state(), others, Make::No);
        if (!directory) return directory.error().message;
        const auto file = open_private_file(*directory, state(), "f", others);
        if (!file) return file.error().message;
        if (file->get() < 0) return "absent";
        const auto text = read_whole(*file, state() + "/f", 10);
        return text ? *text : text.error().message;
    }
    void write(const std::string& text, mode_t with = 0600) const {
        std::ofstream(state() + "/f") << text;
        mode(state() + "/f", with);
    }

    const test::ScratchFolder scratch;
    const std::string root = scratch.path();
};

TEST_F(PrivateFile, IsReadWhereOnlyItsOwnerCouldHaveWrittenIt) {
    EXPECT_EQ(file(), "absent");
    write("text");
    EXPECT_EQ(file(), "text");
    EXPECT_EQ(file(Others::MayNothing), "text");
    write("text", 0644);
    EXPECT_EQ(file(), "text");
    EXPECT_THAT(file(Others::MayNothing), HasSubstr("has mode 0644, others must not reach it; run: "
                                                    "chmod 600 " +
                                                    state() + "/f"));
    write("text", 0620);
    EXPECT_THAT(file(), HasSubstr("can be written by others; look at it, then run: chmod go-w"));
    write("ten bytes!");
    EXPECT_EQ(file(), "ten bytes!");
    write("eleven byte");
    EXPECT_THAT(file(), HasSubstr("is larger than 10 bytes"));
}

TEST_F(PrivateFile, IsReadAtOnceWithWhatStoppedItOnTheWay) {
    const auto read = [&] { return read_private(state(), "f", Others::MayRead, 10); };
    EXPECT_EQ(read().value(), std::nullopt);
    write("text");
    EXPECT_EQ(read().value(), "text");
    write("eleven byte");
    EXPECT_THAT(read().error().message, HasSubstr("is larger than 10 bytes"));
    write("text", 0620);
    EXPECT_THAT(read().error().message, HasSubstr("f can be written by others"));
    mode(state(), 0770);
    EXPECT_THAT(read().error().message, HasSubstr("patchbay can be written by others"));
    fs::remove_all(state());
    EXPECT_EQ(read().value(), std::nullopt);
}

TEST_F(PrivateFile, ItsDirectoryIsJudgedLikeIt) {
    mode(state(), 0750);
    EXPECT_EQ(opened(Others::MayRead), "open");
    EXPECT_THAT(opened(Others::MayNothing),
                HasSubstr("has mode 0750, others must not reach it; run: chmod 700 " + state()));
    mode(state(), 0730);
    EXPECT_THAT(opened(Others::MayRead),
                HasSubstr("can be written by others; look at it, then run: chmod 700 " + state()))
        << "what is advised is enough for everything that is kept there";
}

// Whoever may write a directory on the way may put another one in its place.
TEST_F(PrivateFile, EveryDirectoryAboveIsJudged) {
    for (const auto* above : {"", "/home", "/home/state"}) {
        for (const mode_t bad : {0777u, 0757u}) {
            SCOPED_TRACE(above);
            mode(root + above, bad);
            for (const auto others : {Others::MayRead, Others::MayNothing})
                EXPECT_THAT(opened(others),
                            AllOf(HasSubstr("what is kept in " + state() + " is not believed"),
                                  HasSubstr("\"" + root + above + "\": everybody may write it")));
            mode(root + above, 01777);
            EXPECT_EQ(opened(), "open") << "nobody can replace what is another's there";
            mode(root + above, 0755);
        }
    }
    EXPECT_EQ(opened(), "open");
    if (::geteuid() != 0) return;
    ASSERT_EQ(::chown((root + "/home").c_str(), 12345, 12345), 0);
    EXPECT_THAT(opened(), HasSubstr("\": it belongs to user 12345, not to you (0) or root"));
    ASSERT_EQ(::chown((root + "/home").c_str(), 0, 0), 0);
    ASSERT_EQ(::chown(state().c_str(), 12345, 12345), 0);
    EXPECT_THAT(opened(), HasSubstr("belongs to user 12345, not to you (0); move it away"));
}

TEST_F(PrivateFile, WhereALinkLeadsIsJudgedAsWell) {
    const auto link = root + "/home/link";
    fs::create_directory_symlink(state(), link);
    EXPECT_EQ(opened(Others::MayRead, link), "open");
    EXPECT_THAT(opened(Others::MayNothing, link), HasSubstr("or a symbolic link"));
    mode(root + "/home/state", 0777);
    EXPECT_THAT(opened(Others::MayRead, link), HasSubstr("everybody may write it"));
    mode(root + "/home/state", 0755);
    // A link on the way: the folder that it stands in counts, and the one it leads through.
    fs::create_directories(root + "/shared");
    fs::create_directory_symlink(root + "/home/state", root + "/shared/state");
    EXPECT_EQ(opened(Others::MayNothing, root + "/shared/state/patchbay"), "open");
    mode(root + "/shared", 0777);
    EXPECT_THAT(opened(Others::MayNothing, root + "/shared/state/patchbay"),
                HasSubstr("\"" + root + "/shared\": everybody may write it"));
    mode(root + "/shared", 0755);
    mode(root + "/home", 0777);
    EXPECT_THAT(opened(Others::MayNothing, root + "/shared/state/patchbay"),
                HasSubstr("\"" + root + "/home\": everybody may write it"));
}

TEST_F(PrivateFile, NothingThatIsNoFileIsWaitedForOrFollowed) {
    const auto path = state() + "/f";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_THAT(file(), HasSubstr("is no regular file"));
    fs::remove(path);
    fs::create_symlink("/etc/passwd", path);
    EXPECT_THAT(file(), HasSubstr("is a symbolic link"));
    std::ofstream(root + "/plain") << "x";
    EXPECT_THAT(opened(Others::MayRead, root + "/plain"), HasSubstr("is no directory"));
    for (const char* below : {"/a", "/a/b"}) {
        const auto above =
            open_private_directory(root + "/plain" + below, Others::MayNothing, Make::Yes);
        ASSERT_FALSE(above);
        EXPECT_EQ(above.error().code, ErrorCode::Invalid) << "nobody could be kept from it";
        EXPECT_THAT(above.error().message, ::testing::StartsWith(root + "/plain is no directory"));
    }
}

TEST_F(PrivateFile, ADirectoryIsMadeOnlyWhenItIsWanted) {
    const auto deep = root + "/home/new/state";
    EXPECT_EQ(opened(Others::MayNothing, deep), "absent");
    EXPECT_FALSE(fs::exists(root + "/home/new"));
    const auto made = open_private_directory(deep, Others::MayNothing, Make::Yes);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_GE(made->get(), 0);
    EXPECT_EQ(fs::status(deep).permissions(), fs::perms::owner_all);
    fs::create_directory_symlink(root + "/nowhere", root + "/home/dangling");
    EXPECT_THAT(opened(Others::MayRead, root + "/home/dangling"), HasSubstr("cannot open"));
    const auto nowhere = open_private_directory("/proc/none/x", Others::MayNothing, Make::Yes);
    ASSERT_FALSE(nowhere);
    EXPECT_THAT(nowhere.error().message, HasSubstr("cannot make /proc/none/x: No such file"));
}

TEST_F(PrivateFile, ADirectoryThatCannotBeMadeSaysWhatStoppedThoseAboveIt) {
    fs::permissions(root, fs::perms(0755));
    fs::permissions(root + "/home", fs::perms(0555));
    const auto was = ::setfsuid(::geteuid() == 0 ? 65534 : ::geteuid());  // root may write anywhere
    const bool made = make_private_directory(root + "/home/.local/state/patchbay");
    const int why = errno;
    ::setfsuid(static_cast<uid_t>(was));
    EXPECT_FALSE(made);
    EXPECT_EQ(why, EACCES);
}

TEST_F(PrivateFile, WritersTakeTurns) {
    const auto directory = open_private_directory(state(), Others::MayNothing, Make::No);
    ASSERT_TRUE(directory);
    using std::chrono::milliseconds;
    {
        const auto mine = take_turn(*directory, state(), "lock", milliseconds(10));
        ASSERT_TRUE(mine) << mine.error().message;
        const auto yours = take_turn(*directory, state(), "lock", milliseconds(10));
        ASSERT_FALSE(yours);
        EXPECT_EQ(yours.error().code, ErrorCode::Timeout);
        EXPECT_THAT(yours.error().message, HasSubstr("another process holds " + state() + "/lock"));
    }
    EXPECT_TRUE(take_turn(*directory, state(), "lock", milliseconds(10)));
    fs::create_symlink(root + "/elsewhere", state() + "/link");
    const auto led_away = take_turn(*directory, state(), "link", milliseconds(10));
    ASSERT_FALSE(led_away);
    EXPECT_THAT(led_away.error().message, HasSubstr("cannot write " + state() + "/link"));
    EXPECT_FALSE(fs::exists(root + "/elsewhere"));
}

}  // namespace
}  // namespace patchbay::core
