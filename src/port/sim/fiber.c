/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fibers: who runs, who waits, who is dead. */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#define LOWEST_AT_FIRST (1u << 31)

/* ---- Stacks ---------------------------------------------------------------------------------- */

static void
fiber_main(void)
{
    sim_fiber *me = sim.current;
    sim_fiber_end(me->entry(me->argument));
}

/* As sim_switch leaves a stack, with fiber_main to return to. */
static void *
stack_make(uint32_t number)
{
    uintptr_t stacks = sim.views + (uintptr_t)SIM_PROCESSES_MAX * SIM_VIEW_BYTES +
                       (uintptr_t)SIM_PROCESSES_MAX * SIM_PRIVATE_BYTES;
    uintptr_t *top = (uintptr_t *)(stacks + (uintptr_t)(number + 1) * SIM_STACK_BYTES);
    top -= 32;
    memset(top, 0, 32 * sizeof *top);
#if defined(__x86_64__)
    top += 22; /* six registers, the return address, and an odd word: aligned as after a call */
    top[6] = (uintptr_t)fiber_main;
    return top;
#elif defined(__aarch64__)
    top[11] = (uintptr_t)fiber_main;
    return top;
#else
#error "no context switch for this processor"
#endif
}

sim_fiber *
sim_fiber_start(uint32_t process, void *(*entry)(void *), void *argument)
{
    if (sim.fiber_count == SIM_FIBERS_MAX) {
        sim_fail(SIM_FULL, "SIM_FIBERS_MAX", 0, 0);
    }
    uint32_t number = sim.fiber_count++;
    sim_fiber *fiber = &sim.fibers[number];
    *fiber = (sim_fiber){.number = number,
                         .process = process,
                         .state = SIM_READY,
                         .waits_for = SIM_NOWHERE,
                         .queued_at = SIM_NOWHERE,
                         .thread_id = 1 + number,
                         .entry = entry,
                         .argument = argument};
    fiber->priority = LOWEST_AT_FIRST + sim_number_below(&sim.numbers, 1u << 16);
    fiber->stack = stack_make(number);
    if (sim.current) {
        fiber->view = sim.current->view;
        sim_step(sim.current);
    }
    sim_step(fiber);
    return fiber;
}

/* ---- Who goes on ----------------------------------------------------------------------------- */

static void
go_on_with(sim_fiber *next)
{
    sim_fiber *me = sim.current;
    if (next != me) {
        sim.current = next;
        sim_switch(&me->stack, next->stack);
    }
}

static sim_fiber *
highest(const sim_fiber *but)
{
    sim_fiber *best = NULL;
    for (uint32_t i = 0; i < sim.fiber_count; i++) {
        sim_fiber *fiber = &sim.fibers[i];
        if (fiber->state == SIM_READY && fiber != but &&
            (!best || fiber->priority > best->priority)) {
            best = fiber;
        }
    }
    return best;
}

static uint32_t
ready_count(const sim_fiber *but)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sim.fiber_count; i++) {
        count += sim.fibers[i].state == SIM_READY && &sim.fibers[i] != but;
    }
    return count;
}

/* The `index`-th ready fiber after `me`, going round; there is one. */
static sim_fiber *
ready_after(const sim_fiber *me, uint32_t index)
{
    for (uint32_t i = me->number;;) {
        i = i + 1 == sim.fiber_count ? 0 : i + 1;
        sim_fiber *fiber = &sim.fibers[i];
        if (fiber->state == SIM_READY && fiber != me && index-- == 0) {
            return fiber;
        }
    }
}

/* Of those ready but `me`, how many places round is `wanted`? */
static uint32_t
places_after(const sim_fiber *me, const sim_fiber *wanted)
{
    uint32_t index = 0;
    while (ready_after(me, index) != wanted) {
        index++;
    }
    return index;
}

static sim_fiber *
choose_next(const sim_fiber *me)
{
    uint32_t count = ready_count(me);
    if (count == 0) {
        return NULL;
    }
    uint32_t index;
    if (sim.settings.by_priority) {
        index = sim_choose_this(SIM_NEXT, places_after(me, highest(me)));
    } else {
        index = sim_choose(SIM_NEXT, count, 1u << 15);
    }
    return ready_after(me, index < count ? index : 0);
}

/* ---- Time and waiting ------------------------------------------------------------------------ */

void
sim_fiber_wake(sim_fiber *fiber)
{
    fiber->state = SIM_READY;
    fiber->waits_for = SIM_NOWHERE;
    fiber->joins = NULL;
    fiber->watches = false;
    sim.waiting--;
}

static void
time_out(sim_fiber *fiber)
{
    sim.now_ns = fiber->deadline_ns > sim.now_ns ? fiber->deadline_ns : sim.now_ns;
    fiber->timed_out = true;
    sim_fiber_wake(fiber);
}

static bool
may_time_out(const sim_fiber *fiber)
{
    return fiber->state == SIM_WAITING && fiber->deadline_ns != MED_PORT_FOREVER &&
           (sim.scenario->times_out || sim.deaths != 0);
}

/* Time has gone on. */
static void
time_out_expired(void)
{
    for (uint32_t i = 0; sim.waiting != 0 && i < sim.fiber_count; i++) {
        sim_fiber *fiber = &sim.fibers[i];
        if (fiber->deadline_ns <= sim.now_ns && may_time_out(fiber)) {
            time_out(fiber);
        }
    }
}

/* All wait: the first deadline passes. */
static sim_fiber *
first_to_time_out(void)
{
    sim_fiber *first = NULL;
    for (uint32_t i = 0; i < sim.fiber_count; i++) {
        sim_fiber *fiber = &sim.fibers[i];
        if (may_time_out(fiber) && (!first || fiber->deadline_ns < first->deadline_ns)) {
            first = fiber;
        }
    }
    if (first) {
        time_out(first);
    }
    return first;
}

/* Somebody must go on, and the running fiber cannot. */
static void
leave(void)
{
    sim_fiber *next = choose_next(sim.current);
    if (!next) {
        next = first_to_time_out();
    }
    if (!next) {
        sim_fail(SIM_DEADLOCK, "all that live wait, and nobody will wake them", 0, 0);
    }
    go_on_with(next);
}

bool
sim_fiber_wait(uint64_t deadline_ns)
{
    sim_fiber *me = sim.current;
    sim_history_settle(me);
    me->deadline_ns = deadline_ns;
    me->timed_out = false;
    me->state = SIM_WAITING;
    sim.waiting++;
    leave();
    return !me->timed_out;
}

/* Waits end early: by their deadline, or for no reason. */
static void
alarms(void)
{
    uint32_t choice = sim_choose(SIM_ALARM, 2 * sim.fiber_count + 1, sim.settings.alarm_chance);
    if (choice == 0 || (choice - 1) / 2 >= sim.fiber_count) {
        return;
    }
    sim_fiber *fiber = &sim.fibers[(choice - 1) / 2];
    if ((choice & 1) == 0 && may_time_out(fiber)) {
        time_out(fiber);
    } else if (fiber->state == SIM_WAITING && fiber->waits_for != SIM_NOWHERE) {
        sim_fiber_wake(fiber);
    }
}

/* ---- Points ---------------------------------------------------------------------------------- */

static uint32_t
switch_wanted(sim_fiber *me)
{
    if (!sim.settings.by_priority) {
        uint32_t value = sim_choose(SIM_SWITCH, sim.fiber_count + 1, sim.settings.switch_chance);
        return value;
    }
    if (sim.settings.changes_left && sim.settings.next_change-- == 0) {
        sim.settings.changes_left--;
        sim.settings.next_change = sim_number_below(&sim.numbers, 256);
        me->priority = --sim.lowest;
    }
    const sim_fiber *best = highest(NULL);
    return sim_choose_this(SIM_SWITCH, best == me ? 0 : best->number + 1);
}

void
sim_point(uintptr_t pc)
{
    sim_fiber *me = sim.current;
    sim.points++;
    sim.pc = pc;
    if (sim.alone) {
        return;
    }
    if (++sim.steps > sim.order->steps_max) {
        sim_fail(SIM_LIVELOCK, "more steps than a run may have", pc, 0);
    }
    sim_event();
    if (sim.waiting) {
        alarms();
    }
    uint32_t wanted = switch_wanted(me);
    if (wanted != 0 && wanted <= sim.fiber_count && sim.fibers[wanted - 1].state == SIM_READY) {
        go_on_with(&sim.fibers[wanted - 1]);
    }
}

void
sim_pass(void)
{
    sim_fiber *me = sim.current;
    sim_history_settle(me);
    sim.points++;
    sim.now_ns += sim.settings.clock_step_ns;
    if (sim.alone) {
        return;
    }
    if (++sim.steps > sim.order->steps_max) {
        sim_fail(SIM_LIVELOCK, "more steps than a run may have", 0, 0);
    }
    sim_event();
    time_out_expired();
    if (sim.settings.by_priority) {
        me->priority = --sim.lowest;
    }
    sim_fiber *next = choose_next(me);
    if (next) {
        go_on_with(next);
    }
}

/* ---- Ends and deaths ------------------------------------------------------------------------- */

static void
wake_joiners(const sim_fiber *fiber)
{
    for (uint32_t i = 0; i < sim.fiber_count; i++) {
        const sim_fiber *waiter = &sim.fibers[i];
        if (waiter->state == SIM_WAITING && (waiter->joins == fiber || waiter->watches)) {
            sim_fiber_wake(&sim.fibers[i]);
        }
    }
}

void
sim_fiber_end(void *result)
{
    sim_fiber *me = sim.current;
    void (*on_member_exit)(void *member) = sim.processes[me->process].on_member_exit;
    if (me->member && on_member_exit) {
        void *member = me->member;
        me->member = NULL;
        on_member_exit(member);
    }
    void (*on_exit)(void *self) = sim.processes[me->process].on_thread_exit;
    if (me->self && on_exit) {
        void *self = me->self;
        me->self = NULL;
        on_exit(self);
    }
    sim_history_settle(me);
    me->result = result;
    me->state = SIM_ENDED;
    sim_trace(SIM_DID_END, 0, 0, 0);
    sim_pi_thread_ended(me);
    wake_joiners(me);
    leave();
    abort(); /* nobody comes back to one that has ended */
}

void
sim_fiber_join(const sim_fiber *fiber)
{
    while (fiber->state != SIM_ENDED && fiber->state != SIM_KILLED) {
        sim.current->joins = fiber;
        (void)sim_fiber_wait(MED_PORT_FOREVER);
    }
    sim_view_join(&sim.current->view, &fiber->view);
}

void
sim_process_kill(uint32_t process)
{
    sim.deaths++;
    sim.processes[process].killed = true;
    for (uint32_t i = 1; i < sim.fiber_count; i++) {
        sim_fiber *fiber = &sim.fibers[i];
        if (fiber->process != process || fiber->state == SIM_ENDED) {
            continue;
        }
        sim_history_settle(fiber);
        sim.waiting -= fiber->state == SIM_WAITING;
        fiber->state = SIM_KILLED;
        fiber->joins = NULL;
        sim_pi_thread_ended(fiber);
        sim_shared_process_died(fiber);
        wake_joiners(fiber);
    }
}

#define DEATHS_EARLY 8u /* within 512 events of the victim: a deed is so long, */
#define DEATHS_LATE 12u /* and to come to a system, to do it and to leave is, of 8192 */

/* Draws who is killed next, and when: as often early in a deed as late. */
static void
death_plan(void)
{
    uint32_t doublings = sim.scenario->long_lived ? DEATHS_LATE : DEATHS_EARLY;
    sim.death_victim = SIM_NOWHERE;
    if (sim.order->plan || sim.deaths >= sim.scenario->deaths ||
        sim_number_below(&sim.numbers, 4) == 0) {
        return;
    }
    uint32_t actor = sim_number_below(&sim.numbers, sim.scenario->actors);
    if (sim.scenario->mortal & 1u << actor) {
        sim.death_victim = actor + 1;
        sim.death_in =
            sim_number_below(&sim.numbers, 4u << sim_number_below(&sim.numbers, doublings));
    }
}

void
sim_fibers_begin(void)
{
    sim.deaths = 0;
    sim.lowest = LOWEST_AT_FIRST;
    death_plan();
}

static bool
may_die(const sim_fiber *fiber)
{
    return fiber->mortal && sim.deaths < sim.scenario->deaths;
}

static void
die(void)
{
    sim_trace(SIM_DID_DIE, 0, 0, 0);
    sim_process_kill(sim.current->process);
    death_plan();
    leave();
}

void
sim_event(void)
{
    const sim_fiber *me = sim.current;
    if (sim.alone || sim.scenario->deaths == 0) {
        return;
    }
    bool dies = me->number == sim.death_victim && sim.death_in-- == 0;
    if (sim_choose_this(SIM_DEATH, dies) != 0 && may_die(me)) {
        die();
    }
}

void
sim_die(void)
{
    if (!may_die(sim.current)) {
        sim_fail(SIM_WRONG, "dies, and may not", 0, 0);
    }
    die();
    abort(); /* nobody comes back to one that was killed */
}
