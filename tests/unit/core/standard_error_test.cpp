// What is said to nobody.
#include "core/standard_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace patchbay::core {
namespace {

constexpr unsigned kSeconds = 60;
constexpr int kLines = 100'000;

// In a process of its own, whose stderr is `mine`.
[[noreturn]] void talk(int mine, int full, int go_on, uid_t as) {
    ::alarm(kSeconds);
    ::dup2(mine, STDERR_FILENO);
    if (as != ::geteuid() && ::setuid(as) != 0) ::_exit(2);
    standard_error::do_not_wait();
    for (int i = 0; i < kLines; ++i) standard_error::write("a line that nobody reads\n");
    char byte = 0;
    const bool told = ::write(full, &byte, 1) == 1 && ::read(go_on, &byte, 1) == 1;
    standard_error::write("and one that somebody does\n");
    ::_exit(told ? 0 : 1);
}

std::string read_all(int fd) {
    std::string all;
    char bytes[4096];
    for (;;) {
        const auto got = ::read(fd, bytes, sizeof bytes);
        if (got <= 0) return all;
        all.append(bytes, static_cast<std::size_t>(got));
    }
}

void expect_no_wait(int mine, int theirs, uid_t as = ::geteuid()) {
    int full[2], go_on[2];
    ASSERT_EQ(::pipe(full), 0);
    ASSERT_EQ(::pipe(go_on), 0);
    const auto pid = ::fork();
    if (pid == 0) talk(mine, full[1], go_on[0], as);
    for (const int fd : {mine, full[1], go_on[0]}) ::close(fd);
    char byte = 0;
    EXPECT_EQ(::read(full[0], &byte, 1), 1) << "it stands still";
    ::fcntl(theirs, F_SETFL, O_NONBLOCK);
    read_all(theirs);
    ::fcntl(theirs, F_SETFL, 0);
    EXPECT_EQ(::write(go_on[1], &byte, 1), 1);
    EXPECT_THAT(read_all(theirs),
                ::testing::ContainsRegex(
                    "warning: [0-9]+ lines were lost, as nobody read stderr\nand one that "));
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
    for (const int fd : {theirs, full[0], go_on[1]}) ::close(fd);
}

TEST(StandardError, IsNotWaitedForAndWhatIsLostIsCounted) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    expect_no_wait(ends[1], ends[0]);
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    expect_no_wait(ends[1], ends[0]);
}

// As of `sudo -u somebody patchbay run 2>&1 | less`: it cannot be opened anew.
TEST(StandardError, OfAnotherUserIsNotWaitedForEither) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
    constexpr uid_t kNobody = 65534;
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    expect_no_wait(ends[1], ends[0], kNobody);
}

}  // namespace
}  // namespace patchbay::core
