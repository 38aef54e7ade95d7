/* patchbay/services.h - what a plugin may ask of the host, each by its own extension id.
 * Asynchronous calls follow one rule: a negative status means refused and the callback never
 * comes; otherwise it comes exactly once, on any thread, also after cancel (E_CANCELLED). A plugin
 * ends its open operations before it reports closed. */
#ifndef PATCHBAY_SERVICES_H
#define PATCHBAY_SERVICES_H
#include "plugin.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef uint64_t patchbay_op;      /* never 0 */

#define PATCHBAY_HOST_BUFFERS "patchbay.host.buffers/1" /* pooled, 64 bytes of readable padding */
typedef struct patchbay_host_buffers { uint32_t struct_size, reserved;
  /* Writable until handed over; release gives it back unused. [any] */
  PATCHBAY_FN(patchbay_status, take)(const patchbay_host *, size_t min_capacity, patchbay_buf *out) PATCHBAY_NX;
} patchbay_host_buffers;

#define PATCHBAY_HOST_REACTOR "patchbay.host.reactor/1" /* NULL where the platform has none */
typedef struct patchbay_host_reactor { uint32_t struct_size, reserved;
  /* events: 1 readable, 2 writable. Level-triggered; calls for one watch never overlap. Regular
   * files are UNSUPPORTED. Cancel before closing fd. [any] */
  PATCHBAY_FN(patchbay_status, watch)(const patchbay_host *, intptr_t fd, uint32_t events, void *ctx,
    PATCHBAY_FN(void, ready)(void *ctx, uint32_t events) PATCHBAY_NX, patchbay_op *out) PATCHBAY_NX;
  PATCHBAY_FN(patchbay_status, after)(const patchbay_host *, uint64_t delay_ns, void *ctx,
    PATCHBAY_FN(void, fired)(void *ctx, patchbay_status) PATCHBAY_NX, patchbay_op *out) PATCHBAY_NX;
  /* When it returns the operation is over and ctx is not touched again, except when called from
   * inside the operation's own callback. A timer that had not fired gets its one call, with
   * E_CANCELLED, from inside cancel; a watch gets none. On another thread than the reactor's it
   * waits for a callback that is running: hold no lock that the callback takes. [any] */
  PATCHBAY_FN(void, cancel)(const patchbay_host *, patchbay_op) PATCHBAY_NX;
  /* Other events for a watch; 0 pauses it. [any] */
  PATCHBAY_FN(patchbay_status, modify)(const patchbay_host *, patchbay_op, uint32_t events) PATCHBAY_NX;
  /* Calls fn(ctx) once on the reactor's thread: at the end of the current round when called there
   * (before the reactor waits again), else as soon as it wakes. Cannot be cancelled. [any] */
  PATCHBAY_FN(patchbay_status, post)(const patchbay_host *, void *ctx,
    PATCHBAY_FN(void, fn)(void *ctx) PATCHBAY_NX) PATCHBAY_NX;
} patchbay_host_reactor;

/* Children: argv only, no shell; empty environment plus a short list (HOME, PATH, ..) plus env; own
 * session; no descriptors but 0, 1, 2; a supervisor beside each child ends its whole tree when
 * the host is gone, whatever killed it. Needs the manifest grant "spawn". */
#define PATCHBAY_HOST_PROCESS "patchbay.host.process/1"
enum { PATCHBAY_PROCESS_SHARED_PIDS = 1u << 0 /* no PID namespace, where it would get one (root) */ };
typedef struct patchbay_process_params { uint32_t struct_size, flags;
  const patchbay_str *argv; size_t argc;     /* argv[0] is looked up in the child's PATH */
  patchbay_str cwd;                          /* empty: the host's */
  const patchbay_kv *env; size_t env_count;  /* added to the short list, stronger than it */
  uint64_t memory_bytes, cpu_seconds, processes, files; /* what it may use with all its descendants; files:
                                                         * open in one of them. 0: not bounded */
} patchbay_process_params;
enum { PATCHBAY_LIMIT_NONE = 0, PATCHBAY_LIMIT_MEMORY = 1, PATCHBAY_LIMIT_CPU = 2,
  PATCHBAY_LIMIT_PROCESSES = 3, PATCHBAY_LIMIT_FILES = 4 };
typedef struct patchbay_process_usage { uint32_t struct_size, limit; /* PATCHBAY_LIMIT_*: what ended it */
  uint64_t cpu_ms, peak_memory_bytes; /* of the largest of them */
} patchbay_process_usage;
typedef struct patchbay_process { uint32_t struct_size, reserved;
  patchbay_op op;
  intptr_t stdin_fd, stdout_fd, stderr_fd;   /* non-blocking, close-on-exec; the plugin closes them */
} patchbay_process;
typedef struct patchbay_host_process { uint32_t struct_size, reserved;
  /* Starts a program. A missing or not executable file is E_UNSUPPORTED here, with text; what only
   * exec can tell (a bad interpreter) is written to the child's stderr, code 127. After OK: started (may
   * be NULL) with the process id once it runs, and exactly one exited, when the program AND all
   * its descendants are gone: code 0..255, or 256 + signal. [any] */
  PATCHBAY_FN(patchbay_status, spawn)(const patchbay_host *, const patchbay_process_params *, void *ctx,
    PATCHBAY_FN(void, started)(void *ctx, int64_t pid) PATCHBAY_NX,
    PATCHBAY_FN(void, exited)(void *ctx, int32_t code) PATCHBAY_NX, patchbay_process *out,
    patchbay_error *error) PATCHBAY_NX;
  /* Ends a program: waits grace_ms for it to leave by itself, then TERM to the tree, grace_ms
   * again, then KILL to the tree; less where the host is in a hurry. Descendants left behind by a program that has exited are killed
   * in any case. The plugin closes stdin first. [any] */
  PATCHBAY_FN(void, stop)(const patchbay_host *, patchbay_op, uint32_t grace_ms) PATCHBAY_NX;
  /* What a program and its descendants have used in all; from within its exited, else E_CLOSED.
   * E_UNSUPPORTED: nobody knows. [any] */
  PATCHBAY_FN(patchbay_status, usage)(const patchbay_host *, patchbay_op, patchbay_process_usage *) PATCHBAY_NX;
} patchbay_host_process;

#define PATCHBAY_HOST_HTTP "patchbay.host.http/1" /* proxy, CA and TLS policy of the host apply */
typedef struct patchbay_http_request { uint32_t struct_size, timeout_ms;
  patchbay_str method, url; const patchbay_kv *headers; size_t header_count; patchbay_str body;
  uint64_t max_response;
  /* The server this is done for. Then only https (http to loopback), only public addresses and
   * those of the kind the server itself is reached at (private, loopback), at every hop; a proxy
   * finds the addresses of names, so through one only what is written as an address is judged.
   * Empty: no judge. With a body, redirects are followed within the origin only. */
  patchbay_str beside;
  patchbay_str ca_file, proxy;     /* as the http transport's keys; empty: the system's, the environment's */
} patchbay_http_request;
typedef struct patchbay_http_response { uint32_t struct_size, status;
  const patchbay_kv *headers; size_t header_count; patchbay_str body, url; } patchbay_http_response;
typedef struct patchbay_host_http { uint32_t struct_size, reserved;
  PATCHBAY_FN(patchbay_status, fetch)(const patchbay_host *, const patchbay_http_request *, void *ctx,
    PATCHBAY_FN(void, done)(void *ctx, patchbay_status, const patchbay_http_response *, const patchbay_error *) PATCHBAY_NX,
    patchbay_op *out) PATCHBAY_NX;                                                       /* [any] */
  PATCHBAY_FN(void, cancel)(const patchbay_host *, patchbay_op) PATCHBAY_NX;             /* [any] */
} patchbay_host_http;
/* What serves it: get_extension() of the plugin that provides transport "http". */
#define PATCHBAY_PLUGIN_HTTP "patchbay.plugin.http/1"
typedef struct patchbay_plugin_http { uint32_t struct_size, reserved;
  PATCHBAY_FN(patchbay_status, fetch)(const patchbay_plugin *, const patchbay_http_request *, void *ctx,
    PATCHBAY_FN(void, done)(void *ctx, patchbay_status, const patchbay_http_response *, const patchbay_error *) PATCHBAY_NX,
    patchbay_op *out) PATCHBAY_NX;                                                       /* [any] */
  PATCHBAY_FN(void, cancel)(const patchbay_plugin *, patchbay_op) PATCHBAY_NX;           /* [any] */
} patchbay_plugin_http;

/* Signs a request of a channel whose credentials have PATCHBAY_KV_SIGN; the auth method does it. */
#define PATCHBAY_HOST_SIGN "patchbay.host.sign/1"
typedef struct patchbay_host_sign { uint32_t struct_size, reserved;
  /* header() for each header to set, from inside; it replaces one of the same name. AUTH: nobody is
   * there who could; send it as it is, the server will ask. Between open and closed. [any] */
  PATCHBAY_FN(patchbay_status, sign)(const patchbay_host *, patchbay_link *, patchbay_str method,
    patchbay_str url, void *ctx,
    PATCHBAY_FN(void, header)(void *ctx, patchbay_str name, patchbay_str value) PATCHBAY_NX) PATCHBAY_NX;
} patchbay_host_sign;

/* A person's consent in a browser. The host owns listener, wording and time limit. Needs the grant
 * "browser". */
#define PATCHBAY_HOST_CONSENT "patchbay.host.consent/1"
enum { PATCHBAY_REDIRECT_BYTES = 256 };
typedef struct patchbay_host_consent { uint32_t struct_size, reserved;
  /* Reserves a redirect URI on the loopback interface, port 0: any. Writes it to redirect_uri
   * (PATCHBAY_REDIRECT_BYTES). The operation ends with authorize's callback or cancel. IO: the port
   * is taken; UNSUPPORTED: no person can be asked here. [any] */
  PATCHBAY_FN(patchbay_status, reserve)(const patchbay_host *, patchbay_str server, uint32_t port,
    char *redirect_uri, patchbay_op *out, patchbay_error *) PATCHBAY_NX;
  /* Shows url (http or https) to the person; done with the redirect's query string. DENIED: the
   * person said no; TIMEOUT: nobody answered; AUTH: nobody is there, error says what to run. [any] */
  PATCHBAY_FN(patchbay_status, authorize)(const patchbay_host *, patchbay_op, patchbay_str url, void *ctx,
    PATCHBAY_FN(void, done)(void *ctx, patchbay_status, patchbay_str query, const patchbay_error *) PATCHBAY_NX) PATCHBAY_NX;
  PATCHBAY_FN(void, cancel)(const patchbay_host *, patchbay_op) PATCHBAY_NX;             /* [any] */
} patchbay_host_consent;

/* What a sign-in left: one record for each server, a JSON object, kept by the host and only shown
 * to the plugin that put it. Needs the grant "secrets". */
#define PATCHBAY_HOST_SECRETS "patchbay.host.secrets/1"
typedef struct patchbay_host_secrets { uint32_t struct_size, reserved;
  /* OK with an empty record: there is none. Ends soon, is not cancelled. [any] */
  PATCHBAY_FN(patchbay_status, get)(const patchbay_host *, patchbay_str server, void *ctx,
    PATCHBAY_FN(void, done)(void *ctx, patchbay_status, patchbay_str record, const patchbay_error *) PATCHBAY_NX) PATCHBAY_NX;
  /* Replaces the whole record, on disk when done says OK; an empty one erases it. [any] */
  PATCHBAY_FN(patchbay_status, put)(const patchbay_host *, patchbay_str server, patchbay_str record, void *ctx,
    PATCHBAY_FN(void, done)(void *ctx, patchbay_status, const patchbay_error *) PATCHBAY_NX) PATCHBAY_NX;
  /* One holder for a server among all threads and processes of this user: lock, get, use what a
   * refresh needs, put, unlock. TIMEOUT after timeout_ms. Not to be held while a person thinks. [any] */
  PATCHBAY_FN(patchbay_status, lock)(const patchbay_host *, patchbay_str server, uint32_t timeout_ms, void *ctx,
    PATCHBAY_FN(void, done)(void *ctx, patchbay_status, const patchbay_error *) PATCHBAY_NX, patchbay_op *out) PATCHBAY_NX;
  /* Gives a lock back; one that is waited for ends with CANCELLED. [any] */
  PATCHBAY_FN(void, unlock)(const patchbay_host *, patchbay_op) PATCHBAY_NX;
  PATCHBAY_FN(void, mask)(const patchbay_host *, patchbay_str value) PATCHBAY_NX; /* in logs [any] */
} patchbay_host_secrets;

#define PATCHBAY_HOST_CLOCK "patchbay.host.clock/1" /* one clock for deadlines, fakes in the kit */
typedef struct patchbay_host_clock { uint32_t struct_size, reserved;
  PATCHBAY_FN(uint64_t, monotonic_ns)(const patchbay_host *) PATCHBAY_NX;                /* [any] */
  PATCHBAY_FN(uint64_t, unix_ms)(const patchbay_host *) PATCHBAY_NX;                     /* [any] */
} patchbay_host_clock;
#ifdef __cplusplus
}
#endif
#endif
