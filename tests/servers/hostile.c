/* A server that will not go.  hostile TOKEN MODE...
 *
 * TOKEN is on the command line of this process and of all that it leaves, so that a test can find
 * them. Modes, applied in order:
 *   ignore          ignores SIGTERM, SIGHUP and SIGINT, and the end of its input
 *   setsid          a child in a session of its own
 *   double          a grandchild whose parent is gone
 *   forks           64 children, each of which forks again whenever its parent dies
 *   supervisor      kills its parent, with every signal that can be caught, then with SIGKILL
 *   leave           ends with code 0, everything else stays
 * Says {"ready":true} when all is set up. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

static void stay(void) {
    for (;;) pause();
}

static void ignore_all(void) {
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
}

static void leave_child(int with_session, int with_orphan) {
    const pid_t pid = fork();
    if (pid != 0) return;
    ignore_all();
    if (with_session) setsid();
    if (with_orphan && fork() != 0) _exit(0);
    if (with_session) setsid();
    stay();
}

static void leave_forks(void) {
    for (int i = 0; i < 64; ++i) {
        if (fork() != 0) continue;
        ignore_all();
        /* Whoever kills the parent first makes the child fork: 1000 times at most. */
        for (int round = 0; round < 1000; ++round) {
            const pid_t parent = getppid();
            while (getppid() == parent) usleep(1000);
            if (fork() != 0) _exit(0);
            setsid();
        }
        stay();
    }
}

static void kill_supervisor(void) {
    const pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, 0);
    if (parent <= 1) return; /* in a PID namespace there is nobody to see */
    for (int number = 1; number < SIGRTMIN; ++number) {
        if (number != SIGKILL && number != SIGSTOP && number != SIGUSR1) kill(parent, number);
    }
    kill(parent, SIGKILL);
}

int main(int argc, char **argv) {
    for (int i = 2; i < argc; ++i) {
        if (strcmp(argv[i], "ignore") == 0) ignore_all();
        if (strcmp(argv[i], "setsid") == 0) leave_child(1, 0);
        if (strcmp(argv[i], "double") == 0) leave_child(1, 1);
        if (strcmp(argv[i], "forks") == 0) leave_forks();
        if (strcmp(argv[i], "supervisor") == 0) kill_supervisor();
        if (strcmp(argv[i], "leave") == 0) return 0;
    }
    puts("{\"ready\":true}");
    fflush(stdout);
    stay();
}
