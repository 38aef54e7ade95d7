// An MCP server that is small, fast and, when asked, ill-mannered: it serves the quickstart, the
// tests and the benchmarks. Run it with --help.
#include "example/options.hpp"
#include "example/server.hpp"

#include <csignal>
#include <cstdio>
#include <ctime>
#include <sys/wait.h>
#include <unistd.h>

namespace {

void note_pid(const example::Options& options) {
    if (options.pid_file.empty()) return;
    if (std::FILE* file = std::fopen(options.pid_file.c_str(), "a")) {
        std::fprintf(file, "%d\n", static_cast<int>(::getpid()));
        std::fclose(file);
    }
}

// A grandchild in a session of its own, deaf to SIGTERM: what badly written servers leave behind.
void spawn_daemon(const example::Options& options) {
    if (const pid_t child = ::fork(); child != 0) {
        ::waitpid(child, nullptr, 0);
        return;
    }
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    std::signal(SIGTERM, SIG_IGN);
    std::signal(SIGHUP, SIG_IGN);
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
    note_pid(options);
    for (;;) ::pause();
}

}  // namespace

int main(int argc, char** argv) {
    const auto options = example::parse_options(argc, argv);
    if (options.exit_at_start >= 0) {
        std::fprintf(stderr, "patchbay-example-server: refusing to start, as asked\n");
        return options.exit_at_start;
    }
    std::signal(SIGPIPE, SIG_IGN);
    if (options.stubborn) std::signal(SIGTERM, SIG_IGN);
    note_pid(options);
    if (options.spawn_daemon) spawn_daemon(options);
    if (options.slow_start_ms > 0) {
        const timespec wait{options.slow_start_ms / 1000,
                            options.slow_start_ms % 1000 * 1'000'000L};
        ::nanosleep(&wait, nullptr);
    }
    example::Server server(options);
    const int code = server.run();
    std::fflush(stdout);
    ::_exit(code);  // nothing is left to destroy that the kernel does not take back faster
}
