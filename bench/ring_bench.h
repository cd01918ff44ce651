/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the rings compared by ring_bench have in common.
 *
 * Word k of element i is i + k: the producer computes it, the consumer checks every word it is
 * meant to touch, so that order and content are proved in every run.
 *
 * In each kind of work a system uses the best form it offers: in place where it can, else by copy
 * from elements that were filled a batch earlier (a struct that is copied just after it was filled
 * stalls the store buffer, which "filled just now" shows).
 */
#ifndef MEDLEY_BENCH_RING_BENCH_H
#define MEDLEY_BENCH_RING_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RING_BURST 32

/* Each with its element size and its capacity. */
typedef enum ring_work {
    RING_ONE_8, /* one at a time, in place */
    RING_ONE_24,
    RING_BURST_8, /* 32 at a time */
    RING_BURST_24,
    RING_COPY_8, /* one at a time, by copy */
    RING_COPY_24,
    RING_FRESH_24, /* by copy, filled just now */
    RING_TOUCH_4K, /* in place, first and last word */
    RING_WHOLE_4K, /* every word; in place, or filled just now and copied */
    RING_WORKS
} ring_work;

#define RING_CAPACITY_8 65536
#define RING_CAPACITY_24 16384
#define RING_CAPACITY_4K 256

static inline uint32_t
ring_work_words(ring_work work)
{
    static const uint32_t words[RING_WORKS] = {1, 3, 1, 3, 1, 3, 3, 512, 512};
    return words[work];
}

static inline uint32_t
ring_work_capacity(ring_work work)
{
    uint32_t words = ring_work_words(work);
    return words == 1 ? RING_CAPACITY_8 : words == 3 ? RING_CAPACITY_24 : RING_CAPACITY_4K;
}

/* One run. The producer and the consumer get it as their argument. */
typedef struct ring_run {
    void *memory; /* fresh, zeroed, aligned to a page */
    ring_work work;
    uint64_t count; /* elements; a multiple of RING_BURST */
    void *system;   /* what `make` left, in its own memory or in `memory` */
    uint64_t wrong; /* by the consumer: not 0 when a word was not what it should be */
} ring_run;

typedef struct ring_system {
    const char *name;
    size_t (*size_bytes)(ring_work work);
    bool (*make)(ring_run *run);
    void (*produce[RING_WORKS])(void *run); /* NULL: not offered */
    void (*consume[RING_WORKS])(void *run);
} ring_system;

extern const ring_system ring_packed, ring_packed_looked_up, ring_line; /* with the wake check */
extern const ring_system ring_packed_silent, ring_line_silent;          /* without */
extern const ring_system ring_boost, ring_ck, ring_dpdk, ring_dpdk_zero_copy;
extern const ring_system ring_bare; /* the most that bursts, and 4 KiB whole, could reach */

/* med_port_cpu_relax, for C++. */
void ring_relax(void);

/* ---- The work on one element ----------------------------------------------------------------- */

/* A few words are no loop: else the compiler makes one in some of the systems' functions only. */
#define RING_UNROLL _Pragma("GCC unroll 4")

/* Always inline: `words` is a constant at every use. */
#define RING_INLINE static inline __attribute__((always_inline))

RING_INLINE void
ring_fill(uint64_t *element, uint32_t words, uint64_t i)
{
    RING_UNROLL
    for (uint32_t k = 0; k < words; k++) {
        element[k] = i + k;
    }
}

/* 0 when it is right. */
RING_INLINE uint64_t
ring_check(const uint64_t *element, uint32_t words, uint64_t i)
{
    uint64_t wrong = 0;
    RING_UNROLL
    for (uint32_t k = 0; k < words; k++) {
        wrong |= element[k] ^ (i + k);
    }
    return wrong;
}

#ifdef __cplusplus
}
#endif
#endif
