/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The ring with many producers and many consumers: each element arrives whole and once, those of
 * one producer at one consumer in their order; what a dead producer had reserved is passed over,
 * what a dead consumer had taken is salvaged or lost.
 *
 * Actors: 0 and 1 produce, 2 and 3 consume, 4 recovers, and consumes after a dead consumer.
 */
#include "base/ring_mpmc.h"
#include "scenarios.h"

#define PRODUCERS 2u
#define ACTORS 5u
#define MESSAGES 5u
#define FIRST (UINT32_MAX - 2u)
#define MEMORY_BYTES 4096u

typedef struct message {
    uint32_t producer;
    uint32_t number;
    uint32_t check[2];
} message;

typedef struct notes {
    uint32_t begun[PRODUCERS]; /* messages whose commit was begun */
    uint32_t committed[PRODUCERS];
    uint32_t wanted; /* messages that consumers have set out to get */
    bool seen[PRODUCERS][MESSAGES];
    uint32_t last[ACTORS][PRODUCERS]; /* number + 1 of the last that this consumer got */
    bool in_hand[ACTORS];             /* a consumer is at it: killed, its element may be lost */
} notes;

static void
begin(const sim_actor *director)
{
    med_ring_mpmc_config config = {
        .element_bytes = sizeof(message), .capacity = 2, .sides = ACTORS, .first_index = FIRST};
    SIM_CHECK(med_ring_mpmc_init(director->memory, MEMORY_BYTES, &config) == MEDLEY_OK);
}

/* Beside the one whose duty it is; at any time, and also late. */
static void
look_for_dead(const med_ring_mpmc_side *side)
{
    for (uint32_t i = PRODUCERS; i < 4; i++) {
        if (sim_is_dead(i)) {
            (void)med_ring_mpmc_recover(&side->view, i + 1, NULL);
        }
    }
}

static void
produce(const sim_actor *actor, med_ring_mpmc_side *side)
{
    notes *n = actor->notes;
    for (uint32_t number = 0; number < MESSAGES; number++) {
        void *slot;
        if (sim_random(4) == 0 && med_ring_mpmc_reserve(side, &slot) == MEDLEY_OK) {
            ((message *)slot)->number = UINT32_MAX;
            med_ring_mpmc_reserve_cancel(side);
        }
        look_for_dead(side);
        SIM_CHECK(med_ring_mpmc_reserve_until(side, MED_PORT_FOREVER, &slot) == MEDLEY_OK);
        *(message *)slot = (message){actor->index, number, {number * 3, ~number}};
        n->begun[actor->index]++;
        med_ring_mpmc_commit(side);
        n->committed[actor->index]++;
    }
}

/* ---- Consumers ------------------------------------------------------------------------------- */

static void
look_at(notes *n, const message *m)
{
    SIM_CHECK(m->producer < PRODUCERS && m->number < MESSAGES);
    SIM_CHECK(m->check[0] == m->number * 3 && m->check[1] == ~m->number);
    SIM_CHECK(m->number < n->begun[m->producer] && !n->seen[m->producer][m->number]);
}

/* Nothing more comes, but for what a dead producer left to be passed over. */
static bool
is_over(void)
{
    bool over = true;
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        over = sim_has_ended(i) && over;
    }
    return over;
}

static medley_status_t
each_slice(void *context)
{
    (void)context;
    return is_over() ? MEDLEY_ERR_PEER_DIED : MEDLEY_OK;
}

static void
consumed(const sim_actor *actor, med_ring_mpmc_side *side, const message *m)
{
    notes *n = actor->notes;
    look_at(n, m);
    uint32_t *last = &n->last[actor->index][m->producer];
    SIM_CHECK(m->number >= *last);
    *last = m->number + 1;
    n->seen[m->producer][m->number] = true;
    n->in_hand[actor->index] = false;
    med_ring_mpmc_release(side);
}

/* As many as there will be, if nobody dies; else until nothing more comes. */
static void
consume(const sim_actor *actor, med_ring_mpmc_side *side)
{
    notes *n = actor->notes;
    side->sleep.each_slice = each_slice;
    while (n->wanted < PRODUCERS * MESSAGES) {
        n->wanted++;
        for (;;) {
            bool over = is_over() && sim_has_ended(4);
            void *element;
            n->in_hand[actor->index] = true;
            medley_status_t status =
                med_ring_mpmc_take_until(side, over ? 0 : MED_PORT_FOREVER, &element);
            if (status == MEDLEY_OK) {
                consumed(actor, side, element);
                break;
            }
            SIM_CHECK(status != MEDLEY_ERR_CORRUPT);
            n->in_hand[actor->index] = false;
            if (over) {
                return;
            }
            med_port_yield();
        }
    }
}

/* ---- Who recovers ---------------------------------------------------------------------------- */

static void
keep(void *context, const void *element)
{
    const sim_actor *actor = context;
    notes *n = actor->notes;
    const message *m = element;
    if (!n->seen[m->producer][m->number]) {
        look_at(n, m);
        n->seen[m->producer][m->number] = true;
    }
}

/* With the dead one's place goes his number of elements: what is left is taken until none comes. */
static void
take_the_rest(const sim_actor *actor, med_ring_mpmc_side *side)
{
    notes *n = actor->notes;
    for (;;) {
        bool over = is_over();
        void *element;
        medley_status_t status = med_ring_mpmc_take(side, &element);
        SIM_CHECK(status != MEDLEY_ERR_CORRUPT);
        if (status == MEDLEY_OK) {
            consumed(actor, side, element);
        } else if (over) {
            n->wanted = PRODUCERS * MESSAGES;
            return;
        } else {
            med_port_yield();
        }
    }
}

static void
inherit(const sim_actor *actor, const med_ring_mpmc_view *view, med_ring_mpmc_side *side)
{
    sim_actor me = *actor;
    med_ring_mpmc_salvage salvage = {side, keep, &me};
    uint32_t dead = sim_await_death();
    if (dead == UINT32_MAX) {
        return;
    }
    bool salvages = sim_random(2) == 0;
    (void)med_ring_mpmc_recover(view, dead + 1, salvages ? &salvage : NULL);
    if (dead >= PRODUCERS) {
        /* The dead one's side is had anew while others may still be recovering it. */
        SIM_CHECK(med_ring_mpmc_leave(side) == MEDLEY_OK);
        SIM_CHECK(med_ring_mpmc_join(side, view, actor->index + 1) == MEDLEY_OK);
        take_the_rest(actor, side);
    }
}

static void
act(const sim_actor *actor)
{
    med_ring_mpmc_view view;
    med_ring_mpmc_side side;
    SIM_CHECK(med_ring_mpmc_attach(&view, actor->memory, MEMORY_BYTES, MED_PORT_SCOPE_SHARED) ==
              MEDLEY_OK);
    SIM_CHECK(med_ring_mpmc_join(&side, &view, actor->index + 1) == MEDLEY_OK);
    if (actor->index < PRODUCERS) {
        produce(actor, &side);
    } else if (actor->index < 4) {
        consume(actor, &side);
    } else {
        inherit(actor, &view, &side);
    }
    SIM_CHECK(med_ring_mpmc_leave(&side) == MEDLEY_OK);
}

static void
end(const sim_actor *director)
{
    const notes *n = director->notes;
    uint32_t lost = 0;
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        for (uint32_t number = 0; number < n->committed[i]; number++) {
            lost += !n->seen[i][number];
        }
    }
    SIM_CHECK(lost <= (uint32_t)n->in_hand[2] + n->in_hand[3]);
}

const sim_scenario sim_ring_mpmc = {
    .name = "ring_mpmc",
    .covers = "ring_mpmc",
    .memory_bytes = MEMORY_BYTES,
    .actors = ACTORS,
    .deaths = 1,
    .mortal = 0xf,
    .waits_forever = true,
    .begin = begin,
    .act = act,
    .end = end,
};
