/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Stress for any ring, for its tests: producers push numbered values, consumers take them, and
 * every value must arrive once, those of one producer in order. A ring brings two functions of a
 * few lines, push and pop; more threads than processors are welcome.
 *
 *     static bool push(ring_stress_side *side, uint64_t value) { ... false: full ... }
 *     static bool pop(ring_stress_side *side, uint64_t *value) { ... false: empty ... }
 *
 *     ring_stress stress = {.producers = 1, .consumers = 1, .values = 100000, .push = push, ...};
 *     assert_null(ring_stress_run(&stress));
 *
 * A side finds its ring in stress->ring, and may keep what it likes in `own` (its handle). Its
 * `random` differs from side to side and repeats from run to run: batches of odd sizes, pauses.
 * A value is the producer's number in the upper 32 bits, its sequence in the lower.
 */
#ifndef MEDLEY_BASE_RING_STRESS_H
#define MEDLEY_BASE_RING_STRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/atomic.h"
#include "port/port.h"

#define RING_STRESS_SIDES_MAX 8
#define RING_STRESS_VALUES_MAX (1u << 20)

struct ring_stress;

typedef struct ring_stress_side {
    struct ring_stress *stress;
    uint32_t number; /* among the producers, or among the consumers */
    uint64_t random_state;
    void *own;
} ring_stress_side;

typedef struct ring_stress {
    void *ring;
    uint32_t producers;
    uint32_t consumers;
    uint32_t values; /* of each producer, at most RING_STRESS_VALUES_MAX */
    bool (*push)(ring_stress_side *side, uint64_t value);
    bool (*pop)(ring_stress_side *side, uint64_t *value);
    void *producer_own[RING_STRESS_SIDES_MAX];
    void *consumer_own[RING_STRESS_SIDES_MAX];
    /* The run's own. */
    atomic32 taken;
    atomic32 failure; /* index into the texts of ring_stress_run */
    atomic32 seen[RING_STRESS_SIDES_MAX][RING_STRESS_VALUES_MAX / 32];
} ring_stress;

enum {
    STRESS_FINE,
    STRESS_UNKNOWN_VALUE,
    STRESS_ORDER,
    STRESS_TWICE,
    STRESS_START
};

static inline uint32_t
ring_stress_random(ring_stress_side *side)
{
    uint64_t x = side->random_state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    side->random_state = x;
    return (uint32_t)(x >> 32);
}

static inline bool
ring_stress_failed(ring_stress *stress)
{
    return atomic32_load_relaxed(&stress->failure) != STRESS_FINE; /* relaxed: ends loops only */
}

static void *
ring_stress_produce(void *argument)
{
    ring_stress_side *side = argument;
    ring_stress *stress = side->stress;
    for (uint32_t i = 0; i < stress->values; i++) {
        while (!stress->push(side, (uint64_t)side->number << 32 | i)) {
            if (ring_stress_failed(stress)) {
                return NULL;
            }
            med_port_yield();
        }
    }
    return NULL;
}

/* `next[p]`: the least that producer p's next value may be. */
static uint32_t
ring_stress_check(ring_stress *stress, uint64_t value, uint32_t *next)
{
    uint64_t producer = value >> 32;
    uint32_t sequence = (uint32_t)value;
    if (producer >= stress->producers || sequence >= stress->values) {
        return STRESS_UNKNOWN_VALUE;
    }
    if (sequence < next[producer] || (stress->consumers == 1 && sequence != next[producer])) {
        return STRESS_ORDER;
    }
    next[producer] = sequence + 1;
    /* Relaxed: read after the threads have ended, but for the word itself. */
    uint32_t bit = 1u << sequence % 32;
    bool twice = atomic32_fetch_or_relaxed(&stress->seen[producer][sequence / 32], bit) & bit;
    return twice ? STRESS_TWICE : STRESS_FINE;
}

static void *
ring_stress_consume(void *argument)
{
    ring_stress_side *side = argument;
    ring_stress *stress = side->stress;
    uint32_t next[RING_STRESS_SIDES_MAX] = {0};
    uint32_t all = stress->producers * stress->values;
    /* Relaxed: a count. Each value is counted once, so `all` is reached exactly when all are in. */
    while (atomic32_load_relaxed(&stress->taken) != all && !ring_stress_failed(stress)) {
        uint64_t value;
        if (!stress->pop(side, &value)) {
            med_port_yield();
            continue;
        }
        uint32_t failure = ring_stress_check(stress, value, next);
        if (failure != STRESS_FINE) {
            atomic32_store_relaxed(&stress->failure, failure); /* relaxed: read after the join */
        }
        (void)atomic32_fetch_add_relaxed(&stress->taken, 1);
    }
    return NULL;
}

/* NULL when every value arrived once and in order, else what went wrong. */
static const char *
ring_stress_run(ring_stress *stress)
{
    static const char *const texts[] = {NULL, "a value nobody sent", "out of order, or lost",
                                        "arrived twice", "a thread could not be started"};
    ring_stress_side sides[2 * RING_STRESS_SIDES_MAX];
    med_port_thread threads[2 * RING_STRESS_SIDES_MAX];
    uint32_t count = stress->producers + stress->consumers;
    uint32_t started = 0;
    memset(stress->seen, 0, sizeof stress->seen);
    /* Relaxed: the threads are started below. */
    atomic32_store_relaxed(&stress->taken, 0);
    atomic32_store_relaxed(&stress->failure, STRESS_FINE);
    for (; started < count; started++) {
        bool produces = started < stress->producers;
        uint32_t number = produces ? started : started - stress->producers;
        void *own = produces ? stress->producer_own[number] : stress->consumer_own[number];
        sides[started] = (ring_stress_side){stress, number, 0x9e3779b97f4a7c15u + started, own};
        if (med_port_thread_start(&threads[started], NULL,
                                  produces ? ring_stress_produce : ring_stress_consume,
                                  &sides[started]) != MEDLEY_OK) {
            atomic32_store_relaxed(&stress->failure, STRESS_START); /* relaxed: ends loops only */
            break;
        }
    }
    for (uint32_t i = 0; i < started; i++) {
        (void)med_port_thread_join(threads[i], NULL);
    }
    return texts[atomic32_load_relaxed(&stress->failure)]; /* relaxed: the threads have ended */
}

#endif
