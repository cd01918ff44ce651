/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Each peer but Open MPI's is a row of functions: open, close, send, receive. Under all of them
 * runs the same pair of threads, which fills the messages and checks them.
 */
#include "exchange_peers.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "port/port.h"

/* ---- A ring under a mutex -------------------------------------------------------------------- */

static bool
mutex_open(peer_run *run)
{
    run->elements = malloc((size_t)PEER_ELEMENTS * run->bytes);
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
    uint32_t bytes = run->bytes;
    (void)pthread_mutex_lock(&run->mutex);
    while (run->tail - run->head == PEER_ELEMENTS) {
        (void)pthread_cond_wait(&run->space, &run->mutex);
    }
    memcpy(run->elements + run->tail % PEER_ELEMENTS * bytes, message, bytes);
    bool was_empty = run->tail++ == run->head;
    (void)pthread_mutex_unlock(&run->mutex);
    return !was_empty || pthread_cond_signal(&run->data) == 0;
}

static bool
mutex_receive(peer_run *run, void *message)
{
    uint32_t bytes = run->bytes;
    (void)pthread_mutex_lock(&run->mutex);
    while (run->tail == run->head) {
        (void)pthread_cond_wait(&run->data, &run->mutex);
    }
    memcpy(message, run->elements + run->head % PEER_ELEMENTS * bytes, bytes);
    bool was_full = run->tail - run->head++ == PEER_ELEMENTS;
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
    return write(run->ends[0], message, run->bytes) == (ssize_t)run->bytes;
}

/* A pipe may give less than was written at once. */
static bool
descriptor_receive(peer_run *run, void *message)
{
    unsigned char *to = message;
    size_t got = 0;
    while (got < run->bytes) {
        ssize_t more = read(run->ends[1], to + got, run->bytes - got);
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
    struct mq_attr attributes = {.mq_maxmsg = 10, .mq_msgsize = (long)run->bytes};
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
    return mq_send(run->queue, message, run->bytes, 0) == 0;
}

static bool
mq_receive_one(peer_run *run, void *message)
{
    return mq_receive(run->queue, message, run->bytes, NULL) == (ssize_t)run->bytes;
}

static const peer peer_mutex = {"ring under a mutex", mutex_open, mutex_close, mutex_send,
                                mutex_receive};
static const peer peer_pipe = {"pipe", pipe_open, ends_close, descriptor_send, descriptor_receive};
static const peer peer_seqpacket = {"Unix seqpacket", seqpacket_open, ends_close, descriptor_send,
                                    descriptor_receive};
static const peer peer_mq = {"POSIX mq", mq_open_one, mq_close_one, mq_send_one, mq_receive_one};

static const peer *const peers[PEER_KINDS] = {
    [PEER_MUTEX] = &peer_mutex, [PEER_PIPE] = &peer_pipe, [PEER_SEQPACKET] = &peer_seqpacket,
    [PEER_MQ] = &peer_mq,       [PEER_NNG] = &peer_nng,   [PEER_ZEROMQ] = &peer_zeromq,
    [PEER_BOOST] = &peer_boost,
};

const char *
peer_name(peer_kind kind)
{
    return peers[kind] ? peers[kind]->name : "Open MPI, processes";
}

/* ---- Open MPI -------------------------------------------------------------------------------- */

/* One start of it, which writes `wanted` numbers. Its processes are pinned, and never under
 * SCHED_FIFO: what starts them would starve. */
static bool
mpi_run(const bench *b,
        const char *what,
        const peer_case *c,
        uint64_t count,
        double *numbers,
        uint64_t wanted)
{
    char command[512];
    (void)snprintf(command, sizeof command,
                   "mpirun --oversubscribe --bind-to none --mca btl self,vader -n 2 %s %s %u "
                   "%" PRIu64 " %u %u",
                   MPI_PROGRAM, what, c->bytes, count, b->processors[0], b->processors[1]);
    (void)setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    (void)setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    FILE *output = popen(command, "r");
    uint64_t got = 0;
    while (output && got < wanted && fscanf(output, "%lf", &numbers[got]) == 1) {
        got++;
    }
    return output && pclose(output) == 0 && got == wanted;
}

/* ---- A run ----------------------------------------------------------------------------------- */

typedef struct pair {
    const peer *p;
    peer_run *runs[2]; /* the way there, and the way back */
    uint64_t count;
    double *ns; /* of each trip */
} pair;

static void
fill(uint64_t *message, const peer_run *run, uint64_t number)
{
    message[0] = number;
    message[run->bytes / 8 - 1] = number;
}

static bool
is_filled(const uint64_t *message, const peer_run *run, uint64_t number)
{
    return message[0] == number && message[run->bytes / 8 - 1] == number;
}

static void
sends(void *argument)
{
    const pair *a = argument;
    peer_run *run = a->runs[0];
    uint64_t message[PEER_BYTES_MAX / 8] = {0};
    run->good[0] = true;
    for (uint64_t i = 0; run->good[0] && i < a->count; i++) {
        fill(message, run, i);
        run->good[0] = a->p->send(run, message);
    }
}

static void
receives(void *argument)
{
    const pair *a = argument;
    peer_run *run = a->runs[0];
    uint64_t message[PEER_BYTES_MAX / 8];
    run->good[1] = true;
    for (uint64_t i = 0; run->good[1] && i < a->count; i++) {
        run->good[1] = a->p->receive(run, message) && is_filled(message, run, i);
    }
}

bool
peer_measure(const bench *b, void *context, double *values)
{
    const peer_case *c = context;
    const peer *p = peers[c->kind];
    static peer_run run;
    uint64_t count = bench_count(b, c->count);
    if (!p) {
        double took_ns = 0;
        bool fine = mpi_run(b, "stream", c, count, &took_ns, 1);
        values[0] = (double)count * 1e3 / took_ns;
        return fine || bench_failed(peer_name(c->kind), "wrong content, or not started");
    }
    run = (peer_run){.bytes = c->bytes};
    if (!p->open(&run)) {
        return bench_failed(p->name, "could not be opened");
    }
    pair a = {.p = p, .runs = {&run}, .count = count};
    bench_thread threads[] = {{sends, &a, 0, false}, {receives, &a, 1, false}};
    uint64_t ns = bench_run(b, threads, 2);
    p->close(&run);
    values[0] = (double)count * 1e3 / (double)ns;
    return (run.good[0] && run.good[1]) || bench_failed(p->name, "wrong content or order");
}

/* ---- Round trips ----------------------------------------------------------------------------- */

static void
asks(void *argument)
{
    const pair *a = argument;
    uint64_t message[PEER_BYTES_MAX / 8] = {0};
    bool good = true;
    for (uint64_t i = 0; good && i < a->count; i++) {
        uint64_t begin_ns = med_port_clock_ns();
        fill(message, a->runs[0], i);
        good = a->p->send(a->runs[0], message) && a->p->receive(a->runs[1], message) &&
               is_filled(message, a->runs[0], i);
        a->ns[i] = (double)(med_port_clock_ns() - begin_ns);
    }
    a->runs[0]->good[0] = good;
}

static void
answers(void *argument)
{
    const pair *a = argument;
    uint64_t message[PEER_BYTES_MAX / 8];
    bool good = true;
    for (uint64_t i = 0; good && i < a->count; i++) {
        good = a->p->receive(a->runs[0], message) && is_filled(message, a->runs[0], i) &&
               a->p->send(a->runs[1], message);
    }
    a->runs[0]->good[1] = good;
}

/* `ns`: of each trip */
static bool
pair_trips(const bench *b, const peer_case *c, double *ns, uint64_t count)
{
    const peer *p = peers[c->kind];
    static peer_run there, back;
    there = back = (peer_run){.bytes = c->bytes};
    if (!p->open(&there) || !p->open(&back)) {
        return bench_failed(p->name, "could not be opened");
    }
    pair a = {p, {&there, &back}, count, ns};
    bench_thread threads[] = {{asks, &a, 0, false}, {answers, &a, 1, false}};
    (void)bench_run(b, threads, 2);
    p->close(&there);
    p->close(&back);
    return (there.good[0] && there.good[1]) || bench_failed(p->name, "wrong content or order");
}

bool
peer_trip(const bench *b, void *context, double *values)
{
    const peer_case *c = context;
    uint64_t count = bench_count(b, c->count);
    double *ns = bench_map(count * sizeof *ns);
    bool fine = peers[c->kind]
                    ? pair_trips(b, c, ns, count)
                    : mpi_run(b, "trip", c, count, ns, count) ||
                          bench_failed(peer_name(c->kind), "wrong content, or not started");
    if (fine) {
        bench_latencies(ns, count, 0);
        values[0] = bench_permille(ns, count, 500);
        values[1] = bench_permille(ns, count, 999);
    }
    bench_unmap(ns, count * sizeof *ns);
    return fine;
}
