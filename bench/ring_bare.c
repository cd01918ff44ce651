/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What bursts, and 4 KiB that are written and read whole, could reach at most: the same memory, the
 * same words written and checked, and nothing between the two sides but one counter each way,
 * published once every eighth of the ring. No ring that hands over as many at a time can be faster
 * than this; how far one is from it is what the hand-over costs.
 */
#include "base/atomic.h"
#include "port/port.h"
#include "ring_bench.h"

typedef struct bare {
    _Alignas(128) atomic32 filled; /* elements, by the producer */
    _Alignas(128) atomic32 read;   /* elements, by the consumer */
    _Alignas(128) uint64_t words[];
} bare;

static size_t
size_bytes(ring_work work)
{
    return sizeof(bare) + (size_t)ring_work_capacity(work) * ring_work_words(work) * 8;
}

static bool
make(ring_run *run)
{
    run->system = run->memory;
    return true;
}

/* Elements from `i` on that are handed over together. */
RING_INLINE uint32_t
part_of(const ring_run *run, uint64_t i, uint32_t capacity)
{
    uint64_t rest = run->count - i;
    return rest < capacity / 8 ? (uint32_t)rest : capacity / 8;
}

RING_INLINE void
produce(const ring_run *run, uint32_t words, uint32_t capacity)
{
    bare *b = run->system;
    for (uint64_t i = 0; i < run->count;) {
        uint32_t part = part_of(run, i, capacity);
        /* B2 part read <- B2 (consume) */
        while ((uint32_t)i + part - atomic32_load_acquire(&b->read) > capacity) {
            med_port_cpu_relax();
        }
        uint64_t *first = b->words + (i & (capacity - 1)) * words;
        for (uint32_t n = 0; n < part; n++) {
            ring_fill(first + (size_t)n * words, words, i + n);
        }
        i += part;
        atomic32_store_release(&b->filled, (uint32_t)i); /* B1 part filled -> B1 (consume) */
    }
}

RING_INLINE void
consume(ring_run *run, uint32_t words, uint32_t capacity)
{
    bare *b = run->system;
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < run->count;) {
        uint32_t part = part_of(run, i, capacity);
        /* B1 part filled <- B1 (produce) */
        while (atomic32_load_acquire(&b->filled) - (uint32_t)i < part) {
            med_port_cpu_relax();
        }
        const uint64_t *first = b->words + (i & (capacity - 1)) * words;
        for (uint32_t n = 0; n < part; n++) {
            wrong |= ring_check(first + (size_t)n * words, words, i + n);
        }
        i += part;
        atomic32_store_release(&b->read, (uint32_t)i); /* B2 part read -> B2 (produce) */
    }
    run->wrong = wrong;
}

/* ---- One function per kind of work ----------------------------------------------------------- */
static void
produce_8(void *run)
{
    produce(run, 1, RING_CAPACITY_8);
}

static void
consume_8(void *run)
{
    consume(run, 1, RING_CAPACITY_8);
}

static void
produce_24(void *run)
{
    produce(run, 3, RING_CAPACITY_24);
}

static void
consume_24(void *run)
{
    consume(run, 3, RING_CAPACITY_24);
}

static void
produce_whole(void *run)
{
    produce(run, 512, RING_CAPACITY_4K);
}

static void
consume_whole(void *run)
{
    consume(run, 512, RING_CAPACITY_4K);
}

const ring_system ring_bare = {
    "no ring: one counter per eighth",
    size_bytes,
    make,
    {[RING_BURST_8] = produce_8, [RING_BURST_24] = produce_24, [RING_WHOLE_4K] = produce_whole},
    {[RING_BURST_8] = consume_8, [RING_BURST_24] = consume_24, [RING_WHOLE_4K] = consume_whole},
};
