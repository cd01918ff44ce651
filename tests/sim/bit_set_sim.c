/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The bit set and the pool: an entry has one owner, who sees what was written to what it stands for
 * by the owners before him; a dead one's come back; none is lost.
 *
 * Actors: 0 to 2 take and give, 3 recovers.
 */
#include "base/pool.h"
#include "port/port.h"
#include "scenarios.h"

#define TAKERS 3u
#define ROUNDS 5u
#define CAPACITY 4u
#define BUFFER_BYTES 16u
#define CACHE 2u
#define MEMORY_BYTES 4096u
#define TAG 7u

typedef struct notes {
    uint32_t had_by[CAPACITY]; /* index + 1 of who uses it */
} notes;

/* ---- The bit set ----------------------------------------------------------------------------- */

#define SET_BYTES 1024u

/* What each entry stands for lies behind the set, plain. */
static uint32_t *
thing_of(const sim_actor *actor, uint32_t index)
{
    return (uint32_t *)(void *)((uint8_t *)actor->memory + SET_BYTES) + index;
}

static void
begin_set(const sim_actor *director)
{
    med_bit_set set;
    SIM_CHECK(med_bit_set_init(director->memory, SET_BYTES, CAPACITY, &set) == MEDLEY_OK);
}

static void
use(const sim_actor *actor, uint32_t index, uint32_t *thing)
{
    notes *n = actor->notes;
    SIM_CHECK(n->had_by[index] == 0);
    n->had_by[index] = actor->index + 1;
    *thing += 1;
    med_port_yield();
    SIM_CHECK(n->had_by[index] == actor->index + 1);
    *thing += 1;
    n->had_by[index] = 0;
}

static void
take_and_give(const sim_actor *actor, const med_bit_set *set)
{
    uint32_t me = actor->index + 1;
    med_bit_set_slot slots[2];
    uint32_t count = 0;
    while (count < 1 + sim_random(2)) {
        uint32_t start = sim_random(2) == 0 ? MED_BIT_SET_LOWEST : sim_random(CAPACITY);
        if (med_bit_set_take(set, me, start, &slots[count]) != MEDLEY_OK) {
            break;
        }
        count++;
    }
    for (uint32_t i = 0; i < count; i++) {
        use(actor, slots[i].index, thing_of(actor, slots[i].index));
        SIM_CHECK(med_bit_set_check(set, slots[i], me) == MEDLEY_OK);
        SIM_CHECK(med_bit_set_give(set, slots[i], me) == MEDLEY_OK);
        SIM_CHECK(med_bit_set_give(set, slots[i], me) != MEDLEY_OK);
    }
}

/* Who uses what a dead one had, in the notes: nobody, before anybody can. */
static void
bury(notes *n, uint32_t dead)
{
    for (uint32_t index = 0; index < CAPACITY; index++) {
        if (n->had_by[index] == dead + 1) {
            n->had_by[index] = 0;
        }
    }
}

static void
act_set(const sim_actor *actor)
{
    med_bit_set set;
    SIM_CHECK(med_bit_set_attach(actor->memory, SET_BYTES, &set) == MEDLEY_OK);
    for (uint32_t round = 0; actor->index < TAKERS && round < ROUNDS; round++) {
        take_and_give(actor, &set);
    }
    uint32_t dead;
    while (actor->index == TAKERS && (dead = sim_await_death()) != UINT32_MAX) {
        bury(actor->notes, dead);
        (void)med_bit_set_recover(&set, dead + 1);
    }
}

static void
end_set(const sim_actor *director)
{
    med_bit_set set;
    uint16_t indices[CAPACITY + 1];
    SIM_CHECK(med_bit_set_attach(director->memory, SET_BYTES, &set) == MEDLEY_OK);
    SIM_CHECK(med_bit_set_claim(&set, 9, MED_BIT_SET_LOWEST, indices, CAPACITY + 1) == CAPACITY);
}

const sim_scenario sim_bit_set = {
    .name = "bit_set",
    .covers = "bit_set",
    .memory_bytes = MEMORY_BYTES,
    .actors = TAKERS + 1,
    .deaths = 2,
    .mortal = 7,
    .begin = begin_set,
    .act = act_set,
    .end = end_set,
};

/* ---- The pool -------------------------------------------------------------------------------- */

static void
begin_pool(const sim_actor *director)
{
    med_pool pool;
    SIM_CHECK(med_pool_init(director->memory, MEMORY_BYTES, CAPACITY, BUFFER_BYTES, TAG, &pool) ==
              MEDLEY_OK);
}

static void
act_pool(const sim_actor *actor)
{
    med_pool pool;
    SIM_CHECK(med_pool_attach(actor->memory, MEMORY_BYTES, &pool) == MEDLEY_OK);
    if (actor->index < TAKERS) {
        med_pool_cache cache;
        med_pool_cache_init(&cache, actor->index + 1, sim_random(CACHE + 1));
        for (uint32_t round = 0; round < ROUNDS; round++) {
            med_pool_buffer buffer;
            if (med_pool_take(&pool, &cache, &buffer) == MEDLEY_OK) {
                use(actor, buffer.place & 0xffffu, med_pool_address(&pool, buffer));
                SIM_CHECK(med_pool_give(&pool, &cache, buffer) == MEDLEY_OK);
            }
        }
        med_pool_cache_flush(&pool, &cache);
    }
    uint32_t dead;
    while (actor->index == TAKERS && (dead = sim_await_death()) != UINT32_MAX) {
        bury(actor->notes, dead);
        (void)med_pool_recover(&pool, dead + 1);
    }
}

static void
end_pool(const sim_actor *director)
{
    med_pool pool;
    med_pool_statistics statistics;
    SIM_CHECK(med_pool_attach(director->memory, MEMORY_BYTES, &pool) == MEDLEY_OK);
    med_pool_statistics_get(&pool, &statistics);
    SIM_CHECK(statistics.in_use == 0 && statistics.cached == 0);
}

const sim_scenario sim_pool = {
    .name = "pool",
    .covers = "bit_set pool",
    .memory_bytes = MEMORY_BYTES,
    .actors = TAKERS + 1,
    .deaths = 2,
    .mortal = 7,
    .begin = begin_pool,
    .act = act_pool,
    .end = end_pool,
};
