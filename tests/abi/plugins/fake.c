/* A transport that echoes, and misbehaves when its settings ask for it: {"behave": "done_twice"}.
 * Compiled with FAKE_* definitions it is a plugin whose table is wrong. */
#include <patchbay/services.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake.schema.h"

#ifndef FAKE_ID
#define FAKE_ID "patchbay.test.fake"
#endif

struct patchbay_channel {
    const patchbay_host *host;
    const patchbay_sink *sink;
    patchbay_link *link;
    char behave[32];
    int held; /* messages since pause */
    uint64_t kept_exchange;
    pthread_t thread;
    int thread_runs;
};

static int behaves(const patchbay_channel *channel, const char *how) {
    return strcmp(channel->behave, how) == 0;
}

static void read_behaviour(patchbay_channel *channel, patchbay_str config) {
    static const char key[] = "\"behave\":\"";
    char text[256];
    size_t size = config.size < sizeof text - 1 ? config.size : sizeof text - 1;
    memcpy(text, config.data, size);
    text[size] = 0;
    const char *found = strstr(text, key);
    if (!found) return;
    found += sizeof key - 1;
    size_t length = strcspn(found, "\"");
    if (length >= sizeof channel->behave) length = sizeof channel->behave - 1;
    memcpy(channel->behave, found, length);
}

static void *talk(void *held) { /* 1000 messages from a thread of its own */
    patchbay_channel *channel = held;
    for (int i = 0; i < 1000; ++i) {
        char text[32];
        patchbay_buf body = {0};
        body.data = (const uint8_t *)text;
        body.size = body.capacity = (size_t)snprintf(text, sizeof text, "{\"n\":%d}", i);
        channel->sink->message(channel->link, 0, &body);
    }
    return NULL;
}

/* More bytes in one go than are kept for one server. */
static void flood(patchbay_channel *channel) {
    static uint8_t big[1 << 20]; /* never written: zero, and not in the file */
    for (int i = 0; i < 100; ++i) {
        patchbay_buf body = {0};
        body.data = big;
        body.size = body.capacity = sizeof big;
        channel->sink->message(channel->link, 0, &body);
    }
}

/* Many small messages in one go; counts the answers that asked for a pause. */
static void burst(patchbay_channel *channel, int count) {
    for (int i = 0; i < count; ++i) {
        patchbay_buf body = {0};
        body.data = (const uint8_t *)"{}";
        body.size = body.capacity = 2;
        if (channel->sink->message(channel->link, 0, &body) == PATCHBAY_PAUSE) channel->held++;
    }
}

static void misbehave(const char *how) {
    if (strcmp(how, "hang") == 0) {
        static const char word[] = "hanging\n";
        (void)!write(2, word, sizeof word - 1);
        for (;;) pause();
    }
    if (strcmp(how, "crash") == 0) raise(SIGSEGV);
    if (strcmp(how, "exit") == 0) exit(3);
    if (strcmp(how, "slow") == 0) {
        const struct timespec pause = {0, 100000000};
        nanosleep(&pause, NULL);
    }
}

static void *crash(void *nowhere) { /* in code of the plugin's own, on a thread of its own */
    volatile int *volatile target = nowhere;
    *target = 1;
    return NULL;
}

static patchbay_status fake_open(const patchbay_open_params *params, patchbay_channel **out,
                                 patchbay_error *error) {
    patchbay_channel *channel = calloc(1, sizeof *channel);
    if (!channel) return PATCHBAY_E_LIMIT;
    channel->host = params->host;
    channel->sink = params->sink;
    channel->link = params->link;
    read_behaviour(channel, params->config);
    if (strncmp(channel->behave, "open_", 5) == 0) misbehave(channel->behave + 5);
    if (behaves(channel, "refuse_open")) {
        error->code = PATCHBAY_E_IO;
        snprintf(error->message, sizeof error->message, "no such peer as \"%.*s\"",
                 (int)params->server.size, params->server.data);
        free(channel);
        return PATCHBAY_E_IO;
    }
    if (behaves(channel, "say_and_refuse")) {
        channel->sink->opened(channel->link);
        burst(channel, 3);
        channel->sink->closed(channel->link, NULL);
        free(channel);
        return PATCHBAY_E_IO;
    }
    if (behaves(channel, "no_channel")) {
        free(channel);
        return PATCHBAY_OK;
    }
    *out = channel;
    channel->sink->opened(channel->link);
    if (behaves(channel, "opened_twice")) channel->sink->opened(channel->link);
    if (behaves(channel, "thread"))
        channel->thread_runs = pthread_create(&channel->thread, NULL, talk, channel) == 0;
    return PATCHBAY_OK;
}

static patchbay_status fake_send(patchbay_channel *channel, const patchbay_message *message) {
    if (behaves(channel, "refuse_send")) {
        if (message->body.release) message->body.release(message->body.owner);
        return PATCHBAY_E_LIMIT;
    }
    if (behaves(channel, "keep") || behaves(channel, "close_with_open")) { /* done only when cancelled */
        if (message->body.release) message->body.release(message->body.owner);
        channel->kept_exchange = message->exchange;
        return PATCHBAY_PAUSE;
    }
    misbehave(channel->behave);
    if (behaves(channel, "thread_crash")) { /* unanswered, so that nothing else ends the host */
        pthread_t thread;
        if (pthread_create(&thread, NULL, crash, NULL) == 0) pthread_detach(thread);
        if (message->body.release) message->body.release(message->body.owner);
        return PATCHBAY_OK;
    }
    if (behaves(channel, "burst") || behaves(channel, "storm") || behaves(channel, "flood")) {
        if (message->body.release) message->body.release(message->body.owner);
        if (behaves(channel, "flood"))
            flood(channel);
        else
            burst(channel, behaves(channel, "burst") ? 5000 : 200000);
        channel->sink->done(channel->link, message->exchange, PATCHBAY_OK, NULL);
        return PATCHBAY_OK;
    }
    if (behaves(channel, "fail") || behaves(channel, "slow")) {
        patchbay_problem problem;
        memset(&problem, 0, sizeof problem);
        problem.struct_size = sizeof problem;
        problem.http_status = 503;
        problem.error.code = PATCHBAY_E_IO;
        problem.error.flags = PATCHBAY_ERR_RETRYABLE | PATCHBAY_ERR_NOT_SENT;
        snprintf(problem.error.message, sizeof problem.error.message, "wire cut\n");
        if (message->body.release) message->body.release(message->body.owner);
        channel->sink->done(channel->link, message->exchange, PATCHBAY_E_IO, &problem);
        return PATCHBAY_OK;
    }
    if (behaves(channel, "strange_exchange"))
        channel->sink->done(channel->link, message->exchange + 1000, PATCHBAY_OK, NULL);
    if (behaves(channel, "small_problem")) {
        patchbay_problem problem;
        memset(&problem, 0, sizeof problem);
        problem.struct_size = 8;
        channel->sink->done(channel->link, message->exchange, PATCHBAY_E_IO, &problem);
    }
    /* A body that is only lent is copied by the host; an owned one travels on. */
    patchbay_buf body = message->body;
    if (channel->sink->message(channel->link, 0, &body) == PATCHBAY_PAUSE) channel->held++;
    channel->sink->done(channel->link, message->exchange, PATCHBAY_OK, NULL);
    if (behaves(channel, "done_twice"))
        channel->sink->done(channel->link, message->exchange, PATCHBAY_OK, NULL);
    return PATCHBAY_OK;
}

static void fake_cancel(patchbay_channel *channel, uint64_t exchange) {
    if (channel->kept_exchange != exchange || exchange == 0) return;
    channel->kept_exchange = 0;
    channel->sink->done(channel->link, exchange, PATCHBAY_E_CANCELLED, NULL);
    channel->sink->writable(channel->link);
}

static void fake_resume(patchbay_channel *channel) {
    char text[32];
    int length = snprintf(text, sizeof text, "%d", channel->held);
    patchbay_str name = {"held", 4}, value = {text, (size_t)length};
    channel->held = 0;
    channel->sink->fact(channel->link, name, value);
}

static void fake_close(patchbay_channel *channel) {
    if (strncmp(channel->behave, "close_", 6) == 0) misbehave(channel->behave + 6);
    if (behaves(channel, "never_close")) return;
    if (channel->thread_runs) pthread_join(channel->thread, NULL);
    if (channel->kept_exchange && !behaves(channel, "close_with_open"))
        fake_cancel(channel, channel->kept_exchange);
    channel->sink->closed(channel->link, NULL);
    if (behaves(channel, "closed_twice")) channel->sink->closed(channel->link, NULL);
    if (behaves(channel, "event_after_closed")) channel->sink->writable(channel->link);
}

static void fake_destroy(patchbay_channel *channel) { free(channel); }

static const patchbay_transport fake_transport = {
#if defined(FAKE_SMALL_TABLE)
    80,
#else
    sizeof(patchbay_transport),
#endif
    0, "fake",
#if defined(FAKE_OTHER_SCHEMA)
    "{}",
#else
    fake_schema,
#endif
    fake_open, fake_send,
#if defined(FAKE_NO_CANCEL)
    NULL,
#else
    fake_cancel,
#endif
    fake_resume, NULL, NULL, fake_close, fake_destroy};

static const patchbay_transport *const fake_transports[] = {&fake_transport};

#if defined(FAKE_DIES)
/* When the variable says so, as soon as it is mapped or when it is to go. */
static void die_if(const char *when) {
    const char *asked = getenv("FAKE_DIES");
    if (!asked || strcmp(asked, when) != 0) return;
    if (strcmp(when, "exits") == 0) exit(0);
    abort();
}
__attribute__((constructor)) static void fake_mapped(void) {
    printf("mapped\n");
    die_if("mapped");
    die_if("exits");
}
static void fake_shutdown(const patchbay_plugin *plugin) {
    (void)plugin;
    die_if("shut down");
}
#else
static void fake_shutdown(const patchbay_plugin *plugin) {
    (void)plugin;
}
#endif

static const patchbay_plugin fake_plugin = {sizeof(patchbay_plugin),
#if defined(FAKE_NEWER_MINOR)
                                            7,
#else
                                            PATCHBAY_ABI_MINOR,
#endif
                                            FAKE_ID, "0.0.1", fake_transports, 1, NULL, 0, NULL,
                                            fake_shutdown};


patchbay_status patchbay_plugin_entry_0(const patchbay_host *host, const patchbay_plugin **out,
                           patchbay_error *error) {
    static const char line[] = "entered";
    patchbay_str text = {line, sizeof line - 1};
    patchbay_kv fields[2];
    memset(fields, 0, sizeof fields);
    fields[0].name.data = fields[1].name.data = "key";
    fields[0].name.size = fields[1].name.size = 3;
    fields[0].value.data = "shown";
    fields[0].value.size = 5;
    fields[1].value.data = "hunter22";
    fields[1].value.size = 8;
    fields[1].flags = PATCHBAY_KV_SECRET;
    host->log(host, 1, text, fields, 2);
    if (getenv("FAKE_ENTRY")) misbehave(getenv("FAKE_ENTRY"));
#if defined(FAKE_REFUSES)
    snprintf(error->message, sizeof error->message, "needs example.clairvoyance/1 (Patchbay 9 or newer)");
    return PATCHBAY_E_UNSUPPORTED;
#endif
    if (host->get_extension(host, "patchbay.host.process/1")) {
        snprintf(error->message, sizeof error->message, "given too much");
        return PATCHBAY_E_INVALID;
    }
    *out = &fake_plugin;
    return PATCHBAY_OK;
}
