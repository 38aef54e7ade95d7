/* patchbay/plugin.h - Patchbay plugin ABI, generation 0 (draft).   C11, C++11 and later.
 *
 * A plugin is one shared library that exports ONE symbol, patchbay_plugin_entry_0.
 *
 * Thread words, one on every function:
 *   [serial]  host -> plugin. Never two at once for one object; any OS thread; must not wait for
 *             I/O, locks held across I/O, or people. Budget 1 ms, the host reports > 50 ms.
 *   [any]     callable from every thread at every time between create and destroy, also at once.
 *   [event]   plugin -> host. Any thread, any number at once; returns promptly; the host only
 *             queues it and never calls into the plugin from inside, so it may be made under a
 *             lock, from inside a [serial] call, and even before open has returned.
 *             Events of ONE exchange must not overlap each other.
 * Ownership: every pointer is borrowed until the call returns, except a patchbay_buf with a
 *   non-NULL release: that one is always consumed by the callee, whatever the result.
 * Errors: a negative status. Nothing may unwind out of a call, in either direction.
 * Growth: structs that start with struct_size grow at the end within this generation; read a
 *   member only if PATCHBAY_HAS says so. Structs without struct_size are frozen for good.
 * Every call can be carried over a pipe: no call returns pointers into live state. */
#ifndef PATCHBAY_PLUGIN_H
#define PATCHBAY_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#define PATCHBAY_ABI_MAJOR 0
#ifndef PATCHBAY_ABI_MINOR       /* an author may aim lower to run in older hosts */
#define PATCHBAY_ABI_MINOR 0
#endif

#if defined(_WIN32)
#define PATCHBAY_CALL __cdecl
#define PATCHBAY_EXPORT __declspec(dllexport)
#else
#define PATCHBAY_CALL
#define PATCHBAY_EXPORT __attribute__((visibility("default")))
#endif
#if defined(PATCHBAY_HOST_CATCHES)  /* the host: keep landing pads for foreign plugins */
#define PATCHBAY_NX
#elif defined(__cplusplus) && (__cplusplus >= 201703L || (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L))
#define PATCHBAY_NX noexcept     /* part of the type: a throwing function does not fit a slot */
#else
#define PATCHBAY_NX
#endif
#define PATCHBAY_FN(ret, name) ret(PATCHBAY_CALL *name)

/* True if *p reaches member m and m is set. T is the struct type of p. */
#define PATCHBAY_HAS(T, p, m) \
  ((p) != NULL && (p)->struct_size >= offsetof(T, m) + sizeof((p)->m) && (p)->m)

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t patchbay_status;
enum {
  PATCHBAY_OK = 0,
  PATCHBAY_PAUSE = 1,              /* taken, but send no more until told: see send, message */
  PATCHBAY_E_INTERNAL = -1, PATCHBAY_E_INVALID = -2,  PATCHBAY_E_UNSUPPORTED = -3,
  PATCHBAY_E_CANCELLED = -4, PATCHBAY_E_TIMEOUT = -5, PATCHBAY_E_IO = -6,
  PATCHBAY_E_CLOSED = -7,  PATCHBAY_E_AUTH = -8,      /* needs (other) credentials */
  PATCHBAY_E_PROTOCOL = -9, PATCHBAY_E_LIMIT = -10,   PATCHBAY_E_SESSION = -11, /* session lost */
  PATCHBAY_E_DENIED = -12                             /* policy or the user said no */
};

/* ---- frozen value types (no struct_size, never grow) ------------------------------------- */
typedef struct patchbay_str { const char *data; size_t size; } patchbay_str; /* UTF-8, no NUL */

typedef struct patchbay_buf {
  const uint8_t *data;
  size_t size;
  size_t capacity;                 /* readable bytes at data, >= size: tail padding for parsers */
  PATCHBAY_FN(void, release)(void *owner) PATCHBAY_NX; /* [any]; NULL: borrowed for this call */
  void *owner;
} patchbay_buf;

enum { PATCHBAY_KV_SECRET = 1u << 0, PATCHBAY_KV_ENV = 1u << 1, /* for a child's environment */
  PATCHBAY_KV_SIGN = 1u << 2 /* a header each request asks patchbay.host.sign/1 for; value unused */
};
typedef struct patchbay_kv { patchbay_str name, value; uint32_t flags, reserved; } patchbay_kv;

enum { PATCHBAY_ERR_RETRYABLE = 1u << 0, PATCHBAY_ERR_NOT_SENT = 1u << 1 };
typedef struct patchbay_error {    /* 512 bytes, filled by the callee, nothing to free */
  patchbay_status code;
  int32_t native_code;             /* errno, HTTP status, GetLastError; 0 none */
  uint32_t flags;                  /* PATCHBAY_ERR_* */
  uint32_t retry_after_ms;
  char message[496];               /* NUL-terminated UTF-8, cut at a code point */
} patchbay_error;

/* ---- host -------------------------------------------------------------------------------- */
typedef struct patchbay_host patchbay_host;     /* one for each plugin of each host */
typedef struct patchbay_plugin patchbay_plugin; /* what the plugin's entry made of it */
struct patchbay_host {
  uint32_t struct_size, abi_minor; /* the host's own minor */
  const char *name, *version;      /* valid until shutdown returns */
  /* NULL if the host lacks it or the manifest was not granted it. Ids: "patchbay.host.NAME/REV",
   * "com.example.NAME/REV". The table lives until shutdown returns. [any] */
  PATCHBAY_FN(const void *, get_extension)(const patchbay_host *, const char *id) PATCHBAY_NX;
  /* level: 0 trace .. 4 error, 5 fatal: a bug of the plugin's own. kv with PATCHBAY_KV_SECRET is masked. Never blocks. [any] */
  PATCHBAY_FN(void, log)(const patchbay_host *, int32_t level, patchbay_str text,
                         const patchbay_kv *fields, size_t count) PATCHBAY_NX;
};

/* ---- transport --------------------------------------------------------------------------- */
enum { PATCHBAY_MSG_REQUEST = 1, PATCHBAY_MSG_NOTIFICATION = 2, PATCHBAY_MSG_RESPONSE = 3 };
typedef struct patchbay_message {
  uint32_t struct_size, kind;
  uint64_t exchange;               /* never 0, never reused on this channel */
  patchbay_buf body;               /* one compact JSON-RPC object: no raw newline, no framing */
  patchbay_str method, protocol;   /* "tools/call"; "2026-07-28", empty before initialize */
  const patchbay_kv *headers;      /* made by the host: Mcp-Method, Mcp-Name, Mcp-Param-*.. */
  size_t header_count;
  uint64_t deadline_ns;            /* host monotonic clock, 0 none; advisory */
} patchbay_message;

typedef struct patchbay_problem {  /* why an exchange or a channel failed */
  uint32_t struct_size, http_status;
  patchbay_error error;
  patchbay_str url;                /* the resource that answered */
  const patchbay_kv *headers;      /* response headers; WWW-Authenticate may occur twice */
  size_t header_count;
} patchbay_problem;

typedef struct patchbay_channel patchbay_channel; /* the plugin's */
typedef struct patchbay_link patchbay_link;       /* the host's handle for that channel */

typedef struct patchbay_sink {     /* host side of a channel; valid until destroy returns */
  uint32_t struct_size, reserved;
  /* Ready for send. Exactly one of opened and closed follows an open that returned OK. [event] */
  PATCHBAY_FN(void, opened)(patchbay_link *) PATCHBAY_NX;
  /* One inbound JSON-RPC object. exchange: the send it answers, 0 if the transport cannot tell.
   * The body is consumed. OK or PAUSE (stop reading until resume); it is never refused. [event] */
  PATCHBAY_FN(patchbay_status, message)(patchbay_link *, uint64_t exchange,
                                        const patchbay_buf *body) PATCHBAY_NX;
  /* The one and only end of an accepted send: bytes handed over (duplex) or response stream
   * over (PATCHBAY_CAP_EXCHANGE). problem may be NULL when status is OK. [event] */
  PATCHBAY_FN(void, done)(patchbay_link *, uint64_t exchange, patchbay_status,
                          const patchbay_problem *) PATCHBAY_NX;
  PATCHBAY_FN(void, writable)(patchbay_link *) PATCHBAY_NX;      /* ends a PAUSE of send [event] */
  /* A background stream was refused: E_AUTH needs credentials, answered by set_credentials;
   * E_SESSION tells that the session is lost. [event] */
  PATCHBAY_FN(void, challenge)(patchbay_link *, const patchbay_problem *) PATCHBAY_NX;
  /* Last event of a channel, after every done. No thread of the plugin is in or will enter the
   * host for this channel. problem NULL: closed as asked. [event] */
  PATCHBAY_FN(void, closed)(patchbay_link *, const patchbay_problem *) PATCHBAY_NX;
  /* A line for people that is no message: what a child wrote to stderr (PATCHBAY_OUTPUT_STDERR) or
   * a stray line on its stdout (PATCHBAY_OUTPUT_STRAY). Without newline, any bytes, already cut to
   * 8 KiB by the plugin. The host counts, bounds and keeps them. [event] */
  PATCHBAY_FN(void, output)(patchbay_link *, uint32_t stream, patchbay_str line) PATCHBAY_NX;
  /* Something worth showing in status: name "pid" with a decimal value, "peer" with an address,
   * "trouble" with why it is not open yet, in words that go into the message when the host loses
   * patience. The last value of a name counts; empty removes it. [event] */
  PATCHBAY_FN(void, fact)(patchbay_link *, patchbay_str name, patchbay_str value) PATCHBAY_NX;
} patchbay_sink;
enum { PATCHBAY_OUTPUT_STDERR = 1, PATCHBAY_OUTPUT_STRAY = 2 };

typedef struct patchbay_open_params {
  uint32_t struct_size, reserved;
  const patchbay_host *host;       /* as entry was given it; lives as long as the library */
  const patchbay_sink *sink;
  patchbay_link *link;
  patchbay_str server;             /* configured name, for messages */
  patchbay_str config;             /* JSON object, already valid against config_schema */
  const patchbay_kv *credentials;  /* first set; may be empty */
  size_t credential_count;
  uint64_t message_bytes;          /* hand on no larger message: end with E_LIMIT instead; 0: not said */
  const patchbay_plugin *plugin;   /* as entry made it for this host */
} patchbay_open_params;

enum {
  PATCHBAY_CAP_EXCHANGE = 1u << 0, /* inbound messages name their exchange; done ends a stream */
  PATCHBAY_CAP_CREDENTIALS = 1u << 1, PATCHBAY_CAP_RESUME = 1u << 2, PATCHBAY_CAP_HEADERS = 1u << 3
};
typedef struct patchbay_transport {
  uint32_t struct_size, caps;
  const char *name;                /* "tcp"; [a-z][a-z0-9_-]* */
  const char *config_schema;       /* JSON Schema 2020-12, byte-equal to the manifest's file */
  /* Start to open. On OK *out is set and opened or closed follows; on error neither. [serial] */
  PATCHBAY_FN(patchbay_status, open)(const patchbay_open_params *, patchbay_channel **out,
                                     patchbay_error *) PATCHBAY_NX;
  /* OK or PAUSE: accepted, done follows. Negative: refused, no done. The body is consumed in every
   * case. [serial] */
  PATCHBAY_FN(patchbay_status, send)(patchbay_channel *, const patchbay_message *) PATCHBAY_NX;
  /* End an exchange early; done still follows (CANCELLED, or what won the race). Unknown or ended
   * exchanges are ignored. [any] */
  PATCHBAY_FN(void, cancel)(patchbay_channel *, uint64_t exchange) PATCHBAY_NX;
  PATCHBAY_FN(void, resume)(patchbay_channel *) PATCHBAY_NX;     /* ends a PAUSE of message [any] */
  /* The host has read the answer of this exchange: do not resume a broken stream for it. CAP_RESUME
   * only, else NULL. [any] */
  PATCHBAY_FN(void, settle)(patchbay_channel *, uint64_t exchange) PATCHBAY_NX;
  /* Replace the credentials for everything sent from now on. CAP_CREDENTIALS only. [serial] */
  PATCHBAY_FN(void, set_credentials)(patchbay_channel *, const patchbay_kv *, size_t) PATCHBAY_NX;
  /* Start to stop: end every exchange, join or detach own threads, then closed. [serial] */
  PATCHBAY_FN(void, close)(patchbay_channel *) PATCHBAY_NX;
  /* Free. Called once, only after closed has returned; a send or close that raced with closed may
   * still come before it (answer E_CLOSED, ignore). [serial] */
  PATCHBAY_FN(void, destroy)(patchbay_channel *) PATCHBAY_NX;
} patchbay_transport;

/* ---- auth -------------------------------------------------------------------------------- */
typedef struct patchbay_authenticator patchbay_authenticator; /* the plugin's */
typedef struct patchbay_auth_link patchbay_auth_link;         /* the host's */

enum {
  PATCHBAY_AUTH_QUIET = 0,           /* no browser, no prompt: fail with AUTH */
  PATCHBAY_AUTH_MAY_ASK = 1,         /* a person is there, if nothing else helps */
  PATCHBAY_AUTH_SIGN_IN = 2          /* a person wants to sign in, whatever is stored */
};
typedef struct patchbay_auth_request {
  uint32_t struct_size, interactive; /* PATCHBAY_AUTH_* */
  uint64_t operation;                /* never 0, never reused */
  patchbay_str url;                  /* the protected resource */
  const patchbay_problem *challenge; /* NULL: before the first use */
  patchbay_str scope;                /* wanted, by spaces; empty: the method's own choice */
} patchbay_auth_request;
typedef struct patchbay_grant {
  uint32_t struct_size, reserved;
  const patchbay_kv *credentials;    /* "Authorization", ..; copied by the host */
  size_t credential_count;
  uint64_t expires_unix_ms;          /* 0 unknown; the host asks again before */
} patchbay_grant;
typedef struct patchbay_auth_sink {
  uint32_t struct_size, reserved;
  /* The one end of an acquire that returned OK. grant only with OK, error only without. [event] */
  PATCHBAY_FN(void, acquired)(patchbay_auth_link *, uint64_t operation, patchbay_status,
                              const patchbay_grant *, const patchbay_error *) PATCHBAY_NX;
  PATCHBAY_FN(void, closed)(patchbay_auth_link *) PATCHBAY_NX;   /* last event [event] */
} patchbay_auth_sink;
typedef struct patchbay_auth_params {
  uint32_t struct_size, reserved;
  const patchbay_host *host;
  const patchbay_auth_sink *sink;
  patchbay_auth_link *link;
  patchbay_str server, config;
  const patchbay_plugin *plugin;   /* as entry made it for this host */
} patchbay_auth_params;
typedef struct patchbay_auth {
  uint32_t struct_size, caps;
  const char *name, *config_schema;
  PATCHBAY_FN(patchbay_status, create)(const patchbay_auth_params *, patchbay_authenticator **out,
                                       patchbay_error *) PATCHBAY_NX;                /* [serial] */
  /* Begin to obtain credentials; may take minutes; one at a time per object. [serial] */
  PATCHBAY_FN(patchbay_status, acquire)(patchbay_authenticator *, const patchbay_auth_request *,
                                        patchbay_error *) PATCHBAY_NX;
  PATCHBAY_FN(void, cancel)(patchbay_authenticator *, uint64_t operation) PATCHBAY_NX; /* [any] */
  /* Sign out: revoke and erase what is stored. What it takes ends before closed. [serial] */
  PATCHBAY_FN(void, forget)(patchbay_authenticator *) PATCHBAY_NX;
  PATCHBAY_FN(void, close)(patchbay_authenticator *) PATCHBAY_NX;  /* then closed     [serial] */
  PATCHBAY_FN(void, destroy)(patchbay_authenticator *) PATCHBAY_NX; /* after closed   [serial] */
  /* What one request must carry beside the granted credentials, or instead of those of the same
   * name: calls header() for each, from inside. NULL: this method never grants PATCHBAY_KV_SIGN.
   * Returns promptly: no I/O. [any] */
  PATCHBAY_FN(patchbay_status, sign)(patchbay_authenticator *, patchbay_str method, patchbay_str url,
    void *ctx, PATCHBAY_FN(void, header)(void *ctx, patchbay_str name, patchbay_str value) PATCHBAY_NX,
    patchbay_error *) PATCHBAY_NX;
} patchbay_auth;

/* ---- plugin ------------------------------------------------------------------------------ */
/* One for each entry, so that what hosts share a library for stays apart: begin a struct of your own
 * with it, or return a static one when there is nothing to keep. Valid until shutdown returns. */
struct patchbay_plugin {
  uint32_t struct_size, abi_minor; /* the minor the plugin was built for */
  const char *id, *version;        /* as in the manifest: "dev.example.quic", "1.2.0" */
  const patchbay_transport *const *transports; /* arrays of pointers: each table grows alone */
  size_t transport_count;
  const patchbay_auth *const *auths;
  size_t auth_count;
  /* NULL: the plugin lacks it. Its table lives until shutdown returns. May be NULL. [any] */
  PATCHBAY_FN(const void *, get_extension)(const patchbay_plugin *, const char *id) PATCHBAY_NX;
  /* After every destroy; frees the plugin. May be NULL. [serial] */
  PATCHBAY_FN(void, shutdown)(const patchbay_plugin *) PATCHBAY_NX;
};

/* Called after the host has matched manifest, hash and platform; once for each host of the process,
 * so perhaps again, before or after the shutdown of what it made before, on another thread. Must not
 * start threads, touch the network or read files. UNSUPPORTED + message: host too old. [any] */
PATCHBAY_EXPORT patchbay_status PATCHBAY_CALL patchbay_plugin_entry_0(
    const patchbay_host *host, const patchbay_plugin **out, patchbay_error *error) PATCHBAY_NX;

#ifdef __cplusplus
}
#endif
#endif
