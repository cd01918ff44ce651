/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Every ring, seen as one: a producer's end and a consumer's, and what each may do. The suites that
 * must hold for all of them (ring_conformance_test.c, ring_stress_test.c, attach_test.c in
 * src/base) are written against this table.
 */
#ifndef MEDLEY_TESTS_SUPPORT_RINGS_H
#define MEDLEY_TESTS_SUPPORT_RINGS_H

#include "base/ring_mpmc.h"
#include "base/ring_mpsc.h"
#include "base/ring_spsc.h"

/* So that every counter passes zero in every test of more than a few elements. */
#define RING_NEAR_WRAP (UINT32_MAX - 5)

typedef struct ring_wanted {
    uint32_t special; /* what only this kind has: its layout, its lanes, its sides */
    uint32_t element_bytes;
    uint32_t capacity;
} ring_wanted;

/* Both ends of one ring; of the many ends it may have, one of each. */
typedef union ring_ends {
    struct {
        med_ring_producer producer;
        med_ring_consumer consumer;
    } spsc;
    struct {
        med_ring_mpsc_view view;
        med_ring_mpsc_producer producer;
        med_ring_mpsc_consumer consumer;
    } mpsc;
    struct {
        med_ring_mpmc_view view;
        med_ring_mpmc_side producer;
        med_ring_mpmc_side consumer;
    } mpmc;
} ring_ends;

typedef struct ring_kind {
    const char *name;
    uint32_t special;
    uint32_t wrong_specials[2];
    size_t fixed_bytes; /* before the elements, and more or less of it after them */
    medley_status_t (*size)(const ring_wanted *wanted, uint32_t *size_bytes);
    medley_status_t (*init)(void *memory, size_t memory_bytes, const ring_wanted *wanted);
    medley_status_t (*attach)(ring_ends *ends, void *memory, size_t memory_bytes);
    medley_status_t (*reserve)(ring_ends *ends, void **slot);
    medley_status_t (*reserve_until)(ring_ends *ends, uint64_t deadline_ns, void **slot);
    void (*cancel)(ring_ends *ends);
    void (*commit)(ring_ends *ends);
    medley_status_t (*push)(ring_ends *ends, const void *element);
    medley_status_t (*peek)(ring_ends *ends, void **element);
    medley_status_t (*peek_until)(ring_ends *ends, uint64_t deadline_ns, void **element);
    void (*release)(ring_ends *ends);
    medley_status_t (*pop)(ring_ends *ends, void *element);
    void (*each_slice)(ring_ends *ends, medley_status_t (*call)(void *context), void *context);
    med_wait *(*data)(ring_ends *ends);  /* where the consumer sleeps */
    med_wait *(*space)(ring_ends *ends); /* where the producer sleeps */
    /* What somebody leaves who is about to sleep there. */
    void (*consumer_sleeps)(ring_ends *ends);
    void (*producer_sleeps)(ring_ends *ends);
} ring_kind;

#define RING_KINDS 4
extern const ring_kind ring_kinds[RING_KINDS];

/* A ring in memory that children of the caller share with it. */
typedef struct ring_fixture {
    const ring_kind *kind;
    uint8_t *memory;
    uint32_t size_bytes;
    uint32_t element_bytes;
    ring_ends ends;
} ring_fixture;

void ring_start(ring_fixture *f, const ring_kind *kind, uint32_t element_bytes, uint32_t capacity);
void ring_end(ring_fixture *f);

#endif
