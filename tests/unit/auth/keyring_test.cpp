// The Secret Service behind a secret-tool of our own making: one that keeps what it is told in a
// file, one that hangs, and none at all.
#include "auth/secret_store.hpp"
#include "support/gate.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {
// A disk that is as slow as a test wants.
std::atomic<patchbay::test::Gate*> slow_disk{nullptr};
}  // namespace

// Instead of that of the C library.
extern "C" int fsync(int fd) {
    if (auto* gate = slow_disk.load()) gate->pass();
    return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace patchbay::auth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

constexpr const char* kKeeps = R"(#!/bin/sh
echo "$@" >> "$KEYRING_FILE.argv"
case "$1" in
store) cat > "$KEYRING_FILE" ;;
lookup) cat "$KEYRING_FILE" 2>/dev/null ;;
clear) rm -f "$KEYRING_FILE" ;;
esac
)";

class KeyringTest : public ::testing::Test {
protected:
    KeyringTest() { std::signal(SIGPIPE, SIG_IGN); }  // as the host has it
    ~KeyringTest() override {
        std::signal(SIGPIPE, SIG_DFL);
        ::setenv("PATH", path_.c_str(), 1);
    }
    // Empty: there is no such program.
    void use_tool(const std::string& script) {
        if (!script.empty()) ::chmod(folder.write("bin/secret-tool", script).c_str(), 0700);
        ::setenv("PATH", (folder.path() + "/bin" + (script.empty() ? "" : ":" + path_)).c_str(), 1);
        ::setenv("KEYRING_FILE", (folder.path() + "/kept").c_str(), 1);
    }
    bool until(const std::function<bool()>& done) {
        return loop.run_until(done, core::Clock::now() + 20s);
    }
    void put(const std::string& record) {
        bool done = false;
        store.put("mine", "demo", record, [&](Result<void> told) {
            EXPECT_TRUE(told) << told.error().message;
            done = true;
        });
        ASSERT_TRUE(until([&] { return done; }));
    }
    std::string get() {
        std::optional<Result<std::string>> outcome;
        store.get("mine", "demo", [&](Result<std::string> told) { outcome = told; });
        EXPECT_TRUE(until([&] { return outcome.has_value(); }));
        return *outcome ? **outcome : outcome->error().message;
    }
    std::string in_file() { return test::read_file(folder.path() + "/state/mcp-auth.json"); }

    const std::string path_ = std::getenv("PATH");
    const test::PluginFolder folder;
    core::Loop loop;
    SecretStore store{loop, folder.path() + "/state", std::make_unique<Keyring>()};
};

TEST_F(KeyringTest, KeepsSecretsOutOfTheFileAndOutOfEveryCommandLine) {
    use_tool(kKeeps);
    put(R"({"access_token":"top-secret","scope":"a","expires_at":5})");
    EXPECT_THAT(in_file(), Not(HasSubstr("top-secret")));
    EXPECT_THAT(in_file(), HasSubstr("\"scope\":\"a\""));
    EXPECT_THAT(test::read_file(folder.path() + "/kept.argv"), Not(HasSubstr("top-secret")));
    EXPECT_THAT(get(), HasSubstr("\"access_token\":\"top-secret\""));
    EXPECT_THAT(get(), HasSubstr("\"scope\":\"a\""));
    put("");
    EXPECT_EQ(get(), "");
    EXPECT_FALSE(std::filesystem::exists(folder.path() + "/kept"));
}

TEST_F(KeyringTest, FallsBackToTheFileWhenTheServiceHangs) {
    for (const char* hangs :
         {"exec sleep 60", "exec 1>&-; exec sleep 60", "exec 0<&- 1>&- 2>&-; exec sleep 60"}) {
        use_tool("#!/bin/sh\n" + std::string(hangs) + "\n");
        ::testing::internal::CaptureStderr();
        put(R"({"access_token":"top-secret"})");
        const auto said = ::testing::internal::GetCapturedStderr();
        EXPECT_THAT(said, HasSubstr("no answer within 2 s")) << hangs;
        EXPECT_THAT(said, HasSubstr("it is kept in " + folder.path() + "/state/mcp-auth.json"));
        EXPECT_THAT(in_file(), HasSubstr("top-secret"));
        EXPECT_THAT(get(), HasSubstr("top-secret")) << "and is read from there without the service";
        EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "its end is waited for";
        EXPECT_EQ(errno, ECHILD);
    }
}

TEST_F(KeyringTest, BelievesNoToolThatEndsWellAndKeepsNothing) {
    use_tool("#!/bin/sh\ncat > /dev/null\n");
    ::testing::internal::CaptureStderr();
    put(R"({"access_token":"top-secret"})");
    EXPECT_THAT(
        ::testing::internal::GetCapturedStderr(),
        HasSubstr("it ended well but does not have what it was told to keep; it is kept in "));
    EXPECT_THAT(get(), HasSubstr("top-secret"));
}

TEST_F(KeyringTest, BelievesNoToolThatEndsWellAndForgetsNothing) {
    use_tool(kKeeps);
    put(R"({"access_token":"top-secret"})");
    use_tool(std::string(kKeeps).replace(std::string(kKeeps).find("rm -f"), 5, "test -f"));
    std::optional<Result<void>> outcome;
    store.erase("demo", [&](Result<void> told) { outcome = told; });
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    ASSERT_FALSE(*outcome);
    EXPECT_THAT(outcome->error().message, HasSubstr("still has what it was told to forget"));
    EXPECT_THAT(get(), HasSubstr("top-secret")) << "the record that leads there stays";
}

TEST_F(KeyringTest, StartsItsToolWithNoSignalBlockedOrIgnored) {
    const auto seen = folder.path() + "/seen";
    use_tool("#!/bin/sh\nsed -nE 's/^Sig(Blk|Ign):.*(.{7})$/\\1 \\2/p' /proc/self/status > '" +
             seen + "'\n");
    sigset_t some, before;
    ::sigemptyset(&some);
    ::sigaddset(&some, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &some, &before);
    put(R"({"access_token":"top-secret"})");
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    EXPECT_EQ(test::read_file(seen), "Blk 0000000\nIgn 0000000\n") << "signals 1 to 28";
}

// What other servers wait for goes on: their timers, and what comes for them.
class KeyringWaits : public KeyringTest {
protected:
    // Does its work on the loop so many times, with `slow` still under way at each.
    bool others_go_on(const bool& slow_is_over) {
        int turns = 0;
        std::function<void()> turn = [&] {
            if (++turns < 50) loop.after(1ms, turn);
        };
        turn();
        return until([&] { return turns == 50 || slow_is_over; }) && !slow_is_over;
    }
};

TEST_F(KeyringWaits, NobodyElseForAToolThatHangs) {
    use_tool(kKeeps);
    put(R"({"access_token":"top-secret"})");
    const auto pipe = folder.path() + "/pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    // Open at both ends, so that neither waits for the other.
    const int word = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    ASSERT_GE(word, 0);
    use_tool("#!/bin/sh\nread word < '" + pipe + "'\ncat \"$KEYRING_FILE\"\n");
    bool over = false;
    std::optional<Result<std::string>> outcome;
    store.get("mine", "demo", [&](Result<std::string> told) {
        outcome = told;
        over = true;
    });
    EXPECT_TRUE(others_go_on(over));
    EXPECT_EQ(::write(word, "\n", 1), 1);
    ASSERT_TRUE(until([&] { return over; }));
    ::close(word);
    ASSERT_TRUE(*outcome) << outcome->error().message;
    EXPECT_THAT(**outcome, HasSubstr("top-secret")) << "it was waited for";
}

TEST_F(KeyringWaits, NobodyElseForADiskThatIsSlow) {
    use_tool("");
    test::Gate gate(loop);
    slow_disk = &gate;
    bool over = false;
    store.put("mine", "demo", R"({"access_token":"top-secret"})", [&](Result<void> told) {
        EXPECT_TRUE(told) << told.error().message;
        over = true;
    });
    EXPECT_TRUE(until([&] { return gate.reached(); }));
    EXPECT_TRUE(others_go_on(over));
    slow_disk = nullptr;
    gate.open();
    ASSERT_TRUE(until([&] { return over; }));
    EXPECT_THAT(in_file(), HasSubstr("top-secret"));
}

TEST_F(KeyringTest, FallsBackToTheFileWhenThereIsNoSuchProgram) {
    use_tool("");
    put(R"({"access_token":"top-secret"})");
    EXPECT_THAT(get(), HasSubstr("top-secret"));
}

TEST_F(KeyringTest, NamesEachLoginByItsServer) {
    use_tool(kKeeps);
    put(R"({"access_token":"x"})");
    put("");
    EXPECT_EQ(test::read_file(folder.path() + "/kept.argv"),
              "store --label=Patchbay: sign-in to demo application patchbay server demo\n"
              "lookup application patchbay server demo\n"
              "clear application patchbay server demo\n"
              "lookup application patchbay server demo\n");
}

TEST_F(KeyringTest, FallsBackToTheFileWhenTheServiceRefuses) {
    const std::pair<const char*, const char*> cases[] = {{"exit 3", "exit code 3; is a keyring"},
                                                         {"kill -9 $$", "exit code 137;"}};
    for (const auto& [does, says] : cases) {
        use_tool("#!/bin/sh\ncat > /dev/null\necho top-secret >&2\n" + std::string(does) + "\n");
        ::testing::internal::CaptureStderr();
        put(R"({"access_token":"top-secret"})");
        const auto said = ::testing::internal::GetCapturedStderr();
        EXPECT_THAT(said, HasSubstr(says));
        EXPECT_THAT(said, Not(HasSubstr("top-secret"))) << "the tool repeated it";
        EXPECT_THAT(in_file(), HasSubstr("top-secret"));
    }
}

TEST_F(KeyringTest, ForgetsALoginOnlyWithWhatTheServiceHolds) {
    use_tool(kKeeps);
    put(R"({"access_token":"top-secret"})");
    for (const char* fails : {"exit 1", "exec sleep 60"}) {
        use_tool("#!/bin/sh\n[ \"$1\" = clear ] && " + std::string(fails) + "\n" +
                 std::string(kKeeps).substr(10));
        std::optional<Result<void>> outcome;
        store.erase("demo", [&](Result<void> told) { outcome = told; });
        ASSERT_TRUE(until([&] { return outcome.has_value(); }));
        ASSERT_FALSE(*outcome) << fails;
        EXPECT_THAT(outcome->error().message,
                    HasSubstr("the login for server \"demo\" stays, since the Secret Service keeps "
                              "its tokens: secret-tool: "));
        EXPECT_THAT(outcome->error().message, HasSubstr("--set secrets.store=file"));
        EXPECT_THAT(get(), HasSubstr("top-secret"));
    }
    use_tool(kKeeps);
    put("");
    EXPECT_EQ(get(), "");
    EXPECT_EQ(in_file().find("demo"), std::string::npos);
}

TEST_F(KeyringTest, KnowsNothingOfWhatWasErasedThereByHand) {
    use_tool(kKeeps);
    put(R"({"access_token":"x"})");
    std::filesystem::remove(folder.path() + "/kept");
    EXPECT_EQ(get(), "") << "the tool printed nothing";
    use_tool("#!/bin/sh\necho '{}'\nexit 1\n");
    EXPECT_EQ(get(), "") << "the tool found nothing";
}

TEST_F(KeyringTest, SaysThatTheProgramIsGoneWhichHoldsTheSecret) {
    use_tool(kKeeps);
    put(R"({"access_token":"x"})");
    std::filesystem::remove(folder.path() + "/bin/secret-tool");
    use_tool("");
    EXPECT_THAT(get(), HasSubstr("install libsecret-tools"));
}

TEST_F(KeyringTest, TakesNoMoreThanARecordCanBe) {
    use_tool(kKeeps);
    put(R"({"access_token":"x"})");
    const auto answer = [&](std::size_t bytes) {
        const auto record = R"({"access_token":")" + std::string(bytes, 'y') + "\"}";
        use_tool("#!/bin/sh\ncat \"$KEYRING_FILE\"\n");
        folder.write("kept", record);
        return get();
    };
    const auto around = std::string(R"({"access_token":""})").size();
    EXPECT_THAT(answer((64u << 10) - around), HasSubstr("yyy"));
    EXPECT_THAT(answer((64u << 10) - around + 1), HasSubstr("it printed more than 64 KiB"));
}

TEST_F(KeyringTest, KeepsInTheFileWhatIsNoSecret) {
    use_tool(kKeeps);
    put(R"({"token_type":"Bearer","client_secret":"hid-1","private":"hid-2","dpop_key":"hid-3",
            "assertion":"hid-4","refresh_token":"hid-5","keys":"open"})");
    EXPECT_THAT(in_file(), Not(HasSubstr("hid-")));
    EXPECT_THAT(in_file(), HasSubstr("\"token_type\":\"Bearer\""));
    EXPECT_THAT(in_file(), HasSubstr("\"keys\":\"open\""));
    for (int i = 1; i <= 5; ++i)
        EXPECT_THAT(test::read_file(folder.path() + "/kept"),
                    HasSubstr("hid-" + std::to_string(i)));
    EXPECT_THAT(get(), Not(HasSubstr("keyring"))) << "that is the store's own member";
}

TEST_F(KeyringTest, IsNeededForALoginThatItHolds) {
    use_tool(kKeeps);
    put(R"({"access_token":"x"})");
    SecretStore without(loop, folder.path() + "/state", nullptr);
    std::optional<Result<std::string>> outcome;
    without.get("mine", "demo", [&](Result<std::string> told) { outcome = told; });
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    ASSERT_FALSE(*outcome);
    EXPECT_EQ(outcome->error().code, ErrorCode::Unavailable);
    EXPECT_THAT(outcome->error().message, HasSubstr("login for server \"demo\" is in the Secret"));
}

}  // namespace
}  // namespace patchbay::auth
