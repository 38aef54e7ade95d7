/* Finding and ending every descendant of this process, also those that called setsid or
 * double-forked: it is their subreaper, so orphans come to it instead of to init. Linux only. */
#ifndef PATCHBAY_PROCESS_TREE_H
#define PATCHBAY_PROCESS_TREE_H

#include <sys/types.h>

/* Looks for every descendant of the calling process. Returns how many there are; each, from 0, is
 * good until somebody looks again. */
int find_descendants(void);
pid_t descendant(int which);

/* What a file of /proc says; good until the next one is read. */
const char* text_of_file(const char* path);

/* Sends `signal` to every descendant of the calling process. Returns how many there were. */
int signal_descendants(int signal);

/* Ends and reaps them all: stops what it finds until nothing new appears, so that nothing forks
 * away, then kills. Returns when none is left or `limit_ms` is over. `signals`: as below. */
void end_descendants(int limit_ms, int signals);

/* Waits until a child has ended, or for `most_ms`. `signals` is a signalfd that takes SIGCHLD and does
 * not block; -1: waits for all of `most_ms`. */
void await_child(int signals, int most_ms);

/* Reaps what has ended; true when this process has no child left. */
int reaped_all(void);

/* CLOCK_MONOTONIC. */
long now_ms(void);

#endif
