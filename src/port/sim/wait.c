/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Waiting on a word, and the asymmetric fence, in the simulator.
 *
 * What Linux promises of its futexes and no more: a fence on each side, then a look at the word
 * that may be as old as any other load; so a wake that comes after the waiter's look finds him
 * waiting, and a look after the wake sees what was written before it. Neither makes anything else
 * visible.
 */
#include "engine.h"

#define HERE ((uintptr_t)__builtin_return_address(0))

medley_status_t
med_port_wait(const uint32_t *word, uint32_t expected, uint64_t deadline_ns, med_port_scope scope)
{
    sim_fiber *me = sim.current;
    uint32_t place = sim_place(word, HERE);
    if (place == SIM_NOWHERE) {
        sim_fail(SIM_WRONG, "waits for a word that nobody else can change", HERE, 0);
    }
    (void)scope;
    sim_point(HERE);
    sim_fence(me, __ATOMIC_SEQ_CST);
    uint32_t seen =
        (uint32_t)sim_history_load((void *)(uintptr_t)word, place, 4, __ATOMIC_RELAXED, HERE);
    if (seen != expected) {
        return MEDLEY_OK;
    }
    if (deadline_ns <= sim.now_ns) {
        return MEDLEY_TIMEOUT;
    }
    sim_trace(SIM_DID_SLEEP, place, expected, HERE);
    me->waits_for = place;
    return sim_fiber_wait(deadline_ns) ? MEDLEY_OK : MEDLEY_TIMEOUT;
}

/* The `index`-th of those who wait for the word, or NULL. */
static sim_fiber *
waiter_at(uint32_t place, uint32_t index)
{
    for (uint32_t i = 0; i < sim.fiber_count; i++) {
        sim_fiber *fiber = &sim.fibers[i];
        if (fiber->state == SIM_WAITING && fiber->waits_for == place && index-- == 0) {
            return fiber;
        }
    }
    return NULL;
}

uint32_t
med_port_wake(const uint32_t *word, uint32_t count, med_port_scope scope)
{
    uint32_t place = sim_place(word, HERE);
    uint32_t woken = 0;
    (void)scope;
    sim_point(HERE);
    sim_fence(sim.current, __ATOMIC_SEQ_CST);
    if (sim.order->wake_missing) {
        return 0;
    }
    while (woken < count && waiter_at(place, 0)) {
        sim_fiber *fiber = waiter_at(place, sim_choose(SIM_WAKE, SIM_FIBERS_MAX, 1u << 14));
        sim_fiber_wake(fiber ? fiber : waiter_at(place, 0));
        woken++;
    }
    sim_trace(SIM_DID_WAKE, place, woken, HERE);
    return woken;
}

/* ---- The asymmetric fence -------------------------------------------------------------------- */

void
sim_barrier_light(med_port_scope scope)
{
    (void)scope;
    if (sim.settings.light_is_full) {
        sim_point(HERE);
        sim_fence(sim.current, __ATOMIC_SEQ_CST);
    }
}

bool
sim_barrier_is_free(void)
{
    return !sim.settings.light_is_full;
}

/* A fence of all that the scope names, wherever they are; one's own before and after. Who has ended
 * left his processor by way of a fence. Before a registration one's own is all there is. */
bool
med_port_barrier_heavy(med_port_scope scope)
{
    sim_fiber *me = sim.current;
    sim_point(HERE);
    if (sim.order->barrier_missing) {
        return true;
    }
    sim_fence(me, __ATOMIC_SEQ_CST);
    if (sim.settings.light_is_full) {
        return true;
    }
    for (uint32_t i = 0; i < sim.fiber_count; i++) {
        sim_fiber *fiber = &sim.fibers[i];
        if (scope == MED_PORT_SCOPE_SHARED || fiber->process == me->process) {
            sim_fence(fiber, __ATOMIC_SEQ_CST);
        }
    }
    sim_fence(me, __ATOMIC_SEQ_CST);
    sim_trace(SIM_DID_FENCE, 0, 0, HERE);
    return true;
}

void
med_port_barrier_prepare(med_port_scope scope)
{
    (void)scope;
}
