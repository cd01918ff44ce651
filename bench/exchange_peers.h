/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a program would pick for messages instead: a ring under a mutex, what the operating system
 * has, and libraries for messages. One thread sends, one receives; numbers are checked. Open MPI's
 * two are processes, as its programs are: exchange_mpi.c. */
#ifndef MEDLEY_BENCH_EXCHANGE_PEERS_H
#define MEDLEY_BENCH_EXCHANGE_PEERS_H

#include <mqueue.h>
#include <pthread.h>

#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PEER_BYTES_MAX 4096u
#define PEER_ELEMENTS 16384u
/* As many as make a lane of 1 MiB, at most PEER_ELEMENTS. */
#define PEER_ELEMENTS_IN(bytes)                                                                    \
    ((1u << 20) / (bytes) < PEER_ELEMENTS ? (1u << 20) / (bytes) : PEER_ELEMENTS)

typedef enum peer_kind {
    PEER_MUTEX,     /* a ring of 16384 elements under a pthread mutex, and two conditions */
    PEER_PIPE,      /* as large as it may be made */
    PEER_SEQPACKET, /* a Unix socket */
    PEER_MQ,        /* a POSIX message queue */
    PEER_NNG,       /* a pair, inproc */
    PEER_ZEROMQ,    /* likewise */
    PEER_BOOST,     /* boost::interprocess::message_queue */
    PEER_MPI,       /* Open MPI's send and recv through shared memory; only as wholes, below */
    PEER_KINDS
} peer_kind;

typedef struct peer_case {
    peer_kind kind;
    uint32_t bytes; /* a multiple of 8, at most PEER_BYTES_MAX */
    uint64_t count;
} peer_case;

/* One way there, one way out. */
typedef struct peer_run {
    uint32_t bytes;
    bool good[2];
    /* Where it is written, where it is read. */
    int ends[2];
    void *sockets[2];
    mqd_t queue;
    void *library; /* what of a library the run has for itself */
    /* The ring under a mutex. */
    pthread_mutex_t mutex;
    pthread_cond_t data, space;
    uint64_t head, tail;
    unsigned char *elements;
} peer_run;

/* Sends and receives one message, blocking. */
typedef struct peer {
    const char *name;
    bool (*open)(peer_run *run);
    void (*close)(peer_run *run);
    bool (*send)(peer_run *run, const void *message);
    bool (*receive)(peer_run *run, void *message);
} peer;

extern const peer peer_nng, peer_zeromq, peer_boost;

const char *peer_name(peer_kind kind);
/* `context`: peer_case. value: million a second */
bool peer_measure(const bench *b, void *context, double *values);
/* `context`: peer_case. values: round trips, median and p99.9, ns */
bool peer_trip(const bench *b, void *context, double *values);

#ifdef __cplusplus
}
#endif
#endif
