/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One producer and one consumer at work on a ring of every kind: one at a time, asleep, in batches.
 */
#include "base/ring_stress.h"
#include "support/rings.h"
#include "support/unit.h"

/* Nobody sleeps longer before it looks whether the other has failed. */
#define LONG_NS 1000000000u

static void
run_one_to_one(ring_stress *stress, const ring_kind *kind, uint32_t capacity)
{
    ring_fixture f;
    ring_start(&f, kind, sizeof(uint64_t), capacity);
    stress->ring = &f;
    stress->producers = 1;
    stress->consumers = 1;
    const char *failure = ring_stress_run(stress);
    assert_string_equal(failure ? failure : "fine", "fine");
    ring_end(&f);
}

/* ---- Every kind ------------------------------------------------------------------------------ */

static bool
push_copy(ring_stress_side *side, uint64_t value)
{
    ring_fixture *f = side->stress->ring;
    return f->kind->push(&f->ends, &value) == MEDLEY_OK;
}

static bool
pop_copy(ring_stress_side *side, uint64_t *value)
{
    ring_fixture *f = side->stress->ring;
    return f->kind->pop(&f->ends, value) == MEDLEY_OK;
}

static bool
push_waiting(ring_stress_side *side, uint64_t value)
{
    ring_fixture *f = side->stress->ring;
    void *slot;
    if (f->kind->reserve_until(&f->ends, med_port_clock_ns() + LONG_NS, &slot) != MEDLEY_OK) {
        return false;
    }
    memcpy(slot, &value, sizeof value);
    f->kind->commit(&f->ends);
    return true;
}

static bool
pop_waiting(ring_stress_side *side, uint64_t *value)
{
    ring_fixture *f = side->stress->ring;
    void *element;
    if (f->kind->peek_until(&f->ends, med_port_clock_ns() + LONG_NS, &element) != MEDLEY_OK) {
        return false;
    }
    memcpy(value, element, sizeof *value);
    f->kind->release(&f->ends);
    return true;
}

static void
every_kind_one_at_a_time(void **state)
{
    (void)state;
    static ring_stress stress;
    stress = (ring_stress){.push = push_copy, .pop = pop_copy};
    for (uint32_t i = 0; i < RING_KINDS; i++) {
        stress.values = 200000;
        run_one_to_one(&stress, &ring_kinds[i], 64);
        stress.values = 20000; /* it gives way after every two: each a slice where others compute */
        run_one_to_one(&stress, &ring_kinds[i], 2);
        run_one_to_one(&stress, &ring_kinds[i], 1);
    }
}

static void
every_kind_asleep(void **state)
{
    (void)state;
    static ring_stress stress;
    stress = (ring_stress){.push = push_waiting, .pop = pop_waiting};
    for (uint32_t i = 0; i < RING_KINDS; i++) {
        stress.values = 100000;
        run_one_to_one(&stress, &ring_kinds[i], 256);
        stress.values = 5000;
        run_one_to_one(&stress, &ring_kinds[i], 2);
        run_one_to_one(&stress, &ring_kinds[i], 1);
    }
}

/* ---- One producer, one consumer: in batches -------------------------------------------------- */

/* A batch of random size that is open across calls: committed when it is filled. */
typedef struct open_batch {
    uint8_t *slots;
    uint32_t count, done;
} open_batch;

static bool
push_batch(ring_stress_side *side, uint64_t value)
{
    med_ring_producer *producer = &((ring_fixture *)side->stress->ring)->ends.spsc.producer;
    open_batch *batch = side->own;
    uint32_t wanted = 1 + ring_stress_random(side) % 40;
    void *slots = NULL;
    if (batch->count == 0 &&
        med_ring_reserve_many(producer, wanted, &slots, &batch->count) == MEDLEY_OK) {
        batch->slots = slots;
        batch->done = 0;
    }
    if (batch->count == 0) {
        return false;
    }
    memcpy(batch->slots + batch->done * producer->view.stride_bytes, &value, sizeof value);
    batch->done++;
    if (batch->done == batch->count || (uint32_t)value + 1 == side->stress->values) {
        med_ring_commit_many(producer, batch->done);
        batch->count = 0;
    }
    return true;
}

static bool
pop_batch(ring_stress_side *side, uint64_t *value)
{
    med_ring_consumer *consumer = &((ring_fixture *)side->stress->ring)->ends.spsc.consumer;
    open_batch *batch = side->own;
    uint32_t wanted = 1 + ring_stress_random(side) % 40;
    void *elements = NULL;
    if (batch->count == 0 &&
        med_ring_peek_many(consumer, wanted, &elements, &batch->count) == MEDLEY_OK) {
        batch->slots = elements;
        batch->done = 0;
    }
    if (batch->count == 0) {
        return false;
    }
    memcpy(value, batch->slots + batch->done * consumer->view.stride_bytes, sizeof *value);
    if (++batch->done == batch->count) {
        med_ring_release_many(consumer, batch->count);
        batch->count = 0;
    }
    return true;
}

static void
spsc_batches(void **state)
{
    (void)state;
    static const struct {
        bool (*push)(ring_stress_side *side, uint64_t value);
        bool (*pop)(ring_stress_side *side, uint64_t *value);
    } ways[] = {{push_batch, pop_batch}, {push_copy, pop_batch}, {push_batch, pop_copy}};
    static ring_stress stress;
    for (uint32_t layout = 0; layout < 2; layout++) {
        for (uint32_t i = 0; i < 3; i++) {
            open_batch batches[2] = {{0}};
            stress = (ring_stress){.values = 200000, .push = ways[i].push, .pop = ways[i].pop};
            stress.producer_own[0] = &batches[0];
            stress.consumer_own[0] = &batches[1];
            run_one_to_one(&stress, &ring_kinds[layout], 64);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_one_at_a_time),
        cmocka_unit_test(every_kind_asleep),
        cmocka_unit_test(spsc_batches),
    };
    return cmocka_run_group_tests_name("ring_stress", tests, NULL, NULL);
}
