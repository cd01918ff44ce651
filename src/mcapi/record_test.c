/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Records of one lane, step by step: the producer may stand anywhere between the stores by which a
 * record is found, while the consumer counts what there is and takes it. */
#include <string.h>

#include "mcapi/record.h"
#include "support/unit.h"

#define GRANULES 16u

typedef struct fixture {
    _Alignas(128) unsigned char memory[sizeof(med_ring) + GRANULES * MED_LANE_GRANULE_BYTES];
    med_lane_row row;
    med_ring_producer producer;
    med_lane_own lane;
} fixture;

static fixture all;

static int
lane_up(void **state)
{
    const med_ring_config config = {MED_RING_PACKED, MED_LANE_GRANULE_BYTES, GRANULES,
                                    UINT32_MAX - 5};
    memset(&all, 0, sizeof all);
    assert_int_equal(med_ring_init(all.memory, sizeof all.memory, &config), MEDLEY_OK);
    assert_int_equal(med_ring_producer_attach(&all.producer, all.memory, sizeof all.memory,
                                              MED_PORT_SCOPE_PROCESS),
                     MEDLEY_OK);
    assert_int_equal(med_ring_consumer_attach(&all.lane.consumer.ring, all.memory,
                                              sizeof all.memory, MED_PORT_SCOPE_PROCESS),
                     MEDLEY_OK);
    all.lane.consumer.row = &all.row;
    all.lane.consumer.plain_max = med_record_plain_max(&all.producer.view);
    *state = &all;
    return 0;
}

/* All but the tail: where that is to be. The producer knows of all the room there is, so that one
 * record leads on to the next. */
static uint32_t
record_begin(fixture *f, unsigned char number, uint32_t bytes)
{
    unsigned char *slot;
    uint32_t granules = med_record_granules(bytes);
    uint32_t tail = med_ring_tail(&f->producer);
    assert_int_equal(med_ring_look_for_space(&f->producer, tail), MEDLEY_OK);
    assert_int_equal(med_record_reserve(&f->producer, granules, &slot), MEDLEY_OK);
    uint32_t next = med_ring_tail(&f->producer) + granules;
    uint32_t leads_on = med_record_lead_on(&f->producer, next);
    memset(slot + sizeof(med_record_header), number, bytes);
    med_record_header_set(slot, MED_RECORD_PLAIN | leads_on, bytes);
    return next;
}

static void
record_send(fixture *f, unsigned char number, uint32_t bytes)
{
    med_ring_hand_over(&f->producer, record_begin(f, number, bytes));
}

static void
expect_record(fixture *f, unsigned char number)
{
    med_record record;
    assert_int_equal(med_record_peek(&f->lane, &record), MEDLEY_OK);
    assert_int_equal(record.payload[0], number);
    med_record_pass(&f->lane, record.granules, record.leads_on);
}

static void
expect_none(fixture *f)
{
    med_record record;
    assert_int_equal(med_record_count(&f->lane), 0);
    assert_int_not_equal(med_record_peek(&f->lane, &record), MEDLEY_OK);
}

/* What one look found is at most what fits. */
static void
expect_distance(const fixture *f)
{
    assert_in_range(f->lane.consumer.ring.pace.found_bytes, 0, GRANULES * MED_LANE_GRANULE_BYTES);
}

/* The producer stands between the header and the tail, and there is one before, or none. */
static void
header_alone(void **state)
{
    fixture *f = *state;
    expect_none(f);
    record_send(f, 1, 8);
    assert_int_equal(med_record_count(&f->lane), 1);
    expect_record(f, 1);
    for (unsigned char number = 2; number < 100; number += 2) {
        uint32_t next = record_begin(f, number, 8);
        assert_int_equal(med_record_count(&f->lane), 1);
        assert_int_equal(med_record_count(&f->lane), 1); /* and stays found */
        expect_distance(f);
        med_ring_hand_over(&f->producer, next);
        next = record_begin(f, number + 1, 40);
        assert_int_equal(med_record_count(&f->lane), 2);
        expect_record(f, number);
        assert_int_equal(med_record_count(&f->lane), 1);
        expect_record(f, number + 1);
        expect_none(f); /* the tail lags behind what was received */
        expect_distance(f);
        med_ring_hand_over(&f->producer, next);
        expect_none(f);
    }
}

/* One that names a buffer. */
static void
buffer_send(fixture *f)
{
    med_pool_buffer name = {0};
    uint32_t next = record_begin(f, 0, sizeof name);
    unsigned char *slot = med_record_at(&f->producer.view, next - 1);
    med_record_header_set(slot, MED_RECORD_BUFFER, 4000);
    med_ring_hand_over(&f->producer, next);
}

static void
record_drop(fixture *f)
{
    med_record record;
    assert_int_equal(med_record_peek(&f->lane, &record), MEDLEY_OK);
    med_record_pass(&f->lane, record.granules, record.leads_on);
}

/* The producer counts the buffers under way, and neither what is short, nor the ring's end that was
 * skipped. */
static void
buffers_are_counted(void **state)
{
    fixture *f = *state;
    for (unsigned round = 0; round < 60; round++) {
        assert_int_equal(med_record_count_buffers(&f->producer, 1), 0);
        record_send(f, 1, 100);
        buffer_send(f);
        record_send(f, 2, round % 2 ? 8 : 40);
        buffer_send(f);
        assert_int_equal(med_record_count_buffers(&f->producer, 8), 2);
        assert_int_equal(med_record_count_buffers(&f->producer, 2), 2);
        assert_int_equal(med_record_count_buffers(&f->producer, 1), 1);
        assert_int_equal(med_record_count_buffers(&f->producer, 0), 0);
        for (unsigned i = 0; i < 4; i++) {
            record_drop(f);
        }
        assert_int_equal(med_ring_look_for_space(&f->producer, med_ring_tail(&f->producer)),
                         MEDLEY_OK);
    }
}

/* The receiver wrote over them, or lies about how far it is: never more than there are granules. */
static void
spoilt_records_are_counted_as_buffers(void **state)
{
    fixture *f = *state;
    static const uint32_t kinds[] = {MED_RECORD_NONE, MED_RECORD_SKIP, MED_RECORD_PLAIN,
                                     MED_RECORD_BUFFER, 77};
    static const uint32_t lengths[] = {0, 24, 56, 4000, UINT32_MAX};
    buffer_send(f);
    uint32_t first = med_ring_tail(&f->producer);
    record_send(f, 1, 24);
    buffer_send(f);
    for (unsigned i = 0; i < 25; i++) {
        unsigned char *slot = med_record_at(&f->producer.view, first);
        med_record_header_set(slot, kinds[i / 5], lengths[i % 5]);
        assert_in_range(med_record_count_buffers(&f->producer, 100), 1, 3);
    }
    med_record_header_set(med_record_at(&f->producer.view, first), MED_RECORD_NONE, 0);
    assert_int_equal(med_record_count_buffers(&f->producer, 100), 3);
    assert_int_equal(med_record_count_buffers(&f->producer, 2), 2);
}

/* What is counted is what is received, by the tail or the header: where the last does not lead on,
 * where headers are not asked any more, where the ring keeps its distance. */
static void
counted_is_received(void **state)
{
    fixture *f = *state;
    for (unsigned char number = 0; number < 60; number += 2) {
        record_send(f, number, 8);
        uint32_t next = record_begin(f, number + 1, 8);
        f->lane.consumer.leads_on = number % 3 == 0;
        f->lane.consumer.headers = number % 4;
        f->lane.consumer.ring.pace.moment_ns = number % 5 == 0;
        uint32_t count = med_record_count(&f->lane);
        assert_in_range(count, 1, 2);
        for (uint32_t i = 0; i < count; i++) {
            expect_record(f, (unsigned char)(number + i));
        }
        med_ring_hand_over(&f->producer, next);
        if (count == 1) {
            expect_record(f, number + 1);
        }
        expect_none(f);
    }
}

/* Up to the last granule, and not round. */
static void
full(void **state)
{
    fixture *f = *state;
    for (unsigned char number = 0; number < GRANULES; number++) {
        assert_int_equal(med_record_count(&f->lane), number);
        record_send(f, number, 8);
    }
    assert_int_equal(med_record_count(&f->lane), GRANULES);
    assert_int_equal(med_record_count(&f->lane), GRANULES);
    expect_distance(f);
    for (unsigned char number = 0; number < GRANULES; number++) {
        expect_record(f, number);
    }
    expect_none(f);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(header_alone, lane_up),
        cmocka_unit_test_setup(counted_is_received, lane_up),
        cmocka_unit_test_setup(full, lane_up),
        cmocka_unit_test_setup(buffers_are_counted, lane_up),
        cmocka_unit_test_setup(spoilt_records_are_counted_as_buffers, lane_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
