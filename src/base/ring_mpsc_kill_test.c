/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The ring with many producers and one consumer: a producer, the consumer, or one who recovers is
 * killed after any of its instructions. What was published arrives, in its producer's order; the
 * other producers' elements arrive before anybody recovers the dead one; after that every lane is
 * of use again.
 */
#include "base/ring_mpsc.h"
#include "support/numbered.h"
#include "support/process.h"
#include "support/step_kill.h"
#include "support/unit.h"

enum {
    CHILD = 1, /* who dies */
    OTHER = 2, /* lives, and produces */
    THIRD = 3,
    DEAD = 4, /* died before */
    NEWCOMER = 5,
    LANES = 3,
    CAPACITY = 4,
    OF_OTHER = 100, /* before the numbers of its elements */
    OF_THIRD = 200,
    OF_NEWCOMER = 300,
    MEMORY_BYTES = 8192
};

/* What the child has done, seen by the tester. */
typedef struct progress {
    atomic32 published; /* the last number whose commit has returned */
    atomic32 peeked[2]; /* the last number of OTHER's, of THIRD's, that a peek gave */
} progress;

static struct scene {
    void *memory;
    progress *child;
    med_ring_mpsc_view view;
    med_ring_mpsc_producer other, third;
    med_ring_mpsc_consumer consumer;
} scene;

/* ---- What all do ----------------------------------------------------------------------------- */

static void
join(med_ring_mpsc_producer *producer, uint32_t owner)
{
    assert_int_equal(med_ring_mpsc_producer_join(producer, &scene.view, owner), MEDLEY_OK);
}

static void
push(med_ring_mpsc_producer *producer, uint32_t number)
{
    numbered element = numbered_of(number);
    assert_int_equal(med_ring_mpsc_push(producer, &element), MEDLEY_OK);
}

static void
consumer_join(void)
{
    assert_int_equal(med_ring_mpsc_consumer_join(&scene.consumer, &scene.view, OTHER), MEDLEY_OK);
}

/* The last number of each producer's elements, by its hundreds. */
typedef struct arrived {
    uint32_t last[4];
} arrived;

/* Pops all there is: each producer's elements must be consecutive. `last` 0: whatever comes first
 * is well. */
static void
drain(arrived *so_far)
{
    numbered element;
    medley_status_t status = med_ring_mpsc_pop(&scene.consumer, &element);
    for (; status == MEDLEY_OK; status = med_ring_mpsc_pop(&scene.consumer, &element)) {
        uint32_t number = number_of(&element);
        assert_true(number / 100 < 4);
        uint32_t *last = &so_far->last[number / 100];
        assert_true(*last == 0 || number == *last + 1);
        *last = number;
    }
    assert_true(status == MEDLEY_EMPTY || status == MEDLEY_EMPTY_PRODUCER_INSERTING);
}

static void
set_up(void)
{
    const med_ring_mpsc_config config = {.element_bytes = sizeof(numbered),
                                         .capacity = CAPACITY,
                                         .lanes = LANES,
                                         .first_index = UINT32_MAX - 1};
    assert_int_equal(med_ring_mpsc_init(scene.memory, MEMORY_BYTES, &config), MEDLEY_OK);
    assert_int_equal(
        med_ring_mpsc_attach(&scene.view, scene.memory, MEMORY_BYTES, MED_PORT_SCOPE_SHARED),
        MEDLEY_OK);
    join(&scene.other, OTHER);
    push(&scene.other, OF_OTHER + 1);
    *scene.child = (progress){0};
}

/* After a recovery, with the ring drained: of the three lanes one is OTHER's and `taken` more are
 * others'; the rest can be had, and all work. */
static void
check_lanes(uint32_t taken)
{
    med_ring_mpsc_producer newcomers[LANES];
    arrived then = {{0}};
    for (uint32_t i = 0; i < LANES - 1 - taken; i++) {
        join(&newcomers[i], NEWCOMER + i);
    }
    assert_int_equal(med_ring_mpsc_producer_join(&newcomers[LANES - 1], &scene.view, NEWCOMER + 9),
                     MEDLEY_ERR_LIMIT);
    for (uint32_t i = 0; i < LANES - 1 - taken; i++) {
        for (uint32_t n = 0; n < CAPACITY; n++) {
            push(&newcomers[i], OF_NEWCOMER + n);
        }
        then.last[OF_NEWCOMER / 100] = 0;
        drain(&then);
        assert_int_equal(then.last[OF_NEWCOMER / 100], OF_NEWCOMER + CAPACITY - 1);
    }
}

/* ---- A producer is killed -------------------------------------------------------------------- */

static void
set_up_with_consumer(void)
{
    set_up();
    consumer_join();
}

static void
produce(void)
{
    med_ring_mpsc_producer producer;
    child_expect(med_ring_mpsc_producer_join(&producer, &scene.view, CHILD) == MEDLEY_OK);
    for (uint32_t number = 1; number < 3; number++) {
        numbered element = numbered_of(number);
        child_expect(med_ring_mpsc_push(&producer, &element) == MEDLEY_OK);
        atomic32_store_release(&scene.child->published, number);
    }
    child_expect(med_ring_mpsc_producer_leave(&producer) == MEDLEY_OK);
}

/* The dead one's lane stands in nobody's way: OTHER goes on before it is recovered. */
static void
check_producer_dead(void)
{
    arrived so_far = {{0}};
    push(&scene.other, OF_OTHER + 2);
    drain(&so_far);
    assert_int_equal(so_far.last[OF_OTHER / 100], OF_OTHER + 2);
    assert_true(so_far.last[0] <= 2);
    assert_true(so_far.last[0] >= atomic32_load_acquire(&scene.child->published));
    (void)med_ring_mpsc_recover(&scene.view, CHILD);
    drain(&so_far);
    check_lanes(0);
}

/* ---- The consumer is killed ------------------------------------------------------------------ */

static void
set_up_two_producers(void)
{
    set_up();
    push(&scene.other, OF_OTHER + 2);
    join(&scene.third, THIRD);
    push(&scene.third, OF_THIRD + 1);
    push(&scene.third, OF_THIRD + 2);
}

static void
consume(void)
{
    child_expect(med_ring_mpsc_consumer_join(&scene.consumer, &scene.view, CHILD) == MEDLEY_OK);
    for (int i = 0; i < 3; i++) {
        void *element;
        child_expect(med_ring_mpsc_peek(&scene.consumer, &element) == MEDLEY_OK);
        uint32_t number = number_of(element);
        atomic32_store_release(&scene.child->peeked[number >= OF_THIRD], number);
        med_ring_mpsc_release(&scene.consumer);
    }
    child_expect(med_ring_mpsc_consumer_leave(&scene.consumer) == MEDLEY_OK);
}

/* What the next consumer finds first of each: what the dead one peeked last, or the one after. */
static void
check_first(uint32_t first, uint32_t before, uint32_t had)
{
    had = had ? had : before;
    assert_true(first >= had && first > before && first <= had + 1);
}

static void
check_consumer_dead(void)
{
    arrived so_far = {{0}};
    numbered element;
    uint32_t first[2] = {0, 0};
    (void)med_ring_mpsc_recover(&scene.view, CHILD);
    consumer_join();
    push(&scene.other, OF_OTHER + 3);
    push(&scene.third, OF_THIRD + 3);
    while (med_ring_mpsc_pop(&scene.consumer, &element) == MEDLEY_OK) {
        uint32_t number = number_of(&element);
        uint32_t whose = number >= OF_THIRD;
        uint32_t *last = &so_far.last[number / 100];
        assert_true(*last == 0 || number == *last + 1);
        *last = number;
        first[whose] = first[whose] ? first[whose] : number;
    }
    check_first(first[0], OF_OTHER, atomic32_load_acquire(&scene.child->peeked[0]));
    check_first(first[1], OF_THIRD, atomic32_load_acquire(&scene.child->peeked[1]));
    assert_int_equal(so_far.last[OF_OTHER / 100], OF_OTHER + 3);
    assert_int_equal(so_far.last[OF_THIRD / 100], OF_THIRD + 3);
    check_lanes(1);
}

/* ---- The consumer is killed while it takes a lane out of the map ----------------------------- */

static void
set_up_left(void)
{
    numbered element;
    set_up_with_consumer();
    assert_int_equal(med_ring_mpsc_pop(&scene.consumer, &element), MEDLEY_OK);
    assert_int_equal(med_ring_mpsc_producer_leave(&scene.other), MEDLEY_OK);
    assert_int_equal(med_ring_mpsc_consumer_leave(&scene.consumer), MEDLEY_OK);
}

static void
consume_nothing(void)
{
    numbered element;
    child_expect(med_ring_mpsc_consumer_join(&scene.consumer, &scene.view, CHILD) == MEDLEY_OK);
    (void)med_ring_mpsc_pop(&scene.consumer, &element);
    (void)med_ring_mpsc_pop(&scene.consumer, &element);
}

/* Somebody takes that very lane, while the consumer stands there; then the consumer goes on for a
 * few instructions: from before it takes the lane out of the map to before it looks again. */
static void
other_comes_back(void)
{
    join(&scene.other, OTHER);
    push(&scene.other, OF_OTHER + 2);
}

static void
check_map(void)
{
    arrived so_far = {{0}};
    (void)med_ring_mpsc_recover(&scene.view, CHILD);
    consumer_join();
    drain(&so_far);
    assert_int_equal(so_far.last[OF_OTHER / 100], OF_OTHER + 2);
    check_lanes(0);
}

/* The consumer was only stopped, and went on. */
static void
consume_until_something(void)
{
    numbered element = {{0}};
    child_expect(med_ring_mpsc_consumer_join(&scene.consumer, &scene.view, CHILD) == MEDLEY_OK);
    for (int i = 0; i < 3; i++) {
        if (med_ring_mpsc_pop(&scene.consumer, &element) == MEDLEY_OK) {
            atomic32_store_release(&scene.child->peeked[0], number_of(&element));
        }
    }
}

static void
check_found(void)
{
    /* What was pushed after the child's last look is there for the next. */
    arrived so_far = {{0}};
    (void)med_ring_mpsc_recover(&scene.view, CHILD);
    med_ring_mpsc_consumer consumer = {0};
    uint32_t map = atomic32_load_acquire(&scene.view.ring->map[0]);
    assert_int_equal(med_ring_mpsc_consumer_join(&consumer, &scene.view, OTHER), MEDLEY_OK);
    scene.consumer = consumer;
    drain(&so_far);
    bool by_child = atomic32_load_acquire(&scene.child->peeked[0]) == OF_OTHER + 2;
    bool by_next = so_far.last[OF_OTHER / 100] == OF_OTHER + 2;
    assert_true(by_child != by_next);
    assert_true(map & 1); /* the lane has an owner: the consumer looks there */
}

/* ---- One who recovers is killed -------------------------------------------------------------- */

static void
set_up_dead(void)
{
    med_ring_mpsc_producer dead;
    void *slot;
    set_up();
    join(&dead, DEAD);
    push(&dead, 1);
    push(&dead, 2);
    assert_int_equal(med_ring_mpsc_reserve(&dead, &slot), MEDLEY_OK);
    assert_int_equal(med_ring_mpsc_consumer_join(&scene.consumer, &scene.view, DEAD), MEDLEY_OK);
}

static void
recover(void)
{
    (void)med_ring_mpsc_recover(&scene.view, DEAD);
}

static void
check_recovery(void)
{
    arrived so_far = {{0}};
    (void)med_ring_mpsc_recover(&scene.view, DEAD);
    consumer_join();
    drain(&so_far);
    assert_int_equal(so_far.last[0], 2);
    assert_int_equal(so_far.last[OF_OTHER / 100], OF_OTHER + 1);
    check_lanes(0);
}

/* ---- The stage ------------------------------------------------------------------------------- */

static const step_plan plans[] = {
    {.name = "join, push, leave",
     .set_up = set_up_with_consumer,
     .operation = {.operate = produce},
     .check = check_producer_dead},
    {.name = "consume",
     .set_up = set_up_two_producers,
     .operation = {.operate = consume},
     .check = check_consumer_dead},
    {.name = "retire a lane",
     .set_up = set_up_left,
     .operation = {.operate = consume_nothing},
     .stopped = other_comes_back,
     .check = check_map,
     .further = 32},
    {.name = "recover",
     .set_up = set_up_dead,
     .operation = {.operate = recover},
     .check = check_recovery},
};

static void
a_lane_is_taken_while_it_retires(void **state)
{
    (void)state;
    step_stop_run(&(step_plan){.name = "retire a lane",
                               .set_up = set_up_left,
                               .operation = {.operate = consume_until_something},
                               .stopped = other_comes_back,
                               .check = check_found});
}

int
main(void)
{
    const struct CMUnitTest stops[] = {cmocka_unit_test(a_lane_is_taken_while_it_retires)};
    step_kill_prepare();
    scene.memory = process_shared_memory(MEMORY_BYTES);
    scene.child = process_shared_memory(sizeof *scene.child);
    return step_kill_group("mpsc", plans, sizeof plans / sizeof plans[0]) +
           cmocka_run_group_tests_name("mpsc_stopped", stops, NULL, NULL);
}
