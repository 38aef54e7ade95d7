/* patchbay-supervisor: starts one program and ends its whole process tree when the program is done,
 * when the host says so, or when the host is gone, whatever killed it.
 *
 *   patchbay-supervisor PROGRAM [ARGUMENT ...]
 *
 * The host has set: descriptors 0, 1, 2 (the program's), 3 (control socket, wire.h), environment and
 * working directory (the program's). Nothing here allocates.
 *
 * Where the kernel permits it (root), the program runs in a PID namespace of its own below a minimal
 * init: then nothing in it can outlive that init, and nothing in it can see, let alone kill, this
 * process. Elsewhere this process is the subreaper of everything the program leaves behind, and the
 * program itself dies with it. PATCHBAY_PID_NAMESPACE=never turns the namespace off. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process_tree.h"
#include "wire.h"

enum { KILL_LIMIT_MS = 5000 };

static const char kNamespaceSetting[] = "PATCHBAY_PID_NAMESPACE=";
static volatile int exec_errno; /* written by a vfork child, which shares our memory */
static sigset_t no_signals;

static void tell(int kind, int value) {
    const struct patchbay_supervisor_packet packet = {kind, value};
    (void)!send(PATCHBAY_SUPERVISOR_CONTROL_FD, &packet, sizeof packet, MSG_NOSIGNAL);
}

static void complain(const char *program, const char *what, int error) {
    char text[512];
    const int size = snprintf(text, sizeof text, "cannot run %.200s: %s%s\n", program, what, strerror(error));
    if (size > 0) (void)!write(2, text, (size_t)size);
}

static int exit_value(int status) {
    return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void forget_standard_streams(void) {
    /* The program's ends: only its tree may hold them, or the host never sees them close. */
    close(0);
    close(1);
    close(2);
}

/* Runs the program as a child; 0 when it could not be executed (told on its stderr). */
static pid_t start_program(char **argv) {
    exec_errno = 0;
    const pid_t pid = vfork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setsid();
        for (int number = 1; number < NSIG; ++number) {
            if (number != SIGKILL && number != SIGSTOP) signal(number, SIG_DFL);
        }
        sigprocmask(SIG_SETMASK, &no_signals, NULL);
        execvp(argv[0], argv);
        exec_errno = errno;
        _exit(127);
    }
    if (pid < 0) {
        complain(argv[0], "cannot fork: ", errno);
        return 0;
    }
    if (exec_errno) {
        complain(argv[0], "", exec_errno);
        waitpid(pid, NULL, 0);
        return 0;
    }
    return pid;
}

/* First process of the namespace: starts the program, reaps, and ends everything by ending. */
static void be_init(char **argv, int report) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0 ||
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) {
        const int unusable = -1;
        (void)!write(report, &unusable, sizeof unusable);
        _exit(0);
    }
    const pid_t program = start_program(argv);
    const int started = program > 0;
    (void)!write(report, &started, sizeof started);
    if (!started) _exit(127);
    forget_standard_streams();
    for (;;) {
        int status = 0;
        const pid_t pid = waitpid(-1, &status, 0);
        if (pid == program || (pid < 0 && errno == ECHILD)) {
            const int value = exit_value(status);
            (void)!write(report, &value, sizeof value);
            _exit(0);
        }
    }
}

struct child {
    pid_t pid;        /* the program, or the init of its namespace */
    int report;       /* from the init; -1 without a namespace */
};

static int namespace_wanted(void) {
    for (char **entry = environ; *entry; ++entry) {
        if (strncmp(*entry, kNamespaceSetting, sizeof kNamespaceSetting - 1) != 0) continue;
        const int wanted = strcmp(*entry + sizeof kNamespaceSetting - 1, "never") != 0;
        for (char **to = entry; (*to = *(to + 1)); ++to) {}  /* not for the program's eyes */
        return wanted;
    }
    return 1;
}

/* 1: running in a namespace; 0: try without; -1: the program cannot be executed. */
static int start_in_namespace(char **argv, struct child *child) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) return 0;
    const long pid = syscall(SYS_clone, (unsigned long)(CLONE_NEWPID | CLONE_NEWNS | SIGCHLD), 0, 0, 0, 0);
    if (pid == 0) {
        close(report[0]);
        be_init(argv, report[1]);
    }
    close(report[1]);
    int started = -1;
    if (pid > 0 && read(report[0], &started, sizeof started) != (ssize_t)sizeof started) started = -1;
    if (pid > 0 && started == 1) {
        child->pid = (pid_t)pid;
        child->report = report[0];
        return 1;
    }
    close(report[0]);
    if (pid > 0) waitpid((pid_t)pid, NULL, 0);
    return started == 0 ? -1 : 0;
}

static long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000L + now.tv_nsec / 1000000;
}

/* Waits for the program to leave, for word from the host, or for the host's end. */
static int watch_over(const struct child *child, int signals) {
    long term_at = -1, kill_at = -1;
    for (;;) {
        int status = 0;
        for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
            if (pid == child->pid) return status;
        }
        const long now = now_ms();
        if (kill_at >= 0 && now >= kill_at) break;
        if (term_at >= 0 && now >= term_at) {
            signal_descendants(getpid(), SIGTERM);
            term_at = -1;
        }
        const long next = term_at >= 0 ? term_at : kill_at;
        struct pollfd waits[2] = {{PATCHBAY_SUPERVISOR_CONTROL_FD, POLLIN, 0}, {signals, POLLIN, 0}};
        if (poll(waits, 2, next < 0 ? -1 : (int)(next - now)) < 0 && errno != EINTR) break;
        if (waits[1].revents) {
            struct signalfd_siginfo ignored;
            (void)!read(signals, &ignored, sizeof ignored);
        }
        if (waits[0].revents) {
            struct patchbay_supervisor_packet packet;
            const ssize_t got = recv(PATCHBAY_SUPERVISOR_CONTROL_FD, &packet, sizeof packet, MSG_DONTWAIT);
            if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
            if (got != (ssize_t)sizeof packet) break; /* the host is gone */
            if (packet.kind == PATCHBAY_SUPERVISOR_STOP && kill_at < 0) {
                term_at = now_ms() + packet.value;
                kill_at = term_at + packet.value;
            }
        }
    }
    return SIGKILL; /* the wait status of a killed process */
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fputs("usage: patchbay-supervisor PROGRAM [ARGUMENT ...]   (started by patchbay)\n", stderr);
        return 2;
    }
    sigset_t all;
    sigfillset(&all);
    sigemptyset(&no_signals);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    const int signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    fcntl(PATCHBAY_SUPERVISOR_CONTROL_FD, F_SETFD, FD_CLOEXEC);
    setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);

    struct child child = {0, -1};
    const int spaced = namespace_wanted() ? start_in_namespace(argv + 1, &child) : 0;
    if (spaced == 0) child.pid = start_program(argv + 1);
    if (spaced < 0 || child.pid <= 0) {
        tell(PATCHBAY_SUPERVISOR_EXITED, 127);
        return 0;
    }
    forget_standard_streams();
    const pid_t shown = spaced ? first_child(child.pid) : child.pid;
    tell(PATCHBAY_SUPERVISOR_STARTED, shown > 0 ? shown : child.pid);

    int status = watch_over(&child, signals);
    int value = exit_value(status);
    if (spaced && status == 0) {
        /* The init has ended after its program: how is in the report. */
        int reported = 0;
        if (read(child.report, &reported, sizeof reported) == (ssize_t)sizeof reported) value = reported;
    }
    end_descendants(KILL_LIMIT_MS, child.pid, &status);
    tell(PATCHBAY_SUPERVISOR_EXITED, value);
    return 0;
}
