/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Store buffering, for tests of the asymmetric fence: both sides store, then look at the other's
 * store. Both missing it is what the two halves of the barrier together forbid. Two threads, or two
 * processes that share the litmus. They go round by round: R1 and R2 keep them together, and carry
 * what the light side saw. Not part of the library.
 */
#ifndef MEDLEY_PORT_LITMUS_H
#define MEDLEY_PORT_LITMUS_H

#include <stdbool.h>
#include <stdint.h>

#include "port/port.h"

typedef struct litmus {
    _Alignas(64) uint32_t x;
    _Alignas(64) uint32_t y;
    _Alignas(64) uint32_t light_round;
    _Alignas(64) uint32_t heavy_round;
    _Alignas(64) uint32_t light_saw;
    uint32_t rounds;
    med_port_scope scope;
    bool prepare; /* for the test: one side arranges for cheap light halves first */
} litmus;

static inline void
litmus_await_round(const uint32_t *other, uint32_t round)
{
    uint32_t looks = 0;
    /* A1 round <- R1 (light), R2 (heavy) */
    while (__atomic_load_n(other, __ATOMIC_ACQUIRE) < round) {
        med_port_cpu_relax();
        if (++looks % 256 == 0) {
            med_port_yield();
        }
    }
}

static inline void
litmus_light(litmus *l)
{
    for (uint32_t round = 1; round <= l->rounds; round++) {
        __atomic_store_n(&l->light_round, round, __ATOMIC_RELEASE); /* R1 round -> A1 (await) */
        litmus_await_round(&l->heavy_round, round);
        /* Relaxed, both: the barrier between them is what is tested. */
        __atomic_store_n(&l->x, round, __ATOMIC_RELAXED);
        med_port_barrier_light(l->scope); /* B1 x, then y <-> B2 (heavy) */
        l->light_saw = __atomic_load_n(&l->y, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&l->light_round, l->rounds + 1, __ATOMIC_RELEASE); /* R1 round -> A1 (await) */
}

/* The light side hears of the round later than this side knows of it; how much later, nobody knows.
 * So each round tries another head start. */
static inline void
litmus_stagger(uint32_t round)
{
    for (uint32_t i = round * 7 % 512; i > 0; i--) {
        __asm__ volatile("" ::: "memory");
    }
}

/* In how many rounds both missed the other's store. */
static inline uint32_t
litmus_heavy(litmus *l)
{
    uint32_t both_missed = 0;
    for (uint32_t round = 1; round <= l->rounds; round++) {
        litmus_await_round(&l->light_round, round);
        __atomic_store_n(&l->heavy_round, round, __ATOMIC_RELEASE); /* R2 round -> A1 (await) */
        litmus_stagger(round);
        /* Relaxed, both: as above. */
        __atomic_store_n(&l->y, round, __ATOMIC_RELAXED);
        (void)med_port_barrier_heavy(l->scope); /* B2 y, then x <-> B1 (light) */
        uint32_t saw = __atomic_load_n(&l->x, __ATOMIC_RELAXED);
        litmus_await_round(&l->light_round, round + 1);
        both_missed += saw != round && l->light_saw != round;
    }
    return both_missed;
}

#endif
