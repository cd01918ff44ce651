/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The ring with many producers: lanes, their owners, order, fairness, scribbling. */
#include "base/ring_mpsc_test.h"

/* ---- Making ---------------------------------------------------------------------------------- */

static void
a_lane_that_fits_where_many_do_not_is_refused(void **state)
{
    (void)state;
    med_ring_mpsc_config config = {MED_RING_ELEMENT_MAX, 1u << 15, 1, 0};
    uint32_t size_bytes = 0;
    assert_int_equal(med_ring_mpsc_size(&config, &size_bytes), MEDLEY_OK);
    config.lanes = 4; /* more than 4 GiB */
    assert_int_equal(med_ring_mpsc_size(&config, &size_bytes), MEDLEY_ERR_ARGUMENT);
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

static void
a_lane_has_one_owner(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 2);
    med_ring_mpsc_producer third;
    assert_int_equal(med_ring_mpsc_producer_join(&third, &f.view, 0), MEDLEY_ERR_ARGUMENT);
    med_ring_mpsc_producer first = joined(&f, 1);
    med_ring_mpsc_producer second = joined(&f, 2);
    assert_int_not_equal(lane_of(&f, &first), lane_of(&f, &second));
    assert_int_equal(med_ring_mpsc_producer_join(&third, &f.view, 3), MEDLEY_ERR_LIMIT);
    assert_int_equal(med_ring_mpsc_producer_leave(&first), MEDLEY_OK);
    assert_int_equal(med_ring_mpsc_producer_leave(&first), MEDLEY_ERR_NOT_OWNER);
    third = joined(&f, 3);
    assert_int_equal(lane_of(&f, &third), lane_of(&f, &first));
    med_ring_mpsc_consumer other;
    assert_int_equal(med_ring_mpsc_consumer_join(&other, &f.view, 0), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_ring_mpsc_consumer_join(&other, &f.view, 101), MEDLEY_BUSY);
    assert_int_equal(med_ring_mpsc_consumer_leave(&f.consumer), MEDLEY_OK);
    assert_int_equal(med_ring_mpsc_consumer_leave(&f.consumer), MEDLEY_ERR_NOT_OWNER);
    assert_int_equal(med_ring_mpsc_consumer_join(&other, &f.view, 101), MEDLEY_OK);
    ring_end(&f);
}

static void
who_comes_back_goes_to_its_leftover(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 3);
    med_ring_mpsc_producer other = joined(&f, 2); /* lane 0, so that 1 is not just the first */
    med_ring_mpsc_producer producer = joined(&f, 1);
    uint32_t lane = lane_of(&f, &producer);
    push(&producer, 10);
    assert_int_equal(med_ring_mpsc_producer_leave(&other), MEDLEY_OK);
    assert_int_equal(med_ring_mpsc_producer_leave(&producer), MEDLEY_OK);
    producer = joined(&f, 1);
    assert_int_equal(lane_of(&f, &producer), lane);
    push(&producer, 11);
    expect(&f, 10);
    expect(&f, 11);
    /* Somebody holds its lane for a look: it has to come again, until the lane is drained. */
    push(&producer, 12);
    assert_int_equal(med_ring_mpsc_producer_leave(&producer), MEDLEY_OK);
    atomic32_store_relaxed(&f.view.roles[lane].owner, 3);
    assert_int_equal(med_ring_mpsc_producer_join(&producer, &f.view, 1), MEDLEY_BUSY);
    expect(&f, 12);
    producer = joined(&f, 1);
    assert_int_not_equal(lane_of(&f, &producer), lane);
    ring_end(&f);
}

static void
nobody_gets_anothers_leftover(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 1);
    med_ring_mpsc_producer producer = joined(&f, 1);
    push(&producer, 10);
    assert_int_equal(med_ring_mpsc_producer_leave(&producer), MEDLEY_OK);
    med_ring_mpsc_producer other;
    assert_int_equal(med_ring_mpsc_producer_join(&other, &f.view, 2), MEDLEY_BUSY);
    assert_int_equal(atomic32_load_relaxed(&f.view.roles[0].owner), 0);
    expect(&f, 10);
    other = joined(&f, 2);
    push(&other, 20);
    expect(&f, 20);
    ring_end(&f);
}

static void
the_map_forgets_lanes_and_learns_them_again(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, MED_RING_MPSC_LANES_MAX);
    expect_empty(&f);
    for (uint32_t i = 0; i < MED_RING_MPSC_LANES_MAX; i++) {
        assert_false(in_map(&f, i)); /* the new consumer set them all, and has looked */
    }
    static med_ring_mpsc_producer producers[MED_RING_MPSC_LANES_MAX];
    for (uint32_t i = 0; i < MED_RING_MPSC_LANES_MAX; i++) {
        producers[i] = joined(&f, i + 1);
        assert_true(in_map(&f, lane_of(&f, &producers[i])));
    }
    push(&producers[1000], 1);
    push(&producers[31], 2);
    push(&producers[32], 3);
    expect(&f, 2); /* from lane 0 on */
    expect(&f, 3);
    expect(&f, 1);
    push(&producers[700], 4);
    assert_int_equal(med_ring_mpsc_producer_leave(&producers[700]), MEDLEY_OK);
    expect(&f, 4);
    assert_true(in_map(&f, 700));
    expect_empty(&f);
    assert_false(in_map(&f, 700));
    assert_true(in_map(&f, 699));
    ring_end(&f);
}

/* ---- Passing elements ------------------------------------------------------------------------ */

static void
each_lane_is_full_for_itself(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 2);
    med_ring_mpsc_producer first = joined(&f, 1);
    med_ring_mpsc_producer second = joined(&f, 2);
    expect_empty(&f);
    for (uint32_t round = 0; round < 5; round++) {
        uint64_t value = 0;
        void *slot = NULL;
        for (uint32_t i = 0; i < 8; i++) {
            push(&first, 100 + i);
        }
        assert_int_equal(med_ring_mpsc_push(&first, &value), MEDLEY_FULL);
        assert_int_equal(med_ring_mpsc_peek(&f.consumer, &slot), MEDLEY_OK);
        assert_int_equal(*(uint64_t *)slot, 100);
        assert_int_equal(med_ring_mpsc_push(&first, &value), MEDLEY_FULL_CONSUMER_READING);
        push(&second, 200);
        for (uint32_t i = 0; i < 8; i++) {
            expect(&f, 100 + i);
        }
        expect(&f, 200);
        expect_empty(&f);
    }
    ring_end(&f);
}

static void
a_reservation_stands_in_nobodys_way(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 4, 3);
    med_ring_mpsc_producer stopped = joined(&f, 1);
    med_ring_mpsc_producer running = joined(&f, 2);
    void *slot = NULL;
    assert_int_equal(med_ring_mpsc_reserve(&stopped, &slot), MEDLEY_OK);
    *(uint64_t *)slot = 666;
    uint64_t value;
    assert_int_equal(med_ring_mpsc_pop(&f.consumer, &value), MEDLEY_EMPTY_PRODUCER_INSERTING);
    for (uint64_t i = 0; i < 100; i++) {
        push(&running, i);
        expect(&f, i);
    }
    med_ring_mpsc_reserve_cancel(&stopped);
    expect_empty(&f);
    ring_end(&f);
}

static void
batches_lie_side_by_side(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 2);
    med_ring_mpsc_producer producer = joined(&f, 1);
    uint64_t sent = 0, received = 0;
    for (uint32_t round = 0; round < 50; round++) {
        void *slots = NULL;
        uint32_t count = 0;
        assert_int_equal(med_ring_mpsc_reserve_many(&producer, 1 + round % 8, &slots, &count),
                         MEDLEY_OK);
        assert_in_range(count, 1, 1 + round % 8);
        for (uint32_t i = 0; i < count; i++) {
            ((uint64_t *)slots)[i] = sent++;
        }
        med_ring_mpsc_commit_many(&producer, count);
        while (received < sent) {
            void *elements = NULL;
            assert_int_equal(med_ring_mpsc_peek_many(&f.consumer, 3, &elements, &count), MEDLEY_OK);
            assert_in_range(count, 1, 3);
            for (uint32_t i = 0; i < count; i++) {
                assert_int_equal(((uint64_t *)elements)[i], received++);
            }
            med_ring_mpsc_release_many(&f.consumer, count);
        }
    }
    expect_empty(&f);
    ring_end(&f);
}

/* Those of whole KiB lie further apart than they are long. */
static void
batches_lie_side_by_side_whatever_their_elements(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {8, 24, 1024, 4096};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        fixture f;
        ring_start_of(&f, sizes[i], 8, 2);
        med_ring_mpsc_producer producer = joined(&f, 1);
        uint8_t element[4096] = {0};
        for (uint8_t n = 1; n <= 8; n++) {
            memset(element, n, sizes[i]);
            assert_int_equal(med_ring_mpsc_push(&producer, element), MEDLEY_OK);
        }
        for (uint8_t n = 1; n <= 8;) {
            void *elements = NULL;
            uint32_t count = 0;
            assert_int_equal(med_ring_mpsc_peek_many(&f.consumer, 8, &elements, &count), MEDLEY_OK);
            for (uint32_t k = 0; k < count; k++) {
                memset(element, n++, sizes[i]);
                assert_memory_equal((uint8_t *)elements + k * f.view.stride_bytes, element,
                                    sizes[i]);
            }
            med_ring_mpsc_release_many(&f.consumer, count);
        }
        ring_end(&f);
    }
}

/* A producer that never stops does not keep the others waiting longer than a run. */
static void
a_run_ends(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 1024, 2);
    med_ring_mpsc_producer busy = joined(&f, 1);
    med_ring_mpsc_producer quiet = joined(&f, 2);
    for (uint64_t i = 0; i < 1024; i++) {
        push(&busy, i);
    }
    expect(&f, 0);
    push(&quiet, 5000);
    uint32_t waited = 0;
    for (uint64_t value = 0; value != 5000; waited++) {
        void *elements = NULL;
        uint32_t count = 0;
        assert_int_equal(med_ring_mpsc_peek_many(&f.consumer, 1024, &elements, &count), MEDLEY_OK);
        value = *(uint64_t *)elements;
        med_ring_mpsc_release(&f.consumer);
        push(value == 5000 ? &quiet : &busy, 6000);
    }
    assert_in_range(waited, 1, MED_RING_MPSC_RUN_MAX);
    ring_end(&f);
}

/* ---- Scribbling ------------------------------------------------------------------------------ */

static void
a_scribbled_lane_is_emptied_and_the_others_go_on(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 3);
    med_ring_mpsc_producer bad = joined(&f, 1);
    med_ring_mpsc_producer good = joined(&f, 2);
    static const uint32_t wrong[] = {9, 1000, 0x80000000u, UINT32_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        med_ring *ring = med_ring_mpsc_lane(&f.view, lane_of(&f, &bad));
        push(&bad, 10);
        push(&good, 20);
        atomic32_store_relaxed(&ring->producer.tail,
                               atomic32_load_relaxed(&ring->consumer.head) + wrong[i]);
        uint64_t value;
        bool bad_seen = false, good_seen = false;
        for (uint32_t k = 0; k < 2; k++) {
            medley_status_t status = med_ring_mpsc_pop(&f.consumer, &value);
            bad_seen = bad_seen || status == MEDLEY_ERR_CORRUPT;
            good_seen = good_seen || (status == MEDLEY_OK && value == 20);
        }
        assert_true(bad_seen && good_seen);
        medley_status_t status = med_ring_mpsc_pop(&f.consumer, &value);
        assert_true(status == MEDLEY_EMPTY || status == MEDLEY_EMPTY_PRODUCER_INSERTING);
        assert_int_equal(med_ring_mpsc_producer_leave(&bad), MEDLEY_OK);
        bad = joined(&f, 1);
        push(&bad, 11);
        expect(&f, 11);
    }
    ring_end(&f);
}

static void
join_passes_over_scribbled_lanes(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 3);
    med_ring_mpsc_producer producer;
    expect_empty(&f);                                   /* and the map is empty now */
    med_ring_config other = {MED_RING_PACKED, 8, 4, 0}; /* a right ring, but not of our shape */
    assert_int_equal(med_ring_init(med_ring_mpsc_lane(&f.view, 0), f.view.lane_bytes, &other),
                     MEDLEY_OK);
    atomic32_store_relaxed(&med_ring_mpsc_lane(&f.view, 1)->producer.tail, 77);
    producer = joined(&f, 1);
    assert_int_equal(lane_of(&f, &producer), 2);
    assert_int_equal(med_ring_mpsc_producer_join(&producer, &f.view, 2), MEDLEY_BUSY);
    uint64_t value;
    assert_int_equal(med_ring_mpsc_pop(&f.consumer, &value), MEDLEY_ERR_CORRUPT);
    producer = joined(&f, 2); /* the consumer has emptied lane 1 */
    assert_int_equal(lane_of(&f, &producer), 1);
    assert_int_equal(med_ring_mpsc_producer_join(&producer, &f.view, 3), MEDLEY_ERR_CORRUPT);
    ring_end(&f);
}

static void
bits_of_no_lane_lead_nowhere(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 33);
    for (uint32_t i = 0; i < MED_RING_MPSC_LANES_MAX / 32; i++) {
        atomic32_store_relaxed(&f.view.ring->map[i], UINT32_MAX);
    }
    expect_empty(&f);
    ring_end(&f);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lane_that_fits_where_many_do_not_is_refused),
        cmocka_unit_test(a_lane_has_one_owner),
        cmocka_unit_test(who_comes_back_goes_to_its_leftover),
        cmocka_unit_test(nobody_gets_anothers_leftover),
        cmocka_unit_test(the_map_forgets_lanes_and_learns_them_again),
        cmocka_unit_test(each_lane_is_full_for_itself),
        cmocka_unit_test(a_reservation_stands_in_nobodys_way),
        cmocka_unit_test(batches_lie_side_by_side),
        cmocka_unit_test(batches_lie_side_by_side_whatever_their_elements),
        cmocka_unit_test(a_run_ends),
        cmocka_unit_test(a_scribbled_lane_is_emptied_and_the_others_go_on),
        cmocka_unit_test(join_passes_over_scribbled_lanes),
        cmocka_unit_test(bits_of_no_lane_lead_nowhere),
    };
    return cmocka_run_group_tests_name("ring_mpsc", tests, NULL, NULL);
}
