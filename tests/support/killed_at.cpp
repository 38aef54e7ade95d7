#include "support/killed_at.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace patchbay::test {
namespace {

struct Changing {
    long number;
    const char* name;
};
// On a descriptor (argument 0), and by a name.
constexpr Changing kOfDescriptors[] = {{SYS_write, "write"},         {SYS_pwrite64, "pwrite64"},
                                       {SYS_writev, "writev"},       {SYS_fsync, "fsync"},
                                       {SYS_fdatasync, "fdatasync"}, {SYS_ftruncate, "ftruncate"},
                                       {SYS_fchmod, "fchmod"}};
constexpr Changing kOfNames[] = {
#ifdef SYS_rename
    {SYS_rename, "rename"},       {SYS_unlink, "unlink"},     {SYS_link, "link"},
    {SYS_mkdir, "mkdir"},         {SYS_chmod, "chmod"},       {SYS_symlink, "symlink"},
    {SYS_renameat, "renameat"},
#endif
    {SYS_renameat2, "renameat2"}, {SYS_unlinkat, "unlinkat"}, {SYS_linkat, "linkat"},
    {SYS_mkdirat, "mkdirat"},     {SYS_truncate, "truncate"}, {SYS_fchmodat, "fchmodat"}};

bool is_below(pid_t thread, std::uint64_t descriptor, const std::string& directory) {
    char target[4096];
    const auto link = "/proc/" + std::to_string(thread) + "/fd/" + std::to_string(descriptor);
    const auto size = ::readlink(link.c_str(), target, sizeof target);
    return size > 0 && std::string(target, static_cast<std::size_t>(size)).rfind(directory, 0) == 0;
}

// Empty: it changes nothing.
std::string change_of(pid_t thread, const __ptrace_syscall_info& info,
                      const std::string& directory) {
    const auto number = static_cast<long>(info.entry.nr);
    for (const auto& each : kOfDescriptors)
        if (each.number == number && is_below(thread, info.entry.args[0], directory))
            return each.name;
    for (const auto& each : kOfNames)
        if (each.number == number) return each.name;
    if (number == SYS_openat && (info.entry.args[2] & (O_CREAT | O_TRUNC))) return "openat";
    return {};
}

}  // namespace

Killed killed_at(int nth, const std::string& directory, const std::function<int()>& child) {
    Killed outcome;
    const auto pid = ::fork();
    if (pid == 0) {
        ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        ::raise(SIGSTOP);
        ::_exit(child());
    }
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(::ptrace(PTRACE_SETOPTIONS, pid, nullptr,
                       PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
                           PTRACE_O_EXITKILL),
              0)
        << std::strerror(errno);
    ::ptrace(PTRACE_SYSCALL, pid, nullptr, nullptr);
    int changes = 0;
    for (;;) {
        const auto thread = ::waitpid(-1, &status, __WALL);
        if (thread < 0) return outcome;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread != pid) continue;
            if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
            return outcome;  // the first of its threads is the last that is told of
        }
        int pass_on = 0;
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
            __ptrace_syscall_info info{};
            ::ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info);
            const auto change =
                info.op == PTRACE_SYSCALL_INFO_ENTRY ? change_of(thread, info, directory) : "";
            if (!change.empty() && ++changes == nth) {
                outcome.killed = true;
                outcome.last_call = change;
                ::kill(pid, SIGKILL);
                continue;
            }
        } else if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP) {
            pass_on = WSTOPSIG(status);
        }
        if (!outcome.killed) ::ptrace(PTRACE_SYSCALL, thread, nullptr, pass_on);
    }
}

int become(const Command& command) {
    std::vector<char*> argv, environment;
    std::vector<std::string> variables;
    for (const auto& word : command.argv) argv.push_back(const_cast<char*>(word.c_str()));
    for (const auto& [name, value] : command.environment) variables.push_back(name + "=" + value);
    for (auto& variable : variables) environment.push_back(variable.data());
    argv.push_back(nullptr);
    environment.push_back(nullptr);
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2}) ::dup2(nowhere, fd);
    if (::chdir(command.directory.c_str()) == 0) ::execve(argv[0], argv.data(), environment.data());
    return 127;
}

}  // namespace patchbay::test
