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
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FOUND = 65536, MOST_PIDS = 1 << 22, FILE_TEXT = 65536 };

/* Static, not on the stack or heap: this program must not fail when memory is short. Untouched
 * pages cost nothing. */
static pid_t found[MOST_FOUND];
static int found_count;
static char seen[MOST_PIDS];
static char text[FILE_TEXT];

/* Into `text`; nothing there when it cannot be read, the process may be gone. */
static void read_file(const char* path) {
    size_t used = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t got; (got = read(fd, text + used, sizeof text - 1 - used)) > 0;)
        used += (size_t)got;
    close(fd);
    text[used] = 0;
}

const char* text_of_file(const char* path) {
    read_file(path);
    return text;
}

static int is_pid(long number) {
    return number > 1 && number < MOST_PIDS;
}

static void add(long pid) {
    if (!is_pid(pid) || seen[pid] || found_count == MOST_FOUND) return;
    seen[pid] = 1;
    found[found_count++] = (pid_t)pid;
}

static void forget_found(void) {
    while (found_count) seen[found[--found_count]] = 0;
}

/* Children of every thread of `pid`. */
static void add_children(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR* const tasks = opendir(path);
    if (!tasks) return;
    for (struct dirent* task; (task = readdir(tasks));) {
        if (task->d_name[0] == '.') continue;
        char file[96];
        snprintf(file, sizeof file, "/proc/%d/task/%.20s/children", (int)pid, task->d_name);
        read_file(file);
        /* "PID PID ... ": a number without a space behind it was cut off, and is somebody else's. */
        char* end;
        for (char* at = text;; at = end + 1) {
            const long child = strtol(at, &end, 10);
            if (*end != ' ') break;
            add(child);
        }
    }
    closedir(tasks);
}

/* "PID (any text) STATE PPID ..." */
static long parent_of(const char* pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    read_file(path);
    long parent = 0;
    const char* const after = strrchr(text, ')');
    if (after) sscanf(after, ") %*c %ld", &parent);
    return parent;
}

/* For kernels without CONFIG_PROC_CHILDREN: look at every process until nobody new has a parent
 * among those already found. */
static void collect_by_parent(long root) {
    int before;
    do {
        before = found_count;
        DIR* const processes = opendir("/proc");
        if (!processes) return;
        for (struct dirent* entry; (entry = readdir(processes));) {
            const long pid = strtol(entry->d_name, NULL, 10);
            if (!is_pid(pid)) continue;
            const long parent = parent_of(entry->d_name);
            if (parent == root || (is_pid(parent) && seen[parent])) add(pid);
        }
        closedir(processes);
    } while (found_count != before);
}

static void collect(void) {
    forget_found();
    const pid_t self = getpid();
    if (access("/proc/thread-self/children", R_OK) != 0) return collect_by_parent(self);
    add_children(self);
    for (int i = 0; i != found_count; ++i) add_children(found[i]); /* each may add to them */
}

int find_descendants(void) {
    collect();
    return found_count;
}

pid_t descendant(int which) {
    return found[which];
}

int signal_descendants(int signal) {
    collect();
    for (int i = 0; i != found_count; ++i) kill(found[i], signal);
    return found_count;
}

long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000L + now.tv_nsec / 1000000;
}

int reaped_all(void) {
    for (;;) {
        const pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid < 0) return errno == ECHILD;
        if (pid == 0) return 0;
    }
}

void await_child(int signals, int most_ms) {
    struct pollfd wait = {signals, POLLIN, 0};
    struct signalfd_siginfo taken;
    if (poll(&wait, 1, most_ms) > 0) (void)!read(signals, &taken, sizeof taken);
}

void end_descendants(int limit_ms, int signals) {
    const long until = now_ms() + limit_ms;
    while (!reaped_all() && now_ms() < until) {
        /* A stopped process forks no more; a round without a new one means that all are stopped. */
        int before = -1;
        for (int count; (count = signal_descendants(SIGSTOP)) != before && now_ms() < until;)
            before = count;
        signal_descendants(SIGKILL);
        await_child(signals, 1); /* a killed process takes a moment to become a zombie */
    }
}
