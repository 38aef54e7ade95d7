#include "app/run_command.hpp"

#include "core/program.hpp"
#include "core/text.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace patchbay::app {

namespace {

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// As exec would find it.
Result<std::string> program_of(const std::string& word) {
    if (word.find('/') != std::string::npos) {
        const auto trouble = core::trouble_with_program(word);
        if (trouble.empty()) return word;
        return Error{ErrorCode::NotFound, core::printable(word, 200) + " " + trouble};
    }
    const char* path = std::getenv("PATH");
    return core::find_on_path(word, path ? std::string_view(path) : core::kDefaultPath, {});
}

// The signals stay blocked while it is waited for, so that none is lost between two looks.
class Blocked {
public:
    Blocked() {
        ::sigemptyset(&set_);
        for (const int signal : kPassedOn) ::sigaddset(&set_, signal);
        ::sigaddset(&set_, SIGCHLD);
        ::sigprocmask(SIG_BLOCK, &set_, &before_);
    }
    ~Blocked() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
    Blocked(const Blocked&) = delete;

    const sigset_t& set() const { return set_; }
    const sigset_t& before() const { return before_; }

private:
    sigset_t set_{}, before_{};
};

[[noreturn]] void become(const std::string& program, char* const* words, char* const* environment,
                         pid_t parent, const sigset_t& mask) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(128 + SIGTERM);
    for (const int ignored : {SIGPIPE, SIGXFSZ}) ::signal(ignored, SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    ::execve(program.c_str(), words, environment);
    ::_exit(errno == ENOENT ? 127 : 126);
}

int code_of(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (auto& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables) {
    std::vector<std::string> all;
    for (char** each = environ; *each; ++each) {
        const std::string_view text(*each);
        if (!variables.contains(std::string(text.substr(0, text.find('=')))))
            all.emplace_back(text);
    }
    for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
    return all;
}

int wait_for(pid_t child, const Blocked& blocked) {
    while (true) {
        int status = 0;
        const auto ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child) return code_of(status);
        if (ended < 0 && errno != EINTR) return 1;  // it is nobody's any more
        siginfo_t info{};
        const int signal = ::sigwaitinfo(&blocked.set(), &info);
        // What a key of the terminal sends, or its end, the child was sent as well.
        if (signal > 0 && signal != SIGCHLD && info.si_code != SI_KERNEL) ::kill(child, signal);
    }
}

}  // namespace

Result<int> run_command(const std::vector<std::string>& words,
                        const std::map<std::string, std::string>& variables) {
    const auto program = program_of(words.front());
    if (!program) return program.error();
    auto own_words = words;
    auto environment = environment_with(variables);
    const auto word_pointers = pointers_to(own_words);
    const auto variable_pointers = pointers_to(environment);
    ::signal(SIGCHLD, SIG_DFL);  // who ignores it, as our caller may, is told of no end
    const Blocked blocked;
    const auto parent = ::getpid();
    const auto child = ::fork();
    if (child < 0)
        return Error{ErrorCode::Io, std::string("cannot start a process: ") + std::strerror(errno)};
    if (child == 0)
        become(*program, word_pointers.data(), variable_pointers.data(), parent, blocked.before());
    return wait_for(child, blocked);
}

}  // namespace patchbay::app
