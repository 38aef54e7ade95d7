// What the supervisor tells the host, what it gives the program, and when it ends it.
#include "conformance/peers.hpp"
#include "support/scratch_folder.hpp"
#include "unit/supervisor/supervised.hpp"

#include <gmock/gmock.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sstream>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

namespace patchbay::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Supervisor : public testing::TestWithParam<const char*> {
protected:
    // `program` is text for sh.
    std::vector<std::string> sh(const std::string& program) const {
        return {GetParam(), "/bin/sh", "sh", "-c", program, token_};
    }
    std::string write(const std::string& name, const std::string& text) const {
        const auto path = folder_ / name;
        std::ofstream(path) << text;
        ::chmod(path.c_str(), 0755);
        return path;
    }
    // Where the kernel does not permit a namespace there is a second supervisor instead.
    static bool own_pids() {
        const pid_t pid = ::fork();
        if (pid == 0) ::_exit(::unshare(CLONE_NEWNS) == 0 ? 0 : 1);
        int status = -1;
        ::waitpid(pid, &status, 0);
        return status == 0 && std::string(GetParam()) == "namespace";
    }
    const std::string token_ = unique_token();
    const ScratchFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(All, Supervisor, testing::Values("namespace", "shared"),
                         [](const auto& named) { return std::string(named.param); });

// Of every thread of `pid`, which has one.
std::vector<pid_t> children_of(pid_t pid) {
    const auto number = std::to_string(pid);
    std::ifstream file("/proc/" + number + "/task/" + number + "/children");
    return {std::istream_iterator<pid_t>(file), {}};
}

std::size_t descriptors_of(pid_t pid) {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd"))
        ++count;
    return count;
}

// ---- what its program may use

class Limited : public Supervisor {
protected:
    std::vector<std::string> sh(const std::string& limit, const std::string& program) const {
        auto arguments = Supervisor::sh(program);
        arguments.front() += "," + limit;
        return arguments;
    }
};

INSTANTIATE_TEST_SUITE_P(All, Limited, testing::Values("namespace", "shared"),
                         [](const auto& named) { return std::string(named.param); });

TEST_P(Limited, WhatItHasUsedIsToldAheadOfItsEnd) {
    Supervised one(sh("memory=1000000000",
                      "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; "
                      "head -c 20000000 /dev/zero | tail -c 20000000 > /dev/null"));
    ASSERT_TRUE(one.started());
    EXPECT_EQ(one.exited(), 0);
    EXPECT_EQ(one.limited, std::nullopt);
    EXPECT_GT(one.cpu_ms.value_or(0), 0);
    EXPECT_GT(one.memory_kib.value_or(0), 19'000) << "of a child of the program's";
}

// Each of them is within it, so that the kernel refuses nothing.
TEST_P(Limited, ATreeThatHasMoreInMemoryIsEnded) {
    const std::string eater = "(head -c 40000000 /dev/zero; sleep 60) | tail -c 40000000 & ";
    Supervised one(sh("memory=67108864", eater + eater + "wait"));
    ASSERT_TRUE(one.started());
    EXPECT_EQ(one.exited(), 256 + SIGKILL);
    EXPECT_EQ(one.limited, PATCHBAY_LIMITED_MEMORY);
    EXPECT_TRUE(none_left(token_, 20s));
}

TEST_P(Limited, AProgramThatAsksForMoreIsRefusedIt) {
    Supervised one(sh("memory=33554432", "exec tail /dev/zero"));
    ASSERT_TRUE(one.started());
    const auto end = one.exited();
    EXPECT_TRUE(end == 1 || end == 256 + SIGKILL) << end.value_or(-1);
    EXPECT_EQ(one.limited, PATCHBAY_LIMITED_MEMORY);
}

TEST_P(Limited, ATreeThatTakesMoreTimeOfTheProcessorIsEnded) {
    const std::string spin = "while :; do :; done";
    for (const auto& program :
         {spin, "trap '' XCPU; " + spin, "(setsid sh -c '" + spin + "' &) ; sleep 60"}) {
        SCOPED_TRACE(program);
        Supervised one(sh("cpu=1", program));
        ASSERT_TRUE(one.started());
        const auto end = one.exited().value_or(-1);
        EXPECT_TRUE(end == 256 + SIGXCPU || end == 256 + SIGKILL) << end;
        EXPECT_EQ(one.limited, PATCHBAY_LIMITED_CPU);
        EXPECT_GE(one.cpu_ms.value_or(0), 900);
    }
}

TEST_P(Limited, ATreeOfMoreProcessesIsEnded) {
    Supervised one(
        sh("processes=5", "for i in 1 2 3 4 5 6 7 8 9; do (setsid sleep 60 &) ; done; sleep 60"));
    ASSERT_TRUE(one.started());
    EXPECT_EQ(one.exited(), 256 + SIGKILL);
    EXPECT_EQ(one.limited, PATCHBAY_LIMITED_PROCESSES);
    EXPECT_TRUE(none_left(token_, 20s));
}

TEST_P(Limited, AProgramThatFailsWithAllItsFilesOpenFailsForThat) {
    Supervised one(sh("files=8",
                      "exec 3</dev/null 4</dev/null 5</dev/null 6</dev/null 7</dev/null; "
                      "ulimit -n; read word; exit 3"));
    ASSERT_TRUE(one.started());
    EXPECT_EQ(one.line(), "8");
    ::poll(nullptr, 0, 1'000);  // it is looked at every 100 ms
    one.stop(20s);              // a host that has seen the end of its output awaits its own
    one.say("go\n");
    EXPECT_EQ(one.exited(), 3);
    EXPECT_EQ(one.limited, PATCHBAY_LIMITED_FILES);
}

// It was to end, whatever it had used by then.
TEST_P(Limited, AnEndThatTheHostAskedForIsBehindNoLimit) {
    Supervised one(sh("memory=67108864",
                      "head -c 60000000 /dev/zero | tail -c 60000000 > /dev/null; "
                      "echo full; sleep 60"));
    ASSERT_TRUE(one.started());
    EXPECT_EQ(one.line(), "full");
    one.stop(0ms);
    EXPECT_TRUE(one.exited());
    EXPECT_EQ(one.limited, std::nullopt);
}

// ---- what it tells

TEST(SupervisorUsage, IsToldToWhoeverStartsItByHand) {
    Supervised one({"shared", "/bin/true"});
    EXPECT_THAT(one.errors(), testing::StartsWith("usage: patchbay-supervisor namespace|shared"));
    EXPECT_EQ(one.exited(), std::nullopt);
    EXPECT_EQ(one.end(), 2 << 8);
}

TEST_P(Supervisor, TellsTheProgramsNumberAndItsExitCode) {
    Supervised one(sh("read code; exit $code"));
    const auto pid = one.started();
    ASSERT_TRUE(pid);
    EXPECT_TRUE(std::filesystem::exists("/proc/" + std::to_string(*pid))) << "the host's number";
    one.say("7\n");
    EXPECT_EQ(one.exited(), 7);
    EXPECT_EQ(one.end(), 0);
}

TEST_P(Supervisor, NeedsNoArgumentsForTheProgram) {
    Supervised one({GetParam(), "/bin/true", "true"});
    EXPECT_TRUE(one.started());
    EXPECT_EQ(one.exited(), 0);
}

TEST_P(Supervisor, TellsTheSignalThatKilledTheProgram) {
    Supervised one(sh("read word"));
    const auto pid = one.started();
    ASSERT_TRUE(pid);
    ::kill(*pid, SIGABRT);
    EXPECT_EQ(one.exited(), 256 + SIGABRT);
}

TEST_P(Supervisor, SaysWhyAProgramCannotBeStarted) {
    const std::pair<std::string, const char*> cases[] = {
        {write("interpreter", "#!/opt/none/python\n"),
         "No such file or directory (the file is there, its interpreter is not)"},
        {write("text", "echo pwned\n"),
         "Exec format error (neither a binary for this machine nor a script with #!)"},
        {folder_.path(), "Permission denied"},
    };
    for (const auto& [path, why] : cases) {
        Supervised one({GetParam(), path, path});
        EXPECT_EQ(one.exited(), 127) << "and no word of a start";
        EXPECT_EQ(one.errors(), "cannot run " + path + ": " + why + "\n");
        EXPECT_EQ(one.end(), 0);
    }
}

// ---- what it gives the program

// What of the memory goes to a core file, while it lives; inherited.
struct CoreFiles {
    explicit CoreFiles(const char* filter) {
        std::ifstream(path) >> before;
        std::ofstream(path) << filter;
    }
    ~CoreFiles() { std::ofstream(path) << "0x" << before; }
    CoreFiles(const CoreFiles&) = delete;
    static constexpr const char* path = "/proc/self/coredump_filter";
    std::string before;
};

TEST_P(Supervisor, StartsTheProgramWithAClearHead) {
    CoreFiles none("0");
    Supervised one(
        sh("grep -E '^(SigBlk|SigIgn|PPid)' /proc/self/status; ls /proc/self/fd | wc -l; "
           "cat /proc/self/coredump_filter; "
           "[ $(cut -d' ' -f6 /proc/$$/stat) = $$ ] && echo leads; cut -d' ' -f4 "
           "/proc/$$/stat"));
    ASSERT_TRUE(one.started());
    std::istringstream lines(one.output());
    std::string line, all;
    while (std::getline(lines, line)) all += line + ";";
    EXPECT_THAT(all, HasSubstr("SigBlk:\t0000000000000000;"));
    EXPECT_THAT(all, HasSubstr(";4;00000033;leads;"))
        << "three descriptors and the one of the folder; core files as usual; a session";
    if (own_pids()) {
        EXPECT_THAT(all, testing::EndsWith(";leads;0;")) << "no parent in there";
    }
}

TEST_P(Supervisor, HoldsNoEndOfThePipes) {
    Supervised one(sh("exec 1>&- 2>&-; read word; exit 3"));
    ASSERT_TRUE(one.started());
    EXPECT_EQ(one.output(), "") << "ends although the program stays";
    EXPECT_EQ(one.errors(), "");
    one.say("\n");
    EXPECT_EQ(one.exited(), 3);
}

// The control socket and its signals; with a namespace its init too, which holds the same two.
TEST_P(Supervisor, HoldsWhatItNeedsAndNothingElse) {
    Supervised one(sh("exec 1>&- 2>&-; read word"));
    const auto program = one.started();
    ASSERT_TRUE(program);
    EXPECT_EQ(one.errors(), "") << "ends when everybody has closed the program's pipes";
    const bool alone = own_pids();
    EXPECT_EQ(descriptors_of(one.pid()), alone ? 3u : 2u);
    for (const pid_t child : children_of(one.pid())) {
        if (child != *program) {
            EXPECT_EQ(descriptors_of(child), 2u);
        }
    }
    one.say("\n");
    EXPECT_EQ(one.exited(), 0);
}

// ---- where the kernel permits no namespace, or only the half of one

// From now on that system call of this process fails; of its first argument, or of its fourth, only
// with these bits. No pointer, so 32 bits tell all.
template <long Call, unsigned Argument, std::uint32_t Bits>
void deny() {
    const auto offset = static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * Argument);
    sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(Call), 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, Bits, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{std::size(rules), rules};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        ::_exit(98);
}

TEST(SupervisorWithoutNamespace, RunsTheProgramAllTheSameAndLeavesNoHalfBehind) {
    const std::pair<const char*, void (*)()> cases[] = {
        {"unshare", deny<SYS_unshare, 0, CLONE_NEWNS>},
        {"mount slave", deny<SYS_mount, 3, MS_SLAVE>},
        {"clone", deny<SYS_clone, 0, CLONE_NEWPID>},
        {"mount proc", deny<SYS_mount, 3, MS_NOEXEC>},
        {"setns", deny<SYS_setns, 1, CLONE_NEWPID>},
    };
    for (const auto& [what, before] : cases) {
        SCOPED_TRACE(what);
        const auto token = unique_token();
        Supervised one({"namespace", "/bin/sh", "sh", "-c",
                        "setsid sleep 600 >&- 2>&- & cut -d' ' -f4 /proc/$$/stat; exec 1>&- 2>&-; "
                        "read word; exit 3",
                        token},
                       before);
        const auto program = one.started();
        ASSERT_TRUE(program);
        const auto parent = one.line();
        EXPECT_EQ(one.errors(), "");
        const auto children = children_of(one.pid());
        ASSERT_EQ(children.size(), 1u) << "the inner supervisor";
        EXPECT_EQ(parent, std::to_string(children[0])) << "the host's numbers";
        EXPECT_EQ(children_of(children[0]).size(), 1u) << "the program";
        EXPECT_EQ(descriptors_of(one.pid()), 2u);
        one.say("\n");
        EXPECT_EQ(one.exited(), 3);
        EXPECT_EQ(one.end(), 0);
        EXPECT_THAT(processes_with(token), IsEmpty());
    }
}

// ---- whom it signals

// From now on no process of this one can be signalled by its number: kill() with one that names a
// process fails. Whole namespaces (-1) and descriptors of processes stay.
void deny_numbers() {
    const auto offset = static_cast<std::uint32_t>(offsetof(seccomp_data, args));
    sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(SYS_kill), 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x80000000u, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    const sock_fprog program{std::size(rules), rules};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        ::_exit(98);
}

// A number may be somebody else's by the time that it is signalled; what ends a namespace holds its
// descriptor.
TEST(SupervisorOfANamespace, AsksAndKillsWithoutAnyNumber) {
    const pid_t able = ::fork();
    if (able == 0) ::_exit(::unshare(CLONE_NEWNS) == 0 ? 0 : 1);
    int status = -1;
    ::waitpid(able, &status, 0);
    if (status != 0) GTEST_SKIP() << "the kernel permits no namespace to this user";
    for (const auto& [program, exit_value] :
         {std::pair("trap 'echo asked; exit 5' TERM; echo up; while :; do sleep 1; done", 5),
          std::pair("trap '' TERM; echo up; while :; do sleep 1; done", 256 + SIGKILL)}) {
        SCOPED_TRACE(program);
        const auto token = unique_token();
        Supervised one({"namespace", "/bin/sh", "sh", "-c", program, token}, deny_numbers);
        ASSERT_TRUE(one.started());
        ASSERT_EQ(one.line(), "up");
        one.stop(1500ms);
        EXPECT_EQ(one.exited(), exit_value);
        EXPECT_EQ(one.end(), 0);
        EXPECT_THAT(processes_with(token), IsEmpty());
    }
}

// ---- what it leaves alone

TEST_P(Supervisor, LeavesTheHostsMountsAlone) {
    const auto mounts = [] {
        std::ifstream file("/proc/self/mounts");
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    const auto before = mounts();
    Supervised one(sh("read word"));
    ASSERT_TRUE(one.started());
    EXPECT_EQ(mounts(), before);
}

// ---- how it ends it

constexpr const char* kPolite =
    "trap 'echo asked; exit 5' TERM; echo up; while :; do sleep 60 & wait $!; done";
constexpr const char* kStubborn = "trap '' TERM; echo up; while :; do sleep 60 & wait $!; done";

TEST_P(Supervisor, AsksWhenTheGraceIsOverAndNotBefore) {
    Supervised one(sh(kPolite));
    ASSERT_TRUE(one.started());
    ASSERT_EQ(one.line(), "up");
    const auto begin = Clock::now();
    one.stop(600ms);
    EXPECT_EQ(one.line(), "asked");
    EXPECT_GE(Clock::now() - begin, 599ms);
    EXPECT_EQ(one.exited(), 5);
}

TEST_P(Supervisor, KillsWhenTheGraceIsOverAgain) {
    Supervised one(sh(kStubborn));
    ASSERT_TRUE(one.started());
    ASSERT_EQ(one.line(), "up");
    const auto begin = Clock::now();
    one.stop(100ms);
    EXPECT_EQ(one.exited(), 256 + SIGKILL);
    EXPECT_GE(Clock::now() - begin, 199ms);
    EXPECT_TRUE(none_left(token_, 20s));
}

TEST_P(Supervisor, AsksTheWholeTree) {
    const auto child = write("child",
                             "#!/bin/sh\ntrap 'echo child asked; exit' TERM\necho up\n"
                             "while :; do sleep 60 & wait $!; done\n");
    Supervised one(sh("trap 'wait $child; exit 5' TERM; setsid " + child + " " + token_ +
                      " & child=$!; wait $child; wait $child; exit 6"));
    ASSERT_TRUE(one.started());
    ASSERT_EQ(one.line(), "up");
    one.stop(600ms);
    EXPECT_EQ(one.line(), "child asked");
    EXPECT_EQ(one.exited(), 5);
}

TEST_P(Supervisor, HoldsToTheEarlierOfTwoEnds) {
    const auto told_twice = [this](const char* program, std::pair<int, int> graces,
                                   const char* answer, int exit_value) {
        SCOPED_TRACE(graces.first);
        Supervised one(sh(program));
        ASSERT_TRUE(one.started());
        ASSERT_EQ(one.line(), "up");
        one.stop(std::chrono::milliseconds(graces.first));
        one.stop(std::chrono::milliseconds(graces.second));
        EXPECT_EQ(one.line(), answer);
        EXPECT_EQ(one.exited(), exit_value);
    };
    for (const bool shorter_first : {true, false}) {
        const auto graces = [&](int shorter) {
            return shorter_first ? std::pair(shorter, 60'000) : std::pair(60'000, shorter);
        };
        told_twice(kPolite, graces(400), "asked", 5);
        told_twice(kStubborn, graces(50), "", 256 + SIGKILL);
    }
}

TEST_P(Supervisor, LetsAWordThatItDoesNotKnowPass) {
    Supervised one(sh("read word; exit 3"));
    ASSERT_TRUE(one.started());
    one.send(99, 0);
    one.send(PATCHBAY_SUPERVISOR_STARTED, 0);
    one.say("\n");
    EXPECT_EQ(one.exited(), 3);
}

TEST_P(Supervisor, EndsAllWhenTheHostMakesNoSense) {
    Supervised one(sh(kPolite));
    ASSERT_TRUE(one.started());
    one.send("odd", 3);
    EXPECT_EQ(one.exited(), 256 + SIGKILL);
    EXPECT_TRUE(none_left(token_, 20s));
}

TEST_P(Supervisor, EndsAllWhenTheHostIsGone) {
    Supervised one(sh(kPolite));
    ASSERT_TRUE(one.started());
    ASSERT_EQ(one.line(), "up");
    one.leave();
    EXPECT_EQ(one.end(), 0);
    EXPECT_THAT(processes_with(token_), IsEmpty());
}

TEST_P(Supervisor, EndsWhatAProgramThatHasLeftLeavesBehind) {
    Supervised one({GetParam(), hostile_program(), "hostile", token_, "setsid", "double", "leave"});
    ASSERT_TRUE(one.started());
    EXPECT_EQ(one.exited(), 0);
    EXPECT_EQ(one.end(), 0);
    EXPECT_THAT(processes_with(token_), IsEmpty());
}

// Whichever of them is killed, the other one ends the tree. Nobody is left to tell the host when it
// is the inner one.
TEST_P(Supervisor, MayBeKilledItself) {
    const bool alone = own_pids();
    for (const bool outer : {true, false}) {
        if (alone && !outer) continue;
        Supervised one(
            {GetParam(), hostile_program(), "hostile", token_, "ignore", "setsid", "double"});
        const auto program = one.started();
        ASSERT_TRUE(program);
        ASSERT_EQ(one.line(), "{\"ready\":true}");
        pid_t inner = 0;
        std::ifstream stat("/proc/" + std::to_string(*program) + "/stat");
        std::string word;
        for (int i = 0; i < 3; ++i) stat >> word;
        stat >> inner;
        if (!alone) {
            ASSERT_NE(inner, one.pid());
        }
        ::kill(outer ? one.pid() : inner, SIGKILL);
        if (!alone && outer) {
            EXPECT_EQ(one.exited(), 256 + SIGKILL);
        }
        EXPECT_EQ(one.end(), outer ? SIGKILL : 1 << 8);
        EXPECT_TRUE(none_left(token_, 20s));
    }
}

// Both at once: the outer one is stopped, so that it can do nothing when the inner one is gone.
TEST_P(Supervisor, TakesTheProgramAlongWhenNobodyIsLeftToEndIt) {
    Supervised one(sh(kStubborn));
    const auto program = one.started();
    ASSERT_TRUE(program);
    ASSERT_EQ(one.line(), "up");
    const int ended = static_cast<int>(::syscall(SYS_pidfd_open, *program, 0));
    ASSERT_GE(ended, 0);
    pid_t last = one.pid();
    if (!own_pids()) {
        last = children_of(one.pid()).at(0);
        ::kill(one.pid(), SIGSTOP);
    }
    ::kill(last, SIGKILL);
    pollfd wait{ended, POLLIN, 0};
    EXPECT_EQ(::poll(&wait, 1, 20'000), 1);
    ::close(ended);
    ::kill(one.pid(), SIGCONT);
    one.end();
    EXPECT_TRUE(none_left(token_, 20s));
}

}  // namespace
}  // namespace patchbay::test
