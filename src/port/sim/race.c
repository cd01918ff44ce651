/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Races: two accesses of two fibers to one byte, at least one a write, at least one plain, neither
 * happening before the other. Eight bytes of memory share a cell that remembers who accessed which
 * of them last, how, and where in the program. An access takes the place of what happened before it
 * and cannot race with anything that it does not race with itself; so a cell seldom has many. When
 * one is full the oldest is forgotten, and a race may be missed.
 */
#include "engine.h"

#include <string.h>

#define CELL_BYTES 8u
#define MEMORIES 6u

typedef struct memory {
    uint32_t step;
    uint8_t fiber;
    uint8_t mask; /* bit b: byte b */
    uint8_t access;
    uintptr_t pc;
} memory;

typedef struct cell {
    uint32_t run;
    uint32_t count;
    memory memories[MEMORIES];
} cell;

static cell cells[SIM_PLACES / CELL_BYTES];

static bool
conflict(const memory *m, uint32_t mask, sim_access access)
{
    bool writes = (m->access | access) & 1;
    bool plain = !(m->access & access & 2);
    return (m->mask & mask) && writes && plain;
}

/* Is whatever races with `m` in a later step sure to race with the new access too? */
static bool
replaces(uint32_t mask, sim_access access, const memory *m)
{
    bool as_much = (access & 1) >= (m->access & 1) && (access & 2) <= (m->access & 2);
    return as_much && (mask & m->mask) == m->mask;
}

static void
check_cell(cell *c, uint32_t mask, sim_access access, uintptr_t pc)
{
    sim_fiber *me = sim.current;
    if (c->run != sim.run) {
        c->run = sim.run;
        c->count = 0;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        memory *m = &c->memories[i];
        bool before = m->step <= me->view.happened.at[m->fiber];
        if (!before && conflict(m, mask, access)) {
            sim_fail(SIM_RACE, "two fibers access it, and neither before the other", pc, m->pc);
        }
        if (!before || !replaces(mask, access, m)) {
            c->memories[kept++] = *m;
        }
    }
    if (kept == MEMORIES) {
        memmove(&c->memories[0], &c->memories[1], (MEMORIES - 1) * sizeof c->memories[0]);
        kept--;
    }
    c->memories[kept++] = (memory){.step = me->view.happened.at[me->number],
                                   .fiber = (uint8_t)me->number,
                                   .mask = (uint8_t)mask,
                                   .access = (uint8_t)access,
                                   .pc = pc};
    c->count = kept;
}

void
sim_race_check(uint32_t place, uint32_t bytes, sim_access access, uintptr_t pc)
{
    while (bytes != 0) {
        uint32_t first = place % CELL_BYTES;
        uint32_t here = CELL_BYTES - first < bytes ? CELL_BYTES - first : bytes;
        check_cell(&cells[place / CELL_BYTES], ((1u << here) - 1) << first, access, pc);
        place += here;
        bytes -= here;
    }
}
