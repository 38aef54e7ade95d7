#define _GNU_SOURCE
#include "process_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 65536, TEXT = 65536 };

/* Static, not on the stack or heap: this program must not fail when memory is short. */
static pid_t found[MOST];

static ssize_t read_file(const char *path, char *text, size_t size) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    size_t used = 0;
    while (used + 1 < size) {
        const ssize_t got = read(fd, text + used, size - 1 - used);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        used += (size_t)got;
    }
    close(fd);
    text[used] = 0;
    return (ssize_t)used;
}

static int add(int count, pid_t pid) {
    for (int i = 0; i < count; ++i) {
        if (found[i] == pid) return count;
    }
    if (count < MOST) found[count++] = pid;
    return count;
}

/* Children of every thread of `pid`, from /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN). */
static int add_children(int count, pid_t pid) {
    static char text[TEXT];
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    if (!tasks) return count;
    for (struct dirent *task; (task = readdir(tasks));) {
        if (task->d_name[0] == '.') continue;
        char file[96];
        snprintf(file, sizeof file, "/proc/%d/task/%.20s/children", (int)pid, task->d_name);
        if (read_file(file, text, sizeof text) < 0) continue;
        for (char *at = text; *at;) {
            char *end;
            const long child = strtol(at, &end, 10);
            if (end == at) break;
            if (child > 1) count = add(count, (pid_t)child);
            at = end;
            while (*at == ' ') ++at;
        }
    }
    closedir(tasks);
    return count;
}

static int collect(pid_t root) {
    int count = add_children(0, root);
    for (int i = 0; i < count; ++i) count = add_children(count, found[i]);
    return count;
}

pid_t first_child(pid_t parent) { return add_children(0, parent) > 0 ? found[0] : 0; }

int signal_descendants(pid_t root, int signal) {
    const int count = collect(root);
    for (int i = 0; i < count; ++i) kill(found[i], signal);
    return count;
}

static long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000L + now.tv_nsec / 1000000;
}

void end_descendants(int limit_ms, pid_t watched, int *status) {
    const long until = now_ms() + limit_ms;
    for (;;) {
        /* A stopped process forks no more; two rounds without a new one mean that all are stopped. */
        int before = -1;
        for (int round = 0; round < 100; ++round) {
            const int count = signal_descendants(getpid(), SIGSTOP);
            if (count == before) break;
            before = count;
        }
        signal_descendants(getpid(), SIGKILL);
        for (;;) {
            int ended = 0;
            const pid_t pid = waitpid(-1, &ended, WNOHANG);
            if (pid < 0 && errno == ECHILD) return;
            if (pid == watched && pid > 0) *status = ended;
            if (pid <= 0) break;
        }
        if (now_ms() >= until) return;
        poll(NULL, 0, 1); /* a killed process takes a moment to become a zombie */
    }
}
