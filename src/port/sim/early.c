/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loads that return a store which is made later (load buffering), for scenarios that ask for it.
 *
 * One run cannot know what is stored later, so there are two of a seed. The first notes relaxed
 * loads, and of the later stores to their places by others, with another value, it chooses one. The
 * second makes the same decisions, but that load returns what that one is going to store. It
 * counts only if he then does store it, and does not know of the load by then: else it would have
 * happened before the store. Whoever knows of the load has to do with the place behind the store
 * only. What of this cannot be kept ends the run, which is discarded, and so is a failure before
 * the store.
 *
 * That the store is made without the load's knowing of it, the first run shows: so nothing comes
 * out of thin air. Stronger than C11: one load of a run, and no acquiring one, is early; and no
 * acquire fence stands between it and the store.
 */
#include "engine.h"

#define LOADS_KEPT 256u /* the last of each fiber */

typedef struct load {
    uint32_t place;
    uint32_t bytes;
    uint32_t ordinal;
    uint32_t step; /* of its fiber */
    uint64_t value;
} load;

static load loads[SIM_FIBERS_MAX][LOADS_KEPT];
static uint32_t load_counts[SIM_FIBERS_MAX];
static uint32_t found; /* stores that may be the one */
static sim_numbers numbers;
static bool pending; /* it was loaded, and is not stored yet */
static uint32_t step_then;

void
sim_early_begin(void)
{
    for (uint32_t i = 0; i < SIM_FIBERS_MAX; i++) {
        load_counts[i] = 0;
    }
    found = 0;
    numbers.state = ~sim.order->seed;
    pending = false;
}

static bool
knows_of_it(const sim_fiber *fiber)
{
    return fiber->view.seen.at[sim.order->early->fiber] >= step_then;
}

bool
sim_early_is_pending(void)
{
    return pending;
}

/* ---- The first run --------------------------------------------------------------------------- */

static bool
is_sought(void)
{
    return sim.settings.loads_early && !sim.order->early && !sim.alone;
}

/* One of the loads of that fiber there that the writer does not know of. */
static const load *
load_unknown(uint32_t fiber, const sim_fiber *writer, uint32_t place, uint32_t bytes)
{
    uint32_t count = load_counts[fiber];
    uint32_t kept = count < LOADS_KEPT ? count : LOADS_KEPT;
    const load *chosen = NULL;
    uint32_t met = 0;
    for (uint32_t back = 1; back <= kept; back++) {
        const load *l = &loads[fiber][(count - back) % LOADS_KEPT];
        bool there = l->place == place && l->bytes == bytes;
        if (there && l->step > writer->view.seen.at[fiber] &&
            sim_number_below(&numbers, ++met) == 0) {
            chosen = l;
        }
    }
    return chosen;
}

static void
seek(const sim_fiber *writer, uint32_t place, uint32_t bytes, uint64_t value)
{
    for (uint32_t i = 0; i < sim.fiber_count; i++) {
        const load *l = i == writer->number ? NULL : load_unknown(i, writer, place, bytes);
        if (l && l->value != value && sim_number_below(&numbers, ++found) == 0) {
            sim.outcome->may_come = (sim_early){.there = true,
                                                .fiber = (uint8_t)i,
                                                .writer = (uint8_t)writer->number,
                                                .ordinal = l->ordinal,
                                                .place = place,
                                                .bytes = bytes,
                                                .value = value};
        }
    }
}

/* ---- The second ------------------------------------------------------------------------------ */

bool
sim_early_load(uint32_t place, uint32_t bytes, uint64_t *value)
{
    sim_fiber *me = sim.current;
    const sim_early *early = sim.order->early;
    if (!sim.settings.loads_early || sim.alone) {
        return false;
    }
    uint32_t ordinal = load_counts[me->number]++;
    if (!early) {
        loads[me->number][ordinal % LOADS_KEPT] = (load){.place = place,
                                                         .bytes = bytes,
                                                         .ordinal = ordinal,
                                                         .step = me->view.seen.at[me->number],
                                                         .value = *value};
        return false;
    }
    if (early->fiber != me->number || early->ordinal != ordinal || early->place != place) {
        return false;
    }
    pending = true;
    step_then = me->view.seen.at[me->number];
    *value = early->value;
    return true;
}

void
sim_early_touch(uint32_t place, uint32_t bytes)
{
    const sim_early *early = sim.order->early;
    if (pending && place < early->place + early->bytes && early->place < place + bytes &&
        knows_of_it(sim.current)) {
        sim_discard();
    }
}

void
sim_early_fence(const sim_fiber *fiber)
{
    if (pending && fiber->number == sim.order->early->fiber) {
        sim_discard();
    }
}

uint32_t
sim_early_stored(const sim_fiber *writer, uint32_t place, uint32_t bytes, uint64_t value)
{
    const sim_early *early = sim.order->early;
    if (is_sought()) {
        seek(writer, place, bytes, value);
    }
    if (!pending || early->place != place || early->writer != writer->number ||
        early->value != value) {
        return 0;
    }
    if (knows_of_it(writer)) {
        sim_discard();
    }
    pending = false;
    return step_then;
}
