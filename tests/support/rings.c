/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One row per ring: rings.h. */
#include "support/rings.h"

#include "support/process.h"
#include "support/unit.h"

#define PRODUCER 1u /* owner numbers */
#define CONSUMER 2u

/* What differs in no more than the names. */
#define OPERATIONS(kind, prefix, look)                                                             \
    static medley_status_t kind##_reserve(ring_ends *ends, void **slot)                            \
    {                                                                                              \
        return prefix##_reserve(&ends->kind.producer, slot);                                       \
    }                                                                                              \
    static medley_status_t kind##_reserve_until(ring_ends *ends, uint64_t deadline_ns,             \
                                                void **slot)                                       \
    {                                                                                              \
        return prefix##_reserve_until(&ends->kind.producer, deadline_ns, slot);                    \
    }                                                                                              \
    static void kind##_cancel(ring_ends *ends)                                                     \
    {                                                                                              \
        prefix##_reserve_cancel(&ends->kind.producer);                                             \
    }                                                                                              \
    static void kind##_commit(ring_ends *ends)                                                     \
    {                                                                                              \
        prefix##_commit(&ends->kind.producer);                                                     \
    }                                                                                              \
    static medley_status_t kind##_push(ring_ends *ends, const void *element)                       \
    {                                                                                              \
        return prefix##_push(&ends->kind.producer, element);                                       \
    }                                                                                              \
    static medley_status_t kind##_peek(ring_ends *ends, void **element)                            \
    {                                                                                              \
        return prefix##_##look(&ends->kind.consumer, element);                                     \
    }                                                                                              \
    static medley_status_t kind##_peek_until(ring_ends *ends, uint64_t deadline_ns,                \
                                             void **element)                                       \
    {                                                                                              \
        return prefix##_##look##_until(&ends->kind.consumer, deadline_ns, element);                \
    }                                                                                              \
    static void kind##_release(ring_ends *ends)                                                    \
    {                                                                                              \
        prefix##_release(&ends->kind.consumer);                                                    \
    }                                                                                              \
    static medley_status_t kind##_pop(ring_ends *ends, void *element)                              \
    {                                                                                              \
        return prefix##_pop(&ends->kind.consumer, element);                                        \
    }

#define ROW_OF(kind)                                                                               \
    .size = kind##_size, .init = kind##_init, .attach = kind##_attach, .reserve = kind##_reserve,  \
    .reserve_until = kind##_reserve_until, .cancel = kind##_cancel, .commit = kind##_commit,       \
    .push = kind##_push, .peek = kind##_peek, .peek_until = kind##_peek_until,                     \
    .release = kind##_release, .pop = kind##_pop, .each_slice = kind##_each_slice,                 \
    .data = kind##_data, .space = kind##_space, .consumer_sleeps = kind##_consumer_sleeps,         \
    .producer_sleeps = kind##_producer_sleeps

/* ---- One producer, one consumer -------------------------------------------------------------- */

OPERATIONS(spsc, med_ring, peek)

static med_ring_config
spsc_config(const ring_wanted *w)
{
    return (med_ring_config){(med_ring_layout)w->special, w->element_bytes, w->capacity,
                             RING_NEAR_WRAP};
}

static medley_status_t
spsc_size(const ring_wanted *wanted, uint32_t *size_bytes)
{
    med_ring_config config = spsc_config(wanted);
    return med_ring_size(&config, size_bytes);
}

static medley_status_t
spsc_init(void *memory, size_t memory_bytes, const ring_wanted *wanted)
{
    med_ring_config config = spsc_config(wanted);
    return med_ring_init(memory, memory_bytes, &config);
}

static medley_status_t
spsc_attach(ring_ends *ends, void *memory, size_t memory_bytes)
{
    medley_status_t status =
        med_ring_producer_attach(&ends->spsc.producer, memory, memory_bytes, MED_PORT_SCOPE_SHARED);
    medley_status_t other =
        med_ring_consumer_attach(&ends->spsc.consumer, memory, memory_bytes, MED_PORT_SCOPE_SHARED);
    return status == MEDLEY_OK ? other : status;
}

static void
spsc_each_slice(ring_ends *ends, medley_status_t (*call)(void *context), void *context)
{
    ends->spsc.producer.sleep.each_slice = call;
    ends->spsc.producer.sleep.context = context;
    ends->spsc.consumer.sleep.each_slice = call;
    ends->spsc.consumer.sleep.context = context;
}

static med_wait *
spsc_data(ring_ends *ends)
{
    return &ends->spsc.consumer.view.ring->producer.data;
}

static med_wait *
spsc_space(ring_ends *ends)
{
    return &ends->spsc.producer.view.ring->consumer.space;
}

/* As somebody who waits for a full lane or ring with one consumer to have room. */
static void
sleeps_for_space(const med_ring_producer *producer)
{
    med_ring_consumer_end *end = &producer->view.ring->consumer;
    atomic32_store_relaxed(&end->space.word, MED_WAIT_SLEEPS);
    atomic32_store_relaxed(&end->stop, producer->tail - producer->view.mask - 1);
}

static void
spsc_consumer_sleeps(ring_ends *ends)
{
    med_ring_producer_end *end = &ends->spsc.consumer.view.ring->producer;
    atomic32_store_relaxed(&end->data.word, MED_WAIT_SLEEPS);
    atomic32_store_relaxed(&end->stop, ends->spsc.consumer.head);
}

static void
spsc_producer_sleeps(ring_ends *ends)
{
    sleeps_for_space(&ends->spsc.producer);
}

/* ---- Many producers, one consumer ------------------------------------------------------------ */

OPERATIONS(mpsc, med_ring_mpsc, peek)

static med_ring_mpsc_config
mpsc_config(const ring_wanted *w)
{
    return (med_ring_mpsc_config){w->element_bytes, w->capacity, w->special, RING_NEAR_WRAP};
}

static medley_status_t
mpsc_size(const ring_wanted *wanted, uint32_t *size_bytes)
{
    med_ring_mpsc_config config = mpsc_config(wanted);
    return med_ring_mpsc_size(&config, size_bytes);
}

static medley_status_t
mpsc_init(void *memory, size_t memory_bytes, const ring_wanted *wanted)
{
    med_ring_mpsc_config config = mpsc_config(wanted);
    return med_ring_mpsc_init(memory, memory_bytes, &config);
}

/* Also where both ends are there already: nobody else is. */
static medley_status_t
mpsc_attach(ring_ends *ends, void *memory, size_t memory_bytes)
{
    medley_status_t status =
        med_ring_mpsc_attach(&ends->mpsc.view, memory, memory_bytes, MED_PORT_SCOPE_SHARED);
    if (status != MEDLEY_OK) {
        return status;
    }
    (void)med_ring_mpsc_recover(&ends->mpsc.view, PRODUCER);
    (void)med_ring_mpsc_recover(&ends->mpsc.view, CONSUMER);
    status = med_ring_mpsc_consumer_join(&ends->mpsc.consumer, &ends->mpsc.view, CONSUMER);
    medley_status_t other =
        med_ring_mpsc_producer_join(&ends->mpsc.producer, &ends->mpsc.view, PRODUCER);
    return status == MEDLEY_OK ? other : status;
}

static void
mpsc_each_slice(ring_ends *ends, medley_status_t (*call)(void *context), void *context)
{
    ends->mpsc.producer.lane.sleep.each_slice = call;
    ends->mpsc.producer.lane.sleep.context = context;
    ends->mpsc.consumer.lane.sleep.each_slice = call;
    ends->mpsc.consumer.lane.sleep.context = context;
}

static med_wait *
mpsc_data(ring_ends *ends)
{
    return &ends->mpsc.view.ring->data;
}

static med_wait *
mpsc_space(ring_ends *ends)
{
    return &ends->mpsc.producer.lane.view.ring->consumer.space;
}

static void
mpsc_consumer_sleeps(ring_ends *ends)
{
    atomic32_store_relaxed(&mpsc_data(ends)->word, MED_WAIT_SLEEPS);
}

static void
mpsc_producer_sleeps(ring_ends *ends)
{
    sleeps_for_space(&ends->mpsc.producer.lane);
}

/* ---- Many producers, many consumers ---------------------------------------------------------- */

OPERATIONS(mpmc, med_ring_mpmc, take)

static med_ring_mpmc_config
mpmc_config(const ring_wanted *w)
{
    return (med_ring_mpmc_config){w->element_bytes, w->capacity, w->special, RING_NEAR_WRAP};
}

static medley_status_t
mpmc_size(const ring_wanted *wanted, uint32_t *size_bytes)
{
    med_ring_mpmc_config config = mpmc_config(wanted);
    return med_ring_mpmc_size(&config, size_bytes);
}

static medley_status_t
mpmc_init(void *memory, size_t memory_bytes, const ring_wanted *wanted)
{
    med_ring_mpmc_config config = mpmc_config(wanted);
    return med_ring_mpmc_init(memory, memory_bytes, &config);
}

static medley_status_t
mpmc_attach(ring_ends *ends, void *memory, size_t memory_bytes)
{
    medley_status_t status =
        med_ring_mpmc_attach(&ends->mpmc.view, memory, memory_bytes, MED_PORT_SCOPE_SHARED);
    if (status != MEDLEY_OK) {
        return status;
    }
    (void)med_ring_mpmc_recover(&ends->mpmc.view, PRODUCER, NULL);
    (void)med_ring_mpmc_recover(&ends->mpmc.view, CONSUMER, NULL);
    status = med_ring_mpmc_join(&ends->mpmc.producer, &ends->mpmc.view, PRODUCER);
    medley_status_t other = med_ring_mpmc_join(&ends->mpmc.consumer, &ends->mpmc.view, CONSUMER);
    return status == MEDLEY_OK ? other : status;
}

static void
mpmc_each_slice(ring_ends *ends, medley_status_t (*call)(void *context), void *context)
{
    ends->mpmc.producer.sleep.each_slice = call;
    ends->mpmc.producer.sleep.context = context;
    ends->mpmc.consumer.sleep.each_slice = call;
    ends->mpmc.consumer.sleep.context = context;
}

static med_wait *
mpmc_data(ring_ends *ends)
{
    return &ends->mpmc.view.ring->data;
}

static med_wait *
mpmc_space(ring_ends *ends)
{
    return &ends->mpmc.view.ring->space;
}

static void
mpmc_consumer_sleeps(ring_ends *ends)
{
    atomic32_store_relaxed(&mpmc_data(ends)->word, MED_WAIT_SLEEPS);
}

static void
mpmc_producer_sleeps(ring_ends *ends)
{
    atomic32_store_relaxed(&mpmc_space(ends)->word, MED_WAIT_SLEEPS);
}

/* ---- The table ------------------------------------------------------------------------------- */

const ring_kind ring_kinds[RING_KINDS] = {
    {"line", MED_RING_LINE, {0, 3}, sizeof(med_ring), ROW_OF(spsc)},
    {"packed", MED_RING_PACKED, {0, 3}, sizeof(med_ring), ROW_OF(spsc)},
    {"mpsc", 3, {0, MED_RING_MPSC_LANES_MAX + 1}, sizeof(med_ring_mpsc), ROW_OF(mpsc)},
    {"mpmc", 3, {0, MED_RING_MPMC_SIDES_MAX + 1}, sizeof(med_ring_mpmc), ROW_OF(mpmc)},
};

void
ring_start(ring_fixture *f, const ring_kind *kind, uint32_t element_bytes, uint32_t capacity)
{
    ring_wanted wanted = {kind->special, element_bytes, capacity};
    *f = (ring_fixture){.kind = kind, .element_bytes = element_bytes};
    assert_int_equal(kind->size(&wanted, &f->size_bytes), MEDLEY_OK);
    f->memory = process_shared_memory(f->size_bytes);
    assert_int_equal(kind->init(f->memory, f->size_bytes, &wanted), MEDLEY_OK);
    assert_int_equal(kind->attach(&f->ends, f->memory, f->size_bytes), MEDLEY_OK);
}

void
ring_end(ring_fixture *f)
{
    assert_int_equal(munmap(f->memory, f->size_bytes), 0);
}
