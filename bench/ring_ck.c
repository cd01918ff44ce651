/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ck_ring, one producer and one consumer: reserved in place or pushed by copy, taken by copy. */
#include <ck_ring.h>

#include "port/port.h"
#include "ring_bench.h"

struct element_8 {
    uint64_t word[1];
};
struct element_24 {
    uint64_t word[3];
};
struct element_4k {
    uint64_t word[512];
};

CK_RING_PROTOTYPE(8, element_8)
CK_RING_PROTOTYPE(24, element_24)
CK_RING_PROTOTYPE(4k, element_4k)

/* The counters, then the elements from the next page on. */
#define ELEMENTS_AT 4096

static size_t
size_bytes(ring_work work)
{
    return ELEMENTS_AT + (size_t)ring_work_capacity(work) * ring_work_words(work) * 8;
}

static bool
make(ring_run *run)
{
    run->system = run->memory;
    ck_ring_init(run->system, ring_work_capacity(run->work));
    return true;
}

#define CK_LOOPS(type, words)                                                                      \
    static void produce_in_place_##type(void *argument)                                            \
    {                                                                                              \
        const ring_run *run = argument;                                                            \
        struct element_##type *elements = (void *)((char *)run->memory + ELEMENTS_AT);             \
        for (uint64_t i = 0; i < run->count; i++) {                                                \
            struct element_##type *slot;                                                           \
            while (!(slot = ck_ring_enqueue_reserve_spsc_##type(run->system, elements))) {         \
                med_port_cpu_relax();                                                              \
            }                                                                                      \
            ring_fill(slot->word, words, i);                                                       \
            ck_ring_enqueue_commit_spsc(run->system);                                              \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    RING_INLINE                                                                                    \
    __attribute__((unused)) void produce_copy_##type(const ring_run *run, uint32_t ahead)          \
    {                                                                                              \
        struct element_##type *elements = (void *)((char *)run->memory + ELEMENTS_AT);             \
        struct element_##type filled[RING_BURST];                                                  \
        for (uint64_t i = 0; i < run->count; i += ahead) {                                         \
            for (uint32_t n = 0; n < ahead; n++) {                                                 \
                ring_fill(filled[n].word, words, i + n);                                           \
            }                                                                                      \
            for (uint32_t n = 0; n < ahead; n++) {                                                 \
                while (!ck_ring_enqueue_spsc_##type(run->system, elements, &filled[n])) {          \
                    med_port_cpu_relax();                                                          \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void consume_##type(void *argument)                                                     \
    {                                                                                              \
        ring_run *run = argument;                                                                  \
        struct element_##type *elements = (void *)((char *)run->memory + ELEMENTS_AT);             \
        struct element_##type e;                                                                   \
        uint64_t wrong = 0;                                                                        \
        for (uint64_t i = 0; i < run->count; i++) {                                                \
            while (!ck_ring_dequeue_spsc_##type(run->system, elements, &e)) {                      \
                med_port_cpu_relax();                                                              \
            }                                                                                      \
            wrong |= ring_check(e.word, words, i);                                                 \
        }                                                                                          \
        run->wrong = wrong;                                                                        \
    }

CK_LOOPS(8, 1)
CK_LOOPS(24, 3)
CK_LOOPS(4k, 512)

static void
produce_ahead_8(void *argument)
{
    produce_copy_8(argument, RING_BURST);
}

static void
produce_ahead_24(void *argument)
{
    produce_copy_24(argument, RING_BURST);
}

static void
produce_fresh_24(void *argument)
{
    produce_copy_24(argument, 1);
}

const ring_system ring_ck = {
    "ck_ring",
    size_bytes,
    make,
    {[RING_ONE_8] = produce_in_place_8,
     [RING_ONE_24] = produce_in_place_24,
     [RING_BURST_8] = produce_ahead_8, /* it has no bursts */
     [RING_BURST_24] = produce_ahead_24,
     [RING_COPY_8] = produce_ahead_8,
     [RING_COPY_24] = produce_ahead_24,
     [RING_FRESH_24] = produce_fresh_24,
     [RING_WHOLE_4K] = produce_in_place_4k},
    {[RING_ONE_8] = consume_8,
     [RING_ONE_24] = consume_24,
     [RING_BURST_8] = consume_8,
     [RING_BURST_24] = consume_24,
     [RING_COPY_8] = consume_8,
     [RING_COPY_24] = consume_24,
     [RING_FRESH_24] = consume_24,
     [RING_WHOLE_4K] = consume_4k},
};
