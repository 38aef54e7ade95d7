// The patchbay program. Start reading at host.hpp, which says what a running host is made of.
#include "app/command_line.hpp"
#include "app/crash.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

// What is in memory may be a token: a core file gets none of it (core(5)).
static void keep_memory_out_of_core_files() {
    const int fd = ::open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    static_cast<void>(!::write(fd, "0", 1));
    ::close(fd);
}

int main(int argc, char** argv) {
    // Asked by scripts and health checks all the time: answered before anything is built.
    if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
        std::puts("patchbay " PATCHBAY_VERSION);
        return 0;
    }
    keep_memory_out_of_core_files();
    patchbay::app::install_crash_handler();
    const int code = patchbay::app::run_command_line(argc, argv);
#ifdef PATCHBAY_SANITIZED
    return code;  // the leak check runs in a normal exit
#else
    // Servers are closed. A plugin's thread may still run, and no static may die under it.
    std::fflush(nullptr);
    std::quick_exit(code);
#endif
}
