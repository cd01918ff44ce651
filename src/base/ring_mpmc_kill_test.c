/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The ring with many producers and many consumers: a producer, a consumer, or one who recovers is
 * killed after any of its instructions. Once it is recovered, what was published arrives in the one
 * order of all, what a consumer had taken is salvaged, and every slot and side is of use.
 */
#include "base/ring_mpmc.h"
#include "support/numbered.h"
#include "support/process.h"
#include "support/step_kill.h"
#include "support/unit.h"

enum {
    CHILD = 1, /* who dies */
    OTHER = 2, /* lives */
    DEAD = 3,  /* died before */
    NEWCOMER = 4,
    SIDES = 4,
    CAPACITY = 4,
    ELEMENTS = 3, /* numbers 1 to that, which the child consumes */
    OF_OTHER = 100,
    MEMORY_BYTES = 4096
};

/* What others have done, seen by the tester. */
typedef struct progress {
    atomic32 published;          /* the last number whose commit has returned */
    atomic32 taken;              /* the last number that a take gave */
    atomic32 kept[CAPACITY + 1]; /* how often each was salvaged */
} progress;

static struct scene {
    void *memory;
    progress *child;
    med_ring_mpmc_view view;
    med_ring_mpmc_side other;
} scene;

/* ---- What all do ----------------------------------------------------------------------------- */

static void
join(med_ring_mpmc_side *side, uint32_t owner)
{
    assert_int_equal(med_ring_mpmc_join(side, &scene.view, owner), MEDLEY_OK);
}

static void
push(uint32_t number)
{
    numbered element = numbered_of(number);
    assert_int_equal(med_ring_mpmc_push(&scene.other, &element), MEDLEY_OK);
}

/* The next number, or 0 when there is none. */
static uint32_t
pop(void)
{
    numbered element;
    medley_status_t status = med_ring_mpmc_pop(&scene.other, &element);
    assert_true(status == MEDLEY_OK || status == MEDLEY_EMPTY);
    return status == MEDLEY_OK ? number_of(&element) : 0;
}

static void
set_up(void)
{
    const med_ring_mpmc_config config = {.element_bytes = sizeof(numbered),
                                         .capacity = CAPACITY,
                                         .sides = SIDES,
                                         .first_index = UINT32_MAX - 1};
    assert_int_equal(med_ring_mpmc_init(scene.memory, MEMORY_BYTES, &config), MEDLEY_OK);
    assert_int_equal(
        med_ring_mpmc_attach(&scene.view, scene.memory, MEMORY_BYTES, MED_PORT_SCOPE_SHARED),
        MEDLEY_OK);
    join(&scene.other, OTHER);
    *scene.child = (progress){0};
}

static void
keep(void *context, const void *element)
{
    progress *child = context;
    uint32_t number = number_of(element);
    if (number <= CAPACITY) {
        (void)atomic32_fetch_add_relaxed(&child->kept[number], 1);
    }
}

static uint32_t
recover_by(med_ring_mpmc_side *side, uint32_t dead_owner)
{
    const med_ring_mpmc_salvage salvage = {.side = side, .keep = keep, .context = scene.child};
    return med_ring_mpmc_recover(&scene.view, dead_owner, &salvage);
}

/* An empty ring, recovered: it takes as many as it should, and gives them back in order; all sides
 * but OTHER's can be had. */
static void
check_whole(void)
{
    med_ring_mpmc_side sides[SIDES];
    numbered element = numbered_of(0);
    for (uint32_t n = 1; n <= CAPACITY; n++) {
        push(n);
    }
    assert_int_equal(med_ring_mpmc_push(&scene.other, &element), MEDLEY_FULL);
    for (uint32_t n = 1; n <= CAPACITY; n++) {
        assert_int_equal(pop(), n);
    }
    assert_int_equal(pop(), 0);
    for (uint32_t i = 0; i < SIDES - 1; i++) {
        join(&sides[i], NEWCOMER + i);
    }
    assert_int_equal(med_ring_mpmc_join(&sides[SIDES - 1], &scene.view, NEWCOMER + SIDES),
                     MEDLEY_ERR_LIMIT);
}

/* ---- A producer is killed -------------------------------------------------------------------- */

static void
set_up_one_of_other(void)
{
    set_up();
    push(OF_OTHER + 1);
}

static void
produce(void)
{
    med_ring_mpmc_side side;
    child_expect(med_ring_mpmc_join(&side, &scene.view, CHILD) == MEDLEY_OK);
    for (uint32_t number = 1; number < 3; number++) {
        numbered element = numbered_of(number);
        child_expect(med_ring_mpmc_push(&side, &element) == MEDLEY_OK);
        atomic32_store_release(&scene.child->published, number);
    }
    child_expect(med_ring_mpmc_leave(&side) == MEDLEY_OK);
}

static void
produce_and_cancel(void)
{
    med_ring_mpmc_side side;
    void *slot;
    child_expect(med_ring_mpmc_join(&side, &scene.view, CHILD) == MEDLEY_OK);
    child_expect(med_ring_mpmc_reserve(&side, &slot) == MEDLEY_OK);
    med_ring_mpmc_reserve_cancel(&side);
    child_expect(med_ring_mpmc_reserve(&side, &slot) == MEDLEY_OK);
    child_expect(med_ring_mpmc_leave(&side) == MEDLEY_OK); /* cancels too */
}

/* OTHER's come around what the child published, which is a beginning of 1, 2. */
static void
check_producer_dead(void)
{
    uint32_t last = 0;
    push(OF_OTHER + 2);
    (void)med_ring_mpmc_recover(&scene.view, CHILD, NULL);
    assert_int_equal(pop(), OF_OTHER + 1);
    uint32_t number = pop();
    for (; number == last + 1; number = pop()) {
        last = number;
    }
    assert_int_equal(number, OF_OTHER + 2);
    assert_true(last <= 2 && last >= atomic32_load_acquire(&scene.child->published));
    assert_int_equal(pop(), 0);
    check_whole();
}

/* ---- A consumer is killed -------------------------------------------------------------------- */

static void
set_up_elements(void)
{
    set_up();
    for (uint32_t n = 1; n <= ELEMENTS; n++) {
        push(n);
    }
}

static void
consume(void)
{
    med_ring_mpmc_side side;
    child_expect(med_ring_mpmc_join(&side, &scene.view, CHILD) == MEDLEY_OK);
    for (int i = 0; i < 2; i++) {
        void *element;
        child_expect(med_ring_mpmc_take(&side, &element) == MEDLEY_OK);
        atomic32_store_release(&scene.child->taken, number_of(element));
        med_ring_mpmc_release(&side);
    }
    child_expect(med_ring_mpmc_leave(&side) == MEDLEY_OK);
}

/* Each number is the child's, or salvaged, or still there. */
static void
check_consumer_dead(void)
{
    uint32_t taken = atomic32_load_acquire(&scene.child->taken);
    uint32_t salvaged = 0;
    (void)recover_by(&scene.other, CHILD);
    for (uint32_t n = 1; n <= ELEMENTS; n++) {
        if (atomic32_load_relaxed(&scene.child->kept[n])) {
            assert_int_equal(salvaged, 0);
            salvaged = n;
        }
    }
    assert_true(salvaged == 0 || salvaged == taken || salvaged == taken + 1);
    uint32_t next = 1 + (salvaged > taken ? salvaged : taken);
    for (; next <= ELEMENTS; next++) {
        assert_int_equal(pop(), next);
    }
    assert_int_equal(pop(), 0);
    check_whole();
}

/* ---- One who recovers is killed -------------------------------------------------------------- */

/* The dead one had taken 1, and reserved the slot behind 2. */
static void
set_up_dead(void)
{
    med_ring_mpmc_side dead;
    void *slot;
    set_up();
    join(&dead, DEAD);
    push(1);
    push(2);
    assert_int_equal(med_ring_mpmc_take(&dead, &slot), MEDLEY_OK);
    assert_int_equal(med_ring_mpmc_reserve(&dead, &slot), MEDLEY_OK);
    push(3);
}

static void
recover(void)
{
    med_ring_mpmc_side side;
    child_expect(med_ring_mpmc_join(&side, &scene.view, CHILD) == MEDLEY_OK);
    (void)recover_by(&side, DEAD);
}

/* What the dead one had taken is kept once, or once more by who takes the recovery over. */
static void
check_recovery(void)
{
    (void)recover_by(&scene.other, CHILD);
    (void)recover_by(&scene.other, DEAD);
    uint32_t kept = atomic32_load_relaxed(&scene.child->kept[1]);
    assert_true(kept == 1 || kept == 2);
    assert_int_equal(pop(), 2);
    assert_int_equal(pop(), 3);
    assert_int_equal(pop(), 0);
    check_whole();
}

/* ---- The stage ------------------------------------------------------------------------------- */

static const step_plan plans[] = {
    {.name = "join, push, leave",
     .set_up = set_up_one_of_other,
     .operation = {.operate = produce},
     .check = check_producer_dead},
    {.name = "cancel",
     .set_up = set_up_one_of_other,
     .operation = {.operate = produce_and_cancel},
     .check = check_producer_dead},
    {.name = "consume",
     .set_up = set_up_elements,
     .operation = {.operate = consume},
     .check = check_consumer_dead},
    {.name = "recover",
     .set_up = set_up_dead,
     .operation = {.operate = recover},
     .check = check_recovery},
};

int
main(void)
{
    step_kill_prepare();
    scene.memory = process_shared_memory(MEMORY_BYTES);
    scene.child = process_shared_memory(sizeof *scene.child);
    return step_kill_group("mpmc", plans, sizeof plans / sizeof plans[0]);
}
