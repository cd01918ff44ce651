/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the simulator must find: a world of its own, in which each scenario does one thing wrong.
 * Its name begins with the kind of failure that some seed must end with (never_: that none may):
 * tests/sim/litmus_test.py.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "port/port.h"
#include "sim.h"

#define BYTES 64u

typedef struct thing {
    uint64_t words[5];
} thing;

typedef struct shared {
    uint32_t word; /* atomic */
    _Alignas(64) uint8_t bytes[BYTES];
    uint8_t more[BYTES];
    thing things[2];
    uintptr_t address; /* published by `word` */
} shared;

static uint32_t variable;    /* each process has its own, */
static const uint32_t *kept; /* and of this only the director's */

static void
begin(const sim_actor *director)
{
    kept = director->memory;
}

static void
publish(shared *s, const void *address)
{
    s->address = (uintptr_t)address;
    __atomic_store_n(&s->word, 1, __ATOMIC_RELEASE);
}

/* NULL: not yet. */
static uint8_t *
published(shared *s)
{
    return __atomic_load_n(&s->word, __ATOMIC_ACQUIRE) ? (uint8_t *)s->address : NULL;
}

/* Actor 1 reads what actor 0 gave it a pointer to. */
static void
follow(const sim_actor *actor, const void *address)
{
    shared *s = actor->memory;
    if (actor->index == 0) {
        publish(s, address);
    } else if (published(s)) {
        (void)*(volatile uint8_t *)published(s);
    }
}

static void
act_shared(const sim_actor *actor)
{
    follow(actor, ((shared *)actor->memory)->bytes);
}

static void
act_variable(const sim_actor *actor)
{
    follow(actor, &variable);
}

static void
act_private(const sim_actor *actor)
{
    void *mine;
    SIM_CHECK(med_port_memory_map(BYTES, &mine) == MEDLEY_OK);
    follow(actor, mine);
}

static void
act_kept(const sim_actor *actor)
{
    (void)actor;
    (void)*(const volatile uint32_t *)kept;
}

static void
act_kept_copied(const sim_actor *actor)
{
    memcpy(actor->memory, kept, BYTES);
}

static void
act_kept_atomic(const sim_actor *actor)
{
    (void)actor;
    (void)__atomic_load_n(kept, __ATOMIC_RELAXED);
}

/* In the upper half, where no process has anything. */
#define NOWHERE ((uintptr_t)1 << 63)

static void
act_read_nowhere(const sim_actor *actor)
{
    (void)actor;
    (void)*(const volatile uint8_t *)NOWHERE;
}

static void
act_jump_nowhere(const sim_actor *actor)
{
    ((void (*)(const sim_actor *))NOWHERE)(actor);
}

/* Nothing is copied from there, or to there. */
static void
act_nothing_copied(const sim_actor *actor)
{
    size_t none = sim_random(1);
    memcpy(actor->memory, kept, none);
    memmove((void *)(uintptr_t)kept, actor->memory, none);
    memset((void *)(uintptr_t)kept, 0, none);
}

/* Both wait, and nobody wakes. */
static void
act_asleep(const sim_actor *actor)
{
    (void)med_port_wait(&((shared *)actor->memory)->word, 0, MED_PORT_FOREVER,
                        MED_PORT_SCOPE_SHARED);
}

static void
act_spin(const sim_actor *actor)
{
    while (__atomic_load_n(&((shared *)actor->memory)->word, __ATOMIC_RELAXED) == 0) {
    }
}

static void
act_cached_atomic(const sim_actor *actor)
{
    __atomic_store_n((uint32_t *)actor->cached, 1, __ATOMIC_RELAXED);
}

/* Actor 1 sees in its cache what was there before, though actor 0 came before. */
static void
act_cached_old(const sim_actor *actor)
{
    shared *s = actor->memory;
    volatile uint32_t *word = actor->cached;
    if (actor->index == 0) {
        *word = 1;
        __atomic_store_n(&s->word, 1, __ATOMIC_RELEASE);
    } else if (__atomic_load_n(&s->word, __ATOMIC_ACQUIRE)) {
        SIM_CHECK(*word == 1);
    }
}

/* ---- Copies: raced with, and cut off --------------------------------------------------------- */

/* Actor 0 does one of these; actor 1 does the opposite. */
static void
act_set(const sim_actor *actor)
{
    memset(((shared *)actor->memory)->bytes, (int)actor->index, BYTES);
}

static void
act_copy(const sim_actor *actor)
{
    shared *s = actor->memory;
    memcpy(actor->index ? s->bytes : s->more, actor->index ? s->more : s->bytes, BYTES);
}

static void
act_move(const sim_actor *actor)
{
    shared *s = actor->memory;
    memmove(actor->index ? s->bytes : s->more, actor->index ? s->more : s->bytes, BYTES);
}

static void
act_assign(const sim_actor *actor)
{
    shared *s = actor->memory;
    s->things[actor->index] = s->things[1 - actor->index];
}

static void
act_compare(const sim_actor *actor)
{
    shared *s = actor->memory;
    if (actor->index) {
        s->more[BYTES - 1] = 1;
    } else {
        SIM_CHECK(memcmp(s->bytes, s->more, BYTES) <= 0);
    }
}

/* Actor 0 dies in the middle of a copy, and actor 1 finds a half of it. */
static void
find_half(const sim_actor *actor, void (*fill)(shared *s))
{
    shared *s = actor->memory;
    if (actor->index == 0) {
        fill(s);
    } else if (sim_join(0)) {
        SIM_CHECK(s->bytes[BYTES - 1] == s->bytes[0]);
    }
}

static void
fill_by_copy(shared *s)
{
    uint8_t ones[BYTES];
    memset(ones, 1, sizeof ones);
    memcpy(s->bytes, ones, BYTES);
}

static void
fill_by_move(shared *s)
{
    uint8_t ones[BYTES];
    memset(ones, 1, sizeof ones);
    memmove(s->bytes, ones, BYTES);
}

static void
fill_by_set(shared *s)
{
    memset(s->bytes, 1, BYTES);
}

static void
act_half_copied(const sim_actor *actor)
{
    find_half(actor, fill_by_copy);
}

static void
act_half_moved(const sim_actor *actor)
{
    find_half(actor, fill_by_move);
}

static void
act_half_set(const sim_actor *actor)
{
    find_half(actor, fill_by_set);
}

/* Up and down by less than its length: as by way of a third place. */
static void
act_overlap(const sim_actor *actor)
{
    shared *s = actor->memory;
    if (actor->index != 0) {
        return;
    }
    for (uint32_t i = 0; i < BYTES; i++) {
        s->bytes[i] = s->more[i] = (uint8_t)i;
    }
    memmove(s->bytes + 3, s->bytes, BYTES - 3);
    memmove(s->more, s->more + 3, BYTES - 3);
    for (uint32_t i = 0; i < BYTES - 3; i++) {
        SIM_CHECK(s->bytes[i + 3] == i && s->more[i] == i + 3);
    }
}

/* Actor 1 may not. */
static void
act_dies(const sim_actor *actor)
{
    if (actor->index == 1) {
        sim_die();
    }
}

/* Actor 0 may, and has gone then, with all it did. */
static void
act_dies_here(const sim_actor *actor)
{
    shared *s = actor->memory;
    if (actor->index == 0) {
        s->bytes[0] = 1;
        sim_die();
    }
    SIM_CHECK(!sim_join(0) || s->bytes[0] == 0);
}

/* ---- All of them ----------------------------------------------------------------------------- */

#define SCENARIO(what, does)                                                                       \
    static const sim_scenario what = {                                                             \
        .name = #what,                                                                             \
        .covers = "",                                                                              \
        .memory_bytes = sizeof(shared),                                                            \
        .cached_bytes = BYTES,                                                                     \
        .actors = 2,                                                                               \
        .deaths = 1,                                                                               \
        .mortal = 1,                                                                               \
        .begin = begin,                                                                            \
        .act = does,                                                                               \
    };

SCENARIO(foreign_shared, act_shared)
SCENARIO(foreign_variable, act_variable)
SCENARIO(foreign_private, act_private)
SCENARIO(foreign_kept, act_kept)
SCENARIO(foreign_kept_copied, act_kept_copied)
SCENARIO(foreign_kept_atomic, act_kept_atomic)
SCENARIO(crash_read, act_read_nowhere)
SCENARIO(crash_jump, act_jump_nowhere)
SCENARIO(never_copied, act_nothing_copied)
SCENARIO(deadlock_asleep, act_asleep)
SCENARIO(livelock_spin, act_spin)
SCENARIO(race_set, act_set)
SCENARIO(race_copy, act_copy)
SCENARIO(race_move, act_move)
SCENARIO(race_assign, act_assign)
SCENARIO(race_compare, act_compare)
SCENARIO(wrong_cached_atomic, act_cached_atomic)
SCENARIO(wrong_cached_old, act_cached_old)
SCENARIO(wrong_half_copied, act_half_copied)
SCENARIO(wrong_half_moved, act_half_moved)
SCENARIO(wrong_half_set, act_half_set)
SCENARIO(wrong_dies, act_dies)
SCENARIO(wrong_dies_here, act_dies_here)
SCENARIO(never_overlap, act_overlap)

__attribute__((visibility("default"))) const sim_scenario *const sim_scenarios[] = {
    &foreign_shared,
    &foreign_variable,
    &foreign_private,
    &foreign_kept,
    &foreign_kept_copied,
    &foreign_kept_atomic,
    &crash_read,
    &crash_jump,
    &never_copied,
    &deadlock_asleep,
    &livelock_spin,
    &race_set,
    &race_copy,
    &race_move,
    &race_assign,
    &race_compare,
    &wrong_cached_atomic,
    &wrong_cached_old,
    &wrong_half_copied,
    &wrong_half_moved,
    &wrong_half_set,
    &wrong_dies,
    &wrong_dies_here,
    &never_overlap,
    NULL,
};
