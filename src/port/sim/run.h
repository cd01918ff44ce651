/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The simulator, as the program sees it that runs scenarios: one run, by a seed or by a plan, and
 * what came of it.
 */
#ifndef MEDLEY_PORT_SIM_RUN_H
#define MEDLEY_PORT_SIM_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim.h"

#define SIM_PROGRAM_BYTES (1u << 20)

typedef enum sim_choice_kind {
    SIM_SWITCH,  /* at a point: goes on with fiber value - 1; ordinarily the same goes on */
    SIM_NEXT,    /* it cannot go on itself: the value-th of the others after it */
    SIM_OLD,     /* a load returns the value-th before the newest */
    SIM_DEATH,   /* it is killed */
    SIM_ALARM,   /* fiber (value-1)/2 stops waiting: for no reason, or by its deadline */
    SIM_WAKE,    /* of those who wait for one word the value-th is woken first */
    SIM_SPIN,    /* how this fiber is scheduled: see med_port_scheduling */
    SIM_SCRIPT,  /* sim_random of the scenario */
    SIM_MACHINE, /* something else of the machine: an engine's order, a late bell */
    SIM_CHOICES
} sim_choice_kind;

/* A choice that went another way than the ordinary: the ordinal-th of its kind of its fiber. */
typedef struct sim_deviation {
    uint8_t kind;
    uint8_t fiber;
    uint32_t ordinal;
    uint32_t value;
    uint32_t site; /* where the fiber was, in the program */
} sim_deviation;

#define SIM_DEVIATIONS_MAX 65536u

typedef struct sim_plan {
    sim_deviation *deviations;
    uint32_t count;
} sim_plan;

typedef enum sim_failure_kind {
    SIM_PASSED,
    SIM_WRONG,    /* the scenario says so */
    SIM_RACE,     /* two accesses, one of them plain */
    SIM_DEADLOCK, /* all wait, and nobody will wake them */
    SIM_LIVELOCK, /* too many steps */
    SIM_FOREIGN,  /* a pointer of another process, to what is not mapped, or none */
    SIM_FULL,     /* one of the simulator's own limits */
    SIM_CRASH,    /* what the processor refuses */
} sim_failure_kind;

typedef enum sim_trace_kind {
    SIM_DID_LOAD,
    SIM_DID_STORE,
    SIM_DID_CHANGE,
    SIM_DID_FENCE,
    SIM_DID_SLEEP,
    SIM_DID_WAKE,
    SIM_DID_DIE,
    SIM_DID_END,
} sim_trace_kind;

typedef struct sim_event_seen {
    uint8_t kind;
    uint8_t fiber;
    bool old; /* a load that did not return the newest */
    uint32_t place;
    uint64_t value;
    uint32_t site;
} sim_event_seen;

/* A load that returns what another fiber stores later (early.c). */
typedef struct sim_early {
    bool there;
    uint8_t fiber; /* its ordinal-th relaxed load, */
    uint8_t writer;
    uint32_t ordinal;
    uint32_t place;
    uint32_t bytes;
    uint64_t value;
} sim_early;

#define SIM_TRACE_EVENTS 64u

typedef struct sim_outcome {
    sim_failure_kind kind;
    char what[256];
    uint32_t fiber;
    uint32_t site;       /* 0: nowhere in particular */
    uint32_t other_site; /* of a race: the earlier access */
    uint32_t steps;
    uint32_t deaths;
    uint32_t event_count; /* the last SIM_TRACE_EVENTS of them are kept */
    sim_event_seen events[SIM_TRACE_EVENTS];
    sim_early early;    /* that was ordered */
    sim_early may_come; /* one for a second run, where none was */
    /* The choices that were made; the caller's memory, SIM_DEVIATIONS_MAX of them. */
    sim_plan plan;
} sim_outcome;

/* How often what happens; drawn from the seed at the begin of a run. */
typedef struct sim_settings {
    bool by_priority;       /* else by chance */
    uint32_t switch_chance; /* of 65536, at each point */
    uint32_t old_chance;    /* at each load that has a choice */
    uint32_t alarm_chance;  /* at each point while somebody waits */
    uint32_t clock_step_ns; /* what a look at the clock, or a pause, takes */
    uint32_t changes_left;  /* of priority */
    uint32_t next_change;   /* in so many points */
    bool stores_late;       /* see sim.h */
    bool loads_early;
    bool light_is_full; /* as before a registration: the light barrier is a fence, and the heavy
                             * one nobody else's */
} sim_settings;

typedef struct sim_order {
    const sim_scenario *scenario; /* of sim_world_scenarios */
    uint64_t seed;
    const sim_plan *plan;   /* not NULL: its choices, and otherwise the ordinary ones */
    const sim_early *early; /* or NULL */
    uint32_t steps_max;
    bool varied;          /* stores come late, and loads early, where no scenario asks, too */
    bool loud;            /* what the program logs is printed */
    bool barrier_missing; /* mutants */
    bool wake_missing;
} sim_order;

/* Loads the program (a shared object) once for each virtual process. False: says why on stderr. */
bool sim_world_begin(const char *program);
const sim_scenario *const *sim_world_scenarios(void);
uint64_t sim_world_points(void);
void sim_run(const sim_order *order, sim_outcome *outcome);

/* Places of the program where atomic operations stand, as met so far: bit o of [site] is set when
 * one with memory order o was met; and which there are that order nothing. */
#define SIM_SITE_OF_CHANGE (1u << 6) /* a read-modify-write */
#define SIM_SITE_OF_CACHE (1u << 7)  /* a cache is cleaned there, or invalidated */
const uint8_t *sim_world_sites(void);
void sim_world_sites_forget(void);
/* What becomes of the operations at a site from now on. */
typedef enum sim_weakening {
    SIM_AS_WRITTEN,
    SIM_RELAXED,
    SIM_NO_RELEASE, /* acquire and release: acquire only */
    SIM_NO_ACQUIRE, /* acquire and release: release only */
    SIM_NOT_TOTAL,  /* sequentially consistent: acquire and release only */
    SIM_TORN,       /* a read-modify-write: a load, and then a store */
    SIM_WEAKENINGS
} sim_weakening;
void sim_world_weaken(uint32_t site, sim_weakening weakening);

#endif
