/* patchbay-supervisor: starts one program and ends its whole process tree when the program is done,
 * when the host says so, or when the host is gone, whatever killed it.
 *
 *   patchbay-supervisor namespace|shared[,memory=BYTES][,cpu=SECONDS][,processes=N][,files=N]
 *                       PATH ARGV0 [ARGUMENT ...]
 *
 * The host has set: descriptors 0, 1, 2 (the program's), 3 (control socket, wire.h), environment,
 * working directory, session, and every signal to its default. Nothing here allocates.
 *
 * `namespace`: where the kernel permits it (root), the program runs in a PID namespace of its own.
 * Then nothing of it can outlive the namespace's init, and nothing in it can see, let alone kill,
 * this process. `shared`, or not permitted: this process and a second one above it are the
 * subreapers of everything that the program leaves behind, and the program itself dies with its
 * supervisor. */
#define _GNU_SOURCE
#include "launch.h"
#include "limits.h"
#include "process_tree.h"
#include "wire.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILL_LIMIT_MS = 5000 };
static const long NEVER = LONG_MAX;

struct family {
    pid_t program;
    int init; /* a pidfd of its namespace's; -1: it has none */
    struct limits limits;
    struct tree_usage last; /* as it was when it was looked at last */
    int limited;            /* PATCHBAY_LIMITED_*: why it ends; 0: not for that */
    int asked;              /* it has been sent SIGTERM: what it leaves with says no more why */
};

static void tell(int kind, int value) {
    const struct patchbay_supervisor_packet packet = {kind, value};
    (void)!send(PATCHBAY_SUPERVISOR_CONTROL_FD, &packet, sizeof packet, MSG_NOSIGNAL);
}

static int exit_value(int status) {
    return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Nothing happens when it has ended already, whether we have reaped it or not. */
static void signal_init(const struct family* family, int number) {
    (void)!syscall(SYS_pidfd_send_signal, family->init, number, NULL, 0);
}

static void ask_to_end(const struct family* family) {
    if (family->init >= 0)
        signal_init(family, SIGTERM);
    else
        signal_descendants(SIGTERM);
}

/* Reaps what has ended; true when the program is among it. */
static int reap(const struct family* family, int* status) {
    int ended = 0;
    for (pid_t pid; (pid = waitpid(-1, &ended, WNOHANG)) > 0;) {
        if (pid != family->program) continue;
        *status = ended;
        return 1;
    }
    return 0;
}

static long sooner(long one, long other) {
    return one < other ? one : other;
}

/* 1: it uses more than it may. */
static int is_over(struct family* family) {
    family->last = look_at_tree(family->init >= 0, family->limits.files != 0);
    family->limited = exceeded_limit(&family->limits, &family->last);
    return family->limited != 0;
}

/* Waits for the program to leave, for word from the host, or for the host's end. Returns the wait
 * status of the program, or that of a killed one if it must be killed. */
static int watch_over(struct family* family, int signals) {
    long term_at = NEVER, kill_at = NEVER;
    long look_at = need_looks(&family->limits) ? now_ms() + LOOK_MS : NEVER;
    for (;;) {
        int status = 0;
        if (reap(family, &status)) return status;
        const long now = now_ms();
        if (!family->asked && now >= term_at) {
            ask_to_end(family);
            family->asked = 1;
        }
        if (now >= kill_at) return SIGKILL;
        if (now >= look_at) {
            if (is_over(family)) return SIGKILL;
            look_at = now + LOOK_MS;
        }
        const long next = sooner(family->asked ? kill_at : term_at, look_at);
        struct pollfd waits[2] = {{PATCHBAY_SUPERVISOR_CONTROL_FD, POLLIN, 0},
                                  {signals, POLLIN, 0}};
        (void)!poll(waits, 2, next == NEVER ? -1 : (int)(next - now)); /* failed: looks again */
        if (waits[1].revents) {
            struct signalfd_siginfo info;
            if (read(signals, &info, sizeof info) == (ssize_t)sizeof info &&
                info.ssi_signo == SIGNAL_PARENT_GONE)
                return SIGKILL; /* the supervisor above us was killed: so much for trust */
        }
        if (!waits[0].revents) continue;
        struct patchbay_supervisor_packet packet;
        const ssize_t got = recv(PATCHBAY_SUPERVISOR_CONTROL_FD, &packet, sizeof packet, 0);
        if (got != (ssize_t)sizeof packet) return SIGKILL; /* the host is gone */
        if (packet.kind == PATCHBAY_SUPERVISOR_STOP) {
            const long end = now_ms() + packet.value;
            term_at = sooner(term_at, end);
            kill_at = sooner(kill_at, end + packet.value);
        }
    }
}

static void end_all(const struct family* family, int signals) {
    if (family->init < 0) return end_descendants(KILL_LIMIT_MS, signals);
    signal_init(family, SIGKILL); /* and the kernel does the rest */
    const long until = now_ms() + KILL_LIMIT_MS;
    for (long left; !reaped_all() && (left = until - now_ms()) > 0;)
        await_child(signals, (int)left);
}

static int fitting(int64_t value) {
    return value < INT_MAX ? (int)value : INT_MAX;
}

/* What all of it has cost, and whether that is why it has ended. */
static void tell_usage(const struct family* family, int status, int64_t cpu_before_end_ms) {
    const struct tree_usage used = usage_of_ended();
    /* What a namespace's init had waited for is not always ours when it is killed. */
    const int64_t cpu_ms = used.cpu_ms > cpu_before_end_ms ? used.cpu_ms : cpu_before_end_ms;
    const int limited = family->limited ? family->limited
                        : family->asked ? 0
                                        : limit_behind(&family->limits, &family->last, status);
    if (limited) tell(PATCHBAY_SUPERVISOR_LIMITED, limited);
    tell(PATCHBAY_SUPERVISOR_CPU, fitting(cpu_ms));
    tell(PATCHBAY_SUPERVISOR_MEMORY, fitting(used.memory_bytes / 1024));
}

static int open_signals(void) {
    sigset_t all, wanted;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    sigaddset(&wanted, SIGNAL_PARENT_GONE);
    return signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The host keeps its memory out of core files, which is inherited; the program's is its own affair.
 */
static void allow_core_files(void) {
    const int fd = open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    static const char usual[] = "0x33"; /* the kernel's default */
    (void)!write(fd, usual, sizeof usual - 1);
    close(fd);
}

int main(int argc, char** argv) {
    if (argc < 4) {
        static const char usage[] =
            "usage: patchbay-supervisor namespace|shared[,LIMIT=N ...] PATH ARGV0 [ARGUMENT ...]\n"
            "Started by patchbay, one for each server that is a child process.\n";
        (void)!write(2, usage, sizeof usage - 1);
        return 2;
    }
    syscall(SYS_close_range, PATCHBAY_SUPERVISOR_CONTROL_FD + 1, ~0U, 0);
    fcntl(PATCHBAY_SUPERVISOR_CONTROL_FD, F_SETFD, FD_CLOEXEC);
    allow_core_files();
    const int signals = open_signals();
    prctl(PR_SET_CHILD_SUBREAPER, 1);

    static const char apart[] = "namespace";
    struct family family = {.limits = limits_in(argv[1])};
    /* Before /proc is the namespace's. */
    const int64_t others = family.limits.processes ? processes_of_user() : 0;
    family.init = strncmp(argv[1], apart, sizeof apart - 1) == 0 ? open_namespace() : -1;
    if (family.init < 0) split_in_two(KILL_LIMIT_MS);
    int status = 127 << 8; /* what a shell says of a program that it cannot run */
    const int failed = start_program(argv[2], argv + 3, &family.limits, others, &family.program);
    forget_standard_streams();
    if (failed == PROGRAM_STARTED) {
        tell(PATCHBAY_SUPERVISOR_STARTED, family.program);
        status = watch_over(&family, signals);
    }
    const int64_t cpu_ms = look_at_tree(family.init >= 0, 0).cpu_ms;
    end_all(&family, signals);
    tell_usage(&family, status, cpu_ms);
    tell(PATCHBAY_SUPERVISOR_EXITED, exit_value(status));
    return 0;
}
