// Children of a plugin: how they are started, stopped and told of.
#include "plugin/services/process_service.hpp"

#include "supervisor/wire.h"
#include "unit/plugin/process_user.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <iterator>
#include <sstream>
#include <sys/resource.h>
#include <thread>

using namespace patchbay;
using namespace patchbay::plugin;
using namespace patchbay::test;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

TEST_F(ProcessServiceTest, TellsThatAProgramHasStartedAndHowItEnded) {
    supervise(std::string("echo $$\n") + kSaysStarted + kSaysExited5);
    const auto ends = spawn();
    ASSERT_TRUE(ends);
    EXPECT_NE(op_, 0u);
    EXPECT_THAT(told_.lines, IsEmpty()) << "told from inside spawn";
    ASSERT_TRUE(told(2));
    EXPECT_THAT(told_.lines, ElementsAre("started", "exited 5"));
    EXPECT_EQ(Ends::read_all(ends->out), std::to_string(told_.pid) + "\n");
    EXPECT_THAT(blamed_, IsEmpty());
}

TEST_F(ProcessServiceTest, TellsItsSupervisorWhatAProgramMayUse) {
    use_supervisor(folder_.write("supervisor", "#!/bin/sh\necho \"$1\"\n"));
    ASSERT_EQ(::chmod((folder_.path() + "/supervisor").c_str(), 0700), 0);
    Program program;
    const auto plain = spawn(program);
    program.own_pids = false;
    program.limits = {1'073'741'824, 60, 5, 64};
    const auto bounded = spawn(program);
    ASSERT_TRUE(told(2));
    EXPECT_EQ(Ends::read_all(plain->out), "namespace\n");
    EXPECT_EQ(Ends::read_all(bounded->out),
              "shared,memory=1073741824,cpu=60,processes=5,files=64\n");
}

TEST_F(ProcessServiceTest, TellsWhatAProgramHasUsedWhileItsEndIsTold) {
    supervise(std::string(kSaysStarted) + "say 4 1\nsay 5 1500\nsay 6 4\n" + kSaysExited5);
    const auto ends = spawn();
    ASSERT_TRUE(ends);
    std::optional<patchbay_process_usage> usage;
    told_.on_exit = [&] { usage = service_->usage(op_); };
    ASSERT_TRUE(told(2));
    ASSERT_TRUE(usage);
    EXPECT_EQ(usage->limit, unsigned{PATCHBAY_LIMIT_MEMORY});
    EXPECT_EQ(usage->cpu_ms, 1500u);
    EXPECT_EQ(usage->peak_memory_bytes, 4096u);
    EXPECT_FALSE(service_->usage(op_)) << "and then it is nobody's";
}

TEST_F(ProcessServiceTest, StartsAProgramFromAnyThread) {
    supervise(std::string(kSaysStarted) + kSaysExited5);
    std::unique_ptr<Ends> ends;
    std::thread([&] { ends = spawn(); }).join();
    ASSERT_TRUE(ends);
    ASSERT_TRUE(told(2));
    EXPECT_THAT(told_.lines, ElementsAre("started", "exited 5"));
}

// Its supervisor was killed: nobody else would end it.
TEST_F(ProcessServiceTest, KillsAProgramWhoseSupervisorLeftWithoutAWordOfItsEnd) {
    supervise("exec 4<&0\ncat <&4 3>&- &\nsay 1 $!\nexit 0\n");
    const auto ends = spawn();
    ASSERT_TRUE(told(2));
    EXPECT_THAT(told_.lines, ElementsAre("started", "exited " + std::to_string(256 + SIGKILL)));
    EXPECT_EQ(Ends::read_all(ends->out), "") << "it still holds its output";
}

TEST_F(ProcessServiceTest, LeavesAProgramAloneWhoseEndWasTold) {
    supervise("exec 4<&0\ncat <&4 3>&- &\nsay 1 $!\nsay 2 5\n");
    const auto ends = spawn();
    ASSERT_TRUE(told(2));
    ASSERT_EQ(::write(ends->in, "alive", 5), 5);
    ends->close_input();
    EXPECT_EQ(Ends::read_all(ends->out), "alive");
}

TEST_F(ProcessServiceTest, SendsASupervisorAwayThatTalksNonsense) {
    supervise("printf '\\002\\0\\0\\0\\005' >&3\ncat <&3\n");  // until its socket ends
    const auto ends = spawn();
    ASSERT_TRUE(told(1));
    EXPECT_THAT(told_.lines, ElementsAre("exited " + std::to_string(256 + SIGKILL)));
}

// It has closed its socket and takes its time to leave: the host has other things to do.
TEST_F(ProcessServiceTest, WaitsForASupervisorThatLeavesWithoutHoldingUpTheLoop) {
    supervise(kSaysExited5 + std::string("exec 3>&-\necho gone\nexec timeout 5 cat >/dev/null\n"));
    const auto ends = spawn();
    ASSERT_TRUE(ends);
    bool heard = false;
    ASSERT_TRUE(until([&] {
        pollfd wanted{ends->out, POLLIN, 0};
        heard = heard || ::poll(&wanted, 1, 0) > 0;
        if (!heard) loop_.post([] {});
        return heard;
    }));
    for (int turns = 0; turns < 3; ++turns) {
        bool turned = false;
        loop_.post([&] { turned = true; });
        ASSERT_TRUE(until([&] { return turned; }));
    }
    EXPECT_THAT(told_.lines, IsEmpty()) << "it still runs";
    service_->stop(op_, 1);  // nobody listens
    ends->close_input();
    ASSERT_TRUE(told(1));
    EXPECT_THAT(told_.lines, ElementsAre("exited 5"));
}

TEST_F(ProcessServiceTest, EndsOneThatIsStillLeavingWhenItCloses) {
    supervise(kSaysExited5 + std::string("exec 3>&-\nexec timeout 5 cat >/dev/null\n"));
    auto ends = spawn();
    ASSERT_TRUE(ends);
    ends->close_input();
    service_.reset();
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a zombie";
    loop_.post([] {});
    EXPECT_THAT(told_.lines, IsEmpty());
}

TEST_F(ProcessServiceTest, HandsTheSupervisorProgramArgumentsFolderAndEnvironment) {
    supervise("echo \"$@\"; pwd; echo \"$PATCHBAY_TEST_ADDED\"; echo problem >&2\n");
    Program program;
    program.argv = {"/bin/echo", "one", "two three"};
    program.cwd = folder_.path();
    program.environment = {{"PATCHBAY_TEST_ADDED", "yes"}};
    program.own_pids = true;
    const auto own = spawn(program);
    EXPECT_EQ(Ends::read_all(own->out),
              "namespace /bin/echo /bin/echo one two three\n" + folder_.path() + "\nyes\n");
    EXPECT_EQ(Ends::read_all(own->err), "problem\n");
    program.own_pids = false;
    const auto shared = spawn(program);
    EXPECT_THAT(Ends::read_all(shared->out), testing::StartsWith("shared /bin/echo "));
    ASSERT_TRUE(told(2));
}

TEST_F(ProcessServiceTest, GivesPipesThatDoNotBlockAndAreNotInherited) {
    supervise("exec cat\n");
    const auto ends = spawn();
    for (const int fd : {ends->in, ends->out, ends->err}) {
        EXPECT_GT(fd, PATCHBAY_SUPERVISOR_CONTROL_FD);
        EXPECT_TRUE(::fcntl(fd, F_GETFL) & O_NONBLOCK);
        EXPECT_TRUE(::fcntl(fd, F_GETFD) & FD_CLOEXEC);
    }
    ASSERT_EQ(::write(ends->in, "hello\n", 6), 6);
    ends->close_input();
    EXPECT_EQ(Ends::read_all(ends->out), "hello\n");
    ASSERT_TRUE(told(1));
}

// The longest grace is a minute, exactly.
TEST_F(ProcessServiceTest, PassesAStopOnWithItsGrace) {
    supervise(
        kSaysStarted +
        std::string("for i in 1 2 3; do dd bs=8 count=1 <&3 2>/dev/null | od -An -td4; done\n"));
    const auto ends = spawn();
    ASSERT_TRUE(told(1));
    service_->stop(op_, 50);
    service_->stop(op_, 60'000);
    service_->stop(op_, 60'001);
    service_->stop(op_ + 1, 7);
    const auto said = Ends::read_all(ends->out);
    std::istringstream numbers(said);
    std::vector<int> values{std::istream_iterator<int>(numbers), {}};
    EXPECT_THAT(values, ElementsAre(PATCHBAY_SUPERVISOR_STOP, 50, PATCHBAY_SUPERVISOR_STOP, 60'000,
                                    PATCHBAY_SUPERVISOR_STOP, 60'000));
    ASSERT_TRUE(told(2));
    service_->stop(op_, 50);  // it has ended
}

TEST_F(ProcessServiceTest, HurriesWhoIsLeavingAndIfAskedWhoeverLeavesLater) {
    supervise(
        kSaysStarted +
        std::string("for i in 1 2 3 4; do dd bs=8 count=1 <&3 2>/dev/null | od -An -td4; done\n"));
    const auto ends = spawn();
    ASSERT_TRUE(told(1));
    service_->hurry(Hurried::Leaving, 3);  // nobody is yet
    service_->stop(op_, 50);
    service_->hurry(Hurried::Leaving, 3);
    service_->hurry(Hurried::All, 7);
    service_->stop(op_, 50);
    const auto said = Ends::read_all(ends->out);
    std::istringstream numbers(said);
    std::vector<int> values{std::istream_iterator<int>(numbers), {}};
    EXPECT_THAT(values, ElementsAre(PATCHBAY_SUPERVISOR_STOP, 50, PATCHBAY_SUPERVISOR_STOP, 3,
                                    PATCHBAY_SUPERVISOR_STOP, 7, PATCHBAY_SUPERVISOR_STOP, 7));
    ASSERT_TRUE(told(2));
}

TEST_F(ProcessServiceTest, EndsWhatRunsWhenItClosesAndTellsNothingMore) {
    supervise(kSaysStarted + std::string("dd bs=8 count=1 <&3 2>/dev/null\n") + kSaysExited5);
    const auto one = spawn();
    const auto other = spawn();
    ASSERT_TRUE(told(2));
    service_.reset();
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
    bool turned = false;
    loop_.post([&] { turned = true; });
    ASSERT_TRUE(until([&] { return turned; }));
    EXPECT_THAT(told_.lines, ElementsAre("started", "started"));
}

TEST_F(ProcessServiceTest, BlamesThePluginForWhatItsCallbacksThrow) {
    supervise(std::string(kSaysStarted) + kSaysExited5);
    told_.throws = true;
    const auto ends = spawn();
    ASSERT_TRUE(told(2));
    EXPECT_THAT(blamed_, ElementsAre("started threw: no more children", "exited threw: no end"));
}

TEST_F(ProcessServiceTest, NeedNotTellThatAProgramHasStarted) {
    supervise(std::string(kSaysStarted) + kSaysExited5);
    Program program;
    program.argv = {"/bin/true"};
    const auto process = service_->spawn(program, &told_, nullptr, Told::exited);
    ASSERT_TRUE(process);
    const Ends ends(*process);
    ASSERT_TRUE(told(1));
    EXPECT_THAT(told_.lines, ElementsAre("exited 5"));
}

TEST_F(ProcessServiceTest, GivesEveryChildANumberOfItsOwn) {
    const auto one = spawn();
    const auto first = op_;
    const auto other = spawn();
    EXPECT_NE(first, op_);
    ASSERT_TRUE(told(2));
}

TEST_F(ProcessServiceTest, SaysWhichSupervisorItCouldNotStart) {
    use_supervisor("/opt/none/supervisor");
    const auto process = try_spawn();
    ASSERT_FALSE(process);
    EXPECT_EQ(process.error().code, ErrorCode::Io);
    EXPECT_EQ(process.error().message,
              "the installation is not complete: cannot start the supervisor "
              "/opt/none/supervisor: No such file or directory");
}

TEST_F(ProcessServiceTest, TellsOfASupervisorThatTheSystemRefusesAsOfAProgram) {
    const auto path = folder_.write("supervisor", std::string("\x7f"
                                                              "ELF no more of it"));
    ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
    use_supervisor(path);
    const auto ends = spawn();
    EXPECT_EQ(Ends::read_all(ends->err),
              "cannot start the supervisor " + path + ": Exec format error\n");
    ASSERT_TRUE(told(1));
    EXPECT_THAT(told_.lines, ElementsAre("exited 127"));
}

TEST_F(ProcessServiceTest, EndsWithChildrenWhoseTurnHasNotComeAndWaitsForNobodyElse) {
    const pid_t other = ::fork();  // in our process group
    if (other == 0) ::_exit(0);
    std::vector<std::unique_ptr<Ends>> all;
    for (int i = 0; i < 20; ++i) all.push_back(spawn());
    use_supervisor("/bin/true");  // another service takes its place
    for (const auto& ends : all) EXPECT_EQ(Ends::read_all(ends->out), "");
    EXPECT_EQ(::waitpid(other, nullptr, 0), other);
}

TEST_F(ProcessServiceTest, StartsNothingThatWasStoppedBeforeItsTurn) {
    supervise("echo it has run\n");
    std::vector<std::unique_ptr<Ends>> all;
    for (int i = 0; i < 50; ++i) {
        all.push_back(spawn());
        service_->stop(op_, 10);
    }
    ASSERT_TRUE(told(all.size()));
    const auto stopped = std::count(told_.lines.begin(), told_.lines.end(),
                                    "exited " + std::to_string(256 + SIGTERM));
    const auto silent = std::count_if(
        all.begin(), all.end(), [](const auto& ends) { return Ends::read_all(ends->out).empty(); });
    EXPECT_EQ(silent, stopped);
    EXPECT_GT(stopped, 0) << "the first may have had its turn by then, not all of fifty";
}

TEST_F(ProcessServiceTest, SaysThatThereAreNoDescriptorsLeft) {
    // Also a look of UBSan's at all that takes part: its first one needs descriptors of its own.
    const auto with_enough = spawn();
    ASSERT_TRUE(told(1)) << "what was its child's is closed by then";
    rlimit former{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &former), 0);
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(next, 0);
    ::close(next);
    // From none at all to one too few: ten, six of them lifted beyond the child's numbers or not.
    for (rlim_t room = 0; room < 8; ++room) {
        rlimit scarce = former;
        scarce.rlim_cur = static_cast<rlim_t>(next) + room;
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &scarce), 0);
        const auto process = try_spawn();
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &former), 0);
        ASSERT_FALSE(process) << room;
        EXPECT_EQ(process.error().code, ErrorCode::Io);
        EXPECT_EQ(process.error().message,
                  "cannot open pipes for \"/bin/true\": Too many open files");
    }
    const int again = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(again, next) << "what had been opened is closed";
    ::close(again);
}

TEST_F(ProcessServiceTest, IgnoresABrokenPipeUnlessSomebodyHandlesIt) {
    struct sigaction former {};
    ASSERT_EQ(::sigaction(SIGPIPE, nullptr, &former), 0);
    const auto handler_after = [&](void (*handler)(int)) {
        ::signal(SIGPIPE, handler);
        const ProcessService another(loop_, "other", [](const std::string&) {});
        struct sigaction now {};
        ::sigaction(SIGPIPE, nullptr, &now);
        return now.sa_handler;
    };
    constexpr auto mine = +[](int) {};
    EXPECT_EQ(handler_after(SIG_DFL), SIG_IGN);
    EXPECT_EQ(handler_after(mine), mine);
    ::sigaction(SIGPIPE, &former, nullptr);
}

}  // namespace
