/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Numbers from a seed: splitmix64. */
#ifndef MEDLEY_PORT_SIM_RANDOM_H
#define MEDLEY_PORT_SIM_RANDOM_H

#include <stdint.h>

typedef struct sim_numbers {
    uint64_t state;
} sim_numbers;

static inline uint64_t
sim_number(sim_numbers *numbers)
{
    uint64_t z = numbers->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 to count - 1. */
static inline uint32_t
sim_number_below(sim_numbers *numbers, uint32_t count)
{
    return (uint32_t)((sim_number(numbers) >> 32) * count >> 32);
}

#endif
