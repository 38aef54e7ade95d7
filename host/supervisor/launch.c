#define _GNU_SOURCE
#include "launch.h"

#include "process_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int exec_errno; /* written by a vfork child, which shares our memory */

void forget_standard_streams(void) {
    close(0);
    close(1);
    close(2);
}

/* First process of the namespace. All signals are blocked; it takes those that it waits for. */
static void be_init(int report) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const char fine = mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
    (void)!write(report, &fine, 1);
    if (!fine) _exit(1);
    close(report);
    forget_standard_streams();
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    sigaddset(&wanted, SIGTERM);
    for (;;) {
        if (sigwaitinfo(&wanted, NULL) == SIGTERM) kill(-1, SIGTERM);
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
    }
}

/* The program is not a child of the init but put into the namespace from outside (setns): so its
 * parent is 0 to it, not 1, which many servers take for the sign that their host has died; and its
 * exit status comes to us directly. */
int open_namespace(void) {
    int report[2];
    if (unshare(CLONE_NEWNS) != 0) return -1;
    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0) return -1;
    if (pipe2(report, O_CLOEXEC) != 0) return -1;
    int pidfd = -1;
    const long init = syscall(SYS_clone, (unsigned long)(CLONE_NEWPID | CLONE_PIDFD | SIGCHLD),
                              NULL, &pidfd, NULL, 0);
    if (init == 0) {
        close(report[0]);
        be_init(report[1]);
    }
    close(report[1]);
    char fine = 0;
    const int whole =
        init > 0 && read(report[0], &fine, 1) == 1 && fine && setns(pidfd, CLONE_NEWPID) == 0;
    close(report[0]);
    if (whole) return pidfd;
    if (init < 0) return -1;
    if (fine) umount2("/proc", MNT_DETACH); /* the init's: our descendants are not in there */
    close(pidfd);
    kill((pid_t)init, SIGKILL);
    waitpid((pid_t)init, NULL, 0);
    return -1;
}

void split_in_two(int kill_limit_ms) {
    const pid_t outer = getpid();
    const pid_t inner = fork();
    if (inner < 0) return; /* short of processes: one must do */
    if (inner == 0) {
        prctl(PR_SET_PDEATHSIG, SIGNAL_PARENT_GONE);
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        if (getppid() != outer) _exit(0);
        return;
    }
    forget_standard_streams();
    /* It stays our child until we reap it, and no signal interrupts us: no call of these fails. */
    int status = 0;
    while (waitpid(-1, &status, 0) != inner) {
    }
    if (WIFEXITED(status)) _exit(0);
    end_descendants(kill_limit_ms, -1);
    _exit(1);
}

static void complain(const char* path, int error) {
    const char* hint = "";
    if (error == ENOENT) hint = " (the file is there, its interpreter is not)";
    if (error == ENOEXEC) hint = " (neither a binary for this machine nor a script with #!)";
    char text[512] = "";
    snprintf(text, sizeof text, "cannot run %.300s: %s%s\n", path, strerror(error), hint);
    (void)!write(2, text, strlen(text));
}

int start_program(const char* path, char** argv, const struct limits* limits, int64_t others,
                  pid_t* pid) {
    sigset_t none;
    sigemptyset(&none);
    *pid = vfork();
    if (*pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setsid();
        apply_limits(limits, others);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execv(path, argv);
        exec_errno = errno;
        _exit(1); /* and no word of it: exec_errno says more */
    }
    const int error = *pid < 0 ? errno : exec_errno;
    if (error) complain(path, error);
    return error;
}
