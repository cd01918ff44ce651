/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The ring with many producers: whoever dies anywhere leaves it whole. */
#include "base/ring_mpsc_test.h"
#include "support/victim.h"

static void
recover_takes_everything_a_dead_owner_had(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 3);
    med_ring_mpsc_producer living = joined(&f, 1);
    med_ring_mpsc_producer dead = joined(&f, 2);
    med_ring_mpsc_producer dead_too = joined(&f, 2);
    void *slot = NULL;
    push(&dead, 20);
    assert_int_equal(med_ring_mpsc_reserve(&dead, &slot), MEDLEY_OK);
    *(uint64_t *)slot = 666;
    push(&dead_too, 21);
    assert_int_equal(med_ring_mpsc_recover(&f.view, 0), 0);
    assert_int_equal(med_ring_mpsc_recover(&f.view, 7), 0);
    assert_int_equal(med_ring_mpsc_recover(&f.view, 2), 2);
    assert_int_equal(med_ring_mpsc_recover(&f.view, 2), 0);
    assert_int_equal(med_ring_mpsc_producer_leave(&dead), MEDLEY_ERR_NOT_OWNER);
    push(&living, 10);
    expect(&f, 10);
    expect(&f, 20);
    expect(&f, 21);
    expect_empty(&f);
    med_ring_mpsc_producer next = joined(&f, 3);
    push(&next, 30);
    expect(&f, 30);
    expect_empty(&f);
    ring_end(&f);
}

static void
the_next_consumer_goes_on(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 2);
    med_ring_mpsc_producer first = joined(&f, 1);
    med_ring_mpsc_producer second = joined(&f, 2);
    push(&first, 10);
    push(&first, 11);
    push(&second, 20);
    expect(&f, 10);
    void *slot = NULL;
    assert_int_equal(med_ring_mpsc_peek(&f.consumer, &slot), MEDLEY_OK);
    /* It dies between taking a lane out of the map and looking again. */
    atomic32_store_relaxed(&f.view.ring->map[0], 0);
    assert_int_equal(med_ring_mpsc_recover(&f.view, CONSUMER), 1);
    assert_int_equal(med_ring_mpsc_consumer_join(&f.consumer, &f.view, CONSUMER + 1), MEDLEY_OK);
    expect(&f, 11); /* was peeked, not released */
    expect(&f, 20);
    expect_empty(&f);
    ring_end(&f);
}

static void *
recover_two(void *argument)
{
    return (void *)(uintptr_t)med_ring_mpsc_recover(argument, 2);
}

static void
several_recover_at_once(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 64);
    for (uint32_t round = 0; round < 50; round++) {
        for (uint32_t i = 0; i < 64; i++) {
            (void)joined(&f, i % 2 ? 1 : 2);
        }
        med_port_thread threads[4];
        uintptr_t recovered = 0;
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(med_port_thread_start(&threads[i], NULL, recover_two, &f.view),
                             MEDLEY_OK);
        }
        for (uint32_t i = 0; i < 4; i++) {
            void *result;
            assert_int_equal(med_port_thread_join(threads[i], &result), MEDLEY_OK);
            recovered += (uintptr_t)result;
        }
        assert_int_equal(recovered, 32);
        assert_int_equal(med_ring_mpsc_recover(&f.view, 1), 32);
    }
    ring_end(&f);
}

static void
produce_for_ever(victim *me)
{
    const fixture *f = me->ring;
    victim_diary *d = me->diary;
    med_ring_mpsc_producer producer;
    uint32_t number = atomic32_load_relaxed(&d->done);
    for (;;) {
        if (med_ring_mpsc_producer_join(&producer, &f->view, me->owner) != MEDLEY_OK) {
            continue;
        }
        for (uint32_t i = 0; i < 20;) {
            uint64_t value = (uint64_t)me->owner << 32 | number;
            atomic32_store_relaxed(&d->begun, number + 1);
            if (med_ring_mpsc_push(&producer, &value) == MEDLEY_OK) {
                atomic32_store_relaxed(&d->done, ++number);
                i++;
            }
        }
        if (med_ring_mpsc_producer_leave(&producer) != MEDLEY_OK) {
            return;
        }
    }
}

/* Takes one element, if there is one; it is the next of its producer. */
static bool
take_checked(fixture *f, uint32_t *next)
{
    uint64_t value;
    medley_status_t status = med_ring_mpsc_pop(&f->consumer, &value);
    if (status != MEDLEY_OK) {
        assert_true(status == MEDLEY_EMPTY || status == MEDLEY_EMPTY_PRODUCER_INSERTING);
        return false;
    }
    assert_in_range(value >> 32, 1, 2);
    assert_int_equal((uint32_t)value, next[value >> 32]);
    next[value >> 32]++;
    return true;
}

/* Two children produce; again and again one is killed at some instruction, recovered, replaced. */
static void
producers_are_killed(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 16, 2);
    victim survivor = {produce_for_ever, &f, .owner = 1, .diary = victim_diary_new()};
    victim dying = {produce_for_ever, &f, .owner = 2, .diary = victim_diary_new()};
    uint32_t next[3] = {0};
    victim_start(&survivor);
    for (uint32_t kills = 0; kills < 60; kills++) {
        victim_start(&dying);
        uint32_t wanted = next[2] + 1 + kills * 7 % 40;
        while (next[2] < wanted) {
            (void)take_checked(&f, next);
        }
        victim_kill(&dying);
        (void)med_ring_mpsc_recover(&f.view, 2);
        uint32_t survivors = next[1] + 40; /* goes on meanwhile: more than is in the ring */
        while (next[1] < survivors) {
            (void)take_checked(&f, next);
        }
        uint32_t done = atomic32_load_relaxed(&dying.diary->done);
        uint32_t begun = atomic32_load_relaxed(&dying.diary->begun);
        assert_in_range(next[2], done, begun); /* nothing lost; the one in progress is open */
        atomic32_store_relaxed(&dying.diary->done, next[2]);
    }
    victim_kill(&survivor);
    while (take_checked(&f, next)) {
    }
    assert_in_range(next[1], atomic32_load_relaxed(&survivor.diary->done),
                    atomic32_load_relaxed(&survivor.diary->begun));
    ring_end(&f);
}

static void
consume_for_ever(victim *me)
{
    fixture *f = me->ring;
    victim_diary *d = me->diary;
    uint32_t number = atomic32_load_relaxed(&d->done);
    if (med_ring_mpsc_consumer_join(&f->consumer, &f->view, CONSUMER) != MEDLEY_OK) {
        return;
    }
    for (;;) {
        uint64_t value;
        atomic32_store_relaxed(&d->begun, number + 1);
        if (med_ring_mpsc_pop(&f->consumer, &value) == MEDLEY_OK) {
            if (value != number) {
                return;
            }
            atomic32_store_relaxed(&d->done, ++number);
        }
    }
}

static void
consumers_are_killed(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 16, 2);
    assert_int_equal(med_ring_mpsc_consumer_leave(&f.consumer), MEDLEY_OK);
    victim consumer = {consume_for_ever, &f, .diary = victim_diary_new()};
    victim_diary *d = consumer.diary;
    uint64_t sent = 0;
    for (uint32_t kills = 0; kills < 60; kills++) {
        victim_start(&consumer);
        med_ring_mpsc_producer producer;
        while (med_ring_mpsc_producer_join(&producer, &f.view, 1) != MEDLEY_OK) {
        }
        uint64_t enough = sent + 40 + kills;
        while (sent < enough) {
            sent += med_ring_mpsc_push(&producer, &sent) == MEDLEY_OK;
        }
        assert_int_equal(med_ring_mpsc_producer_leave(&producer), MEDLEY_OK);
        victim_kill(&consumer);
        (void)med_ring_mpsc_recover(&f.view, CONSUMER);
        /* What was released is gone, what was not is there: the first left is the next. */
        assert_int_equal(med_ring_mpsc_consumer_join(&f.consumer, &f.view, CONSUMER), MEDLEY_OK);
        uint32_t done = atomic32_load_relaxed(&d->done);
        uint32_t begun = atomic32_load_relaxed(&d->begun);
        void *slot = NULL;
        if (med_ring_mpsc_peek(&f.consumer, &slot) == MEDLEY_OK) {
            assert_in_range(*(uint64_t *)slot, done, begun);
            atomic32_store_relaxed(&d->done, (uint32_t) * (uint64_t *)slot);
        } else {
            assert_in_range(sent, done, begun);
            atomic32_store_relaxed(&d->done, (uint32_t)sent);
        }
        assert_int_equal(med_ring_mpsc_consumer_leave(&f.consumer), MEDLEY_OK);
    }
    ring_end(&f);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recover_takes_everything_a_dead_owner_had),
        cmocka_unit_test(the_next_consumer_goes_on),
        cmocka_unit_test(several_recover_at_once),
        cmocka_unit_test(producers_are_killed),
        cmocka_unit_test(consumers_are_killed),
    };
    return cmocka_run_group_tests_name("ring_mpsc_death", tests, NULL, NULL);
}
