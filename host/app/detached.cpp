#include "app/detached.hpp"

#include "core/private_file.hpp"
#include "core/standard_error.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace patchbay::app {

namespace {

struct Pipe {
    core::Descriptor read, write;
};

Error failed(const std::string& what) {
    return {ErrorCode::Io, "cannot " + what + ": " + std::strerror(errno)};
}

Result<Pipe> make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return failed("make a pipe");
    return Pipe{core::Descriptor(ends[0]), core::Descriptor(ends[1])};
}

Result<core::Descriptor> open_log(const std::string& folder, const std::string& name) {
    auto directory =
        core::open_private_directory(folder, core::Others::MayNothing, core::Make::Yes);
    if (!directory) return directory.error();
    core::Descriptor log(
        ::openat(directory->get(), name.c_str(),
                 O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
    if (log.get() < 0) return failed("write " + folder + "/" + name);
    return log;
}

// Passes on what the host says, until it is ready or gone. True: it is ready.
bool wait_for(const Pipe& news, const Pipe& words) {
    for (;;) {
        pollfd polled[] = {{words.read.get(), POLLIN, 0}, {news.read.get(), POLLIN, 0}};
        if (::poll(polled, 2, -1) < 0 && errno != EINTR) return false;
        char text[4096];
        if (polled[0].revents) {
            const auto got = ::read(words.read.get(), text, sizeof text);
            if (got > 0) std::fwrite(text, 1, static_cast<std::size_t>(got), stderr);
            if (got > 0) continue;  // all that it said before
        }
        if (polled[1].revents) return ::read(news.read.get(), text, 1) == 1;
    }
}

int end_of(pid_t host) {
    int status = 0;
    while (::waitpid(host, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool read_and_write_nowhere(int descriptor) {
    const core::Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    return null.get() >= 0 && ::dup2(null.get(), descriptor) == descriptor;
}

// Until it is ready its stdout is the command's: with --json it says there why it never is.
bool leave_the_terminal(int words) {
    return ::setsid() >= 0 && read_and_write_nowhere(0) && ::dup2(words, 2) == 2;
}

}  // namespace

Result<std::optional<Detached>> Detached::fork(const std::string& state_directory,
                                               const std::string& key, Started& started) {
    using Side = std::optional<Detached>;
    auto log = open_log(state_directory + "/run", key + ".log");
    if (!log) return log.error();
    auto news = make_pipe(), words = make_pipe();
    if (!news) return news.error();
    if (!words) return words.error();
    std::fflush(nullptr);
    const auto host = ::fork();
    if (host < 0) return failed("start a process");
    if (host == 0) {
        if (!leave_the_terminal(words->write.get())) ::_exit(1);
        return Side(Detached(std::move(*log), std::move(news->write)));
    }
    news->write.close();
    words->write.close();
    started = {host, wait_for(*news, *words) ? 0 : end_of(host)};
    return Side();
}

// Of a host that is the only one: before, the log may be another's.
bool Detached::ready() {
    static_cast<void>(!::ftruncate(log_.get(), 0));
    std::fflush(stdout);
    // Whoever reads what the command prints is not to wait for the host's end.
    const bool silent = read_and_write_nowhere(1);
    const char byte = 1;
    const bool waited = ::write(news_.get(), &byte, 1) == 1;
    news_.close();
    const bool moved = ::dup2(log_.get(), 2) == 2;
    core::standard_error::do_not_wait();
    return moved && silent && waited;
}

void Detached::keep_log_short() const {
    struct stat info {};
    if (::fstat(log_.get(), &info) == 0 && static_cast<std::size_t>(info.st_size) > kLogBytes)
        static_cast<void>(!::ftruncate(log_.get(), 0));
}

}  // namespace patchbay::app
