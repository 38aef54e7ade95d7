#include "app/in_a_child.hpp"

#include "core/descriptor.hpp"
#include "core/replace_file.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace patchbay::app {

namespace {

constexpr std::chrono::milliseconds kGrace{250};  // after the limit, for what ends by itself
constexpr std::chrono::milliseconds kLook{20};    // how soon an end without one on the pipe is seen
constexpr char kReturned = 'r';  // the first byte on the pipe: what follows was returned

// The signals that would end us wait for its end, so that what we started can be ended before.
class EndsHeld {
public:
    EndsHeld() {
        ::sigemptyset(&held_);
        for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
            struct sigaction current {};
            // One that is ignored would not end us, but would come once it is held.
            if (::sigaction(number, nullptr, &current) == 0 && current.sa_handler != SIG_IGN)
                ::sigaddset(&held_, number);
        }
        ::sigprocmask(SIG_BLOCK, &held_, &before_);
    }
    ~EndsHeld() { let_go(); }
    EndsHeld(const EndsHeld&) = delete;

    void let_go() const { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
    bool came() const {
        sigset_t waiting;
        ::sigpending(&waiting);
        ::sigandset(&waiting, &waiting, &held_);
        return !::sigisemptyset(&waiting);
    }

private:
    sigset_t held_{}, before_{};
};

Error no_child(const char* what) {
    return {ErrorCode::Io, std::string(what) + ": " + std::strerror(errno)};
}

[[noreturn]] void be_the_child(const std::function<std::string()>& work,
                               std::chrono::milliseconds limit, int pipe) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setpgid(0, 0);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    std::signal(SIGALRM, SIG_DFL);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(seconds.count());
    timer.it_value.tv_usec = static_cast<suseconds_t>((limit - seconds).count() * 1000);
    ::setitimer(ITIMER_REAL, &timer, nullptr);
    // Who does not get all of it sees a child that ended without a word.
    static_cast<void>(core::write_whole(pipe, kReturned + work()));
    std::fflush(nullptr);
    ::_exit(0);
}

bool has_ended(pid_t child) {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == child;
}

enum class Read { Some, NothingYet, End };

// Appends some of what is there.
Read read_some(int fd, std::string& told) {
    char bytes[16 * 1024];
    const auto size = ::read(fd, bytes, sizeof bytes);
    if (size > 0) told.append(bytes, static_cast<std::size_t>(size));
    return size > 0                                          ? Read::Some
           : size < 0 && (errno == EAGAIN || errno == EINTR) ? Read::NothingYet
                                                             : Read::End;
}

bool too_much(const std::string& told) {
    return told.size() > sizeof kReturned + kMostReturned;
}

}  // namespace

Result<Ended> in_a_child(const std::function<std::string()>& work,
                         std::chrono::milliseconds limit) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return no_child("pipe");
    const core::Descriptor reading(ends[0]);
    core::Descriptor writing(ends[1]);
    std::fflush(nullptr);  // or the child would print it as well
    const EndsHeld ends_held;
    const auto child = ::fork();
    if (child < 0) return no_child("fork");
    if (child == 0) {
        ends_held.let_go();
        be_the_child(work, limit, writing.get());
    }
    ::setpgid(child, child);  // by whichever comes first
    writing.close();
    ::fcntl(reading.get(), F_SETFL, O_NONBLOCK);
    // The work is not trusted with any of this: it may ignore the alarm, close the pipe and stay,
    // write to it without end, or leave a process behind that holds it.
    const auto deadline = std::chrono::steady_clock::now() + limit + kGrace;
    std::string told;
    bool more = true, late = false;
    while (!has_ended(child) && !late && !too_much(told) && !ends_held.came()) {
        pollfd pipe{more ? reading.get() : -1, POLLIN, 0};
        ::poll(&pipe, 1, static_cast<int>(kLook.count()));
        more = more && read_some(reading.get(), told) != Read::End;
        late = std::chrono::steady_clock::now() >= deadline;
    }
    ::kill(-child, SIGKILL);  // with what it has started; before its number is another's
    ::kill(child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return no_child("waitpid");
    while (!too_much(told) && read_some(reading.get(), told) == Read::Some) {
    }
    Ended ended;
    ended.told_too_much = too_much(told);
    if (ended.told_too_much) return ended;
    if (late) {
        ended.signal = SIGALRM;
        return ended;
    }
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
