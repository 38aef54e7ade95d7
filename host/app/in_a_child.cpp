#include "app/in_a_child.hpp"

#include "core/descriptor.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace patchbay::app {

namespace {

constexpr char kReturned = 'r';  // the first byte on the pipe: what follows was returned

Error no_child(const char* what) {
    return {ErrorCode::Io, std::string(what) + ": " + std::strerror(errno)};
}

void write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno != EINTR) return;
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
}

[[noreturn]] void be_the_child(const std::function<std::string()>& work,
                               std::chrono::milliseconds limit, int pipe) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    std::signal(SIGALRM, SIG_DFL);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(seconds.count());
    timer.it_value.tv_usec = static_cast<suseconds_t>((limit - seconds).count() * 1000);
    ::setitimer(ITIMER_REAL, &timer, nullptr);
    write_all(pipe, kReturned + work());
    std::fflush(nullptr);
    ::_exit(0);
}

}  // namespace

Result<Ended> in_a_child(const std::function<std::string()>& work,
                         std::chrono::milliseconds limit) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return no_child("pipe");
    const core::Descriptor reading(ends[0]);
    core::Descriptor writing(ends[1]);
    std::fflush(nullptr);  // or the child would print it as well
    const auto child = ::fork();
    if (child < 0) return no_child("fork");
    if (child == 0) be_the_child(work, limit, writing.get());
    writing.close();
    std::string told;
    char bytes[4096];
    for (;;) {
        const auto size = ::read(reading.get(), bytes, sizeof bytes);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) break;
        told.append(bytes, static_cast<std::size_t>(size));
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return no_child("waitpid");
    Ended ended;
    if (told.starts_with(kReturned)) ended.returned = told.substr(1);
    if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
    if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
    return ended;
}

std::string name_of_signal(int number) {
    const char* name = ::sigabbrev_np(number);
    return name ? std::string("SIG") + name : "signal " + std::to_string(number);
}

}  // namespace patchbay::app
