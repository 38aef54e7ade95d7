#define _GNU_SOURCE
#include "limits.h"

#include "wire.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A fork bomb ends here until the next look finds it. The kernel counts all processes of the user, of
 * which others may start some as well. */
enum { SPARE_PROCESSES = 1024 };

/* What rounding may hide of one that the kernel has ended at its limit. */
enum { TICKS_MS = 30 };

static int64_t number_behind(const char* mode, const char* name) {
    const char* const found = strstr(mode, name);
    const long long number = found ? strtoll(found + strlen(name), NULL, 10) : 0;
    return number > 0 ? number : 0;
}

struct limits limits_in(const char* mode) {
    const struct limits limits = {number_behind(mode, ",memory="), number_behind(mode, ",cpu="),
                                  number_behind(mode, ",processes="),
                                  number_behind(mode, ",files=")};
    return limits;
}

int need_looks(const struct limits* limits) {
    return limits->memory_bytes || limits->cpu_seconds || limits->processes || limits->files;
}

static void set_limit(int which, int64_t soft, int64_t hard) {
    struct rlimit now;
    if (getrlimit(which, &now) != 0) return;
    /* What is lower already stays so: only root may raise it. */
    if ((rlim_t)hard < now.rlim_max) now.rlim_max = (rlim_t)hard;
    if ((rlim_t)soft < now.rlim_cur) now.rlim_cur = (rlim_t)soft;
    if (now.rlim_cur > now.rlim_max) now.rlim_cur = now.rlim_max;
    setrlimit(which, &now);
}

/* Memory: what is written to and nobody else's. Address space would be the wrong measure: many
 * runtimes reserve far more of it than they ever use. */
void apply_limits(const struct limits* limits, int64_t others) {
    if (limits->memory_bytes) set_limit(RLIMIT_DATA, limits->memory_bytes, limits->memory_bytes);
    if (limits->cpu_seconds) {
        /* For a tree that is not looked at in time: a signal that says why, and a second later one that
         * nobody ignores. Later than the looks, which count what has run: the kernel counts by ticks
         * here, which may be a good part more. */
        const int64_t late = limits->cpu_seconds + limits->cpu_seconds / 4 + 1;
        set_limit(RLIMIT_CPU, late, late + 1);
    }
    if (limits->files) set_limit(RLIMIT_NOFILE, limits->files, limits->files);
    if (limits->processes) {
        const int64_t most = others + limits->processes + SPARE_PROCESSES;
        set_limit(RLIMIT_NPROC, most, most);
    }
}

int64_t processes_of_user(void) {
    DIR* const processes = opendir("/proc");
    if (!processes) return 0;
    const uid_t self = getuid();
    int64_t count = 0;
    for (struct dirent* entry; (entry = readdir(processes));) {
        char path[64];
        struct stat info;
        if (!isdigit((unsigned char)entry->d_name[0])) continue;
        snprintf(path, sizeof path, "/proc/%.20s", entry->d_name);
        if (stat(path, &info) == 0 && info.st_uid == self) ++count;
    }
    closedir(processes);
    return count;
}

static int64_t open_files(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR* const files = opendir(path);
    if (!files) return 0;
    int64_t count = 0;
    for (struct dirent* entry; (entry = readdir(files));)
        if (entry->d_name[0] != '.') ++count;
    closedir(files);
    return count;
}

/* "PID (any text) STATE ...": fields 14 to 17 are ticks of it and of whom it has waited for, 24 are
 * the pages that it has in memory. */
enum part { WHOLE, WHAT_IT_WAITED_FOR };

static void add_process(struct tree_usage* usage, pid_t pid, enum part part, int with_files) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    const char* const text = text_of_file(path);
    const char* const after = strrchr(text, ')');
    unsigned long long user = 0, system = 0;
    long long waited_user = 0, waited_system = 0, pages = 0;
    if (!after || sscanf(after,
                         ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld %*d "
                         "%*d %*d %*d %*u %*u %lld",
                         &user, &system, &waited_user, &waited_system, &pages) != 5)
        return;
    const long ticks = sysconf(_SC_CLK_TCK);
    if (part == WHAT_IT_WAITED_FOR) {
        usage->cpu_ms += (waited_user + waited_system) * 1000 / ticks;
        return;
    }
    ++usage->processes;
    usage->memory_bytes += pages * sysconf(_SC_PAGESIZE);
    usage->cpu_ms += ((int64_t)(user + system) + waited_user + waited_system) * 1000 / ticks;
    if (!with_files) return;
    const int64_t files = open_files(pid);
    if (files > usage->files) usage->files = files;
}

struct tree_usage usage_of_ended(void) {
    struct tree_usage usage = {0, 0, 0, 0};
    struct rusage used;
    if (getrusage(RUSAGE_CHILDREN, &used) != 0) return usage;
    usage.memory_bytes = used.ru_maxrss * 1024LL;
    usage.cpu_ms = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000LL +
                   (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
    return usage;
}

struct tree_usage look_at_tree(int apart, int with_files) {
    struct tree_usage usage = usage_of_ended();
    usage.memory_bytes = 0;
    if (!apart) {
        const int count = find_descendants();
        for (int i = 0; i < count; ++i) add_process(&usage, descendant(i), WHOLE, with_files);
        return usage;
    }
    DIR* const processes = opendir("/proc");
    if (!processes) return usage;
    for (struct dirent* entry; (entry = readdir(processes));) {
        const long pid = strtol(entry->d_name, NULL, 10);
        /* The init is ours, and orphans are its to wait for. */
        if (pid == 1) add_process(&usage, 1, WHAT_IT_WAITED_FOR, 0);
        if (pid > 1) add_process(&usage, (pid_t)pid, WHOLE, with_files);
    }
    closedir(processes);
    return usage;
}

int exceeded_limit(const struct limits* limits, const struct tree_usage* usage) {
    if (limits->memory_bytes && usage->memory_bytes > limits->memory_bytes)
        return PATCHBAY_LIMITED_MEMORY;
    if (limits->processes && usage->processes > limits->processes)
        return PATCHBAY_LIMITED_PROCESSES;
    if (limits->cpu_seconds && usage->cpu_ms + TICKS_MS >= limits->cpu_seconds * 1000)
        return PATCHBAY_LIMITED_CPU;
    return 0;
}

int limit_behind(const struct limits* limits, const struct tree_usage* last, int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
    const struct tree_usage used = usage_of_ended();
    if (limits->cpu_seconds && ((WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) ||
                                used.cpu_ms + TICKS_MS >= limits->cpu_seconds * 1000))
        return PATCHBAY_LIMITED_CPU;
    /* What was refused to it never was its memory: most come close before. */
    if (limits->memory_bytes && used.memory_bytes >= limits->memory_bytes / 10 * 8)
        return PATCHBAY_LIMITED_MEMORY;
    if (limits->files && last->files >= limits->files) return PATCHBAY_LIMITED_FILES;
    return 0;
}
