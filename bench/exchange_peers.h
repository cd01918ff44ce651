/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a program would pick for messages instead: a ring under a mutex, and what the operating
 * system has. One thread sends, one receives; numbers are checked. */
#ifndef MEDLEY_BENCH_EXCHANGE_PEERS_H
#define MEDLEY_BENCH_EXCHANGE_PEERS_H

#include "bench.h"

typedef enum peer_kind {
    PEER_MUTEX,     /* a ring of 16384 elements under a pthread mutex, and two conditions */
    PEER_PIPE,      /* as large as it may be made */
    PEER_SEQPACKET, /* a Unix socket */
    PEER_MQ,        /* a POSIX message queue */
    PEER_KINDS
} peer_kind;

typedef struct peer_case {
    peer_kind kind;
    uint32_t bytes; /* a multiple of 8, at most 4096 */
    uint64_t count;
} peer_case;

const char *peer_name(peer_kind kind);
/* `context`: peer_case. value: million a second */
bool peer_measure(const bench *b, void *context, double *values);

#endif
