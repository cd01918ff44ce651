/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Vector clocks: how far into the life of each fiber somebody has seen. */
#ifndef MEDLEY_PORT_SIM_CLOCK_H
#define MEDLEY_PORT_SIM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "sim.h"

typedef struct sim_clock {
    uint32_t at[SIM_FIBERS_MAX];
} sim_clock;

/*
 * What is known of others' steps, twice:
 *   happened  what happened before (C11): races are judged by it
 *   seen      the same, and what sequentially consistent fences have shown: it says how old a value
 *             may be that a load returns, but makes no plain access safe
 *   total     how many sequentially consistent operations there had been when the last such fence
 *             was made that is known of: it shows what they did
 */
typedef struct sim_view {
    sim_clock happened;
    sim_clock seen;
    uint32_t total;
} sim_view;

static inline void
sim_clock_join(sim_clock *target, const sim_clock *source)
{
    for (uint32_t i = 0; i < SIM_FIBERS_MAX; i++) {
        uint32_t a = target->at[i];
        uint32_t b = source->at[i];
        target->at[i] = a > b ? a : b;
    }
}

static inline void
sim_view_join(sim_view *target, const sim_view *source)
{
    sim_clock_join(&target->happened, &source->happened);
    sim_clock_join(&target->seen, &source->seen);
    target->total = target->total > source->total ? target->total : source->total;
}

/* Is any entry of `marks` (0: none) within `seen`? */
static inline bool
sim_clock_covers_any(const sim_clock *seen, const sim_clock *marks)
{
    uint32_t any = 0;
    for (uint32_t i = 0; i < SIM_FIBERS_MAX; i++) {
        any |= (marks->at[i] != 0) & (marks->at[i] <= seen->at[i]);
    }
    return any != 0;
}

#endif
