// What the supervisor tells the host, what it gives the program, and when it ends it.
#include "conformance/peers.hpp"
#include "support/scratch_folder.hpp"
#include "unit/supervisor/supervised.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <sys/stat.h>

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
    bool none_left() const {
        const auto deadline = Clock::now() + 20s;
        while (!processes_with(token_).empty()) {
            if (Clock::now() > deadline) return false;
            ::usleep(1000);  // /proc tells nobody: look again
        }
        return true;
    }
    const std::string token_ = unique_token();
    const ScratchFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(All, Supervisor, testing::Values("namespace", "shared"),
                         [](const auto& named) { return std::string(named.param); });

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
    EXPECT_TRUE(none_left());
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
    for (const bool shorter_first : {true, false}) {
        Supervised one(sh(kStubborn));
        ASSERT_TRUE(one.started());
        ASSERT_EQ(one.line(), "up");
        one.stop(shorter_first ? 50ms : 60'000ms);
        one.stop(shorter_first ? 60'000ms : 50ms);
        EXPECT_EQ(one.exited(), 256 + SIGKILL) << shorter_first;
    }
}

TEST_P(Supervisor, AsksAtTheEarlierOfTwoEnds) {
    for (const bool shorter_first : {true, false}) {
        Supervised one(sh(kPolite));
        ASSERT_TRUE(one.started());
        ASSERT_EQ(one.line(), "up");
        one.stop(shorter_first ? 400ms : 60'000ms);
        one.stop(shorter_first ? 60'000ms : 400ms);
        EXPECT_EQ(one.line(), "asked") << shorter_first;
        EXPECT_EQ(one.exited(), 5);
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
    EXPECT_TRUE(none_left());
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
        EXPECT_TRUE(none_left());
    }
}

}  // namespace
}  // namespace patchbay::test
