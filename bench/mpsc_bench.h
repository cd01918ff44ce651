/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the rings compared by mpsc_bench have in common: several producers, one consumer, 24 bytes.
 *
 * An element is (producer, number, their sum): the consumer checks all three words and that the
 * numbers of each producer come in order.
 *
 * A run lasts a given time, and the rate is what the consumer took in it: where a producer may wait
 * for another that does not run (ck_ring, rte_ring), no number of elements takes a time that one
 * could foresee.
 */
#ifndef MEDLEY_BENCH_MPSC_BENCH_H
#define MEDLEY_BENCH_MPSC_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
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
    uint64_t duration_ns;
    /* By the consumer. */
    uint64_t next[MPSC_PRODUCERS_MAX];
    uint64_t wrong; /* not 0 when something was not what it should be */
    uint64_t start_ns;
    uint64_t end_ns;
    uint32_t looks;
    _Alignas(128) atomic32 stop;
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

/* The consumer: before each look for an element. */
static inline __attribute__((always_inline)) bool
mpsc_goes_on(mpsc_run *run)
{
    if (__builtin_expect(run->looks++ % 4096 == 0, 0)) {
        uint64_t now_ns = med_port_clock_ns();
        run->start_ns = run->start_ns ? run->start_ns : now_ns;
        run->end_ns = now_ns;
        if (now_ns - run->start_ns >= run->duration_ns) {
            atomic32_store_relaxed(&run->stop, 1); /* relaxed: ends loops only */
            return false;
        }
    }
    return true;
}

static inline bool
mpsc_stopped(const mpsc_run *run)
{
    return atomic32_load_relaxed(&run->stop) != 0; /* relaxed: ends loops only */
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
