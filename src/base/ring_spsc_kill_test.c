/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The ring with one producer and one consumer, in both layouts: either side is killed after any of
 * its instructions. What was published arrives, whole and in order; what was peeked and not
 * released is there again; the survivor goes on, and with another in the dead one's place every
 * slot of the ring is of use.
 */
#include "base/ring_spsc.h"
#include "support/numbered.h"
#include "support/process.h"
#include "support/step_kill.h"
#include "support/unit.h"

enum {
    CAPACITY = 4,
    MEMORY_BYTES = 4096
};

/* What the child has done, seen by the tester. */
typedef struct progress {
    atomic32 published; /* the last number whose commit has returned */
    atomic32 peeked;    /* the last number that a peek gave */
} progress;

static struct scene {
    med_ring_layout layout;
    void *memory;
    progress *child;
    med_ring_producer producer; /* the child's, or the tester's: whose side it is */
    med_ring_consumer consumer;
    uint32_t pushed; /* the last number that the tester pushed */
} scene;

/* ---- Both sides ------------------------------------------------------------------------------ */

static void
producer_attach(void)
{
    assert_int_equal(med_ring_producer_attach(&scene.producer, scene.memory, MEMORY_BYTES,
                                              MED_PORT_SCOPE_SHARED),
                     MEDLEY_OK);
}

static void
consumer_attach(void)
{
    assert_int_equal(med_ring_consumer_attach(&scene.consumer, scene.memory, MEMORY_BYTES,
                                              MED_PORT_SCOPE_SHARED),
                     MEDLEY_OK);
}

static void
push_next(void)
{
    numbered element = numbered_of(++scene.pushed);
    assert_int_equal(med_ring_push(&scene.producer, &element), MEDLEY_OK);
}

/* Pops all there is, which must be consecutive. The number after the last. */
static uint32_t
drain(uint32_t next)
{
    numbered element;
    medley_status_t status = med_ring_pop(&scene.consumer, &element);
    for (; status == MEDLEY_OK; status = med_ring_pop(&scene.consumer, &element)) {
        assert_int_equal(number_of(&element), next++);
    }
    assert_true(status == MEDLEY_EMPTY || status == MEDLEY_EMPTY_PRODUCER_INSERTING);
    return next;
}

/* An empty ring gives what it got and nothing else, and takes as many as it should. */
static void
check_whole(uint32_t next)
{
    numbered element;
    scene.pushed = next - 1;
    push_next();
    assert_int_equal(drain(next), next + 1);
    next++;
    for (uint32_t i = 0; i < CAPACITY; i++) {
        push_next();
    }
    element = numbered_of(0);
    assert_int_equal(med_ring_push(&scene.producer, &element), MEDLEY_FULL);
    assert_int_equal(drain(next), next + CAPACITY);
    assert_int_equal(med_ring_pop(&scene.consumer, &element), MEDLEY_EMPTY);
}

static void
set_up_with(uint32_t elements)
{
    const med_ring_config config = {.layout = scene.layout,
                                    .element_bytes = sizeof(numbered),
                                    .capacity = CAPACITY,
                                    .first_index = UINT32_MAX - 1}; /* wraps in every round */
    assert_int_equal(med_ring_init(scene.memory, MEMORY_BYTES, &config), MEDLEY_OK);
    producer_attach();
    consumer_attach();
    atomic32_store_relaxed(&scene.child->published, 0);
    atomic32_store_relaxed(&scene.child->peeked, 0);
    scene.pushed = 0;
    for (uint32_t i = 0; i < elements; i++) {
        push_next();
    }
}

static void
set_up_empty(void)
{
    set_up_with(0);
}

static void
set_up_two(void)
{
    set_up_with(2);
}

static void
set_up_full(void)
{
    set_up_with(CAPACITY);
}

/* ---- The producer is killed ------------------------------------------------------------------ */

static void
published(uint32_t number)
{
    atomic32_store_release(&scene.child->published, number);
}

static void
push_two(void)
{
    for (uint32_t number = 3; number < 5; number++) {
        numbered element = numbered_of(number);
        child_expect(med_ring_push(&scene.producer, &element) == MEDLEY_OK);
        published(number);
    }
}

static void
push_batch(void)
{
    void *slots;
    uint32_t count = 0;
    child_expect(med_ring_reserve_many(&scene.producer, 2, &slots, &count) == MEDLEY_OK);
    for (uint32_t i = 0; i < count; i++) {
        void *slot = (uint8_t *)slots + i * scene.producer.view.stride_bytes;
        *(numbered *)slot = numbered_of(3 + i);
    }
    med_ring_commit_many(&scene.producer, count);
    published(2 + count);
}

static void
push_cancelled(void)
{
    void *slot;
    child_expect(med_ring_reserve(&scene.producer, &slot) == MEDLEY_OK);
    *(numbered *)slot = numbered_of(99);
    med_ring_reserve_cancel(&scene.producer);
}

static void
push_waits(void)
{
    void *slot;
    child_expect(med_ring_reserve_until(&scene.producer, MED_PORT_FOREVER, &slot) == MEDLEY_OK);
    *(numbered *)slot = numbered_of(CAPACITY + 1);
    med_ring_commit(&scene.producer);
    published(CAPACITY + 1);
}

static uint32_t made_room; /* the next number to be popped */

static void
make_room(void)
{
    numbered element;
    assert_int_equal(med_ring_pop(&scene.consumer, &element), MEDLEY_OK);
    assert_int_equal(number_of(&element), 1);
    made_room = 2;
}

static void
check_producer_dead(void)
{
    uint32_t last = drain(made_room ? made_room : 1) - 1;
    made_room = 0;
    assert_true(last >= scene.pushed);
    assert_true(last >= atomic32_load_acquire(&scene.child->published));
    producer_attach();
    check_whole(last + 1);
}

/* ---- The consumer is killed ------------------------------------------------------------------ */

static void
peeked(const void *element)
{
    atomic32_store_release(&scene.child->peeked, number_of(element));
}

static void
pop_two(void)
{
    for (int i = 0; i < 2; i++) {
        void *element;
        child_expect(med_ring_peek(&scene.consumer, &element) == MEDLEY_OK);
        peeked(element);
        med_ring_release(&scene.consumer);
    }
}

/* A batch is given back all at once: until then, all of it is there again. */
static void
pop_batch(void)
{
    void *elements;
    uint32_t count = 0;
    child_expect(med_ring_peek_many(&scene.consumer, 2, &elements, &count) == MEDLEY_OK);
    peeked(elements);
    med_ring_release_many(&scene.consumer, count);
    atomic32_store_release(&scene.child->peeked, 2);
}

static void
pop_waits(void)
{
    void *element;
    child_expect(med_ring_peek_until(&scene.consumer, MED_PORT_FOREVER, &element) == MEDLEY_OK);
    peeked(element);
    med_ring_release(&scene.consumer);
}

/* What comes first is what the dead one had peeked last, or the one after: nothing was passed over,
 * and nothing comes again that was given back. */
static void
check_consumer_dead_after(uint32_t batch)
{
    void *element;
    uint32_t had = atomic32_load_acquire(&scene.child->peeked);
    consumer_attach();
    uint32_t next = scene.pushed + 1;
    if (med_ring_peek(&scene.consumer, &element) == MEDLEY_OK) {
        next = number_of(element);
    }
    assert_true(next <= had + batch && next + 1 > had && next >= 1);
    assert_int_equal(drain(next), scene.pushed + 1);
    check_whole(scene.pushed + 1);
}

static void
check_consumer_dead(void)
{
    check_consumer_dead_after(1);
}

static void
check_consumer_dead_in_batch(void)
{
    check_consumer_dead_after(2);
}

/* ---- The stage ------------------------------------------------------------------------------- */

static const step_plan plans[] = {
    {.name = "push",
     .set_up = set_up_two,
     .operation = {.operate = push_two},
     .check = check_producer_dead},
    {.name = "push a batch",
     .set_up = set_up_two,
     .operation = {.operate = push_batch},
     .check = check_producer_dead},
    {.name = "cancel",
     .set_up = set_up_two,
     .operation = {.operate = push_cancelled},
     .check = check_producer_dead},
    {.name = "wait for room",
     .set_up = set_up_full,
     .operation = {.operate = push_waits},
     .asleep = make_room,
     .check = check_producer_dead},
    {.name = "pop",
     .set_up = set_up_two,
     .operation = {.operate = pop_two},
     .check = check_consumer_dead},
    {.name = "pop a batch",
     .set_up = set_up_two,
     .operation = {.operate = pop_batch},
     .check = check_consumer_dead_in_batch},
    {.name = "wait for an element",
     .set_up = set_up_empty,
     .operation = {.operate = pop_waits},
     .asleep = push_next,
     .check = check_consumer_dead},
};

int
main(void)
{
    int failed = 0;
    step_kill_prepare();
    scene.memory = process_shared_memory(MEMORY_BYTES);
    scene.child = process_shared_memory(sizeof *scene.child);
    scene.layout = MED_RING_LINE;
    failed += step_kill_group("line", plans, sizeof plans / sizeof plans[0]);
    scene.layout = MED_RING_PACKED;
    failed += step_kill_group("packed", plans, sizeof plans / sizeof plans[0]);
    return failed;
}
