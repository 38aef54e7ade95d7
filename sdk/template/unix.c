/* A whole transport: one JSON-RPC message a line over a Unix socket. It runs on the host's loop and
 * has no thread. Start from it: replace connect(), pump_in() and pump_out(), keep the rest. */
#define _GNU_SOURCE
#include <errno.h>
#include <patchbay/services.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "unix.schema.h" /* made from the file: static const char unix_schema[] */

enum { READABLE = 1, WRITABLE = 2, LINE_LIMIT = 16 << 20 };

typedef struct outgoing { /* a message that is not yet in the kernel */
    struct outgoing *next;
    uint64_t exchange;
    patchbay_buf body;
    size_t sent; /* of body and newline */
} outgoing;

struct patchbay_channel {
    const patchbay_host *host;
    const patchbay_host_reactor *reactor;
    const patchbay_sink *sink;
    patchbay_link *link;
    patchbay_op watch;
    int fd, closed;
    atomic_int paused; /* the one member that [any] calls touch */
    outgoing *first, *last;
    char *line;
    size_t line_size, line_capacity;
};

enum ending { ASKED, FAILED };

/* The end: every exchange is done, then closed, and never twice. */
static void finish(patchbay_channel *c, patchbay_status why, enum ending ending, const char *what, int number) {
    if (c->closed++) return;
    patchbay_problem problem = {0};
    problem.struct_size = sizeof problem;
    problem.error.code = why;
    problem.error.native_code = number;
    snprintf(problem.error.message, sizeof problem.error.message, "%s%s%s", what,
             number ? ": " : "", number ? strerror(number) : "");
    c->reactor->cancel(c->host, c->watch);
    close(c->fd);
    while (c->first) {
        outgoing *message = c->first;
        c->first = message->next;
        message->body.release(message->body.owner);
        c->sink->done(c->link, message->exchange, why, &problem);
        free(message);
    }
    c->sink->closed(c->link, ending == ASKED ? NULL : &problem);
}

static void fail(patchbay_channel *c, patchbay_status why, const char *what, int number) {
    finish(c, why, FAILED, what, number);
}

static void listen_for(patchbay_channel *c) {
    uint32_t events = (c->paused ? 0u : READABLE) | (c->first ? WRITABLE : 0u);
    c->reactor->modify(c->host, c->watch, events);
}

static void pump_out(patchbay_channel *c) {
    while (c->first) {
        outgoing *m = c->first;
        size_t skip = m->sent < m->body.size ? m->sent : m->body.size;
        struct iovec parts[2] = {{(void *)(m->body.data + skip), m->body.size - skip}, {(void *)"\n", 1}};
        struct msghdr packet = {0};
        packet.msg_iov = parts;
        packet.msg_iovlen = 2;
        ssize_t wrote = sendmsg(c->fd, &packet, MSG_NOSIGNAL);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0 && errno == EAGAIN) break;
        if (wrote < 0) { fail(c, PATCHBAY_E_IO, "write", errno); return; }
        m->sent += (size_t)wrote;
        if (m->sent <= m->body.size) continue;
        c->first = m->next;
        m->body.release(m->body.owner);
        c->sink->done(c->link, m->exchange, PATCHBAY_OK, NULL);
        free(m);
    }
    listen_for(c);
}

static void pump_in(patchbay_channel *c) {
    if (c->line_size == c->line_capacity) {
        size_t capacity = c->line_capacity ? 2 * c->line_capacity : 65536;
        char *grown = capacity > LINE_LIMIT ? NULL : realloc(c->line, capacity);
        if (!grown) { fail(c, PATCHBAY_E_LIMIT, "a line is longer than 16 MiB", 0); return; }
        c->line = grown;
        c->line_capacity = capacity;
    }
    ssize_t got = read(c->fd, c->line + c->line_size, c->line_capacity - c->line_size);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got < 0) { fail(c, PATCHBAY_E_IO, "read", errno); return; }
    if (got == 0) { fail(c, PATCHBAY_E_CLOSED, "the peer has closed the socket", 0); return; }
    char *begin = c->line, *from = c->line + c->line_size, *end = from + got, *newline;
    for (; (newline = memchr(from, '\n', (size_t)(end - from))); begin = from = newline + 1) {
        patchbay_buf body = {0}; /* release NULL: lent, the host copies what it keeps */
        body.data = (const uint8_t *)begin;
        body.size = (size_t)(newline - begin);
        body.capacity = (size_t)(c->line + c->line_capacity - begin);
        if (body.size && c->sink->message(c->link, 0, &body) == PATCHBAY_PAUSE) c->paused = 1;
    }
    c->line_size = (size_t)(end - begin);
    memmove(c->line, begin, c->line_size);
    if (c->paused) listen_for(c);
}

static void ready(void *held, uint32_t events) {
    patchbay_channel *c = held;
    if (events & READABLE) pump_in(c);
    if ((events & WRITABLE) && !c->closed) pump_out(c);
}

/* The settings are valid against the schema: "path" is there and holds no escapes. */
static int path_of(patchbay_str config, struct sockaddr_un *address) {
    static const char key[] = "\"path\":\"";
    const char *found = memmem(config.data, config.size, key, sizeof key - 1);
    const char *end = found ? memchr(found + sizeof key - 1, '"', (size_t)(config.data + config.size - found) - (sizeof key - 1)) : NULL;
    size_t size = end ? (size_t)(end - found) - (sizeof key - 1) : 0;
    if (!size || size >= sizeof address->sun_path) return 0;
    memcpy(address->sun_path, found + sizeof key - 1, size);
    return 1;
}

static patchbay_status unix_open(const patchbay_open_params *params, patchbay_channel **out, patchbay_error *error) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!path_of(params->config, &address)) {
        snprintf(error->message, sizeof error->message, "needs \"path\", the socket's");
        return PATCHBAY_E_INVALID;
    }
    patchbay_channel *c = calloc(1, sizeof *c);
    if (!c) return PATCHBAY_E_LIMIT;
    c->host = params->host;
    c->reactor = params->host->get_extension(params->host, PATCHBAY_HOST_REACTOR);
    c->sink = params->sink;
    c->link = params->link;
    c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    patchbay_status status = PATCHBAY_E_IO;
    if (c->fd >= 0 && connect(c->fd, (const struct sockaddr *)&address, sizeof address) == 0)
        status = c->reactor->watch(c->host, c->fd, READABLE, c, ready, &c->watch);
    if (status != PATCHBAY_OK) {
        error->native_code = errno;
        snprintf(error->message, sizeof error->message, "%s: %s", address.sun_path, strerror(errno));
        if (c->fd >= 0) close(c->fd);
        free(c);
        return status;
    }
    *out = c;
    c->sink->opened(c->link);
    return PATCHBAY_OK;
}

static patchbay_status unix_send(patchbay_channel *c, const patchbay_message *message) {
    patchbay_buf body = message->body;
    outgoing *m = c->closed ? NULL : calloc(1, sizeof *m);
    if (m && !body.release) { /* only lent: keep a copy */
        body.owner = malloc(body.size + 1);
        if (body.owner) body.data = memcpy(body.owner, body.data, body.size);
        body.release = free;
    }
    if (!m || (!body.owner && body.release == free)) { /* consumed in every case */
        if (body.release) body.release(body.owner);
        free(m);
        return c->closed ? PATCHBAY_E_CLOSED : PATCHBAY_E_LIMIT;
    }
    m->exchange = message->exchange;
    m->body = body;
    if (c->first) c->last->next = m; /* the socket is full: pump_out() comes to it */
    else c->first = m;
    c->last = m;
    if (c->first == m) pump_out(c);
    return PATCHBAY_OK;
}

/* Nothing to hurry: an exchange is done as soon as its bytes are in the kernel. */
static void unix_cancel(patchbay_channel *c, uint64_t exchange) { (void)c, (void)exchange; }
/* Another thread may not look at the queue; one writable event too many does no harm. */
static void unix_resume(patchbay_channel *c) {
    c->paused = 0;
    c->reactor->modify(c->host, c->watch, READABLE | WRITABLE);
}
static void unix_close(patchbay_channel *c) { finish(c, PATCHBAY_E_CLOSED, ASKED, "closed", 0); }
static void unix_destroy(patchbay_channel *c) {
    free(c->line);
    free(c);
}

static const patchbay_transport transport = {
    sizeof(patchbay_transport), 0, "unix", unix_schema, unix_open, unix_send, unix_cancel,
    unix_resume, NULL, NULL, unix_close, unix_destroy};
static const patchbay_transport *const transports[] = {&transport};
static const patchbay_plugin plugin = {sizeof(patchbay_plugin), PATCHBAY_ABI_MINOR, "dev.example.unix",
                                       "0.1.0", transports, 1, NULL, 0, NULL, NULL};

patchbay_status patchbay_plugin_entry_0(const patchbay_host *host, const patchbay_plugin **out, patchbay_error *error) {
    if (!host->get_extension(host, PATCHBAY_HOST_REACTOR)) {
        snprintf(error->message, sizeof error->message, "needs " PATCHBAY_HOST_REACTOR);
        return PATCHBAY_E_UNSUPPORTED;
    }
    *out = &plugin;
    return PATCHBAY_OK;
}
