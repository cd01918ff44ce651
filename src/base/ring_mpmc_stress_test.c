/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The ring with many producers and consumers under many threads. */
#include "base/ring_mpmc_test.h"
#include "base/ring_stress.h"

static bool
stress_push(ring_stress_side *side, uint64_t value)
{
    return med_ring_mpmc_push(side->own, &value) == MEDLEY_OK;
}

static bool
stress_pop(ring_stress_side *side, uint64_t *value)
{
    return med_ring_mpmc_pop(side->own, value) == MEDLEY_OK;
}

/* Thinks better of some of its reservations. */
static bool
stress_push_doubting(ring_stress_side *side, uint64_t value)
{
    void *slot;
    if (ring_stress_random(side) % 8 == 0 && med_ring_mpmc_reserve(side->own, &slot) == MEDLEY_OK) {
        med_ring_mpmc_reserve_cancel(side->own);
    }
    return med_ring_mpmc_push(side->own, &value) == MEDLEY_OK;
}

static bool
stress_push_waiting(ring_stress_side *side, uint64_t value)
{
    void *slot;
    if (med_ring_mpmc_reserve_until(side->own, MED_PORT_FOREVER, &slot) != MEDLEY_OK) {
        return false;
    }
    *(uint64_t *)slot = value;
    med_ring_mpmc_commit(side->own);
    return true;
}

/* A consumer does not know which element is the last: it waits a while only. */
#define SHORT_NS 200000u

static bool
stress_pop_waiting(ring_stress_side *side, uint64_t *value)
{
    void *slot;
    uint64_t deadline_ns = med_port_clock_ns() + SHORT_NS;
    if (med_ring_mpmc_take_until(side->own, deadline_ns, &slot) != MEDLEY_OK) {
        return false;
    }
    *value = *(uint64_t *)slot;
    med_ring_mpmc_release(side->own);
    return true;
}

static void
stress_run(uint32_t capacity,
           uint32_t producers,
           uint32_t consumers,
           uint32_t values,
           bool (*push_one)(ring_stress_side *side, uint64_t value),
           bool (*pop_one)(ring_stress_side *side, uint64_t *value))
{
    static ring_stress stress;
    med_ring_mpmc_side sides[2 * RING_STRESS_SIDES_MAX];
    fixture f;
    ring_start(&f, capacity, 2 * RING_STRESS_SIDES_MAX + 1);
    stress = (ring_stress){.ring = &f,
                           .producers = producers,
                           .consumers = consumers,
                           .values = values,
                           .push = push_one,
                           .pop = pop_one};
    for (uint32_t i = 0; i < producers + consumers; i++) {
        sides[i] = joined(&f, i + 2);
        if (i < producers) {
            stress.producer_own[i] = &sides[i];
        } else {
            stress.consumer_own[i - producers] = &sides[i];
        }
    }
    const char *failure = ring_stress_run(&stress);
    assert_string_equal(failure ? failure : "fine", "fine");
    ring_end(&f);
}

static void
stress_one_by_one(void **state)
{
    (void)state;
    stress_run(1, 2, 2, 20000, stress_push, stress_pop);
    stress_run(2, 3, 3, 20000, stress_push, stress_pop);
    stress_run(64, 7, 4, 15000, stress_push, stress_pop);
    stress_run(16, 4, 1, 20000, stress_push, stress_pop); /* one consumer sees the whole order */
}

static void
stress_doubting(void **state)
{
    (void)state;
    stress_run(1, 2, 2, 10000, stress_push_doubting, stress_pop);
    stress_run(2, 3, 2, 10000, stress_push_doubting, stress_pop);
    stress_run(8, 3, 2, 30000, stress_push_doubting, stress_pop);
}

static void
stress_asleep(void **state)
{
    (void)state;
    stress_run(1, 2, 2, 2000, stress_push_waiting, stress_pop_waiting);
    stress_run(2, 5, 3, 1000, stress_push_waiting, stress_pop_waiting);
    stress_run(4, 2, 2, 5000, stress_push_waiting, stress_pop_waiting);
    stress_run(4, 5, 3, 2000, stress_push_waiting, stress_pop_waiting);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stress_one_by_one),
        cmocka_unit_test(stress_doubting),
        cmocka_unit_test(stress_asleep),
    };
    return cmocka_run_group_tests_name("ring_mpmc_stress", tests, NULL, NULL);
}
