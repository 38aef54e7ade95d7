#include "config/secrets.hpp"

#include "config/sources.hpp"
#include "core/descriptor.hpp"
#include "core/text.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <optional>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

extern char** environ;

namespace patchbay::config {

namespace {

using Clock = std::chrono::steady_clock;

using core::Descriptor;

Error trouble(const std::string& what) {
    return {ErrorCode::Io, what};
}

// Waits for `fd` to have something; false: the deadline passed.
bool wait_readable(int fd, Clock::time_point deadline) {
    while (true) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return false;
        pollfd one{fd, POLLIN, 0};
        const int ready = ::poll(&one, 1, static_cast<int>(left) + 1);
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return false;
    }
}

// One running command in a process group of its own. The destructor leaves nothing behind.
class Child {
public:
    explicit Child(pid_t pid)
        : pid_(pid), handle_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}
    ~Child() {
        if (pid_ < 0) return;
        ::kill(-pid_, SIGKILL);
        reap();
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // The wait status; nothing when the deadline passed. `ended`: called before the number is free.
    std::optional<int> wait(Clock::time_point deadline, const std::function<void()>& ended) {
        if (handle_.get() < 0 || !wait_readable(handle_.get(), deadline)) return {};
        ended();
        const int status = reap();
        ::kill(-pid_, SIGKILL);  // what it left running in its group
        pid_ = -1;
        return status;
    }

private:
    int reap() const {
        int status = 0;
        while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        return status;
    }

    pid_t pid_;
    Descriptor handle_;
};

// Without a shell and without our stdin: what asks for a password would wait for the person who talks to
// us. What it prints on stderr may hold the secret and goes nowhere.
Result<pid_t> spawn(std::vector<std::string>& words, int output) {
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output, 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);  // what we ignore it would ignore too
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    pid_t pid = -1;
    const int error = ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error) return trouble("cannot run \"" + words.front() + "\": " + std::strerror(error));
    return pid;
}

}  // namespace

Result<std::string> secret_from_file(const std::string& path) {
    auto text = read_file(path, kSecretBytes);
    if (!text) return within("\"" + path + "\"", text.error());
    if (text->size() > kSecretBytes)
        return Error{ErrorCode::Limit,
                     "\"" + path + "\" is larger than 64 KiB, the limit for a secret"};
    if (text->ends_with('\n')) text->pop_back();
    if (text->ends_with('\r')) text->pop_back();
    if (text->find('\0') != std::string::npos)
        return Error{ErrorCode::Invalid, "\"" + path + "\" holds a NUL byte; a secret is text"};
    return text;
}

Result<std::string> secret_from_command(const std::string& command, const std::stop_token& stop,
                                        std::chrono::milliseconds limit) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < command.size();) {
        const auto end = std::min(command.find(' ', at), command.size());
        if (end > at) words.push_back(command.substr(at, end - at));
        at = end + 1;
    }
    if (words.empty()) return Error{ErrorCode::Invalid, "no command is named"};
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return trouble(std::string("no pipe: ") + std::strerror(errno));
    Descriptor reading(ends[0]), writing(ends[1]);
    const auto deadline = Clock::now() + limit;
    const auto pid = spawn(words, writing.get());
    if (!pid) return pid.error();
    writing.close();
    Child child(*pid);
    // Gone before the child is reaped, so its number is still this child's.
    std::optional<std::stop_callback<std::function<void()>>> stopping;
    stopping.emplace(stop, [pid = *pid] { ::kill(-pid, SIGKILL); });

    const auto name = "\"" + words.front() + "\"";
    const Error late{ErrorCode::Timeout, name + " did not end within " + core::duration(limit)};
    std::string output;
    char block[4096];
    while (true) {
        if (!wait_readable(reading.get(), deadline)) return late;
        const auto got = ::read(reading.get(), block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return trouble(name + ": " + std::strerror(errno));
        if (got == 0) break;
        output.append(block, static_cast<std::size_t>(got));
        if (output.size() > kSecretBytes)
            return Error{ErrorCode::Limit,
                         name + " printed more than 64 KiB, the limit for a secret"};
    }
    const auto status = child.wait(deadline, [&] { stopping.reset(); });
    if (stop.stop_requested())
        return Error{ErrorCode::Cancelled, name + " was ended: nobody waits for it any more"};
    if (!status) return late;
    if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0) {
        return trouble(name + (WIFEXITED(*status)
                                   ? " ended with exit code " + std::to_string(WEXITSTATUS(*status))
                                   : " was ended by signal " + std::to_string(WTERMSIG(*status))));
    }
    // Password managers print notes below the password.
    output.resize(std::min(output.find('\n'), output.size()));
    if (output.ends_with('\r')) output.pop_back();
    if (output.empty())
        return Error{ErrorCode::Invalid, name + " printed nothing on its first line"};
    if (output.find('\0') != std::string::npos)
        return Error{ErrorCode::Invalid, name + " printed a NUL byte; a secret is text"};
    return output;
}

}  // namespace patchbay::config
