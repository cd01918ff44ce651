/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Open MPI's send and recv, two processes and the memory they share. A program by itself, which
 * mpirun starts twice; exchange_peers.c calls it:
 *
 *   exchange_mpi stream|trip BYTES COUNT PROCESSOR PROCESSOR
 *
 * Writes the nanoseconds that a stream took, or those of each round trip; nothing when a number was
 * not what it should be.
 */
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORDS_MAX 512

typedef struct run {
    uint64_t words[WORDS_MAX];
    int bytes;
    uint64_t count;
    uint64_t wrong;
} run;

static uint64_t
now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void
send_one(run *r, int to, uint64_t number)
{
    r->words[0] = number;
    r->words[r->bytes / 8 - 1] = number;
    MPI_Send(r->words, r->bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
}

static void
receive_one(run *r, int from, uint64_t number)
{
    MPI_Recv(r->words, r->bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    r->wrong |= (r->words[0] ^ number) | (r->words[r->bytes / 8 - 1] ^ number);
}

static void
stream(run *r, int rank)
{
    uint64_t begin_ns = now_ns();
    for (uint64_t i = 0; i < r->count; i++) {
        if (rank == 0) {
            send_one(r, 1, i);
        } else {
            receive_one(r, 0, i);
        }
    }
    if (rank == 1 && !r->wrong) {
        (void)printf("%llu\n", (unsigned long long)(now_ns() - begin_ns));
    }
}

static void
trips(run *r, int rank)
{
    uint64_t *ns = calloc(r->count, sizeof *ns);
    for (uint64_t i = 0; ns && i < r->count; i++) {
        uint64_t begin_ns = now_ns();
        if (rank == 0) {
            send_one(r, 1, i);
            receive_one(r, 1, i);
        } else {
            receive_one(r, 0, i);
            send_one(r, 0, i);
        }
        ns[i] = now_ns() - begin_ns;
    }
    for (uint64_t i = 0; rank == 0 && ns && !r->wrong && i < r->count; i++) {
        (void)printf("%llu\n", (unsigned long long)ns[i]);
    }
    free(ns);
}

int
main(int argc, char **argv)
{
    static run r;
    cpu_set_t own;
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 6 || ranks != 2) {
        (void)fprintf(stderr, "usage: mpirun -n 2 %s stream|trip BYTES COUNT PROCESSOR PROCESSOR\n",
                      argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    r.bytes = (int)strtol(argv[2], NULL, 10);
    r.count = strtoull(argv[3], NULL, 10);
    CPU_ZERO(&own);
    CPU_SET(strtoul(argv[4 + rank], NULL, 10), &own);
    (void)sched_setaffinity(0, sizeof own, &own);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "stream") == 0) {
        stream(&r, rank);
    } else {
        trips(&r, rank);
    }
    MPI_Finalize();
    return 0;
}
