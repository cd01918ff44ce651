/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The ring with many producers and consumers: whoever dies anywhere leaves it whole. */
#include "base/ring_mpmc_test.h"
#include "support/victim.h"

static void
recover_undoes_the_claims_of_the_dead(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 4, 4);
    for (uint64_t round = 0; round < 20; round++) {
        med_ring_mpmc_side writer = joined(&f, 2);
        med_ring_mpmc_side reader = joined(&f, 2);
        push(&f.side, 10);
        assert_int_equal(take(&reader), 10);
        reserve(&writer, 666);
        push(&f.side, 11);
        expect_pop(&f.side, MEDLEY_EMPTY_PRODUCER_INSERTING);
        assert_int_equal(med_ring_mpmc_recover(&f.view, 0, NULL), 0);
        assert_int_equal(med_ring_mpmc_recover(&f.view, 7, NULL), 0);
        assert_int_equal(med_ring_mpmc_recover(&f.view, 2, NULL), 4);
        assert_int_equal(med_ring_mpmc_recover(&f.view, 2, NULL), 0);
        expect(&f.side, 11);
        expect_pop(&f.side, MEDLEY_EMPTY);
        for (uint64_t i = 0; i < 4; i++) {
            push(&f.side, i);
        }
        expect_push(&f.side, MEDLEY_FULL);
        for (uint64_t i = 0; i < 4; i++) {
            expect(&f.side, i);
        }
    }
    ring_end(&f);
}

/* Killed between the claim and the counter's moving on. */
static void
counters_that_stand_behind_are_moved_on(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 4, 3);
    med_ring_mpmc_side dead = joined(&f, 2);
    for (uint64_t i = 0; i < 20; i++) {
        uint32_t index = atomic32_load_relaxed(&f.view.ring->tail);
        reserve(&dead, 666);
        atomic32_store_relaxed(&f.view.ring->tail, index);
        if (i % 2) {
            push(&f.side, i);
        }
        assert_int_equal(med_ring_mpmc_recover(&f.view, 2, NULL), 2);
        if (i % 2 == 0) {
            expect_pop(&f.side, MEDLEY_EMPTY); /* skips, and head is ahead of tail */
            push(&f.side, i);
        }
        dead = joined(&f, 2);
        assert_int_equal(take(&dead), i);
        atomic32_store_relaxed(&f.view.ring->head, dead.taken);
        expect_pop(&f.side, MEDLEY_EMPTY);
        assert_int_equal(med_ring_mpmc_recover(&f.view, 2, NULL), 2);
        atomic32_store_relaxed(&f.view.ring->head, dead.taken); /* its slot is free again by now */
        expect_pop(&f.side, MEDLEY_EMPTY);
        dead = joined(&f, 2);
    }
    ring_end(&f);
}

static void
keep_one(void *context, const void *element)
{
    uint64_t *kept = context;
    *kept = *kept * 100 + *(const uint64_t *)element;
}

static void
what_a_dead_consumer_had_can_be_kept(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 4, 3);
    med_ring_mpmc_side dead = joined(&f, 2);
    med_ring_mpmc_side helper = joined(&f, 3);
    push(&f.side, 10);
    assert_int_equal(take(&dead), 10);
    uint64_t kept = 0;
    med_ring_mpmc_salvage salvage = {&helper, keep_one, &kept};
    assert_int_equal(med_ring_mpmc_recover(&f.view, 2, &salvage), 2);
    assert_int_equal(kept, 10);
    assert_int_equal(med_ring_mpmc_recover(&f.view, 2, &salvage), 0);
    assert_int_equal(kept, 10);
    for (uint64_t i = 0; i < 4; i++) {
        push(&f.side, i);
    }
    ring_end(&f);
}

static void
produce_for_ever(victim *me)
{
    victim_diary *d = me->diary;
    uint64_t number = atomic32_load_relaxed(&d->done);
    med_ring_mpmc_side side;
    if (med_ring_mpmc_join(&side, &((fixture *)me->ring)->view, me->owner) != MEDLEY_OK) {
        return;
    }
    for (;;) {
        atomic32_store_relaxed(&d->begun, (uint32_t)number + 1);
        if (med_ring_mpmc_push(&side, &number) == MEDLEY_OK) {
            atomic32_store_relaxed(&d->done, (uint32_t)++number);
        }
    }
}

/* A child produces, is killed at some instruction, recovered, replaced. */
static void
producers_are_killed(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 3);
    victim v = {produce_for_ever, &f, .owner = 2, .diary = victim_diary_new()};
    victim_diary *d = v.diary;
    uint64_t next = 0;
    for (uint32_t kills = 0; kills < 60; kills++) {
        victim_start(&v);
        uint64_t value;
        for (uint64_t wanted = next + 1 + kills * 7 % 40; next < wanted;) {
            if (med_ring_mpmc_pop(&f.side, &value) == MEDLEY_OK) {
                assert_int_equal(value, next++);
            }
        }
        victim_kill(&v);
        (void)med_ring_mpmc_recover(&f.view, 2, NULL);
        while (med_ring_mpmc_pop(&f.side, &value) == MEDLEY_OK) {
            assert_int_equal(value, next++);
        }
        expect_pop(&f.side, MEDLEY_EMPTY); /* nothing stands in the way */
        uint32_t done = atomic32_load_relaxed(&d->done);
        assert_in_range(next, done, atomic32_load_relaxed(&d->begun));
        atomic32_store_relaxed(&d->done, (uint32_t)next);
    }
    ring_end(&f);
}

static void
consume_for_ever(victim *me)
{
    victim_diary *d = me->diary;
    med_ring_mpmc_side side;
    if (med_ring_mpmc_join(&side, &((fixture *)me->ring)->view, me->owner) != MEDLEY_OK) {
        return;
    }
    for (;;) {
        void *element;
        if (med_ring_mpmc_take(&side, &element) == MEDLEY_OK) {
            uint32_t number = (uint32_t) * (uint64_t *)element;
            atomic32_store_relaxed(&d->begun, number + 1);
            med_ring_mpmc_release(&side);
            atomic32_store_relaxed(&d->done, number + 1);
        }
    }
}

/* What a consumer had in hand when it was killed is kept; before it nothing is missing, after it
 * everything is there. */
static void
consumers_are_killed(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 3);
    victim v = {consume_for_ever, &f, .owner = 2, .diary = victim_diary_new()};
    victim_diary *d = v.diary;
    uint64_t sent = 0;
    for (uint32_t kills = 0; kills < 60; kills++) {
        victim_start(&v);
        for (uint64_t enough = sent + 40 + kills; sent < enough;) {
            sent += med_ring_mpmc_push(&f.side, &sent) == MEDLEY_OK;
        }
        victim_kill(&v);
        uint64_t kept = 0;
        med_ring_mpmc_salvage salvage = {&f.side, keep_one, &kept};
        uint32_t recovered = med_ring_mpmc_recover(&f.view, 2, &salvage);
        uint64_t next = sent - 8;
        uint64_t value;
        uint64_t first = sent;
        while (med_ring_mpmc_pop(&f.side, &value) == MEDLEY_OK) {
            first = first == sent ? value : first;
            next = first == value ? value : next;
            assert_int_equal(value, next++);
        }
        uint32_t begun = atomic32_load_relaxed(&d->begun);
        if (recovered == 2) { /* it had one in hand, and perhaps had looked at it */
            assert_int_equal(kept + 1, first);
            assert_in_range(begun, first - 1, first);
        } else {
            assert_int_equal(begun, first);
        }
        atomic32_store_relaxed(&d->begun, (uint32_t)sent);
    }
    ring_end(&f);
}

typedef struct recovery {
    fixture *f;
    atomic32 ready;
} recovery;

static void *
recover_two(void *argument)
{
    recovery *r = argument;
    (void)atomic32_fetch_add_acq_rel(&r->ready, 1);
    while (atomic32_load_acquire(&r->ready) < 3) { /* relaxed would do: only to begin together */
        med_port_yield();
    }
    return (void *)(uintptr_t)med_ring_mpmc_recover(&r->f->view, 2, NULL);
}

static void
several_recover_at_once(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 64, 40);
    for (uint32_t round = 0; round < 50; round++) {
        for (uint32_t i = 0; i < 32; i++) {
            med_ring_mpmc_side dead = joined(&f, 2);
            reserve(&dead, 666);
            push(&f.side, i);
        }
        recovery r = {.f = &f};
        med_port_thread threads[3];
        uintptr_t recovered = 0;
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(med_port_thread_start(&threads[i], NULL, recover_two, &r), MEDLEY_OK);
        }
        for (uint32_t i = 0; i < 3; i++) {
            void *result = NULL;
            assert_int_equal(med_port_thread_join(threads[i], &result), MEDLEY_OK);
            recovered += (uintptr_t)result;
        }
        assert_int_equal(recovered, 64);
        for (uint64_t i = 0; i < 32; i++) {
            expect(&f.side, i);
        }
        expect_pop(&f.side, MEDLEY_EMPTY);
    }
    ring_end(&f);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recover_undoes_the_claims_of_the_dead),
        cmocka_unit_test(counters_that_stand_behind_are_moved_on),
        cmocka_unit_test(what_a_dead_consumer_had_can_be_kept),
        cmocka_unit_test(producers_are_killed),
        cmocka_unit_test(consumers_are_killed),
        cmocka_unit_test(several_recover_at_once),
    };
    return cmocka_run_group_tests_name("ring_mpmc_death", tests, NULL, NULL);
}
