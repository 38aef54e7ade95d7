/* What the host and patchbay-supervisor say to each other on the control socket (SOCK_SEQPACKET,
 * one struct a packet, same machine and build, so native layout). The end of the socket says
 * the rest: the host is gone, or the supervisor is. */
#ifndef PATCHBAY_SUPERVISOR_WIRE_H
#define PATCHBAY_SUPERVISOR_WIRE_H

#include <stdint.h>

enum {
    PATCHBAY_SUPERVISOR_CONTROL_FD = 3,
    PATCHBAY_SUPERVISOR_STARTED = 1, /* value: process id of the program */
    PATCHBAY_SUPERVISOR_EXITED = 2,  /* value: 0..255, or 256 + signal; the whole tree is gone */
    PATCHBAY_SUPERVISOR_LIMITED = 4, /* before EXITED; value: PATCHBAY_LIMITED_*, why it ended */
    PATCHBAY_SUPERVISOR_CPU = 5,     /* before EXITED; value: milliseconds that the tree has used */
    PATCHBAY_SUPERVISOR_MEMORY = 6,  /* before EXITED; value: KiB, of the largest of the tree */
    PATCHBAY_SUPERVISOR_STOP = 3     /* host to supervisor; value: grace in milliseconds */
};

enum { /* which of the limits that the supervisor was given, as patchbay_process_usage names them */
       PATCHBAY_LIMITED_MEMORY = 1,
       PATCHBAY_LIMITED_CPU = 2,
       PATCHBAY_LIMITED_PROCESSES = 3,
       PATCHBAY_LIMITED_FILES = 4
};

struct patchbay_supervisor_packet {
    int32_t kind;
    int32_t value;
};

#endif
