#include "auth/keyring.hpp"

#include "core/text.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace patchbay::auth {

namespace {

constexpr const char* kTool = "secret-tool";
constexpr std::size_t kMostBytes = 64u << 10;
using Clock = std::chrono::steady_clock;

class Pipe {
public:
    Pipe() {
        if (::pipe2(ends_, O_CLOEXEC) != 0) ends_[0] = ends_[1] = -1;
    }
    ~Pipe() {
        close(0);
        close(1);
    }
    int end(int which) const { return ends_[which]; }
    void close(int which) {
        if (ends_[which] >= 0) ::close(ends_[which]);
        ends_[which] = -1;
    }

private:
    int ends_[2];
};

std::vector<std::string> attributes(const std::string& server) {
    return {"application", "patchbay", "server", server};
}

Error missing(const std::string& why) {
    return {ErrorCode::Unavailable, std::string(kTool) + ": " + why};
}

int wait_for(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Result<Keyring::Ended> Keyring::run(const std::vector<std::string>& arguments,
                                    const std::string& input) {
    Pipe in, out;
    if (in.end(0) < 0 || out.end(0) < 0) return missing(std::strerror(errno));
    std::vector<char*> argv{const_cast<char*>(kTool)};
    for (const auto& each : arguments) argv.push_back(const_cast<char*>(each.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in.end(0), 0);
    ::posix_spawn_file_actions_adddup2(&actions, out.end(1), 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t pid = -1;
    const int wrong = ::posix_spawnp(&pid, kTool, &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (wrong) return missing(std::string(std::strerror(wrong)) + "; install libsecret-tools");
    in.close(0);
    out.close(1);

    // Far less than a pipe holds: this does not wait. SIGPIPE is ignored in this process.
    const bool told =
        ::write(in.end(1), input.data(), input.size()) == static_cast<ssize_t>(input.size());
    in.close(1);
    Ended ended;
    const auto deadline = Clock::now() + kLimit;
    bool whole = false;
    while (!whole) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        pollfd wanted{out.end(0), POLLIN, 0};
        const int ready = left.count() > 0 ? ::poll(&wanted, 1, static_cast<int>(left.count())) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) break;
        char block[4096];
        const auto got = ::read(out.end(0), block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got > 0) ended.output.append(block, static_cast<std::size_t>(got));
        whole = got <= 0;
        if (ended.output.size() > kMostBytes) break;
    }
    if (!whole) {
        ::kill(pid, SIGKILL);
        wait_for(pid);
        return missing("no answer within " + core::duration(kLimit));
    }
    ended.code = wait_for(pid);
    if (!told && ended.code == 0) return missing("it did not take the secret");
    return ended;
}

Result<std::string> Keyring::read(const std::string& server) const {
    std::vector<std::string> arguments{"lookup"};
    for (auto& each : attributes(server)) arguments.push_back(each);
    const auto ended = run(arguments, {});
    if (!ended) return ended.error();
    return ended->code == 0 ? ended->output : std::string();
}

Result<void> Keyring::write(const std::string& server, const std::string& secrets) const {
    std::vector<std::string> arguments{"store", "--label=Patchbay: sign-in to " + server};
    for (auto& each : attributes(server)) arguments.push_back(each);
    const auto ended = run(arguments, secrets);
    if (!ended) return ended.error();
    if (ended->code != 0)
        return missing("it ended with exit code " + std::to_string(ended->code) +
                       "; is a keyring unlocked?");
    return {};
}

Result<void> Keyring::erase(const std::string& server) const {
    std::vector<std::string> arguments{"clear"};
    for (auto& each : attributes(server)) arguments.push_back(each);
    const auto ended = run(arguments, {});
    if (!ended) return ended.error();
    return {};
}

}  // namespace patchbay::auth
