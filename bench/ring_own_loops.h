/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The loops over our own ring. Included by ring_own.c as the ring is, and by ring_own_silent.c with
 * operations that do not look for who sleeps: the same loops, so that only the check differs.
 */
#include <stdlib.h>
#include <string.h>

#include "base/ring_spsc.h"
#include "ring_bench.h"

/* Each side's handle on lines of its own, as in two processes. */
typedef struct own_sides {
    _Alignas(128) med_ring_producer producer;
    _Alignas(128) med_ring_consumer consumer;
} own_sides;

static bool
own_config(ring_work work, med_ring_layout layout, med_ring_config *config, uint32_t *size_bytes)
{
    *config = (med_ring_config){.layout = layout,
                                .element_bytes = ring_work_words(work) * 8,
                                .capacity = ring_work_capacity(work)};
    return med_ring_size(config, size_bytes) == MEDLEY_OK;
}

static size_t
own_size(ring_work work, med_ring_layout layout)
{
    med_ring_config config;
    uint32_t size_bytes = 0;
    (void)own_config(work, layout, &config, &size_bytes);
    return size_bytes + sizeof(own_sides) + 128;
}

static bool
own_make(ring_run *run, med_ring_layout layout)
{
    med_ring_config config;
    uint32_t size_bytes;
    if (!own_config(run->work, layout, &config, &size_bytes)) {
        return false;
    }
    uintptr_t after = ((uintptr_t)run->memory + size_bytes + 127) / 128 * 128;
    own_sides *sides = (own_sides *)after; /* NOLINT(performance-no-int-to-ptr) */
    run->system = sides;
    return med_ring_init(run->memory, size_bytes, &config) == MEDLEY_OK &&
           med_ring_producer_attach(&sides->producer, run->memory, size_bytes,
                                    MED_PORT_SCOPE_SHARED) == MEDLEY_OK &&
           med_ring_consumer_attach(&sides->consumer, run->memory, size_bytes,
                                    MED_PORT_SCOPE_SHARED) == MEDLEY_OK;
}

static inline med_ring_producer *
producer_of(const ring_run *run)
{
    return &((own_sides *)run->system)->producer;
}

static inline med_ring_consumer *
consumer_of(const ring_run *run)
{
    return &((own_sides *)run->system)->consumer;
}

RING_INLINE void
own_produce_one(const ring_run *run, med_ring_layout layout, uint32_t words)
{
    med_ring_producer *producer = producer_of(run);
    for (uint64_t i = 0; i < run->count; i++) {
        void *slot;
        while (med_ring_reserve_as(producer, layout, &slot) != MEDLEY_OK) {
            med_port_cpu_relax();
        }
        ring_fill(slot, words, i);
        med_ring_commit_as(producer, layout);
    }
}

RING_INLINE void
own_consume_one(ring_run *run, med_ring_layout layout, uint32_t words)
{
    med_ring_consumer *consumer = consumer_of(run);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < run->count; i++) {
        void *element;
        while (med_ring_peek_as(consumer, layout, &element) != MEDLEY_OK) {
            med_port_cpu_relax();
        }
        wrong |= ring_check(element, words, i);
        med_ring_release(consumer);
    }
    run->wrong = wrong;
}

RING_INLINE void
own_produce_burst(const ring_run *run, med_ring_layout layout, uint32_t words)
{
    med_ring_producer *producer = producer_of(run);
    uint32_t stride_words = layout == MED_RING_PACKED ? words : producer->view.stride_bytes / 8;
    for (uint64_t i = 0; i < run->count;) {
        void *slots;
        uint32_t count;
        if (med_ring_reserve_many_as(producer, layout, RING_BURST, &slots, &count) != MEDLEY_OK) {
            med_port_cpu_relax();
            continue;
        }
        for (uint32_t n = 0; n < count; n++) {
            ring_fill((uint64_t *)slots + (size_t)n * stride_words, words, i + n);
        }
        med_ring_commit_many_as(producer, layout, count);
        i += count;
    }
}

RING_INLINE void
own_consume_burst(ring_run *run, med_ring_layout layout, uint32_t words)
{
    med_ring_consumer *consumer = consumer_of(run);
    uint32_t stride_words = layout == MED_RING_PACKED ? words : consumer->view.stride_bytes / 8;
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < run->count;) {
        void *elements;
        uint32_t count;
        if (med_ring_peek_many_as(consumer, layout, RING_BURST, &elements, &count) != MEDLEY_OK) {
            med_port_cpu_relax();
            continue;
        }
        for (uint32_t n = 0; n < count; n++) {
            wrong |= ring_check((uint64_t *)elements + (size_t)n * stride_words, words, i + n);
        }
        med_ring_release_many(consumer, count);
        i += count;
    }
    run->wrong = wrong;
}

/* `ahead`: how many elements are filled before the first of them is pushed. */
RING_INLINE void
own_produce_copy(const ring_run *run, med_ring_layout layout, uint32_t words, uint32_t ahead)
{
    med_ring_producer *producer = producer_of(run);
    uint64_t filled[RING_BURST][3];
    for (uint64_t i = 0; i < run->count; i += ahead) {
        for (uint32_t n = 0; n < ahead; n++) {
            ring_fill(filled[n], words, i + n);
        }
        for (uint32_t n = 0; n < ahead; n++) {
            while (med_ring_push_as(producer, layout, filled[n], words * 8) != MEDLEY_OK) {
                med_port_cpu_relax();
            }
        }
    }
}

RING_INLINE void
own_consume_copy(ring_run *run, med_ring_layout layout, uint32_t words)
{
    med_ring_consumer *consumer = consumer_of(run);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < run->count; i++) {
        uint64_t element[3];
        while (med_ring_pop_as(consumer, layout, element, words * 8) != MEDLEY_OK) {
            med_port_cpu_relax();
        }
        wrong |= ring_check(element, words, i);
    }
    run->wrong = wrong;
}

RING_INLINE void
own_produce_touch(const ring_run *run, med_ring_layout layout, uint32_t words)
{
    med_ring_producer *producer = producer_of(run);
    for (uint64_t i = 0; i < run->count; i++) {
        void *slot;
        while (med_ring_reserve_as(producer, layout, &slot) != MEDLEY_OK) {
            med_port_cpu_relax();
        }
        ((uint64_t *)slot)[0] = i;
        ((uint64_t *)slot)[words - 1] = ~i;
        med_ring_commit_as(producer, layout);
    }
}

RING_INLINE void
own_consume_touch(ring_run *run, med_ring_layout layout, uint32_t words)
{
    med_ring_consumer *consumer = consumer_of(run);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < run->count; i++) {
        void *element;
        while (med_ring_peek_as(consumer, layout, &element) != MEDLEY_OK) {
            med_port_cpu_relax();
        }
        wrong |= ((uint64_t *)element)[0] ^ i;
        wrong |= ((uint64_t *)element)[words - 1] ^ ~i;
        med_ring_release(consumer);
    }
    run->wrong = wrong;
}

/* One function per kind of work, so that each loop is compiled for its layout and its size. */
#define OWN_LOOP(prefix, name, run_type, call)                                                     \
    static void prefix##name(void *argument)                                                       \
    {                                                                                              \
        run_type *run = argument;                                                                  \
        call;                                                                                      \
    }

#define OWN_SYSTEM(variable, prefix, text, layout, made_layout)                                    \
    OWN_LOOP(prefix, p_one_8, const ring_run, own_produce_one(run, layout(producer_of), 1))        \
    OWN_LOOP(prefix, c_one_8, ring_run, own_consume_one(run, layout(consumer_of), 1))              \
    OWN_LOOP(prefix, p_one_24, const ring_run, own_produce_one(run, layout(producer_of), 3))       \
    OWN_LOOP(prefix, c_one_24, ring_run, own_consume_one(run, layout(consumer_of), 3))             \
    OWN_LOOP(prefix, p_burst_8, const ring_run, own_produce_burst(run, layout(producer_of), 1))    \
    OWN_LOOP(prefix, c_burst_8, ring_run, own_consume_burst(run, layout(consumer_of), 1))          \
    OWN_LOOP(prefix, p_burst_24, const ring_run, own_produce_burst(run, layout(producer_of), 3))   \
    OWN_LOOP(prefix, c_burst_24, ring_run, own_consume_burst(run, layout(consumer_of), 3))         \
    OWN_LOOP(prefix, p_copy_8, const ring_run, own_produce_copy(run, layout(producer_of), 1, 32))  \
    OWN_LOOP(prefix, c_copy_8, ring_run, own_consume_copy(run, layout(consumer_of), 1))            \
    OWN_LOOP(prefix, p_copy_24, const ring_run, own_produce_copy(run, layout(producer_of), 3, 32)) \
    OWN_LOOP(prefix, c_copy_24, ring_run, own_consume_copy(run, layout(consumer_of), 3))           \
    OWN_LOOP(prefix, p_fresh_24, const ring_run, own_produce_copy(run, layout(producer_of), 3, 1)) \
    OWN_LOOP(prefix, p_touch, const ring_run, own_produce_touch(run, layout(producer_of), 512))    \
    OWN_LOOP(prefix, c_touch, ring_run, own_consume_touch(run, layout(consumer_of), 512))          \
    OWN_LOOP(prefix, p_whole, const ring_run, own_produce_one(run, layout(producer_of), 512))      \
    OWN_LOOP(prefix, c_whole, ring_run, own_consume_one(run, layout(consumer_of), 512))            \
    static bool prefix##make(ring_run *run)                                                        \
    {                                                                                              \
        return own_make(run, made_layout);                                                         \
    }                                                                                              \
    static size_t prefix##size(ring_work work)                                                     \
    {                                                                                              \
        return own_size(work, made_layout);                                                        \
    }                                                                                              \
    const ring_system variable = {                                                                 \
        text,                                                                                      \
        prefix##size,                                                                              \
        prefix##make,                                                                              \
        {prefix##p_one_8, prefix##p_one_24, prefix##p_burst_8, prefix##p_burst_24,                 \
         prefix##p_copy_8, prefix##p_copy_24, prefix##p_fresh_24, prefix##p_touch,                 \
         prefix##p_whole},                                                                         \
        {prefix##c_one_8, prefix##c_one_24, prefix##c_burst_8, prefix##c_burst_24,                 \
         prefix##c_copy_8, prefix##c_copy_24, prefix##c_copy_24, prefix##c_touch,                  \
         prefix##c_whole},                                                                         \
    };

/* `side` is not used where the layout is known. */
#define LAYOUT_LINE(side) MED_RING_LINE
#define LAYOUT_PACKED(side) MED_RING_PACKED
#define LAYOUT_LOOKED_UP(side) side(run)->view.layout
