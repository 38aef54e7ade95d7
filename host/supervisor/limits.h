/* What the program of a supervisor may use: bounds that the kernel holds for each process (rlimits),
 * and for the whole tree a look at it every LOOK_MS, which ends it when one is exceeded. Linux only;
 * nothing here allocates. */
#ifndef PATCHBAY_LIMITS_H
#define PATCHBAY_LIMITS_H

#include "process_tree.h"

#include <stdint.h>

enum { LOOK_MS = 100 };

struct limits { /* 0: none */
    int64_t memory_bytes, cpu_seconds, processes, files;
};

/* What a tree uses, as read at one moment; who is gone by then counts by what it has left. */
struct tree_usage {
    int64_t memory_bytes, cpu_ms, processes, files; /* files: of the one that has the most open */
};

/* Of "namespace,memory=1073741824,files=64"; what is not known is passed over. */
struct limits limits_in(const char* mode);

/* 1: the tree has to be looked at while it runs. */
int need_looks(const struct limits* limits);

/* In the child that becomes the program; `others`: processes of this user that are there already. */
void apply_limits(const struct limits* limits, int64_t others);
int64_t processes_of_user(void);

/* `apart`: the tree is all that /proc shows but its init. */
struct tree_usage look_at_tree(int apart, int with_files);

/* Which limit the tree exceeds, as patchbay_supervisor_limit of wire.h; 0: none. */
int exceeded_limit(const struct limits* limits, const struct tree_usage* usage);

/* Which limit has made a program end that left with `status`; 0: none that is known. `last`: the
 * last look at it. */
int limit_behind(const struct limits* limits, const struct tree_usage* last, int status);

/* Of all that has been waited for. */
struct tree_usage usage_of_ended(void);

#endif
