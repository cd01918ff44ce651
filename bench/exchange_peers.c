/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "exchange_peers.h"

#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BYTES_MAX 4096u
#define RING_ELEMENTS 16384u

/* One way there, one way out. */
typedef struct peer_run {
    const peer_case *c;
    uint64_t count;
    bool good[2];
    int ends[2]; /* where it is written, where it is read */
    mqd_t queue;
    /* The ring under a mutex. */
    pthread_mutex_t mutex;
    pthread_cond_t data, space;
    uint64_t head, tail;
    unsigned char *elements;
} peer_run;

typedef struct peer {
    const char *name;
    bool (*open)(peer_run *run);
    void (*close)(peer_run *run);
    bool (*send)(peer_run *run, const void *message);
    bool (*receive)(peer_run *run, void *message);
} peer;

/* ---- A ring under a mutex -------------------------------------------------------------------- */

static bool
mutex_open(peer_run *run)
{
    run->elements = malloc((size_t)RING_ELEMENTS * run->c->bytes);
    return run->elements && pthread_mutex_init(&run->mutex, NULL) == 0 &&
           pthread_cond_init(&run->data, NULL) == 0 && pthread_cond_init(&run->space, NULL) == 0;
}

static void
mutex_close(peer_run *run)
{
    free(run->elements);
    (void)pthread_cond_destroy(&run->space);
    (void)pthread_cond_destroy(&run->data);
    (void)pthread_mutex_destroy(&run->mutex);
}

static bool
mutex_send(peer_run *run, const void *message)
{
    uint32_t bytes = run->c->bytes;
    (void)pthread_mutex_lock(&run->mutex);
    while (run->tail - run->head == RING_ELEMENTS) {
        (void)pthread_cond_wait(&run->space, &run->mutex);
    }
    memcpy(run->elements + run->tail % RING_ELEMENTS * bytes, message, bytes);
    bool was_empty = run->tail++ == run->head;
    (void)pthread_mutex_unlock(&run->mutex);
    return !was_empty || pthread_cond_signal(&run->data) == 0;
}

static bool
mutex_receive(peer_run *run, void *message)
{
    uint32_t bytes = run->c->bytes;
    (void)pthread_mutex_lock(&run->mutex);
    while (run->tail == run->head) {
        (void)pthread_cond_wait(&run->data, &run->mutex);
    }
    memcpy(message, run->elements + run->head % RING_ELEMENTS * bytes, bytes);
    bool was_full = run->tail - run->head++ == RING_ELEMENTS;
    (void)pthread_mutex_unlock(&run->mutex);
    return !was_full || pthread_cond_signal(&run->space) == 0;
}

/* ---- What the system has --------------------------------------------------------------------- */

static bool
pipe_open(peer_run *run)
{
    int ends[2];
    if (pipe(ends) != 0) {
        return false;
    }
    run->ends[0] = ends[1];
    run->ends[1] = ends[0];
    (void)fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    return true;
}

static bool
seqpacket_open(peer_run *run)
{
    int size = 1 << 20;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, run->ends) != 0) {
        return false;
    }
    (void)setsockopt(run->ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    return true;
}

static void
ends_close(peer_run *run)
{
    (void)close(run->ends[0]);
    (void)close(run->ends[1]);
}

static bool
descriptor_send(peer_run *run, const void *message)
{
    return write(run->ends[0], message, run->c->bytes) == (ssize_t)run->c->bytes;
}

/* A pipe may give less than was written at once. */
static bool
descriptor_receive(peer_run *run, void *message)
{
    unsigned char *to = message;
    size_t got = 0;
    while (got < run->c->bytes) {
        ssize_t more = read(run->ends[1], to + got, run->c->bytes - got);
        if (more <= 0) {
            return false;
        }
        got += (size_t)more;
    }
    return true;
}

static bool
mq_open_one(peer_run *run)
{
    char name[40];
    struct mq_attr attributes = {.mq_maxmsg = 10, .mq_msgsize = (long)run->c->bytes};
    (void)snprintf(name, sizeof name, "/medley-bench-%ld", (long)getpid());
    run->queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
    if (run->queue == (mqd_t)-1) {
        return false;
    }
    return mq_unlink(name) == 0;
}

static void
mq_close_one(peer_run *run)
{
    (void)mq_close(run->queue);
}

static bool
mq_send_one(peer_run *run, const void *message)
{
    return mq_send(run->queue, message, run->c->bytes, 0) == 0;
}

static bool
mq_receive_one(peer_run *run, void *message)
{
    return mq_receive(run->queue, message, run->c->bytes, NULL) == (ssize_t)run->c->bytes;
}

static const peer peers[PEER_KINDS] = {
    [PEER_MUTEX] = {"ring under a mutex", mutex_open, mutex_close, mutex_send, mutex_receive},
    [PEER_PIPE] = {"pipe", pipe_open, ends_close, descriptor_send, descriptor_receive},
    [PEER_SEQPACKET] = {"Unix seqpacket", seqpacket_open, ends_close, descriptor_send,
                        descriptor_receive},
    [PEER_MQ] = {"POSIX mq", mq_open_one, mq_close_one, mq_send_one, mq_receive_one},
};

const char *
peer_name(peer_kind kind)
{
    return peers[kind].name;
}

/* ---- A run ----------------------------------------------------------------------------------- */

static void
sends(void *argument)
{
    peer_run *run = argument;
    const peer *p = &peers[run->c->kind];
    uint64_t message[BYTES_MAX / 8];
    memset(message, 0, sizeof message);
    run->good[0] = true;
    for (uint64_t i = 0; run->good[0] && i < run->count; i++) {
        message[0] = i;
        message[run->c->bytes / 8 - 1] = i;
        run->good[0] = p->send(run, message);
    }
}

static void
receives(void *argument)
{
    peer_run *run = argument;
    const peer *p = &peers[run->c->kind];
    uint64_t message[BYTES_MAX / 8];
    run->good[1] = true;
    for (uint64_t i = 0; run->good[1] && i < run->count; i++) {
        run->good[1] =
            p->receive(run, message) && message[0] == i && message[run->c->bytes / 8 - 1] == i;
    }
}

bool
peer_measure(const bench *b, void *context, double *values)
{
    const peer_case *c = context;
    const peer *p = &peers[c->kind];
    static peer_run run;
    run = (peer_run){.c = c, .count = bench_count(b, c->count)};
    if (!p->open(&run)) {
        return bench_failed(p->name, "could not be opened");
    }
    bench_thread threads[] = {{sends, &run, 0, false}, {receives, &run, 1, false}};
    uint64_t ns = bench_run(b, threads, 2);
    p->close(&run);
    values[0] = (double)run.count * 1e3 / (double)ns;
    return (run.good[0] && run.good[1]) || bench_failed(p->name, "wrong content or order");
}
