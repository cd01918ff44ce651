/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Litmus tests of the simulator's memory model: a world of its own, in which each scenario is a few
 * threads of a few accesses, and one outcome. Its name says what C11 makes of the outcome, by which
 * tests/sim/litmus_test.py judges it:
 *
 *   may_...    allowed, and some seed must have it
 *   never_...  forbidden, and no seed may
 *   race_...   it is a data race, which some seed must find
 *
 * A run with the outcome fails as "the outcome". What comes out of thin air C11 would allow, and
 * says that it should not be: here it never is.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "port/port.h"
#include "sim.h"

typedef enum verb {
    STOPS, /* the last of a thread */
    LOADS,
    STORES,
    ADDS,
    SWAPS,
    FENCES,
    READS,
    WRITES,
    GOES_ON,
    LIGHTENS,
    HEAVES,
} verb;

typedef struct step {
    uint8_t verb;
    uint8_t into; /* register */
    uint8_t where;
    uint8_t order;
    uint8_t otherwise; /* the order when a swap fails */
    uint32_t value;
    uint8_t expected;
} step;

#define THREADS_MAX 4u
#define STEPS_MAX 6u
#define REGISTERS 4u
#define DROP REGISTERS /* a register that the outcome does not name */
#define PLACES 4u

typedef struct litmus {
    step threads[THREADS_MAX][STEPS_MAX];
    uint8_t outcome[REGISTERS]; /* a register that nothing came into is 0 */
} litmus;

enum {
    X,
    Y,
    Z,
    P
}; /* the last is plain */

#define RLX __ATOMIC_RELAXED
#define ACQ __ATOMIC_ACQUIRE
#define REL __ATOMIC_RELEASE
#define ACQ_REL __ATOMIC_ACQ_REL
#define SC __ATOMIC_SEQ_CST

#define LOAD(r, w, o)                                                                              \
    {                                                                                              \
        .verb = LOADS, .into = (r), .where = (w), .order = (o)                                     \
    }
#define STORE(w, v, o)                                                                             \
    {                                                                                              \
        .verb = STORES, .where = (w), .value = (v), .order = (o)                                   \
    }
#define ADD(r, w, v, o)                                                                            \
    {                                                                                              \
        .verb = ADDS, .into = (r), .where = (w), .value = (v), .order = (o)                        \
    }
#define SWAP(r, w, e, v, o, f)                                                                     \
    {                                                                                              \
        .verb = SWAPS, .into = (r), .where = (w), .expected = (e), .value = (v), .order = (o),     \
        .otherwise = (f)                                                                           \
    }
#define FENCE(o)                                                                                   \
    {                                                                                              \
        .verb = FENCES, .order = (o)                                                               \
    }
#define READ(r, w)                                                                                 \
    {                                                                                              \
        .verb = READS, .into = (r), .where = (w)                                                   \
    }
#define WRITE(w, v)                                                                                \
    {                                                                                              \
        .verb = WRITES, .where = (w), .value = (v)                                                 \
    }
#define ONLY_IF(r, v)                                                                              \
    {                                                                                              \
        .verb = GOES_ON, .into = (r), .value = (v)                                                 \
    }
#define LIGHT                                                                                      \
    {                                                                                              \
        .verb = LIGHTENS                                                                           \
    }
#define HEAVY                                                                                      \
    {                                                                                              \
        .verb = HEAVES                                                                             \
    }

/* ---- A run ----------------------------------------------------------------------------------- */

typedef struct word {
    _Alignas(64) uint32_t value;
} word;

typedef struct registers {
    uint8_t values[REGISTERS + 1];
} registers;

/* False: the thread ends here. */
static bool
step_do(const step *s, uint32_t *word_there, uint8_t *into)
{
    uint32_t seen = s->expected;
    switch ((verb)s->verb) {
    case STOPS:
        return false;
    case LOADS:
        *into = (uint8_t)__atomic_load_n(word_there, s->order);
        break;
    case STORES:
        __atomic_store_n(word_there, s->value, s->order);
        break;
    case ADDS:
        *into = (uint8_t)__atomic_fetch_add(word_there, s->value, s->order);
        break;
    case SWAPS:
        (void)__atomic_compare_exchange_n(word_there, &seen, s->value, false, s->order,
                                          s->otherwise);
        *into = (uint8_t)seen;
        break;
    case FENCES:
        __atomic_thread_fence(s->order);
        break;
    case READS:
        *into = (uint8_t)*word_there;
        break;
    case WRITES:
        *word_there = s->value;
        break;
    case GOES_ON:
        return *into == s->value;
    case LIGHTENS:
        med_port_barrier_light(MED_PORT_SCOPE_SHARED);
        break;
    case HEAVES:
        (void)med_port_barrier_heavy(MED_PORT_SCOPE_SHARED);
        break;
    }
    return true;
}

static void
begin(const sim_actor *director)
{
    (void)director;
}

static void
thread_do(const litmus *l, const sim_actor *actor)
{
    word *words = actor->memory;
    uint8_t *values = ((registers *)actor->notes)->values;
    for (const step *s = l->threads[actor->index];
         step_do(s, &words[s->where].value, &values[s->into]); s++) {
    }
}

static void
outcome_check(const litmus *l, const sim_actor *director)
{
    const registers *r = director->notes;
    if (memcmp(r->values, l->outcome, sizeof l->outcome) == 0) {
        sim_fail_at(__FILE__, __LINE__, "the outcome");
    }
}

/* LITMUS(name, the registers of the outcome, threads...) */
#define OUTCOME(...)                                                                               \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define NO_OUTCOME OUTCOME(255)
#define LITMUS(what, registers_then, ...)                                                          \
    static const litmus litmus_##what = {.threads = {__VA_ARGS__}, .outcome = registers_then};     \
    static void act_##what(const sim_actor *actor)                                                 \
    {                                                                                              \
        thread_do(&litmus_##what, actor);                                                          \
    }                                                                                              \
    static void end_##what(const sim_actor *director)                                              \
    {                                                                                              \
        outcome_check(&litmus_##what, director);                                                   \
    }                                                                                              \
    static const sim_scenario what = {                                                             \
        .name = #what,                                                                             \
        .covers = "",                                                                              \
        .memory_bytes = PLACES * sizeof(word),                                                     \
        .actors = THREADS_MAX,                                                                     \
        .stores_late = true,                                                                       \
        .loads_early = true,                                                                       \
        .begin = begin,                                                                            \
        .act = act_##what,                                                                         \
        .end = end_##what,                                                                         \
    };

/* ---- Message passing ------------------------------------------------------------------------- */

LITMUS(may_mp_relaxed,
       OUTCOME(1, 0),
       {STORE(X, 1, RLX), STORE(Y, 1, RLX)},
       {LOAD(0, Y, RLX), LOAD(1, X, RLX)})
LITMUS(may_mp_only_release,
       OUTCOME(1, 0),
       {STORE(X, 1, RLX), STORE(Y, 1, REL)},
       {LOAD(0, Y, RLX), LOAD(1, X, RLX)})
LITMUS(may_mp_only_acquire,
       OUTCOME(1, 0),
       {STORE(X, 1, RLX), STORE(Y, 1, RLX)},
       {LOAD(0, Y, ACQ), LOAD(1, X, RLX)})
LITMUS(never_mp,
       OUTCOME(1, 0),
       {STORE(X, 1, RLX), STORE(Y, 1, REL)},
       {LOAD(0, Y, ACQ), LOAD(1, X, RLX)})
LITMUS(never_mp_sc,
       OUTCOME(1, 0),
       {STORE(X, 1, RLX), STORE(Y, 1, SC)},
       {LOAD(0, Y, SC), LOAD(1, X, RLX)})
LITMUS(never_mp_fences,
       OUTCOME(1, 0),
       {STORE(X, 1, RLX), FENCE(REL), STORE(Y, 1, RLX)},
       {LOAD(0, Y, RLX), FENCE(ACQ), LOAD(1, X, RLX)})
LITMUS(never_mp_fence_acquire,
       OUTCOME(1, 0),
       {STORE(X, 1, RLX), FENCE(REL), STORE(Y, 1, RLX)},
       {LOAD(0, Y, ACQ), LOAD(1, X, RLX)})
LITMUS(never_mp_release_fence,
       OUTCOME(1, 0),
       {STORE(X, 1, RLX), STORE(Y, 1, REL)},
       {LOAD(0, Y, RLX), FENCE(ACQ), LOAD(1, X, RLX)})
LITMUS(may_mp_fence_too_early,
       OUTCOME(1, 0),
       {FENCE(REL), STORE(X, 1, RLX), STORE(Y, 1, RLX)},
       {LOAD(0, Y, RLX), FENCE(ACQ), LOAD(1, X, RLX)})
LITMUS(may_mp_fence_too_late,
       OUTCOME(1, 0),
       {STORE(X, 1, RLX), FENCE(REL), STORE(Y, 1, RLX)},
       {LOAD(0, Y, RLX), LOAD(1, X, RLX), FENCE(ACQ)})
LITMUS(may_mp_fences_of_the_wrong_kind,
       OUTCOME(1, 0),
       {STORE(X, 1, RLX), FENCE(ACQ), STORE(Y, 1, RLX)},
       {LOAD(0, Y, RLX), FENCE(REL), LOAD(1, X, RLX)})
/* What is published is what stood before the release, and no more. */
LITMUS(may_mp_stored_behind,
       OUTCOME(1, 0),
       {STORE(Y, 1, REL), STORE(X, 1, RLX), STORE(Z, 1, RLX)},
       {LOAD(0, Z, ACQ), LOAD(1, X, RLX)})

/* ---- Message passing of plain words ---------------------------------------------------------- */

LITMUS(never_mp_plain,
       OUTCOME(1, 0),
       {WRITE(P, 1), STORE(Y, 1, REL)},
       {LOAD(0, Y, ACQ), ONLY_IF(0, 1), READ(1, P)})
LITMUS(never_mp_plain_fences,
       OUTCOME(1, 0),
       {WRITE(P, 1), FENCE(REL), STORE(Y, 1, RLX)},
       {LOAD(0, Y, RLX), ONLY_IF(0, 1), FENCE(ACQ), READ(1, P)})
LITMUS(race_mp_only_release,
       NO_OUTCOME,
       {WRITE(P, 1), STORE(Y, 1, REL)},
       {LOAD(0, Y, RLX), ONLY_IF(0, 1), READ(1, P)})
LITMUS(race_mp_only_acquire,
       NO_OUTCOME,
       {WRITE(P, 1), STORE(Y, 1, RLX)},
       {LOAD(0, Y, ACQ), ONLY_IF(0, 1), READ(1, P)})
LITMUS(race_mp_written_behind,
       NO_OUTCOME,
       {STORE(Y, 1, REL), WRITE(P, 1)},
       {LOAD(0, Y, ACQ), ONLY_IF(0, 1), READ(1, P)})
LITMUS(race_read_then_written,
       NO_OUTCOME,
       {READ(1, P), STORE(Y, 1, RLX)},
       {LOAD(0, Y, ACQ), ONLY_IF(0, 1), WRITE(P, 1)})
LITMUS(race_both_write, NO_OUTCOME, {WRITE(P, 1)}, {WRITE(P, 2)})
/* Plain and atomic: also a race. */
LITMUS(race_half_atomic, NO_OUTCOME, {WRITE(P, 1)}, {LOAD(0, P, SC)})
LITMUS(race_atomic_then_plain, NO_OUTCOME, {STORE(P, 1, SC)}, {READ(0, P)})
/* Fences that show what came before make no plain access safe, without a word between them. */
LITMUS(race_fences_alone,
       NO_OUTCOME,
       {WRITE(P, 1), FENCE(SC), STORE(X, 1, RLX)},
       {LOAD(0, X, RLX), ONLY_IF(0, 1), STORE(Y, 1, RLX)},
       {LOAD(1, Y, RLX), ONLY_IF(1, 1), FENCE(SC), READ(2, P)})
LITMUS(race_by_a_third,
       NO_OUTCOME,
       {WRITE(P, 1), STORE(X, 1, REL)},
       {LOAD(0, X, RLX), ONLY_IF(0, 1), STORE(Y, 1, REL)},
       {LOAD(1, Y, ACQ), ONLY_IF(1, 1), READ(2, P)})

/* ---- Stores that come late ------------------------------------------------------------------- */

/* The first goes on for a while. */
LITMUS(may_late_store,
       OUTCOME(1, 1),
       {STORE(X, 1, RLX), ADD(DROP, Y, 1, RLX), LOAD(DROP, Z, RLX)},
       {LOAD(0, Y, RLX), ONLY_IF(0, 1), STORE(X, 2, RLX), LOAD(1, X, RLX)})
LITMUS(may_late_store_that_releases,
       OUTCOME(1, 1),
       {STORE(X, 1, REL), ADD(DROP, Y, 1, ACQ), LOAD(DROP, Z, RLX)},
       {LOAD(0, Y, ACQ), ONLY_IF(0, 1), STORE(X, 2, RLX), LOAD(1, X, RLX)})
LITMUS(may_late_store_over_a_swap,
       OUTCOME(1, 1, 0),
       {STORE(X, 1, RLX), ADD(DROP, Y, 1, RLX), LOAD(DROP, Z, RLX)},
       {LOAD(0, Y, RLX), ONLY_IF(0, 1), SWAP(2, X, 0, 2, RLX, RLX), LOAD(1, X, RLX)})
LITMUS(never_late_store,
       OUTCOME(1, 1),
       {STORE(X, 1, RLX), ADD(DROP, Y, 1, REL), LOAD(DROP, Z, RLX)},
       {LOAD(0, Y, ACQ), ONLY_IF(0, 1), STORE(X, 2, RLX), LOAD(1, X, RLX)})
LITMUS(never_late_store_fence,
       OUTCOME(1, 1),
       {STORE(X, 1, RLX), FENCE(REL), ADD(DROP, Y, 1, RLX), LOAD(DROP, Z, RLX)},
       {LOAD(0, Y, ACQ), ONLY_IF(0, 1), STORE(X, 2, RLX), LOAD(1, X, RLX)})
LITMUS(never_late_store_by_a_third,
       OUTCOME(1, 1, 1),
       {STORE(X, 1, RLX), STORE(Y, 1, REL), LOAD(DROP, Z, RLX)},
       {LOAD(0, Y, ACQ), ONLY_IF(0, 1), STORE(Z, 1, REL)},
       {LOAD(1, Z, ACQ), ONLY_IF(1, 1), STORE(X, 2, RLX), LOAD(2, X, RLX)})

/* ---- Store buffering ------------------------------------------------------------------------- */

LITMUS(may_sb_relaxed,
       OUTCOME(0, 0),
       {STORE(X, 1, RLX), LOAD(0, Y, RLX)},
       {STORE(Y, 1, RLX), LOAD(1, X, RLX)})
LITMUS(may_sb_release_acquire,
       OUTCOME(0, 0),
       {STORE(X, 1, REL), LOAD(0, Y, ACQ)},
       {STORE(Y, 1, REL), LOAD(1, X, ACQ)})
LITMUS(may_sb_acq_rel_fences,
       OUTCOME(0, 0),
       {STORE(X, 1, RLX), FENCE(ACQ_REL), LOAD(0, Y, RLX)},
       {STORE(Y, 1, RLX), FENCE(ACQ_REL), LOAD(1, X, RLX)})
LITMUS(may_sb_one_fence,
       OUTCOME(0, 0),
       {STORE(X, 1, RLX), FENCE(SC), LOAD(0, Y, RLX)},
       {STORE(Y, 1, RLX), LOAD(1, X, RLX)})
LITMUS(never_sb_fences,
       OUTCOME(0, 0),
       {STORE(X, 1, RLX), FENCE(SC), LOAD(0, Y, RLX)},
       {STORE(Y, 1, RLX), FENCE(SC), LOAD(1, X, RLX)})
LITMUS(never_sb_sc,
       OUTCOME(0, 0),
       {STORE(X, 1, SC), LOAD(0, Y, SC)},
       {STORE(Y, 1, SC), LOAD(1, X, SC)})
LITMUS(never_sb_swaps,
       OUTCOME(0, 0),
       {SWAP(DROP, X, 0, 1, SC, SC), LOAD(0, Y, SC)},
       {SWAP(DROP, Y, 0, 1, SC, SC), LOAD(1, X, SC)})
LITMUS(may_sb_swaps_acq_rel,
       OUTCOME(0, 0),
       {SWAP(DROP, X, 0, 1, ACQ_REL, ACQ), LOAD(0, Y, ACQ)},
       {SWAP(DROP, Y, 0, 1, ACQ_REL, ACQ), LOAD(1, X, ACQ)})
/* An operation is no fence: what is relaxed before it or behind it stands in no order. */
LITMUS(may_sb_sc_stores,
       OUTCOME(0, 0),
       {STORE(X, 1, SC), LOAD(0, Y, RLX)},
       {STORE(Y, 1, SC), LOAD(1, X, RLX)})
LITMUS(may_sb_sc_loads,
       OUTCOME(0, 0),
       {STORE(X, 1, RLX), LOAD(0, Y, SC)},
       {STORE(Y, 1, RLX), LOAD(1, X, SC)})
LITMUS(may_sb_sc_elsewhere,
       OUTCOME(0, 0),
       {STORE(X, 1, RLX), STORE(Z, 1, SC), LOAD(0, Y, RLX)},
       {STORE(Y, 1, RLX), STORE(Z, 2, SC), LOAD(1, X, RLX)})
LITMUS(never_sb_fence_and_sc,
       OUTCOME(0, 0),
       {STORE(X, 1, RLX), FENCE(SC), LOAD(0, Y, RLX)},
       {STORE(Y, 1, SC), LOAD(1, X, SC)})
/* The halves of the port's barrier. */
LITMUS(never_sb_light_and_heavy,
       OUTCOME(0, 0),
       {STORE(X, 1, RLX), LIGHT, LOAD(0, Y, RLX)},
       {STORE(Y, 1, RLX), HEAVY, LOAD(1, X, RLX)})
LITMUS(never_sb_heavy_twice,
       OUTCOME(0, 0),
       {STORE(X, 1, RLX), HEAVY, LOAD(0, Y, RLX)},
       {STORE(Y, 1, RLX), HEAVY, LOAD(1, X, RLX)})
LITMUS(may_sb_light_twice,
       OUTCOME(0, 0),
       {STORE(X, 1, RLX), LIGHT, LOAD(0, Y, RLX)},
       {STORE(Y, 1, RLX), LIGHT, LOAD(1, X, RLX)})

/* ---- Load buffering -------------------------------------------------------------------------- */

LITMUS(may_lb_relaxed,
       OUTCOME(1, 1),
       {LOAD(0, Y, RLX), STORE(X, 1, RLX)},
       {LOAD(1, X, RLX), STORE(Y, 1, RLX)})
LITMUS(may_lb_only_acquire,
       OUTCOME(1, 1),
       {LOAD(0, Y, RLX), STORE(X, 1, RLX)},
       {LOAD(1, X, ACQ), STORE(Y, 1, RLX)})
LITMUS(may_lb_only_release,
       OUTCOME(1, 1),
       {LOAD(0, Y, RLX), STORE(X, 1, REL)},
       {LOAD(1, X, RLX), STORE(Y, 1, RLX)})
LITMUS(never_lb,
       OUTCOME(1, 1),
       {LOAD(0, Y, RLX), STORE(X, 1, REL)},
       {LOAD(1, X, ACQ), STORE(Y, 1, RLX)})
LITMUS(never_lb_both,
       OUTCOME(1, 1),
       {LOAD(0, Y, ACQ), STORE(X, 1, REL)},
       {LOAD(1, X, ACQ), STORE(Y, 1, REL)})
LITMUS(never_lb_fences,
       OUTCOME(1, 1),
       {LOAD(0, Y, RLX), FENCE(REL), STORE(X, 1, RLX)},
       {LOAD(1, X, RLX), FENCE(ACQ), STORE(Y, 1, RLX)})
LITMUS(never_lb_sc_fences,
       OUTCOME(1, 1),
       {LOAD(0, Y, RLX), FENCE(SC), STORE(X, 1, RLX)},
       {LOAD(1, X, RLX), FENCE(SC), STORE(Y, 1, RLX)})
LITMUS(never_lb_by_a_third,
       OUTCOME(1, 1, 1),
       {LOAD(0, Z, RLX), STORE(X, 1, REL)},
       {LOAD(1, X, ACQ), STORE(Y, 1, REL)},
       {LOAD(2, Y, ACQ), STORE(Z, 1, RLX)})
LITMUS(may_lb_by_a_relaxed_third,
       OUTCOME(1, 1, 1),
       {LOAD(0, Z, RLX), STORE(X, 1, REL)},
       {LOAD(1, X, RLX), STORE(Y, 1, REL)},
       {LOAD(2, Y, ACQ), STORE(Z, 1, RLX)})
/* A value that is there only because it was returned comes out of thin air. */
LITMUS(never_lb_thin_air,
       OUTCOME(1, 1),
       {LOAD(0, Y, RLX), ONLY_IF(0, 1), STORE(X, 1, RLX)},
       {LOAD(1, X, RLX), ONLY_IF(1, 1), STORE(Y, 1, RLX)})
LITMUS(may_lb_one_depends,
       OUTCOME(1, 1),
       {LOAD(0, Y, RLX), STORE(X, 1, RLX)},
       {LOAD(1, X, RLX), ONLY_IF(1, 1), STORE(Y, 1, RLX)})
/* By a read-modify-write: */
LITMUS(may_lb_add,
       OUTCOME(1, 1),
       {LOAD(0, Y, RLX), ADD(DROP, X, 1, RLX)},
       {LOAD(1, X, RLX), ADD(DROP, Y, 1, RLX)})
LITMUS(never_lb_add,
       OUTCOME(1, 1),
       {LOAD(0, Y, RLX), ADD(DROP, X, 1, REL)},
       {LOAD(1, X, ACQ), ADD(DROP, Y, 1, RLX)})
/* What was returned early is as old as it is: the next look sees nothing before it, */
LITMUS(never_lb_backwards,
       OUTCOME(1, 0, 1),
       {LOAD(0, Y, RLX), LOAD(1, Y, RLX), STORE(X, 1, RLX)},
       {LOAD(2, X, RLX), STORE(Y, 1, RLX)})
/* nor does a third, who knows of it. */
LITMUS(never_lb_backwards_elsewhere,
       OUTCOME(1, 1, 1, 0),
       {LOAD(0, Y, RLX), STORE(X, 1, REL)},
       {LOAD(1, X, RLX), STORE(Y, 1, RLX)},
       {LOAD(2, X, ACQ), LOAD(3, Y, RLX)})
/* An acquire fence behind it makes what was released with it visible. */
LITMUS(never_lb_fence_behind,
       OUTCOME(1, 1, 0),
       {LOAD(0, Y, RLX), FENCE(ACQ), LOAD(2, Z, RLX), STORE(X, 1, RLX)},
       {LOAD(1, X, RLX), STORE(Z, 1, RLX), STORE(Y, 1, REL)})

/* ---- Two writers, two readers ---------------------------------------------------------------- */

LITMUS(may_iriw_acquire,
       OUTCOME(1, 0, 1, 0),
       {STORE(X, 1, REL)},
       {STORE(Y, 1, REL)},
       {LOAD(0, X, ACQ), LOAD(1, Y, ACQ)},
       {LOAD(2, Y, ACQ), LOAD(3, X, ACQ)})
LITMUS(never_iriw_sc,
       OUTCOME(1, 0, 1, 0),
       {STORE(X, 1, SC)},
       {STORE(Y, 1, SC)},
       {LOAD(0, X, SC), LOAD(1, Y, SC)},
       {LOAD(2, Y, SC), LOAD(3, X, SC)})
LITMUS(may_iriw_sc_but_one_load,
       OUTCOME(1, 0, 1, 0),
       {STORE(X, 1, SC)},
       {STORE(Y, 1, SC)},
       {LOAD(0, X, SC), LOAD(1, Y, ACQ)},
       {LOAD(2, Y, SC), LOAD(3, X, SC)})
LITMUS(never_iriw_fences,
       OUTCOME(1, 0, 1, 0),
       {STORE(X, 1, RLX)},
       {STORE(Y, 1, RLX)},
       {LOAD(0, X, RLX), FENCE(SC), LOAD(1, Y, RLX)},
       {LOAD(2, Y, RLX), FENCE(SC), LOAD(3, X, RLX)})
LITMUS(may_iriw_one_fence,
       OUTCOME(1, 0, 1, 0),
       {STORE(X, 1, RLX)},
       {STORE(Y, 1, RLX)},
       {LOAD(0, X, RLX), FENCE(SC), LOAD(1, Y, RLX)},
       {LOAD(2, Y, ACQ), LOAD(3, X, RLX)})

/* ---- One word -------------------------------------------------------------------------------- */

LITMUS(never_read_backwards, OUTCOME(1, 0), {STORE(X, 1, RLX)}, {LOAD(0, X, RLX), LOAD(1, X, RLX)})
LITMUS(never_read_before_own, OUTCOME(0), {STORE(X, 1, RLX), LOAD(0, X, RLX)})
LITMUS(never_read_backwards_elsewhere,
       OUTCOME(1, 1, 0),
       {STORE(X, 1, RLX)},
       {LOAD(0, X, RLX), STORE(Y, 1, REL)},
       {LOAD(1, Y, ACQ), LOAD(2, X, RLX)})
LITMUS(may_read_backwards_elsewhere,
       OUTCOME(1, 1, 0),
       {STORE(X, 1, RLX)},
       {LOAD(0, X, RLX), STORE(Y, 1, RLX)},
       {LOAD(1, Y, ACQ), LOAD(2, X, RLX)})
LITMUS(never_two_orders,
       OUTCOME(1, 2, 2, 1),
       {STORE(X, 1, RLX)},
       {STORE(X, 2, RLX)},
       {LOAD(0, X, RLX), LOAD(1, X, RLX)},
       {LOAD(2, X, RLX), LOAD(3, X, RLX)})
LITMUS(may_read_the_middle,
       OUTCOME(1, 2),
       {STORE(X, 1, RLX), STORE(X, 2, RLX), STORE(X, 3, RLX)},
       {LOAD(0, X, RLX), LOAD(1, X, RLX)})

/* ---- By way of others ------------------------------------------------------------------------ */

LITMUS(never_wrc,
       OUTCOME(1, 1, 0),
       {STORE(X, 1, REL)},
       {LOAD(0, X, ACQ), STORE(Y, 1, REL)},
       {LOAD(1, Y, ACQ), LOAD(2, X, RLX)})
LITMUS(may_isa2_relaxed_between,
       OUTCOME(1, 1, 0),
       {STORE(X, 1, RLX), STORE(Y, 1, REL)},
       {LOAD(0, Y, RLX), STORE(Z, 1, REL)},
       {LOAD(1, Z, ACQ), LOAD(2, X, RLX)})
LITMUS(never_isa2,
       OUTCOME(1, 1, 0),
       {STORE(X, 1, RLX), STORE(Y, 1, REL)},
       {LOAD(0, Y, ACQ), STORE(Z, 1, REL)},
       {LOAD(1, Z, ACQ), LOAD(2, X, RLX)})
LITMUS(never_isa2_fences,
       OUTCOME(1, 1, 0),
       {STORE(X, 1, RLX), FENCE(REL), STORE(Y, 1, RLX)},
       {LOAD(0, Y, RLX), FENCE(ACQ_REL), STORE(Z, 1, RLX)},
       {LOAD(1, Z, RLX), FENCE(ACQ), LOAD(2, X, RLX)})
/* What a fence has shown goes on to those who hear of the fence. */
LITMUS(never_fence_then_message,
       OUTCOME(0, 1, 0),
       {STORE(X, 1, RLX), FENCE(SC), LOAD(0, Z, RLX)},
       {STORE(Z, 1, RLX), FENCE(SC), STORE(Y, 1, REL)},
       {LOAD(1, Y, ACQ), LOAD(2, X, RLX)})
LITMUS(may_fence_then_relaxed_message,
       OUTCOME(0, 1, 0),
       {STORE(X, 1, RLX), FENCE(SC), LOAD(0, Z, RLX)},
       {STORE(Z, 1, RLX), FENCE(SC), STORE(Y, 1, RLX)},
       {LOAD(1, Y, RLX), LOAD(2, X, RLX)})
LITMUS(never_sc_fence_then_message,
       OUTCOME(0, 1, 0),
       {STORE(X, 1, SC), LOAD(0, Z, SC)},
       {STORE(Z, 1, RLX), FENCE(SC), STORE(Y, 1, REL)},
       {LOAD(1, Y, ACQ), LOAD(2, X, RLX)})
/* And a later look by a third takes nothing back. */
LITMUS(never_sc_looked_at_later,
       OUTCOME(0, 0, 1),
       {STORE(X, 1, SC), LOAD(0, Z, SC)},
       {STORE(Z, 1, RLX), FENCE(SC), LOAD(1, X, RLX)},
       {LOAD(2, X, SC)})

/* ---- Read-modify-writes ---------------------------------------------------------------------- */

LITMUS(never_add_lost, OUTCOME(0, 0), {ADD(0, X, 1, RLX)}, {ADD(1, X, 1, RLX)})
LITMUS(never_swap_twice, OUTCOME(0, 0), {SWAP(0, X, 0, 1, RLX, RLX)}, {SWAP(1, X, 0, 2, RLX, RLX)})
LITMUS(may_add_relaxed,
       OUTCOME(1, 0),
       {STORE(X, 1, RLX), ADD(DROP, Y, 1, RLX)},
       {ADD(0, Y, 1, RLX), LOAD(1, X, RLX)})
LITMUS(never_add_acq_rel,
       OUTCOME(1, 0),
       {STORE(X, 1, RLX), ADD(DROP, Y, 1, ACQ_REL)},
       {ADD(0, Y, 1, ACQ_REL), LOAD(1, X, RLX)})
/* A release sequence: relaxed read-modify-writes carry it on, */
LITMUS(never_sequence,
       OUTCOME(1, 2, 0),
       {STORE(X, 1, RLX), STORE(Y, 1, REL)},
       {ADD(0, Y, 1, RLX)},
       {LOAD(1, Y, ACQ), LOAD(2, X, RLX)})
LITMUS(never_sequence_down,
       OUTCOME(2, 1, 0),
       {STORE(X, 1, RLX), STORE(Y, 2, REL)},
       {ADD(0, Y, UINT32_MAX, RLX)},
       {LOAD(1, Y, ACQ), LOAD(2, X, RLX)})
LITMUS(never_sequence_of_swaps,
       OUTCOME(1, 2, 3, 0),
       {STORE(X, 1, RLX), STORE(Y, 1, REL)},
       {SWAP(0, Y, 1, 2, RLX, RLX)},
       {SWAP(1, Y, 2, 3, RLX, RLX)},
       {LOAD(2, Y, ACQ), LOAD(3, X, RLX)})
LITMUS(never_sequence_of_a_fence,
       OUTCOME(1, 2, 0),
       {STORE(X, 1, RLX), FENCE(REL), STORE(Y, 1, RLX)},
       {ADD(0, Y, 1, RLX)},
       {LOAD(1, Y, RLX), FENCE(ACQ), LOAD(2, X, RLX)})
LITMUS(never_sequence_of_two,
       OUTCOME(2, 0, 1),
       {STORE(X, 1, RLX), ADD(DROP, Y, 1, REL)},
       {STORE(Z, 1, RLX), ADD(DROP, Y, 1, REL)},
       {LOAD(0, Y, ACQ), LOAD(1, X, RLX), LOAD(2, Z, RLX)})
/* and a store ends it: another's, or one's own (as of C++20). */
LITMUS(may_sequence_ended,
       OUTCOME(1, 2, 0),
       {STORE(X, 1, RLX), STORE(Y, 1, REL)},
       {LOAD(0, Y, RLX), ONLY_IF(0, 1), STORE(Y, 2, RLX)},
       {LOAD(1, Y, ACQ), LOAD(2, X, RLX)})
LITMUS(may_sequence_ended_by_oneself,
       OUTCOME(2, 0),
       {STORE(X, 1, RLX), STORE(Y, 1, REL), STORE(Y, 2, RLX)},
       {LOAD(0, Y, ACQ), LOAD(1, X, RLX)})
/* The one in the middle has synchronised with nobody himself. */
LITMUS(may_sequence_carrier,
       OUTCOME(1, 0),
       {STORE(X, 1, RLX), STORE(Y, 1, REL)},
       {ADD(0, Y, 1, RLX), LOAD(1, X, RLX)})
LITMUS(race_sequence_carrier,
       NO_OUTCOME,
       {WRITE(P, 1), STORE(Y, 1, REL)},
       {ADD(0, Y, 1, REL), ONLY_IF(0, 1), READ(1, P)})
LITMUS(never_swap_acquires,
       OUTCOME(1, 0),
       {STORE(X, 1, RLX), STORE(Y, 1, REL)},
       {SWAP(0, Y, 1, 2, ACQ, RLX), LOAD(1, X, RLX)})

/* ---- Compare-and-swap that fails ------------------------------------------------------------- */

LITMUS(may_swap_fail_by_an_old_value,
       OUTCOME(1, 0),
       {STORE(X, 1, RLX), STORE(Y, 1, RLX)},
       {LOAD(0, Y, RLX), SWAP(1, X, 1, 2, RLX, RLX)})
LITMUS(never_swap_fail_acquires,
       OUTCOME(1, 0),
       {STORE(X, 1, RLX), STORE(Y, 1, REL)},
       {SWAP(0, Y, 7, 8, RLX, ACQ), LOAD(1, X, RLX)})
LITMUS(may_swap_fail_relaxed,
       OUTCOME(1, 0),
       {STORE(X, 1, RLX), STORE(Y, 1, REL)},
       {SWAP(0, Y, 7, 8, ACQ_REL, RLX), LOAD(1, X, RLX)})
LITMUS(never_swap_fail_sc,
       OUTCOME(0, 0),
       {STORE(X, 1, SC), SWAP(0, Y, 7, 8, SC, SC)},
       {STORE(Y, 1, SC), LOAD(1, X, SC)})

__attribute__((visibility("default"))) const sim_scenario *const sim_scenarios[] = {
    &may_mp_relaxed,
    &may_mp_only_release,
    &may_mp_only_acquire,
    &never_mp,
    &never_mp_sc,
    &never_mp_fences,
    &never_mp_fence_acquire,
    &never_mp_release_fence,
    &may_mp_fence_too_early,
    &may_mp_fence_too_late,
    &may_mp_fences_of_the_wrong_kind,
    &may_mp_stored_behind,
    &never_mp_plain,
    &never_mp_plain_fences,
    &race_mp_only_release,
    &race_mp_only_acquire,
    &race_mp_written_behind,
    &race_read_then_written,
    &race_both_write,
    &race_half_atomic,
    &race_atomic_then_plain,
    &race_fences_alone,
    &race_by_a_third,
    &may_late_store,
    &may_late_store_that_releases,
    &may_late_store_over_a_swap,
    &never_late_store,
    &never_late_store_fence,
    &never_late_store_by_a_third,
    &may_sb_relaxed,
    &may_sb_release_acquire,
    &may_sb_acq_rel_fences,
    &may_sb_one_fence,
    &never_sb_fences,
    &never_sb_sc,
    &never_sb_swaps,
    &may_sb_swaps_acq_rel,
    &may_sb_sc_stores,
    &may_sb_sc_loads,
    &may_sb_sc_elsewhere,
    &never_sb_fence_and_sc,
    &never_sb_light_and_heavy,
    &never_sb_heavy_twice,
    &may_sb_light_twice,
    &may_lb_relaxed,
    &may_lb_only_acquire,
    &may_lb_only_release,
    &never_lb,
    &never_lb_both,
    &never_lb_fences,
    &never_lb_sc_fences,
    &never_lb_by_a_third,
    &may_lb_by_a_relaxed_third,
    &never_lb_thin_air,
    &may_lb_one_depends,
    &may_lb_add,
    &never_lb_add,
    &never_lb_backwards,
    &never_lb_backwards_elsewhere,
    &never_lb_fence_behind,
    &may_iriw_acquire,
    &never_iriw_sc,
    &may_iriw_sc_but_one_load,
    &never_iriw_fences,
    &may_iriw_one_fence,
    &never_read_backwards,
    &never_read_before_own,
    &never_read_backwards_elsewhere,
    &may_read_backwards_elsewhere,
    &never_two_orders,
    &may_read_the_middle,
    &never_wrc,
    &may_isa2_relaxed_between,
    &never_isa2,
    &never_isa2_fences,
    &never_fence_then_message,
    &may_fence_then_relaxed_message,
    &never_sc_fence_then_message,
    &never_sc_looked_at_later,
    &never_add_lost,
    &never_swap_twice,
    &may_add_relaxed,
    &never_add_acq_rel,
    &never_sequence,
    &never_sequence_down,
    &never_sequence_of_swaps,
    &never_sequence_of_a_fence,
    &never_sequence_of_two,
    &may_sequence_ended,
    &may_sequence_ended_by_oneself,
    &may_sequence_carrier,
    &race_sequence_carrier,
    &never_swap_acquires,
    &may_swap_fail_by_an_old_value,
    &never_swap_fail_acquires,
    &may_swap_fail_relaxed,
    &never_swap_fail_sc,
    NULL,
};
