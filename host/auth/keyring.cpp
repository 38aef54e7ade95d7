#include "auth/keyring.hpp"

#include "core/descriptor.hpp"
#include "core/json.hpp"
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

struct Pipe {
    Pipe() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return;
        reading = core::Descriptor(ends[0]);
        writing = core::Descriptor(ends[1]);
    }
    core::Descriptor reading, writing;
};

std::vector<std::string> attributes(const std::string& server) {
    return {"application", "patchbay", "server", server};
}

Error missing(const std::string& why) {
    return {ErrorCode::Unavailable, std::string(kTool) + ": " + why};
}

int reaped(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// What `fd` waits for, or its end; false: not in time.
bool is_ready(int fd, Clock::time_point deadline) {
    for (;;) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd wanted{fd, POLLIN, 0};
        const int ready = left > 0 ? ::poll(&wanted, 1, static_cast<int>(left)) : 0;
        if (ready >= 0 || errno != EINTR) return ready > 0;
    }
}

// The thread that starts it has signals blocked that are not its to take, and ignores others.
int spawn(pid_t& pid, const posix_spawn_file_actions_t& actions, char* const* argv) {
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    posix_spawnattr_t how;
    ::posix_spawnattr_init(&how);
    ::posix_spawnattr_setsigmask(&how, &none);
    ::posix_spawnattr_setsigdefault(&how, &all);
    ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int wrong = ::posix_spawnp(&pid, kTool, &actions, &how, argv, environ);
    ::posix_spawnattr_destroy(&how);
    return wrong;
}

}  // namespace

// Secrets go in by stdin: arguments and environment can be read by every process of this user. What
// the tool says on stderr is dropped, it may repeat them.
Result<Keyring::Ended> Keyring::run(const std::vector<std::string>& arguments,
                                    const std::string& input) {
    Pipe in, out;
    if (in.reading.get() < 0 || out.reading.get() < 0) return missing(std::strerror(errno));
    std::vector<char*> argv{const_cast<char*>(kTool)};
    for (const auto& each : arguments) argv.push_back(const_cast<char*>(each.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in.reading.get(), 0);
    ::posix_spawn_file_actions_adddup2(&actions, out.writing.get(), 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t pid = -1;
    const int wrong = spawn(pid, actions, argv.data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (wrong) return missing(std::string(std::strerror(wrong)) + "; install libsecret-tools");
    in.reading.close();
    out.writing.close();

    // Far less than a pipe holds: this does not wait. SIGPIPE is ignored in this process.
    const bool told =
        ::write(in.writing.get(), input.data(), input.size()) == static_cast<ssize_t>(input.size());
    in.writing.close();
    Ended ended;
    const auto deadline = Clock::now() + kLimit;
    bool whole = false;
    while (!whole && is_ready(out.reading.get(), deadline)) {
        char block[4096];
        const auto got = ::read(out.reading.get(), block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got > 0) ended.output.append(block, static_cast<std::size_t>(got));
        whole = got <= 0;
        if (ended.output.size() > kMostBytes) break;
    }
    // One that has said all may stay all the same.
    const core::Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!whole || !is_ready(process.get(), deadline)) {
        ::kill(pid, SIGKILL);
        reaped(pid);
        return missing(ended.output.size() > kMostBytes
                           ? "it printed more than 64 KiB"
                           : "no answer within " + core::duration(kLimit));
    }
    ended.code = reaped(pid);
    if (!told && ended.code == 0) return missing("it did not take the secret");
    return ended;
}

Result<std::string> Keyring::read(const std::string& server) const {
    std::vector<std::string> arguments{"lookup"};
    for (auto& each : attributes(server)) arguments.push_back(each);
    const auto ended = run(arguments, {});
    if (!ended) return ended.error();
    // The tool ends with 1 for what it does not find and for a keyring that stays locked alike.
    return ended->code == 0 ? ended->output : std::string();
}

Result<void> Keyring::write(const std::string& server, const std::string& secrets,
                            const std::string& label) const {
    std::vector<std::string> arguments{"store", "--label=Patchbay: " + label};
    for (auto& each : attributes(server)) arguments.push_back(each);
    const auto ended = run(arguments, secrets);
    if (!ended) return ended.error();
    if (ended->code != 0)
        return missing("it ended with exit code " + std::to_string(ended->code) +
                       "; is a keyring unlocked?");
    // Its word alone is not enough: the file that says where the secrets are comes next.
    const auto kept = read(server);
    if (!kept) return kept.error();
    if (*kept != secrets)
        return missing("it ended well but does not have what it was told to keep");
    return {};
}

Result<void> Keyring::erase(const std::string& server) const {
    std::vector<std::string> arguments{"clear"};
    for (auto& each : attributes(server)) arguments.push_back(each);
    const auto ended = run(arguments, {});
    if (!ended) return ended.error();
    if (ended->code != 0)
        return missing("it ended with exit code " + std::to_string(ended->code) +
                       "; is a keyring unlocked?");
    const auto left = read(server);
    if (!left) return left.error();
    if (!left->empty()) return missing("it ended well but still has what it was told to forget");
    return {};
}

std::optional<boost::json::object> with_secrets(boost::json::object record,
                                                const std::string& answer) {
    const auto secrets = core::parse_json_object(answer);
    if (!secrets) return {};
    for (const auto& member : *secrets) record[member.key()] = member.value();
    return record;
}

}  // namespace patchbay::auth
