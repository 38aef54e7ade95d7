/* Finding and ending every descendant of a process, also those that called setsid or double-forked:
 * the caller is their subreaper, so orphans come to it instead of to init. Linux only. */
#ifndef PATCHBAY_PROCESS_TREE_H
#define PATCHBAY_PROCESS_TREE_H

#include <sys/types.h>

/* Sends `signal` to every descendant of `root`, not to `root` itself. Returns how many there were. */
int signal_descendants(pid_t root, int signal);

/* Ends every descendant of the calling process and reaps them: stops what it finds until nothing new
 * appears, so that nothing forks away, then kills. Returns when none is left or `limit_ms` is over.
 * The status of `watched`, if it is reaped here, is stored in *status. */
void end_descendants(int limit_ms, pid_t watched, int *status);

/* The first child of `parent`, 0 when it has none (or the kernel does not tell). */
pid_t first_child(pid_t parent);

#endif
