/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The ring with many producers and one consumer: each producer's elements arrive whole, once, and
 * in its order, also when it leaves and comes back, and when another had its lane before; consumers
 * take turns; who is killed is recovered.
 *
 * Actors: 0 to 2 produce, 3 and 4 consume, 5 recovers.
 */
#include "base/ring_mpsc.h"
#include "scenarios.h"

#define PRODUCERS 3u
#define CONSUMERS 2u
#define MESSAGES 5u
#define LANES 2u
#define FIRST (UINT32_MAX - 2u)
#define MEMORY_BYTES 4096u

typedef struct message {
    uint32_t producer;
    uint32_t number;
    uint32_t check[2];
} message;

typedef struct notes {
    uint32_t begun[PRODUCERS];     /* messages whose commit was begun */
    uint32_t committed[PRODUCERS]; /* that was over */
    uint32_t seen[PRODUCERS];      /* messages that were released */
    bool again[PRODUCERS];         /* the last of them may come again */
    bool over;
} notes;

static void
begin(const sim_actor *director)
{
    med_ring_mpsc_config config = {
        .element_bytes = sizeof(message), .capacity = 2, .lanes = LANES, .first_index = FIRST};
    SIM_CHECK(med_ring_mpsc_init(director->memory, MEMORY_BYTES, &config) == MEDLEY_OK);
}

/* ---- Producers ------------------------------------------------------------------------------- */

static void
push(const sim_actor *actor, med_ring_mpsc_producer *producer)
{
    notes *n = actor->notes;
    uint32_t number = n->begun[actor->index];
    void *slot;
    if (sim_random(4) == 0 && med_ring_mpsc_reserve(producer, &slot) == MEDLEY_OK) {
        med_ring_mpsc_reserve_cancel(producer);
    }
    SIM_CHECK(med_ring_mpsc_reserve_until(producer, MED_PORT_FOREVER, &slot) == MEDLEY_OK);
    *(message *)slot = (message){actor->index, number, {number * 3, ~number}};
    n->begun[actor->index]++;
    med_ring_mpsc_commit(producer);
    n->committed[actor->index] = n->begun[actor->index];
}

static void
produce(const sim_actor *actor, const med_ring_mpsc_view *view)
{
    const notes *n = actor->notes;
    while (n->begun[actor->index] < MESSAGES) {
        med_ring_mpsc_producer producer;
        medley_status_t status = med_ring_mpsc_producer_join(&producer, view, actor->index + 1);
        if (status != MEDLEY_OK) {
            SIM_CHECK(status == MEDLEY_BUSY || status == MEDLEY_ERR_LIMIT);
            med_port_yield();
            continue;
        }
        uint32_t some = 1 + sim_random(3);
        for (uint32_t i = 0; i < some && n->begun[actor->index] < MESSAGES; i++) {
            push(actor, &producer);
        }
        SIM_CHECK(med_ring_mpsc_producer_leave(&producer) == MEDLEY_OK);
    }
}

/* ---- The consumer ---------------------------------------------------------------------------- */

/* Nothing more comes: of the dead, whatever they committed is visible now. */
static bool
is_over(const notes *n)
{
    bool over = true;
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        over = (n->seen[i] == MESSAGES || sim_is_dead(i)) && over;
    }
    return over;
}

static medley_status_t
each_slice(void *context)
{
    return is_over(context) ? MEDLEY_ERR_PEER_DIED : MEDLEY_OK;
}

static void
look_at(notes *n, const message *m)
{
    SIM_CHECK(m->producer < PRODUCERS);
    uint32_t number = n->seen[m->producer];
    if (n->again[m->producer] && m->number + 1 == number) {
        number = --n->seen[m->producer];
    }
    n->again[m->producer] = false;
    SIM_CHECK(m->number == number && number < n->begun[m->producer]);
    SIM_CHECK(m->check[0] == number * 3 && m->check[1] == ~number);
}

static void
release(notes *n, med_ring_mpsc_consumer *consumer, uint32_t producer)
{
    n->seen[producer]++;
    n->again[producer] = true; /* until the release is over */
    med_ring_mpsc_release(consumer);
    n->again[producer] = false;
}

/* A turn of a few elements. False: nothing more comes. */
static bool
consume_some(notes *n, med_ring_mpsc_consumer *consumer)
{
    uint32_t some = 1 + sim_random(4);
    consumer->lane.sleep.each_slice = each_slice;
    consumer->lane.sleep.context = n;
    for (uint32_t i = 0; i < some;) {
        bool over = is_over(n);
        void *element;
        medley_status_t status =
            over || sim_random(2) == 0
                ? med_ring_mpsc_peek(consumer, &element)
                : med_ring_mpsc_peek_until(consumer, MED_PORT_FOREVER, &element);
        SIM_CHECK(status != MEDLEY_ERR_CORRUPT);
        if (status == MEDLEY_OK) {
            uint32_t producer = ((const message *)element)->producer;
            look_at(n, element);
            release(n, consumer, producer);
            i++;
        } else if (over) {
            return false;
        } else {
            med_port_yield();
        }
    }
    return true;
}

static void
consume(const sim_actor *actor, const med_ring_mpsc_view *view)
{
    notes *n = actor->notes;
    while (!n->over) {
        med_ring_mpsc_consumer consumer;
        if (med_ring_mpsc_consumer_join(&consumer, view, actor->index + 1) != MEDLEY_OK) {
            med_port_yield();
            continue;
        }
        n->over = !consume_some(n, &consumer);
        SIM_CHECK(med_ring_mpsc_consumer_leave(&consumer) == MEDLEY_OK);
        med_port_yield();
    }
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void
act(const sim_actor *actor)
{
    med_ring_mpsc_view view;
    SIM_CHECK(med_ring_mpsc_attach(&view, actor->memory, MEMORY_BYTES, MED_PORT_SCOPE_SHARED) ==
              MEDLEY_OK);
    if (actor->index < PRODUCERS) {
        produce(actor, &view);
    } else if (actor->index < PRODUCERS + CONSUMERS) {
        consume(actor, &view);
    } else {
        uint32_t dead;
        while ((dead = sim_await_death()) != UINT32_MAX) {
            (void)med_ring_mpsc_recover(&view, dead + 1);
        }
    }
}

static void
end(const sim_actor *director)
{
    const notes *n = director->notes;
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        SIM_CHECK(n->seen[i] >= n->committed[i] && n->seen[i] <= n->begun[i]);
    }
}

const sim_scenario sim_ring_mpsc = {
    .name = "ring_mpsc",
    .covers = "ring_mpsc",
    .memory_bytes = MEMORY_BYTES,
    .actors = PRODUCERS + CONSUMERS + 1,
    .deaths = 1,
    .mortal = 0x1f,
    .waits_forever = true,
    .begin = begin,
    .act = act,
    .end = end,
};
