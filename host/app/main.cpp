// The patchbay program. Start reading at host.hpp, which says what a running host is made of.
#include "app/command_line.hpp"
#include "app/crash.hpp"
#include "app/descriptor_limit.hpp"
#include "app/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

// What is in memory may be a token: a core file gets none of it (core(5)).
static void keep_memory_out_of_core_files() {
    const int fd = ::open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    static_cast<void>(!::write(fd, "0", 1));
    ::close(fd);
}

// A standard descriptor that is closed would become the number of the next file opened, a server's
// pipe perhaps, and what is printed would go there. What stands in for it refuses every read and
// write, so that losing output is an error like any other.
static void fill_closed_descriptors() {
    for (int fd = 0; fd <= 2; ++fd) {
        if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            static_cast<void>(!::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY));
    }
}

// All memory comes from one place: the loop's thread has nearly all of it, the few others wait more than
// they allocate, and each with an arena of its own would keep what it once needed.
static void share_memory_among_threads() {
#ifdef M_ARENA_MAX
    ::mallopt(M_ARENA_MAX, 1);
#endif
}

static int run(int argc, char** argv) {
    // Asked by scripts and health checks all the time: answered before anything is built.
    if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
        patchbay::app::print_line("patchbay " PATCHBAY_VERSION);
        return 0;
    }
    keep_memory_out_of_core_files();
    share_memory_among_threads();
    patchbay::app::make_room_for_descriptors();
    patchbay::app::install_crash_handler();
    return patchbay::app::run_command_line(argc, argv);
}

int main(int argc, char** argv) {
    fill_closed_descriptors();
    const int code = patchbay::app::delivered(run(argc, argv));
#ifdef PATCHBAY_SANITIZED
    return code;  // the leak check runs in a normal exit
#else
    // Servers are closed. A plugin's thread may still run, and no static may die under it.
    std::fflush(nullptr);
    std::quick_exit(code);
#endif
}
