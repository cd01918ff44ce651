/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The world: what is where, what happened, and runs. Between runs the variables of each virtual
 * process (load.c) become what they were when they were loaded, and the memory is zeroed.
 */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sim_world sim;
uint8_t sim_sites[SIM_PROGRAM_BYTES];
uint8_t sim_weak[SIM_PROGRAM_BYTES];

const sim_scenario *const *
sim_world_scenarios(void)
{
    return sim.processes[0].scenarios;
}

uint64_t
sim_world_points(void)
{
    return sim.points;
}

const uint8_t *
sim_world_sites(void)
{
    return sim_sites;
}

void
sim_world_sites_forget(void)
{
    memset(sim_sites, 0, sizeof sim_sites);
}

void
sim_world_weaken(uint32_t site, sim_weakening weakening)
{
    sim_weak[site] = (uint8_t)weakening;
}

/* ---- Places ---------------------------------------------------------------------------------- */

#define NOBODYS_BYTES 65536u /* from NULL on nothing is ever mapped */

static uint32_t
place_of_global(uintptr_t address, uintptr_t pc)
{
    for (uint32_t i = 0; i < sim.process_count; i++) {
        const sim_process *process = &sim.processes[i];
        if (address - process->globals < process->globals_bytes) {
            if (i != sim.current->process) {
                sim_fail(SIM_FOREIGN, "a variable of another process", pc, 0);
            }
            return SIM_GLOBALS_AT + i * SIM_GLOBALS_BYTES + (uint32_t)(address - process->globals);
        }
    }
    return SIM_NOWHERE;
}

uint32_t
sim_place(const void *address, uintptr_t pc)
{
    const uintptr_t views_bytes = (uintptr_t)SIM_PROCESSES_MAX * SIM_VIEW_BYTES;
    const uintptr_t private_bytes = (uintptr_t)SIM_PROCESSES_MAX * SIM_PRIVATE_BYTES;
    const uintptr_t stack_bytes = (uintptr_t)SIM_FIBERS_MAX * SIM_STACK_BYTES;
    uintptr_t at = (uintptr_t)address - sim.views;
    uint32_t mine = sim.current->process;
    if (at < views_bytes) {
        if (at >> SIM_VIEW_SHIFT != mine) {
            sim_fail(SIM_FOREIGN, "shared memory at another process's address", pc, 0);
        }
        uint32_t place = (uint32_t)at & (SIM_VIEW_BYTES - 1);
        if (sim_unmapped[mine][place / SIM_PAGE_BYTES]) {
            sim_fail(SIM_FOREIGN, "a segment that its process has not mapped", pc, 0);
        }
        return place;
    }
    at -= views_bytes;
    if (at < private_bytes) {
        if (at >> SIM_PRIVATE_SHIFT != mine) {
            sim_fail(SIM_FOREIGN, "memory of another process", pc, 0);
        }
        return SIM_PRIVATE_AT + (uint32_t)at;
    }
    at -= private_bytes;
    if ((uintptr_t)address < NOBODYS_BYTES) {
        sim_fail(SIM_FOREIGN, "an address that is none, as of what another process's variables say",
                 pc, 0);
    }
    return at < stack_bytes ? SIM_NOWHERE : place_of_global((uintptr_t)address, pc);
}

void *
sim_shared_address(uint32_t process, uint32_t place)
{
    return (void *)(sim.views + (uintptr_t)process * SIM_VIEW_BYTES + place);
}

uintptr_t
sim_private_base(uint32_t process)
{
    return sim.views + (uintptr_t)SIM_PROCESSES_MAX * SIM_VIEW_BYTES +
           (uintptr_t)process * SIM_PRIVATE_BYTES;
}

/* ---- What happened --------------------------------------------------------------------------- */

static sim_event_seen *
trace_add(sim_trace_kind kind, uint32_t place, uint64_t value, uintptr_t pc)
{
    sim_event_seen *event = &sim.outcome->events[sim.outcome->event_count++ % SIM_TRACE_EVENTS];
    *event = (sim_event_seen){.kind = (uint8_t)kind,
                              .fiber = (uint8_t)sim.current->number,
                              .place = place,
                              .value = value,
                              .site = pc ? sim_site_of(pc) : 0};
    return event;
}

void
sim_trace(sim_trace_kind kind, uint32_t place, uint64_t value, uintptr_t pc)
{
    (void)trace_add(kind, place, value, pc);
}

void
sim_trace_load(uint32_t place, uint64_t value, bool old, uintptr_t pc)
{
    trace_add(SIM_DID_LOAD, place, value, pc)->old = old;
}

static uint32_t
site_anywhere(uintptr_t pc)
{
    for (uint32_t i = 0; pc && i < sim.process_count; i++) {
        if (pc - sim.processes[i].base < SIM_PROGRAM_BYTES) {
            return (uint32_t)(pc - sim.processes[i].base);
        }
    }
    return 0;
}

_Noreturn static void
leave_run(void)
{
    void *ignored;
    sim_switch(&ignored, sim.outside);
    abort(); /* nobody comes back to a run that is over */
}

void
sim_discard(void)
{
    leave_run();
}

void
sim_fail(sim_failure_kind kind, const char *what, uintptr_t pc, uintptr_t other_pc)
{
    sim_outcome *outcome = sim.outcome;
    if (sim_early_is_pending()) {
        sim_discard();
    }
    outcome->kind = kind;
    outcome->fiber = sim.current->number;
    outcome->site = site_anywhere(pc);
    outcome->other_site = site_anywhere(other_pc);
    (void)snprintf(outcome->what, sizeof outcome->what, "%s", what);
    leave_run();
}

void
sim_fail_at(const char *file, int line, const char *what)
{
    char text[256];
    (void)snprintf(text, sizeof text, "%s:%d: %s", file, line, what);
    sim_fail(SIM_WRONG, text, 0, 0);
}

/* ---- A run ----------------------------------------------------------------------------------- */

static sim_actor
actor_of(uint32_t index, uint32_t process)
{
    return (sim_actor){.index = index,
                       .memory = sim_shared_address(process, 0),
                       .cached = sim_shared_address(process, SIM_CACHED_AT),
                       .notes = sim.notes};
}

/* The same scenario, in that process's copy of the program. */
static const sim_scenario *
scenario_in(uint32_t process)
{
    uintptr_t offset = (uintptr_t)sim.scenario - sim.processes[0].base;
    return (const sim_scenario *)(sim.processes[process].base + offset);
}

static void *
act(void *argument)
{
    sim_fiber *me = sim.current;
    uint32_t index = (uint32_t)(uintptr_t)argument;
    sim_actor actor = actor_of(index, me->process);
    scenario_in(me->process)->act(&actor);
    return NULL;
}

static void *
direct(void *argument)
{
    sim_actor director = actor_of(UINT32_MAX, 0);
    const sim_scenario *scenario = argument;
    scenario->begin(&director);
    sim_caches_empty();
    for (uint32_t i = 0; i < scenario->actors; i++) {
        uint32_t process = scenario->one_process ? 0 : (i + 1) % sim.process_count;
        sim_fiber *fiber = sim_fiber_start(process, act, (void *)(uintptr_t)i);
        fiber->mortal = scenario->mortal >> i & 1;
        sim.actors[i] = fiber;
    }
    sim.alone = false;
    for (uint32_t i = 0; i < scenario->actors; i++) {
        (void)sim_join(i);
    }
    sim.alone = true;
    if (scenario->end) {
        scenario->end(&director);
    }
    leave_run();
}

static void
settings_draw(sim_settings *settings)
{
    static const uint32_t chances[] = {0, 4000, 16000, 32000};
    static const uint32_t chances_late[] = {16000, 32000, 48000, 56000};
    const uint32_t *old = sim.scenario->sees_late ? chances_late : chances;
    sim_numbers *numbers = &sim.numbers;
    *settings = (sim_settings){
        .by_priority = sim_number_below(numbers, 3) == 0,
        .switch_chance = (1u << 15) >> sim_number_below(numbers, 7),
        .old_chance = old[sim_number_below(numbers, 4)],
        .alarm_chance = sim_number_below(numbers, 3) == 0 ? 600 : 0,
        .clock_step_ns = 500u << sim_number_below(numbers, 6),
        .changes_left = 1 + sim_number_below(numbers, 8),
        .next_change = sim_number_below(numbers, 256),
        .light_is_full = sim_number_below(numbers, 8) == 0,
        .stores_late = sim.scenario->stores_late || (sim.order->varied && sim.order->seed % 3 == 1),
        .loads_early = sim.scenario->loads_early || (sim.order->varied && sim.order->seed % 3 == 2),
    };
}

static void
world_reset(void)
{
    sim.run++;
    sim.fiber_count = 0;
    sim.current = NULL;
    sim.waiting = 0;
    sim.mourned = 0;
    sim.alone = true;
    sim.steps = 0;
    memset(sim.notes, 0, SIM_NOTES_BYTES);
    for (uint32_t i = 0; i < sim.process_count; i++) {
        sim_process *process = &sim.processes[i];
        memcpy((void *)process->globals, process->globals_fresh, process->globals_bytes);
        memset((void *)sim_private_base(i), 0, process->private_used);
        process->private_used = 0;
        process->on_thread_exit = NULL;
        process->on_member_exit = NULL;
        process->killed = false;
    }
    sim_history_begin();
    sim_shared_begin();
    sim_caches_begin();
    sim_pi_begin();
}

void
sim_run(const sim_order *order, sim_outcome *outcome)
{
    sim.scenario = order->scenario;
    sim.order = order;
    sim.outcome = outcome;
    sim.numbers.state = order->seed;
    sim_deviation *kept = outcome->plan.deviations;
    *outcome = (sim_outcome){.plan.deviations = kept};
    if (order->early) {
        outcome->early = *order->early;
    }
    sim_early_begin();
    world_reset();
    settings_draw(&sim.settings);
    /* Its upper half changes in many runs. */
    sim.now_ns =
        (1ull << 32) - (uint64_t)sim_number_below(&sim.numbers, 64) * sim.settings.clock_step_ns;
    sim_choices_begin(order);
    sim_fibers_begin();
    sim_fiber *director = sim_fiber_start(0, direct, (void *)(uintptr_t)order->scenario);
    sim.current = director;
    sim_switch(&sim.outside, director->stack);
    sim.current = NULL;
    outcome->steps = sim.steps;
    outcome->deaths = sim.deaths;
}

/* ---- What actors may ask --------------------------------------------------------------------- */

uint32_t
sim_random(uint32_t count)
{
    return sim_choose_this(SIM_SCRIPT, sim_number_below(&sim.numbers, count)) % count;
}

void
sim_linger(void)
{
    if (sim_random(4) == 0) {
        sim_pass();
    }
}

bool
sim_is_dead(uint32_t actor)
{
    const sim_fiber *fiber = sim.actors[actor];
    if (fiber->state != SIM_KILLED) {
        return false;
    }
    sim_view_join(&sim.current->view, &fiber->view);
    return true;
}

bool
sim_has_ended(uint32_t actor)
{
    const sim_fiber *fiber = sim.actors[actor];
    if (fiber->state != SIM_ENDED && fiber->state != SIM_KILLED) {
        return false;
    }
    sim_view_join(&sim.current->view, &fiber->view);
    return true;
}

bool
sim_join(uint32_t actor)
{
    sim_fiber_join(sim.actors[actor]);
    return sim.actors[actor]->state == SIM_KILLED;
}

/* UINT32_MAX: nobody, but somebody still may be. */
static uint32_t
death_to_mourn(bool *over)
{
    *over = true;
    for (uint32_t i = 0; i < sim.scenario->actors; i++) {
        const sim_fiber *fiber = sim.actors[i];
        if (fiber->state == SIM_KILLED && !(sim.mourned >> i & 1)) {
            return i;
        }
        bool idle = fiber == sim.current || fiber->watches || fiber->state == SIM_ENDED ||
                    fiber->state == SIM_KILLED;
        *over = *over && idle;
    }
    return UINT32_MAX;
}

uint32_t
sim_await_death(void)
{
    bool over;
    uint32_t actor = death_to_mourn(&over);
    while (actor == UINT32_MAX && !over) {
        sim.current->watches = true;
        (void)sim_fiber_wait(MED_PORT_FOREVER);
        actor = death_to_mourn(&over);
    }
    if (actor == UINT32_MAX) {
        return actor;
    }
    sim.mourned |= 1u << actor;
    sim_view_join(&sim.current->view, &sim.actors[actor]->view);
    return actor;
}
