/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Two domains without coherent memory, as the port offers it: what one writes and cleans, before it
 * says so and rings, the other reads after it has heard of it and invalidated.
 *
 * Actors: 0 and 1, who by turns write the whole of a message and ring the other's bell. A bell may
 * be heard late, and once for several rings.
 */
#include "base/atomic.h"
#include "port/port.h"
#include "scenarios.h"

#define MESSAGES 6u
#define WORDS 24u /* more than a line, and not whole lines */

typedef struct shared {
    atomic32 sent; /* how many messages; in memory that nobody caches */
} shared;

typedef struct notes {
    med_port_doorbell bells[2];
} notes;

static void
begin(const sim_actor *director)
{
    notes *n = director->notes;
    for (uint32_t i = 0; i < 2; i++) {
        SIM_CHECK(med_port_doorbell_create(&n->bells[i]) == MEDLEY_OK);
    }
}

static void
send(const sim_actor *actor, uint32_t number)
{
    shared *s = actor->memory;
    const notes *n = actor->notes;
    uint32_t *message = actor->cached;
    for (uint32_t i = 0; i < WORDS; i++) {
        message[i] = number + i;
    }
    med_port_cache_clean(message, WORDS * sizeof *message); /* C1 in memory -> I1 (receive) */
    atomic32_store_release(&s->sent, number);               /* R1 sent -> A1 (receive) */
    SIM_CHECK(med_port_doorbell_ring(n->bells[1 - actor->index]) == MEDLEY_OK);
}

static void
receive(const sim_actor *actor, uint32_t number)
{
    shared *s = actor->memory;
    const notes *n = actor->notes;
    uint32_t *message = actor->cached;
    while (atomic32_load_acquire(&s->sent) < number) { /* A1 sent <- R1 (send) */
        uint64_t rings;
        SIM_CHECK(med_port_doorbell_wait(n->bells[actor->index], MED_PORT_FOREVER, &rings) ==
                  MEDLEY_OK);
        SIM_CHECK(rings != 0);
    }
    med_port_cache_invalidate(message, WORDS * sizeof *message); /* I1 in memory <- C1 (send) */
    for (uint32_t i = 0; i < WORDS; i++) {
        SIM_CHECK(message[i] == number + i);
    }
}

static void
act(const sim_actor *actor)
{
    for (uint32_t number = 1; number <= MESSAGES; number++) {
        (number % 2 == actor->index ? send : receive)(actor, number);
    }
}

const sim_scenario sim_cache = {
    .name = "cache",
    .covers = "cache_sim",
    .memory_bytes = sizeof(shared),
    .cached_bytes = WORDS * sizeof(uint32_t),
    .actors = 2,
    .begin = begin,
    .act = act,
};
