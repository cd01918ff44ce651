/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Random numbers of a test: a seed that is printed, and that MEDLEY_TEST_SEED sets. */
#ifndef MEDLEY_TESTS_SUPPORT_RANDOM_H
#define MEDLEY_TESTS_SUPPORT_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "port/port.h"

typedef struct test_random {
    uint64_t state;
} test_random;

/* The seed of this run. */
static inline uint64_t
test_seed(void)
{
    static uint64_t seed;
    if (seed == 0) {
        const char *chosen = getenv("MEDLEY_TEST_SEED");
        seed = chosen ? strtoull(chosen, NULL, 0) : med_port_clock_ns();
        seed += seed == 0;
        (void)printf("MEDLEY_TEST_SEED=%llu\n", (unsigned long long)seed);
        (void)fflush(stdout);
    }
    return seed;
}

/* Of the same seed, each stream has numbers of its own. A test_random with any other state repeats
 * itself from run to run. */
static inline test_random
test_random_of(uint64_t stream)
{
    return (test_random){.state = test_seed() ^ (stream + 1) * 0x9e3779b97f4a7c15u};
}

static inline uint32_t
random_word(test_random *random)
{
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random->state >> 32);
}

static inline uint32_t
random_below(test_random *random, uint32_t bound)
{
    return random_word(random) % bound;
}

#endif
