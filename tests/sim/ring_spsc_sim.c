/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The ring with one producer and one consumer: what is taken out is what was put in, in order and
 * whole; a side that is killed is replaced by an heir, who goes on from the shared words.
 *
 * Actors: 0 produces, 1 consumes, 2 takes the place of whoever is killed.
 *
 * ring_answer: each message is answered before the next one comes. In a stream whoever is not woken
 * for one element is woken where his peer stops next; here there is none that comes next.
 * Actors: 0 asks, 1 answers.
 */
#include <string.h>

#include "base/ring_spsc.h"
#include "scenarios.h"

#define MESSAGES 12u
#define QUESTIONS 32u
#define FIRST (UINT32_MAX - 5u) /* counters wrap on the way */
#define CAPACITY 4u
#define WORDS 5u
#define MEMORY_BYTES 4096u

typedef struct message {
    uint32_t words[WORDS];
} message;

/* What is true; of `begun` one may be lost with its producer, of `seen` one may come again. */
typedef struct notes {
    uint32_t begun;     /* messages whose commit was begun */
    uint32_t committed; /* and that have returned from it */
    uint32_t seen;      /* messages that were looked at */
    uint32_t released;  /* messages whose release was begun */
} notes;

static void
begin_with(const sim_actor *director, med_ring_layout layout)
{
    med_ring_config config = {.layout = layout,
                              .element_bytes = sizeof(message),
                              .capacity = CAPACITY,
                              .first_index = FIRST};
    SIM_CHECK(med_ring_init(director->memory, MEMORY_BYTES, &config) == MEDLEY_OK);
}

static void
begin_line(const sim_actor *director)
{
    begin_with(director, MED_RING_LINE);
}

static void
begin_packed(const sim_actor *director)
{
    begin_with(director, MED_RING_PACKED);
}

/* ---- The producer ---------------------------------------------------------------------------- */

static void
fill(void *slot, uint32_t number)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        ((message *)slot)->words[i] = number * WORDS + i;
    }
}

static void
commit_one(med_ring_producer *producer, notes *n, void *slot)
{
    fill(slot, n->begun);
    n->begun++;
    med_ring_commit(producer);
    n->committed = n->begun;
}

static void
commit_many(med_ring_producer *producer, notes *n)
{
    void *slots;
    uint32_t count;
    uint32_t wanted = MESSAGES - n->begun < 3 ? MESSAGES - n->begun : 3;
    if (med_ring_reserve_many(producer, wanted, &slots, &count) != MEDLEY_OK) {
        med_port_yield();
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        fill((uint8_t *)slots + (size_t)i * producer->view.stride_bytes, n->begun + i);
    }
    n->begun += count;
    med_ring_commit_many(producer, count);
    n->committed = n->begun;
}

/* An heir asks the ring what arrived. */
static void
produce(const sim_actor *actor, bool heir)
{
    notes *n = actor->notes;
    med_ring_producer producer;
    SIM_CHECK(med_ring_producer_attach(&producer, actor->memory, MEMORY_BYTES,
                                       MED_PORT_SCOPE_SHARED) == MEDLEY_OK);
    uint32_t tail = med_ring_tail(&producer) - FIRST;
    if (heir) {
        SIM_CHECK(tail >= n->committed && tail <= n->begun);
        n->begun = n->committed = tail;
    }
    while (n->begun < MESSAGES) {
        void *slot;
        if (sim_random(3) == 0) {
            commit_many(&producer, n);
        } else if (med_ring_reserve_until(&producer, MED_PORT_FOREVER, &slot) == MEDLEY_OK) {
            commit_one(&producer, n, slot);
        }
    }
}

/* ---- The consumer ---------------------------------------------------------------------------- */

static void
look_at(const void *element, uint32_t number)
{
    const message *m = element;
    for (uint32_t i = 0; i < WORDS; i++) {
        SIM_CHECK(m->words[i] == number * WORDS + i);
    }
}

static void
release(med_ring_consumer *consumer, notes *n, uint32_t count)
{
    n->released += count;
    med_ring_release_many(consumer, count);
    n->seen = n->released;
}

static void
take_many(med_ring_consumer *consumer, notes *n)
{
    void *elements;
    uint32_t count;
    if (med_ring_peek_many(consumer, 3, &elements, &count) != MEDLEY_OK) {
        med_port_yield();
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        look_at((uint8_t *)elements + (size_t)i * consumer->view.stride_bytes, n->seen + i);
    }
    release(consumer, n, count);
}

static void
consume(const sim_actor *actor, bool heir)
{
    notes *n = actor->notes;
    med_ring_consumer consumer;
    SIM_CHECK(med_ring_consumer_attach(&consumer, actor->memory, MEMORY_BYTES,
                                       MED_PORT_SCOPE_SHARED) == MEDLEY_OK);
    if (heir) {
        uint32_t head = consumer.head - FIRST;
        SIM_CHECK(head >= n->seen && head <= n->released);
        n->seen = n->released = head;
    }
    while (n->seen < MESSAGES) {
        void *element;
        if (sim_random(3) == 0) {
            take_many(&consumer, n);
        } else if (med_ring_peek_until(&consumer, MED_PORT_FOREVER, &element) == MEDLEY_OK) {
            look_at(element, n->seen);
            release(&consumer, n, 1);
        }
    }
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void
act(const sim_actor *actor)
{
    if (actor->index == 0) {
        produce(actor, false);
    } else if (actor->index == 1) {
        consume(actor, false);
    } else {
        uint32_t dead = sim_await_death();
        if (dead == 0) {
            produce(actor, true);
        } else if (dead == 1) {
            consume(actor, true);
        }
    }
}

static void
end(const sim_actor *director)
{
    const notes *n = director->notes;
    SIM_CHECK(n->begun == MESSAGES && n->seen == MESSAGES);
}

const sim_scenario sim_ring_line = {
    .name = "ring_line",
    .covers = "ring_spsc",
    .memory_bytes = MEMORY_BYTES,
    .actors = 3,
    .deaths = 1,
    .mortal = 3,
    .waits_forever = true,
    .begin = begin_line,
    .act = act,
    .end = end,
};

const sim_scenario sim_ring_packed = {
    .name = "ring_packed",
    .covers = "ring_spsc",
    .memory_bytes = MEMORY_BYTES,
    .actors = 3,
    .deaths = 1,
    .mortal = 3,
    .waits_forever = true,
    .begin = begin_packed,
    .act = act,
    .end = end,
};

/* ---- Questions and answers ------------------------------------------------------------------- */

/* One ring is of either layout. */
static uint8_t *
questions(const sim_actor *actor)
{
    return actor->memory;
}

static uint8_t *
answers(const sim_actor *actor)
{
    return questions(actor) + MEMORY_BYTES;
}

static void
begin_answer(const sim_actor *director)
{
    med_ring_config config = {.layout = MED_RING_LINE,
                              .element_bytes = sizeof(message),
                              .capacity = CAPACITY,
                              .first_index = FIRST};
    SIM_CHECK(med_ring_init(questions(director), MEMORY_BYTES, &config) == MEDLEY_OK);
    config.layout = MED_RING_PACKED;
    SIM_CHECK(med_ring_init(answers(director), MEMORY_BYTES, &config) == MEDLEY_OK);
}

static void
put(med_ring_producer *producer, uint32_t number)
{
    void *slot;
    SIM_CHECK(med_ring_reserve_until(producer, MED_PORT_FOREVER, &slot) == MEDLEY_OK);
    fill(slot, number);
    med_ring_commit(producer);
}

static void
take(med_ring_consumer *consumer, uint32_t number)
{
    void *element;
    SIM_CHECK(med_ring_peek_until(consumer, MED_PORT_FOREVER, &element) == MEDLEY_OK);
    look_at(element, number);
    med_ring_release(consumer);
}

static void
act_answer(const sim_actor *actor)
{
    bool asks = actor->index == 0;
    med_ring_producer producer;
    med_ring_consumer consumer;
    SIM_CHECK(med_ring_producer_attach(&producer, asks ? questions(actor) : answers(actor),
                                       MEMORY_BYTES, MED_PORT_SCOPE_SHARED) == MEDLEY_OK);
    SIM_CHECK(med_ring_consumer_attach(&consumer, asks ? answers(actor) : questions(actor),
                                       MEMORY_BYTES, MED_PORT_SCOPE_SHARED) == MEDLEY_OK);
    for (uint32_t number = 0; number < QUESTIONS; number++) {
        if (asks) {
            put(&producer, number);
            take(&consumer, number);
        } else {
            take(&consumer, number);
            put(&producer, number);
        }
    }
}

const sim_scenario sim_ring_answer = {
    .name = "ring_answer",
    .covers = "",
    .memory_bytes = 2 * MEMORY_BYTES,
    .actors = 2,
    .sees_late = true,
    .waits_forever = true,
    .begin = begin_answer,
    .act = act_answer,
};
