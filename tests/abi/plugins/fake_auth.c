/* An auth method that grants "Bearer TOKEN-N" at its Nth acquire, and misbehaves when its settings ask
 * for it: {"behave": "acquired_twice", "token": "t"}. With behave = "fetch" the token is what an HTTP
 * request of the host answers. Compiled with FAKE_HTTP it provides a transport "http" that cannot be
 * opened, and the HTTP table behind patchbay.host.http/1. */
#include <patchbay/services.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_auth.schema.h"

struct patchbay_authenticator {
    const patchbay_host *host;
    const patchbay_auth_sink *sink;
    patchbay_auth_link *link;
    char behave[32], token[64];
    int acquired;
    uint64_t running;
    pthread_t thread;
    int thread_runs;
};

static int behaves(const patchbay_authenticator *self, const char *how) {
    return strcmp(self->behave, how) == 0;
}

static void read_text(patchbay_str config, const char *key, char *into, size_t size) {
    char text[512], quoted[64];
    size_t length = config.size < sizeof text - 1 ? config.size : sizeof text - 1;
    memcpy(text, config.data, length);
    text[length] = 0;
    snprintf(quoted, sizeof quoted, "\"%s\":\"", key);
    const char *found = strstr(text, quoted);
    if (!found) return;
    found += strlen(quoted);
    length = strcspn(found, "\"");
    if (length >= size) length = size - 1;
    memcpy(into, found, length);
    into[length] = 0;
}

static patchbay_str str(const char *text) {
    patchbay_str made = {text, strlen(text)};
    return made;
}

static void grant(patchbay_authenticator *self, const char *value, uint64_t expires) {
    patchbay_kv kv;
    patchbay_grant made;
    memset(&kv, 0, sizeof kv);
    memset(&made, 0, sizeof made);
    kv.name = str("Authorization");
    kv.value = str(value);
    kv.flags = PATCHBAY_KV_SECRET;
    made.struct_size = sizeof made;
    made.credentials = &kv;
    made.credential_count = 1;
    made.expires_unix_ms = expires;
    self->sink->acquired(self->link, self->running, PATCHBAY_OK, &made, NULL);
}

static void refuse_flagged(patchbay_authenticator *self, patchbay_status status, const char *why,
                           uint32_t flags) {
    patchbay_error error;
    memset(&error, 0, sizeof error);
    error.code = status;
    error.flags = flags;
    snprintf(error.message, sizeof error.message, "%s", why);
    self->sink->acquired(self->link, self->running, status, NULL, &error);
}

static void refuse(patchbay_authenticator *self, patchbay_status status, const char *why) {
    refuse_flagged(self, status, why, 0);
}

static void token_of(const patchbay_authenticator *self, char *into, size_t size) {
    snprintf(into, size, "Bearer %s-%d", self->token, self->acquired);
}

static void *grant_late(void *held) { /* from a thread of its own */
    patchbay_authenticator *self = held;
    char value[96];
    token_of(self, value, sizeof value);
    grant(self, value, 0);
    return NULL;
}

static void fetched(void *ctx, patchbay_status status, const patchbay_http_response *response,
                    const patchbay_error *error) {
    patchbay_authenticator *self = ctx;
    char value[96];
    if (status != PATCHBAY_OK) {
        refuse(self, status, error ? error->message : "no text");
        return;
    }
    snprintf(value, sizeof value, "Bearer %.*s", (int)response->body.size, response->body.data);
    grant(self, value, 0);
}

static patchbay_status fake_create(const patchbay_auth_params *params, patchbay_authenticator **out,
                                   patchbay_error *error) {
    patchbay_authenticator *self = calloc(1, sizeof *self);
    if (!self) return PATCHBAY_E_LIMIT;
    self->host = params->host;
    self->sink = params->sink;
    self->link = params->link;
    snprintf(self->token, sizeof self->token, "token");
    read_text(params->config, "behave", self->behave, sizeof self->behave);
    read_text(params->config, "token", self->token, sizeof self->token);
    if (behaves(self, "refuse_create")) {
        snprintf(error->message, sizeof error->message, "no account for \"%.*s\"",
                 (int)params->server.size, params->server.data);
        free(self);
        return PATCHBAY_E_INVALID;
    }
    if (behaves(self, "no_authenticator")) {
        free(self);
        return PATCHBAY_OK;
    }
    *out = self;
    return PATCHBAY_OK;
}

static patchbay_status fake_acquire(patchbay_authenticator *self, const patchbay_auth_request *request,
                                    patchbay_error *error) {
    char value[96];
    self->running = request->operation;
    ++self->acquired;
    token_of(self, value, sizeof value);
    if (behaves(self, "refuse_acquire")) {
        snprintf(error->message, sizeof error->message, "the wallet is locked");
        return PATCHBAY_E_AUTH;
    }
    if (behaves(self, "no_person") && !request->interactive) {
        refuse(self, PATCHBAY_E_AUTH, "somebody has to sign in");
    } else if (behaves(self, "deny")) {
        refuse(self, PATCHBAY_E_AUTH, "the account is closed");
    } else if (behaves(self, "away")) {
        refuse_flagged(self, PATCHBAY_E_IO, "nobody answers", PATCHBAY_ERR_RETRYABLE);
    } else if (behaves(self, "full_disk")) {
        refuse(self, PATCHBAY_E_IO, "no space left");
    } else if (behaves(self, "challenge")) { /* shows what it was told */
        const patchbay_problem *problem = request->challenge;
        patchbay_str first = problem && problem->header_count ? problem->headers[0].value : str("-");
        snprintf(value, sizeof value, "%u %.*s %.*s", problem ? problem->http_status : 0,
                 (int)request->url.size, request->url.data, (int)first.size, first.data);
        grant(self, value, 0);
    } else if (behaves(self, "wait")) {
        return PATCHBAY_OK; /* until cancelled or closed */
    } else if (behaves(self, "thread")) {
        self->thread_runs = pthread_create(&self->thread, NULL, grant_late, self) == 0;
        return PATCHBAY_OK;
    } else if (behaves(self, "short")) { /* expires soon, the first time */
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        grant(self, value,
              self->acquired > 1 ? 0 : (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000 + 100);
    } else if (behaves(self, "strange_operation")) {
        self->running += 1000;
        grant(self, value, 0);
    } else if (behaves(self, "no_grant")) {
        self->sink->acquired(self->link, self->running, PATCHBAY_OK, NULL, NULL);
    } else if (behaves(self, "bad_header")) {
        grant(self, "Bearer a\r\nX: y", 0);
    } else if (behaves(self, "fetch")) {
        const patchbay_host_http *http = self->host->get_extension(self->host, PATCHBAY_HOST_HTTP);
        patchbay_http_request wanted;
        patchbay_op op;
        if (!http) {
            snprintf(error->message, sizeof error->message, "no http");
            return PATCHBAY_E_UNSUPPORTED;
        }
        memset(&wanted, 0, sizeof wanted);
        wanted.struct_size = sizeof wanted;
        wanted.method = str("POST");
        wanted.url = str("https://as.example.com/token");
        wanted.body = str("grant");
        return http->fetch(self->host, &wanted, self, fetched, &op);
    } else {
        grant(self, value, 0);
        if (behaves(self, "acquired_twice")) grant(self, value, 0);
    }
    return PATCHBAY_OK;
}

static void fake_cancel(patchbay_authenticator *self, uint64_t operation) {
    if (behaves(self, "wait") && self->running == operation) {
        refuse(self, PATCHBAY_E_CANCELLED, "cancelled");
        self->running = 0;
    }
}

static void fake_forget(patchbay_authenticator *self) { self->acquired = 0; }

static void fake_close(patchbay_authenticator *self) {
    if (behaves(self, "never_close")) return;
    if (self->thread_runs) pthread_join(self->thread, NULL);
    if (behaves(self, "wait") && self->running) fake_cancel(self, self->running);
    self->sink->closed(self->link);
    if (behaves(self, "closed_twice")) self->sink->closed(self->link);
}

static void fake_destroy(patchbay_authenticator *self) { free(self); }

static const patchbay_auth fake_auth = {sizeof(patchbay_auth), 0, "fake_auth", fake_auth_schema,
                                        fake_create, fake_acquire, fake_cancel, fake_forget,
                                        fake_close, fake_destroy, NULL};
static const patchbay_auth *const fake_auths[] = {&fake_auth};

#if defined(FAKE_HTTP)
#define FAKE_ID "patchbay.test.fake_http"

static patchbay_status http_open(const patchbay_open_params *params, patchbay_channel **out,
                                 patchbay_error *error) {
    (void)params, (void)out;
    snprintf(error->message, sizeof error->message, "only for its extension");
    return PATCHBAY_E_UNSUPPORTED;
}
static patchbay_status http_send(patchbay_channel *channel, const patchbay_message *message) {
    (void)channel, (void)message;
    return PATCHBAY_E_CLOSED;
}
static void http_cancel_exchange(patchbay_channel *channel, uint64_t exchange) {
    (void)channel, (void)exchange;
}
static void http_nothing(patchbay_channel *channel) { (void)channel; }
static const patchbay_transport fake_http = {sizeof(patchbay_transport), 0, "http", fake_auth_schema,
                                             http_open, http_send, http_cancel_exchange, http_nothing,
                                             NULL, NULL, http_nothing, http_nothing};
static const patchbay_transport *const fake_transports[] = {&fake_http};

static patchbay_status fetch(const patchbay_plugin *plugin, const patchbay_http_request *request, void *ctx,
                             void (*done)(void *, patchbay_status, const patchbay_http_response *,
                                          const patchbay_error *),
                             patchbay_op *out) {
    char text[128];
    patchbay_http_response response;
    if (!plugin || plugin->struct_size != sizeof *plugin) return PATCHBAY_E_INVALID;
    memset(&response, 0, sizeof response);
    response.struct_size = sizeof response;
    response.status = 200;
    snprintf(text, sizeof text, "%.*s:%.*s", (int)request->method.size, request->method.data,
             (int)request->body.size, request->body.data);
    response.body = str(text);
    response.url = request->url;
    *out = 1;
    done(ctx, PATCHBAY_OK, &response, NULL);
    done(ctx, PATCHBAY_OK, &response, NULL); /* once too often: the host hands on one */
    return PATCHBAY_OK;
}
static void fetch_cancel(const patchbay_plugin *plugin, patchbay_op op) { (void)plugin, (void)op; }
static const patchbay_plugin_http fake_table = {sizeof(patchbay_plugin_http), 0, fetch, fetch_cancel};

static const void *fake_extension(const patchbay_plugin *plugin, const char *id) {
    (void)plugin;
    return strcmp(id, PATCHBAY_PLUGIN_HTTP) == 0 ? &fake_table : NULL;
}
static const patchbay_plugin fake_plugin = {sizeof(patchbay_plugin), PATCHBAY_ABI_MINOR, FAKE_ID,
                                            "0.0.1", fake_transports, 1, NULL, 0, fake_extension, NULL};
#else
static const patchbay_plugin fake_plugin = {sizeof(patchbay_plugin), PATCHBAY_ABI_MINOR,
                                            "patchbay.test.fake_auth", "0.0.1", NULL, 0, fake_auths, 1,
                                            NULL, NULL};
#endif

patchbay_status patchbay_plugin_entry_0(const patchbay_host *host, const patchbay_plugin **out,
                           patchbay_error *error) {
    (void)host, (void)error, (void)fake_auths;
    *out = &fake_plugin;
    return PATCHBAY_OK;
}
