/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the rings compared by mpsc_bench have in common: several producers, one consumer, 24 bytes.
 *
 * An element is (producer, number, their sum): the consumer checks all three words and that the
 * numbers of each producer come in order.
 */
#ifndef MEDLEY_BENCH_MPSC_BENCH_H
#define MEDLEY_BENCH_MPSC_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port/port.h"

#define MPSC_PRODUCERS_MAX 4
#define MPSC_ELEMENTS 16384 /* in the ring, or in all lanes together */
#define MPSC_BATCH 32       /* a copied element was filled so long before */

typedef struct mpsc_element {
    uint64_t word[3];
} mpsc_element;

typedef struct mpsc_run {
    void *memory; /* fresh, zeroed, aligned to a page */
    uint32_t producers;
    uint64_t count; /* of each producer; a multiple of MPSC_BATCH */
    uint64_t next[MPSC_PRODUCERS_MAX];
    uint64_t wrong; /* by the consumer: not 0 when something was not what it should be */
} mpsc_run;

typedef struct mpsc_side {
    mpsc_run *run;
    uint32_t number;
} mpsc_side;

typedef struct mpsc_system {
    const char *name;
    size_t (*size_bytes)(uint32_t producers);
    bool (*make)(mpsc_run *run);
    void (*produce)(void *side);
    void (*consume)(void *run);
} mpsc_system;

extern const mpsc_system mpsc_ck, mpsc_dpdk;

static inline __attribute__((always_inline)) void
mpsc_fill(uint64_t *word, uint64_t producer, uint64_t number)
{
    word[0] = producer;
    word[1] = number;
    word[2] = producer + number;
}

static inline __attribute__((always_inline)) void
mpsc_check(mpsc_run *run, const uint64_t *word)
{
    uint64_t *next = &run->next[word[0] % MPSC_PRODUCERS_MAX];
    run->wrong |= (word[1] ^ *next) | (word[2] ^ (word[0] + word[1]));
    *next = word[1] + 1;
}

/* No room. Producers that share a processor let each other, and the kernel, go on. */
static inline void
mpsc_wait_for_room(const mpsc_run *run)
{
    if (run->producers == 1) {
        med_port_cpu_relax();
    } else {
        med_port_yield();
    }
}

#endif
