/* How the program of a supervisor comes to life: in a PID namespace of its own where the kernel
 * permits it (root), beside a second supervisor elsewhere. Linux only; nothing here allocates. */
#ifndef PATCHBAY_LAUNCH_H
#define PATCHBAY_LAUNCH_H

#include "limits.h"

#include <sys/types.h>

enum {
    PROGRAM_STARTED = 0,
    SIGNAL_PARENT_GONE = 10 /* SIGUSR1: what the inner supervisor gets when the outer one dies */
};

/* Opens a PID and mount namespace, with a fresh /proc, for the children that this process starts
 * from now on. Returns a pidfd of the namespace's init: when that ends, everything in the namespace
 * is killed by the kernel. It answers SIGTERM by passing it on to all. A descriptor and no number:
 * once the init is reaped, its number may be that of anybody. -1: not permitted. */
int open_namespace(void);

/* Becomes two processes, each the subreaper of what is below it, so that a program which kills one
 * of them is still ended by the other. Returns in the inner one only. */
void split_in_two(int kill_limit_ms);

/* Runs `path` with `argv` as a child in a session of its own that dies with this process; its id is
 * stored in *pid. `others`: as apply_limits() has it. Otherwise returns the errno, having told why on descriptor 2. */
int start_program(const char* path, char** argv, const struct limits* limits, int64_t others,
                  pid_t* pid);

/* The program's ends of its pipes: only its tree may hold them, or the host never sees them close.
 */
void forget_standard_streams(void);

#endif
