// A server's program as the transports start and end it, with a host that is turned by hand.
#include "child.hpp"

#include "unit/plugins_common/program_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>

using namespace patchbay;
using namespace patchbay::transport;
using namespace patchbay::test;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

struct Exits final : Child::Listener {
    int times = 0;
    bool throws = false;
    void child_exited() override {
        ++times;
        if (throws) throw std::runtime_error("oh");
    }
};

class ChildTest : public ProgramTest {
protected:
    using Turn = ChannelCore::Turn;

    ChildTest() { open_ends(); }
    ~ChildTest() override {
        if (child_ && child_->running()) exit(0);
        child_.reset();
        if (!started_)
            for (const int fd : host_.child_fds) ::close(fd);
    }
    void start(const std::string& config, Child::Stdout use = Child::Stdout::Messages,
               const std::vector<patchbay_kv>& credentials = {}) {
        core_.emplace(host_.params());
        child_.emplace(*core_, exits_);
        const Turn turn(*core_);
        child_->start(sdk::Config(config), credentials.data(), credentials.size(), use);
        started_ = true;
        stdout_ = use == Child::Stdout::Messages ? child_->take_stdout() : -1;
        if (stdout_ >= 0) ::close(stdout_);
    }
    // Why it is not started.
    std::string refusal(const std::string& config) {
        try {
            start(config);
        } catch (const sdk::Failure& failure) {
            return std::to_string(failure.code()) + " " + failure.what();
        }
        return "started";
    }
    void stop(std::chrono::milliseconds grace) {
        const Turn turn(*core_);
        child_->stop(grace);
    }
    // What it says of an exit with `code`, stopped before with that grace if there is one.
    bool leaves_by_itself(std::int32_t code,
                          std::optional<std::chrono::milliseconds> grace = std::nullopt) {
        start(R"({"command":"x"})");
        if (grace) stop(*grace);
        host_.child.exited(host_.child.ctx, code);
        const bool itself = child_->left_by_itself();
        host_.run_posted();
        return itself;
    }
    bool input_has_ended() const {
        char byte;
        return ::read(input_, &byte, 1) == 0;
    }

    Exits exits_;
    std::optional<ChannelCore> core_;
    std::optional<Child> child_;
    bool started_ = false;
    int stdout_ = -1;
};

TEST_F(ChildTest, IsStartedAsConfigured) {
    ::setenv("PATCHBAY_TEST_PASSED", "given", 1);
    ::setenv("PATCHBAY_TEST_STRONGER", "weaker", 1);
    ::unsetenv("PATCHBAY_TEST_NONE");
    start(R"({"command":"server","args":["--port","1"],"cwd":"/srv",
              "env":{"A":"1","PATCHBAY_TEST_STRONGER":"said"},
              "pass_env":["PATCHBAY_TEST_PASSED","PATCHBAY_TEST_STRONGER","PATCHBAY_TEST_NONE"]})",
          Child::Stdout::Messages,
          {{sdk::str("TOKEN"), sdk::str("t"), PATCHBAY_KV_ENV, 0},
           {sdk::str("Authorization"), sdk::str("Bearer t"), PATCHBAY_KV_SECRET, 0}});
    EXPECT_THAT(host_.child.argv, ElementsAre("server", "--port", "1"));
    EXPECT_EQ(host_.child.cwd, "/srv");
    EXPECT_THAT(host_.child.env, ElementsAre("PATCHBAY_TEST_PASSED=given", "A=1",
                                             "PATCHBAY_TEST_STRONGER=said", "TOKEN=t"));
    EXPECT_EQ(host_.child.flags, 0u);
    EXPECT_TRUE(child_->running());
    ::unsetenv("PATCHBAY_TEST_PASSED");
    ::unsetenv("PATCHBAY_TEST_STRONGER");
}

TEST_F(ChildTest, TakesACommandThatIsAListAndSharesPidsWhenItIsTold) {
    start(R"({"command":["server","one"],"args":["two"],"pid_namespace":false})");
    EXPECT_THAT(host_.child.argv, ElementsAre("server", "one", "two"));
    EXPECT_EQ(host_.child.flags, std::uint32_t{PATCHBAY_PROCESS_SHARED_PIDS});
}

TEST_F(ChildTest, IsRefusedWithTheReason) {
    EXPECT_EQ(refusal("{}"), "-2 command is empty");
    EXPECT_EQ(refusal(R"({"command":""})"), "-2 command is empty");
    EXPECT_EQ(refusal(R"({"command":[""],"args":["x"]})"), "-2 command is empty");
    host_.spawn_status = PATCHBAY_E_UNSUPPORTED;
    EXPECT_EQ(refusal(R"({"command":"x"})"), "-3 not here");
    host_.has_process = false;
    EXPECT_THAT(refusal(R"({"command":"x"})"), HasSubstr("the host grants no"));
}

TEST_F(ChildTest, TellsItsNumberAndItsStderrLineByLine) {
    start(R"({"command":"x"})");
    host_.child.started(host_.child.ctx, 77);
    write(errors_, "one\ntw");
    ASSERT_TRUE(host_.ready(host_.child_fds[2], ChannelCore::kReadable));
    EXPECT_THAT(host_.told, ElementsAre("pid=77", "output 1 one"));
    write(errors_, "o\n");
    ASSERT_TRUE(host_.ready(host_.child_fds[2], ChannelCore::kReadable));
    EXPECT_EQ(host_.told.back(), "output 1 two");
}

TEST_F(ChildTest, ShowsTheLastLineOfAStderrThatEnds) {
    start(R"({"command":"x"})");
    write(errors_, "cut");
    ASSERT_TRUE(host_.ready(host_.child_fds[2], ChannelCore::kReadable));
    EXPECT_THAT(host_.told, IsEmpty());
    ::close(std::exchange(errors_, -1));
    ASSERT_TRUE(host_.ready(host_.child_fds[2], ChannelCore::kReadable));
    EXPECT_THAT(host_.told, ElementsAre("output 1 cut"));
    EXPECT_EQ(host_.watch_of(host_.child_fds[2]), nullptr);
}

TEST_F(ChildTest, ShowsItsStdoutWhenThatIsForPeople) {
    start(R"({"command":"x"})", Child::Stdout::ForPeople);
    write(output_, "listening\n");
    ASSERT_TRUE(host_.ready(host_.child_fds[1], ChannelCore::kReadable));
    EXPECT_THAT(host_.told, ElementsAre("output 2 listening"));
    write(output_, "bye");
    write(errors_, "why");
    exit(0);
    EXPECT_THAT(host_.told, ElementsAre("output 2 listening", "output 1 why", "output 2 bye"));
}

TEST_F(ChildTest, PassesOnAllOfItsStderrBeforeItsEndIsTold) {
    start(R"({"command":"x"})");
    write(errors_, std::string(40'000, '\n') + "last words");
    host_.child.exited(host_.child.ctx, 3);
    EXPECT_FALSE(child_->running());
    EXPECT_EQ(exits_.times, 0) << "on the reactor's thread";
    host_.run_posted();
    EXPECT_EQ(exits_.times, 1);
    EXPECT_THAT(host_.told, ElementsAre("output 1 last words"));
    EXPECT_TRUE(input_has_ended());
    EXPECT_THAT(host_.operations, IsEmpty());
}

TEST_F(ChildTest, TellsItsEndAtOnceToAHostThatTakesNoPost) {
    start(R"({"command":"x"})");
    host_.refuses = true;
    exit(0);
    EXPECT_EQ(exits_.times, 1);
}

TEST_F(ChildTest, CountsAsOpenUntilItHasLeft) {
    start(R"({"command":"x"})");
    {
        const Turn turn(*core_);
        core_->finish(PATCHBAY_OK, "");
    }
    host_.child.exited(host_.child.ctx, 0);
    EXPECT_THAT(host_.told, IsEmpty());
    host_.run_posted();
    EXPECT_THAT(host_.told, ElementsAre("closed"));
}

TEST_F(ChildTest, WorksWithAHostThatWatchesNothing) {
    host_.refuses = true;
    start(R"({"command":"x"})");
    EXPECT_EQ(::fcntl(host_.child_fds[2], F_GETFD), -1) << "nobody reads it, so it is closed";
    EXPECT_TRUE(child_->running());
}

TEST_F(ChildTest, LosesItsInputAndIsStoppedWithItsGrace) {
    start(R"({"command":"x"})");
    stop(1500ms);
    EXPECT_TRUE(input_has_ended());
    ASSERT_EQ(host_.stops.size(), 1u);
    EXPECT_THAT(host_.stops[0], testing::EndsWith(" 1500"));
    exit(0);
    stop(1ms);
    EXPECT_EQ(host_.stops.size(), 1u) << "it has left";
}

TEST_F(ChildTest, SaysHowItEnded) {
    const std::pair<std::int32_t, std::string> cases[] = {
        {0, "server process exited with code 0"},
        {255, "server process exited with code 255"},
        {256 + SIGKILL, "server process was killed by signal 9 (SIGKILL)"},
        {256 + 120, "server process was killed by signal 120"}};
    start(R"({"command":"x"})");
    for (const auto& [code, text] : cases) {
        host_.child.exited(host_.child.ctx, code);
        EXPECT_EQ(child_->describe_exit(), text);
        const Turn turn(*core_);
        core_->departed();  // it is told once only: the next case is another end
    }
    for (std::size_t i = 1; i < std::size(cases); ++i) {
        const Turn turn(*core_);
        core_->arrived();
    }
}

TEST_F(ChildTest, ItsEndIsToldAsFactsWithWhatItCostAndTheLimitThatItReached) {
    start(R"({"command":"x","limits":{"memory":"33554432","cpu_seconds":"7"}})");
    EXPECT_THAT(host_.child.limits, ElementsAre(33'554'432u, 7u, 0u, 0u));
    host_.usage =
        patchbay_process_usage{sizeof(patchbay_process_usage), PATCHBAY_LIMIT_MEMORY, 1500, 4096};
    exit(256 + SIGKILL);
    EXPECT_EQ(host_.facts, (std::map<std::string, std::string>{{"cpu_ms", "1500"},
                                                               {"peak_memory_bytes", "4096"},
                                                               {"limit", "memory"},
                                                               {"exit", "signal 9"}}));
    EXPECT_EQ(child_->describe_exit(),
              "server process was killed by signal 9 (SIGKILL); it reached its limit "
              "(limits.memory = 33554432)");
}

TEST_F(ChildTest, OfAHostThatDoesNotCountOnlyItsExitIsKnown) {
    start(R"({"command":"x"})");
    exit(3);
    EXPECT_EQ(host_.facts, (std::map<std::string, std::string>{{"exit", "code 3"}}));
}

TEST_F(ChildTest, WhatItWritesBeyondItsLimitEndsItAtOnce) {
    start(R"({"command":"x","limits":{"output_bytes":"10"}})");
    {
        const Turn turn(*core_);
        child_->count_output(10);
        EXPECT_THAT(host_.stops, IsEmpty());
        child_->count_output(1);
        child_->count_output(1);
    }
    ASSERT_EQ(host_.stops.size(), 1u);
    EXPECT_THAT(host_.stops[0], testing::EndsWith(" 0")) << "without a grace";
    exit(256 + SIGKILL);
    EXPECT_EQ(host_.facts["limit"], "output_bytes");
}

TEST_F(ChildTest, ALimitThatIsNoNumberStartsNothing) {
    for (const auto* text : {"", "0", "x", "-1", "1 GiB", "99999999999999999999"})
        EXPECT_THAT(refusal(R"({"command":"x","limits":{"memory":")" + std::string(text) + "\"}}"),
                    HasSubstr("limits.memory is no number"))
            << text;
}

// A program that gets TERM or KILL after its grace did not leave by itself.
TEST_F(ChildTest, LeftByItselfUnlessItWasMadeTo) {
    EXPECT_TRUE(leaves_by_itself(256 + SIGTERM)) << "nobody had stopped it";
}

TEST_F(ChildTest, DidNotLeaveByItselfWhenItsGraceWasOver) {
    EXPECT_FALSE(leaves_by_itself(256 + SIGTERM, 0ms));
}

TEST_F(ChildTest, DidNotLeaveByItselfWhenItHadToBeKilled) {
    EXPECT_FALSE(leaves_by_itself(256 + SIGKILL, 0ms));
}

TEST_F(ChildTest, LeftByItselfWithACodeOfItsOwnHoweverLate) {
    EXPECT_TRUE(leaves_by_itself(1, 0ms));
}

TEST_F(ChildTest, LeftByItselfWithinItsGrace) {
    EXPECT_TRUE(leaves_by_itself(256 + SIGKILL, 1h));
}

// As much as the largest pipe holds: a file stands for a descendant that goes on writing.
TEST_F(ChildTest, ReadsAMebibyteOfItsLastWordsAndNoMore) {
    std::string said(64 * (16u << 10) - 5, '\n');
    said += "last" + std::string(1000, 'x');
    const int file = ::memfd_create("said", MFD_CLOEXEC);
    write(file, said);
    ASSERT_EQ(::lseek(file, 0, SEEK_SET), 0);
    ASSERT_EQ(::dup3(file, host_.child_fds[2], O_CLOEXEC), host_.child_fds[2]);
    start(R"({"command":"x"})");
    exit(0);
    EXPECT_EQ(::lseek(file, 0, SEEK_CUR), 1 << 20);
    EXPECT_THAT(host_.told, ElementsAre("output 1 lastx"));
    ::close(file);
}

TEST_F(ChildTest, GivesUpOutputThatCannotBeRead) {
    const int folder = ::open("/", O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(::dup3(folder, host_.child_fds[2], O_CLOEXEC), host_.child_fds[2]);
    ::close(folder);
    start(R"({"command":"x"})");
    ASSERT_TRUE(host_.ready(host_.child_fds[2], ChannelCore::kReadable));
    EXPECT_EQ(host_.watch_of(host_.child_fds[2]), nullptr);
    EXPECT_EQ(::fcntl(host_.child_fds[2], F_GETFD), -1);
}

// What a host gets whose own standard input is closed.
class ChildWithZero : public ChildTest, public testing::WithParamInterface<int> {
protected:
    ChildWithZero() {
        int& fd = host_.child_fds[GetParam()];
        ::dup2(fd, 0);
        ::close(std::exchange(fd, 0));
    }
    ~ChildWithZero() override {
        if (child_ && child_->running()) exit(0);
        child_.reset();
        if (kept_ < 0) return;
        ::dup2(kept_, 0);
        ::close(kept_);
    }
    static bool zero_is_open() { return ::fcntl(0, F_GETFD) != -1; }

private:
    const int kept_ = ::fcntl(0, F_DUPFD_CLOEXEC, 3);
};

TEST_P(ChildWithZero, ClosesItWhenItHasLeft) {
    start(R"({"command":"x"})", Child::Stdout::ForPeople);
    EXPECT_TRUE(zero_is_open());
    exit(0);
    EXPECT_FALSE(zero_is_open());
}

TEST_P(ChildWithZero, ClosesItWhenItGoesItself) {
    start(R"({"command":"x"})", Child::Stdout::ForPeople);
    child_.reset();
    EXPECT_FALSE(zero_is_open());
}

TEST_P(ChildWithZero, ClosesItsInputWhenItIsStopped) {
    start(R"({"command":"x"})", Child::Stdout::ForPeople);
    stop(1s);
    EXPECT_EQ(zero_is_open(), GetParam() != 0);
    EXPECT_TRUE(input_has_ended());
}

INSTANTIATE_TEST_SUITE_P(AsAnyOther, ChildWithZero, testing::Values(0, 1, 2));

TEST_F(ChildTest, WhatItsListenerThrowsAtItsExitEndsTheChannelAlone) {
    start(R"({"command":"x"})");
    exits_.throws = true;
    exit(0);
    EXPECT_EQ(exits_.times, 1);
    EXPECT_THAT(host_.logged, ElementsAre("5 internal error: the exit of a program threw: oh"));
    EXPECT_FALSE(child_->running());
    EXPECT_THAT(host_.told, ElementsAre("closed -1 ")) << "nothing of it is open";
}

}  // namespace
