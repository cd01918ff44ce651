/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The ring with many producers under many threads. */
#include "base/ring_mpsc_test.h"
#include "base/ring_stress.h"

static bool
stress_push(ring_stress_side *side, uint64_t value)
{
    return med_ring_mpsc_push(side->own, &value) == MEDLEY_OK;
}

static bool
stress_pop(ring_stress_side *side, uint64_t *value)
{
    return med_ring_mpsc_pop(side->own, value) == MEDLEY_OK;
}

/* Leaves and comes back now and then, to whatever lane it is given. */
static bool
stress_push_moving(ring_stress_side *side, uint64_t value)
{
    med_ring_mpsc_producer *producer = side->own;
    fixture *f = side->stress->ring;
    if (producer->role && ring_stress_random(side) % 16 == 0) {
        (void)med_ring_mpsc_producer_leave(producer);
        producer->role = NULL;
    }
    if (!producer->role &&
        med_ring_mpsc_producer_join(producer, &f->view, side->number + 1) != MEDLEY_OK) {
        producer->role = NULL;
        return false;
    }
    return med_ring_mpsc_push(producer, &value) == MEDLEY_OK;
}

static bool
stress_push_batch(ring_stress_side *side, uint64_t value)
{
    med_ring_mpsc_producer *producer = side->own;
    void *slots = NULL;
    uint32_t count = 0;
    uint32_t wanted = 1 + ring_stress_random(side) % 5;
    if (med_ring_mpsc_reserve_many(producer, wanted, &slots, &count) != MEDLEY_OK) {
        return false;
    }
    *(uint64_t *)slots = value; /* the rest it thinks better of */
    med_ring_mpsc_commit_many(producer, 1);
    return true;
}

static bool
stress_push_waiting(ring_stress_side *side, uint64_t value)
{
    void *slot = NULL;
    if (med_ring_mpsc_reserve_until(side->own, MED_PORT_FOREVER, &slot) != MEDLEY_OK) {
        return false;
    }
    *(uint64_t *)slot = value;
    med_ring_mpsc_commit(side->own);
    return true;
}

static bool
stress_pop_waiting(ring_stress_side *side, uint64_t *value)
{
    void *slot = NULL;
    if (med_ring_mpsc_peek_until(side->own, MED_PORT_FOREVER, &slot) != MEDLEY_OK) {
        return false;
    }
    *value = *(uint64_t *)slot;
    med_ring_mpsc_release(side->own);
    return true;
}

static void
stress_run(uint32_t capacity,
           uint32_t producers,
           uint32_t values,
           bool joined_before,
           bool (*push_one)(ring_stress_side *side, uint64_t value),
           bool (*pop_one)(ring_stress_side *side, uint64_t *value))
{
    static ring_stress stress;
    med_ring_mpsc_producer sides[RING_STRESS_SIDES_MAX] = {0};
    fixture f;
    ring_start(&f, capacity, producers + 1);
    stress = (ring_stress){.ring = &f,
                           .producers = producers,
                           .consumers = 1,
                           .values = values,
                           .push = push_one,
                           .pop = pop_one,
                           .consumer_own = {&f.consumer}};
    for (uint32_t i = 0; i < producers; i++) {
        if (joined_before) {
            sides[i] = joined(&f, i + 1);
        }
        stress.producer_own[i] = &sides[i];
    }
    const char *failure = ring_stress_run(&stress);
    assert_string_equal(failure ? failure : "fine", "fine");
    ring_end(&f);
}

static void
stress_one_by_one(void **state)
{
    (void)state;
    stress_run(1, 2, 20000, true, stress_push, stress_pop);
    stress_run(2, 5, 10000, true, stress_push, stress_pop);
    stress_run(16, 2, 100000, true, stress_push, stress_pop);
    stress_run(16, 7, 30000, true, stress_push, stress_pop);
}

static void
stress_in_batches(void **state)
{
    (void)state;
    stress_run(1, 3, 10000, true, stress_push_batch, stress_pop);
    stress_run(2, 4, 10000, true, stress_push_batch, stress_pop);
    stress_run(16, 4, 30000, true, stress_push_batch, stress_pop);
}

static void
stress_coming_and_going(void **state)
{
    (void)state;
    stress_run(1, 3, 10000, false, stress_push_moving, stress_pop);
    stress_run(2, 4, 10000, false, stress_push_moving, stress_pop);
    stress_run(16, 1, 50000, false, stress_push_moving, stress_pop);
    stress_run(16, 5, 20000, false, stress_push_moving, stress_pop);
}

static void
stress_asleep(void **state)
{
    (void)state;
    stress_run(1, 2, 5000, true, stress_push_waiting, stress_pop_waiting);
    stress_run(2, 4, 3000, true, stress_push_waiting, stress_pop_waiting);
    stress_run(16, 2, 20000, true, stress_push_waiting, stress_pop_waiting);
    stress_run(16, 6, 5000, true, stress_push_waiting, stress_pop_waiting);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stress_one_by_one),
        cmocka_unit_test(stress_in_batches),
        cmocka_unit_test(stress_coming_and_going),
        cmocka_unit_test(stress_asleep),
    };
    return cmocka_run_group_tests_name("ring_mpsc_stress", tests, NULL, NULL);
}
