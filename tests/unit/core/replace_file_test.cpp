// A file that is replaced whole, and what killed writers leave.
#include "core/replace_file.hpp"

#include "core/descriptor.hpp"
#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace patchbay::core {
namespace {

namespace fs = std::filesystem;
using ::testing::UnorderedElementsAre;

class ReplaceFile : public ::testing::Test {
protected:
    std::vector<std::string> names() const {
        std::vector<std::string> out;
        for (const auto& entry : fs::directory_iterator(folder_.path()))
            out.push_back(entry.path().filename());
        return out;
    }
    void leave(const std::string& name, std::chrono::seconds age) const {
        std::ofstream(folder_ / name) << "draft";
        fs::last_write_time(folder_ / name, fs::file_time_type::clock::now() - age);
    }
    static std::string content(const std::string& path) {
        std::string text;
        std::getline(std::ifstream(path), text);
        return text;
    }
    // The number of a process that has ended.
    static std::string ended() {
        const pid_t pid = ::fork();
        if (pid == 0) ::_exit(0);
        ::waitpid(pid, nullptr, 0);
        return std::to_string(pid);
    }

    const test::ScratchFolder folder_;
    const std::string path_ = folder_ / "eras.json";
};

TEST_F(ReplaceFile, LeavesTheNewTextAndNothingElse) {
    ASSERT_TRUE(replace_file(path_, "one"));
    ASSERT_TRUE(replace_file(path_, "two"));
    EXPECT_EQ(content(path_), "two");
    EXPECT_THAT(names(), UnorderedElementsAre("eras.json"));
    EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(ReplaceFile, RemovesTheDraftsOfProcessesThatAreGone) {
    using std::chrono::hours;
    const auto gone = ended();
    const auto there = std::to_string(::getppid());
    leave("eras.json." + gone, hours(1));
    leave("eras.json." + there, hours(1));
    leave("eras.json.bak", hours(1000));
    leave("eras.json." + gone + "x", hours(1000));
    leave("other.json." + gone, hours(1));
    leave("eras.json." + gone + ".3", hours(1));
    ASSERT_TRUE(replace_file(path_, "text"));
    EXPECT_THAT(names(), UnorderedElementsAre("eras.json", "eras.json." + there, "eras.json.bak",
                                              "eras.json." + gone + "x", "other.json." + gone));
    leave("eras.json." + there, hours(25));
    ASSERT_TRUE(replace_file(path_, "text"));
    EXPECT_FALSE(fs::exists(path_ + "." + there)) << "another process has that number now";
}

TEST_F(ReplaceFile, LeavesADraftThatWasJustWrittenAlone) {
    const auto gone = ended();  // or in another PID namespace
    leave("eras.json." + gone, std::chrono::seconds(0));
    ASSERT_TRUE(replace_file(path_, "text"));
    EXPECT_TRUE(fs::exists(path_ + "." + gone));
}

TEST_F(ReplaceFile, ThatIsDurableIsTheSameFile) {
    ASSERT_TRUE(replace_file(path_, "one", Durable::Yes));
    ASSERT_TRUE(replace_file(path_, "two", Durable::Yes));
    EXPECT_EQ(content(path_), "two");
    EXPECT_THAT(names(), UnorderedElementsAre("eras.json"));
}

TEST_F(ReplaceFile, DoesNotFollowALinkInTheDraftsPlace) {
    fs::create_symlink(folder_ / "elsewhere", path_ + "." + std::to_string(::getpid()));
    ASSERT_TRUE(replace_file(path_, "text"));
    EXPECT_EQ(content(path_), "text");
    EXPECT_FALSE(fs::exists(folder_ / "elsewhere"));
}

TEST_F(ReplaceFile, ThatFailsNamesTheFileAndLeavesNoDraft) {
    fs::create_directory(path_);
    const auto replaced = replace_file(path_, "text");
    ASSERT_FALSE(replaced);
    EXPECT_THAT(replaced.error().message, ::testing::HasSubstr("cannot write " + path_));
    EXPECT_THAT(names(), UnorderedElementsAre("eras.json"));
    EXPECT_FALSE(replace_file("/nonexistent/folder/file", "text"));
}

// A pipe that is full until the third signal has come.
int g_full_end;
volatile std::sig_atomic_t g_rings;
void on_alarm(int) {
    const int error = errno;  // of whom it interrupts
    static char some[4096];
    g_rings = g_rings + 1;
    if (g_rings < 3) return;
    while (::read(g_full_end, some, sizeof some) > 0) {
    }
    errno = error;
}

TEST(WriteWhole, GoesOnAfterASignalAndEndsAtAnError) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ASSERT_EQ(::fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    g_full_end = ends[0];
    g_rings = 0;
    struct sigaction ours {
    }, before{};
    ours.sa_handler = on_alarm;  // without SA_RESTART
    ASSERT_EQ(::sigaction(SIGALRM, &ours, &before), 0);
    const itimerval often{{0, 5000}, {0, 5000}}, never{};
    ASSERT_EQ(::setitimer(ITIMER_REAL, &often, nullptr), 0);
    const bool written = write_whole(ends[1], std::string(200'000, 'x'));
    ASSERT_EQ(::setitimer(ITIMER_REAL, &never, nullptr), 0);
    ASSERT_EQ(::sigaction(SIGALRM, &before, nullptr), 0);
    ASSERT_TRUE(written);
    EXPECT_GE(g_rings, 3);
    const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    EXPECT_FALSE(write_whole(full.get(), "x"));
    for (const int end : ends) ::close(end);
}

TEST_F(ReplaceFile, KeepsTheModeOfAFileThatIsNotOurs) {
    ASSERT_TRUE(replace_file(path_, "one"));
    Likeness likeness;
    likeness.mode = 0644;
    likeness.group = ::getegid();
    ASSERT_TRUE(replace_file(path_, "two", likeness));
    EXPECT_EQ(static_cast<unsigned>(fs::status(path_).permissions()), 0644u);
    EXPECT_EQ(content(path_), "two");
}

// `settings.json.1` and `settings.json.20251101` are what people and rotations call theirs.
TEST_F(ReplaceFile, BesideAFileThatIsNotOursTakesNumberedOnesForNoDraft) {
    const auto ours = std::to_string(::getpid()), gone = ended();
    for (const auto& number : {ours, gone, std::string("1"), std::string("20251101")})
        leave("eras.json." + number, std::chrono::hours(1000));
    leave("eras.json.patchbay-" + gone, std::chrono::hours(1));
    ASSERT_TRUE(replace_file(path_, "text", Likeness()));
    EXPECT_THAT(names(), UnorderedElementsAre("eras.json", "eras.json." + ours, "eras.json." + gone,
                                              "eras.json.1", "eras.json.20251101"));
    EXPECT_EQ(content(path_ + "." + ours), "draft");
}

TEST_F(ReplaceFile, ALastLookThatFailsLeavesTheOldTextAndNoDraft) {
    ASSERT_TRUE(replace_file(path_, "one"));
    Likeness likeness;
    std::vector<std::string> seen;
    likeness.last_look = [&]() -> Result<void> {
        seen = names();
        return Error{ErrorCode::Unavailable, "somebody was here"};
    };
    const auto refused = replace_file(path_, "two", likeness);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "somebody was here");
    EXPECT_EQ(seen.size(), 2u);  // the draft was beside it
    EXPECT_EQ(content(path_), "one");
    EXPECT_THAT(names(), UnorderedElementsAre("eras.json"));
}

}  // namespace
}  // namespace patchbay::core
